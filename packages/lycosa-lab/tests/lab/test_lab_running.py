from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run as command
from lycosa.core.errors import InputError
from lycosa_lab import experiment_runner as running
from lycosa_lab.cache import code_digest
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.index_writer import write_index
from lycosa_lab.results import COLUMNS, ExperimentResults, read_rows, read_trace, write_trace
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.tables import differences, findings, unpaired

STRATEGIES = ["breadth-first", "random", "fl_n", "mab_first"]


def graph() -> CorpusIndex:
    """A hundred nodes with links to four others; every fifth one has a score."""
    links = {f"n{n}": [f"n{(n * 7 + k * 13 + k * k) % 100}" for k in range(1, 5)] for n in range(100)}
    return CorpusIndex.of(links, score={f"n{n}": 1.0 + n / 100 for n in range(0, 100, 5)})


def plan(**more: Any) -> Experiment:
    settings: dict[str, Any] = {
        "strategies": STRATEGIES, "told": "score", "mode": "as-published", "seeds": "random", "seed_count": 2,
        "seed_sets": 2, "budgets": [10, 40], "repetitions": 2, **more,
    }  # fmt: skip
    return Experiment("mine", "", **settings)


class Told(list[tuple[str, int, int]]):
    """Progress callback that records its calls."""

    def __call__(self, what: str, done: int, total: int) -> None:
        self.append((what, done, total))

    @property
    def ran(self) -> int:
        return max(total for what, _, total in self if what == "running trials")


def tables(out: Path) -> bytes:
    return (out / "results.csv").read_bytes()


def rows(out: Path) -> list[dict[str, str]]:
    with open(out / "results.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def runs(out: Path) -> dict[str, tuple[Any, ...]]:
    """Return the stored runs without their times."""
    found = {}
    for path in sorted((out / "runs").glob("*.npz")):
        trace = read_trace(path)
        assert trace is not None
        found[path.name] = (trace.nodes.tolist(), trace.seeds, trace.ending, trace.arms)
    return found


def test_run_outcomes_in_fixed_order(tmp_path: Path) -> None:
    results = run(plan(), tmp_path, index=graph(), workers=1)
    assert [(text, s, r) for text in STRATEGIES for s in range(2) for r in range(2)] == [
        (one.strategy, one.seed_set, one.repetition) for one in results.outcomes
    ]
    told = rows(tmp_path)
    assert list(COLUMNS) == list(told[0])
    assert 4 * 2 * 2 * 2 == len(told)
    assert results.select("fl_n") == results.outcomes[8:12]


@pytest.mark.paper("otie-target-recall", "gouriten-set-score", "rules-harvest-ratio")
def test_rows_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # s leads to a (worth 1) and b (nothing), b to c (worth 3): breadth-first fetches a, b, c.
    index = CorpusIndex.of({"s": ["a", "b"], "b": ["c"]}, score={"s": 1, "a": 1, "c": 3})
    subject = HuntSubject("score", np.array(index.score), truth_by="scores of the graph")
    settings = plan(strategies=["oracle", "breadth-first"], seed_sets=1, repetitions=1, budgets=[2, 9])
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [[0]])
    results = run(settings, tmp_path, index=index, subjects=[subject], workers=1)
    assert ["b", "a", "c"] != [index.names[node] for node in results.select("breadth-first")[0].trace.found]
    told = [
        {key: row[key] for key in ("budget", "fetched", "found", "score", "harvest", "recall", "relative", "area")}
        for row in rows(tmp_path)
        if row["strategy"] == "breadth-first"
    ]
    # Gains 1, 0, 3: after 2 pages 1 relevant, harvest 1 / 2, recall 1 / 4, area (1 / 1 + 1 / 2) / 2.
    assert told[0] == {
        "budget": "2", "fetched": "2", "found": "1", "score": "1.0", "harvest": "0.5", "recall": "0.25",
        "relative": "1.0", "area": "0.75",
    }  # fmt: skip
    # Only 3 pages for a budget of 9: harvest 4 / 3, area (1 + 1/2 + 4/3 + 4/4 + ... + 4/9) / 9.
    area = (1 + 1 / 2 + sum(4 / n for n in range(3, 10))) / 9
    assert told[1] == {
        "budget": "9", "fetched": "3", "found": "2", "score": "4.0", "harvest": f"{4 / 3}", "recall": "1.0",
        "relative": "1.0", "area": f"{area}",
    }  # fmt: skip
    assert any("Ran dry: breadth-first" in line and "1 of 1" in line for line in results.remarks)


def test_run_independent_of_workers(tmp_path: Path) -> None:
    run(plan(), tmp_path / "one", index=graph(), workers=1)
    run(plan(), tmp_path / "two", index=graph(), workers=2)
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
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
        told = Told()
        run(plan(**more), tmp_path, index=graph(), workers=1, progress=told)
        ran.append(told.ran)
    assert ran == [16, 0, 4, 16]


