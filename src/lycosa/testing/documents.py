"""Pages as documents: PDF, DOCX, ODT, EPUB, RTF, Markdown and text, written by hand, the same each time."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap

Run = tuple[str, str]  # words, and the address that they link to
WORD = "http://schemas.openxmlformats.org"
_COLUMNS, _ROWS = 88, 56
_SIZE, _LEADING, _LEFT, _TOP = 9.0, 13.0, 60.0, 780.0
_ADVANCE = 0.6 * _SIZE  # every letter of Courier is so wide


@dataclass(frozen=True, slots=True)
class Paper:
    """What a document says."""

    title: str
    author: str
    date: str  # 2021-05-03
    paragraphs: Sequence[Sequence[Run]]
    headings: frozenset[int] = field(default=frozenset())  # numbers of paragraphs


def write(kind: str, paper: Paper) -> tuple[bytes, str]:
    make, type_ = KINDS[kind]
    return make(paper), type_


# -- PDF -----------------------------------------------------------------------------------------------------------


def pdf(paper: Paper) -> bytes:
    """Lines in Courier, annotations for links, an information dictionary, compressed streams."""
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
            objects.append(
                f"<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[{place}]/A<</S/URI/URI({_string(href)})>>>>".encode()
            )
            notes.append(f"{len(objects)} 0 R")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {len(objects) - len(notes)} 0 R/Annots[{' '.join(notes)}]>>".encode()
        )
        kids.append(len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R/Lang(en)>>"
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    stamp = f"D:{paper.date.replace('-', '')}120000Z"
    told = {"Title": paper.title, "Author": paper.author, "CreationDate": stamp}
    objects[3] = f"<<{''.join(f'/{name}({_string(value)})' for name, value in told.items())}>>".encode(
        "cp1252", "replace"
    )
    return _numbered(objects)


def _laid_out(paragraph: Sequence[Run]) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Lines of a paragraph, with the columns of the links on each."""
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
    """Objects as a file, with the table of where they are. The first is the catalogue, the fourth the information."""
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


# -- files of XML --------------------------------------------------------------------------------------------------


