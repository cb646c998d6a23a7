"""RTF: text, links and the information group; images, styles and other destinations are skipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lycosa.web.documents.package import StopReading, UnreadableDocument
from lycosa.web.documents.sheet import MAX_MARKUP, DocumentText, Piece, describe
from lycosa.web.html import ParsedPage

_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\", re.DOTALL
)
_SKIPPED_DESTINATIONS = frozenset(
    "fonttbl colortbl stylesheet pict object objdata themedata datastore listtable listoverridetable rsidtbl generator "
    "latentstyles xmlnstbl mmathPr filetbl revtbl header headerl headerr headerf footer footerl footerr footerf "
    "ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn annotation atnid atnauthor atntime atnref atndate bkmkstart bkmkend "
    "nonshppict shpinst sp sn sv xe tc rxe pgdsctbl wgrffmtfilter private pntext pntxta pntxtb fldtype".split()
)
_WORDS = {
    b"tab": "\t", b"line": " ", b"emdash": "\u2014", b"endash": "\u2013", b"lquote": "\u2018", b"rquote": "\u2019",
    b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"bullet": "\u2022", b"emspace": " ", b"enspace": " ",
}  # fmt: skip
_SIGNS = {b"~": "\xa0", b"_": "-", b"-": "", b"\n": None, b"\r": None}
_INFO = frozenset({"title", "author", "creatim", "revtim", "subject", "nofpages"})
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
_HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?:\\\S\s+)*"([^"]+)"', re.IGNORECASE)


def read_rtf(body: bytes, url: str) -> ParsedPage:
    if not body[:200].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rt"):
        raise UnreadableDocument("the file is not RTF, or is damaged")
    reader = _RtfReader()
    try:
        reader.read(body)
        reader.end_paragraph()
    except StopReading:
        reader.sheet.is_full = True
    document = reader.sheet.read(url)
    reader.describe(document)
    return document


@dataclass(slots=True)
class _RtfGroup:
    into: str = ""  # destination: "" (document), "-" (none), "fonts" (font table), else a metadata field
    charset: str = ""
    skip: int = 1  # letters after \u for programs without Unicode
    hidden: bool = False
    link: str = ""
    first: bool = True  # True until the first item, where a control word may name the destination
    starred: bool = False


@dataclass(slots=True)
class _RtfReader:
    sheet: DocumentText = field(default_factory=DocumentText)
    pieces: list[Piece] = field(default_factory=list)
    info: dict[str, list[str]] = field(default_factory=dict)
    dates: dict[str, dict[bytes, int]] = field(default_factory=dict)
    fonts: dict[int, str] = field(default_factory=dict)
    charset: str = "cp1252"
    font: int = 0
    level: int = 0
    size: int = 0
    raw: bytearray = field(default_factory=bytearray)
    high: int = 0
    left: int = 0  # letters still to skip after \u
    instruction: list[str] = field(default_factory=list)

    def read(self, body: bytes) -> None:
        groups = [_RtfGroup()]
        at = 0
        while (match := _TOKEN.match(body, at)) is not None:
            at = match.end()
            group = groups[-1]
            code, word, number, sign, brace, text = match.groups()
            if code is not None:
                self._byte(group, int(code, 16))
            elif text is not None:
                self._plain(group, text)
            elif brace is not None:
                self._brace(groups, brace)
            elif word is not None:
                if word == b"bin":
                    at += max(0, int(number or 0))
                self._word(group, word, int(number) if number else None)
            elif sign is not None:
                self._sign(group, sign)

    def _brace(self, groups: list[_RtfGroup], brace: bytes) -> None:
        self._flush(groups[-1])
        if brace == b"{":
            if len(groups) >= 10_000:
                raise StopReading
            groups.append(replace(groups[-1], first=True, starred=False))
        else:
            self.left = 0
            if len(groups) > 1:
                groups.pop()

    def _byte(self, group: _RtfGroup, code: int) -> None:
        group.first = False
        if self.left:
            self.left -= 1
        else:
            self.raw.append(code)

    def _plain(self, group: _RtfGroup, text: bytes) -> None:
        group.first = False
        if self.left:
            passed = min(self.left, len(text))
            self.left -= passed
            text = text[passed:]
        self.raw += text

    def _sign(self, group: _RtfGroup, sign: bytes) -> None:
        if sign == b"*":
            group.starred = True
        elif self.left:
            self.left -= 1
        elif sign in _SIGNS:
            text = _SIGNS[sign]
            self._flush(group)
            if text is None:
                self._end(group)
            else:
                self._add_text(group, text)
        else:
            self.raw += sign
            group.first = False

    def _word(self, group: _RtfGroup, word: bytes, number: int | None) -> None:
        self._flush(group)
        first, group.first = group.first, False
        name = word.decode("ascii")
        if first and self._destination(group, name):
            return
        if word == b"u" and number is not None:
            self._unicode(group, number)
        elif word in _WORDS:
            if self.left:
                self.left -= 1
            else:
                self._add_text(group, _WORDS[word])
        elif word in (b"par", b"sect", b"page", b"row"):
            self._end(group)
        elif word in (b"cell", b"nestcell"):
            self._add_text(group, " | ")
        else:
            self._setting(group, word, number)

    def _setting(self, group: _RtfGroup, word: bytes, number: int | None) -> None:
        match word:
            case b"uc":
                group.skip = max(0, min(number or 0, 10)) if number is not None else 1
            case b"ansicpg" | b"mac" | b"f" | b"fcharset":
                self._set_charset(group, word, number or 0)
            case b"v":
                group.hidden = number != 0
            case b"outlinelevel" if number is not None:
                self.level = min(number + 1, 6) if 0 <= number < 9 else 0
            case b"pard":
                self.level = 0
            case b"yr" | b"mo" | b"dy" | b"hr" | b"min" if group.into in _INFO and number is not None:
                self.dates.setdefault(group.into, {})[word] = number
            case b"nofpages" if number:
                self.info["nofpages"] = [str(number)]

    def _set_charset(self, group: _RtfGroup, word: bytes, number: int) -> None:
        if word == b"ansicpg":
            self.charset = _codec(f"cp{number}", self.charset)
        elif word == b"mac":
            self.charset = "mac_roman"
        elif word == b"f" and group.into == "fonts":
            self.font = number
        elif word == b"f":
            group.charset = self.fonts.get(number, "")
        elif group.into == "fonts" and len(self.fonts) < 10_000:
            self.fonts[self.font] = _CHARSETS.get(number, "") if number else ""

    def _destination(self, group: _RtfGroup, name: str) -> bool:
        if group.into == "-":
            return True
        if name == "fonttbl":
            group.into = "fonts"
        elif name in ("info", "fldrslt", "field", "footnote", "upr", "ud", "shptxt", "rtf"):
            if name == "fldrslt":
                match = _HYPERLINK.match("".join(self.instruction)[:5000])
                group.link, self.instruction = match[1] if match else "", []
            elif name == "info":
                group.into = "-i"
        elif name == "fldinst":
            group.into, self.instruction = "instruction", []
        elif group.into == "-i":
            group.into = name if name in _INFO else "-"
        elif name in _SKIPPED_DESTINATIONS or (group.starred and name not in ("shppict",)):
            group.into = "-"
        else:
            return False
        return True

    def _unicode(self, group: _RtfGroup, number: int) -> None:
        code = number % 65536
        self.left = group.skip
        if 0xD800 <= code < 0xDC00:
            self.high = code
        elif 0xDC00 <= code < 0xE000:
            if self.high:
                self._add_text(group, chr(0x10000 + ((self.high - 0xD800) << 10) + code - 0xDC00))
            self.high = 0
        else:
            self._add_text(group, chr(code))

    def _flush(self, group: _RtfGroup) -> None:
        if self.raw:
            self._add_text(group, bytes(self.raw).decode(group.charset or self.charset, "replace"))
            self.raw.clear()

    def _add_text(self, group: _RtfGroup, text: str) -> None:
        if group.into == "":
            if not group.hidden:
                self.pieces.append((text, group.link))
                self.size += len(text) + 1
                if self.size > 2 * MAX_MARKUP:
                    raise StopReading
        elif group.into == "instruction":
            if len(self.instruction) < 50:
                self.instruction.append(text)
        elif group.into in _INFO and len(known := self.info.setdefault(group.into, [])) < 100:
            known.append(text[:1000])

    def _end(self, group: _RtfGroup) -> None:
        if group.into == "":
            self.end_paragraph()

    def end_paragraph(self) -> None:
        while self.pieces and not self.pieces[-1][0].strip(" |"):
            self.pieces.pop()
        self.sheet.add(self.pieces, self.level)
        self.pieces = []
        if self.sheet.is_full:
            raise StopReading

    def describe(self, document: ParsedPage) -> None:
        info = {name: "".join(pieces) for name, pieces in self.info.items()}
        created, changed = (_date(self.dates.get(name, {})) for name in ("creatim", "revtim"))
        describe(
            document, info, author=info.get("author"), published=created, modified=changed, pages=info.get("nofpages")
        )


def _codec(name: str, otherwise: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        return "utf-8" if name == "cp65001" else otherwise
    return name


def _date(metadata: dict[bytes, int]) -> str:
    year, month, day = metadata.get(b"yr", 0), metadata.get(b"mo", 0), metadata.get(b"dy", 0)
    if not (1980 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31):
        return ""
    return f"{year}-{month:02}-{day:02}"
