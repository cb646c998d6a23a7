"""All document readers on real files, damaged files and decompression bombs."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from document_bombs import BOMBS, damaged
from document_files import files
from lycosa.web.html import ParsedPage
from lycosa.web.parse_process import Unreadable, WorkerPool

WORD = re.compile("[\u3040-\u9fff]|[^\\W_]+")


@pytest.fixture(scope="module")
def readers() -> Iterator[WorkerPool]:
    readers = WorkerPool(1)
    yield readers
    readers.close()


def test_read_any_finds_words_metadata_and_links(readers: WorkerPool) -> None:
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


def test_read_any_bounds_bombs_and_reports_damage(readers: WorkerPool) -> None:
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
def test_read_any_bounds_bombs_at_full_size(name: str) -> None:
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
