"""Tests of limiting BLAS to one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lycosa
from input_errors import raises_input_error
from lycosa.core import blas_threads as threads
from lycosa.spaces.graph import GraphSpace


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], set[int]]]:
    """Give BLAS two threads; return a function that returns their current numbers."""
    for name in threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(2, "blas"):
        yield lambda: {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_limit_threads_can_be_nested(count: Callable[[], set[int]]) -> None:
    assert {2} == count()
    threads.limit_threads()
    threads.limit_threads()
    assert {1} == count()
    threads.restore_threads()
    assert {1} == count()
    threads.restore_threads()
    assert {2} == count()


@pytest.mark.parametrize("name", threads._VARIABLES)
def test_limit_threads_keeps_environment(
    count: Callable[[], set[int]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "4")
    threads.limit_threads()
    assert {2} == count()
    threads.restore_threads()
    assert {2} == count()


def test_crawl_limits_threads(count: Callable[[], set[int]], tmp_path: Path) -> None:
    crawl = lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []}), budget=2)
    assert [{1}, {1}] == [count() for _ in crawl]
    assert {2} == count()
    for _ in lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []})):
        break
    assert {2} == count()
    with raises_input_error("unreadable-file"):
        list(lycosa.crawl(seeds=["http://a.test/"], examples=[str(tmp_path / "no.html")], out=tmp_path / "crawl"))
    assert {2} == count()
    assert 0 == threads._users
