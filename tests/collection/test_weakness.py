"""Words that can't tell pages apart: said, and why."""

from pathlib import Path

import pytest
from handmade import FRONT, crawl, html, star

from lycosa.collection.reading import Collection
from lycosa.collection.summary import summarise
from lycosa.collection.weakness import told, weakness


def web(having: int, others: int) -> dict[str, str]:
    """A front page, pages with both words, pages with one."""
    pages = {f"{FRONT}a{n}": html(f"A{n}", f"coral reef number{n}") for n in range(having)}
    return pages | {f"{FRONT}b{n}": html(f"B{n}", f"a coral ring number{n}") for n in range(others)}


@pytest.mark.parametrize(
    ("topic", "having", "said"),
    [
        ("coral reefs", 2, "only 2 of 26 pages have both words: name other words, or pages as examples"),
        ("coral reefs", 9, ""),
        ("reef", 1, "only 1 of 26 pages has the word: name other words, or pages as examples"),
        ("coral", 9, "25 of 26 pages have the word: it does not tell pages apart"),
        ("coral -reefs", 9, "25 of 26 pages have the word: it does not tell pages apart"),
        ("dinosaur eggs nest", 9, "none of 26 pages has all words: name other words, or pages as examples"),
    ],
)
def test_told(tmp_path: Path, topic: str, having: int, said: str) -> None:
    """Too rare or too common, counted on the pages of the crawl."""
    crawl(tmp_path / "c", star(web(having, 25 - having)), topic=topic, budget=40)
    with Collection(tmp_path / "c") as collection:
        assert said == weakness(collection, 26)
        assert "" == weakness(collection, 5)
    assert said == summarise(tmp_path / "c").warning


def test_many_words() -> None:
    """Of a topic of many words a page needs three."""
    assert told(1, 100, 6).startswith("only 1 of 100 pages has 3 of the 6 words")
