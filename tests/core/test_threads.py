"""Linear algebra on one thread while a crawl works, and on as many as before afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

import lycosa
from lycosa.core import threads
from lycosa.core.errors import InputError
from lycosa.spaces.graph import GraphSpace


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A library that has eight threads: how many it was told to have, the last one now."""
    told = [8]
    monkeypatch.setattr(threads, "_openblas", lambda: (lambda: told[-1], told.append))
    monkeypatch.setattr(threads, "_before", 1)
    for name in threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return told


def test_the_first_begins_and_the_last_ends(counts: list[int]) -> None:
    """Two that work at the same time: it is said once, and unsaid once."""
    threads.begin()
    threads.begin()
    assert [8, 1] == counts
    threads.end()
    assert [8, 1] == counts
    threads.end()
    assert [8, 1, 8] == counts


@pytest.mark.parametrize("name", threads._VARIABLES)
def test_who_has_set_a_variable_is_left_alone(counts: list[int], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when it begins nor when it ends."""
    monkeypatch.setenv(name, "4")
    threads.begin()
    threads.end()
    assert [8] == counts


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of it, and nothing is wrong."""
    monkeypatch.setattr(threads, "_openblas", lambda: None)
    threads.begin()
    threads.end()
    assert 0 == threads._working


def test_a_crawl_is_on_one_thread(counts: list[int], tmp_path: Path) -> None:
    """While it runs, and no longer; also one that is left early, and one that cannot be opened."""
    crawl = lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []}), budget=2)
    assert [1, 1] == [counts[-1] for _ in crawl]
    assert [8, 1, 8] == counts
    for _ in lycosa.crawl("reef", ["a"], space=GraphSpace({"a": ["b"], "b": []})):
        break
    assert [8, 1, 8, 1, 8] == counts
    with pytest.raises(InputError):
        list(lycosa.crawl(seeds=["http://a.test/"], examples=[str(tmp_path / "no.html")], out=tmp_path / "crawl"))
    assert 8 == counts[-1]
    assert 0 == threads._working


def test_numpy_knows_its_library() -> None:
    """As it comes from PyPI it has OpenBLAS, and tells how many threads it has."""
    library = threads._openblas()
    if library is None:
        pytest.skip("numpy was built with another library")
    assert library[0]() >= 1
