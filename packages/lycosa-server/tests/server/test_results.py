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
    """Return a view of four pages, two of them similar; the first one has changed."""
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


def test_page_order_of_each_kind(view: CrawlView) -> None:
    assert ["coral", "again", "sponge", "wreck"] == names(view, "relevance")
    assert ["wreck", "coral", "again", "sponge"] == names(view, "frequency")
    assert ["coral", "wreck", "sponge", "again"] == names(view, "date")


@pytest.mark.paper("personalized-order")
def test_frequency_matches_paper(view: CrawlView) -> None:
    judge = WordFrequencyJudge("coral")
    for page in view.pages()[1:]:
        text = Page("ok", title=page.title, marked=f"{page.title}\n{TEXTS[page.node.removeprefix(HOME)]}")
        assert judge.judge(text, None).relevance == page.frequency


@pytest.mark.parametrize("order", get_args(Order))
def test_page_order_of_no_pages(order: Order) -> None:
    assert [] == page_order([], np.zeros(0), order)


def test_page_order_without_words_is_by_relevance(tmp_path: Path) -> None:
    with revisited(tmp_path / "c", archive=False) as crawl:
        for number in range(3):
            crawl.log.append(Visit(f"{HOME}{number}", "page", "ok", number, relevance=number / 10))
    view = CrawlView(tmp_path / "c")
    view.catch_up()
    assert ["2", "1", "0"] == names(view, "frequency")


def test_ways_start_at_seed_and_end_at_best_pages(view: CrawlView) -> None:
    ways = view.path_graph([page for page in view.pages() if page.node.endswith(("wreck", "sponge"))], 400)
    names = [view.nodes[vertex].removeprefix(HOME) for vertex in ways.depths]
    assert (["coral", "sponge", "wreck"], [0, 1, 1]) == (names, list(ways.depths.values()))
    assert [("coral", "sponge"), ("coral", "wreck")] == [
        (view.nodes[source].removeprefix(HOME), view.nodes[target].removeprefix(HOME)) for source, target in ways.steps
    ]
    assert not ways.truncated


def test_ways_truncates_whole_paths(view: CrawlView) -> None:
    ways = view.path_graph(view.pages(), 2)
    assert (["coral", "again"], True) == ([view.nodes[v].removeprefix(HOME) for v in ways.depths], ways.truncated)
