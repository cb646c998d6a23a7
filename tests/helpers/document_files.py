"""Documents of all kinds with their expected text, made by our writers, by libraries and by hand."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import docx
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from document_bombs import CATALOG, ONE, PAGE, pdf, stream
from document_writers import KINDS, packed, write
from lycosa.testweb.documents import Paper

REEFS = (
    "Coral reefs are built by colonies of polyps over thousands of years, and shelter a quarter of all species.",
    "Where the water warms, corals bleach. The survey of this spring found most of them dead in the lagoon.",
    "Divers counted nine living colonies on the outer reef, where currents bring colder water from below.",
)
TONGUES = {
    "english": " ".join(REEFS),
    "german": "Die Rückkehr der Korallen überrascht die Größten der Forscher: Öl, Müll und Wärme schadeten sehr.",
    "french": "Les récifs coralliens abritent une espèce marine sur quatre, là où l'eau reste claire, tiède et salée.",
    "greek": "Οι κοραλλιογενείς ύφαλοι φιλοξενούν το ένα τέταρτο των ειδών της θάλασσας και χτίζονται αργά.",
    "russian": "Коралловые рифы дают приют четверти всех видов моря и растут тысячи лет в тёплой воде.",
    "arabic": "الشعاب المرجانية موطن ربع الكائنات البحرية وهي تنمو ببطء في المياه الدافئة",
    "hebrew": "שוניות האלמוגים הן בית לרבע ממיני הים והן גדלות לאט במים חמים",
    "japanese": "珊瑚礁は海の生物の四分の一の住みかであり、暖かい海でゆっくり育つ。",
}

# Debian package fonts-dejavu-core, which covers all alphabets used here.
FONT = next(Path("/usr/share/fonts").rglob("DejaVuSans.ttf"), None)


@dataclass
class File:
    """Document and its expected content."""

    body: bytes
    kind: str
    """File extension."""
    words: str = ""
    type: str = ""
    title: str | None = None
    author: str | None = None
    date: str | None = None
    """Expected prefix of the document's date."""
    pages: str | None = None
    links: list[tuple[str, str]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    flaw: str = ""


def files() -> Iterator[tuple[str, File]]:
    """Yield all documents by name."""
    yield from _ours()
    yield from _by_reportlab()
    yield from _by_hand()
    yield from _flawed()


def _ours() -> Iterator[tuple[str, File]]:
    latin = ("english", "german", "french")
    for kind, (_, type_) in KINDS.items():
        for tongue, text in TONGUES.items():
            if kind == "pdf" and tongue not in latin:  # Courier has only Latin letters
                continue
            links = [("http://b.test/survey?a=1&b=2", "the survey"), ("https://c.test/d", "https://c.test/d")]
            told: list[list[tuple[str, str]]] = [
                [(text, "")],
                [("Methods", "")],
                [("See ", ""), ("the survey", links[0][0]), (" and https://c.test/d.", "")],
            ]
            paper = Paper("Reefs of the world", "Ann Müller", "2021-05-03", told, frozenset({1}))
            is_text = kind == "txt"
            yield f"{tongue}.{kind}", File(
                write(kind, paper)[0], kind, f"{text} Methods See the survey and", type_,
                None if is_text else paper.title, None if is_text else paper.author, None if is_text else paper.date,
                "1" if kind == "pdf" else None,
                links[:1] if kind == "epub" else [(url, url) for url, _ in links] if is_text else links,
            )  # fmt: skip


def _canvas(draw: Callable[[Canvas], None], **given: object) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1, **given)
    canvas.setFont("Times-Roman", 11)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _font(canvas: Canvas) -> None:
    assert FONT is not None
    pdfmetrics.registerFont(TTFont("DejaVu", FONT))
    canvas.setFont("DejaVu", 11)


