"""Deterministic writer of pages as PDF files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import wrap

Run = tuple[str, str]  # words and the URL they link to
_COLUMNS, _ROWS = 88, 56
_SIZE, _LEADING, _LEFT, _TOP = 9.0, 13.0, 60.0, 780.0
_ADVANCE = 0.6 * _SIZE  # width of every letter of Courier


@dataclass(frozen=True, slots=True)
class Paper:
    """Content of a PDF document."""

    title: str
    author: str
    date: str  # as in 2021-05-03
    paragraphs: Sequence[Sequence[Run]]
    headings: frozenset[int] = field(default=frozenset())  # indices of paragraphs


def pdf(paper: Paper) -> bytes:
    """Return a PDF: lines in Courier, link annotations, an information dictionary, compressed streams."""
    lines: list[tuple[str, list[tuple[int, int, str]], float]] = [(paper.title, [], 16.0), ("", [], _SIZE)]
    for paragraph in paper.paragraphs:
        lines += [(text, links, _SIZE) for text, links in _laid_out(paragraph)]
        lines.append(("", [], _SIZE))
    pages = [lines[at : at + _ROWS] for at in range(0, len(lines), _ROWS)]
    objects: list[bytes] = [b"", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>", b""]
    kids: list[int] = []
    for page in pages:
        stream, links = _drawn(page)
        packed = zlib.compress(stream, 6)
        objects.append(b"<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream" % (len(packed), packed))
        notes = []
        for box, href in links:
            place = " ".join(f"{side:.1f}" for side in box)
            action = f"<</S/URI/URI({_string(href)})>>"
            objects.append(f"<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[{place}]/A{action}>>".encode())
            notes.append(f"{len(objects)} 0 R")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {len(objects) - len(notes)} 0 R/Annots[{' '.join(notes)}]>>".encode()
        )
        kids.append(len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R/Lang(en)>>"
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    stamp = f"D:{paper.date.replace('-', '')}120000Z"
    info = {"Title": paper.title, "Author": paper.author, "CreationDate": stamp}
    facts = "".join(f"/{name}({_string(value)})" for name, value in info.items())
    objects[3] = f"<<{facts}>>".encode("cp1252", "replace")
    return _numbered(objects)


def _laid_out(paragraph: Sequence[Run]) -> list[tuple[str, list[tuple[int, int, str]]]]:
    text = "".join(words for words, _ in paragraph)
    spans, at = [], 0
    for words, href in paragraph:
        if href:
            spans.append((at, at + len(words), href))
        at += len(words)
    lines, start = [], 0
    for line in wrap(text, _COLUMNS, break_long_words=True, break_on_hyphens=False) or [""]:
        start = max(start, text.find(line[:20].split(" ")[0], start))
        end = start + len(line)
        here = [(max(a, start) - start, min(b, end) - start, href) for a, b, href in spans if a < end and b > start]
        lines.append((line, here))
        start = end
    return lines


def _drawn(
    page: list[tuple[str, list[tuple[int, int, str]], float]],
) -> tuple[bytes, list[tuple[tuple[float, ...], str]]]:
    links: list[tuple[tuple[float, ...], str]] = []
    parts = [f"BT {_LEADING} TL {_LEFT} {_TOP} Td"]
    for row, (text, spans, size) in enumerate(page):
        parts.append(f"/F1 {size} Tf ({_string(text)}) Tj T*")
        low = _TOP - row * _LEADING - 3
        for start, end, href in spans:
            links.append(((_LEFT + start * _ADVANCE, low, _LEFT + end * _ADVANCE, low + _SIZE + 2), href))
    return "\n".join([*parts, "ET"]).encode("cp1252", "replace"), links


def _string(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _numbered(objects: list[bytes]) -> bytes:
    """Return objects as a file with a cross-reference table; the first is the catalogue, the fourth the information."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, data in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R/Info 4 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)