def test_run_repeats_damaged_runs(tmp_path: Path) -> None:
    run(plan(), tmp_path, index=graph(), workers=1)
    before, kept = tables(tmp_path), runs(tmp_path)
    files = sorted((tmp_path / "runs").glob("*.npz"))
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: len(whole) // 2])
    files[1].write_bytes(b"")
    changed = bytearray(files[2].read_bytes())
    changed[60] ^= 0xFF
    files[2].write_bytes(changed)
    files[3].unlink()
    told = Told()
    run(plan(), tmp_path, index=graph(), workers=1, progress=told)
    assert (4, before, kept) == (told.ran, tables(tmp_path), runs(tmp_path))


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


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
from test_lab_running import graph, plan
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
    # The workers hold the pipes, so that this ends shows that they have exited.
    died = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    done = len(runs(out))
    assert 5 <= done < 16
    assert not (out / "results.csv").exists()
    told = Told()
    run(plan(), out, index=graph(), workers=1, progress=told)
    run(plan(), whole, index=graph(), workers=1)
    assert told.ran <= 16 - done  # workers may have finished another one after the kill
    assert tables(whole) == tables(out)
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


def test_code_digest_of_user_code_and_files(tmp_path: Path, own: Callable[[str], str]) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("one")
    first = code_digest(f"rules,file={file}")
    assert first == code_digest(f"rules,file={file}")
    file.write_text("two")
    assert first != code_digest(f"rules,file={file}")
    text = own("pass")
    module = tmp_path / f"{text.partition(':')[0]}.py"
    for named in (text, f"mab_var,arms={text}+fl_n"):  # as an arm, too
        first = code_digest(named)
        module.write_text(module.read_text() + "# changed\n")
        assert first != code_digest(named)


