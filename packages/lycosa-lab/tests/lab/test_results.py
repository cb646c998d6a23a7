from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lab_experiments import plan, rows
from lycosa_lab import experiment_runner as running
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.results import read_trace, write_trace
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject


@pytest.mark.paper("otie-target-recall", "gouriten-set-score", "rules-harvest-ratio")
def test_rows_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # s leads to a (score 1) and b (0), and b to c (3): breadth-first fetches a, b, c.
    index = CorpusIndex.of({"s": ["a", "b"], "b": ["c"]}, score={"s": 1, "a": 1, "c": 3})
    subject = HuntSubject("score", np.array(index.score), truth_by="scores of the graph")
    settings = plan(strategies=["oracle", "breadth-first"], seed_sets=1, repetitions=1, budgets=[2, 9])
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [[0]])
    results = run(settings, tmp_path, index=index, subjects=[subject], workers=1)
    assert ["b", "a", "c"] != [index.names[node] for node in results.select("breadth-first")[0].trace.found]
    output = [
        {key: row[key] for key in ("budget", "fetched", "found", "score", "harvest", "recall", "relative", "area")}
        for row in rows(tmp_path)
        if row["strategy"] == "breadth-first"
    ]
    # Gains are 1, 0, 3. After 2 pages: 1 relevant, harvest 1 / 2, recall 1 / 4, area (1 / 1 + 1 / 2) / 2.
    assert output[0] == {
        "budget": "2", "fetched": "2", "found": "1", "score": "1.0", "harvest": "0.5", "recall": "0.25",
        "relative": "1.0", "area": "0.75",
    }  # fmt: skip
    # There are only 3 pages for a budget of 9: harvest 4 / 3, area (1 + 1/2 + 4/3 + 4/4 + ... + 4/9) / 9.
    area = (1 + 1 / 2 + sum(4 / n for n in range(3, 10))) / 9
    assert output[1] == {
        "budget": "9", "fetched": "3", "found": "2", "score": "4.0", "harvest": f"{4 / 3}", "recall": "1.0",
        "relative": "1.0", "area": f"{area}",
    }  # fmt: skip
    assert any("Out of links: breadth-first" in line and "1 of 1" in line for line in results.remarks)


def test_write_trace_round_trip(tmp_path: Path) -> None:
    trace = Trace(np.array([3, 1, 2], np.int32), 1, "exhausted", 0.25, ["fl_n", "fl_e", "fl_n"])
    write_trace(tmp_path / "a.npz", trace)
    back = read_trace(tmp_path / "a.npz")
    assert back is not None
    assert ([3, 1, 2], 1, "exhausted", 0.25, ["fl_n", "fl_e", "fl_n"]) == (
        back.nodes.tolist(), back.seeds, back.ending, back.seconds, back.arms,
    )  # fmt: skip
    (tmp_path / "b.npz").write_text("no run")
    assert read_trace(tmp_path / "b.npz") is None
    assert read_trace(tmp_path / "c.npz") is None


def test_notable_lists_strategy_above_oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The oracle picks a (.5), then b, the only node left, then c (1): 1.5. The nodes b, c, d have 2. The bound is
    # looser: a is one link away, c and d two, so .5 + 1 + 1.
    index = CorpusIndex.of(
        {"s": ["a", "b"], "b": ["c", "d"]}, {"s": 1, "a": 0.5, "c": 1, "d": 1},
        {("s", "b"): 1, ("b", "c"): 1, ("b", "d"): 1},
    )  # fmt: skip
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [[0]])
    settings = plan(strategies=["oracle", "fl_e"], seed_sets=1, repetitions=1, budgets=[3])
    results = run(settings, tmp_path, index=index, workers=1)
    ahead, line = [line for line in results.remarks if line.startswith("Above the oracle")]
    assert "fl_e in 1 of 1 trials" in line
    assert "2 against 1.5 after 3 pages" in line
    assert line.endswith("looking ahead it has 2, no crawl can have more than 2.5.")
    assert "oracle,ahead=6 in 1 of 1 trials, at most with 2 against 1.5" in ahead
    assert ["oracle", "oracle,ahead=6", "fl_e"] == results.strategies
    assert [1.5 / 2, 1.0, 1.0] == [row["ahead"] for row in results.rows]
    assert [1.0, 2 / 1.5, 2 / 1.5] == [row["relative"] for row in results.rows]


def test_gains_of_look_ahead_never_below_greedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The better of both crawls counts: after one page greedy has a (.5), look-ahead b (0) on the way to c and d."""
    index = CorpusIndex.of({"s": ["a", "b"], "b": ["c", "d"]}, {"s": 1, "a": 0.5, "c": 1, "d": 1})
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [[0]])
    settings = plan(strategies=["oracle,ahead=2"], seed_sets=1, repetitions=1, budgets=[1, 2, 3, 4])
    results = run(settings, tmp_path, index=index, workers=1)
    assert ["oracle,ahead=2", "oracle"] == results.strategies  # the greedy oracle is added
    assert "bcda" == "".join(index.names[node] for node in results.select("oracle,ahead=2")[0].trace.found)
    scores = {text: [row["score"] for row in results.rows if row["strategy"] == text] for text in results.strategies}
    assert {"oracle": [0.5, 0.5, 1.5, 2.5], "oracle,ahead=2": [0.5, 1.0, 2.0, 2.5]} == scores
