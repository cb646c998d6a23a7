"""`lycosa export` as typed by users."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import lycosa
from commands import Command
from lycosa.cli.export import describe_export
from lycosa.collection.export import ExportResult
from lycosa.collection.summary import summarise
from lycosa.testweb import Web, serve

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "reefs"
    with serve(Web(pages=300, hosts=12, traps=()), record=False) as server:
        options = {"budget": 30, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}
        for _ in lycosa.crawl(server.web.query(TOPIC), server.web.seeds(TOPIC), out=path, **options):
            pass
    return path


@pytest.fixture
def export(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `lycosa export` and returns its output as bytes."""
    return Command(monkeypatch, capfd, "export")


def test_export_defaults_to_jsonl_on_stdout(reefs: Path, export: Command) -> None:
    code, out, err = export(reefs)
    relevant = summarise(reefs).relevant
    assert relevant == len([json.loads(line) for line in out.splitlines()]) > 0
    assert (0, f"{relevant} pages.\n") == (code, err)


def test_export_writes_csv_and_text_to_stdout(reefs: Path, export: Command, tmp_path: Path) -> None:
    for form in ("csv", "text"):
        assert (0, "", "") == export(reefs, "-f", form, "-q", "-o", tmp_path / "file.x")
        whole = (tmp_path / "file.x").read_bytes().decode()
        assert (0, whole, "") == export(reefs, "--format", form, "--quiet")
        assert (0, whole, "") == export(reefs, "--format", form, "--quiet", "--out", "-")


def test_export_binary_formats_require_file(reefs: Path, export: Command) -> None:
    for form in ("parquet", "warc", "wacz"):
        code, out, err = export(reefs, "--format", form)
        assert (2, "") == (code, out)
        assert f"lycosa: {form} needs an output file: --out FILE.{form}" in err


def test_export_prints_summary_line(reefs: Path, export: Command, tmp_path: Path) -> None:
    file = tmp_path / "reefs.csv"
    code, out, err = export(reefs, "--all", "--out", file)
    assert (0, "", 1) == (code, out, err.count("\n"))
    assert err.startswith(f"{file}: 30 pages, ")
    assert f"Open it with a spreadsheet, or pandas.read_csv('{file}')" in err
    assert 30 == len(pandas.read_csv(file))
    assert (0, "", "") == export(reefs, "--out", file, "--quiet")


def test_export_prints_how_to_open_file(reefs: Path, export: Command, tmp_path: Path) -> None:
    for name, hint in [
        ("t.jsonl", "pandas.read_json('{}', lines=True)"),
        ("t.parquet", "pandas.read_parquet('{}')"),
        ("t.warc.gz", "warcio index {}"),
        ("t.wacz", "https://replayweb.page"),
        ("t.txt", "any editor"),
    ]:
        assert hint.format(tmp_path / name) in export(reefs, "--out", tmp_path / name).err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "nowhere contains no crawl"),
        (["{reefs}", "--format", "xml"], "unknown format 'xml': choose one of jsonl, csv,"),
        (["{reefs}", "--out", "t.odt"], "unknown format of t.odt"),
        (["{reefs}", "--out", "no/t.csv"], "cannot write no/t.csv: No such file or directory"),
    ],
)
def test_export_errors_are_one_line(
    reefs: Path, monkeypatch: pytest.MonkeyPatch, command: Command, tmp_path: Path, words: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint in command.complaint("export", *(word.format(reefs=reefs) for word in words))
    assert [] == list(tmp_path.iterdir())


def test_describe_export_lists_formats() -> None:
    done = ExportResult("text", 1, Path("t.txt"), 1_234_567, "any editor", ["left out: 2 near-duplicates"])
    assert "t.txt: 1 page, 1.2 MB; left out: 2 near-duplicates. Open it with any editor" == describe_export(done)
    assert "1,000 pages." == describe_export(ExportResult("jsonl", 1_000, None, 0, ""))
