from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lab_experiments import STRATEGIES, RecordedProgress, graph, plan, results_csv, rows, runs
from lycosa_lab import experiment_runner as running
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.results import COLUMNS
from lycosa_lab.subjects import HuntSubject


class Quits:
    """Strategy that calls sys.exit."""

    def learn(self, step: Any, table: Any) -> Any:
        return step.children

    def priority(self, rows: Any, table: Any) -> Any:
        raise SystemExit("enough\x1b[31m\nof this")


def test_run_strategy_that_exits_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = plan(strategies=["breadth-first", "test_experiment_runner:Quits"], seed_sets=1, repetitions=1)
    results = run(settings, tmp_path, index=graph(), workers=1)
    (remark,) = (line for line in results.remarks if line.startswith("Failed"))
    assert ["breadth-first"] == [one.strategy for one in results.outcomes]
    assert "SystemExit: enough\ufffd[31m of this (" in remark


def test_run_outcomes_in_fixed_order(tmp_path: Path) -> None:
    results = run(plan(), tmp_path, index=graph(), workers=1)
    assert [(text, s, r) for text in STRATEGIES for s in range(2) for r in range(2)] == [
        (one.strategy, one.seed_set, one.repetition) for one in results.outcomes
    ]
    output = rows(tmp_path)
    assert list(COLUMNS) == list(output[0])
    assert 4 * 2 * 2 * 2 == len(output)
    assert results.select("fl_n") == results.outcomes[8:12]


def test_run_is_independent_of_workers(tmp_path: Path) -> None:
    run(plan(), tmp_path / "one", index=graph(), workers=1)
    run(plan(), tmp_path / "two", index=graph(), workers=2)
    assert results_csv(tmp_path / "one") == results_csv(tmp_path / "two")
    assert runs(tmp_path / "one") == runs(tmp_path / "two")


def test_run_repetitions_have_own_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = run(plan(), tmp_path / "zero", index=graph(), workers=1)
    first = results.select("random")[1].trace
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [first.nodes[: first.seeds].tolist()])
    later = run(plan(random_seed=1), tmp_path / "one", index=graph(), workers=1)
    by_chance, steady = results.select("random"), results.select("breadth-first")
    assert by_chance[0].trace.nodes.tolist() != by_chance[1].trace.nodes.tolist()
    assert steady[0].trace.nodes.tolist() == steady[1].trace.nodes.tolist()
    assert by_chance[1].trace.nodes.tolist() == later.select("random")[0].trace.nodes.tolist()


def test_run_writes_configuration(tmp_path: Path) -> None:
    settings = plan()
    run(settings, tmp_path, index=graph(), workers=1)
    read = Experiment.load(tmp_path / "experiment.toml")
    assert settings.as_dict() == read.as_dict()


def test_run_second_call_is_cached(tmp_path: Path) -> None:
    ran = []
    for more in ({}, {}, {"strategies": [*STRATEGIES, "fl_deg"]}, {"budgets": [50]}):
        output = RecordedProgress()
        run(plan(**more), tmp_path, index=graph(), workers=1, progress=output)
        ran.append(output.trials)
    assert ran == [16, 0, 4, 16]


def test_run_repeats_damaged_runs(tmp_path: Path) -> None:
    run(plan(), tmp_path, index=graph(), workers=1)
    before, kept = results_csv(tmp_path), runs(tmp_path)
    files = sorted((tmp_path / "runs").glob("*.npz"))
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: len(whole) // 2])
    files[1].write_bytes(b"")
    changed = bytearray(files[2].read_bytes())
    changed[60] ^= 0xFF
    files[2].write_bytes(changed)
    files[3].unlink()
    output = RecordedProgress()
    run(plan(), tmp_path, index=graph(), workers=1, progress=output)
    assert (4, before, kept) == (output.trials, results_csv(tmp_path), runs(tmp_path))


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
from lab_experiments import graph, plan
from lycosa_lab.experiment_runner import run

def tell(what, done, total):
    if what == "running trials" and done == 5:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    run(plan(), {out!r}, index=graph(), workers=2, progress=tell)
