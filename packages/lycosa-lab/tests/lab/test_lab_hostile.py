"""Damaged or hostile files of the lab: refused in one line, or made again; nothing of the user's is removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Links, Page
from lycosa_lab.cache import load
from lycosa_lab.corpora.graph import write_graph
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.findings import Findings
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.report import write_report

NAMES = [f"http://a.example/{number}" for number in range(4)]


@pytest.fixture
def index(tmp_path: Path) -> CorpusIndex:
    """Four pages in a ring, half of them of a class."""
    pages = [
        RecordedPage(
            name, Page("ok", 200, marked="coral reef", links=Links.to(NAMES[(at + 1) % 4])), classes=["c"][at % 2 :]
        )
        for at, name in enumerate(NAMES)
    ]
    return write_index(pages, tmp_path / "i", source="test")


def test_a_column_that_is_an_archive_of_arrays_is_refused(index: CorpusIndex) -> None:
    """What numpy opens as something else than an array is no column."""
    assert index.path is not None
    np.savez(index.path / "other.npz", a=np.arange(3))
    (index.path / "other.npz").replace(index.path / "child.npy")
    with pytest.raises(InputError, match="child is not a column"):
        CorpusIndex.open(index.path)


def test_a_file_of_the_users_in_an_index_is_kept(index: CorpusIndex, tmp_path: Path) -> None:
    """An index is replaced as a whole, so it is not if something else is in it."""
    (tmp_path / "i" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        write_index([RecordedPage(NAMES[0], Page("ok", 200))], tmp_path / "i", source="test")
    assert (tmp_path / "i" / "notes.txt").read_text() == "mine"


def test_a_score_that_no_column_can_hold_is_refused(tmp_path: Path) -> None:
    """1e300 is finite, but infinite in four bytes."""
    (tmp_path / "links.tsv").write_text("a\tb\t1e300\n")
    with pytest.raises(InputError, match="infinite"):
        write_graph(tmp_path / "links.tsv", None, tmp_path / "g", "test")


@pytest.fixture
def plan(tmp_path: Path) -> Experiment:
    """A small experiment on a graph."""
    (tmp_path / "links.tsv").write_text("".join(f"{at}\t{(at + 1) % 9}\n{at}\t{(at * 2) % 9}\n" for at in range(9)))
    (tmp_path / "scores.tsv").write_text("3\t1\n5\t0.5\n")
    write_graph(tmp_path / "links.tsv", tmp_path / "scores.tsv", tmp_path / "g", "test")
    return Experiment(
        "x", str(tmp_path / "g"), ["breadth-first"], told="score", mode="as-published", seeds="random", seed_count=1,
        seed_sets=1, budgets=[4],
    )  # fmt: skip


def test_a_kept_file_that_is_one_array_is_not_used(tmp_path: Path) -> None:
    """numpy opens it, and gives something that can't be closed."""
    with open(tmp_path / "a.npz", "wb") as file:
        np.save(file, np.arange(3))
    assert load(tmp_path / "a.npz") is None


class Quits:
    """A strategy that ends the program."""

    def learn(self, step: Any, table: Any) -> Any:
        """Nothing."""
        return step.children

    def score(self, rows: Any, table: Any) -> Any:
        """End it, with a message for the terminal."""
        raise SystemExit("enough\x1b[31m\nof this")


def test_a_strategy_that_ends_the_program_fails_alone_and_in_one_line(
    plan: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message can't move the cursor either."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    plan.strategies = ["breadth-first", "test_lab_hostile:Quits"]
    results = run(plan, tmp_path / "out", workers=1)
    (told,) = (line for line in results.remarks if line.startswith("Failed"))
    assert ["breadth-first"] == [one.strategy for one in results.outcomes]
    assert "SystemExit: enough\ufffd[31m of this (" in told


@pytest.mark.parametrize(
    ("key", "value"),
    [("budgets", [10**12]), ("seed_sets", 10**9), ("repetitions", 10**9), ("random_seed", -1)],
)
def test_senseless_numbers_are_refused_before_memory_is_asked_for_them(key: str, value: Any) -> None:
    """The message names the setting and what it may be."""
    with pytest.raises(InputError, match=f"{key} is .*it must be .* or (less|more)"):
        Experiment("x", "x", ["best-first"], **{key: value}).check()


def test_a_page_of_the_users_is_not_replaced_by_a_report(tmp_path: Path) -> None:
    """An index.html without a report.json beside it is not ours."""
    (tmp_path / "index.html").write_text("my home page")
    with pytest.raises(StoreError, match=r"index\.html is there already"):
        write_report(Findings("x", "X"), tmp_path, "lycosa")
    assert (tmp_path / "index.html").read_text() == "my home page"
