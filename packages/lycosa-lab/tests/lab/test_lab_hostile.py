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
    """Four pages in a ring, half of them labelled."""
    pages = [
        RecordedPage(
            name, Page("ok", 200, marked="coral reef", links=Links.to(NAMES[(at + 1) % 4])), classes=["c"][at % 2 :]
        )
        for at, name in enumerate(NAMES)
    ]
    return write_index(pages, tmp_path / "i", source="test")


def test_open_column_is_npz_archive(index: CorpusIndex) -> None:
    assert index.path is not None
    np.savez(index.path / "other.npz", a=np.arange(3))
    (index.path / "other.npz").replace(index.path / "child.npy")
    with pytest.raises(InputError, match="child is not a column"):
        CorpusIndex.open(index.path)


def test_write_index_keeps_foreign_files(index: CorpusIndex, tmp_path: Path) -> None:
    (tmp_path / "i" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        write_index([RecordedPage(NAMES[0], Page("ok", 200))], tmp_path / "i", source="test")
    assert (tmp_path / "i" / "notes.txt").read_text() == "mine"


def test_write_graph_score_beyond_float32(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\t1e300\n")
    with pytest.raises(InputError, match="infinite"):
        write_graph(tmp_path / "links.tsv", None, tmp_path / "g", "test")


@pytest.fixture
def plan(tmp_path: Path) -> Experiment:
    (tmp_path / "links.tsv").write_text("".join(f"{at}\t{(at + 1) % 9}\n{at}\t{(at * 2) % 9}\n" for at in range(9)))
    (tmp_path / "scores.tsv").write_text("3\t1\n5\t0.5\n")
    write_graph(tmp_path / "links.tsv", tmp_path / "scores.tsv", tmp_path / "g", "test")
    return Experiment(
        "x", str(tmp_path / "g"), ["breadth-first"], told="score", mode="as-published", seeds="random", seed_count=1,
        seed_sets=1, budgets=[4],
    )  # fmt: skip


def test_load_npy_file_returns_none(tmp_path: Path) -> None:
    with open(tmp_path / "a.npz", "wb") as file:
        np.save(file, np.arange(3))
    assert load(tmp_path / "a.npz") is None


class Quits:
    """A strategy that calls sys.exit."""

    def learn(self, step: Any, table: Any) -> Any:
        return step.children

    def priority(self, rows: Any, table: Any) -> Any:
        raise SystemExit("enough\x1b[31m\nof this")


def test_run_strategy_that_exits_fails_alone(plan: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_check_rejects_huge_numbers(key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{key} is .*it must be .* or (less|more)"):
        Experiment("x", "x", ["best-first"], **{key: value}).check()


def test_write_report_keeps_foreign_index_html(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my home page")
    with pytest.raises(StoreError, match=r"index\.html is there already"):
        write_report(Findings("x", "X"), tmp_path, "lycosa")
    assert (tmp_path / "index.html").read_text() == "my home page"
