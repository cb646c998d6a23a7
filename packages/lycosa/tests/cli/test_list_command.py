"""`lycosa list`, and crawls of other spaces."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from lycosa.judges import JUDGES
from lycosa.spaces import SPACES
from lycosa.strategies import STRATEGIES
from lycosa.testweb import Web, serve
from lycosa.web.sources.seed_files import read_seed_file

KINDS: list[tuple[str, Mapping[str, Any], str, str]] = [
    ("judges", JUDGES, "needs", "(Trivedi"),
    ("strategies", STRATEGIES, "needs", "(Trivedi"),
    ("spaces", SPACES, "seed", "a keyword"),
]


@pytest.mark.paper("batsakis-figure-1")
@pytest.mark.parametrize(("name", "names", "column", "word"), KINDS)
def test_list_prints_all_names(name: str, names: Mapping[str, Any], column: str, word: str, command: Command) -> None:
    for width in (80, 120):
        told = command.out("list", name, width=width)
        assert all(entry in told for entry in names)
        assert max(map(len, told.split("\n"))) <= width
        assert word in told
    rows = command.json("list", name)
    assert rows == command.json("list")[name]
    assert list(names) == [row["name"] for row in rows]
    assert {"name", "summary", column, "paper"} == set(rows[0])


def test_list_judge_prints_parameters(command: Command) -> None:
    for name, entry in JUDGES.items():
        told = command.out("list", "judges", name, width=80)
        assert ">>>" not in told
        assert not entry.needs or f"needs  {entry.needs}" in told
        assert "threshold" in told
        assert f"--judge {name}" in told
    assert command.out("list", "judges", "keyword,window=50").startswith("keyword: ")


def test_list_prints_parameters_as_json(command: Command) -> None:
    told = command.json("list", "vector")
    expected = {
        "threshold": ("number", 0.1),
        "tf": ("max or log or raw", "log"),
        "idf": ("background or learned or none", "learned"),
        "link": ("anchor or context", "anchor"),
    }
    assert expected == {row["name"]: (row["type"], row["default"]) for row in told["parameters"]}
    assert told["about"].startswith("Cosine of tf-idf vectors")


def test_list_strategy_prints_parameters(command: Command) -> None:
    parameters = command.json("list", "strategies", "best-first-page")["parameters"]
    defaults = {row["name"]: row["default"] for row in parameters}
    assert {"page": 1.0, "anchor": 0.0, "merge": "max"} == {key: defaults[key] for key in ("page", "anchor", "merge")}
    assert {"batch", "q", "zeta", "ties"} <= set(defaults)
    text = command.out("list", "strategies", "best-first-page", width=80)
    assert "paper  Batsakis 2007, 3.2.1" in text
    assert "of every strategy" in text


@pytest.mark.parametrize(
    ("name", "told"),
    [("rules", "--model FILE --target CLASS --strategy rules,file=FILE"), ("oracle", "--strategy oracle,scores=FILE")],
)
def test_list_examples_have_required_arguments(name: str, told: str, command: Command) -> None:
    assert told in command.out("list", "strategies", name)


def test_list_space_prints_parameters(command: Command) -> None:
    for name, entry in SPACES.items():
        told = command.out("list", "spaces", name, width=100)
        assert f"{name}: {entry.summary}" in " ".join(told.split())
        assert "for example: lycosa crawl" in told
        assert ">>>" not in told
        assert ("no parameters" in told) == (name == "web")


def test_list_unknown_name_suggests_similar(command: Command) -> None:
    for words in ([], ["judges"], ["strategies"], ["spaces"]):
        assert "'nothing'; available:" in command.complaint("list", *words, "nothing")
    assert "2 names: give one" in command.complaint("list", "scent", "otie")


def test_crawl_graph_and_resume_from_other_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\t1\na\tc\t0\nb\td\t1\n")
    (tmp_path / "scores.tsv").write_text("b\t1\nd\t1\n")
    monkeypatch.chdir(tmp_path)
    space = "graph,file=links.tsv,scores=scores.tsv"
    assert 2 == command.json("crawl", "--space", space, "--seed", "a", "--budget", "2", "--out", "g")["pages"]
    monkeypatch.chdir(os.sep)
    ended = command.json("resume", tmp_path / "g", "--budget", "9")
    assert (4, 2, "nothing left to fetch") == (ended["pages"], ended["relevant"], ended["ending"])
    told = command.out("show", tmp_path / "g")
    assert "graph,file=" in told
    assert "2 of 4 pages relevant, relevance above 0" in told
    assert "host" not in told  # nodes of a graph have no host


def test_crawl_search_form_finds_hidden_pages(tmp_path: Path, command: Command) -> None:
    out, records = tmp_path / "books", tmp_path / "records.tsv"
    with serve(Web(pages=60, hosts=3, traps=()), record=False) as server:
        asked = ["--allow-network", "127.0.0.0/8", "--delay", "0", "--out", out, "--budget", "6"]
        said = command("crawl", "--space", f"search-form,url={server.web.form()}", "--seed", "water", *asked)
        assert "Strategy: best-first, which suits this space. Choose another with --strategy.\n" in said.err
        assert '\nstrategy = "best-first"\n' in (out / "crawl.toml").read_text()
        assert "records found by 6 requests" in said.err
        said = command("resume", out, "--budget", "9", "--json")
        ended = json.loads(said.out)
        assert (9, "page budget spent") == (ended["pages"], ended["ending"])
        assert "records found by 9 requests" in said.err
    shown = command.out("show", out)
    assert "search?q=water" in shown
    assert "\n1 host, old-library.localhost" in shown
    assert "search?q=water" in command.out("search", out, "water")
    command.out("report", out)
    command.out("export", out, "--format", "jsonl", "--all", "--out", tmp_path / "books.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "books.jsonl").read_text("utf-8").splitlines()]
    assert (9, "water", 20.0) == (len(rows), rows[0]["title"], rows[0]["relevance"])
    assert "water" in rows[0]["text"]
    said = command("export", out, "--out", records)
    found = [line.split("\t") for line in records.read_text("utf-8").splitlines()]
    assert sum(row["relevance"] for row in rows) == len(found) == len({url for url, _ in found})
    assert all("/record/" in url and title for url, title in found)
    assert f"records.tsv: {len(found)} records, " in said.err
    assert found[0][0] in read_seed_file(records).lines
