"""Hard focus: what is pruned, and what is not."""

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
    """Let it see a page."""
    if node not in table.row_of:
        table.add(node, 1)
    outcome: Any = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=beta, links=Links.to(*links), data=data))
    assert step is not None
    focus.learn(step, table)


@pytest.mark.paper("rules-hard-threshold")
def test_the_limit() -> None:
    """Links of a page with beta .5 are worth .5; those of one below are pruned."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.5, "x")
    teach(focus, table, "off", 0.49, "y")
    assert [0.5, PRUNED] == score(focus, table, "x", "y")


@pytest.mark.paper("rules-hard-focus")
def test_the_best_class_has_to_be_wanted() -> None:
    """All wanted classes together may have .6 and the best class still be another: pruned."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.6, "x", target=True)
    teach(focus, table, "off", 0.6, "y", target=False)
    assert [0.6, PRUNED] == score(focus, table, "x", "y")


def test_a_page_on_the_topic_overrules_others() -> None:
    """A link pruned by one page is fetched when another speaks for it; the best of several counts, in any order."""
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
        (None, 0.12, {}, 0.12),  # no classes: the topic's own threshold
        (None, 0.12, {"target": True}, 0.5),
        (None, None, {}, 0.5),
        (0.3, 0.12, {}, 0.3),
        (0.3, 0.12, {"target": True}, 0.3),
    ],
)
def test_which_limit_holds(typed: float | None, threshold: float | None, data: dict[str, Any], limit: float) -> None:
    """What was typed; otherwise .5 for pages with a class and the topic's threshold for others."""
    focus, table = HardFocus(typed, threshold=threshold), Table()
    teach(focus, table, "on", limit, "x", **data)
    teach(focus, table, "off", limit - 0.01, "y", **data)
    assert [limit, PRUNED] == score(focus, table, "x", "y")


def test_the_crawl_tells_it_the_threshold() -> None:
    """The maker fills in the topic's threshold, unless a limit was typed."""
    assert HardFocus(threshold=0.2) == estimator("hard-focus", threshold=0.2)
    assert HardFocus(least=0.7, threshold=0.2, trust_seeds=False) == estimator(
        "hard-focus,least=.7,trust-seeds=no", threshold=0.2
    )


@pytest.mark.parametrize(("trust", "expected"), [(True, 0.1), (False, PRUNED)])
def test_seeds_are_trusted_unless_told_otherwise(trust: bool, expected: float) -> None:
    """Links of a seed off the topic are followed; as published, they are pruned. The seed itself is never pruned."""
    focus, table = HardFocus(trust_seeds=trust), Table()
    table.add_seed("s")
    assert [0.0] == score(focus, table, "s")
    teach(focus, table, "s", 0.1, "x")
    assert [expected] == score(focus, table, "x")


def test_a_sitemap_is_on_no_topic() -> None:
    """The addresses that it names are followed, also where seeds are not trusted."""
    focus, table = HardFocus(trust_seeds=False), Table()
    table.add_seed("map", source=True)
    teach(focus, table, "map", 0.0, "x", kind="sitemap")
    assert [0.0] == score(focus, table, "x")


def test_a_redirect_inherits() -> None:
    """The target of a link is worth what the link was."""
    focus, table = HardFocus(), Table()
    teach(focus, table, "on", 0.7, "x")
    teach(focus, table, "off", 0.1, "y")
    teach(focus, table, "x", 0.0, "to", kind="redirect")
    teach(focus, table, "y", 0.0, "nowhere", kind="redirect")
    assert [0.7, PRUNED] == score(focus, table, "to", "nowhere")
