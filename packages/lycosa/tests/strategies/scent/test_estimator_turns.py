"""Tests of scent's exploration turns: the oldest link and the link closest to the topic are picked while few pages are
relevant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.scent import Scent

TURNS = dict.fromkeys((8, 9, 10, 11, 20), "x") | dict.fromkeys((12, 13), "y")


def test_oldest_link_is_picked_until_first_relevant_page() -> None:
    scent, table = Scent(vectors=False, threshold=0.5), Table()
    for name in "abcdefg":
        table.add_seed(f"http://{name}.test/")
    turns = []
    for name, relevance in zip("abcdefg", (0.0, 0.4, 0.0, 0.0, 0.9, 0.0, 0.0), strict=True):
        links = Links.to(f"http://deep.test/1/2/3/{name}", anchors=["coral"])
        scent.learn(
            table.absorb(Visit(f"http://{name}.test/", "page", "ok", pick=1, relevance=relevance, links=links)), table
        )
        rows = table.rows()
        turns.append(scent.turn_)
        summed = np.sum(list(scent.contributions(rows, table).values()), axis=0)
        if scent.turn_ >= 0:
            assert rows[0] == scent.turn_ == rows[scent.priority(rows, table).argmax()]
            assert scent.explain(scent.turn_, table)["turn of the oldest"] == scent.turn_bonus_
            assert summed[0] == pytest.approx(scent.priority(rows, table)[0], abs=0.01)
        else:
            assert not any(name.startswith("turn") for name in scent.explain(int(rows[0]), table))
    assert [-1, -1, -1, 4, -1, -1, -1] == turns


@pytest.mark.parametrize(("judge", "turns"), [({"probability": True}, TURNS), ({}, {}), ({"exact": True}, {})])
def test_link_closest_to_topic_is_picked_while_pages_are_doubtful(judge: dict[str, Any], turns: dict[int, str]) -> None:
    scent, table = Scent(vectors=False, threshold=0.5, **judge), Table()
    table.add_seed("http://good.test/")
    links = Links.to(
        *(f"http://good.test/{number}" for number in range(40)), "http://poor.test/x", "http://poor.test/y"
    )
    links.link_relevances[-2:] = 0.5, 0.2
    had = {}
    for number, relevance in enumerate((0.9, *[0.0] * 11, 0.9, 0.9, *[0.0] * 6)):
        node = "http://good.test/" + (str(number) if number else "")
        visit = Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to() if number else links)
        scent.learn(table.absorb(visit), table)
        if scent.turn_ >= 0:
            rows = table.rows()
            assert scent.turn_ == rows[scent.priority(rows, table).argmax()]
            contributions = scent.explain(scent.turn_, table)
            ordered = [abs(contributions[name]) for name in contributions if name != "any link"]
            assert contributions["turn by topic"] == scent.turn_bonus_
            assert ordered == sorted(ordered, reverse=True)
            had[scent.pages_] = table.nodes[scent.turn_].removeprefix("http://poor.test/")
    assert turns == had


def test_oldest_turn_is_repeated_if_link_was_not_fetched() -> None:
    scent, table = Scent(vectors=False, threshold=0.5), Table()
    for number in range(12):
        table.add_seed(f"http://{number}.test/")
    turns = []
    for number in range(11, 3, -1):  # the oldest ones stay open
        scent.learn(table.absorb(Visit(f"http://{number}.test/", "page", "ok", 1)), table)
        turns.append(scent.turn_)
    assert [-1, -1, -1, 0, 0, 1, 1, 2] == turns
