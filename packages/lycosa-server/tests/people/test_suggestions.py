"""Suggestions: arithmetic on plain data, and answers in the database."""

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
    return CandidatePage(f"http://{host}/{name}", name, host, label, times)


@pytest.mark.paper("personalized-suggestions")
def test_suggest_seeds_hub_links_to_liked_pages() -> None:
    pages = [page("hub", host="hub.example"), page("x", host="x.example"), page("1", True, host="b.example")]
    pages += [page("2", True, host="c.example"), page("3", host="d.example")]
    ideas = suggest_seeds(pages, {0: [2, 3, 4], 1: [2, 4]})
    assert ["http://hub.example/hub"] == [idea.url for idea in ideas]
    assert "links to 2 pages you labelled yes, of 3 fetched pages that it links to" == ideas[0].why


def test_suggest_seeds_skips_refused_and_known_hubs() -> None:
    liked = [page("1", True, host="b.example"), page("2", True, host="c.example")]
    no, seed = page("no", False, host="n.example"), page("seed", host="s.example")
    links = {0: [2, 3], 1: [2, 3]}
    assert ["http://s.example/seed"] == [idea.url for idea in suggest_seeds([no, seed, *liked], links)]
    assert [] == suggest_seeds([no, seed, *liked], links, left_out={"http://s.example/seed"})


def test_suggest_seeds_includes_host_with_half_liked_pages() -> None:
    pages = [page("1", True), page("2", True), page("3"), page("4")]
    pages += [page(str(n), n < 2, host="b.example") for n in range(5)]
    [idea] = suggest_seeds(pages, {})
    assert ("http://a.example/", "a.example") == (idea.url, idea.title)
    assert "2 pages you labelled yes, of 4 fetched from a.example" == idea.why
    assert [] == suggest_seeds(pages, {}, left_out={"http://a.example/elsewhere"})


def test_suggest_seeds_ignores_copies() -> None:
    hub, liked = page("hub", host="hub.example"), page("1", True, host="b.example")
    twin, copy = hub._replace(url="http://hub.example/copy/hub", copy=True), page("2", True, host="c.example")
    links = {0: [2, 3], 1: [2, 3]}
    assert [hub.url] == [idea.url for idea in suggest_seeds([hub, twin, liked, copy], links)]
    assert [] == suggest_seeds([hub, twin, liked, copy._replace(copy=True)], links)


@pytest.mark.paper("personalized-visited-links")
def test_suggest_seeds_counts_opened_pages_less_than_labels() -> None:
    two = [page(str(n), times=2) for n in range(2)]
    four = [page(str(n), times=2) for n in range(4)]
    assert [] == suggest_seeds(two, {})
    [idea] = suggest_seeds(four, {})
    assert "4 that you opened more than once, of 4 fetched from a.example" == idea.why


def test_suggest_seeds_ignores_pages_opened_once() -> None:
    once = [page(str(n), times=1) for n in range(3)]
    assert [] == suggest_seeds([*once, page("3", times=2)], {})


def test_suggest_terms_computed_by_hand() -> None:
    # Two average pages are added to both sides: 2 * 9 / 100 = .18 of them with the word. So 4.18 of 7 and 5.18 of 97
    # pages have the word, and 2.82 and 91.82 do not.
    z = (log(4.18 / 2.82) - log(5.18 / 91.82)) / sqrt(1 / 4.18 + 1 / 2.82 + 1 / 5.18 + 1 / 91.82)
    assert pytest.approx(3.66, abs=0.01) == z
    [word] = suggest_terms(np.array([4.0, 5.0, 1.0]), 5, np.array([5.0, 90.0, 0.0]), 95)
    assert (0, pytest.approx(z, abs=1e-3), "on 4 of 5 pages you liked, on 5 of 95 others") == word


def test_suggest_terms_needs_enough_pages() -> None:
    assert [] == suggest_terms(np.full(3, 2.0), 2, np.zeros(3), 50)
    assert [] == suggest_terms(np.full(3, 5.0), 5, np.zeros(3), 0)


def test_spellings_most_frequent_form_wins() -> None:
    texts = [("Bleaching! bleaching bleached", "en"), ("Häuser am Riff, Häuser", "de")]
    assert {"bleach": "bleaching", "haus": "häuser"} == spellings(texts, {"bleach", "haus", "never"})


def test_record_answer_is_per_person_and_last_wins(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    record_answer(database, NOW, reefs, ada, "term", "polyp", "dismissed")
    record_answer(database, NOW + 1, reefs, ada, "term", "polyp", "accepted")
    assert {("term", "polyp")} == answered(database, reefs, ada)
    assert set() == answered(database, reefs, bob)
    assert ["accepted"] == [row["answer"] for row in database.rows("SELECT answer FROM suggestion")]


def test_opened_by_counts_per_person(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    row = {"interest": reefs, "person": ada, "url": "http://a.example/", "times": 3, "at": NOW}
    database.insert("opened", row)
    assert ({"http://a.example/": 3}, {}) == (opened_by(database, reefs, ada), opened_by(database, reefs, bob))
