"""Readers of PDF, DOCX, ODT, EPUB, RTF and Markdown; each returns a `ParsedPage`, as the HTML reader does.

`read_any` is a pure function of bytes, URL and content type. Except for pages it runs only in a worker process
(`apart.py`), because it passes untrusted bytes to native code. Pages, archive members, elements and characters are
limited by counting. A document that can't be read gets an `error` with the reason; exceeding the worker's time or
memory kills the worker.
"""

from __future__ import annotations

from lycosa.web.documents.docx import read_docx
from lycosa.web.documents.epub import read_epub
from lycosa.web.documents.kinds import TYPES, kind_of
from lycosa.web.documents.markdown import read_markdown
from lycosa.web.documents.odt import read_odt
from lycosa.web.documents.package import UnreadableDocument
from lycosa.web.documents.pdf import read_pdf
from lycosa.web.documents.rtf import read_rtf
from lycosa.web.html import ParsedPage, extract, read_body
from lycosa.web.inflate import charset_of

READERS = {"pdf": read_pdf, "docx": read_docx, "odt": read_odt, "epub": read_epub, "rtf": read_rtf}


def read_any(body: bytes, url: str, content_type: str, agent: str = "") -> ParsedPage:
    """Parse a decompressed body as a document, HTML page or text; an empty page for other types."""
    kind = kind_of(body, url, content_type)
    if kind:
        try:
            if kind == "markdown":
                return read_markdown(body, url, charset_of(content_type))
            return READERS[kind](body, url)
        except UnreadableDocument as error:
            return ParsedPage(error=str(error))
        except MemoryError:
            raise
        except Exception as error:  # damaged files raise all kinds of errors
            return ParsedPage(error=f"the {kind.upper()} file is damaged ({type(error).__name__})")
    if content_type.partition(";")[0].strip().lower() in TYPES:  # an HTML page with the content type of a document
        return extract(body, url, charset_of(content_type), agent)
    return read_body(body, url, content_type, agent)
