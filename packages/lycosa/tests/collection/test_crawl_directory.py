"""Tests of read access to a crawl directory."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from handmade import FRONT, crawl, html, redirect, star, visit_again
from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.types import Visit
from lycosa.testweb.reply import ServedDocument

TEXT = "Corals of the lagoon, counted by hand: " + " ".join(f"coral {n * n % 9973}" for n in range(800))
COPY = "http://b.localhost/copy"
ONE = "http://a.localhost/one"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl with a copy, a redirect, a dead link and bodies in several encodings."""
    path = tmp_path_factory.mktemp("made") / "crawl"
    pages = star({ONE: html("One", TEXT), COPY: html("One", TEXT)})
    pages[FRONT] = html(
        "Front", "Begin", *((url, "x") for url in (ONE, COPY, FRONT + "old", FRONT + "gone", FRONT + "br"))
    )
    pages[FRONT + "old"] = redirect(ONE)
    pages[FRONT + "br"] = ServedDocument(html("Brotli", "Packed corals").encode(), codec="br")
    crawl(path, pages)
    return path


def visit_of(collection: CrawlDirectory, url: str) -> Visit:
    return collection.history(url)[-1]


def test_pages_in_log_order(made: Path) -> None:
    with CrawlDirectory(made) as collection:
        numbered = list(collection.pages(copies=True))
        assert {FRONT, ONE, COPY, FRONT + "br"} == {visit.node for _, visit in numbered}
        assert sorted(seq for seq, _ in numbered) == [seq for seq, _ in numbered]
        assert {COPY} == {v.node for _, v in numbered} - {v.node for _, v in collection.pages()}
        assert all(visit.relevance_now >= 0.1 for _, visit in collection.pages(at_least=0.1))
        assert {ONE, FRONT + "br"} == {visit.node for visit in collection.relevant()}


def test_history_returns_every_visit(made: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(made, tmp_path / "copy"))
    visit_again(path, ONE, html("One", "Changed"))
    with CrawlDirectory(path) as collection:
        assert ["page", "page"] == [visit.kind for visit in collection.history("HTTP://A.localhost:80/one#top")]
        assert ["redirect"] == [visit.kind for visit in collection.history(FRONT + "old")]
        assert [] == collection.history("http://nowhere.localhost/")


def test_document_is_parsed_from_archived_body(made: Path) -> None:
    with CrawlDirectory(made) as collection:
        assert "Packed corals" in collection.document(visit_of(collection, FRONT + "br")).marked
        read = visit_of(collection, ONE)
        exchange = collection.exchange(read)
        assert exchange is not None
        assert "lagoon" in collection.document(read).marked == collection.document(read, exchange).marked
        assert html("One", TEXT).encode() == gzip.decompress(exchange.body)


def test_exchange_of_revisit_has_original_body(made: Path) -> None:
    with CrawlDirectory(made) as collection:
        copied, original = visit_of(collection, COPY), visit_of(collection, ONE)
        assert copied.place.length < original.place.length / 2  # the record has no body
        first, second = collection.exchange(original), collection.exchange(copied)
        assert first is not None
        assert second is not None
        assert first.body == second.body != b""
        assert "lagoon" in collection.document(copied).marked


def test_exchange_without_archive_is_none(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    crawl(path, star({ONE: html("One", TEXT)}), archive=False)
    with CrawlDirectory(path) as collection:
        visit = visit_of(collection, ONE)
        assert None is collection.exchange(visit)
        assert ("One", "") == ((document := collection.document(visit)).title, document.marked)


@pytest.mark.parametrize("damage", ["missing", "cut", "short", "other", "zeros"])
def test_exchange_of_damaged_archive_raises(damage: str, made: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(made, tmp_path / "copy"))
    (file,) = (path / "archive").glob("*.warc.gz")
    with CrawlDirectory(path) as collection:
        visit = visit_of(collection, ONE)
        data = file.read_bytes()
        start = visit.place.offset
        if damage == "missing":
            file.unlink()
        elif damage == "cut":
            file.write_bytes(data[:start])
        elif damage == "short":
            file.write_bytes(data[: start + visit.place.length // 2])
        elif damage == "other":
            file.write_bytes(data[:start] + gzip.compress(b"WARC/1.1\r\nsomething else\r\n\r\n") + data[start:])
        else:
            file.write_bytes(data[:start] + bytes(len(data) - start))
        expected = StoreError if damage == "missing" else DamagedError
        with pytest.raises(expected, match=rf"{file.name}.*restore"):
            collection.exchange(visit)


def test_directory_without_crawl_raises(tmp_path: Path) -> None:
    with raises_input_error("not-a-crawl"):
        CrawlDirectory(tmp_path)
    (tmp_path / "crawl.toml").write_text("")
    with raises_input_error("nothing-crawled"):
        CrawlDirectory(tmp_path)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -1.0])
def test_threshold_out_of_range_raises(made: Path, threshold: float) -> None:
    with raises_input_error("out-of-range", match="threshold"):
        CrawlDirectory(made, threshold)
