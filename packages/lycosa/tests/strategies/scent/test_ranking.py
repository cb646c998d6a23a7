"""Tests of adaptive weights, the best rows, and the risk of requests without a page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.scent.ranking import (
    BEST,
    MAX_PAGES_AMONG_BEST,
    MAX_ROWS_AT_ONCE,
    MIN_PAGES,
    SLICE,
    AdaptiveWeights,
    BestRows,
)
from scent_crawl import SEED, Crawl, make_links


def test_weights_one_update_by_hand() -> None:
    """An update adds x (y - w x) / (x^2 + 50): for x = (1, 0) and y = 2, w = 1 + (2 - 1) / 51; the other is kept."""
    weights = AdaptiveWeights(np.array([1.0, 0.5]))
    weights.learn(np.array([1.0, 0.0]), 2.0)
    assert [1 + 1 / 51, 0.5] == pytest.approx(weights.learned.tolist())
    assert [1.0, 0.5] == weights.current.tolist()


def test_weights_second_update_is_centred() -> None:
    """Later updates are centred on the previous page: terms deviate by 2 from 1, the outcome by -1 from 2.

    So the first weight is 1 + (1 * (2 - 1) + 2 * (-1 - 2)) / (1 + 4 + 50).
    """
    weights = AdaptiveWeights(np.array([1.0, 0.5]))
    weights.learn(np.array([1.0, 0.0]), 2.0)
    weights.learn(np.array([3.0, 0.0]), 1.0)
    assert [1 + (1 * (2 - 1) + 2 * (-1 - 2)) / (1 + 4 + 50), 0.5] == pytest.approx(weights.learned.tolist())


def test_weights_cap_outcomes_at_three() -> None:
    weights = AdaptiveWeights(np.array([1.0]))
    weights.learn(np.array([1.0]), 10.0)
    assert [1 + (3 - 1) / 51] == pytest.approx(weights.learned.tolist())


def test_weights_equal_ridge_regression() -> None:
    chance, fixed = np.random.default_rng(2), np.array([0.4, 0.3, -0.1])
    weights = AdaptiveWeights(fixed)
    lines, rest = [], []
    mean, level = np.zeros(3), 0.0
    for page, (terms, y) in enumerate(zip(chance.random((150, 3)), chance.random(150), strict=True), 1):
        weights.learn(terms, float(y))
        rate = max(1 / page, 0.01)
        lines.append(terms - mean)
        rest.append((y - level) - fixed @ (terms - mean))
        mean, level = mean + rate * (terms - mean), level + rate * (y - level)
    f = np.array(lines)
    expected = fixed + np.linalg.solve(f.T @ f + 50 * np.eye(3), f.T @ np.array(rest))
    assert pytest.approx(expected) == weights.learned


def referee(weights: AdaptiveWeights, terms: Any, outcomes: Any) -> list[tuple[bool, bool]]:
    """Return for each page whether the learned weights correlate better by definition, and whether they are used."""
    found, predictions, truth = [], np.zeros((2, 0)), np.zeros(0)
    level, mean = np.zeros(2), 0.0
    for pages, (line, y) in enumerate(zip(terms, outcomes, strict=True), 1):
        p = np.array([weights.fixed @ line, weights.learned @ line])
        weights.learn(line, float(y))
        predictions, truth = np.c_[predictions, p - level], np.append(truth, y - mean)
        rate = max(1 / pages, 0.01)
        level, mean = level + rate * (p - level), mean + rate * (y - mean)
        age = 0.99 ** np.arange(pages)[::-1]
        fixed, learned = (
            age @ (column * truth) / math.sqrt(age @ column**2 * (age @ truth**2)) for column in predictions
        )
        found.append((bool(learned > fixed), weights.current is weights.learned))
    return found


def test_learned_weights_are_used_only_while_better() -> None:
    """Outcomes follow the term with the small weight; after 150 pages the relation is reversed."""
    chance = np.random.default_rng(3)
    terms = chance.random((400, 2))
    outcomes = np.where(np.arange(400) < 150, terms[:, 1], 1 + terms[:, 0] - terms[:, 1])
    decisions = referee(AdaptiveWeights(np.array([0.5, 0.05])), terms, outcomes)
    assert MIN_PAGES == 20
    assert 19 * [False] == [is_used for _, is_used in decisions[:19]]
    assert any(better for better, _ in decisions[10:19])
    assert [better for better, _ in decisions[19:]] == [is_used for _, is_used in decisions[19:]]
    assert decisions[149][1]
    assert not all(is_used for _, is_used in decisions[150:])


def test_fixed_weights_are_used_where_they_fit() -> None:
    chance = np.random.default_rng(4)
    terms = chance.random((300, 3))
    fixed = np.array([0.5, 0.3, 0.1])
    weights = AdaptiveWeights(fixed)
    referee(weights, terms, terms @ fixed + 0.05 * chance.standard_normal(300))
    assert pytest.approx(fixed, abs=0.05) == weights.current


def test_constant_terms_keep_fixed_weights() -> None:
    weights = AdaptiveWeights(np.array([0.5, 0.3]))
    for _ in range(40):
        weights.learn(np.zeros(2), 0.0)
    assert weights.current is weights.fixed
    assert np.isfinite(weights.learned).all()


@pytest.mark.parametrize(("rows", "period"), [(5_000, 16), (17 * 4096, 17)])
def test_best_rows_are_searched_once_per_period(rows: int, period: int) -> None:
    """Rows outside the best are rescored every 16 pages, or less often if there are many, here one with priority 9."""
    table, best = Table(), BestRows()
    for number in range(rows):
        table.add(str(number), 0)
    best.fit(rows)
    due = []
    for _ in range(16 + period):
        best.priority[rows - 1000] = 9.0
        again = np.unique(best.due(table))
        due.append(rows - 1000 in again.tolist())
        best.update(again, np.where(again == rows - 1000, -5.0, -1.0), again[:0])
    assert [15, 15 + period] == np.flatnonzero(due).tolist()


def test_best_row_is_replaced_if_not_fetched() -> None:
    """A best row that is not fetched leaves the best rows after 128 pages."""
    table, best = Table(), BestRows()
    for number in range(9000):
        table.add(str(number), 0)
    best.fit(9000)
    due = []
    for page in range(150):
        again = np.unique(np.append(best.due(table), 8999 if page == 0 else 0))
        due.append(8999 in best._best.tolist())
        best.update(again, np.where(again == 8999, 9.0, 0.0), again[:0])
    assert due.index(True) == 1
    assert MAX_PAGES_AMONG_BEST <= sum(due) <= MAX_PAGES_AMONG_BEST + 1
    assert not any(due[MAX_PAGES_AMONG_BEST + 2 :])


def test_update_ignores_small_changes() -> None:
    """Changes of a priority below .01 are ignored, except in rows passed as `always`."""
    best = BestRows()
    best.fit(3)
    rows = np.arange(3)
    best.update(rows, np.array([1.0, 1.0, 1.0]), rows)
    changed = best.update(rows, np.array([1.005, 1.02, 1.005]), np.array([2]))
    assert [1, 2] == changed.tolist()
    assert [1.0, 1.02, 1.005] == pytest.approx(best.priority[:3].tolist())


def test_due_returns_best_rows_and_next_slice() -> None:
    table, best = Table(), BestRows()
    for number in range(1000):
        table.add(str(number), 0)
    best.fit(1000)
    best.due(table)
    best.update(np.arange(500), np.arange(500, dtype=np.float64), np.arange(0))
    assert {*range(500 - BEST, 500), *range(SLICE, 2 * SLICE)} == set(best.due(table).tolist())


def test_highest_keeps_best_of_too_many_rows() -> None:
    table, best = Table(), BestRows()
    for number in range(MAX_ROWS_AT_ONCE + 100):
        table.add_seed(f"n{number}")
    best.fit(len(table))
    best.priority[: len(table)] = np.arange(len(table), dtype=np.float32)
    assert best.highest(table).tolist() == list(range(100, MAX_ROWS_AT_ONCE + 100))


def gallery(dead: int = 3) -> Crawl:
    """Return a crawl of a seed that links to images and articles in turn; the first images are dead links."""
    crawl = Crawl()
    links = [
        link
        for number in range(20)
        for link in (
            (f"http://a.test/images/{number}/fig.png", f"figure {number}", ""),
            (f"http://a.test/wiki/{chr(97 + number)}/", f"reef {chr(97 + number)}", ""),
        )
    ]
    crawl.visit(SEED, 0.5, make_links(*links))
    for number in range(dead):
        crawl.absorb(Visit(f"http://a.test/images/{number}/fig.png", "page", "gone", 1))
    return crawl


PICTURE, ARTICLE = "http://a.test/images/19/fig.png", "http://a.test/wiki/t/"


def risk(crawl: Crawl, node: str) -> float:
    return float(crawl.scent.risk_.probability(crawl.scent.links_.take(np.array([crawl.row(node)])))[0])


def test_risk_learns_from_dead_links() -> None:
    assert (0.0, 0.0) == (risk(gallery(0), PICTURE), risk(gallery(0), ARTICLE))
    risks = [risk(gallery(dead), PICTURE) for dead in range(5)]
    assert risks == sorted(risks)
    crawl = gallery(5)
    for name in "abcde":
        crawl.visit(f"http://a.test/wiki/{name}/", 0.1)
    assert risk(crawl, PICTURE) > 0.45
    assert risk(crawl, ARTICLE) < 0.2
    assert crawl.priority(PICTURE) < crawl.priority(ARTICLE)


def test_risk_of_single_dead_link_is_small() -> None:
    lost = {dead: 1.0 - (1.0 - risk(gallery(dead), PICTURE)) ** 0.5 for dead in (1, 5)}
    assert 0.0 < lost[1] < 0.2
    assert lost[5] > 2 * lost[1]


def test_risk_of_redirect_target_is_0() -> None:
    crawl = gallery(5)
    target = "http://a.test/images/20/fig.png"
    crawl.redirect("http://a.test/images/10/fig.png", target)
    assert crawl.scent.explain(crawl.row(target), crawl.table)["no page"] == 0.0
    assert crawl.scent.explain(crawl.row(PICTURE), crawl.table)["no page"] < 0.0


def test_risk_is_higher_next_to_dead_links() -> None:
    crawl = Crawl()
    crawl.visit(SEED, 0.5, Links.to(*(f"http://{letter}.test/" for letter in "abcdefghijkl")))
    crawl.absorb(Visit("http://a.test/", "page", "unreachable", 1))
    assert risk(crawl, "http://b.test/") > risk(crawl, "http://d.test/") > risk(crawl, "http://l.test/")
    crawl.visit("http://l.test/", 0.1, Links.to("http://a.test/", "http://new.test/", "http://far.test/"))
    assert risk(crawl, "http://new.test/") > risk(crawl, "http://far.test/"), "on a later page, too"


@pytest.mark.parametrize("outcome", ["gone", "broken", "unwanted", "loop", "invalid", "timeout", "unknown-host"])
def test_risk_counts_requests_without_a_page(outcome: Any) -> None:
    crawl = gallery(0)
    crawl.absorb(Visit(PICTURE, "page", outcome, 1, retry_at=99.0))
    assert not crawl.scent.risk_.failures
    crawl.absorb(Visit(PICTURE, "page", outcome, 1))
    assert crawl.scent.risk_.failures == 1
    assert crawl.scent.pages_ == 1, "only pages count for the mean outcome"


@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_risk_ignores_requests_not_sent(outcome: Any) -> None:
    crawl = gallery(0)
    crawl.absorb(Visit(PICTURE, "page", outcome, 1))
    assert not crawl.scent.risk_.failures


@pytest.mark.parametrize("flag", ["soft-404", "maze"])
def test_risk_counts_soft_404_and_low_quality_pages(flag: str) -> None:
    crawl = gallery(0)
    crawl.visit(PICTURE, 0.0, None, "coral reef", flags=[flag])
    assert (1, 1) == (crawl.scent.risk_.failures, crawl.scent.pages_)


def test_risk_counts_redirects_to_known_pages() -> None:
    crawl = gallery(0)
    crawl.redirect("http://a.test/images/0/fig.png", SEED)
    assert crawl.scent.risk_.failures == 1
    crawl.redirect("http://a.test/images/1/fig.png", "http://new.test/")
    assert crawl.scent.risk_.failures == 1
    crawl.absorb(Visit("http://new.test/", "page", "gone", 2))
    assert crawl.scent.risk_.failures == 2


def test_priority_is_multiplied_by_root_of_page_probability() -> None:
    crawl = gallery()
    terms = crawl.scent.explain(crawl.row(PICTURE), crawl.table)
    promised = sum(value for name, value in terms.items() if name != "no page")
    assert terms["no page"] == pytest.approx(-promised * (1.0 - (1.0 - risk(crawl, PICTURE)) ** 0.5))
    assert "no page" not in gallery(0).scent.explain(crawl.row(PICTURE), crawl.table)
