"""Explanations as data."""

import json
import math
from typing import Any

from lycosa.explaining.answers import Fetched, Parent, Why
from lycosa.explaining.frontier_ranking import View


def fetched(priority: float, outcome: str = "ok") -> Fetched:
    """Return a visit picked with this priority."""
    return Fetched(0.0, "Title", outcome, 200, "", 1, "scent", priority, 0.5, is_relevant=True)


def test_as_dict_replaces_infinity_and_nan_by_none() -> None:
    why = Why("a", "fetched", views=[View("scent", math.nan, terms={"anchor": math.inf})], fetched=fetched(math.inf))
    data: dict[str, Any] = json.loads(json.dumps(why.as_dict(), allow_nan=False))
    assert (None, None) == (data["fetched"]["priority"], data["views"][0]["priority"])
    assert {"anchor": None} == data["views"][0]["terms"]
    assert 0.5 == data["fetched"]["relevance"]


def test_as_dict_includes_parents() -> None:
    parent = Parent("p", "Page", 0.25, "link text", 0.125)
    assert [
        {
            "node": "p",
            "title": "Page",
            "relevance": 0.25,
            "anchor": "link text",
            "link_relevance": 0.125,
            "kind": "page",
        }
    ] == Why("a", "waits", parents=[parent]).as_dict()["parents"]


def test_view_of_visit_is_that_of_best_arm() -> None:
    best, other = View("scent", 0.5), View("fl_n", 0.75)
    assert Why("a", "waits", views=[best, other]).view is best
    assert Why("a", "fetched").view is None


def test_is_page_requires_outcome_ok() -> None:
    assert fetched(0.5).is_page
    assert not fetched(0.5, outcome="gone").is_page
