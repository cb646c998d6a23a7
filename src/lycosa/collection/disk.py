"""What a crawl takes on the disk, part by part, and what that is for each page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lycosa.collection import shelf
from lycosa.core.errors import StoreError
from lycosa.core.types import Links, Terms, Visit
from lycosa.store import codec
from lycosa.store.log import NAME, PAGES, SqliteLog
from lycosa.store.search import NAME as SEARCH
from lycosa.store.snapshots import NAME as SNAPSHOT

SAMPLE = 400
"""Pages of which it is found out what their parts take: a visit is compressed as a whole."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes room."""

    name: str
    size: int
    """Bytes."""
    of: str = ""
    """What it is a part of."""
    cache: bool = False
    """Whether it may be deleted, as it can be made again."""


@dataclass(frozen=True, slots=True)
class Disk:
    """All parts, and how many pages there are."""

    pages: int
    parts: list[Part]

    @property
    def size(self) -> int:
        """Bytes, all in all."""
        return sum(part.size for part in self.parts if not part.of)


def measure(directory: Path) -> Disk:
    """Look at the files of a crawl, and into its log."""
    path = directory / NAME
    if not path.exists():
        raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
    with closing(SqliteLog(path, readonly=True)) as log:
        pages = next(log.rows("COUNT(*)", PAGES))[0]
        columns = "TOTAL(LENGTH(body)), TOTAL(LENGTH(node)), TOTAL(length)"
        bodies, names, records = (int(value) for value in next(log.rows(columns, order="1")))
        inside = list(_inside(log, bodies))
    whole = _size(directory, f"{NAME}*")
    archive = _size(directory / "archive", "*")
    parts = [Part("log", whole), *inside, Part("addresses, twice", 2 * names, "log")]
    parts.append(Part("columns, and room between rows", max(0, whole - bodies - 2 * names), "log"))
    parts += [Part("archive", archive), Part("responses and requests", min(records, archive), "archive")]
    parts.append(Part("other records, and files beside them", max(0, archive - records), "archive"))
    for name, where in (("snapshot", SNAPSHOT), ("view", shelf.NAME)):
        parts.append(Part(name, _size(directory / where, "*"), cache=True))
    parts.append(Part("search index", _size(directory, f"{SEARCH}*"), cache=True))
    return Disk(int(pages), parts)


def _size(directory: Path, pattern: str) -> int:
    return sum(file.lstat().st_size for file in directory.glob(pattern) if file.is_file())


def _inside(log: SqliteLog, bodies: int) -> Iterator[Part]:
    """What the visits are made of: of a sample of pages, how much shorter they would be without a part."""
    seqs = np.array([seq for (seq,) in log.rows("seq", PAGES)], np.int64)
    chosen = seqs[np.linspace(0, len(seqs) - 1, min(SAMPLE, len(seqs))).astype(int)] if len(seqs) else seqs
    visits = [log.visit(seq) for seq in chosen.tolist()]
    whole = sum(len(codec.encode_visit(visit)) for visit in visits)
    taken = {name: sum(whole_ - without for whole_, without in _shorter(visits, name)) for name in _WITHOUT}
    scale = bodies / whole if whole else 0.0
    for name, size in taken.items():
        yield Part(name, round(scale * size), "log")
    yield Part("the rest of visits", max(0, round(bodies - scale * sum(taken.values()))), "log")


def _shorter(visits: list[Visit], name: str) -> Iterator[tuple[int, int]]:
    for visit in visits:
        yield len(codec.encode_visit(visit)), len(codec.encode_visit(_WITHOUT[name](visit)))


def _without_texts(visit: Visit) -> Visit:
    nothing = [""] * len(visit.links)
    return replace(visit, links=replace(visit.links, anchors=nothing, contexts=nothing))


def _without_addresses(visit: Visit) -> Visit:
    return replace(visit, links=replace(visit.links, urls=[""] * len(visit.links)))


def _without_places(visit: Visit) -> Visit:
    links = visit.links
    return replace(visit, links=Links(links.urls, links.anchors, links.contexts, links.rels, [0] * len(links)))


def _without_words(visit: Visit) -> Visit:
    return replace(visit, terms=Terms())


_WITHOUT = {
    "words of links": _without_texts,
    "addresses of links": _without_addresses,
    "what is said of links, their places": _without_places,
    "words of pages": _without_words,
}
"""A visit without a part of it."""
