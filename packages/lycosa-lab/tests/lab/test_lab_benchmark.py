from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa_lab import benchmark as lab
from lycosa_lab.benchmark import entrants
from lycosa_lab.benchmark.corpora import (
    CORPORA,
    DEVELOPMENT,
    REPORT,
    AvailableCorpus,
    BenchmarkCorpus,
    checksum,
    half_of,
    open_corpora,
    pinned_topics,
    topics_of_half,
)
from lycosa_lab.comparison import CrawlComparison
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.measures import polite
from lycosa_lab.seeds import seed_sets
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import make_trial_strategy
from places import ROOT

EXAMPLES = ROOT / "examples"


def classified(sizes: dict[str, int], pages: int) -> CorpusIndex:
    """Return a graph whose first nodes are of the first class, and so on."""
    index = CorpusIndex.of({f"n{number}": [] for number in range(pages)})
    of = [place for place, size in enumerate(sizes.values()) for _ in range(size)]
    columns = dict(index.columns)
    columns["class_of"] = np.array(of, np.int32)
    columns["class_start"] = np.minimum(np.arange(pages + 1), len(of)).astype(np.int64)
    return replace(index, columns=columns, facts={**index.facts, "classes": list(sizes)})


def test_half_of_webkb_classes() -> None:
    names = ["course", "department", "faculty", "project", "staff", "student"]
    assert ["course", "faculty", "student"] == [name for name in names if half_of(name) == REPORT]


def test_dealt_splits_topics_by_name_and_size() -> None:
    sizes = {"a": 30, "b": 24, "c": 40, "d/e": 30, "d/f": 26, "g": 650, "h": 1500}
    index = classified(sizes, 3000)
    both = {half: topics_of_half(index, half) for half in (DEVELOPMENT, REPORT)}
    for half, names in both.items():
        assert all(half_of(name) == half for name in names)
        assert not {"b", "h"} & set(names)  # 24 pages; more than a third
        assert names == topics_of_half(index, half)
    every = both[DEVELOPMENT] + both[REPORT]
    assert {"a", "c", "g"} <= set(every)
    assert both[half_of("g")][-1] == "g"


def test_frozen_rejects_changed_topics() -> None:
    index = classified({"a": 30, "c": 40}, 300)
    half = half_of("a")
    names = topics_of_half(index, half)
    assert pinned_topics(index, half, "mine", checksum(names)) == names
    with pytest.raises(InputError, match=f"checksum is {checksum(names)}, it was 0123"):
        pinned_topics(index, half, "mine", "0123")


def test_open_corpora_rejects_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.warc.gz").write_bytes(b"other")
    (tmp_path / "mine.tsv").write_bytes(b"")
    monkeypatch.setitem(CORPORA, "mine", BenchmarkCorpus("mine.warc.gz", "mine.tsv", ("aa", "bb")))
    with pytest.raises(InputError, match=r"mine.warc.gz is not the file of the benchmark: its SHA-256 begins with"):
        open_corpora(["mine"], tmp_path, REPORT, tmp_path / "keep", quick=False, full=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="holds none of the benchmark's corpora"):
        open_corpora([], empty, REPORT, tmp_path, quick=False, full=False)
    with pytest.raises(InputError, match="say where that is with --corpora"):
        open_corpora(["mdn"], None, REPORT, tmp_path, quick=False, full=False)
    with pytest.raises(InputError, match="there is no corpus 'moon'"):
        open_corpora(["moon"], None, REPORT, tmp_path, quick=False, full=False)


def test_seed_sets_cold_are_two_links_away() -> None:
    """a -> b -> c with c relevant: only a is two links away."""
    index = CorpusIndex.of({"z": ["a"], "a": ["b", "d"], "b": ["c"], "d": []})
    subject = HuntSubject("x", np.array([float(name == "c") for name in index.names], np.float32))
    assert [["a"]] == [[index.names[node] for node in seeds] for seeds in seed_sets(index, subject, "cold", count=3)]
    near = HuntSubject("x", np.array([float(name in "bczd") for name in index.names], np.float32))
    with pytest.raises(InputError, match="no node is two links from"):
        seed_sets(index, near, "cold")


def test_polite_one_request_per_host_and_second() -> None:
    assert polite(["a", "a", "b", "a", "c", "b"]).tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 2.0]


def test_kind_of_each_entrant() -> None:
    named = entrants.entrants()
    assert {"scent", *entrants.BEST, "disco", "craw4llm", "crawl4ai", "qmin", "tres"} <= set(named)
    kinds = {"oracle": "oracle", "craw4llm": "oracle", "scent": "ours", "disco": "modern", "fl_n": "published"}
    kinds["a:B"] = "own"
    assert kinds == {name: entrants.kind(name) for name in kinds}
    assert not any(entrants.is_rival(name) for name in ("oracle", "craw4llm"))


