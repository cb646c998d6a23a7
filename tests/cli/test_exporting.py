"""`lycosa export` as a person types it: what goes where, and what is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

import lycosa
from lycosa.cli import main
from lycosa.cli.exporting import told
from lycosa.collection.export import Exported
from lycosa.collection.summary import summarise
from lycosa.testing import Web, serve

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "reefs"
    with serve(Web(pages=600, traps=()), record=False) as server:
        options = {"budget": 40, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}
        for _ in lycosa.crawl(server.web.query(TOPIC), server.web.seeds(TOPIC), out=path, **options):
            pass
    return path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run a command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", "export", *words])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def test_the_output_is_jsonl(reefs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a file and a format the pages go to the output, a line each, and the count to the error output."""
    assert 0 == run(monkeypatch, str(reefs))
    printed = capfd.readouterr()
    relevant = summarise(reefs).relevant
    assert relevant == len([json.loads(line) for line in printed.out.splitlines()]) > 0
    assert f"{relevant} pages.\n" == printed.err


@pytest.mark.parametrize("form", ["csv", "text"])
def test_what_may_go_to_the_output(
    reefs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    """CSV and text can be piped, with no --out or with -; both are what a file would hold."""
    assert 0 == run(monkeypatch, str(reefs), "--format", form, "--quiet")
    assert 0 == run(monkeypatch, str(reefs), "-f", form, "-q", "-o", str(tmp_path / "file.x"))
    whole = (tmp_path / "file.x").read_bytes().decode()
    printed = capfd.readouterr()
    assert (whole, "") == (printed.out, printed.err)
    assert 0 == run(monkeypatch, str(reefs), "--format", form, "--quiet", "--out", "-")
    assert whole == capfd.readouterr().out


@pytest.mark.parametrize("form", ["parquet", "graphml", "warc", "wacz"])
def test_what_needs_a_file(
    reefs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    """Binary formats are not thrown at a terminal: the error says what to add."""
    assert 2 == run(monkeypatch, str(reefs), "--format", form)
    printed = capfd.readouterr()
    assert "" == printed.out
    assert f"lycosa: {form} needs a file to go to: --out FILE.{form}" in printed.err


def test_the_closing_line(
    reefs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """At the end one line on the error output says what was written, how much, and how to open it; --quiet none."""
    out = tmp_path / "reefs.csv"
    assert 0 == run(monkeypatch, str(reefs), "--all", "--out", str(out))
    printed = capfd.readouterr()
    assert "" == printed.out
    assert 1 == printed.err.count("\n")
    assert printed.err.startswith(f"{out}: 40 pages, ")
    assert f"Open it with a spreadsheet, or pandas.read_csv('{out}')" in printed.err
    assert 40 == len(pandas.read_csv(out))
    assert 0 == run(monkeypatch, str(reefs), "--out", str(out), "--quiet")
    printed = capfd.readouterr()
    assert ("", "") == (printed.out, printed.err)


def test_every_format_says_how_to_open_it(
    reefs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The hint names the file where one has to be typed."""
    for name, hint in [
        ("t.jsonl", "pandas.read_json('{}', lines=True)"),
        ("t.parquet", "pandas.read_parquet('{}')"),
        ("t.graphml", "networkx.read_graphml('{}')"),
        ("t.warc.gz", "warcio index {}"),
        ("t.wacz", "https://replayweb.page"),
        ("t.txt", "any editor"),
    ]:
        assert 0 == run(monkeypatch, str(reefs), "--out", str(tmp_path / name))
        assert hint.format(tmp_path / name) in capfd.readouterr().err
    assert 0 == run(monkeypatch, str(reefs), "--format", "text", "--out", str(tmp_path / "corpus"))
    assert f"{tmp_path}/corpus/index.tsv says what is where" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "nowhere holds no crawl"),
        (["{reefs}", "--format", "xml"], "unknown format 'xml': choose one of jsonl, csv,"),
        (["{reefs}", "--out", "t.odt"], "cannot tell the format from the name t.odt"),
        (["{reefs}", "--out", "no/t.csv"], "cannot write no/t.csv: No such file or directory"),
    ],
)
def test_errors_are_one_line(
    reefs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: list[str],
    complaint: str,
) -> None:
    """What can't work is one line with the remedy, and nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    assert 2 == run(monkeypatch, *(word.format(reefs=reefs) for word in words))
    printed = capfd.readouterr()
    assert complaint in printed.err
    assert 1 == printed.err.count("\n")
    assert [] == list(tmp_path.iterdir())


def test_a_reader_that_leaves_early_is_no_error(reefs: Path) -> None:
    """`lycosa export DIR | head -1` ends quietly."""
    command = f"{sys.executable} -m lycosa export {reefs} --all --quiet | head -c 100"
    ran = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False)
    assert (0, b"", 100) == (ran.returncode, ran.stderr, len(ran.stdout))


def test_what_is_said_of_an_export() -> None:
    """Counts and sizes are told as people say them, with what was left out."""
    done = Exported("text", 1, Path("t.txt"), 1_234_567, "any editor", ["left out: 2 near-duplicates"])
    assert "t.txt: 1 page, 1.2 MB; left out: 2 near-duplicates. Open it with any editor" == told(done)
    assert "1,000 pages." == told(Exported("jsonl", 1_000, None, 0, ""))
