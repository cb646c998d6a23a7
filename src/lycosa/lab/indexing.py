"""Make an index: read pages once, number them, resolve their links, count their words, write it all down."""

from __future__ import annotations

import json
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgpack
import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.lab.index import COLUMNS, FACTS, FORMAT, NAMES, STEMS, TEXTS, Index
from lycosa.text.vocabulary import Vocabulary

Tell = Callable[[str, int, int], None]


@dataclass
class Recorded:
    """One page of a corpus, or a redirect (`page` is None, `target` is where it leads)."""

    url: str
    page: Page | None = None
    target: str = ""
    classes: Sequence[str] = ()
    """Those that the source itself knows; labels from a file come on top."""


@dataclass
class Account:
    """What was left out, and why; what should be said."""

    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def write_index(
    pages: Iterable[Recorded],
    out: Path,
    *,
    source: str,
    labels: Mapping[str, Sequence[str]] | None = None,
    account: Account | None = None,
    tell: Tell = lambda what, done, total: None,
) -> Index:
    """Read all pages and write the index, all or nothing: it is made beside its place, and moved there when complete.

    Of several pages with one address the first counts. Links to a redirect lead to where that leads.
    """
    account = account or Account()
    out = Path(out)
    beside = out.with_name(f".{out.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        with open(beside / TEXTS, "wb") as texts:
            read = _read(pages, texts, labels or {}, account, tell)
        columns, links = _linked(read)
        columns |= {
            "text_start": np.array(read.text_start, np.int64),
            "term_start": np.array(read.term_start, np.int64),
            "term": np.array(read.term, np.uint32),
            "count": np.array(read.count, np.uint16),
            "simhash": np.array(read.simhash, np.uint64),
        }
        names = [read.names[known] for known in read.node_of]
        classes = _classes(read, columns)
        facts = {
            "source": source,
            "pages": len(names),
            **links,
            "words": len(read.words.terms),
            "classes": classes,
            "left_out": dict(account.left_out),
            "notes": account.notes,
        }
        return save_index(beside, out, columns, names, read.words.terms, facts)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


class _Read:
    """What has been read so far. Addresses get a number when they are first seen, as a page or as a link."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.names: list[str] = []
        self.node_of: dict[int, int] = {}
        """Numbers of addresses that are pages -> nodes, in order."""
        self.leads: dict[int, int] = {}
        """Redirects."""
        self.words = Vocabulary()
        self.links: list[NDArray[np.int64]] = []
        self.text_start, self.term_start = array("q", [0]), array("q", [0])
        self.term, self.count, self.simhash = array("I"), array("H"), array("Q")
        self.classes: list[Sequence[str]] = []

    def of(self, url: str) -> int:
        number = self.number.get(url)
        if number is None:
            number = self.number[url] = len(self.names)
            self.names.append(url)
        return number


def _read(
    pages: Iterable[Recorded], texts: IO[bytes], labels: Mapping[str, Sequence[str]], account: Account, tell: Tell
) -> _Read:
    read, packer = _Read(), zstandard.ZstdCompressor(3)
    for recorded in pages:
        number = read.of(recorded.url)
        page = recorded.page
        if page is None:
            read.leads.setdefault(number, read.of(recorded.target))
            continue
        if number in read.node_of:
            account.left_out["pages recorded more than once"] += 1
            continue
        read.node_of[number] = len(read.node_of)
        links = page.links
        read.links.append(np.array([read.of(url) for url in links.urls], np.int64))
        packed = packer.compress(
            msgpack.packb(
                [
                    page.title,
                    page.marked,
                    page.language,
                    page.guessed,
                    links.anchors,
                    links.contexts,
                    links.rels,
                    links.positions,
                ]
            )
        )
        texts.write(packed)
        read.text_start.append(read.text_start[-1] + len(packed))
        reading = read.words.read(page)
        read.term.extend(reading.terms.ids.tolist())
        read.count.extend(reading.terms.counts.tolist())
        read.term_start.append(len(read.term))
        read.simhash.append(reading.simhash)
        read.classes.append([*recorded.classes, *labels.get(recorded.url, ())])
        tell("reading pages", len(read.node_of), 0)
    if not read.node_of:
        why = ", ".join(f"{count:,} {reason}" for reason, count in account.left_out.most_common(3))
        raise InputError(f"the corpus has no pages: {why or 'nothing with a web address and HTML or text was found'}")
    unknown = len([url for url in labels if read.number.get(url) not in read.node_of])
    if unknown:
        account.left_out["labels of addresses that are no pages of the corpus"] += unknown
        if unknown == len(labels):
            raise InputError(
                f"none of the {len(labels):,} labels is of a page of the corpus: are the addresses written the same way?"
            )
    return read


def _linked(read: _Read) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Links as nodes: redirects followed, dead ones and those to the page itself left out; children each once."""
    node = np.full(len(read.names), -1, np.int64)
    for number, known in read.node_of.items():
        node[number] = known
    for number in read.leads:
        if node[number] < 0:
            at, seen = number, set()
            while at in read.leads and at not in seen:
                seen.add(at)
                at = read.leads[at]
            node[number] = node[at] if at in read.node_of else -1
    counts: Counter[str] = Counter()
    slots, places, children, link_start, child_start = [], [], [], [0], [0]
    for own, numbers in enumerate(read.links):
        targets = node[numbers]
        at = np.flatnonzero((targets >= 0) & (targets != own))
        counts["links"] += len(targets)
        counts["dead"] += int(np.count_nonzero(targets < 0))
        counts["to_itself"] += int(np.count_nonzero(targets == own))
        found, first, slot = np.unique(targets[at], return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        children.append(found[order].astype(np.int32))
        slots.append(rank[slot])
        places.append(at.astype(np.int32))
        link_start.append(link_start[-1] + len(at))
        child_start.append(child_start[-1] + len(found))
    return {
        "link_start": np.array(link_start, np.int64),
        "link_slot": np.concatenate([np.zeros(0, np.int32), *slots]),
        "link_at": np.concatenate([np.zeros(0, np.int32), *places]),
        "child_start": np.array(child_start, np.int64),
        "child": np.concatenate([np.zeros(0, np.int32), *children]),
    }, dict(counts)


def _classes(read: _Read, columns: dict[str, NDArray[Any]]) -> list[str]:
    """The classes of each node as numbers; their names in alphabetical order."""
    names = sorted({name for told in read.classes for name in told})
    number = {name: place for place, name in enumerate(names)}
    told = [sorted({number[name] for name in one}) for one in read.classes]
    if names:
        columns["class_start"] = np.concatenate([[0], np.cumsum([len(one) for one in told])]).astype(np.int64)
        columns["class_of"] = np.array([place for one in told for place in one], np.int32)
    return names


def save_index(
    beside: Path,
    out: Path,
    columns: Mapping[str, NDArray[Any]],
    names: Iterable[str],
    stems: Sequence[str],
    facts: Mapping[str, Any],
) -> Index:
    """Write what is missing into the unfinished directory, and move it into its place."""
    start = array("q", [0])
    with open(beside / NAMES, "wb") as file:
        for name in names:
            start.append(start[-1] + file.write(name.encode("utf-8", "replace")))
    whole = {name: np.zeros(0, kind) for name, kind in COLUMNS.items()} | dict(columns)
    if len(start) > 1:
        whole["name_start"] = np.array(start, np.int64)
    (beside / TEXTS).touch()
    (beside / STEMS).write_bytes(msgpack.packb(list(stems)) if stems else b"")
    digest = xxhash.xxh3_128()
    for name in sorted(COLUMNS):
        column = np.ascontiguousarray(whole[name], COLUMNS[name])
        np.save(beside / f"{name}.npy", column)
        digest.update(name.encode())
        digest.update(column.view(np.uint8))
    for file_name in (NAMES, TEXTS, STEMS):
        with open(beside / file_name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    digest.update("\n".join(facts.get("classes", [])).encode())
    told = {"format": FORMAT, "fingerprint": digest.hexdigest(), **facts}
    (beside / FACTS).write_text(json.dumps(told, indent=1), encoding="utf-8")
    if out.exists():
        if not (out / FACTS).is_file():
            raise InputError(f"{out} is there already and is no index: name another place with --out")
        shutil.rmtree(out)
    beside.rename(out)
    return Index.open(out)
