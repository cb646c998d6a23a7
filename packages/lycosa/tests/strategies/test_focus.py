"""Tests of hard and soft focus, with and without hub distiller and apprentice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import (
    crawl_can_be_resumed,
    other_priorities_stay,
    redirects_pass_on_priority,
    revisited_page,
)
from lycosa.checks.failing import run_check
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.focus import BOOST, Apprentice, Distiller, HardFocus, SoftFocus
from teaching import score


def teach_hard(
    focus: HardFocus, table: Table, node: str, beta: float, *links: str, kind: Any = "page", **data: Any
) -> None:
    """Feed a page."""
    if node not in table.row_of:
        table.add(node, 1)
    outcome: Any = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=beta, links=Links.to(*links), data=data))
    assert step is not None
    focus.learn(step, table)


@pytest.mark.paper("rules-hard-threshold")
def test_hard_focus_limit_is_inclusive() -> None:
    """Links of a page with beta .5 have priority .5; those of a page with less are pruned."""
    focus, table = HardFocus(), Table()
    teach_hard(focus, table, "on", 0.5, "x")
    teach_hard(focus, table, "off", 0.49, "y")
    assert [0.5, PRUNED] == score(focus, table, "x", "y")


@pytest.mark.paper("rules-hard-focus")
def test_hard_focus_requires_wanted_best_class() -> None:
    """Links are pruned if the best class is unwanted, even if the wanted classes sum to .6."""
    focus, table = HardFocus(), Table()
    teach_hard(focus, table, "on", 0.6, "x", target=True)
    teach_hard(focus, table, "off", 0.6, "y", target=False)
    assert [0.6, PRUNED] == score(focus, table, "x", "y")


def test_hard_focus_relevant_page_unprunes_link() -> None:
    focus, table = HardFocus(), Table()
    teach_hard(focus, table, "off", 0.1, "x")
    teach_hard(focus, table, "on", 0.7, "x")
    teach_hard(focus, table, "better", 0.9, "x")
    teach_hard(focus, table, "worse", 0.6, "x")
    teach_hard(focus, table, "off again", 0.2, "x")
    assert [0.9] == score(focus, table, "x")


@pytest.mark.parametrize(
    ("typed", "threshold", "data", "limit"),
    [
        (None, 0.12, {}, 0.12),  # no classes: the judge's threshold applies
        (None, 0.12, {"target": True}, 0.5),
        (None, None, {}, 0.5),
        (0.3, 0.12, {}, 0.3),
        (0.3, 0.12, {"target": True}, 0.3),
    ],
)
def test_hard_focus_default_limits(
    typed: float | None, threshold: float | None, data: dict[str, Any], limit: float
) -> None:
    """The limit is the given one, otherwise .5 for pages with a class, and the judge's threshold for others."""
    focus, table = HardFocus(typed, threshold=threshold), Table()
    teach_hard(focus, table, "on", limit, "x", **data)
    teach_hard(focus, table, "off", limit - 0.01, "y", **data)
    assert [limit, PRUNED] == score(focus, table, "x", "y")


def test_hard_focus_gets_threshold_of_crawl() -> None:
    assert HardFocus(threshold=0.2) == estimator("hard-focus", threshold=0.2)
    assert HardFocus(least=0.7, threshold=0.2, trust_seeds=False) == estimator(
        "hard-focus,least=.7,trust-seeds=no", threshold=0.2
    )


@pytest.mark.parametrize(("trust", "expected"), [(True, 0.1), (False, PRUNED)])
def test_hard_focus_trust_seeds_follows_their_links(trust: bool, expected: float) -> None:
    focus, table = HardFocus(trust_seeds=trust), Table()
    table.add_seed("s")
    assert [0.0] == score(focus, table, "s")
    teach_hard(focus, table, "s", 0.1, "x")
    assert [expected] == score(focus, table, "x")


def test_hard_focus_follows_sitemaps() -> None:
    focus, table = HardFocus(trust_seeds=False), Table()
    table.add_seed("map", source=True)
    teach_hard(focus, table, "map", 0.0, "x", kind="sitemap")
    assert [0.0] == score(focus, table, "x")


def test_hard_focus_redirect_inherits() -> None:
    focus, table = HardFocus(), Table()
    teach_hard(focus, table, "on", 0.7, "x")
    teach_hard(focus, table, "off", 0.1, "y")
    teach_hard(focus, table, "x", 0.0, "to", kind="redirect")
    teach_hard(focus, table, "y", 0.0, "nowhere", kind="redirect")
    assert [0.7, PRUNED] == score(focus, table, "to", "nowhere")


