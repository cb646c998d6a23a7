"""Documents: what is read of files of all kinds, and that none of them hurts whoever reads it."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from document_bombs import BOMBS, damaged
from document_files import files
from lycosa.web.documents.kinds import kind_by_extension, kind_of, parse_kinds
from lycosa.web.html import ParsedPage
from lycosa.web.parse_process import Unreadable, WorkerPool, read_page
from places import ROOT

WORD = re.compile("[\u3040-\u9fff]|[^\\W_]+")


@pytest.fixture(scope="module")
def readers() -> Iterator[WorkerPool]:
    """A process of our own; what ends it is followed by the next."""
    readers = WorkerPool(1)
    yield readers
    readers.close()


def test_what_is_read(readers: WorkerPool) -> None:
    """Of 85 files of all kinds at least 95 % of the words, the title, author, date, pages and links; or why not."""
    seen = 0
    for name, file in files():
        url = f"http://a.test/{name.rpartition('.')[0]}.{file.kind}"
        document: ParsedPage = readers.run("page", file.body, url, file.type)
        wanted, got = (Counter(WORD.findall(text.lower())) for text in (file.words, document.text))
        assert (wanted & got).total() >= 0.95 * wanted.total(), (name, wanted - got)
        assert (file.flags, bool(file.flaw)) == (document.flags, bool(document.error)), name
        assert file.flaw in document.error, name
        told = {"title": document.title, "pages": document.about.get("pages"), "author": document.about.get("author")}
        told["date"] = document.about.get("published", "")[:10]
        for what in told:
            assert getattr(file, what) in (None, told[what]), (name, what, told)
        links = list(zip(document.links.urls, document.links.anchors, strict=True))
        assert file.links in (links, []), (name, links)
        seen += 1
    assert seen >= 60


def test_running_lines_are_not_of_the_main_part(readers: WorkerPool) -> None:
    """What stands at the top of all pages is text, but nobody came for it; large letters are headings."""
    [file] = [file for name, file in files() if name == "running.pdf"]
    document = readers.run("page", file.body, "http://a.test/a.pdf", "")
    assert ("Journal of Reefs" in document.text, "Journal" in document.main, "Page 3" in document.main) == (
        True,
        False,
        False,
    )
    assert ["Chapter A", "Chapter B"] == document.headings.split("\n")[:2]


def test_bombs_and_damaged_files_are_outcomes(readers: WorkerPool) -> None:
    """Whatever a file is made of, it is read within bounds, or is said to be unreadable; no reader has an error."""
    for name, make in BOMBS.items():
        try:
            document = readers.run("page", make(10_000), f"http://a.test/{name}", "")
        except Unreadable:
            assert "forms.pdf" == name  # which is as large as it is
            continue
        assert len(document.text) + len(document.main) < 6_000_000, name
    for name, body in damaged().items():
        document = readers.run("page", body, f"http://a.test/{name}", "")
        assert document.error or len(document.text) < 100, name


@pytest.mark.parametrize("name", ["deflated.docx", "laughs.odt", "endless-pages.pdf", "deflated.pdf", "states.pdf"])
def test_bombs_at_full_size(name: str) -> None:
    """Limits hold: the first pages, the first letters, or an outcome that says why not; the next page is read."""
    readers = WorkerPool(1, memory=200_000_000)
    try:
        try:
            document = readers.run("page", BOMBS[name](1_000_000), f"http://a.test/{name}", "")
            told = f"{document.error} {document.flags}"
        except Unreadable as error:
            told = str(error)
        assert re.search(r"not allowed|truncated:document|more than 200 MB|killed the worker \(SIG", told)
        assert "Reefs" == readers.run("page", b"<title>Reefs</title>", "http://a.test/", "").title
    finally:
        readers.close()


def test_native_code_never_runs_here() -> None:
    """Documents are read in another process, small ones and read again ones, too: the library is not even loaded."""
    code = (
        "import sys; from lycosa.web.parse_process import read_page;"
        "from document_bombs import pdf, CATALOG, ONE, PAGE, stream;"
        "body = pdf(CATALOG, ONE, PAGE, stream(b'BT /F 12 Tf 50 700 Td (Reefs) Tj ET'));"
        "print(read_page(body, 'http://a.test/', 'application/pdf').text, 'pypdfium2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "tests" / "helpers"
    )
    assert "Reefs False" == done.stdout.strip()


def test_without_a_process_a_document_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none can be started a large page is read here, but a document is not."""

    def none(*given: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr("lycosa.web.parse_process._Worker", none)
    monkeypatch.setattr("lycosa.web.parse_process.WORKERS", WorkerPool(1))
    assert "Reefs" == read_page(b"<title>Reefs</title>" + b" " * 600_000, "http://a.test/", "text/html").title
    with pytest.raises(Unreadable, match="no worker process could be started"):
        read_page(b"{\\rtf1 a}", "http://a.test/", "text/rtf")


@pytest.mark.parametrize(
    ("body", "url", "type_", "kind"),
    [
        (b"", "http://a.test/a.pdf", "application/pdf; x=y", "pdf"),
        (b"%PDF-1.4", "http://a.test/", "text/html", "pdf"),
        (b"PK", "http://a.test/a.docx?b", "application/octet-stream", "docx"),
        (b"PK", "http://a.test/a.zip", "application/zip", ""),
        (b"{\\rtf", "http://a.test/a.RTF", "application/msword", "rtf"),
        (b"# a", "http://a.test/README.md", "text/plain", "markdown"),
        (b"# a", "http://a.test/a.md", "application/octet-stream", ""),
        (b"<html>", "http://a.test/a.pdf", "text/html", ""),
        (b"\n<!DOCTYPE HTML>", "http://a.test/a.odt", "application/vnd.oasis.opendocument.text", ""),
        (b"a", "http://[a.test/a.pdf", "", ""),
    ],
)
def test_kinds(body: bytes, url: str, type_: str, kind: str) -> None:
    """The type decides, where it says nothing the address, and first bytes that are beyond doubt before both."""
    assert kind == kind_of(body, url, type_)
    assert kind_by_extension(url) in ("pdf", "docx", "rtf", "odt", "markdown", "")


def test_groups() -> None:
    """`--documents` is a list of groups, or none."""
    assert parse_kinds("pdf") < parse_kinds("pdf, office")
    for wrong in ("", "word", "pdf,none", "none,none"):
        with pytest.raises(ValueError, match="list of pdf, office"):
            parse_kinds(wrong)
