"""Graphs with known relevances, in memory or from files, for experiments and tests."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Task


class GraphSpace(Space):
    """A graph with known relevances, which the default judge `given` returns unchanged.

    In Python the graph is a dictionary of links; `relevance` has the true relevances of nodes, `alpha` those of links.

    >>> import asyncio
    >>> space = GraphSpace({"a": ["b", "c"]}, relevance={"b": 1.0})
    >>> asyncio.run(space.visit(Task("a"))).links.urls
    ['b', 'c']

    - file: links, one per line: node, tab, target, and optionally tab, alpha.
    - scores: relevances, one per line: node, tab, beta. Nodes that are not in it have 0.

    Empty lines and lines starting with # are skipped in both. A graph is not copied into the crawl's directory: like
    the web, it must still exist when the crawl is resumed.

    Paper: Gouriten, Maniu, Senellart 2014, 2.1.
    """

    def __init__(
        self,
        links: Mapping[str, Sequence[str]] | None = None,
        relevance: Mapping[str, float] | None = None,
        alpha: Mapping[tuple[str, str], float] | None = None,
        file: str = "",
        scores: str = "",
    ) -> None:
        if links is None and not file:
            raise ValueError("it needs a file of links, one per line (node, tab, target): write graph,file=...")
        self.read: GraphFile | None = None
        if file:
            self.read = links = GraphFile(file)
        self.links: Mapping[str, Sequence[str]] = links or {}
        self.relevance = read_scores(scores) if scores else relevance or {}
        self.alpha = alpha or {}

    def node(self, text: str) -> str | None:
        """Return the node if a file contains it; a graph in memory may have nodes without links."""
        return text if self.read is None or text in self.read or text in self.relevance else None

    async def visit(self, task: Task) -> Page:
        node = task.node
        if self.node(node) is None:
            return Page("gone", note="the file has no such node")
        targets = self.links.get(node, ())
        if self.read is not None:
            link_relevances = self.read.link_relevances(node)
        else:
            link_relevances = [float(self.alpha.get((node, target), 0.0)) for target in targets]
        data = {"beta": float(self.relevance.get(node, 0.0)), "alpha": link_relevances}
        return Page("ok", links=Links.to(*targets), data=data)


class GraphFile(Mapping[str, Sequence[str]]):
    """Links of a file in compact form: each name once, links as numbers in file order, 8 bytes per link."""

    def __init__(self, file: str) -> None:
        self.names: list[str] = []
        self.number: dict[str, int] = {}
        sources, targets, link_relevances = array("i"), array("i"), array("f")
        for line, (source, target, *rest) in read_rows(file, "a node, a tab, and the node that it links to", 2, 3):
            sources.append(self._of(source))
            targets.append(self._of(target))
            link_relevances.append(_number(rest[0], "alpha", file, line) if rest else 0.0)
        if not sources:
            raise InputError("bad-file", f"{file} has no links: write one per line (node, tab, target)")
        origin = np.frombuffer(sources, np.int32)
        order = np.argsort(origin, kind="stable")
        self._targets = np.frombuffer(targets, np.int32)[order]
        self._link_relevances = np.frombuffer(link_relevances, np.float32)[order]
        self._starts = np.searchsorted(origin[order], np.arange(len(self.names) + 1))

    def _of(self, name: str) -> int:
        if name not in self.number:
            self.number[name] = len(self.names)
            self.names.append(name)
        return self.number[name]

    def _span(self, node: str) -> slice:
        number = self.number[node]
        return slice(self._starts[number], self._starts[number + 1])

    def __getitem__(self, node: str) -> list[str]:
        names = self.names
        return [names[number] for number in self._targets[self._span(node)].tolist()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, node: object) -> bool:
        return node in self.number

    def link_relevances(self, node: str) -> list[float]:
        return self._link_relevances[self._span(node)].tolist() if node in self.number else []


def draw(*key: object) -> float:
    """Return a pseudo-random number in [0, 1) for a key, which does not depend on the order of visits.

    >>> draw(1, "a", "b") == draw(1, "a", "b") != draw(2, "a", "b")
    True
    """
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "big") / 2.0**64


def read_scores(file: str) -> dict[str, float]:
    scores: dict[str, float] = {}
    for line, (node, score) in read_rows(file, "a node, a tab, and its score", 2, 2):
        if node in scores:
            raise InputError("bad-file", f"{file}, line {line}: {node!r} has two relevances; keep one of them")
        scores[node] = _number(score, "the score", file, line)
    return scores


def read_rows(file: str, wanted: str, least: int, limit: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a tab-separated table with their line numbers; `wanted` describes a row in errors."""
    for line, text in enumerate(_lines(file), 1):
        text = text.rstrip("\r\n")
        if not text or text[0] == "#":
            continue
        fields = text.split("\t")
        if not least <= len(fields) <= limit or "" in fields:
            raise InputError("bad-file", f"{file}, line {line}: {text[:80]!r} is not {wanted}")
        yield line, fields


def _lines(file: str) -> Iterator[str]:
    try:
        mode = os.stat(file).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # reading it may block or never end
            raise InputError(
                "unreadable-file", f"cannot read the graph in {file}: it is a pipe or a device, not a file"
            )
        with open(file, encoding="utf-8-sig") as text:
            yield from text
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read the graph in {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError("bad-file", f"{file} is not text in UTF-8: expected lines with tabs in them") from error


def _number(text: str, noun: str, file: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise InputError("bad-number", f"{file}, line {line}: {noun} is {text[:40]!r}; it must be a number")
    return value
