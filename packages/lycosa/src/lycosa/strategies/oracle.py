"""Oracles: strategies that know every score in advance, the true one or that of the judge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step


@dataclass
class Oracle:
    """Oracle: priority = true score of the row; for unknown rows that of the page that redirects to it, or 0.

    `scores` maps nodes to scores, as in `Oracle(graph.relevance)`, or is a file with a node, a tab and its score on
    each line: `oracle,scores=FILE`. It is for graphs and recorded crawls, where the truth is known: the greedy crawl
    over the oracle is the reference for other strategies. It is not the best possible crawl (finding that is NP-hard),
    because a poor node may hide rich ones.

    Paper: Gouriten et al. 2014, section 6.

    >>> table = Table(); rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    >>> Oracle({"a": .2, "c": 1}).priority(rows, table).tolist()
    [0.2, 0.0, 1.0]
    """

    strategy_name: ClassVar[str] = "oracle"
    term_name: ClassVar[str] = "its true score"

    scores: Mapping[str, float] | str = field(default="", repr=False)
    truth_: Mapping[str, float] = learned()
    inherited_: dict[int, float] = learned(dict)

    def __post_init__(self) -> None:
        if not isinstance(self.scores, str):
            _check(self.scores)
            self.truth_ = self.scores
        elif self.scores:
            self.truth_ = read_scores(Path(self.scores))
        else:
            hint = f"write {self.strategy_name},scores=FILE (a node, a tab and its score on each line)"
            message = f"the strategy {self.strategy_name} needs the score of every node: {hint}"
            raise InputError("missing-option", message)

    def learn(self, step: Step, table: Table) -> Rows:
        if step.visit.outcome == "redirect":
            for row in step.children.tolist():
                if table.nodes[row] not in self.truth_:
                    self.inherited_[row] = self._score(step.row, table)
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {self.term_name: self._score(row, table)}

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.array([self._score(row, table) for row in rows.tolist()], np.float64)

    def _score(self, row: int, table: Table) -> float:
        score = self.truth_.get(table.nodes[row])
        return float(score) if score is not None else self.inherited_.get(row, 0.0)


def _check(scores: Mapping[str, float]) -> None:
    for node, score in scores.items():
        if not math.isfinite(score):
            raise ValueError(f"the score of {node!r} is {score}: scores are finite numbers")


def read_scores(path: Path) -> dict[str, float]:
    """Read a score file: a node, a tab and its score on each line; empty lines are skipped."""
    # split at \n only, since names of nodes may contain other line breaks
    lines = read_input(path, 1_000_000_000, "the scores").split(b"\n")
    scores: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        line = line.removesuffix(b"\r")
        if not line.strip():
            continue
        try:
            node, tab, value = line.decode("utf-8").rpartition("\t")
            score = float(value)
        except ValueError:  # not UTF-8, or not a number
            node, tab, score = "", "", math.nan
        if not tab or not node or not math.isfinite(score):
            shown = line[:80].decode("utf-8", "backslashreplace")
            raise InputError("bad-file", f"{path}, line {number}: {shown!r} is not a node, a tab and a finite number")
        if node in scores and scores[node] != score:
            raise InputError("duplicate", f"{path}, line {number}: {node!r} is listed twice, first with {scores[node]}")
        scores[node] = score
    return scores


@dataclass
class Craw4Llm(Oracle):
    """Craw4LLM: priority = the judge's relevance of the link's own page, priority(u) = M(page(u)).

    This takes the page before it is fetched, so it is an oracle, but of the judge and not of the truth: the gap to
    `oracle` is due to the judge, the gap from other strategies to this one is due to them. In the lab it knows the
    judge's relevance of all pages, after all training; elsewhere it reads them from a file, `craw4llm,scores=FILE`.

    Paper: Yu, Liu, Xiong 2025, Craw4LLM: Efficient Web Crawling for LLM Pretraining, algorithm 1, and the authors' code
    (cxcscmu/Craw4LLM), a simulation on ClueWeb22 in which pages are rated when a link to them is found. Departures:
    their rater M is a fastText classifier of good training data for language models, ours is the judge; they take the
    10,000 best at a time, which is `batch=10000` here; seeds come first without being rated.
    """

    strategy_name: ClassVar[str] = "craw4llm"
    term_name: ClassVar[str] = "relevance of its page"
