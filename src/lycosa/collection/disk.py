"""What a crawl takes on the disk, part by part, and what that is for each page."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import closing, suppress
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

LARGE = 1_000_000
"""Bytes of anything else in the directory that is named by itself: the log of requests, cold rows, shards."""


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
    sizes = {entry.name: _size(entry) for entry in directory.iterdir()}
    whole = _taken(sizes, NAME)
    archive = sizes.pop("archive", 0)
    parts = [Part("log", whole), *inside, Part("addresses, twice", 2 * names, "log")]
    parts.append(Part("columns, and room between rows", max(0, whole - bodies - 2 * names), "log"))
    parts += [Part("archive", archive), Part("responses and requests", min(records, archive), "archive")]
    parts.append(Part("other records and accompanying files", max(0, archive - records), "archive"))
    parts += [
        Part(name, sizes.pop(where, 0), cache=True) for name, where in (("snapshot", SNAPSHOT), ("view", shelf.NAME))
    ]
    parts.append(Part("search index", _taken(sizes, SEARCH), cache=True))
    parts += [Part(name, sizes.pop(name)) for name in sorted(sizes) if sizes[name] >= LARGE]
    parts.append(Part("other files", sum(sizes.values())))
    return Disk(int(pages), parts)


def _taken(sizes: dict[str, int], name: str) -> int:
    """What a database takes, with the files that SQLite has beside it; they are no longer among the others."""
    return sum(sizes.pop(each) for each in [each for each in sizes if each.startswith(name)])


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a directory; what a link leads to is not counted."""
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    total = 0
    for file in files:
        with suppress(FileNotFoundError):  # gone meanwhile
            about = file.lstat()
            total += about.st_size if stat.S_ISREG(about.st_mode) else 0
    return total


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