"""


def test_run_resumes_after_kill(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    out, whole = tmp_path / "out", tmp_path / "whole"
    script.write_text(KILLED.format(path=[str(Path(__file__).parent), *sys.path], out=str(out)))
    # The workers hold the pipes, so that this call returns only after they have exited.
    died = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    done = len(runs(out))
    assert 5 <= done < 16
    assert not (out / "results.csv").exists()
    output = RecordedProgress()
    run(plan(), out, index=graph(), workers=1, progress=output)
    run(plan(), whole, index=graph(), workers=1)
    assert output.trials <= 16 - done  # workers may have finished another trial after the kill
    assert results_csv(whole) == results_csv(out)
    assert runs(whole) == runs(out)


def alive(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


def test_run_interrupted_leaves_no_process(tmp_path: Path) -> None:
    workers = set()

    def progress(what: str, done: int, total: int) -> None:
        workers.update(child.pid for child in multiprocessing.active_children())
        if what == "running trials" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan(), tmp_path, index=graph(), workers=2, progress=progress)
    assert 2 == len(workers)
    assert not any(alive(pid) for pid in workers)
    assert len(runs(tmp_path)) >= 3


def test_run_continues_after_broken_strategy(tmp_path: Path, own: Callable[[str], str]) -> None:
    text = own("raise RuntimeError('it broke')")
    settings = plan(strategies=["breadth-first", text], repetitions=1, seed_sets=4, budgets=[12])
    results = run(settings, tmp_path / "out", index=graph(), workers=1)
    assert 4 == len(results.select("breadth-first"))
    failed = len(results.failed)
    assert 0 < failed == 4 - len(results.select(text))
    (line,) = [line for line in results.remarks if line.startswith("Failed")]
    assert f"Failed: {text} in {failed} of 4 trials, first {results.failed[0]}: RuntimeError: it broke (" in line
    assert line.endswith(".py, line 14)")


def test_run_omits_strategies_without_text(tmp_path: Path) -> None:
    results = run(plan(strategies=["breadth-first", "hmm"]), tmp_path, index=graph(), workers=1)
    assert {"breadth-first"} == {one.strategy for one in results.outcomes}
    assert any(line.startswith("Left out: hmm in 4 of 4 trials: the corpus has no text") for line in results.remarks)
    assert [] == results.failed


def test_run_omits_unreachable_subjects(tmp_path: Path) -> None:
    index = graph()
    links = {name: [index.names[child] for child in index.children(node)] for node, name in enumerate(index.names)}
    lone = CorpusIndex.of({**links, "x": []}, score=dict(zip(index.names, index.score.tolist(), strict=True)))
    near = HuntSubject("near", np.array(lone.score), truth_by="scores of the graph")
    far = HuntSubject("far", np.eye(1, len(lone), len(lone) - 1, dtype=np.float32)[0], truth_by="scores of the graph")
    results = run(plan(), tmp_path / "both", index=lone, subjects=[near, far], workers=1)
    assert ["near"] == list(results.subjects)
    assert any(line.startswith("Left out: far: ") for line in results.remarks)
    with raises_input_error("nothing-to-do", "Left out: far"):
        run(plan(), tmp_path / "far", index=lone, subjects=[far], workers=1)


@pytest.mark.parametrize("text", ["oracle,ahead=0", "oracle,ahead=far", "oracle,ahead=1000"])
def test_run_rejects_bad_look_ahead_depth(text: str, tmp_path: Path) -> None:
    with raises_input_error("bad-value", "1 to 100"):
        run(plan(strategies=[text]), tmp_path, index=graph(), workers=1)


def test_run_graph_scores_are_as_published(tmp_path: Path) -> None:
    results = run(plan(mode="independent"), tmp_path, index=graph(), workers=1)
    assert ("as-published", {"as-published"}) == (results.mode, {row["mode"] for row in rows(tmp_path)})
    assert any(line.startswith("As-published instead of independent") for line in results.remarks)


def test_run_graph_rejects_words(tmp_path: Path) -> None:
    with raises_input_error("nothing-to-do", "use its scores"):
        run(plan(description="words"), tmp_path, index=graph(), workers=1)
