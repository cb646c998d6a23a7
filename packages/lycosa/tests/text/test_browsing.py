"""Browsing models: distances, files that come back, and files that are damaged or forged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browsed_pages import Walk, positives_only, ten_pages
from lycosa.core.errors import InputError
from lycosa.strategies.context_graph import ContextGraph
from lycosa.strategies.hmm import Hybrid
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing, distances


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The ten pages as bytes."""
    path = tmp_path_factory.mktemp("browsing") / "b"
    ten_pages().save(path)
    return path.read_bytes()


# -- distances -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relevant", "steps", "states", "expected"),
    [
        ([3], [(0, 1), (1, 2), (2, 3)], 5, [3, 2, 1, 0]),
        ([3], [(0, 1), (1, 2), (2, 3)], 3, [2, 2, 1, 0]),
        ([3], [(0, 1), (1, 2), (2, 3)], 2, [1, 1, 1, 0]),
        ([0], [(0, 1), (1, 2), (2, 3)], 4, [0, 3, 3, 3]),
        ([3], [(0, 1), (1, 0), (1, 1), (1, 2), (2, 0)], 4, [3, 3, 3, 0]),
        ([0, 3], [(0, 1), (1, 0), (1, 2), (2, 3), (3, 0)], 4, [0, 1, 1, 0]),
        ([2], [(0, 1), (1, 2), (0, 2), (0, 2)], 4, [1, 1, 0, 3]),
        ([0], [], 4, [0, 3, 3, 3]),
    ],
    ids=[
        "path", "capped", "two states", "only onwards", "circles", "the nearest", "the shorter way", "no steps",
    ],
)  # fmt: skip
def test_distances(relevant: list[int], steps: list[tuple[int, int]], states: int, expected: list[int]) -> None:
    """Steps to the nearest relevant page, at most states - 1, which is also that of pages that lead nowhere."""
    marks = np.isin(np.arange(4), relevant)
    assert expected == distances(marks, np.array(steps, int), states).tolist()


# -- as a file -------------------------------------------------------------------------------------------------


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    """All of it."""
    for browsing in (ten_pages(), positives_only(), ten_pages(clusterings={}, language="", steps=np.zeros((0, 2)))):
        browsing.save(tmp_path / "b")
        back = Browsing.load(tmp_path / "b")
        assert (browsing.terms, browsing.urls, browsing.states) == (back.terms, back.urls, back.states)
        assert (browsing.language, browsing.facts) == (back.language, back.facts)
        for name in ("relevant", "state", "steps"):
            assert getattr(browsing, name).tolist() == getattr(back, name).tolist()
        for name in ("starts", "columns", "counts"):
            assert getattr(browsing.pages, name).tolist() == getattr(back.pages, name).tolist()
        assert {name: c.tolist() for name, c in browsing.clusterings.items()} == {
            name: c.tolist() for name, c in back.clusterings.items()
        }
        assert browsing.digest == back.digest


def test_the_digest_names_the_browsing() -> None:
    """One other label, other digest."""
    assert ten_pages().digest != ten_pages(language="de").digest


@pytest.mark.paper("batsakis-initialisation")
def test_a_crawl_learns_the_same_from_the_file(tmp_path: Path) -> None:
    """What a strategy says with the file is what it says with what was written to it."""
    ten_pages().save(tmp_path / "b")
    worth = []
    for file in (ten_pages(), str(tmp_path / "b")):
        walk = Walk(Hybrid(file, anchors=True))
        walk.page("s", "hub news", ["a", "b"], ["reef", "news"])
        worth.append(walk.priorities("a", "b"))
    assert worth[0] == worth[1]


# -- damaged and forged ----------------------------------------------------------------------------------------


def sealed(contents: bytes) -> bytes:
    """A file whose digest is right, whatever is in it."""
    return b"lycosa-browsing 1\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_forged_file_is_an_input_error_or_works(where: int, value: int, written: bytes, tmp_path: Path) -> None:
    """With the digest made right again, a changed byte gives an InputError or scores that are numbers."""
    contents = bytearray(written.split(b"\n", 2)[2])
    contents[where % len(contents)] = value
    (tmp_path / "b").write_bytes(sealed(bytes(contents)))
    try:
        walks = [Walk(Hybrid(str(tmp_path / "b"), anchors=True)), Walk(ContextGraph(str(tmp_path / "b")))]
    except InputError:
        return
    for walk in walks:
        walk.page("s", "hub news", ["a", "b"], ["reef", "news"])
        assert np.isfinite(walk.priorities("a", "b")).all()


