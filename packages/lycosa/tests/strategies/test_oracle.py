"""Tests of the oracle: scores from a mapping or a file, and the greedy crawl by these scores."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lycosa
from input_errors import raises_input_error
from lycosa.checks import CHECKS, check_estimator
from lycosa.checks.trials import graph
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.strategies import estimator, strategy
from lycosa.strategies.oracle import Oracle, read_scores

Links_ = dict[str, list[str]]


def crawled(links: Links_, beta: dict[str, float], budget: int) -> list[str]:
    """Return the nodes that a greedy crawl visits from seed "a", which does not count for the budget."""
    crawl = lycosa.crawl(
        SpaceJudge(), ["a"], space=GraphSpace(links, beta), strategy=Oracle(beta), budget=budget + 1, concurrency=1
    )
    return [visit.node for visit in crawl][1:]


def best(links: Links_, beta: dict[str, float], budget: int) -> float:
    """Return the highest score of any crawl from "a", by enumerating all connected sets of nodes."""
    nodes = set(links) | {target for targets in links.values() for target in targets}
    found = 0.0
    for size in range(budget + 1):
        for chosen in combinations(sorted(nodes - {"a"}), size):
            reached = {"a"}
            while grown := {node for at in reached for node in links.get(at, ()) if node in chosen} - reached:
                reached |= grown
            if len(reached) == size + 1:
                found = max(found, sum(beta.get(node, 0.0) for node in chosen))
    return found


@pytest.mark.paper("gouriten-not-optimal")
def test_greedy_crawl_can_miss_optimum() -> None:
    """With a -> b (.3), c (0) and c -> d (1), e (.9), two nodes give .3 + 0 by greedy search, and 0 + 1 at best."""
    links, beta = {"a": ["b", "c"], "c": ["d", "e"]}, {"b": 0.3, "d": 1.0, "e": 0.9}
    assert ["b", "c"] == crawled(links, beta, 2)
    assert 1.0 == best(links, beta, 2)
    assert ["b", "c", "d"] == crawled(links, beta, 3)  # .3 + 0 + 1
    assert 1.9 == best(links, beta, 3)  # c, d, e
    assert pytest.approx(2.2) == best(links, beta, 4) == sum(beta[node] for node in "bde")


def test_greedy_crawl_finds_optimum_without_hidden_nodes() -> None:
    """With a -> b (.5), c (.4) and b -> d (.9), greedy search takes b and d, the best two nodes."""
    links, beta = {"a": ["b", "c"], "b": ["d"]}, {"b": 0.5, "c": 0.4, "d": 0.9}
    assert ["b", "d"] == crawled(links, beta, 2)
    assert 1.4 == best(links, beta, 2)


NODES = "abcdefg"
GRAPHS = st.fixed_dictionaries({node: st.lists(st.sampled_from(NODES), max_size=3, unique=True) for node in NODES})


@pytest.mark.paper("gouriten-count")
@settings(max_examples=40)
@given(links=GRAPHS, rich=st.sets(st.sampled_from(NODES[1:]), min_size=1), budget=st.integers(1, 4))
def test_greedy_crawl_is_optimal_for_counts(links: Links_, rich: set[str], budget: int) -> None:
    """With scores 0 and 1, greedy search is optimal as long as the frontier always has a node of score 1."""
    beta = dict.fromkeys(sorted(rich), 1.0)
    links = {**links, "a": sorted({*links["a"], min(rich)})}
    seen, frontier, steps = {"a"}, set(links["a"]) - {"a"}, 0
    while steps < budget and frontier & rich:
        node = min(frontier & rich)
        seen.add(node)
        frontier = (frontier | set(links[node])) - seen
        steps += 1
    got = sum(beta.get(node, 0.0) for node in crawled(links, beta, steps))
    assert best(links, beta, steps) == steps == got


@pytest.mark.paper("gouriten-oracle")
def test_priority_of_unknown_nodes_is_0_or_inherited() -> None:
    """Unknown nodes have priority 0; a redirect target keeps its score, and inherits one only if it is unknown."""
    table = Table()
    oracle = Oracle({"a": 0.25, "known": 0.5})
    rows = np.array([table.add_seed(node) for node in ("a", "b")], np.int32)
    assert [0.25, 0.0] == oracle.priority(rows, table).tolist()
    for node, target, expected in (("a", "strange", 0.25), ("b", "known", 0.5)):
        step = table.absorb(Visit(node, "redirect", "redirect", 1, links=Links.to(target)))
        assert step is not None
        assert [expected] == oracle.priority(oracle.learn(step, table), table).tolist()


def test_read_scores_splits_at_newlines_and_last_tab(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(
        "a\t.5\nhttp://x.example/café\t2\r\n\nline\u2028break\t1e-3\nwith\ttab\t0\nold\x0bpage\t1".encode()
    )
    others = {"line\u2028break": 0.001, "with\ttab": 0.0, "old\x0bpage": 1.0}
    expected = {"a": 0.5, "http://x.example/café": 2.0, **others}
    assert expected == read_scores(path)
    made = estimator(f"oracle,scores={path}")
    assert isinstance(made, Oracle)
    assert expected == made.truth_


@pytest.mark.parametrize(
    "line", [b"c", b"c 1", b"\t1", b"c\tmuch", b"c\tnan", b"c\tinf", b"\xff\t1", b"c\t", b"a\t.7"], ids=repr
)
def test_read_scores_names_bad_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(b"a\t.5\nb\t1\n" + line + b"\n")
    with raises_input_error("duplicate" if line.startswith(b"a") else "bad-file", match=r"scores\.tsv, line 3: "):
        strategy(f"oracle,scores={path}")


def test_read_scores_missing_file_raises(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", match=r"nowhere\.tsv"):
        estimator(f"oracle,scores={tmp_path / 'nowhere.tsv'}")


@pytest.mark.parametrize("make", [lambda: estimator("oracle"), lambda: strategy("oracle"), Oracle])
def test_oracle_requires_scores(make: Any) -> None:
    with raises_input_error("missing-option", match="oracle,scores=FILE"):
        make()


def test_oracle_rejects_nan() -> None:
    with pytest.raises(ValueError, match="the score of 'b' is nan"):
        Oracle({"a": 1.0, "b": float("nan")})


def test_oracle_passes_checks() -> None:
    beta = dict(graph(400).relevance)
    assert list(CHECKS["estimator"]) == check_estimator(lambda: Oracle(beta))