def test_entrants_accept_facts_of_a_trial() -> None:
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 1.0})
    subject = HuntSubject("x", index.score, "reef", (1,))
    guide = Judgements.given(index)
    for text in entrants.entrants(full=True):
        assert (
            make_trial_strategy(text, index, subject, guide, budget=9, random_seed=1, told="examples").wants is not None
        ), text


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("program", "program needs command"),
        ("program,command=a'", "can't be read"),
        ("program,command=no-such-thing -x", "there is no program 'no-such-thing -x'"),
        ("program,command=true,speed=3", "has no parameter 'speed'"),
        ("no_such_module:Mine", "cannot load the strategy 'no_such_module:Mine'"),
        ("best-frist", "did you mean best-first"),
        ("best-first,marge=sum", "has no parameter 'marge'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "benchmark"])
def test_check_rejects_bad_strategy_before_run(
    command: str,
    text: str,
    match: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ["--corpus", "nowhere.index"] if command == "run" else ["--quick"]
    assert run(monkeypatch, "lab", command, *more, "--strategy", text, "--out", str(tmp_path / "out")) == 2
    assert match in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


SETTING = lab.BenchmarkSetting("words", "on-topic")


def measured(topics: str, **shares: Sequence[float]) -> lab.BenchmarkRun:
    """Return a cell of trials with these shares; greedy's are half as large."""
    names = ["oracle", *(name.replace("_", "-") for name in shares)]
    columns = [np.ones(len(topics)), *(np.array(row) for row in shares.values())]
    values = {name: column[:, None] for name, column in zip(names, columns, strict=True)}
    greedy = {name: 2 * column for name, column in values.items()}
    of = CrawlComparison({}, [20], list(topics), {lab.SHARE: values, lab.GREEDY: greedy})
    return lab.BenchmarkRun(
        [AvailableCorpus("x", classified({}, 60), [])],
        lab.BenchmarkSize(),
        names,
        {lab.BenchmarkCell("x", SETTING, 20): of},
    )


def test_compared_best_rival_with_hindsight() -> None:
    """The best rival is b: (.5 + .7) / 2 = .6 against a's .5; scent has (.8 + .6) / 2 = .7."""
    made = measured("ab", scent=(0.8, 0.6), best_first=(0.5, 0.5), nb_links=(0.5, 0.7), craw4llm=(0.9, 0.9))
    (cell,) = lab.compared(made)
    assert cell.best == "nb-links"
    assert (cell.scent.mean, cell.rival.mean) == pytest.approx((0.7, 0.6))
    assert cell.ahead.mean == pytest.approx(0.1)  # (.3 - .1) / 2
    assert cell.greedy == pytest.approx(1.4)
    (drawn,) = lab.compared(measured("aab", scent=(0.8, 0.2, 0.6), nb_links=(0.5, 0.3, 0.7)))
    assert drawn.topics == 2  # a topic counts once, regardless of its seed draws
    assert drawn.ahead.mean == pytest.approx(0.0)  # ((.3 - .1) / 2 - .1) / 2
    claim = lab.nowhere_behind([cell])
    assert claim.verdict == "cannot be tested here"
    assert "2 topics only" in claim.evidence


@pytest.mark.parametrize(("scent", "verdict"), [(0.3, "does not hold"), (0.7, "holds")])
def test_nowhere_behind_with_enough_topics(scent: float, verdict: str) -> None:
    made = measured("abcdefgh", scent=[scent] * 8, nb_links=0.5 + np.arange(8) / 100)
    claim = lab.nowhere_behind(lab.compared(made))
    assert claim.verdict == verdict
    assert "nb-links less scent, share on x, words, 3 seeds, 20 pages" in claim.evidence


def test_nowhere_behind_untested_for_identical_crawls() -> None:
    made = measured("abcdefgh", scent=[0.5] * 8, nb_links=[0.5] * 8)
    pages = dict.fromkeys(("scent", "nb-links"), [np.arange(3, dtype=np.int32)] * 8)
    made.cells = {cell: replace(of, pages=pages) for cell, of in made.cells.items()}
    assert lab.nowhere_behind(lab.compared(made)).verdict == "cannot be tested here"


def test_benchmark_command_writes_report_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = replace(CORPORA["embedded-small"], source="embedded:pages=150,seed=1,hosts=6")
    monkeypatch.setitem(CORPORA, "embedded-small", small)
    program, own = f"bash {EXAMPLES / 'rival.sh'}", "my_own_strategy:Mine"
    (tmp_path / "my_own_strategy.py").write_text(
        "class Mine:\n"
        "    def learn(self, step, table): return step.children\n"
        "    def priority(self, rows, table): return table.link_relevance_max[rows] + 0.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("lycosa_lab.benchmark.corpora.LEAST", 8)
    monkeypatch.setattr(lab, "QUICK", replace(lab.QUICK, budgets=(20,), told=("words",), subject_count=1))
    call = ["lab", "benchmark", "--quick", "--out", str(tmp_path / "out"), "--workers", "1", "--seed-sets", "2",
            "--strategy", "best-first", "--also", f"program,command={program}", "--also", own,
            "--json", "--quiet"]  # fmt: skip
    assert run(monkeypatch, *call) == 0
    told = json.loads(capsys.readouterr().out)
    (table,) = [part for part in told["parts"] if part["key"] == "benchmark-20"]
    assert (
        {"oracle", "scent", "best-first", program, own} >= {row[0] for row in table["rows"]} >= {"scent", program, own}
    )
    place = told["corpus"]["embedded-small"]
    assert place["fingerprint"]
    assert place["topics"]
    assert place["checksum of the half"]
    assert told["configuration"]["entrants"][:2] == ["oracle", "scent"]
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "benchmark" in page
    assert place["fingerprint"] in page
    said = json.loads((tmp_path / "out" / "report" / "report.json").read_text())
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "tools"))
    page_of = import_module("benchmark")
    text = "<!-- measured: benchmark-20 -->\n<!-- end -->\n<!-- measured: benchmark-7 -->\nold\n<!-- end -->\n"
    written = page_of.filled(text, page_of.regions(tmp_path / "out" / "report"))
    assert f"| {program} | program | " in written
    assert written.endswith("<!-- measured: benchmark-7 -->\nold\n<!-- end -->\n")
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("runs/*.npz")}
    assert run(monkeypatch, *call) == 0
    capsys.readouterr()
    assert json.loads((tmp_path / "out" / "report" / "report.json").read_text()) == said
    assert kept == {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("runs/*.npz")}
