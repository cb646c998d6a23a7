"""ODT (OpenDocument, ISO 26300): the text and its notes, without comments and deletions."""

from __future__ import annotations

from lycosa.web.documents.flow import Flow
from lycosa.web.documents.package import Fields, Package, UnreadableDocument
from lycosa.web.documents.sheet import describe, page_count
from lycosa.web.html import ParsedPage

_SKIPPED = frozenset(
    "annotation tracked-changes note-citation ruby-text index-title-template title desc binary-data".split()
)


def read_odt(body: bytes, url: str) -> ParsedPage:
    package = Package(body, "ODT")
    if package.has("META-INF/manifest.xml") and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise UnreadableDocument("the ODT file is encrypted: it needs a password")
    reader = _OdtReader()
    package.parse("content.xml", reader.start, reader.end, reader.text)
    document = reader.flow.finish().read(url)
    meta = Fields(package, "meta.xml")
    metadata, statistics = meta.texts, meta.attributes.get("document-statistic", {})
    author = metadata.get("initial-creator") or metadata.get("creator")
    published, modified = metadata.get("creation-date"), metadata.get("date")
    pages = page_count(statistics.get("page-count", ""))
    describe(
        document, metadata, is_truncated=package.is_truncated, author=author,
        published=published, modified=modified, pages=pages,
    )  # fmt: skip
    return document


class _OdtReader:
    def __init__(self) -> None:
        self.flow = Flow()
        self._skipped = 0
        self._levels: list[int] = []  # heading level of each open paragraph or heading; 0 for a paragraph

    def start(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        if self._skipped or name in _SKIPPED:
            self._skipped += 1
            return
        match name:
            case "p" | "h":
                level = attributes.get("outline-level", "1")
                self._levels.append(0 if name == "p" else int(level) if level in "123456789" and level else 1)
            case "s":
                count = attributes.get("c", "1")
                self.flow.text(" " * (min(int(count), 100) if count.isdigit() and len(count) < 9 else 1))
            case "tab" | "line-break":
                self.flow.text(" ")
            case "a":
                self.flow.open_link(attributes.get("href", ""))
            case "note-body" | "text-box":
                self.flow.open_inset()
            case "table-row":
                self.flow.open_row()

    def end(self, namespace: str, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        match name:
            case "p" | "h":
                level = self._levels.pop() if self._levels else 0
                if self._levels:  # inside a note or text box: the outer paragraph continues
                    self.flow.text(" ")
                else:
                    self.flow.end_paragraph(level)
            case "a":
                self.flow.close_link()
            case "note-body":
                self.flow.close_inset(note=True)
            case "text-box":
                self.flow.close_inset()
            case "table-cell" | "covered-table-cell":
                self.flow.end_cell()
            case "table-row":
                self.flow.close_row()

    def text(self, letters: str) -> None:
        if self._levels and not self._skipped:
            self.flow.text(letters)
