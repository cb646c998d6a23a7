"""Linear algebra on one thread while a crawl works, and on as many as before afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lycosa
from lycosa.core import blas_threads as threads
from lycosa.core.errors import InputError
from lycosa.spaces.graph import GraphSpace


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], set[int]]]:
    """Numpy's BLAS with two threads; how many its libraries have now."""
    for name in threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(2, "blas"):
        yield lambda: {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_begin_nested(count: Callable[[], set[int]]) -> None:
    """The first begins, the last ends."""
    assert {2} == count()
    threads.limit_threads()
    threads.limit_threads()
    assert {1} == count()
    threads.restore_threads()
    assert {1} == count()
    threads.restore_threads()
    assert {2} == count()


@pytest.mark.parametrize("name", threads._VARIABLES)
def test_begin_variable(count: Callable[[], set[int]], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that a variable sets stays."""
    monkeypatch.setenv(name, "4")
    threads.limit_threads()
    assert {2} == count()
    threads.restore_threads()
    assert {2} == count()


def test_crawl_on_one_thread(count: Callable[[], set[int]], tmp_path: Path) -> None:
    """While it runs, and no longer; also one that is left early, and one that cannot be opened."""
    crawl = lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []}), budget=2)
    assert [{1}, {1}] == [count() for _ in crawl]
    assert {2} == count()
    for _ in lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []})):
        break
    assert {2} == count()
    with pytest.raises(InputError):
        list(lycosa.crawl(seeds=["http://a.test/"], examples=[str(tmp_path / "no.html")], out=tmp_path / "crawl"))
    assert {2} == count()
    assert 0 == threads._users
