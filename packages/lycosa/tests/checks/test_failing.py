"""Descriptions and failures of checks."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from lycosa.checks import CHECKS, CheckFailed
from lycosa.checks.failing import run_async_check, run_check, shape, want
from lycosa.core.protocols import Space
from lycosa.core.types import Task
from lycosa.spaces.graph import GraphSpace


def test_checks_have_one_line_description() -> None:
    assert {"judge", "estimator", "strategy", "space"} == set(CHECKS)
    for checks in CHECKS.values():
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in checks.values())


def test_want_raises_with_message() -> None:
    want([1], "not raised")
    with pytest.raises(CheckFailed, match="no rows"):
        want([], "no rows")


def test_run_check_names_failed_check() -> None:
    def rows_exist(make: object) -> None:
        want(make, "no rows")

    assert run_check(rows_exist, list) == "rows_exist"
    with pytest.raises(CheckFailed, match=r"^rows_exist: no rows$") as failure:
        run_check(rows_exist, None)  # type: ignore[arg-type]
    assert failure.value.check == "rows_exist"


def test_run_check_quotes_description_after_exception() -> None:
    def divides(make: Callable[[], int]) -> None:
        """Division works."""
        1 / make()

    with pytest.raises(CheckFailed, match=r"raised ZeroDivisionError: .*Division works\."):
        run_check(divides, lambda: 0)


def test_run_async_check_returns_name() -> None:
    async def visited(space: Space, node: str) -> None:
        await space.visit(Task(node))

    assert asyncio.run(run_async_check(visited, GraphSpace({"a": []}), "a")) == "visited"


def test_shape_describes_arrays_and_types() -> None:
    assert shape(np.zeros((2, 3))) == "an array of shape (2, 3)"
    assert shape([1]) == "a list"
