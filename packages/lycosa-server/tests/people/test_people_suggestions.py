"""Suggestions: the arithmetic on plain data, and the answers in the database."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from lycosa_server.people.database import Database
from lycosa_server.people.suggestions import (
    CandidatePage,
    answered,
    opened_by,
    record_answer,
    spellings,
    suggest_seeds,
    suggest_terms,
)
from people_maker import NOW, interest, person


def page(name: str, label: bool | None = None, times: int = 0, host: str = "a.example") -> CandidatePage:
    """A page of a host."""
    return CandidatePage(f"http://{host}/{name}", name, host, label, times)


def linked(*links: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The links of each page."""
    starts = np.cumsum([0, *(len(of) for of in links)])
    return starts, np.array([target for of in links for target in of], np.int64)


@pytest.mark.paper("personalized-suggestions")
def test_a_hub_leads_to_liked_pages() -> None:
    """A page with links to two pages that got a yes is suggested, with the numbers; one with a single link is not."""
    pages = [page("hub", host="hub.example"), page("x", host="x.example"), page("1", True, host="b.example")]
    pages += [page("2", True, host="c.example"), page("3", host="d.example")]
    ideas = suggest_seeds(pages, *linked([2, 3, 4], [2, 4], [], [], []))
    assert ["http://hub.example/hub"] == [idea.url for idea in ideas]
    assert "links to 2 pages you labelled yes, of 3 fetched pages that it links to" == ideas[0].why


def test_a_hub_that_was_refused_or_is_known_is_left_out() -> None:
    """Neither what got a no, nor a seed, nor what was answered already is suggested."""
    liked = [page("1", True, host="b.example"), page("2", True, host="c.example")]
    no, seed = page("no", False, host="n.example"), page("seed", host="s.example")
    links = linked([2, 3], [2, 3], [], [])
    assert ["http://s.example/seed"] == [idea.url for idea in suggest_seeds([no, seed, *liked], *links)]
    assert [] == suggest_seeds([no, seed, *liked], *links, left_out={"http://s.example/seed"})


def test_a_host_half_of_whose_pages_are_liked() -> None:
    """The front page of a host with mostly liked pages is suggested, unless a seed lies there."""
    pages = [page("1", True), page("2", True), page("3"), page("4")]
    pages += [page(str(n), n < 2, host="b.example") for n in range(5)]
    none = linked(*([] for _ in pages))
    [idea] = suggest_seeds(pages, *none)
    assert ("http://a.example/", "a.example") == (idea.url, idea.title)
    assert "2 pages you labelled yes, of 4 fetched from a.example" == idea.why
    assert [] == suggest_seeds(pages, *none, left_out={"http://a.example/elsewhere"})


def test_copies_are_left_out() -> None:
    """A page that repeats another is no seed, and a yes to it makes no second liked page."""
    hub, liked = page("hub", host="hub.example"), page("1", True, host="b.example")
    twin, copy = hub._replace(url="http://hub.example/copy/hub", copy=True), page("2", True, host="c.example")
    links = linked([2, 3], [2, 3], [], [])
    assert [hub.url] == [idea.url for idea in suggest_seeds([hub, twin, liked, copy], *links)]
    assert [] == suggest_seeds([hub, twin, liked, copy._replace(copy=True)], *links)


@pytest.mark.paper("personalized-visited-links")
def test_opening_counts_a_little() -> None:
    """Pages that were opened more than once make a host likeable, but it takes more of them than of a yes."""
    two = [page(str(n), times=2) for n in range(2)]
    four = [page(str(n), times=2) for n in range(4)]
    assert [] == suggest_seeds(two, *linked([], []))
    [idea] = suggest_seeds(four, *linked([], [], [], []))
    assert "4 that you opened more than once, of 4 fetched from a.example" == idea.why


def test_opened_once_does_not_count() -> None:
    """A page that was opened once may have been a mistake."""
    once = [page(str(n), times=1) for n in range(3)]
    assert [] == suggest_seeds([*once, page("3", times=2)], *linked([], [], [], []))


def test_typical_words_by_hand() -> None:
    """A word on 4 of 5 liked pages and 5 of 95 others stands out by the log odds over their standard error."""
    # Two average pages are added to both sides: 2 * 9 / 100 = .18 with the word.
    # With it 4.18 of 7 and 5.18 of 97 pages, without it 2.82 and 91.82.
    z = (log(4.18 / 2.82) - log(5.18 / 91.82)) / sqrt(1 / 4.18 + 1 / 2.82 + 1 / 5.18 + 1 / 91.82)
    assert pytest.approx(3.66, abs=0.01) == z
    [word] = suggest_terms(np.array([4.0, 5.0, 1.0]), 5, np.array([5.0, 90.0, 0.0]), 95)
    assert (0, pytest.approx(z, abs=1e-3), "on 4 of 5 pages you liked, on 5 of 95 others") == word


def test_too_few_pages_have_no_typical_words() -> None:
    """Two pages have too few words in common, and where all pages are liked none is typical of them."""
    assert [] == suggest_terms(np.full(3, 2.0), 2, np.zeros(3), 50)
    assert [] == suggest_terms(np.full(3, 5.0), 5, np.zeros(3), 0)


def test_words_as_people_write_them() -> None:
    """A stem is shown as the word that is written most often, in the language of its text."""
    texts = [("Bleaching! bleaching bleached", "en"), ("Häuser am Riff, Häuser", "de")]
    assert {"bleach": "bleaching", "haus": "häuser"} == spellings(texts, {"bleach", "haus", "never"})


def test_answers_are_a_persons_own(database: Database) -> None:
    """What one person has dismissed, another one has not; and the last answer is kept."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    record_answer(database, NOW, reefs, ada, "term", "polyp", "dismissed")
    record_answer(database, NOW + 1, reefs, ada, "term", "polyp", "accepted")
    assert {("term", "polyp")} == answered(database, reefs, ada)
    assert set() == answered(database, reefs, bob)
    assert ["accepted"] == [row["answer"] for row in database.rows("SELECT answer FROM suggestion")]


def test_what_was_opened_is_a_persons_own(database: Database) -> None:
    """How often a result was opened is counted for each person apart."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    row = {"interest": reefs, "person": ada, "url": "http://a.example/", "times": 3, "at": NOW}
    database.insert("opened", row)
    assert ({"http://a.example/": 3}, {}) == (
        opened_by(database, reefs, ada),
        opened_by(database, reefs, bob),
    )
