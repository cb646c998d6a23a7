"""Soft focus with and without hub distiller and apprentice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import (
    a_crawl_can_be_resumed,
    a_page_visited_again,
    other_priorities_stay,
    redirects_pass_on_priority,
)
from lycosa.checks.failing import passed
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.focus import BOOST, Apprentice, Distiller, SoftFocus
from teaching import score


def teach(focus: SoftFocus, table: Table, node: str, beta: float, *links: str, kind: Any = "page") -> list[str]:
    """Feed a page with anchors equal to its links; return the nodes returned by `learn`."""
    table.add(node, 1)
    outcome: Any = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=beta, links=Links.to(*links, anchors=links)))
    assert step is not None
    return [table.nodes[row] for row in focus.learn(step, table).tolist()]


@pytest.mark.paper("rules-soft-focus")
def test_soft_focus_merges_relevance_of_parents() -> None:
    """Three pages, .3, .8 and .1, link to x; one of .3 to y."""
    for merge, expected in (("max", 0.8), ("mean", 0.4)):
        focus, table = SoftFocus(merge), Table()  # type: ignore[arg-type]
        teach(focus, table, "a", 0.3, "x", "y")
        teach(focus, table, "b", 0.8, "x")
        teach(focus, table, "c", 0.1, "x")
        assert [pytest.approx(expected), 0.3] == score(focus, table, "x", "y")


def distilled(hubs: int = 1) -> tuple[SoftFocus, Table]:
    """Return a soft focus with a distiller that runs every fourth page."""
    focus = SoftFocus(distiller=True, hubs=hubs)
    focus.distiller_ = Distiller(period=4)
    return focus, Table()


@pytest.mark.paper("rules-distiller")
def test_soft_focus_boosts_links_of_best_hub() -> None:
    """`list` links to two good pages: its link `rest` is boosted, and `other`, of a better page, is not."""
    focus, table = distilled()
    teach(focus, table, "list", 0.4, "good 1", "good 2", "rest", "old")
    teach(focus, table, "good 1", 0.9)
    teach(focus, table, "old", 0.0, "moved", kind="redirect")
    assert [0.4, 0.4] == score(focus, table, "rest", "moved")
    assert {"rest", "moved"} <= set(teach(focus, table, "good 2", 0.8, "other"))
    assert [0.4 + BOOST, 0.4 + BOOST, 0.8] == score(focus, table, "rest", "moved", "other")
    teach(focus, table, "rest", 0.0, "still moving", kind="redirect")
    assert [0.4 + BOOST] == score(focus, table, "still moving")


def test_soft_focus_unboosts_links_of_former_hub() -> None:
    focus, table = distilled()
    teach(focus, table, "list", 0.4, "good 1", "rest")
    teach(focus, table, "good 1", 0.9)
    teach(focus, table, "x", 0.0)
    teach(focus, table, "y", 0.0)
    assert [0.4 + BOOST] == score(focus, table, "rest")
    teach(focus, table, "better", 0.9, "good 1", "good 2", "good 3", "new")
    teach(focus, table, "good 2", 1.0)
    teach(focus, table, "good 3", 1.0)
    assert {"rest", "new"} <= set(teach(focus, table, "z", 0.0))
    assert [0.4, 0.9 + BOOST] == score(focus, table, "rest", "new")


def test_soft_focus_boosts_nothing_without_hubs() -> None:
    focus, table = distilled()
    for node in "abcd":
        teach(focus, table, node, 0.0, f"{node} 1")
    assert [0.0] * 4 == score(focus, table, "a 1", "b 1", "c 1", "d 1")


def test_soft_focus_averages_with_apprentice() -> None:
    """`coral` links led to pages of .9, `train` links to .1: the priority is the mean of beta and the estimate."""
    focus, table = SoftFocus(apprentice=True), Table()
    focus.apprentice_ = Apprentice(least=2.5)  # three coral pages, and three train pages
    for n in range(3):
        links = f"coral {n}a", f"train {n}a"
        teach(focus, table, f"p{n}", 0.5, *links)
        assert [0.5, 0.5] == score(focus, table, *links)
        teach(focus, table, links[0], 0.9)
        teach(focus, table, links[1], 0.1)
    teach(focus, table, "page", 0.5, "coral z", "train z")
    good, bad = score(focus, table, "coral z", "train z")
    rows = np.array([table.row_of["coral z"], table.row_of["train z"]], np.int32)
    estimate = focus.apprentice_.probability(rows, table)
    assert pytest.approx(((0.5 + estimate) / 2).tolist()) == [good, bad]
    assert good > 0.5 > bad


def test_soft_focus_is_proportional_only_without_distiller() -> None:
    assert (True, True, False) == (
        SoftFocus().proportional,
        SoftFocus(apprentice=True).proportional,
        SoftFocus(distiller=True).proportional,
    )


def test_soft_focus_passes_checks_with_all_options() -> None:
    def make() -> SoftFocus:
        made = estimator("soft-focus,distiller=yes,apprentice=yes,merge=last")
        assert isinstance(made, SoftFocus)
        if made.distiller_ is not None:
            made.distiller_ = Distiller(period=7)
        if made.apprentice_ is not None:
            made.apprentice_ = Apprentice(least=1)
        return made

    for check in (other_priorities_stay, redirects_pass_on_priority, a_crawl_can_be_resumed, a_page_visited_again):
        assert check.__name__ == passed(check, make)
