"""DOCX (ECMA-376): the text and its notes, without page headers and footers and without deletions."""

from __future__ import annotations

import re

from lycosa.web.documents.flow import Flow
from lycosa.web.documents.package import Fields, Package
from lycosa.web.documents.sheet import describe, page_count
from lycosa.web.html import ParsedPage

_BREAKS = {"tab": "\t", "br": " ", "cr": " ", "noBreakHyphen": "-", "ptab": "\t"}
_HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"', re.IGNORECASE)
_HEADING = re.compile(r"(?i)heading\s*([1-9])$")
_MAIN = "word/document.xml"


def read_docx(body: bytes, url: str) -> ParsedPage:
    package = Package(body, "DOCX")
    main = _main_part_name(package)
    folder = main.rpartition("/")[0]
    reader = _DocxReader(_heading_levels(package, f"{folder}/styles.xml"))
    for part in (main, f"{folder}/footnotes.xml", f"{folder}/endnotes.xml"):
        if part == main or package.has(part):
            relations = f"{part.rpartition('/')[0]}/_rels/{part.rpartition('/')[2]}.rels".lstrip("/")
            reader.targets = _targets(package, relations)
            package.parse(part, reader.start, reader.end, reader.text)
    document = reader.flow.finish().read(url)
    core, app = Fields(package, "docProps/core.xml").texts, Fields(package, "docProps/app.xml").texts
    describe(
        document, core, is_truncated=package.is_truncated, author=core.get("creator"), published=core.get("created"),
        modified=core.get("modified"), pages=page_count(app.get("Pages", "")),
    )  # fmt: skip
    return document


def _main_part_name(package: Package) -> str:
    if package.has(_MAIN):
        return _MAIN
    found: list[str] = []

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        if attributes.get("Type", "").endswith("/officeDocument"):
            found.append(attributes.get("Target", "").lstrip("/"))

    package.tags("_rels/.rels", start)
    return found[0] if found and package.has(found[0]) else _MAIN


def _targets(package: Package, name: str) -> dict[str, str]:
    targets: dict[str, str] = {}

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        if attributes.get("TargetMode") == "External" and len(targets) < 50_000:
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    package.tags(name, start)
    return targets


def _heading_levels(package: Package, name: str) -> dict[str, int]:
    levels: dict[str, int] = {}
    style = [""]

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        if name == "style":
            style[0] = attributes.get("styleId", "") if attributes.get("type") == "paragraph" else ""
        elif style[0] and len(levels) < 10_000:
            value = attributes.get("val", "")
            if name == "name" and value.lower() == "title":
                levels[style[0]] = 1
            elif name == "name" and (match := _HEADING.match(value)):
                levels[style[0]] = int(match[1])
            elif name == "outlineLvl" and value in "012345678" and value:
                levels[style[0]] = int(value) + 1

    package.tags(name, start)
    return levels


class _DocxReader:
    def __init__(self, levels: dict[str, int]) -> None:
        self.flow = Flow()
        self.levels = levels
        self.targets: dict[str, str] = {}
        self._skipped = 0
        self._level = 0
        self._in_text = False
        self._instruction: list[str] = []
        self._fields: list[bool] = []  # one entry per open field: True for hyperlinks

    def start(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        if self._skipped or name in ("del", "moveFrom", "Fallback"):
            self._skipped += 1
        elif "wordprocessingml" not in namespace:
            self._in_text = name == "t" and namespace.endswith("/math")
        elif name == "t":
            self._in_text = True
        elif name in _BREAKS:
            self.flow.text(_BREAKS[name])
        else:
            self._open(name, attributes)

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "pStyle":
                style = attributes.get("val", "")
                match = _HEADING.match(style)
                self._level = self.levels.get(style, int(match[1]) if match else int(style == "Title"))
            case "hyperlink":
                self.flow.open_link(self.targets.get(attributes.get("id", ""), ""))
            case "tr":
                self.flow.open_row()
            case "txbxContent":
                self.flow.open_inset()
            case "fldSimple":
                self.flow.open_link(_link_of(attributes.get("instr", "")))
            case "fldChar":
                self._field(attributes.get("fldCharType", ""))
            case "footnote" | "endnote" if attributes.get("type", "normal") != "normal":
                self._skipped = 1  # separators above notes are stored as notes, too, and skipped
            case "p":
                self._level = 0

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._instruction = []
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            if href := _link_of("".join(self._instruction)):
                self._fields[-1] = True
                self.flow.open_link(href)
        elif kind == "end" and self._fields and self._fields.pop():
            self.flow.close_link()

    def end(self, namespace: str, name: str) -> None:
        self._in_text = False
        if self._skipped:
            self._skipped -= 1
        elif "wordprocessingml" in namespace:
            self._close(name)

    def _close(self, name: str) -> None:
        match name:
            case "p":
                self.flow.end_paragraph(self._level)
                self._level = 0
            case "hyperlink" | "fldSimple":
                self.flow.close_link()
            case "tc":
                self.flow.end_cell()
            case "tr":
                self.flow.close_row()
            case "txbxContent":
                self.flow.close_inset()
            case "instrText":
                self._instruction = self._instruction[-20:]

    def text(self, letters: str) -> None:
        if self._in_text and not self._skipped:
            self.flow.text(letters)
        elif self._fields and not self._skipped and len(self._instruction) < 50:
            self._instruction.append(letters)


def _link_of(instruction: str) -> str:
    match = _HYPERLINK.match(instruction[:5000])
    return match[1] if match else ""
