"""PDF files, read by PDFium: native code, so it only runs in a worker process (`apart.py`).

Text comes page by page in drawing order. Lines are joined to paragraphs by their lengths; headers and footers that
repeat on most pages are kept as text but not in the main part. Headings come from the outline and from letter sizes.
Links are annotations, at the words they cover, and URLs in the text. Nothing in a file is executed: the library is
built without JavaScript, and forms are not opened.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any

from lycosa.web.documents.kinds import SCANNED, TEXTLESS
from lycosa.web.documents.letters import Box, needs_repair, repair_letters
from lycosa.web.documents.sheet import MAX_MARKUP, TRUNCATED, DocumentText, one_line, split_at_links
from lycosa.web.html import CLOSE, OPEN, ParsedPage

MAX_PAGES = 3_000
HEADING_MARK = "\x03"  # marks the lines of headings
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?([Zz]|[+-]\d\d'?\d\d)?")
_HYPHEN = re.compile("[\x02\ufffe]\\s*")
_MARKS = re.compile(f"[{OPEN}{CLOSE}{HEADING_MARK}]")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_NAMED_BY_PROGRAM = re.compile(
    r"(?i)^(microsoft (word|powerpoint) - |untitled|.{0,80}\.(docx?|pdf|tex|dvi|indd|qxd|rtf)$)"
)
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")
_ERRORS = {3: "is not a PDF, or is damaged", 4: "is encrypted: it needs a password", 5: "has an unknown encryption"}


def read_pdf(body: bytes, url: str) -> ParsedPage:
    try:
        import pypdfium2 as pdfium  # type: ignore[import-untyped]  # it ships no types
        import pypdfium2.raw as raw  # type: ignore[import-untyped]
    except (ImportError, OSError) as error:
        return ParsedPage(error=f"PDF files can't be read here ({error}): pip install pypdfium2")
    try:
        file = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        return ParsedPage(error=f"the PDF file {_ERRORS.get(getattr(error, 'err_code', 0) or 0, 'cannot be opened')}")
    try:
        return _PdfReader(file, raw).read(url)
    finally:
        file.close()


class _PdfReader:
    def __init__(self, file: Any, raw: Any) -> None:
        self.file, self.raw = file, raw
        self.number = len(file)
        self.pages: list[list[str]] = []  # lines, with marks around links
        self.hrefs: list[str] = []
        self.title = ""  # the line in the largest letters on the first page
        self.is_truncated = self.number > MAX_PAGES

    def read(self, url: str) -> ParsedPage:
        self._read_pages()
        metadata = self._metadata()
        outline = {_squeezed(text) for text in self._outline()}
        sheet, running, at = DocumentText(), self._running(), 0
        for lines in self.pages:
            for paragraph, level, main in _paragraphs(lines, running, outline):
                pieces, at = split_at_links(paragraph, self.hrefs, at)
                sheet.add(pieces, level, main=main)
        document = sheet.read(url)
        self._describe(document, metadata)
        if self.is_truncated and TRUNCATED not in document.flags:
            document.flags.append(TRUNCATED)
        letters = sum(map(len, document.marked.split()))
        if letters <= 10 * len(self.pages) and self._has_pictures():  # so few letters: images of text
            document.flags.append(SCANNED)
        elif not letters:
            document.flags.append(TEXTLESS)
        return document

    def _read_pages(self) -> None:
        left, missing = MAX_MARKUP, 0
        for number in range(min(self.number, MAX_PAGES)):
            try:
                page = self.file[number]
                text = page.get_textpage()
            except Exception:  # PdfiumError, or any other error that a damaged file causes
                missing += 1
                if missing >= 20:  # the file claims more pages than it has
                    self.is_truncated = True
                    break
                continue
            missing = 0
            lines = self._lines(page, text, left)
            if not self.pages:
                self.title = self._largest(text)
            self.pages.append(lines)
            left -= sum(map(len, lines))
            text.close()
            page.close()
            if left <= 0:
                self.is_truncated = True
                break

    def _lines(self, page: Any, text: Any, left: int) -> list[str]:
        """Return the lines of a page, with marks around the words that link annotations cover."""
        count = max(0, min(self.raw.FPDFText_CountChars(text), left))
        buffer = ctypes.create_string_buffer(2 * (count + 1))
        taken = self.raw.FPDFText_GetText(text, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
        units = buffer.raw[: 2 * max(0, taken - 1)]
        metadata = _as_letters(units)
        starts = _line_starts(metadata)
        marks = self._breaks(text, starts)
        for start, end, href in self._links(page, text, len(metadata)):
            words = metadata[start:end].splitlines() or [""]  # further lines of a link are plain text
            end = start + len(words[0])
            marks += [(start, 3, OPEN), (end, 4 if end == start else 0, CLOSE)]
            self.hrefs.append(href)
        letters: Sequence[str] = metadata
        if needs_repair(metadata):
            letters = repair_letters(metadata, starts, partial(self._box, text))
        parts: list[str] = []
        done = 0
        for at, _, mark in sorted(marks):
            parts += [_text(letters[done:at]), mark]
            done = at
        return "".join([*parts, _text(letters[done:])]).splitlines()

    def _box(self, text: Any, at: int) -> Box:
        raw, box = self.raw, self.raw.FS_RECTF()
        index = raw.FPDFText_GetCharIndexFromTextIndex(text, at)
        if index < 0 or raw.FPDFText_IsGenerated(text, index) or not raw.FPDFText_GetLooseCharBox(text, index, box):
            return Box(0.0, 0.0, 0.0)
        lost = bool(raw.FPDFText_HasUnicodeMapError(text, index))
        return Box(box.left, box.right, box.top - box.bottom, box.bottom, lost)

    def _breaks(self, text: Any, starts: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
        """Return (position, order, mark) for unusual line distances and larger letters."""
        sizes = [self._place(text, start, length) for start, length in starts]
        heights = Counter[int]()
        for (_, length), (_, height) in zip(starts, sizes, strict=True):
            heights[round(2 * height)] += length
        usual = heights.most_common(1)[0][0] / 2 if heights else 0.0
        steps = sorted(before[0] - after[0] for before, after in pairwise(sizes) if before[0] > after[0])
        step = steps[len(steps) // 2] if steps else 0.0
        marks: list[tuple[int, int, str]] = []
        before = 0.0, 0.0
        for (start, length), (low, height) in zip(starts, sizes, strict=True):
            far = marks and not 0 < before[0] - low <= 1.35 * step  # times the usual distance: another paragraph
            if far or abs(height - before[1]) > 0.2 * usual:
                marks.append((start, 1, "\n"))
            if usual and height > 1.2 * usual and length < 120:  # times the usual height: a heading
                marks.append((start, 2, HEADING_MARK))
            marks = marks or [(0, 1, "")]
            before = low, height
        return marks

    def _place(self, text: Any, start: int, length: int) -> tuple[float, float]:
        """Return the lower edge and the height of a line: the smaller one of those at its beginning and its middle."""
        low, height = self._letters(text, start)
        _, other = self._letters(text, start + length // 2)
        return low, min(height, other) if other else height

    def _letters(self, text: Any, start: int) -> tuple[float, float]:
        raw, box = self.raw, self.raw.FS_RECTF()
        for at in range(start, start + 4):
            index = raw.FPDFText_GetCharIndexFromTextIndex(text, at)
            if index >= 0 and raw.FPDFText_GetLooseCharBox(text, index, box) and box.top > box.bottom:
                return box.bottom, box.top - box.bottom
        return 0.0, 0.0

    def _links(self, page: Any, text: Any, size: int) -> list[tuple[int, int, str]]:
        """Return the links of a page as (start, end, URL) in text order; links that cover no text come at the end."""
        raw, found = self.raw, []
        at, link = ctypes.c_int(0), raw.FPDF_LINK()
        for _ in range(500):
            if not raw.FPDFLink_Enumerate(page, at, link):
                break
            if href := self._target(link):
                found.append((*self._span(text, link, size), href))
        kept: list[tuple[int, int, str]] = []
        for start, end, href in sorted(found):
            if kept and start < kept[-1][1]:
                start = end = size
            kept.append((start, end, href))
        return sorted(kept)

    def _target(self, link: Any) -> str:
        raw = self.raw
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            return ""
        size = min(raw.FPDFAction_GetURIPath(self.file, action, None, 0), 4000)
        buffer = ctypes.create_string_buffer(max(1, size))
        raw.FPDFAction_GetURIPath(self.file, action, buffer, size)
        return buffer.value.decode("utf-8", "replace").strip()

    def _span(self, text: Any, link: Any, size: int) -> tuple[int, int]:
        raw, box, points = self.raw, self.raw.FS_RECTF(), self.raw.FS_QUADPOINTSF()
        if raw.FPDFLink_CountQuadPoints(link) and raw.FPDFLink_GetQuadPoints(link, 0, points):
            left, right = min(points.x1, points.x3), max(points.x2, points.x4)
            middle = (points.y1 + points.y3) / 2
        elif raw.FPDFLink_GetAnnotRect(link, box):
            left, right, middle = box.left, box.right, (box.top + box.bottom) / 2
        else:
            return size, size
        first = raw.FPDFText_GetCharIndexAtPos(text, left + 1, middle, 3, 4)
        last = raw.FPDFText_GetCharIndexAtPos(text, right - 1, middle, 3, 4)
        if not 0 <= first <= last:
            return size, size
        start = raw.FPDFText_GetTextIndexFromCharIndex(text, first)
        end = raw.FPDFText_GetTextIndexFromCharIndex(text, last) + 1
        return (start, end) if 0 <= start < end <= size else (size, size)

    def _largest(self, text: Any) -> str:
        """Return the line of a page in the largest letters, with up to two following lines of the same height."""
        raw = self.raw
        count = min(raw.FPDFText_CountChars(text), 3000)
        lines: list[tuple[float, str]] = []
        letters, height, box = "", 0.0, raw.FS_RECTF()
        for index in range(count):
            letter = raw.FPDFText_GetUnicode(text, index)
            if letter in (10, 13):
                if letters.strip():
                    lines.append((round(height), letters))
                letters, height = "", 0.0
            elif letter and not 0xD800 <= letter < 0xE000 and letter < 0x110000:
                letters += chr(letter)
                if raw.FPDFText_GetLooseCharBox(text, index, box) and letter > 32:
                    height = max(height, abs(box.top - box.bottom))
        lines.append((round(height), letters))
        largest = max(height for height, _ in lines)
        if largest <= 0 or sum(height == largest for height, _ in lines) > max(3, len(lines) // 2):
            return next((letters for _, letters in lines if any(map(str.isalpha, letters))), "")
        first = next(at for at, (height, _) in enumerate(lines) if height == largest)
        same = []
        for height, letters in lines[first : first + 3]:
            if height != largest:
                break
            same.append(letters)
        return " ".join(same)

    def _metadata(self) -> dict[str, str]:
        try:
            return {key: one_line(value) for key, value in self.file.get_metadata_dict().items() if value}
        except Exception:
            return {}

    def _outline(self) -> Iterator[str]:
        try:
            for entry in islice(self.file.get_toc(max_depth=4), 300):
                yield entry.get_title()[:300]
        except Exception:
            return

    def _describe(self, document: ParsedPage, metadata: dict[str, str]) -> None:
        title = metadata.get("Title", "")
        if len(title) < 4 or _NAMED_BY_PROGRAM.search(title):
            title = one_line(self.title) or title
        document.title = title
        dates = {"published": _date(metadata.get("CreationDate", "")), "modified": _date(metadata.get("ModDate", ""))}
        about = {"author": metadata.get("Author", ""), **dates, "pages": str(self.number)}
        document.about = {name: value for name, value in about.items() if value}
        document.language = self._language()

    def _language(self) -> str:
        size = min(self.raw.FPDFCatalog_GetLanguage(self.file, None, 0), 200)
        if size <= 2:
            return ""
        buffer = ctypes.create_string_buffer(size)
        self.raw.FPDFCatalog_GetLanguage(self.file, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
        metadata = buffer.raw[: size - 2].decode("utf-16-le", "replace").strip().lower().replace("_", "-")
        return metadata if re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]{1,8}){0,3}", metadata) else ""

    def _has_pictures(self) -> bool:
        for number in range(min(self.number, 3)):
            try:
                page = self.file[number]
                if any(islice(page.get_objects(filter=[self.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3), 1)):
                    return True
            except Exception:
                continue
        return False

    def _running(self) -> set[str]:
        """Return the keys of headers and footers: edge lines that repeat on half of the pages, page numbers apart."""
        if len(self.pages) < 4:
            return set()
        seen = Counter(key for lines in self.pages for key in {_running_key(text) for text in _edges(lines)} if key)
        return {key for key, times in seen.items() if times >= max(3, len(self.pages) // 2)}


def _edges(lines: list[str]) -> list[str]:
    some = [text for text in lines if text.strip()]
    return some[:2] + some[2:][-2:]


def _running_key(text: str) -> str:
    return _NUMBER.sub("#", _squeezed(text))[:200]


def _squeezed(text: str) -> str:
    return " ".join(_MARKS.sub("", text).lower().split())


def _text(letters: Sequence[str]) -> str:
    return _MARKS.sub("", _HYPHEN.sub("", "".join(letters)))


def _as_letters(units: bytes) -> str:
    """Decode UTF-16 to one character per code unit; the second unit of a surrogate pair becomes NUL."""
    text = units.decode("utf-16-le", "replace")
    return text if 2 * len(text) == len(units) else "".join(c if c < "\U00010000" else c + "\0" for c in text)


def _line_starts(text: str) -> list[tuple[int, int]]:
    starts, at = [], 0
    for line in text.splitlines(keepends=True)[:1_000]:
        if line.strip():
            starts.append((at, len(line)))
        at += len(line)
    return starts


def _paragraphs(lines: list[str], running: set[str], outline: set[str]) -> Iterator[tuple[str, int, bool]]:
    """Yield (text, heading level or 0, main) for each paragraph; `main` is False for headers and footers."""
    edges = set(_edges(lines)) if running else set()
    lengths = sorted(len(text) for text in lines if text.strip())
    width = lengths[len(lengths) * 9 // 10] if lengths else 0
    current, level = "", 0
    for raw_line in lines:
        text = raw_line.replace(HEADING_MARK, "").strip()
        is_running = raw_line in edges and _running_key(text) in running
        own = 3 if HEADING_MARK in raw_line else 2 if _squeezed(text) in outline else 0
        if current and (not text or is_running or own != level):
            yield current, level, True
            current = ""
        if is_running:
            yield text, 0, False
        elif text:
            current, level = _joined(current, text), own
            if len(text) < 0.75 * width and not level:  # the last line of a paragraph
                yield current, level, True
                current = ""
    if current:
        yield current, level, True


def _joined(before: str, after: str) -> str:
    wide = before and _WIDE.match(before[-1]) and _WIDE.match(after[0])
    return before + after if wide or not before else f"{before} {after}"


def _date(metadata: str) -> str:
    """Convert a PDF date to ISO 8601; "" if it is invalid.

    >>> _date("D:20240503120000+02'00'"), _date("D:2024"), _date("yesterday")
    ('2024-05-03T12:00:00+02:00', '2024', '')
    """
    match = _DATE.match(metadata)
    if match is None or not "1980" <= match[1] <= "2200":
        return ""
    year, month, day, hour, minute, second, zone = match.groups()
    if not month or not day:
        return f"{year}-{month}" if month else year
    if not ("01" <= month <= "12" and "01" <= day <= "31"):
        return year
    if hour is None or not (hour < "24" and minute < "60"):
        return f"{year}-{month}-{day}"
    zone = (zone or "Z").replace("'", "").upper()
    return f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{zone if zone == 'Z' else f'{zone[:3]}:{zone[3:5]}'}"
