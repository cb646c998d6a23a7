"""An indexed corpus: memory-mapped columns that make a simulated visit cost a few slices.

Nodes are numbered from 0. Each has a name, its links to other nodes in page order (dead links and self-links are only
counted), its unique children, words, text and classes. A graph without text has scores of nodes and links instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import numpy as np
from numpy.typing import NDArray

from lycosa import zstd
from lycosa.core.errors import InputError
from lycosa.core.types import Links, Page, Terms
from lycosa.store.codec import unpack_paths
from lycosa.store.log import host_of

FORMAT = 3
FACTS = "index.json"
AGAIN = "make one with 'lycosa lab index'"

NAMES, TEXTS, STEMS = "names.bin", "texts.bin", "stems.bin"


class Column(NamedTuple):
    """Type of a column; `into` names the column (or file) that its entries, one per node, are offsets into."""

    kind: str
    into: str = ""
    alike: str = ""  # column of the same length, unless this one is empty


# Graphs have no texts, terms or link slots; corpora of pages have no scores.
COLUMNS: dict[str, Column] = {
    "name_start": Column("<i8", NAMES),
    "link_start": Column("<i8", "link_slot"),
    "link_slot": Column("<i4"),  # position of each link's child among the children of its page
    # position of each link among all links of its page, including dead ones
    "link_at": Column("<i4", alike="link_slot"),
    "child_start": Column("<i8", "child"),
    "child": Column("<i4"),  # unique link targets of each node, in page order
    "text_start": Column("<i8", TEXTS),
    "term_start": Column("<i8", "term"),
    "term": Column("<u4"),
    "count": Column("<u2", alike="term"),
    "simhash": Column("<u8"),
    "score": Column("<f4"),  # true scores of nodes
    "alpha": Column("<f4", alike="child"),  # scores of links, in the order of `child`
    "class_start": Column("<i8", "class_of"),
    "class_of": Column("<i4"),  # class numbers of each node
}


@dataclass(frozen=True)
class CorpusIndex:
    """A corpus in a directory. Its columns are attributes, as named in COLUMNS.

    >>> index = CorpusIndex.of({"a": ["b", "c"], "c": ["a"]}, score={"c": 1.0})
    >>> len(index), index.names[2], index.children(0).tolist(), index.score.tolist()
    (3, 'c', [1, 2], [0.0, 0.0, 1.0])
    """

    columns: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]  # source, fingerprint, pages, links, dead, classes ...; see index_writer.py
    names_: NDArray[np.uint8]
    texts_: NDArray[np.uint8]
    stems_: bytes = b""
    path: Path | None = None

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name in COLUMNS:
            return self.columns[name]
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.columns["child_start"]) - 1

    def __reduce__(self) -> Any:
        if self.path is not None:
            return CorpusIndex.open, (self.path,)
        return CorpusIndex, (self.columns, self.facts, self.names_, self.texts_, self.stems_)

    @property
    def fingerprint(self) -> str:
        return str(self.facts.get("fingerprint", ""))

    @property
    def report_facts(self) -> dict[str, Any]:
        """Facts for reports: all except the list of classes, which may be long."""
        return {name: fact for name, fact in self.facts.items() if name != "classes"}

    @property
    def has_text(self) -> bool:
        return len(self.columns["text_start"]) > 0

    @cached_property
    def names(self) -> NodeNames:
        return NodeNames(self.columns["name_start"], self.names_, len(self))

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def hosts(self) -> NDArray[np.int32]:
        """Host number of each node; -1 if its name is not a URL."""
        number: dict[str, int] = {}
        hosts = map(host_of, self.names)
        return np.array([number.setdefault(host, len(number)) if host else -1 for host in hosts], np.int32)

    @cached_property
    def stems(self) -> list[str]:
        try:
            return list(msgpack.unpackb(self.stems_)) if self.stems_ else []
        except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
            raise InputError("bad-index", f"the words of the index {self.path} can't be read: {AGAIN}") from error

    @cached_property
    def classes(self) -> list[str]:
        return list(self.facts.get("classes", []))

    def children(self, node: int) -> NDArray[np.int32]:
        start = self.columns["child_start"]
        nodes: NDArray[np.int32] = self.columns["child"][start[node] : start[node + 1]]
        return nodes

    def strongest(self, node: int, links: NDArray[Any]) -> NDArray[Any]:
        """Return the maximum of `links` (a number per link of a node) for each of its children."""
        slots, start, first = (self.columns[name] for name in ("link_slot", "child_start", "link_start"))
        children = start.item(node + 1) - start.item(node)
        if not len(slots) or children == len(links):
            return links
        largest = np.full(children, -np.inf, links.dtype)
        np.maximum.at(largest, slots[first.item(node) : first.item(node + 1)], links)
        return largest

    def terms(self, node: int) -> Terms:
        start = self.columns["term_start"]
        if not len(start):
            return Terms()
        here = slice(start[node], start[node + 1])
        return Terms(np.array(self.columns["term"][here]), np.array(self.columns["count"][here]))

    def page(self, node: int) -> Page:
        """Return the page as a space would, with only the links that lead to nodes of the corpus."""
        start = self.columns["text_start"]
        children = self.children(node)
        slots = self.columns["link_slot"]
        here = slice(self.columns["link_start"][node], self.columns["link_start"][node + 1])
        targets = children[slots[here]] if len(slots) else children
        urls = [self.names[target] for target in targets.tolist()]
        if not len(start):
            data: dict[str, Any] = {"beta": float(self.columns["score"][node]) if len(self.columns["score"]) else 0.0}
            first = slice(self.columns["child_start"][node], self.columns["child_start"][node + 1])
            link_relevances = self.columns["alpha"]
            data["alpha"] = link_relevances[first].tolist() if len(link_relevances) else [0.0] * len(urls)
            return Page("ok", links=Links.to(*urls), data=data)
        packed = self.texts_[start[node] : start[node + 1]].tobytes()
        try:
            title, marked, main, headings, lead, language, guessed, anchors, contexts, rels, positions, *more = (
                msgpack.unpackb(zstd.decompress(packed, 256 * 2**20))
            )
            at = self.columns["link_at"][here].tolist()
            paths = unpack_paths(*more)
            anchors, contexts, rels, positions = (
                [column[place] for place in at] for column in (anchors, contexts, rels, positions)
            )
            paths = [paths[place] for place in at] if paths else []
        except (zstd.ZstdError, ValueError, TypeError, IndexError, msgpack.UnpackException) as error:
            raise InputError("bad-index", f"cannot read page {node} of {self.path} ({error}): {AGAIN}") from error
        links = Links(urls, anchors, contexts, rels, positions, np.zeros(len(urls), np.float32), paths=paths)
        page = Page("ok", 200, title=title, marked=marked, main=main, headings=headings, lead=lead, links=links)
        page.language, page.guessed, page.size, page.node = language, guessed, len(marked), self.names[node]
        return page

    def of_class(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the nodes of a class and of the classes below it: Science includes Science/Physics."""
        wanted = [number for number, known in enumerate(self.classes) if f"{known}/".startswith(f"{name}/")]
        member = np.zeros(len(self), np.bool_)
        if len(self.columns["class_start"]) and wanted:
            node = np.repeat(np.arange(len(self)), np.diff(self.columns["class_start"]))
            member[node[np.isin(self.columns["class_of"], wanted)]] = True
        return member

    def sizes(self) -> dict[str, int]:
        sizes = dict.fromkeys(self.branches(), 0)
        above = [_branches(name) for name in self.classes]
        for first, last in pairwise(self.columns["class_start"].tolist()):
            own = self.columns["class_of"][first:last].tolist()
            for branch in above[own[0]] if len(own) == 1 else {branch for number in own for branch in above[number]}:
                sizes[branch] += 1
        return sizes

    def branches(self) -> list[str]:
        return sorted({branch for name in self.classes for branch in _branches(name)})

    @classmethod
    def open(cls, path: str | Path) -> CorpusIndex:
        """Open an index written by `lycosa lab index`."""
        path = Path(path)
        try:
            facts = json.loads((path / FACTS).read_bytes())
            if not isinstance(facts, dict):
                raise ValueError(f"{FACTS} contains no facts")
            if facts.get("format") != FORMAT:
                raise InputError("unknown-version", f"{path} is an index of another version: {AGAIN}")
            columns = {name: _column(path, name, column.kind) for name, column in COLUMNS.items()}
            index = cls(
                columns, facts, map_file(path / NAMES), map_file(path / TEXTS), (path / STEMS).read_bytes(), path
            )
            index._check()
            return index
        except (FileNotFoundError, NotADirectoryError) as error:
            name = Path(error.filename or path).name
            raise InputError("not-an-index", f"{path} is not an index ({name} is missing): {AGAIN}") from error
        except (OSError, EOFError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
            raise InputError("bad-index", f"the index {path} can't be read ({error}): {AGAIN}") from error

    def _check(self) -> None:
        """Raise ValueError if column sizes are inconsistent, so that a truncated file is not read as empty pages."""
        sizes = {name: len(column) for name, column in self.columns.items()}
        sizes |= {NAMES: len(self.names_), TEXTS: len(self.texts_), "link_slot": sizes["link_slot"] or sizes["child"]}
        for name, (_, into, alike) in COLUMNS.items():
            column = self.columns[name]
            if into and (sizes[into] or len(column)):
                fits = len(column) == len(self) + 1 and (column[0], column[-1]) == (0, sizes[into])
            else:
                expected = len(self.columns[alike]) if alike else len(self)
                fits = not len(column) or len(column) == expected or not (alike or name in ("score", "simhash"))
            if not fits:
                raise ValueError(f"{name} has another length than the other columns")

    @classmethod
    def of(
        cls,
        links: Mapping[str, Sequence[str]],
        score: Mapping[str, float] | None = None,
        alpha: Mapping[tuple[str, str], float] | None = None,
    ) -> CorpusIndex:
        """Build a small graph in memory; nodes are numbered in order of appearance."""
        number: dict[str, int] = {}
        for source, targets in links.items():
            for name in (source, *targets):
                number.setdefault(name, len(number))
        for name in score or {}:
            number.setdefault(name, len(number))
        known = {source: [t for t in dict.fromkeys(targets) if t != source] for source, targets in links.items()}
        names = list(number)
        degree = [len(known.get(name, ())) for name in names]
        start = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
        encoded = [name.encode() for name in names]
        columns = {name: np.zeros(0, column.kind) for name, column in COLUMNS.items()} | {
            "name_start": np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.int64),
            "link_start": start,
            "child_start": start,
            "child": np.array([number[t] for name in names for t in known.get(name, ())], np.int32),
        }
        if score is not None:
            columns["score"] = np.array([score.get(name, 0.0) for name in names], np.float32)
        if alpha is not None:
            columns["alpha"] = np.array(
                [alpha.get((name, t), 0.0) for name in names for t in known.get(name, ())], np.float32
            )
        facts = {"source": "a graph in memory", "pages": len(names)}
        return cls(columns, facts, np.frombuffer(b"".join(encoded), np.uint8), np.zeros(0, np.uint8))


