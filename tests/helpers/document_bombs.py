"""Documents that exhaust their reader, as pairs of file name and bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence

from document_writers import WORD, packed, write
from lycosa.testweb.documents import Paper

Bomb = Callable[[int], bytes]
"""Functions that make a file from the approximate number of items in it."""

PAPER = Paper("Coral reefs", "Ann", "2024-05-03", [[("Corals live in warm seas.", "")]])

_W = f'xmlns:w="{WORD}/wordprocessingml/2006/main" xmlns:r="{WORD}/officeDocument/2006/relationships"'
_ODT = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
)
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)


def _docx(body: str, head: str = "", more: Sequence[tuple[str, str]] = ()) -> bytes:
    return packed(
        [
            ("mimetype", "x"),
            *more,
            ("word/document.xml", f"{head}<w:document {_W}><w:body>{body}</w:body></w:document>"),
        ]
    )


def _odt(body: str) -> bytes:
    return packed([("mimetype", "x"), ("content.xml", f"<office:body {_ODT}>{body}</office:body>")])


def _epub(opf: str, members: Sequence[tuple[str, str]] = ()) -> bytes:
    container = '<container><rootfile full-path="a.opf"/></container>'
    return packed([("mimetype", "x"), ("META-INF/container.xml", container), ("a.opf", opf), *members])


def _written(text: bytes, method: int, sizes: int = 0) -> bytes:
    """Return a DOCX file, compressed by a method, that declares a wrong size."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.writestr("word/document.xml", text)
    body = out.getvalue()
    return body.replace(len(text).to_bytes(4, "little"), sizes.to_bytes(4, "little")) if sizes else body


def pdf(*objects: bytes, trailer: bytes = b"") -> bytes:
    """Return a PDF of these objects, numbered from 1, without a cross-reference table."""
    told = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, data) for number, data in enumerate(objects, 1))
    return b"%PDF-1.7\n" + told + b"trailer <</Root 1 0 R " + trailer + b">>\n%%EOF\n"


