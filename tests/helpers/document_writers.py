"""Writers of PDF, DOCX, ODT, EPUB, RTF, Markdown and text; their output is deterministic."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from html import escape
from textwrap import wrap

from lycosa.testweb.documents import Paper, Run, pdf

WORD = "http://schemas.openxmlformats.org"


def write(kind: str, paper: Paper) -> tuple[bytes, str]:
    """Return a document of a kind and its content type."""
    make, type_ = KINDS[kind]
    return make(paper), type_


def packed(members: Sequence[tuple[str, str]]) -> bytes:
    """Return a ZIP file; the first member is stored uncompressed, as EPUB and ODT require of their media type."""
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
    """Return a text file; URLs follow the words that link to them."""
    blocks = [paper.title, f"{paper.author}, {paper.date}"]
    for paragraph in paper.paragraphs:
        blocks.append("".join(f"{words} <{href}>" if href else words for words, href in paragraph))
    return ("\n\n".join("\n".join(wrap(block, 78, break_long_words=False)) for block in blocks) + "\n").encode()


# By file extension.
KINDS: dict[str, tuple[Callable[[Paper], bytes], str]] = {
    "pdf": (pdf, "application/pdf"),
    "docx": (docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "odt": (odt, "application/vnd.oasis.opendocument.text"),
    "epub": (epub, "application/epub+zip"),
    "rtf": (rtf, "application/rtf"),
    "md": (markdown, "text/markdown; charset=utf-8"),
    "txt": (text, "text/plain; charset=utf-8"),
}
