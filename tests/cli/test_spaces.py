"""`lycosa spaces`, and crawls of spaces other than the web from the command line."""

import json
import os
import sys
from pathlib import Path

import pytest

from commands import run
from lycosa.cli.main import _spaces
from lycosa.spaces import SPACES
from lycosa.testing import Web, serve


def test_everything_is_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each space has a line with what it is and what its seeds are, at any width."""
    for width in (80, 120):
        assert 0 == run(monkeypatch, "spaces", width=width)
        told = capsys.readouterr().out
        assert all(name in told for name in SPACES)
        assert "a keyword" in told
        assert max(map(len, told.split("\n"))) <= width


def test_the_list_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Name, summary, seed and paper of each."""
    assert 0 == run(monkeypatch, "spaces", "--json")
    rows = json.loads(capsys.readouterr().out)
    assert list(SPACES) == [row["name"] for row in rows]
    assert {"name", "summary", "seed", "paper"} == set(rows[0])


@pytest.mark.parametrize("name", SPACES)
def test_one_space(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What it is, its parameters, and a command to try; no examples of code."""
    assert 0 == run(monkeypatch, "spaces", name, width=100)
    told = capsys.readouterr().out
    assert f"{name}: {SPACES[name].summary}" in " ".join(told.split())
    assert "for example: lycosa crawl" in told
    assert ">>>" not in told
    assert ("no parameters" in told) == (name == "web")


def test_a_space_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, and the names are told."""
    monkeypatch.setattr(sys, "argv", ["lycosa", "spaces", "moon"])
    assert 2 == run(monkeypatch, "spaces", "moon")


def test_the_shell_completes_names() -> None:
    """What begins like what was typed."""
    assert (["social", "search-form"], ["graph"]) == (_spaces("s"), _spaces("g"))


def test_a_graph_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crawl of files named from here can be resumed from elsewhere."""
    (tmp_path / "links.tsv").write_text("a\tb\t1\na\tc\t0\nb\td\t1\n")
    (tmp_path / "scores.tsv").write_text("b\t1\nd\t1\n")
    monkeypatch.chdir(tmp_path)
    space = "graph,file=links.tsv,scores=scores.tsv"
    assert 0 == run(monkeypatch, "crawl", "--space", space, "--seed", "a", "--budget", "2", "--out", "g", "--json")
    assert 2 == json.loads(capsys.readouterr().out)["pages"]
    monkeypatch.chdir(os.sep)
    assert 0 == run(monkeypatch, "resume", str(tmp_path / "g"), "--budget", "9", "--json")
    ended = json.loads(capsys.readouterr().out)
    assert (4, 2, "nothing left to fetch") == (ended["pages"], ended["relevant"], ended["ending"])
    assert 0 == run(monkeypatch, "show", str(tmp_path / "g"))
    told = capsys.readouterr().out
    assert "graph,file=" in told
    assert "2 of 4 pages relevant, score above 0" in told
    assert "host" not in told  # a node of a graph has none


def test_a_search_form_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Crawl, resume, show, search, report and export: the pages of results are pages like any other."""
    out = str(tmp_path / "books")
    with serve(Web(pages=60, hosts=3, traps=()), record=False) as server:
        asked = ["--allow-network", "127.0.0.0/8", "--delay", "0", "--out", out, "--budget", "6"]
        form = f"search-form,url={server.web.form()}"
        assert 0 == run(monkeypatch, "crawl", "--space", form, "--seed", "water", *asked, "--json")
        assert "records found by 6 requests" in capsys.readouterr().err
        assert 0 == run(monkeypatch, "resume", out, "--budget", "9", "--json")
        told = capsys.readouterr()
        assert (9, "page budget spent") == (json.loads(told.out)["pages"], json.loads(told.out)["ending"])
        assert "records found by 9 requests" in told.err
    assert 0 == run(monkeypatch, "show", out)
    told_again = capsys.readouterr().out
    assert "search?q=water" in told_again
    assert "\n1 host, old-library.localhost" in told_again
    assert 0 == run(monkeypatch, "search", out, "water")
    assert "search?q=water" in capsys.readouterr().out
    assert 0 == run(monkeypatch, "report", out)
    assert 0 == run(monkeypatch, "export", out, "--format", "jsonl", "--all", "--out", str(tmp_path / "books.jsonl"))
    rows = [json.loads(line) for line in (tmp_path / "books.jsonl").read_text("utf-8").splitlines()]
    assert (9, "water", 20.0) == (len(rows), rows[0]["title"], rows[0]["score"])
    assert "water" in rows[0]["text"]
    assert 0 == run(monkeypatch, "export", out, "--out", str(tmp_path / "records.tsv"))
    found = [line.split("\t") for line in (tmp_path / "records.tsv").read_text("utf-8").splitlines()]
    assert sum(row["score"] for row in rows) == len(found) == len({url for url, _ in found})
    assert all("/record/" in url and title for url, title in found)
    assert f"records.tsv: {len(found)} records, " in capsys.readouterr().err
    assert 0 == run(monkeypatch, "seeds", str(tmp_path / "records.tsv"), "--json")
    assert found[0][0] in capsys.readouterr().out
