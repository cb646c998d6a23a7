from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from commands import run
from lycosa_lab import benchmark as lab
from lycosa_lab.benchmark.corpora import CORPORA
from places import ROOT

EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("program", "program needs command"),
        ("program,command=a'", "cannot parse the command"),
        ("program,command=no-such-thing -x", "'no-such-thing -x' is not an executable program"),
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
    monkeypatch.setattr("lycosa_lab.benchmark.corpora.MIN_TOPIC_PAGES", 8)
    monkeypatch.setattr(lab, "QUICK", replace(lab.QUICK, budgets=(20,), description=("words",), subject_count=1))
    call = ["lab", "benchmark", "--quick", "--out", str(tmp_path / "out"), "--workers", "1", "--seed-sets", "2",
            "--strategy", "best-first", "--also", f"program,command={program}", "--also", own,
            "--json", "--quiet"]  # fmt: skip
    assert run(monkeypatch, *call) == 0
    output = json.loads(capsys.readouterr().out)
    (table,) = [part for part in output["parts"] if part["key"] == "benchmark-20"]
    assert (
        {"oracle", "scent", "best-first", program, own} >= {row[0] for row in table["rows"]} >= {"scent", program, own}
    )
    place = output["corpus"]["embedded-small"]
    assert place["fingerprint"]
    assert place["topics"]
    assert place["checksum of the half"]
    assert output["configuration"]["entrants"][:2] == ["oracle", "scent"]
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
