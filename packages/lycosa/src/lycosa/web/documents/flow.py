"""Paragraphs, headings, tables and links of office documents."""

from __future__ import annotations

from lycosa.web.documents.package import StopReading
from lycosa.web.documents.sheet import MAX_MARKUP, DocumentText, Piece


class Flow:
    """Collects pieces of text into paragraphs; a table row becomes one line with bars between its cells."""

    def __init__(self) -> None:
        self.sheet = DocumentText()
        self.notes: list[list[Piece]] = []  # appended after the text
        self._pieces: list[Piece] = []
        self._outer: list[list[Piece]] = []
        self._rows = self._size = 0
        self._links: list[str] = []

    def open_link(self, href: str) -> None:
        self._links.append(href)

    def close_link(self) -> None:
        if self._links:
            self._links.pop()

    def text(self, letters: str) -> None:
        self._pieces.append((letters, self._links[-1] if self._links else ""))
        self._size += len(letters) + 1
        if self._size > 2 * MAX_MARKUP:  # in one paragraph, or in notes
            raise StopReading

    def end_paragraph(self, level: int = 0) -> None:
        if self._rows:
            self._pieces.append((" ", ""))
        elif self._pieces:
            self.sheet.add(self._pieces, level)
            self._pieces = []
            if self.sheet.is_full:
                raise StopReading

    def open_row(self) -> None:
        """Begin a table row; rows of nested tables become part of it."""
        if not self._rows:
            self.end_paragraph()
        self._rows += 1

    def end_cell(self) -> None:
        if self._rows:
            self._pieces.append((" | ", ""))

    def close_row(self) -> None:
        self._rows = max(0, self._rows - 1)
        if not self._rows:
            while self._pieces and not self._pieces[-1][0].strip(" |"):
                self._pieces.pop()
            self.end_paragraph()

    def open_inset(self) -> None:
        self._outer.append(self._pieces)
        self._pieces = []

    def close_inset(self, *, note: bool = False) -> None:
        """End a text box or note; notes are moved behind the text."""
        if not self._outer:
            return
        inner, self._pieces = self._pieces, self._outer.pop()
        if inner and note and len(self.notes) < 20_000:
            self.notes.append(inner)
        elif inner:
            self._pieces += [(" ", ""), *inner]

    def finish(self) -> DocumentText:
        if not self.sheet.is_full:
            self._rows = 0
            self.sheet.add(self._pieces)
            for note in self.notes:
                self.sheet.add(note)
        self._pieces, self.notes = [], []
        return self.sheet