def stream(data: bytes, more: bytes = b"/Filter/FlateDecode", times: int = 1) -> bytes:
    """Return a stream, compressed `times` times."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(data), more, data)


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
ONE = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
FONT = b"<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources" + FONT + b">>"


def _forms() -> bytes:
    """Return a PDF of forms that draw ten others each, nested nine deep."""
    forms = [
        stream(
            b"/X Do " * 10,
            b"/Filter/FlateDecode/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>" % (n + 5),
        )
        for n in range(9)
    ]
    last = stream(
        b"BT /F 9 Tf (ha) Tj ET", b"/Filter/FlateDecode/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources" + FONT
    )
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>"
    return pdf(CATALOG, ONE, page, *forms, last)


def _text(times: int) -> bytes:
    return pdf(CATALOG, ONE, PAGE, stream(b"BT /F 9 Tf " + b"(haha haha haha) Tj T* " * times + b"ET"))


BOMBS: dict[str, Bomb] = {
    "deflated.docx": lambda n: _docx("<w:p><w:r><w:t>" + " ha" * (25 * n) + "</w:t></w:r></w:p>"),
    "deflated.odt": lambda n: _odt("<text:p>" + " ha" * (25 * n) + "</text:p>"),
    "deflated.epub": lambda n: _epub(
        '<package><manifest><item id="a" href="a.html"/></manifest><spine><itemref idref="a"/></spine></package>',
        [("a.html", "<p>" + " ha" * (25 * n))],
    ),
    "many-members.docx": lambda n: packed([*((f"m{m}", "") for m in range(n // 33)), ("word/document.xml", "<w/>")]),
    "lying-about-size.docx": lambda n: _written(b"<w>" + b" " * n + b"</w>", zipfile.ZIP_DEFLATED, 10),
    "bzip2.docx": lambda n: _written(b" " * (10 * n), zipfile.ZIP_BZIP2),
    "lzma.docx": lambda n: _written(b" " * (10 * n), zipfile.ZIP_LZMA),
    "within-itself.epub": lambda n: _epub('<package><manifest><item id="a" href="a.opf"/></manifest></package>'),
    "one-chapter-again.epub": lambda n: _epub(
        "<package><manifest>"
        + "".join(f'<item id="a{m}" href="a.html?{m}"/><item id="b{m}" href="a.html"/>' for m in range(n // 33))
        + "</manifest><spine>"
        + "".join(f'<itemref idref="b{m}"/>' for m in range(n // 33))
        + "</spine></package>",
        [("a.html", "<p>" + "ha " * (n // 10))],
    ),
    "nested-divs.epub": lambda n: _epub(
        '<package><manifest><item id="a" href="a.html"/></manifest><spine><itemref idref="a"/></spine></package>',
        [("a.html", "<div><b a=1 c=2>" * (n // 10))],
    ),
    "laughs.docx": lambda n: _docx("<w:p><w:r><w:t>&j;</w:t></w:r></w:p>", LAUGHS + "]>"),
    "laughs.odt": lambda n: packed([("mimetype", "x"), ("content.xml", LAUGHS + "]><x>&j;</x>")]),
    "laughs.epub": lambda n: _epub(LAUGHS + "]><package>&j;</package>"),
    "quadratic.docx": lambda n: _docx("&a;" * (n // 20), f'<!DOCTYPE x [<!ENTITY a "{"ha" * (n // 20)}">]>'),
    "outside.docx": lambda n: _docx("&a;", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
    "parameters.docx": lambda n: _docx("", '<!DOCTYPE x [<!ENTITY % a "<!ENTITY b \'ha\'>">%a;]>'),
    "deep.docx": lambda n: _docx("<w:x>" * n),
    "deep-boxes.docx": lambda n: _docx("<w:p><w:txbxContent>" * (n // 5)),
    "deep-tables.odt": lambda n: _odt("<table:table-row><table:table-cell><text:p>ha</text:p>" * (n // 10)),
    "empty-paragraphs.docx": lambda n: _docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * (n // 5)),
    "links.docx": lambda n: _docx(
        '<w:p><w:hyperlink r:id="a"><w:r><w:t>a</w:t></w:r></w:hyperlink></w:p>' * (n // 10),
        more=[
            (
                "word/_rels/document.xml.rels",
                f'<R><R Id="a" TargetMode="External" Target="http://a.test/{"a" * 3000}"/></R>',
            )
        ],
    ),
    "spaces.odt": lambda n: _odt("<text:p>" + '<text:s text:c="2147483647"/>' * (n // 20) + "</text:p>"),
    "long-attribute.docx": lambda n: _docx(f'<w:p a="{"a" * (20 * n)}"/>'),
    "loop-of-pages.pdf": lambda n: pdf(CATALOG, b"<</Type/Pages/Count 9/Kids[2 0 R 2 0 R 2 0 R]>>"),
    "milliard-pages.pdf": lambda n: pdf(CATALOG, b"<</Type/Pages/Count 1000000000/Kids[3 0 R]>>", PAGE, stream(b"")),
    "endless-pages.pdf": lambda n: pdf(
        CATALOG,
        b"<</Type/Pages/Count 1000000/Kids[" + b"3 0 R " * (n // 10) + b"]>>",
        PAGE,
        stream(b"BT /F 9 Tf 9 700 Td (the same page again) Tj ET"),
    ),
    "deflated.pdf": lambda n: _text(2 * n),
    "twice-deflated.pdf": lambda n: pdf(
        CATALOG, ONE, PAGE, stream(b"q Q " * (10 * n), b"/Filter[/FlateDecode/FlateDecode]", 2)
    ),
    "forms.pdf": lambda n: _forms(),
    "deep-arrays.pdf": lambda n: pdf(CATALOG, ONE, PAGE[:-2] + b"/X" + b"[" * n + b">>", stream(b"")),
    "states.pdf": lambda n: pdf(CATALOG, ONE, PAGE, stream(b"q " * (5 * n))),
    "wide-page.pdf": lambda n: pdf(
        CATALOG, ONE, PAGE.replace(b"600 800", b"9e30 9e30"), stream(b"BT /F 1e30 Tf (reef) Tj ET")
    ),
    "loop-of-tables.pdf": lambda n: b"%PDF-1.7\nxref\n0 0\ntrailer<</Prev 9/Root 1 0 R>>\nstartxref\n9\n%%EOF",
    "loop-of-outlines.pdf": lambda n: pdf(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>", ONE, PAGE, stream(b""),
        b"<</First 6 0 R/Last 6 0 R>>", b"<</Title(a)/Parent 5 0 R/Next 6 0 R/First 6 0 R>>",
    ),
    "annotations.pdf": lambda n: pdf(
        CATALOG, ONE, PAGE[:-2] + b"/Annots[" + b"5 0 R " * (n // 5) + b"]>>", stream(b""),
        b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a.test/)>>>>",
    ),
    "large-picture.pdf": lambda n: pdf(
        CATALOG,
        ONE,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
        stream(b"/X Do"),
        stream(
            b"\0" * n,
            b"/Filter/FlateDecode/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 8"
            b"/ColorSpace/DeviceRGB",
        ),
    ),
    "deep.rtf": lambda n: b"{\\rtf1" + b"{" * (3 * n),
    "binary.rtf": lambda n: b"{\\rtf1 \\bin2147483647 " + b"a" * 1000,
    "unicode.rtf": lambda n: b"{\\rtf1\\uc0 " + b"\\u9731" * (n * 2 // 5),
    "paragraphs.rtf": lambda n: b"{\\rtf1 " + b"a\\par " * (n // 2),
    "brackets.md": lambda n: b"[" * (n // 10),
    "quotes.md": lambda n: b"> " * (n // 20),
    "stars.md": lambda n: b"**a *" * (n // 20),
    "ticks.md": lambda n: b"".join(b"`" * (m % 400 + 1) + b"a" for m in range(n // 500)),
    "lists.md": lambda n: b"".join(b" " * (2 * m) + b"- a\n" for m in range(n // 2000)),
}  # fmt: skip


def damaged() -> dict[str, bytes]:
    """Return truncated, corrupted and mislabelled files by name."""
    found: dict[str, bytes] = {}
    for kind in ("pdf", "docx", "odt", "epub", "rtf"):
        body, _ = write(kind, PAPER)
        found[f"cut.{kind}"] = body[: len(body) // 2]
        found[f"turned.{kind}"] = bytes(byte ^ 255 if at % 97 == 96 else byte for at, byte in enumerate(body))
        found[f"empty.{kind}"] = b""
        found[f"noise.{kind}"] = bytes((7 * n * n + n) % 251 for n in range(5_000))
    return found
