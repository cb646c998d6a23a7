"""Tests of the warning about weak topic words."""

from dataclasses import replace
from pathlib import Path

import pytest

from handmade import FRONT, crawl, html, star
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.summary import describe_weakness, summarise, weak_topic_warning


def web(matching: int, others: int) -> dict[str, str]:
    """Return a web of a front page, pages with both words, and pages with one of them."""
    pages = {f"{FRONT}a{n}": html(f"A{n}", f"coral reef number{n}") for n in range(matching)}
    return pages | {f"{FRONT}b{n}": html(f"B{n}", f"a coral ring number{n}") for n in range(others)}


@pytest.mark.parametrize("matching", [2, 9])
def test_weak_topic_adds_warning(tmp_path: Path, matching: int) -> None:
    crawl(tmp_path / "c", star(web(matching, 25 - matching)), topic="coral reefs", budget=40)
    rare = "use other words, or give example pages"
    warnings = {
        "coral reefs": f"only 2 of 26 pages have both words: {rare}" if matching == 2 else "",
        "coral": "25 of 26 pages have the word: it does not distinguish pages",
        "coral -reefs": "25 of 26 pages have the word: it does not distinguish pages",
        "number1": f"only 2 of 26 pages have the word: {rare}",
        "dinosaur eggs nest": f"none of 26 pages has all words: {rare}",
    }
    with CrawlDirectory(tmp_path / "c") as collection:
        for topic, expected in warnings.items():
            collection.options = replace(collection.options, topic=topic)
            assert expected == weak_topic_warning(collection, 26)
        assert "" == weak_topic_warning(collection, 5)
    assert warnings["coral reefs"] == summarise(tmp_path / "c").warning


def test_describe_weakness_counts_pages_and_words() -> None:
    assert describe_weakness(1, 26, 1) == "only 1 of 26 pages has the word: use other words, or give example pages"
    assert describe_weakness(1, 100, 6).startswith("only 1 of 100 pages has 3 of the 6 words")
