from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa_lab.corpora.graph import write_graph
from lycosa_lab.corpus_index import CorpusIndex


def build(tmp_path: Path, edges: str | bytes, scores: str = "", name: str = "edges.tsv") -> CorpusIndex:
    (tmp_path / name).write_bytes(edges.encode() if isinstance(edges, str) else edges)
    (tmp_path / "scores.tsv").write_text(scores)
    return write_graph(tmp_path / name, tmp_path / "scores.tsv" if scores else None, tmp_path / "x", "a graph")


def links(index: CorpusIndex) -> dict[str, list[str]]:
    return {
        index.names[node]: [index.names[int(child)] for child in index.children(node)]
        for node in range(len(index))
        if len(index.children(node))
    }


def test_write_graph_handles_comments_duplicates_and_order(tmp_path: Path) -> None:
    index = build(tmp_path, "# FromNodeId\tToNodeId\n0\t3\n0\t1\n\n2\t2\n0\t3\n3\t0\r\n2\t1", "3\t.5\n1\t2\n")
    assert {"0": ["3", "1"], "2": ["1"], "3": ["0"]} == links(index)
    assert {"0": 0.0, "1": 2.0, "2": 0.0, "3": 0.5} == dict(zip(index.names, index.score.tolist(), strict=True))
    assert {"links": 6, "to_itself": 1} == {name: index.facts[name] for name in ("links", "to_itself")}
    assert {"links that are there already": 1} == index.facts["left_out"]


@pytest.mark.parametrize("far", [11342, 2**31 + 5, 2**62])
def test_write_graph_keeps_sparse_numbers(tmp_path: Path, far: int) -> None:
    index = build(tmp_path, f"7\t{far}\n{far}\t9\n9\t7\n")
    assert ["7", str(far), "9"] == list(index.names)
    assert {"7": [str(far)], str(far): ["9"], "9": ["7"]} == links(index)


def test_write_graph_accepts_names(tmp_path: Path) -> None:
    index = build(tmp_path, "1\tb\t.5\nb\t1\t1\n1\tc\u2028d\t0\n", "b\t1\nlone\t.25\n")
    assert ["1", "b", "c\u2028d", "lone"] == list(index.names)
    assert {"1": ["b", "c\u2028d"], "b": ["1"]} == links(index)
    assert ([0.5, 0.0, 1.0], [0.0, 1.0, 0.0, 0.25]) == (index.alpha.tolist(), index.score.tolist())
    assert {"beta": 1.0, "alpha": [1.0]} == index.page(1).data


def test_write_graph_decimals_are_names(tmp_path: Path) -> None:
    assert {"1.5": ["2"], "1": ["1.5"]} == links(build(tmp_path, "1.5\t2\t.5\n1\t1.5\t1\n"))


def test_write_graph_sorts_alphas_with_links(tmp_path: Path) -> None:
    index = build(tmp_path, "2\t0\t.75\n0\t2\t.5\n1\t1\t.1\n2\t1\t.25\n0\t1\t1e-1\n2\t0\t.9\n")
    assert {"0": ["2", "1"], "2": ["0", "1"]} == links(index)
    assert [0.75, 0.25, 0.5, pytest.approx(0.1)] == index.alpha.tolist()  # node 2 is mentioned first


def test_write_graph_gzip_is_equal(tmp_path: Path) -> None:
    text = "# a comment\n" + "".join(f"{n * 7 % 13}\t{n * 5 % 11}\n" for n in range(60)) + "# the end"
    whole = build(tmp_path, text).fingerprint
    packed = build(tmp_path, gzip.compress(text.encode(), mtime=0), name="edges.txt.gz")
    assert whole == packed.fingerprint


def test_write_graph_notes_scored_nodes_without_links(tmp_path: Path) -> None:
    index = build(tmp_path, "a\tb\n", "b\t1\nzz\t2\nB\t0\n")
    assert ["1 nodes with a score are in no link: no crawl can reach them"] == index.facts["notes"]


@pytest.mark.parametrize(
    ("edges", "scores", "code", "match"),
    [
        ("", "", "bad-file", "cannot read"),
        ("# nothing\n", "", "empty-file", "no links"),
        ("1\t2\n3\n4\n", "", "bad-file", "Expected 2 columns, got 1"),
        ("1\t2\n3\t4\t5\n", "", "bad-file", "Expected 2 columns, got 3"),
        ("1 2\n", "", "bad-file", "rows of a node, a tab, .*have 1 columns, not 2 to 3"),
        ("a\tb\tmuch\n", "", "bad-file", "much"),
        ("a\t\n", "", "bad-file", "empty cells"),
        ("1\t2\tnan\n", "", "bad-file", "its last column"),
        ("1\t2\n", "1\t2\n1\t3\n", "duplicate", "several scores of one node"),
        ("1\t2\n", "1\n", "bad-file", "a node, a tab, and its score"),
        ("1\t2\n", "1\tmuch\n", "bad-file", "much"),
    ],
)
def test_write_graph_malformed_table_is_error(tmp_path: Path, edges: str, scores: str, code: str, match: str) -> None:
    with raises_input_error(code, match):
        build(tmp_path, edges, scores)
    assert not (tmp_path / "x").exists()


def test_write_graph_unreadable_file_is_error(tmp_path: Path) -> None:
    packed = gzip.compress(b"1\t2\n" * 5000, mtime=0)
    with raises_input_error("bad-file"):
        build(tmp_path, packed[:-20], name="e.tsv.gz")
    with raises_input_error("bad-file"):
        write_graph(tmp_path / "nothing.tsv", None, tmp_path / "x", "g")


def test_write_graph_rejects_score_beyond_float32(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\t1e300\n")
    with raises_input_error("bad-file"):
        write_graph(tmp_path / "links.tsv", None, tmp_path / "g", "test")
