"""Graphs in memory and in files."""

import asyncio
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.checks import check_space
from lycosa.core.errors import InputError
from lycosa.core.types import Task
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphFile, GraphSpace
from lycosa.store.directory import Directory

LINKS = "# who links to whom\na\tb\t0.5\na\tc\n\nb\td\t0.25\na\td\t1e-1\n"
SCORES = "b\t1\nd\t2.5\nlonely\t3\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Write a file of links and one of scores."""
    (tmp_path / "links.tsv").write_text(LINKS, "utf-8")
    (tmp_path / "scores.tsv").write_text(SCORES, "utf-8")
    return {"file": str(tmp_path / "links.tsv"), "scores": str(tmp_path / "scores.tsv")}


@pytest.mark.paper("gouriten-model")
def test_visit_returns_links_with_relevances() -> None:
    space = GraphSpace({"a": ["b", "c"]}, relevance={"a": 0.5}, alpha={("a", "c"): 0.25})
    page = asyncio.run(space.visit(Task("a")))
    judgement = SpaceJudge().judge(page, None)
    assert ("ok", ["b", "c"]) == (page.outcome, page.links.urls)
    assert (0.5, [0.0, 0.25]) == (judgement.relevance, judgement.link_relevances.tolist())


def test_visit_target_without_entry_has_no_links() -> None:
    page = asyncio.run(GraphSpace({"a": ["b"]}).visit(Task("b")))
    assert ("ok", [], 0.0) == (page.outcome, page.links.urls, SpaceJudge().judge(page, None).relevance)


def test_visit_graph_file_returns_links_and_scores(files: dict[str, Any]) -> None:
    space = GraphSpace(**files)
    page = asyncio.run(space.visit(Task("a")))
    assert ["b", "c", "d"] == page.links.urls
    assert [0.5, 0.0, 0.1] == [round(alpha, 6) for alpha in page.data["alpha"]]
    assert 0.0 == page.data["beta"]
    page = asyncio.run(space.visit(Task("d")))
    assert (2.5, []) == (page.data["beta"], page.links.urls)


def test_node_of_graph_must_be_in_files(files: dict[str, Any]) -> None:
    space = GraphSpace(**files)
    assert ("a", "lonely", None) == (space.node("a"), space.node("lonely"), space.node("z"))
    assert "gone" == asyncio.run(space.visit(Task("z"))).outcome


def test_graph_file_passes_checks(files: dict[str, Any]) -> None:
    assert len(check_space(GraphSpace(**files), "a")) > 5


def test_crawl_of_named_graph_can_be_resumed(files: dict[str, Any], tmp_path: Path) -> None:
    space = f"graph,file={files['file']},scores={files['scores']}"
    crawl = lycosa.crawl(seeds=["a"], space=space, out=tmp_path / "crawl", budget=2, concurrency=1)
    assert [("a", 0.0), ("b", 1.0)] == [(visit.node, visit.relevance) for visit in crawl]
    rest = lycosa.resume(tmp_path / "crawl", budget=9)
    assert [("d", 2.5), ("c", 0.0)] == [(visit.node, visit.relevance) for visit in rest]


@pytest.mark.parametrize(
    ("links", "complaint"),
    [
        ("a\tb\na b\n", "line 2: 'a b' is not a node, a tab, and the node that it links to"),
        ("a\tb\t1\t2\n", "line 1: .* is not a node, a tab"),
        ("a\t\n", "line 1: .* is not a node, a tab"),
        ("a\tb\t1\na\tc\thigh\n", "line 2: alpha is 'high'; it must be a number"),
        ("a\tb\tnan\n", "line 1: alpha is 'nan'"),
        ("# nothing\n", "has no links"),
        ("", "has no links"),
    ],
)
def test_links_file_invalid_row_raises(links: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text(links, "utf-8")
    with pytest.raises(InputError, match=f"links.tsv.*{complaint}"):
        GraphSpace(file=str(tmp_path / "links.tsv"))


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ("a\t1\nb\n", "line 2: 'b' is not a node, a tab, and its score"),
        ("a\tmuch\n", "line 1: the score is 'much'"),
        ("a\t1\na\t2\n", "line 2: 'a' has two relevances"),
    ],
)
def test_scores_file_invalid_row_raises(scores: str, complaint: str, files: dict[str, Any]) -> None:
    Path(files["scores"]).write_text(scores, "utf-8")
    with pytest.raises(InputError, match=f"scores.tsv.*{complaint}"):
        GraphSpace(**files)


def test_files_unreadable_raise(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_bytes(b"\xff\xfe\x00\x81\t\x00")
    with raises_input_error("bad-file", "not text in"):
        GraphSpace(file=str(tmp_path / "links.tsv"))
    os.mkfifo(tmp_path / "pipe")
    for endless in (str(tmp_path / "pipe"), "/dev/zero"):
        with raises_input_error("unreadable-file", "cannot read the graph in .*: it is a pipe or a device"):
            GraphSpace(file=endless)
        with raises_input_error("unreadable-file", "cannot read the graph in .*: it is a pipe or a device"):
            GraphSpace({"a": ["b"]}, scores=endless)
    with raises_input_error("unreadable-file", "cannot read the graph in .*: No such file"):
        GraphSpace(file=str(tmp_path / "none.tsv"))
    with raises_input_error("bad-value", "graph: it needs"):
        lycosa.crawl(seeds=["a"], space="graph")
    with raises_input_error("bad-seed", "the seed 'z'"):
        lycosa.crawl(seeds=["z"], space="graph,file=" + str(_small(tmp_path)))


def _small(folder: Path) -> Path:
    path = folder / "small.tsv"
    path.write_bytes("\ufeffa\tb\r\n".encode())
    return path


def test_files_with_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    graph = GraphFile(str(_small(tmp_path)))
    assert ({"a": ["b"], "b": []}, 2) == (dict(graph), len(graph))


def test_graph_file_takes_8_bytes_per_link(tmp_path: Path) -> None:
    """100,000 links between 1,000 nodes take less than 2 MB: 8 bytes per link, and each name once."""
    path = tmp_path / "links.tsv"
    path.write_text("".join(f"node-{i % 1000}\tnode-{i * 7 % 997}\t0.5\n" for i in range(100_000)), "utf-8")
    tracemalloc.start()
    graph = GraphFile(str(path))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 100 == len(graph["node-1"])
    assert kept < 2_000_000


class Suited(GraphSpace):
    """Graph with a default strategy."""

    strategy = "breadth-first"


def test_space_sets_default_strategy(tmp_path: Path) -> None:
    made = [
        lycosa.crawl(SpaceJudge(), ["a"], space=space({"a": ["b"]}), strategy=named, out=tmp_path / f"{number}")
        for number, (space, named) in enumerate([(Suited, ""), (Suited, "random"), (GraphSpace, "")])
    ]
    assert [("breadth-first",) * 2, ("random", ""), ("scent", "")] == [
        (crawl.options.strategy, crawl.request.suited) for crawl in made
    ]
    assert ["a", "b"] == [visit.node for visit in made[0]]
    told = tmp_path / "0" / "crawl.toml"
    assert '\nstrategy = "breadth-first"\n' in told.read_text()
    # a directory of an earlier version, which used scent
    told.write_text(told.read_text().replace('\nstrategy = "breadth-first"\n', "\n"))
    assert "scent" == Directory.read_options(tmp_path / "0").strategy
