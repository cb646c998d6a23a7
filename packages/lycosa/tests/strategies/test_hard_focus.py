"""Hard focus: pruned and followed links."""

from __future__ import annotations

from typing import Any

import pytest

from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.focus import HardFocus
from teaching import score


def teach(focus: HardFocus, table: Table, node: str, beta: float, *links: str, kind: Any = "page", **data: Any) -> None:
    """Feed a page."""
    if node not in table.row_of:
        table.add(node, 1)
    outcome: Any = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=beta, links=Links.to(*links), data=data))
    assert step is not None
    focus.learn(step, table)


@pytest.mark.paper("rules-hard-threshold")
def test_hard_focus_limit_is_inclusive() -> None:
    """Links of a page with beta .5 have priority .5; those of one below are pruned."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.5, "x")
    teach(focus, table, "off", 0.49, "y")
    assert [0.5, PRUNED] == score(focus, table, "x", "y")


@pytest.mark.paper("rules-hard-focus")
def test_hard_focus_requires_wanted_best_class() -> None:
    """All wanted classes together may have .6 and the best class still be another: pruned."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.6, "x", target=True)
    teach(focus, table, "off", 0.6, "y", target=False)
    assert [0.6, PRUNED] == score(focus, table, "x", "y")


def test_hard_focus_relevant_page_unprunes_link() -> None:
    """A link pruned by one page is fetched when a relevant one links to it; the best parent counts, in any order."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "off", 0.1, "x")
    teach(focus, table, "on", 0.7, "x")
    teach(focus, table, "better", 0.9, "x")
    teach(focus, table, "worse", 0.6, "x")
    teach(focus, table, "off again", 0.2, "x")
    assert [0.9] == score(focus, table, "x")


@pytest.mark.parametrize(
    ("typed", "threshold", "data", "limit"),
    [
        (None, 0.12, {}, 0.12),  # no classes: the judge's threshold
        (None, 0.12, {"target": True}, 0.5),
        (None, None, {}, 0.5),
        (0.3, 0.12, {}, 0.3),
        (0.3, 0.12, {"target": True}, 0.3),
    ],
)
def test_hard_focus_default_limits(
    typed: float | None, threshold: float | None, data: dict[str, Any], limit: float
) -> None:
    """The given limit; otherwise .5 for pages with a class and the judge's threshold for others."""
    focus, table = HardFocus(typed, threshold=threshold), Table()
    teach(focus, table, "on", limit, "x", **data)
    teach(focus, table, "off", limit - 0.01, "y", **data)
    assert [limit, PRUNED] == score(focus, table, "x", "y")


def test_hard_focus_gets_threshold_of_crawl() -> None:
    assert HardFocus(threshold=0.2) == estimator("hard-focus", threshold=0.2)
    assert HardFocus(least=0.7, threshold=0.2, trust_seeds=False) == estimator(
        "hard-focus,least=.7,trust-seeds=no", threshold=0.2
    )


@pytest.mark.parametrize(("trust", "expected"), [(True, 0.1), (False, PRUNED)])
def test_hard_focus_trust_seeds(trust: bool, expected: float) -> None:
    """Links of an irrelevant seed are followed by default and pruned as published; the seed itself is never pruned."""
    focus, table = HardFocus(trust_seeds=trust), Table()
    table.add_seed("s")
    assert [0.0] == score(focus, table, "s")
    teach(focus, table, "s", 0.1, "x")
    assert [expected] == score(focus, table, "x")


def test_hard_focus_follows_sitemaps() -> None:
    focus, table = HardFocus(trust_seeds=False), Table()
    table.add_seed("map", source=True)
    teach(focus, table, "map", 0.0, "x", kind="sitemap")
    assert [0.0] == score(focus, table, "x")


def test_hard_focus_redirect_inherits() -> None:
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.7, "x")
    teach(focus, table, "off", 0.1, "y")
    teach(focus, table, "x", 0.0, "to", kind="redirect")
    teach(focus, table, "y", 0.0, "nowhere", kind="redirect")
    assert [0.7, PRUNED] == score(focus, table, "to", "nowhere")
