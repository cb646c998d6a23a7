"""A page to parse in a worker process."""

from io import BytesIO

from lycosa.web.apart import write_message
from lycosa.web.html import ParsedPage

URL = "http://h.test/a"
PAGE = b"<title>Reefs</title><meta name=author content=Ann><main><p>On <a rel=me href=/b>coral \xff</a> today</main>"


def packed(document: ParsedPage) -> bytes:
    """Return a page as the bytes of a message."""
    stream = BytesIO()
    write_message(stream, document)
    return stream.getvalue()