def teach_soft(focus: SoftFocus, table: Table, node: str, beta: float, *links: str, kind: Any = "page") -> list[str]:
    """Feed a page with anchors equal to its links; return the nodes returned by `learn`."""
    table.add(node, 1)
    outcome: Any = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=beta, links=Links.to(*links, anchors=links)))
    assert step is not None
    return [table.nodes[row] for row in focus.learn(step, table).tolist()]


@pytest.mark.paper("rules-soft-focus")
def test_soft_focus_merges_relevance_of_parents() -> None:
    """Parents with relevance .3, .8 and .1 link to x, one with .3 to y."""
    for merge, expected in (("max", 0.8), ("mean", 0.4)):
        focus, table = SoftFocus(merge), Table()  # type: ignore[arg-type]
        teach_soft(focus, table, "a", 0.3, "x", "y")
        teach_soft(focus, table, "b", 0.8, "x")
        teach_soft(focus, table, "c", 0.1, "x")
        assert [pytest.approx(expected), 0.3] == score(focus, table, "x", "y")


def distilled(hubs: int = 1) -> tuple[SoftFocus, Table]:
    """Return a soft focus with a distiller that runs every fourth page."""
    focus = SoftFocus(distiller=True, hubs=hubs)
    focus.distiller_ = Distiller(period=4)
    return focus, Table()


@pytest.mark.paper("rules-distiller")
def test_soft_focus_boosts_links_of_best_hub() -> None:
    focus, table = distilled()
    teach_soft(focus, table, "list", 0.4, "good 1", "good 2", "rest", "old")
    teach_soft(focus, table, "good 1", 0.9)
    teach_soft(focus, table, "old", 0.0, "moved", kind="redirect")
    assert [0.4, 0.4] == score(focus, table, "rest", "moved")
    assert {"rest", "moved"} <= set(teach_soft(focus, table, "good 2", 0.8, "other"))
    assert [0.4 + BOOST, 0.4 + BOOST, 0.8] == score(focus, table, "rest", "moved", "other")
    teach_soft(focus, table, "rest", 0.0, "still moving", kind="redirect")
    assert [0.4 + BOOST] == score(focus, table, "still moving")


def test_soft_focus_unboosts_links_of_former_hub() -> None:
    focus, table = distilled()
    teach_soft(focus, table, "list", 0.4, "good 1", "rest")
    teach_soft(focus, table, "good 1", 0.9)
    teach_soft(focus, table, "x", 0.0)
    teach_soft(focus, table, "y", 0.0)
    assert [0.4 + BOOST] == score(focus, table, "rest")
    teach_soft(focus, table, "better", 0.9, "good 1", "good 2", "good 3", "new")
    teach_soft(focus, table, "good 2", 1.0)
    teach_soft(focus, table, "good 3", 1.0)
    assert {"rest", "new"} <= set(teach_soft(focus, table, "z", 0.0))
    assert [0.4, 0.9 + BOOST] == score(focus, table, "rest", "new")


def test_soft_focus_boosts_nothing_without_hubs() -> None:
    focus, table = distilled()
    for node in "abcd":
        teach_soft(focus, table, node, 0.0, f"{node} 1")
    assert [0.0] * 4 == score(focus, table, "a 1", "b 1", "c 1", "d 1")


def test_soft_focus_averages_with_apprentice() -> None:
    """Priority is the mean of beta and the estimate; `coral` links led to pages of .9, `train` links to pages of .1."""
    focus, table = SoftFocus(apprentice=True), Table()
    focus.apprentice_ = Apprentice(least=2.5)  # estimates start after three coral pages and three train pages
    for n in range(3):
        links = f"coral {n}a", f"train {n}a"
        teach_soft(focus, table, f"p{n}", 0.5, *links)
        assert [0.5, 0.5] == score(focus, table, *links)
        teach_soft(focus, table, links[0], 0.9)
        teach_soft(focus, table, links[1], 0.1)
    teach_soft(focus, table, "page", 0.5, "coral z", "train z")
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

    for check in (other_priorities_stay, redirects_pass_on_priority, crawl_can_be_resumed, revisited_page):
        assert check.__name__ == run_check(check, make)
