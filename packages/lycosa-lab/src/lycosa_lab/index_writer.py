"""Index writer: reads pages once, numbers them, resolves links and counts words.

Memory holds the URLs, 8 bytes per link, 6 per word, and the vocabulary; texts go to disk.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgpack
import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa import zstd
from lycosa.core.errors import InputError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Page
from lycosa.store.codec import pack_paths
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account
from lycosa_lab.corpus_index import COLUMNS, FACTS, FORMAT, NAMES, STEMS, TEXTS, CorpusIndex


@dataclass
class RecordedPage:
    """A page of a corpus, or a redirect to `target` (`page` is None)."""

    url: str
    page: Page | None = None
    target: str = ""
    classes: Sequence[str] = ()  # given by the source itself; a table of labels adds to them


@contextmanager
def unfinished_index(out: Path) -> Iterator[Path]:
    """Yield a temporary directory beside an index to write into; it is removed on failure."""
    _require_index_or_empty(out)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        yield unfinished
    except OSError as error:  # sources convert their reading errors, so this is a failed write
        raise StoreError(
            f"cannot write the index {out}: {error.strerror or error}; free some space, or choose another --out"
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # unless it was moved to `out`


def _require_index_or_empty(out: Path) -> None:
    """Raise InputError if a directory that would be replaced contains anything except an index."""
    if (out.exists() or out.is_symlink()) and not (out / FACTS).is_file():
        raise InputError("file-exists", f"{out} is not an index: choose another directory with --out")
    own = {FACTS, NAMES, TEXTS, STEMS, *(f"{name}.npy" for name in COLUMNS)}
    foreign = sorted(held.name for held in out.iterdir() if held.name not in own) if out.exists() else []
    if foreign:
        raise InputError("file-exists", f"{out} contains {foreign[0]}, not part of an index: move it, or change --out")


def write_index(
    pages: Iterable[RecordedPage],
    out: Path,
    *,
    source: str,
    labels: Mapping[str, Sequence[str]] | None = None,
    account: Account | None = None,
    progress: ProgressCallback = no_progress,
) -> CorpusIndex:
    """Read all pages and write the index atomically.

    Of several pages with the same URL the first counts. Links to a redirect lead to its target.
    """
    account = account or Account()
    out = Path(out)
    with unfinished_index(out) as unfinished:
        with open(unfinished / TEXTS, "wb") as texts:
            read = _read(pages, texts, labels or {}, account, progress)
        columns, links = _resolve_links(read, progress)
        columns |= {
            "text_start": np.frombuffer(read.text_start, np.int64),
            "term_start": np.frombuffer(read.term_start, np.int64),
            "term": np.frombuffer(read.term, np.uint32),
            "count": np.frombuffer(read.count, np.uint16),
            "simhash": np.frombuffer(read.simhash, np.uint64),
        }
        classes = _classes(read, columns)
        facts = {
            "source": source,
            "pages": len(read.names),
            **links,
            "words": len(read.words.terms),
            "classes": classes,
            "left_out": dict(account.left_out),
            "notes": account.notes,
        }
        return save_index(unfinished, out, columns, read.names, read.words.terms, facts, read.digest.digest())


class _IndexInput:
    """Pages read so far. Links are stored as hashes, since most lead out of the corpus."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.node_of: dict[int, int] = {}
        self.leads: dict[int, int] = {}
        self.words = Vocabulary()
        self.link, self.link_start = array("Q"), array("q", [0])
        self.text_start, self.term_start = array("q", [0]), array("q", [0])
        self.term, self.count, self.simhash = array("I"), array("H"), array("Q")
        self.digest = xxhash.xxh3_128()
        self.classes: list[Sequence[str]] = []


def _read(
    pages: Iterable[RecordedPage],
    texts: IO[bytes],
    labels: Mapping[str, Sequence[str]],
    account: Account,
    progress: ProgressCallback,
) -> _IndexInput:
    read, known = _IndexInput(), 0
    for recorded in pages:
        number = _hash(recorded.url)
        page = recorded.page
        if page is None:
            read.leads.setdefault(number, _hash(recorded.target))
            continue
        if number in read.node_of:
            account.left_out["pages recorded more than once"] += 1
            continue
        read.node_of[number] = len(read.names)
        read.names.append(recorded.url)
        links = page.links
        read.link.extend(map(_hash, links.urls))
        read.link_start.append(len(read.link))
        content = [page.title, page.marked, page.main, page.headings, page.lead, page.language, page.guessed]
        plain = msgpack.packb(
            [*content, links.anchors, links.contexts, links.rels, links.positions, *pack_paths(links.paths)],
            unicode_errors="replace",
        )
        read.digest.update(plain)
        packed = zstd.compress(plain, level=3)
        texts.write(packed)
        read.text_start.append(read.text_start[-1] + len(packed))
        reading = read.words.read(page)
        read.term.frombytes(reading.terms.ids.astype(np.uint32).tobytes())
        read.count.frombytes(reading.terms.counts.astype(np.uint16).tobytes())
        read.term_start.append(len(read.term))
        read.simhash.append(reading.simhash)
        given = labels.get(recorded.url, ())
        known += bool(given)
        read.classes.append([*recorded.classes, *given])
        progress("reading pages", len(read.names), 0)
    if not read.names:
        raise InputError("nothing-to-do", f"the corpus has no pages: {account.why() or 'the sources are empty'}")
    if len(labels) > known:
        account.left_out["labels of URLs that are not pages of the corpus"] += len(labels) - known
        if not known:
            raise InputError("unknown-page", f"none of {len(labels):,} labels belongs to a page: check their URLs")
    return read