OWN = """
from dataclasses import dataclass

import numpy as np


@dataclass
class Own:
    proportional = False
    wants = ()

    def learn(self, step, table):
        if table.nodes[step.row] == "n20":
            {code}
        return step.children

    def priority(self, rows, table):
        return np.ones(len(rows))
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.syspath_prepend(tmp_path)
    made = iter(range(9))

    def make(code: str) -> str:
        name = f"own_strategy_{next(made)}_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(OWN.format(code=code))
        return f"{name}:Own"

    return make


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


def test_run_leaves_out_strategies_without_text(tmp_path: Path) -> None:
    results = run(plan(strategies=["breadth-first", "hmm"]), tmp_path, index=graph(), workers=1)
    assert {"breadth-first"} == {one.strategy for one in results.outcomes}
    assert any(line.startswith("Left out: hmm in 4 of 4 trials: the corpus has no text") for line in results.remarks)
    assert [] == results.failed


def test_run_leaves_out_unreachable_subjects(tmp_path: Path) -> None:
    index = graph()
    lone = CorpusIndex.of({**{n: [index.names[c] for c in index.children(i)] for i, n in enumerate(index.names)}, "x": []},
                    score={n: float(index.score[i]) for i, n in enumerate(index.names)})  # fmt: skip
    near = HuntSubject("near", np.array(lone.score), truth_by="scores of the graph")
    far = HuntSubject("far", np.eye(1, len(lone), len(lone) - 1, dtype=np.float32)[0], truth_by="scores of the graph")
    results = run(plan(), tmp_path / "both", index=lone, subjects=[near, far], workers=1)
    assert ["near"] == list(results.subjects)
    assert any(line.startswith("Left out: far: ") for line in results.remarks)
    with pytest.raises(InputError, match="nothing to look for is left: Left out: far"):
        run(plan(), tmp_path / "far", index=lone, subjects=[far], workers=1)


def test_notable_names_strategy_above_oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The oracle takes a (.5), then b for lack of anything better, then c (1): 1.5. b, c, d have 2. The bound is looser:
    # one link away is a, two links away c and d, so .5 + 1 + 1.
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
    """After one page greedy has a (.5) and look-ahead b (0), on the way to c and d: the better of both counts."""
    index = CorpusIndex.of({"s": ["a", "b"], "b": ["c", "d"]}, {"s": 1, "a": 0.5, "c": 1, "d": 1})
    monkeypatch.setattr(running, "seed_sets", lambda *_, **__: [[0]])
    settings = plan(strategies=["oracle,ahead=2"], seed_sets=1, repetitions=1, budgets=[1, 2, 3, 4])
    results = run(settings, tmp_path, index=index, workers=1)
    assert ["oracle,ahead=2", "oracle"] == results.strategies  # the greedy one is added
    assert "bcda" == "".join(index.names[node] for node in results.select("oracle,ahead=2")[0].trace.found)
    scores = {text: [row["score"] for row in results.rows if row["strategy"] == text] for text in results.strategies}
    assert {"oracle": [0.5, 0.5, 1.5, 2.5], "oracle,ahead=2": [0.5, 1.0, 2.0, 2.5]} == scores


@pytest.mark.parametrize("text", ["oracle,ahead=0", "oracle,ahead=far", "oracle,ahead=1000"])
def test_run_rejects_bad_look_ahead_depth(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ahead is a number of links, 1 to 100"):
        run(plan(strategies=[text]), tmp_path, index=graph(), workers=1)


def test_run_graph_scores_are_as_published(tmp_path: Path) -> None:
    results = run(plan(mode="independent"), tmp_path, index=graph(), workers=1)
    assert ("as-published", {"as-published"}) == (results.mode, {row["mode"] for row in rows(tmp_path)})
    assert any(line.startswith("As-published, although") for line in results.remarks)


def test_run_graph_rejects_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="take its scores as the guide"):
        run(plan(told="words"), tmp_path, index=graph(), workers=1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus") / "small.index"
    write_index(embedded(pages=250, hosts=8), out, source="embedded web, small")
    return out


def paged(corpus: Path, **more: Any) -> Experiment:
    settings: dict[str, Any] = {
        "strategies": ["breadth-first", "best-first", "oracle"], "subjects": ["astronomy", "computing"], "seed_sets": 2,
        "seed_count": 2, "budgets": [20, 60], **more,
    }  # fmt: skip
    return Experiment("pages", str(corpus), **settings)


@pytest.fixture(scope="module")
def fair(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> ExperimentResults:
    return run(paged(corpus), tmp_path_factory.mktemp("fair"), workers=1)


def test_findings_tables_curves_and_settings(fair: ExperimentResults) -> None:
    results = fair
    found = findings(results)
    assert ["pages-harvest", "pages-curves", "pages-end", "pages-subjects"] == [part.key for part in found.parts]
    assert ["strategy", "pages", "difference", "low", "high", "p", "topics"] == findings(results, "oracle").parts[
        2
    ].columns
    assert (results.index.fingerprint, [20, 60]) == (found.corpus["fingerprint"], found.configuration["budgets"])
    table: Any = found.parts[0]
    assert results.ranked(60) == [row[0] for row in table.rows]
    assert [["strategy", "given", "20 pages", "60 pages"]] == [table.columns]
    assert [str(results.interval(row[0], 20)) for row in table.rows] == [row[2] for row in table.rows]
    curves: Any = found.parts[1]
    last = {
        curve.label: (curve.x[-1], curve.y[-1], curve.low[-1] <= curve.y[-1] <= curve.high[-1])
        for curve in curves.curves
    }
    for text in results.strategies:
        of = [one for one in results.rows if one["strategy"] == text and one["budget"] == 60]
        assert last[text] == (60, pytest.approx(np.mean([row["score"] / 60 for row in of])), True)


def test_findings_rule_on_claims(fair: ExperimentResults, corpus: Path) -> None:
    plan = paged(corpus, claims=["best-first better than breadth-first", "oracle like best-first"])
    one, other = findings(replace(fair, experiment=plan)).claims
    assert ("best-first better than breadth-first", "cannot be tested here") == (one.text, one.verdict)
    assert one.evidence.startswith("2 topics only")
    assert "best-first less breadth-first, harvest: +" in one.evidence
    assert "oracle less best-first" in other.evidence
    for wrong in ("best-first beats oracle", "best-first better than random"):
        with pytest.raises(InputError, match="is not 'A better than B'"):
            paged(corpus, claims=[wrong]).check()


def test_differences_paired_by_topic_and_seed_set(fair: ExperimentResults) -> None:
    lines = {(text, budget): apart for text, budget, apart in differences(fair, "best-first")}
    assert {("breadth-first", 20), ("breadth-first", 60), ("oracle", 20), ("oracle", 60)} == set(lines)
    for (text, budget), apart in lines.items():
        assert apart.mean == pytest.approx(fair.mean(text, budget) - fair.mean("best-first", budget))
        assert (2, True) == (apart.n, apart.low <= apart.mean <= apart.high)


def test_differences_to_another_experiment(fair: ExperimentResults, tmp_path: Path) -> None:
    fair.write_tables(tmp_path)
    before = read_rows(tmp_path, fair.index.fingerprint)
    assert [] == unpaired(fair, "there", before)
    assert {0.0} == {apart.mean for _, _, apart in differences(fair, before=before)}
    better = [
        {**row, "harvest": row["harvest"] + 0.1 * (row["strategy"] == "best-first" and row["budget"] == 20)}
        for row in before
    ]
    lines = {(text, budget): apart.mean for text, budget, apart in differences(fair, before=better)}
    assert -0.1 == pytest.approx(lines.pop(("best-first", 20)))
    assert {0.0} == set(lines.values())
    other = [{**row, "start": "x" if row["seed_set"] == 1 else row["start"]} for row in before]
    assert ["Other seeds than in there: 2 of 4 sets."] == unpaired(fair, "there", other)
    none = [{**row, "subject": "music"} for row in before]
    assert ["Nothing to compare: there has none of these strategies, topics and budgets."] == unpaired(
        fair, "there", none
    )


def test_read_rows_rejects_other_results(fair: ExperimentResults, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*results\.csv"):
        read_rows(tmp_path, "f")
    fair.write_tables(tmp_path)
    with pytest.raises(InputError, match="another corpus"):
        read_rows(tmp_path, "f")
    for text in ("corpus,strategy\nf,fl_n\n", (tmp_path / "results.csv").read_text("utf-8") + "f,x\n"):
        (tmp_path / "results.csv").write_text(text, "utf-8")
        with pytest.raises(InputError, match="damaged or of another version"):
            read_rows(tmp_path, fair.index.fingerprint)


def test_run_command_by_flags_and_file(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words = ["lab", "run", "--workers", "1", "--quiet", "--json"]
    flags = [
        "--strategy",
        "breadth-first",
        "--strategy",
        "best-first",
        "--topics",
        "1",
        "--budget",
        "40",
        "--budget",
        "10",
    ]
    out, again = tmp_path / "out", tmp_path / "again"
    assert 0 == command(monkeypatch, *words, "--corpus", str(corpus), *flags, "--seed-count", "1", "--out", str(out))
    told = loads(capsys.readouterr().out)
    assert ([], [10, 40]) == (told["failed"], told["configuration"]["budgets"])
    assert "6 crawls" in told["summary"]
    assert {"experiment.toml", "results.csv", "report", "runs", "guides"} == {path.name for path in out.iterdir()}
    once_more = [
        "lab",
        "run",
        str(out / "experiment.toml"),
        "--out",
        str(again),
        "--workers",
        "1",
        "--against",
        str(out),
    ]
    assert 0 == command(monkeypatch, *once_more)
    assert tables(out) == tables(again)
    shown, _, paired = capsys.readouterr().out.partition("Harvest less that of")
    assert 4 == sum(line.split()[2:6] == ["0.000", "0.000", "0.000", "1.000"] for line in paired.splitlines())
    assert [row[0] for row in told["parts"][0]["rows"]] == sorted(
        ["breadth-first", "best-first"], key=lambda text: shown.index(f"\n{text} ")
    )
    assert str(again / "results.csv") in paired


def test_run_command_against_strategy(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words = ["--strategy", "best-first", "--against", "breadth-first", "--topics", "2", "--budget", "20"]
    words += ["--corpus", str(corpus), "--out", str(tmp_path), "--workers", "1", "--quiet", "--json"]
    assert 0 == command(monkeypatch, "lab", "run", *words)
    told = loads(capsys.readouterr().out)
    parts = {part["key"].rpartition("-")[2]: part for part in told["parts"]}
    (line,) = parts["differences"]["rows"]
    assert ["best-first", 20, 2] == [*line[:2], line[-1]]
    means = {row[0]: float(row[2].split()[0]) for row in parts["harvest"]["rows"]}
    assert means["best-first"] - means["breadth-first"] == pytest.approx(line[2], abs=0.0015)
    assert "Harvest less that of breadth-first" in (tmp_path / "report" / "index.html").read_text("utf-8")


def test_run_command_errors(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, own: Callable[[str], str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    base = ["--corpus", str(corpus), "--strategy", "best-first"]
    for words, said in [
        ([], "nothing to run"),
        ([*base, "--topic", "no such thing", "--out", str(tmp_path / "a")], "no class 'no such thing'"),
        ([*base, "--out", str(tmp_path / "mine")], "is not an experiment"),
        (["--corpus", str(tmp_path / "mine"), "--strategy", "best-first"], "lycosa lab index"),
    ]:
        assert 2 == command(monkeypatch, "lab", "run", *words)
        assert said in capsys.readouterr().err
    broken = own("pass")
    module = tmp_path / f"{broken.partition(':')[0]}.py"
    module.write_text(
        module.read_text().replace('if table.nodes[step.row] == "n20"', "if True").replace("pass", "1 / 0")
    )
    words = [*base, "--strategy", broken, "--topics", "1", "--budget", "5", "--workers", "1", "--quiet"]
    assert 1 == command(monkeypatch, "lab", "run", *words, "--out", str(tmp_path / "b"))
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_run_command_interrupted(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lycosa_lab.experiment_runner._run_all", stop)
    words = ["--corpus", str(corpus), "--strategy", "best-first", "--topics", "1", "--workers", "1", "--out"]
    assert 130 == command(monkeypatch, "lab", "run", *words, str(tmp_path / "out"))
    assert "The same command continues" in capsys.readouterr().err
