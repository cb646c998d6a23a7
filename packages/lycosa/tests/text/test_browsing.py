"""Browsing models: distances, files, and damaged or forged files."""

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
from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.strategies.context_graph import ContextGraph
from lycosa.strategies.hmm import Hybrid
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing, distances


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("browsing") / "b"
    ten_pages().save(path)
    return path.read_bytes()


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
def test_distances_are_steps_to_relevant_page(
    relevant: list[int], steps: list[tuple[int, int]], states: int, expected: list[int]
) -> None:
    marks = np.isin(np.arange(4), relevant)
    assert expected == distances(marks, np.array(steps, int), states).tolist()


def test_save_and_load_round_trip(tmp_path: Path) -> None:
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


def test_digest_depends_on_labels() -> None:
    assert ten_pages().digest != ten_pages(language="de").digest


@pytest.mark.paper("batsakis-initialisation")
def test_strategy_learns_the_same_from_file(tmp_path: Path) -> None:
    ten_pages().save(tmp_path / "b")
    worth = []
    for file in (ten_pages(), str(tmp_path / "b")):
        walk = Walk(Hybrid(file, anchors=True))
        walk.page("s", "hub news", ["a", "b"], ["reef", "news"])
        worth.append(walk.priorities("a", "b"))
    assert worth[0] == worth[1]


def sealed(contents: bytes) -> bytes:
    """Return a file with a valid digest around any contents."""
    return b"lycosa-browsing 1\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), value=st.integers(0, 255))
def test_load_forged_file_raises_or_works(where: int, value: int, written: bytes, tmp_path: Path) -> None:
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


def test_browsing_rejects_invalid_values(written: bytes, tmp_path: Path) -> None:
    for change, message in (
        ({"pages": Bags.of([([0], [np.nan])] + [([1], [1])] * 9)}, "between 0 and 1e9"),
        ({"pages": Bags.of([([0], [np.inf])] + [([1], [1])] * 9)}, "between 0 and 1e9"),
        ({"pages": Bags.of([([0], [-1])] + [([1], [1])] * 9)}, "between 0 and 1e9"),
        ({"pages": Bags.of([([3], [1])] + [([1], [1])] * 9)}, "outside 0 to 2"),
        ({"pages": Bags.of([([-1], [1])] + [([1], [1])] * 9)}, "outside 0 to 2"),
        ({"pages": Bags.of([([0, 0], [1, 1])] + [([1], [1])] * 9)}, "duplicate term"),
        ({"pages": Bags.of([([1], [1])] * 9)}, "do not increase"),
        ({"pages": Bags(np.array([0, 9, 1, *range(3, 11)]), np.zeros(10, int), np.ones(10))}, "do not increase"),
        ({"pages": Bags(np.arange(11), np.zeros(10, int), np.ones(9))}, "differ in number"),
        ({"pages": Bags.of([([], [])] * 2 + [([1], [1])] * 8)}, "no relevant page has words"),
        ({"terms": ["hub", "hub", "reef"]}, "a term is duplicated"),
        ({"terms": ["hub", "a\nb", "reef"]}, "several lines"),
        ({"urls": []}, "no pages"),
        ({"relevant": np.zeros(10, bool)}, "no page is relevant"),
        ({"relevant": np.ones(10, bool)}, "must have the state 0"),
        ({"relevant": np.ones(9, bool)}, r"relevant has shape \(9,\): expected \(10,\)"),
        ({"state": np.full(10, 3)}, "state ranges from 3 to 3, not from 0 to 2"),
        ({"state": np.full(10, -1)}, "state ranges from -1"),
        ({"steps": np.array([(0, 10)])}, "outside 0 to 9"),
        ({"steps": np.array([(-1, 0)])}, "outside 0 to 9"),
        ({"clusterings": {"kmeans": np.full(10, -2)}}, "clusters by kmeans ranges from -2"),
        ({"clusterings": {"kmeans": np.full(10, 10_000)}}, "clusters by kmeans ranges from 10000"),
        ({"clusterings": {"kmeans": np.zeros(11, int)}}, "clusters by kmeans"),
        ({"states": 1}, "the number of states is 1"),
        ({"states": 10**9}, "2 to 100"),
    ):
        with pytest.raises(ValueError, match=message):
            ten_pages(**change)


def change(written: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file with an edited header."""
    line, _, arrays = written.split(b"\n", 2)[2].partition(b"\n")
    header = json.loads(line)
    edit(header)
    return sealed(json.dumps(header).encode() + b"\n" + arrays)


def _array(name: str, place: int, value: Any) -> Callable[[dict[str, Any]], object]:
    def edit(header: dict[str, Any]) -> None:
        next(entry for entry in header["arrays"] if entry[0] == name)[place] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda header: header.__setitem__("states", "3"), "states an integer, and language a text"),
        (lambda header: header.__setitem__("states", True), "states an integer, and language a text"),
        (lambda header: header.__setitem__("states", 2), "state ranges from"),
        (lambda header: header.__setitem__("language", None), "states an integer, and language a text"),
        (lambda header: header.__setitem__("facts", []), "facts"),
        (lambda header: header.pop("states"), "'states'"),
        (_array("terms", 0, "words"), "'terms'"),
        (_array("cluster xmeans", 0, "more"), "the arrays of the file are"),
        (_array("cluster xmeans", 1, "f4"), "clusters by xmeans has shape"),
        (_array("steps", 2, [24]), "steps has shape"),
        (_array("steps", 2, [6, 4]), "steps has shape"),
        (_array("steps", 2, [2_000_000_000, 2_000_000_000]), "steps ends beyond the end of the file"),
        (_array("counts", 2, [10**30]), "counts has an invalid shape"),
        (_array("state", 1, "f4"), "state has shape"),
    ],
)
def test_load_rejects_inconsistent_headers(
    edit: Callable[[dict[str, Any]], object], message: str, written: bytes, tmp_path: Path
) -> None:
    (tmp_path / "b").write_bytes(change(written, edit))
    with raises_input_error("bad-file", message) as caught:
        Browsing.load(tmp_path / "b")
    assert "lycosa train browse" in str(caught.value)


def test_load_rejects_invalid_values(tmp_path: Path) -> None:
    browsing = ten_pages()
    browsing.steps[0, 0] = 99
    browsing.save(tmp_path / "b")
    with raises_input_error("bad-file", "a step has"):
        Browsing.load(tmp_path / "b")


def test_load_rejects_other_files(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"lycosa-model 1\n")
    with raises_input_error("wrong-file", "is not a"):
        Browsing.load(tmp_path / "m")
    with raises_input_error("unreadable-file", "cannot read the"):
        Browsing.of(str(tmp_path / "nowhere"))