def packed(members: Sequence[tuple[str, str]]) -> bytes:
    """A ZIP file. The first member is stored as it is, as EPUB and ODT want their type to be."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number, (name, text) in enumerate(members):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED
            file.writestr(info, text)
    return out.getvalue()


def docx(paper: Paper) -> bytes:
    relations: list[str] = []
    body = [f'<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>{escape(paper.title)}</w:t></w:r></w:p>']
    for number, paragraph in enumerate(paper.paragraphs):
        runs = []
        for text, href in paragraph:
            run = f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
            if href:
                relations.append(
                    f'<Relationship Id="r{len(relations)}" Type="{WORD}/officeDocument/2006/relationships/hyperlink" '
                    f'Target="{escape(href)}" TargetMode="External"/>'
                )
                run = f'<w:hyperlink r:id="r{len(relations) - 1}">{run}</w:hyperlink>'
            runs.append(run)
        style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if number in paper.headings else ""
        body.append(f"<w:p>{style}{''.join(runs)}</w:p>")
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    package = f"{WORD}/package/2006"
    return packed(
        [
            ("[Content_Types].xml", f'{head}<Types xmlns="{package}/content-types">'
             '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" '
             'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
             'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
             'wordprocessingml.document.main+xml"/></Types>'),
            ("_rels/.rels", f'{head}<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
             f'Type="{WORD}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
             f'<Relationship Id="r2" Type="{package}/relationships/metadata/core-properties" '
             'Target="docProps/core.xml"/></Relationships>'),
            ("docProps/core.xml", f'{head}<cp:coreProperties xmlns:cp="{package}/metadata/core-properties" '
             'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
             f"<dc:title>{escape(paper.title)}</dc:title><dc:creator>{escape(paper.author)}</dc:creator>"
             f"<dcterms:created>{paper.date}T12:00:00Z</dcterms:created></cp:coreProperties>"),
            ("word/_rels/document.xml.rels",
             f'{head}<Relationships xmlns="{package}/relationships">{"".join(relations)}</Relationships>'),
            ("word/document.xml", f'{head}<w:document xmlns:w="{WORD}/wordprocessingml/2006/main" '
             f'xmlns:r="{WORD}/officeDocument/2006/relationships"><w:body>{"".join(body)}</w:body></w:document>'),
        ]
    )  # fmt: skip


def odt(paper: Paper) -> bytes:
    base = "urn:oasis:names:tc:opendocument:xmlns"
    names = (
        f'xmlns:office="{base}:office:1.0" xmlns:text="{base}:text:1.0" xmlns:meta="{base}:meta:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"'
    )
    body = [f'<text:h text:outline-level="1">{escape(paper.title)}</text:h>']
    for number, paragraph in enumerate(paper.paragraphs):
        runs = "".join(
            f'<text:a xlink:type="simple" xlink:href="{escape(href)}">{escape(text)}</text:a>' if href else escape(text)
            for text, href in paragraph
        )
        is_heading = number in paper.headings
        body.append(f'<text:h text:outline-level="2">{runs}</text:h>' if is_heading else f"<text:p>{runs}</text:p>")
    type_ = KINDS["odt"][1]
    return packed(
        [
            ("mimetype", type_),
            ("content.xml", f"<office:document-content {names}><office:body><office:text>{''.join(body)}</office:text>"
             "</office:body></office:document-content>"),
            ("meta.xml", f"<office:document-meta {names}><office:meta><dc:title>{escape(paper.title)}</dc:title>"
             f"<meta:initial-creator>{escape(paper.author)}</meta:initial-creator>"
             f"<meta:creation-date>{paper.date}T12:00:00</meta:creation-date></office:meta></office:document-meta>"),
            ("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{base}:manifest:1.0">'
             f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{type_}"/>'
             '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
             "</manifest:manifest>"),
        ]
    )  # fmt: skip


def epub(paper: Paper) -> bytes:
    chapter = "".join(
        f"<{tag}>{_markup(paragraph)}</{tag}>"
        for number, paragraph in enumerate(paper.paragraphs)
        for tag in ("h2" if number in paper.headings else "p",)
    )
    return packed(
        [
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml",
             '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
             '<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>'
             "</rootfiles></container>"),
            ("OEBPS/content.opf", '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
             '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:x</dc:identifier>'
             f"<dc:title>{escape(paper.title)}</dc:title><dc:creator>{escape(paper.author)}</dc:creator>"
             f"<dc:language>en</dc:language><dc:date>{paper.date}</dc:date></metadata><manifest>"
             '<item id="c1" href="c1.xhtml" media-type="application/xhtml+xml"/></manifest>'
             '<spine><itemref idref="c1"/></spine></package>'),
            ("OEBPS/c1.xhtml", '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
             f"<title>{escape(paper.title)}</title></head><body><h1>{escape(paper.title)}</h1>{chapter}</body></html>"),
        ]
    )  # fmt: skip


def _markup(paragraph: Sequence[Run]) -> str:
    return "".join(f'<a href="{escape(href)}">{escape(text)}</a>' if href else escape(text) for text, href in paragraph)


# -- text ----------------------------------------------------------------------------------------------------------


def rtf(paper: Paper) -> bytes:
    year, month, day = paper.date.split("-")
    told = f"{{\\title {_rich(paper.title)}}}{{\\author {_rich(paper.author)}}}"
    told += f"{{\\creatim\\yr{year}\\mo{int(month)}\\dy{int(day)}}}"
    body = [f"\\pard\\outlinelevel0 {{\\b {_rich(paper.title)}}}\\par"]
    for number, paragraph in enumerate(paper.paragraphs):
        runs = "".join(
            f'{{\\field{{\\*\\fldinst HYPERLINK "{href}"}}{{\\fldrslt {_rich(text)}}}}}' if href else _rich(text)
            for text, href in paragraph
        )
        level = "\\outlinelevel1" if number in paper.headings else ""
        body.append(f"\\pard{level} {runs}\\par")
    newline = "\n"
    return f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Times;}}}}{{\\info{told}}}\n{newline.join(body)}}}".encode(
        "ascii"
    )


def _rich(text: str) -> str:
    out = []
    for letter in text:
        if letter in "\\{}":
            out.append(f"\\{letter}")
        elif ord(letter) < 128:
            out.append(letter)
        else:
            units = letter.encode("utf-16-le")
            numbers = (int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2))
            out += [f"\\u{number}?" for number in numbers]
    return "".join(out)


def markdown(paper: Paper) -> bytes:
    blocks = [f"---\ntitle: {paper.title}\nauthor: {paper.author}\ndate: {paper.date}\n---", f"# {paper.title}"]
    for number, paragraph in enumerate(paper.paragraphs):
        text = "".join(f"[{words}]({href})" if href else words for words, href in paragraph)
        blocks.append(f"## {text}" if number in paper.headings else text)
    return ("\n\n".join(blocks) + "\n").encode()


def text(paper: Paper) -> bytes:
    """A text file; addresses stand behind the words that link to them."""
    blocks = [paper.title, f"{paper.author}, {paper.date}"]
    for paragraph in paper.paragraphs:
        blocks.append("".join(f"{words} <{href}>" if href else words for words, href in paragraph))
    return ("\n\n".join("\n".join(wrap(block, 78, break_long_words=False)) for block in blocks) + "\n").encode()


# by file ending
KINDS: dict[str, tuple[Callable[[Paper], bytes], str]] = {
    "pdf": (pdf, "application/pdf"),
    "docx": (docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "odt": (odt, "application/vnd.oasis.opendocument.text"),
    "epub": (epub, "application/epub+zip"),
    "rtf": (rtf, "application/rtf"),
    "md": (markdown, "text/markdown; charset=utf-8"),
    "txt": (text, "text/plain; charset=utf-8"),
}
