"""Documents: PDF, DOCX, ODT, EPUB, RTF and Markdown, read to the same end as HTML.

`read_any` is a pure function of bytes, address and content type, like the reader of HTML. It is only called in a
process that can be ended (`apart.py`), since it runs native code, and much else, on bytes from strangers. What it
makes of them is bounded by counting: pages, members, elements, characters. Whatever a document can't be read for is a
`flaw` of the result, in words; what time or memory it takes beyond that ends the process.
"""

from __future__ import annotations

from collections.abc import Callable

from lycosa.web.documents.docx import read_docx
from lycosa.web.documents.epub import read_epub
from lycosa.web.documents.kinds import TYPES, kind_of
from lycosa.web.documents.markdown import read_markdown
from lycosa.web.documents.odt import read_odt
from lycosa.web.documents.package import Flawed
from lycosa.web.documents.pdf import read_pdf
from lycosa.web.documents.rtf import read_rtf
from lycosa.web.html import ParsedPage, extract, read_body
from lycosa.web.inflate import charset_of

READERS: dict[str, Callable[[bytes, str], ParsedPage]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "odt": read_odt,
    "epub": read_epub,
    "rtf": read_rtf,
}


def read_any(body: bytes, url: str, content_type: str, agent: str = "") -> ParsedPage:
    """Read an inflated body, whatever it is: a page, a document, text, or nothing that can be read.

    >>> read_any(b"{\\\\rtf1 On {\\\\b coral} reefs}", "http://a.test/", "text/rtf").text
    'On coral reefs'
    >>> read_any(b"PK, but no more", "http://a.test/a.docx", "").flaw
    'the DOCX file is damaged: File is not a zip file'
    """
    kind = kind_of(body, url, content_type)
    if kind:
        try:
            if kind == "markdown":
                return read_markdown(body, url, charset_of(content_type))
            return READERS[kind](body, url)
        except Flawed as flaw:
            return ParsedPage(flaw=str(flaw))
        except MemoryError:
            raise
        except Exception as error:  # whatever else a damaged file makes of its reader
            return ParsedPage(flaw=f"the {kind.upper()} file is damaged ({type(error).__name__})")
    if content_type.partition(";")[0].strip().lower() in TYPES:  # a page that is sent as a document
        return extract(body, url, charset_of(content_type), agent)
    return read_body(body, url, content_type, agent)