def _branches(name: str) -> list[str]:
    """Return a class preceded by its ancestors: Science, Science/Physics, Science/Physics/Optics."""
    parts = name.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


class NodeNames(Sequence[str]):
    """Names of all nodes, decoded on demand; without stored names, a node is named by its number."""

    def __init__(self, start: NDArray[np.int64], packed: NDArray[np.uint8], count: int) -> None:
        self._start, self._packed, self._count = start, packed, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, node: Any) -> Any:
        if isinstance(node, slice):
            return [self[one] for one in range(*node.indices(self._count))]
        if not 0 <= node < self._count:
            if not -self._count <= node < 0:
                raise IndexError(f"node {node} does not exist: the corpus has {self._count:,}")
            node += self._count
        if not len(self._start):
            return str(node)
        return self._packed[self._start[node] : self._start[node + 1]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        if not len(self._start):
            yield from map(str, range(self._count))
            return
        whole = self._packed.tobytes()
        ends = self._start.tolist()
        for first, last in pairwise(ends):
            yield whole[first:last].decode("utf-8", "replace")


def _column(path: Path, name: str, kind: str) -> NDArray[Any]:
    column: Any = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    if isinstance(column, np.ndarray) and column.dtype == np.dtype(kind) and column.ndim == 1:
        return column.view(np.ndarray)
    if not isinstance(column, np.ndarray):
        column.close()  # an archive of arrays would keep its file open
    raise ValueError(f"{name} is not a column of {kind}")


def map_file(path: Path, kind: Any = np.uint8) -> NDArray[Any]:
    """Map a file as one column; an empty file, which can't be mapped, gives an empty array."""
    return np.memmap(path, kind, "r").view(np.ndarray) if path.stat().st_size else np.zeros(0, kind)