def test_values_that_cannot_be(written: bytes, tmp_path: Path) -> None:
    """Counts, numbers and shapes that would mislead, poison or break a crawl are told by name."""
    for change, told in (
        ({"pages": Bags.of([([0], [np.nan])] + [([1], [1])] * 9)}, "far too often"),
        ({"pages": Bags.of([([0], [np.inf])] + [([1], [1])] * 9)}, "far too often"),
        ({"pages": Bags.of([([0], [-1])] + [([1], [1])] * 9)}, "less than once"),
        ({"pages": Bags.of([([3], [1])] + [([1], [1])] * 9)}, "beyond the 3"),
        ({"pages": Bags.of([([-1], [1])] + [([1], [1])] * 9)}, "beyond the 3"),
        ({"pages": Bags.of([([0, 0], [1, 1])] + [([1], [1])] * 9)}, "same term twice"),
        ({"pages": Bags.of([([1], [1])] * 9)}, "do not follow each other"),
        ({"pages": Bags(np.array([0, 9, 1, *range(3, 11)]), np.zeros(10, int), np.ones(10))}, "do not follow"),
        ({"pages": Bags(np.arange(11), np.zeros(10, int), np.ones(9))}, "do not fit together"),
        ({"pages": Bags.of([([], [])] * 2 + [([1], [1])] * 8)}, "none of its relevant pages has words"),
        ({"terms": ["hub", "hub", "reef"]}, "a term is there twice"),
        ({"terms": ["hub", "a\nb", "reef"]}, "several lines"),
        ({"urls": []}, "no pages"),
        ({"relevant": np.zeros(10, bool)}, "none of its pages is relevant"),
        ({"relevant": np.ones(10, bool)}, "at a distance"),
        ({"relevant": np.ones(9, bool)}, r"relevant: \(9,\) for 10 pages"),
        ({"state": np.full(10, 3)}, "state: a page has 3 or 3, 0 to 2 are meant"),
        ({"state": np.full(10, -1)}, "state: a page has -1"),
        ({"steps": np.array([(0, 10)])}, "beyond the 10"),
        ({"steps": np.array([(-1, 0)])}, "beyond the 10"),
        ({"clusterings": {"kmeans": np.full(10, -2)}}, "clusters by kmeans: a page has -2"),
        ({"clusterings": {"kmeans": np.full(10, 10_000)}}, "clusters by kmeans: a page has 10000"),
        ({"clusterings": {"kmeans": np.zeros(11, int)}}, "clusters by kmeans"),
        ({"states": 1}, "there are 1 states"),
        ({"states": 10**9}, "2 to 100"),
    ):
        with pytest.raises(ValueError, match=told):
            ten_pages(**change)


def change(written: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with another header."""
    line, _, arrays = written.split(b"\n", 2)[2].partition(b"\n")
    header = json.loads(line)
    edit(header)
    return sealed(json.dumps(header).encode() + b"\n" + arrays)


def _array(name: str, place: int, value: Any) -> Callable[[dict[str, Any]], object]:
    def edit(header: dict[str, Any]) -> None:
        next(entry for entry in header["arrays"] if entry[0] == name)[place] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda header: header.__setitem__("states", "3"), "states not counted"),
        (lambda header: header.__setitem__("states", True), "states not counted"),
        (lambda header: header.__setitem__("states", 2), "state: a page has"),
        (lambda header: header.__setitem__("language", None), "states not counted"),
        (lambda header: header.__setitem__("facts", []), "facts"),
        (lambda header: header.pop("states"), "'states'"),
        (_array("terms", 0, "words"), "'terms'"),
        (_array("cluster xmeans", 0, "more"), "its arrays are"),
        (_array("cluster xmeans", 1, "f4"), "clusters by xmeans is of shape"),
        (_array("steps", 2, [24]), "steps is of shape"),
        (_array("steps", 2, [6, 4]), "steps is of shape"),
        (_array("steps", 2, [2_000_000_000, 2_000_000_000]), "steps is not all there"),
        (_array("counts", 2, [10**30]), "counts is of shape"),
        (_array("state", 1, "f4"), "state is of shape"),
    ],
)
def test_a_header_that_lies(
    edit: Callable[[dict[str, Any]], object], told: str, written: bytes, tmp_path: Path
) -> None:
    """Whatever a header claims against what is in the file is an InputError that says what, and what to do."""
    (tmp_path / "b").write_bytes(change(written, edit))
    with pytest.raises(InputError, match=told) as caught:
        Browsing.load(tmp_path / "b")
    assert "lycosa train browse" in str(caught.value)


def test_forged_values_in_a_file(tmp_path: Path) -> None:
    """What the constructor refuses is an InputError when it comes from a file: here a step out of range."""
    browsing = ten_pages()
    browsing.steps[0, 0] = 99
    browsing.save(tmp_path / "b")
    with pytest.raises(InputError, match="a step leads from or to a page beyond the 10"):
        Browsing.load(tmp_path / "b")


def test_other_files(tmp_path: Path) -> None:
    """A model, or no file at all, is told apart from a bad one."""
    (tmp_path / "m").write_bytes(b"lycosa-model 1\n")
    with pytest.raises(
        InputError, match="is not a browsing model of Lycosa: name a file that 'lycosa train browse' made"
    ):
        Browsing.load(tmp_path / "m")
    with pytest.raises(InputError, match="cannot read the browsing model"):
        Browsing.of(str(tmp_path / "nowhere"))
