"""Tests of the Python API for the pages of a crawl."""

from pathlib import Path

import pytest

import lycosa
from input_errors import raises_input_error
from revisited_crawl import html, revisited

A, B, C = (f"http://a.test/{name}" for name in "abc")


@pytest.fixture
def collection(tmp_path: Path) -> lycosa.Collection:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("Old", "An axolotl."), relevance=0.9)
        crawl.page(B, html("B", "A newt."), relevance=0.0)
        crawl.page(C, html("Old", "An axolotl."), relevance=0.9, same_as=A)
        crawl.changed(A, html("New", "A salamander."), 1, relevance=0.8)
    return lycosa.open(tmp_path / "crawl")


def test_pages_selects_by_relevance_and_copies(collection: lycosa.Collection) -> None:
    assert [A] == [page.url for page in collection]
    assert 1 == len(collection) == collection.count()
    assert 3 == collection.count(everything=True, copies=True)
    assert [C, A] == [page.url for page in collection.pages(copies=True)]
    assert ["Old", "New"] == [page.title for page in collection.pages(versions=True)]


def test_pages_parts_cover_all_pages(collection: lycosa.Collection) -> None:
    parts = [list(collection.pages(everything=True, part=(number, 2))) for number in range(2)]
    assert list(collection.pages(everything=True)) == [page for part in parts for page in part]
    with raises_input_error("out-of-range"):
        next(collection.pages(part=(2, 2)))


def test_page_is_current_version(collection: lycosa.Collection) -> None:
    page = collection.page(A)
    assert ("New", 0.8, True, 2, 2) == (page.title, page.relevance, page.relevant, page.version, page.versions)
    assert "salamander" in collection.read(A)


def test_page_unknown_url_raises(collection: lycosa.Collection) -> None:
    with raises_input_error("unknown-page"):
        collection.page("http://b.test/")