def _hash(url: str) -> int:
    """Return a 64-bit hash; ten million URLs collide in three of a million corpora."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _resolve_links(read: _IndexInput, progress: ProgressCallback) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Resolve links to nodes: follow redirects, drop dead links and self-links, merge repeated ones."""
    nodes: dict[int, int] = dict(read.node_of)
    for number in read.leads:
        end = _redirect_target(number, read)
        if end >= 0:
            nodes.setdefault(number, end)
    known = np.fromiter(nodes.keys(), np.uint64, len(nodes))
    order = np.argsort(known)
    known, node = known[order], np.fromiter(nodes.values(), np.int32, len(nodes))[order]
    link = np.frombuffer(read.link, np.uint64)
    counts = {"links": len(link), "dead": 0, "to_itself": 0}
    slots, places, children = array("i"), array("i"), array("i")
    link_start, child_start = array("q", [0]), array("q", [0])
    for own, (first_link, last_link) in enumerate(zip(read.link_start, read.link_start[1:], strict=False)):
        wanted = link[first_link:last_link]
        place = np.minimum(known.searchsorted(wanted), len(known) - 1)
        targets = np.where(known[place] == wanted, node[place], -1)
        at = np.flatnonzero((targets >= 0) & (targets != own))
        counts["dead"] += int(np.count_nonzero(targets < 0))
        counts["to_itself"] += int(np.count_nonzero(targets == own))
        distinct, first, slot = np.unique(targets[at], return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        children.frombytes(distinct[order].astype(np.int32).tobytes())
        slots.frombytes(rank[slot].tobytes())
        places.frombytes(at.astype(np.int32).tobytes())
        link_start.append(len(slots))
        child_start.append(len(children))
        if not own & 1023:
            progress("resolving links", own, len(read.names))
    return {
        "link_start": np.frombuffer(link_start, np.int64),
        "link_slot": np.frombuffer(slots, np.int32),
        "link_at": np.frombuffer(places, np.int32),
        "child_start": np.frombuffer(child_start, np.int64),
        "child": np.frombuffer(children, np.int32),
    }, counts


def _redirect_target(number: int, read: _IndexInput) -> int:
    """Return the node where a redirect ends; -1 outside the corpus or in a loop."""
    seen: set[int] = set()
    while number in read.leads and number not in seen and number not in read.node_of:
        seen.add(number)
        number = read.leads[number]
    return read.node_of.get(number, -1)


def _classes(read: _IndexInput, columns: dict[str, NDArray[Any]]) -> list[str]:
    names = sorted({name for own in read.classes for name in own})
    number = {name: place for place, name in enumerate(names)}
    if names:
        start, of = array("q", [0]), array("i")
        for own in read.classes:
            of.extend(sorted({number[name] for name in own}))
            start.append(len(of))
        columns["class_start"] = np.frombuffer(start, np.int64)
        columns["class_of"] = np.frombuffer(of, np.int32)
    return names


def save_index(
    unfinished: Path,
    out: Path,
    columns: Mapping[str, NDArray[Any]],
    names: Iterable[str],
    stems: Sequence[str],
    facts: Mapping[str, Any],
    texts: bytes = b"",
) -> CorpusIndex:
    """Complete the unfinished directory and move it into place. Without `names`, nodes are named by their numbers.

    `texts` is a digest of the uncompressed texts, so that the fingerprint does not depend on the compressor's version.
    """
    start = array("q", [0])
    with open(unfinished / NAMES, "wb") as file:
        for name in names:
            start.append(start[-1] + file.write(name.encode("utf-8", "replace")))
    named = {"name_start": np.frombuffer(start, np.int64)} if len(start) > 1 else {}
    (unfinished / TEXTS).touch()
    (unfinished / STEMS).write_bytes(msgpack.packb(list(stems)) if stems else b"")
    digest = xxhash.xxh3_128()
    for name in sorted(COLUMNS):
        column = np.ascontiguousarray({**columns, **named}.get(name, ()), COLUMNS[name].kind)
        np.save(unfinished / f"{name}.npy", column)
        if name != "text_start":
            digest.update(name.encode())
            digest.update(column.view(np.uint8).data)
        (unfinished / f"{name}.spool").unlink(missing_ok=True)
    digest.update(texts)
    for file_name in (NAMES, STEMS):
        with open(unfinished / file_name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    digest.update("\n".join(facts.get("classes", [])).encode("utf-8", "replace"))
    header = {"format": FORMAT, "fingerprint": digest.hexdigest(), **facts}
    (unfinished / FACTS).write_text(json.dumps(header, indent=1), encoding="utf-8")
    _require_index_or_empty(out)
    old = unfinished.with_suffix(".old")
    if out.exists():
        out.rename(old)  # processes that have it open can continue to read it
    unfinished.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    return CorpusIndex.open(out)
