"""Tests of crawl requests: validation and defaults, before anything is written or sent."""

from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.options import DEFAULT_STRATEGY, Options
from lycosa.crawling.request import CrawlRequest
from lycosa.judges.space_judge import SpaceJudge
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.spaces.graph import GraphSpace
from lycosa.strategies.baselines import BreadthFirst

SEEDS = ["http://a.test/"]


def request(**options: Any) -> CrawlRequest:
    return CrawlRequest(Options(**{"topic": "coral reef", "seeds": SEEDS, **options}))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"seeds": []}, "no-seeds"),
        ({"hosts": ["b.test"]}, "out-of-scope"),
        ({"strategy": "rules,file=nowhere.tsv"}, "missing-model"),
        ({"budget": 0}, "out-of-range"),
        ({"render": "sometimes"}, "bad-value"),
    ],
)
def test_request_rejects_invalid_options(options: dict[str, Any], code: str) -> None:
    with raises_input_error(code):
        request(**options)


def test_request_sets_default_strategy() -> None:
    assert DEFAULT_STRATEGY == request().options.strategy


def test_request_uses_default_strategy_of_space() -> None:
    space = GraphSpace({"a": []})
    space.strategy = "breadth-first"
    made = CrawlRequest(Options(seeds=["a"]), own_judge=SpaceJudge(), space=space)
    assert "breadth-first" == made.suited == made.options.strategy


def test_request_budget_of_crawl_has_default_requests() -> None:
    budget = request(budget=30, max_time=5.0).budget
    assert (30, 5.0, 400) == (budget.pages, budget.seconds, budget.requests)
    assert 400 + 30 * 7 == request(budget=30, page_assets=True, max_page_assets=7).budget.requests
    assert 9 == request(max_requests=9).budget.requests


def test_request_distinguishes_refresh_and_watch() -> None:
    made = CrawlRequest(Options(topic="coral"), resuming=True, revisit_plan=RevisitPlan(once=True, requests=12))
    assert (0, 12, "refresh", False) == (made.budget.pages, made.budget.requests, made.command, made.is_watch)
    watch = CrawlRequest(Options(topic="coral"), resuming=True, revisit_plan=RevisitPlan())
    assert ("watch", True) == (watch.command, watch.is_watch)


def test_request_validates_user_objects() -> None:
    with raises_input_error("bad-plugin", r"has no method visit\(\)"):
        CrawlRequest(Options(topic="coral", seeds=SEEDS), space=object())  # type: ignore[arg-type]


def test_request_spread_requires_one_estimator() -> None:
    made = CrawlRequest(Options(topic="coral", seeds=SEEDS, spread=0.5), strategy=BreadthFirst())
    assert hasattr(made.make_strategy(), "pick")
