"""Document kinds, detected by first bytes, content type and file name extension.

Content types are often wrong, so unambiguous first bytes decide: a PDF sent as text is a PDF, and an HTML error page
sent as a PDF is a page.
"""

from __future__ import annotations

from urllib.parse import urlsplit

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"

TYPES = {
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    f"{WORD}.document": "docx",
    f"{WORD}.template": "docx",
    "application/vnd.ms-word.document.macroenabled.12": "docx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/epub+zip": "epub",
    "application/rtf": "rtf",
    "application/x-rtf": "rtf",
    "text/rtf": "rtf",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
}
# Content types in the Accept header.
REGISTERED = {
    "application/pdf": "pdf",
    f"{WORD}.document": "docx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/epub+zip": "epub",
    "application/rtf": "rtf",
}
EXTENSIONS = {"docm": "docx", "md": "markdown"} | {kind: kind for kind in TYPES.values()}
# Generic content types, for which the file name extension decides.
GENERIC_TYPES = frozenset(
    "application/octet-stream binary/octet-stream application/zip application/x-zip-compressed application/msword "
    "application/download application/x-download application/force-download application/unknown".split()
)
# Values of --documents; text and Markdown are always read.
GROUPS = {"pdf": frozenset({"pdf"}), "office": frozenset({"docx", "odt", "epub", "rtf"})}
NONE = "none"
SCANNED, TEXTLESS = "scanned", "no-text"  # flags of documents without text


def parse_kinds(documents: str) -> frozenset[str]:
    """Return the document kinds of a comma-separated list of groups; ValueError for an unknown group.

    >>> sorted(parse_kinds("pdf,office")), sorted(parse_kinds("none"))
    (['docx', 'epub', 'odt', 'pdf', 'rtf'], [])
    """
    names = [name.strip() for name in documents.split(",") if name.strip()]
    unknown = [name for name in names if name not in GROUPS and name != NONE]
    if unknown or not names or (NONE in names and len(names) > 1):
        raise ValueError(f"it must be {NONE} or a comma-separated list of {', '.join(GROUPS)}")
    return frozenset(kind for name in names if name != NONE for kind in GROUPS[name])


def types_of(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, kind in TYPES.items() if kind in kinds or kind == "markdown")


def kind_by_extension(url: str) -> str:
    """Return the kind by file name extension, or ""."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    _, dot, ending = path.rpartition(".")
    return EXTENSIONS.get(ending.lower(), "") if dot else ""


def kind_of(body: bytes, url: str, content_type: str) -> str:
    """Return the document kind of a body; "" for HTML, plain text and other types."""
    name = content_type.partition(";")[0].strip().lower()
    if body.startswith(b"%PDF-"):
        return "pdf"
    kind = TYPES.get(name, "")
    if not name or name in GENERIC_TYPES:
        kind = kind_by_extension(url)
        if kind == "markdown":  # .md alone, with a generic content type, does not prove Markdown
            return "" if name else kind
    elif name == "text/plain" and kind_by_extension(url) == "markdown":
        return "markdown"
    return "" if kind not in ("", "markdown") and is_page(body) else kind


def is_page(body: bytes) -> bool:
    return body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))
