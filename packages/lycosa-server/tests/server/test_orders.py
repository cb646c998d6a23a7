from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from lycosa.collection.view import CrawlView
from lycosa.core.types import Page, Visit
from lycosa.judges.counting import WordFrequencyJudge
from lycosa_server.results import Order, page_order
from revisited_crawl import html, revisited

HOME = "http://reef.test/"
TEXTS = {
    "coral": "coral polyps build limestone skeletons in warm shallow lagoons",
    "again": "coral polyps build limestone skeletons in warm shallow seas",
    "sponge": "sponges filter plankton from currents beside a coral",
    "wreck": "divers map a wreck where coral coral coral coral settles",
}


@pytest.fixture
def view(tmp_path: Path) -> CrawlView:
    """Four pages, two of them nearly alike; the last one has changed since."""
    with revisited(tmp_path / "c") as crawl:
        crawl.seed(HOME + "coral")
        names = list(TEXTS)
        for number, (name, text) in enumerate(TEXTS.items()):
            relevance = 0.9 - number / 10
            crawl.page(
                HOME + name,
                html(name, text),
                number,
                relevance=relevance,
                links=[HOME + to for to in names[number + 1 :]],
            )
        crawl.changed(HOME + "coral", html("coral", TEXTS["coral"] + " anew"), 9.0, relevance=0.9)
    made = CrawlView(tmp_path / "c")
    made.catch_up()
    return made


def names(view: CrawlView, order: Order) -> list[str]:
    pages = view.pages()
    places = page_order(pages, np.array([page.relevance for page in pages]), order)
    return [pages[at].node.removeprefix(HOME) for at in places]


def test_orders(view: CrawlView) -> None:
    """The same pages by score, by how often the topic's word is on them, and by what is newest."""
    assert ["coral", "again", "sponge", "wreck"] == names(view, "relevance")
    assert ["wreck", "coral", "again", "sponge"] == names(view, "frequency")
    assert ["coral", "wreck", "sponge", "again"] == names(view, "date")


@pytest.mark.paper("personalized-order")
def test_word_frequency_is_the_papers(view: CrawlView) -> None:
    """For a topic of one word, the number is that of the paper's measure."""
    judge = WordFrequencyJudge("coral")
    for page in view.pages()[1:]:
        text = Page("ok", title=page.title, marked=f"{page.title}\n{TEXTS[page.node.removeprefix(HOME)]}")
        assert judge.judge(text, None).relevance == page.frequency


@pytest.mark.parametrize("order", get_args(Order))
def test_nothing_to_arrange(order: Order) -> None:
    """No pages are no pages in every order."""
    assert [] == page_order([], np.zeros(0), order)


def test_pages_without_words(tmp_path: Path) -> None:
    """Pages of which no words are known are arranged by score."""
    with revisited(tmp_path / "c", archive=False) as crawl:
        for number in range(3):
            crawl.log.append(Visit(f"{HOME}{number}", "page", "ok", number, relevance=number / 10))
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    assert ["2", "1", "0"] == names(view, "frequency")


def test_the_ways_to_the_best_pages(view: CrawlView) -> None:
    """Each page is there once, with the link by which it was first seen, down from the seed."""
    ways = view.ways([page for page in view.pages() if page.node.endswith(("wreck", "sponge"))], 400)
    names = [view.nodes[vertex].removeprefix(HOME) for vertex in ways.depths]
    assert (["coral", "sponge", "wreck"], [0, 1, 1]) == (names, list(ways.depths.values()))
    assert [("coral", "sponge"), ("coral", "wreck")] == [
        (view.nodes[source].removeprefix(HOME), view.nodes[target].removeprefix(HOME)) for source, target in ways.steps
    ]
    assert not ways.truncated


def test_ways_have_an_end(view: CrawlView) -> None:
    """What does not fit is left out, whole ways at a time, and said to be."""
    ways = view.ways(view.pages(), 2)
    assert (["coral", "again"], True) == ([view.nodes[v].removeprefix(HOME) for v in ways.depths], ways.truncated)
