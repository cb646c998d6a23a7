"""Tests of plain functions as judge, estimator and space."""

import math
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Links, Page, Task
from lycosa.crawling.functions import (
    FunctionEstimator,
    FunctionJudge,
    FunctionSpace,
    as_judge,
    as_number,
    as_space,
    as_strategy,
    function_fingerprint,
)
from lycosa.judges.space_judge import SpaceJudge
from lycosa.testweb.simulation import run_virtual


def relevance(page: Page) -> float:
    return 1.0 if "reef" in page.title + page.text else 0.25


@pytest.mark.parametrize(("result", "expected"), [(True, 1.0), (0, 0.0), ("0.5", 0.5)])
def test_as_number_accepts_numbers_and_booleans(result: Any, expected: float) -> None:
    assert expected == as_number(result, relevance)


@pytest.mark.parametrize("result", [None, "much", math.nan, math.inf])
def test_as_number_rejects_other_types(result: Any) -> None:
    with raises_input_error("bad-value", r"relevance\(\) returned "):
        as_number(result, relevance)


def test_function_judge_caches_links() -> None:
    calls: list[str] = []

    def judged(page: Page) -> float:
        calls.append(page.title)
        return relevance(page)

    judge = FunctionJudge(judged)
    page = Page("ok", title="Home", links=Links.to("a", "b", "c", anchors=["reef", "reef", "rail"]))
    assert [1.0, 1.0, 0.25] == judge.judge(page, None).link_relevances.tolist()
    assert ["Home", "reef", "rail"] == calls


def test_function_fingerprint_depends_on_code() -> None:
    def made(factor: str) -> Any:
        space: dict[str, Any] = {}
        exec(f"\n\ndef f(x):\n    return x * {factor}", space)
        return space["f"]

    assert function_fingerprint(made("2")) == function_fingerprint(made("2"))
    assert function_fingerprint(made("2")) != function_fingerprint(made("3"))


def test_function_space_converts_results() -> None:
    results: dict[str, Any] = {"a": ["b", "c"], "b": Page("ok", title="B"), "c": None}
    space = FunctionSpace(results.__getitem__, lambda: 5.0)

    async def visit(node: str) -> Page:
        return await space.visit(Task(node))

    assert ["b", "c"] == run_virtual(visit("a")).links.urls
    assert ("B", 5.0) == (run_virtual(visit("b")).title, run_virtual(visit("b")).started)
    assert ["gone", "gone"] == [run_virtual(visit(node)).outcome for node in ("c", "unknown")]


def test_wrappers_return_objects_unchanged() -> None:
    judge = SpaceJudge()
    assert as_judge(judge) is judge
    assert as_judge(None) is as_strategy(None) is as_space(None, lambda: 0.0) is None
    assert isinstance(as_judge(relevance), FunctionJudge)
    assert isinstance(as_strategy(lambda link: 1.0), FunctionEstimator)
    assert isinstance(as_space(lambda node: [], lambda: 0.0), FunctionSpace)