def _columns(canvas: Canvas) -> None:
    for column in range(2):
        for row, text in enumerate(f"{TONGUES['english']} {column}".split(". ")):
            for half, words in enumerate((text[: len(text) // 2], text[len(text) // 2 :])):
                canvas.drawString(50 + 270 * column, 750 - 30 * row - 13 * half, words)


def _running(canvas: Canvas) -> None:
    for number in range(6):
        canvas.setFont("Times-Roman", 9)
        canvas.drawString(50, 800, "The Journal of Reefs")
        canvas.drawString(300, 30, f"Page {number + 1}")
        canvas.setFont("Times-Bold", 18)
        canvas.drawString(50, 760, f"Chapter {'ABCDEF'[number]}")
        canvas.setFont("Times-Roman", 11)
        for row, text in enumerate(REEFS):
            canvas.drawString(50, 730 - 14 * row, text)
        canvas.showPage()
    canvas.drawString(50, 700, "The end of it.")


def _linked(canvas: Canvas) -> None:
    canvas.setTitle("Microsoft Word - reefs.doc")
    canvas.setAuthor("Ann")
    canvas.setFont("Times-Bold", 20)
    canvas.drawString(50, 780, "Reefs in danger")
    canvas.setFont("Times-Roman", 11)
    canvas.drawString(50, 740, "See the survey for more.")
    width = canvas.stringWidth("See ", "Times-Roman", 11)
    end = canvas.stringWidth("See the survey", "Times-Roman", 11)
    canvas.linkURL("survey.html", (50 + width, 737, 50 + end, 750), relative=0)


def _by_reportlab() -> Iterator[tuple[str, File]]:
    english = TONGUES["english"]
    yield "two-columns.pdf", File(_canvas(_columns), "pdf", f"{english} 0 {english} 1".replace(". ", " "))
    running = File(_canvas(_running), "pdf", " ".join([*REEFS, "Chapter A", "The Journal of Reefs"]), pages="7")
    yield "running.pdf", running
    yield "links.pdf", File(
        _canvas(_linked), "pdf", "Reefs in danger See the survey for more", title="Reefs in danger", author="Ann",
        links=[("http://a.test/survey.html", "the survey")],
    )  # fmt: skip
    for tongue in ("greek", "russian", "hebrew") if FONT else ():
        text = TONGUES[tongue]
        seen = text[::-1] if tongue == "hebrew" else text  # in visual order, from the left

        def draw(canvas: Canvas, seen: str = seen) -> None:
            _font(canvas)
            canvas.drawString(20, 700, seen)

        yield f"{tongue}-font.pdf", File(_canvas(draw), "pdf", text)
    open_to_all = StandardEncryption("", ownerPassword="owner", canPrint=0)
    yield "for-all.pdf", File(_canvas(_columns, encrypt=open_to_all), "pdf", english.replace(". ", " "))
    yield "packed.pdf", File(_canvas(_columns, pageCompression=1), "pdf", english.replace(". ", " "))
    many = _canvas(
        lambda canvas: [(canvas.drawString(50, 700, f"page {n}"), canvas.showPage()) for n in range(400)] and None
    )
    yield "long.pdf", File(many, "pdf", "page 0 page 399", pages="401")


def _word() -> bytes:
    file, out = docx.Document(), io.BytesIO()
    file.core_properties.title, file.core_properties.author = "Reefs", "Ann"
    file.add_heading("Reefs of the north", 1)
    file.add_paragraph(REEFS[0])
    file.add_paragraph("A point of a list", style="List Bullet")
    table = file.add_table(2, 2)
    for n, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell{n}"
    file.save(out)
    return out.getvalue()


def _by_hand() -> Iterator[tuple[str, File]]:
    words = " ".join([REEFS[0], "Reefs of the north A point of a list cell0 cell1 cell2 cell3"])
    yield "word.docx", File(_word(), "docx", words, title="Reefs", author="Ann")
    yield "sent-as-zip.docx", File(_word(), "docx", words, "application/zip")
    yield (
        "sent-as-text.pdf",
        File(write("pdf", Paper("A", "B", "2020-01-01", [[(REEFS[0], "")]]))[0], "txt", REEFS[0], "text/plain"),
    )
    yield (
        "sent-as-stream.pdf",
        File(
            write("pdf", Paper("A", "B", "2020-01-01", [[(REEFS[0], "")]]))[0],
            "pdf",
            REEFS[0],
            "application/octet-stream",
        ),
    )
    yield (
        "page.pdf",
        File(b"<!DOCTYPE html><title>Sign in</title><p>Please sign in", "pdf", "Please sign in", "application/pdf"),
    )
    cyrillic = (
        "{\\rtf1\\ansi{\\fonttbl{\\f0 A;}{\\f1\\fcharset204 B;}}{\\f1 \\'d0\\'e8\\'f4} reef\\par\\u26691?\\cell b\\row}"
    )
    yield "code-pages.rtf", File(cyrillic.encode(), "rtf", "Риф reef 桃 b")
    yield (
        "empty-page.pdf",
        File(pdf(CATALOG, ONE, PAGE, stream(b"0 0 10 10 re f")), "pdf", flags=["no-text"], pages="1"),
    )
    yield (
        "no-table.pdf",
        File(pdf(CATALOG, ONE, PAGE, stream(b"BT /F 12 Tf 50 700 Td (Damaged reefs) Tj ET")), "pdf", "Damaged reefs"),
    )
    scan = io.BytesIO()
    Image.new("L", (200, 300), 200).save(scan, "PDF", save_all=True, append_images=[Image.new("L", (200, 300))])
    yield "scan.pdf", File(scan.getvalue(), "pdf", flags=["scanned"], pages="2")


def _flawed() -> Iterator[tuple[str, File]]:
    secret = StandardEncryption("secret", strength=128)
    yield "secret.pdf", File(_canvas(_columns, encrypt=secret), "pdf", flaw="encrypted")
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    yield "secret.docx", File(ole + "EncryptedPackage".encode("utf-16-le"), "docx", flaw="encrypted")
    yield "old.docx", File(ole, "docx", flaw="old Word format")
    manifest = "<m:manifest xmlns:m='x'><m:encryption-data/></m:manifest>"
    yield "secret.odt", File(packed([("mimetype", "x"), ("META-INF/manifest.xml", manifest)]), "odt", flaw="encrypted")
    container = "<c><rootfile full-path='a.opf'/></c>"
    sealed = "<e><EncryptionMethod Algorithm='x'/></e>"
    members = [
        ("mimetype", "x"),
        ("META-INF/container.xml", container),
        ("a.opf", "<p/>"),
        ("META-INF/encryption.xml", sealed),
    ]
    yield "sealed.epub", File(packed(members), "epub", flaw="encrypted")
    for kind in ("pdf", "docx", "odt", "epub"):
        body = write(kind, Paper("A", "B", "2020-01-01", [[(REEFS[0], "")]]))[0]
        yield f"cut.{kind}", File(body[: len(body) // 3], kind, flaw="damaged")
