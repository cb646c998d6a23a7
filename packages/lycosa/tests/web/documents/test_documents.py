"""All kinds of documents: real files, damaged files and decompression bombs."""

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
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1)
    yield pool
    pool.close()


def test_read_any_finds_words_metadata_and_links(pool: WorkerPool) -> None:
    seen = 0
    for name, file in files():
        url = f"http://a.test/{name.rpartition('.')[0]}.{file.kind}"
        document: ParsedPage = pool.run("page", file.body, url, file.type)
        wanted, got = (Counter(WORD.findall(text.lower())) for text in (file.words, document.text))
        assert (wanted & got).total() >= 0.95 * wanted.total(), (name, wanted - got)
        assert (file.flags, bool(file.flaw)) == (document.flags, bool(document.error)), name
        assert file.flaw in document.error, name
        metadata = {
            "title": document.title,
            "pages": document.about.get("pages"),
            "author": document.about.get("author"),
        }
        metadata["date"] = document.about.get("published", "")[:10]
        for key in metadata:
            assert getattr(file, key) in (None, metadata[key]), (name, key, metadata)
        links = list(zip(document.links.urls, document.links.anchors, strict=True))
        assert file.links in (links, []), (name, links)
        seen += 1
    assert seen >= 60


def test_read_any_bounds_bombs_and_reports_damage(pool: WorkerPool) -> None:
    for name, make in BOMBS.items():
        try:
            document = pool.run("page", make(10_000), f"http://a.test/{name}", "")
        except Unreadable:
            assert "forms.pdf" == name  # is large itself
            continue
        assert len(document.text) + len(document.main) < 6_000_000, name
    for name, body in damaged().items():
        document = pool.run("page", body, f"http://a.test/{name}", "")
        assert document.error or len(document.text) < 100, name


@pytest.mark.parametrize("name", ["deflated.docx", "laughs.odt", "endless-pages.pdf", "deflated.pdf", "states.pdf"])
def test_read_any_bounds_bombs_at_full_size(name: str) -> None:
    pool = WorkerPool(1, memory=200_000_000)
    try:
        try:
            document = pool.run("page", BOMBS[name](1_000_000), f"http://a.test/{name}", "")
            message = f"{document.error} {document.flags}"
        except Unreadable as error:
            message = str(error)
        assert re.search(r"not allowed|truncated:document|more than 200 MB|killed the worker \(SIG", message)
        assert "Reefs" == pool.run("page", b"<title>Reefs</title>", "http://a.test/", "").title
    finally:
        pool.close()
