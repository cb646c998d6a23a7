"""Split a common log into shards, and merge shards into a common log.

A crawl is split again for a cluster of another size, or if it had no shards before. Each visit goes to the shard that
now owns its node, with words renumbered for that shard, and links to other shards' hosts are marked as sent and
confirmed. Archive positions remain in the common log; shards begin their own archives. New shards are created beside
the present ones and then replace them, so a crash leaves the crawl unchanged. Splitting into 0 shards gives a plain
crawl, which can be refreshed and watched, and split again when it is resumed.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import StoreError
from lycosa.core.types import ArchivePlace, Event, LinkBatch, ModelUpdate, Seed, Setting, Terms, Visit
from lycosa.judges.base import RELEVANCES
from lycosa.store.cdxj import index_path
from lycosa.store.directory import SHARDS, Directory, shard_directories
from lycosa.store.log import NAME, PAGES, RELEVANCE_NOW, UNIQUE_PAGES, VERSIONS, SqliteLog
from lycosa.traps.copies import DuplicateIndex
from lycosa_cluster.outbox import CURSORS, Scope, is_linking, messages
from lycosa_cluster.owning import Owners

NEW, OLD = f"{SHARDS}.new", f"{SHARDS}.old"
PREVIOUS_SHARDS = "before"  # in SPLIT: number of shards before they were joined
Make = Callable[[Path], SqliteLog]  # function that opens a shard's log in its directory


def split(directory: Path, log: SqliteLog, shards: int, scope: Scope, make: Make) -> None:
    """Split the common log into new shards that replace the present ones, which must be merged completely.

    With 0 shards the previous number is recorded.
    """
    try:
        finish_replacing(directory)
        shutil.rmtree(directory / NEW, ignore_errors=True)
        (directory / NEW).mkdir()
        with ExitStack() as files:
            parts = [_NewShard(number, make(directory / NEW / f"{number:03d}")) for number in range(shards)]
            for part in parts:
                files.callback(part.log.close)
                files.enter_context(part.log.batch())
            sharing = _Splitter(parts, scope)
            for event in log if parts else ():
                sharing.distribute(event)
            sharing.finish()
        ends = {str(part.number): part.end for part in parts}
        facts = {"split": uuid.uuid4().hex, **ends} if parts else {PREVIOUS_SHARDS: shard_count(directory)}
        (directory / NEW / SPLIT).write_text(json.dumps(facts), "utf-8")
        _collect_archives(directory)
        if (directory / SHARDS).exists():
            (directory / SHARDS).rename(directory / OLD)
        (directory / NEW).rename(directory / SHARDS)
        finish_replacing(directory)
    except OSError as error:
        raise StoreError(f"cannot split {directory} into {shards} shards: {error.strerror}") from error


def finish_replacing(directory: Path) -> None:
    """Finish an interrupted replacement of shards."""
    if (directory / OLD).exists() and not (directory / SHARDS).exists():
        place = NEW if (directory / NEW / SPLIT).exists() else OLD
        (directory / place).rename(directory / SHARDS)
    shutil.rmtree(directory / OLD, ignore_errors=True)


def join(directory: Path) -> None:
    """Convert a crawl with shards to a plain one; everything recorded must have been merged before."""
    finish_replacing(directory)
    if not (there := shard_count(directory)):
        return
    held = Directory.open(directory)
    try:
        with closing(held.log()) as log:
            Merger(directory, log, there, held.options.traps).merge_new()
            split(directory, log, 0, lambda node, depth: True, SqliteLog)
    finally:
        held.close()


def merge_shards(directory: Path) -> None:
    """Merge the shards of a crawl that is not running, for instance after a kill."""
    finish_replacing(directory)
    if there := shard_count(directory):
        with closing(Directory.open(directory)) as held, closing(held.log()) as log:
            Merger(directory, log, there, held.options.traps).merge_new()


def previous_shard_count(directory: Path) -> int:
    """Return the number of shards, or that before they were joined; 0 if there never were any."""
    file = directory / SHARDS / SPLIT
    if there := shard_count(directory):
        return there
    return int(json.loads(file.read_text("utf-8")).get(PREVIOUS_SHARDS, 0)) if file.exists() else 0


class _NewShard:
    """A shard that is being written."""

    def __init__(self, number: int, log: SqliteLog) -> None:
        self.number, self.log = number, log
        self.end = self.picks = self.last = 0
        self._words: dict[int, int] = {}  # word number in the common log -> own number

    def append(self, visit: Visit, names: list[str]) -> int:
        """Append a visit of this shard; return its sequence number."""
        new: list[str] = []
        for word in visit.terms.ids.tolist():
            if word not in self._words:
                self._words[word] = len(self._words)
                new.append(names[word])
        ids = np.array([self._words[word] for word in visit.terms.ids.tolist()], np.uint32)
        order = ids.argsort(kind="stable")
        marks = visit.terms.marks[order] if len(visit.terms.marks) else visit.terms.marks
        terms = Terms(ids[order], visit.terms.counts[order], new, marks)
        self.picks += 1
        self.last = self.log.append(replace(visit, terms=terms, pick=self.picks, place=ArchivePlace()))
        return self.last


class _Splitter:
    """Distributor of the common log's events to new shards."""

    def __init__(self, parts: list[_NewShard], scope: Scope) -> None:
        self.parts, self.scope, self.owners = parts, scope, Owners(len(parts))
        self._names: list[str] = []
        self._depths: dict[str, int] = {}
        self._seeds: set[str] = set()

    def distribute(self, event: Event) -> None:
        """Append an event to the shards that need it."""
        if isinstance(event, Seed):
            self._depths[event.node] = 0
            self._seeds.add(event.node)
            self.parts[self.owners.of(event.node)].log.append(event)
        elif isinstance(event, Setting) and event.key in SHARED_SETTINGS:
            for part in self.parts:
                part.log.append(event)
        elif isinstance(event, Visit):
            self._names += event.terms.new
            owner = self.owners.of(event.node)
            number = self.parts[owner].append(event, self._names)
            if is_linking(event):
                self._send(event, owner, number)

    def _send(self, visit: Visit, owner: int, number: int) -> None:
        depth, is_seed = self._depths.get(visit.node, 0), visit.node in self._seeds
        further = depth + (visit.outcome != "redirect")
        for url in visit.links.urls:
            self._depths[url] = min(self._depths.get(url, further), further)
        if is_seed and visit.outcome == "redirect":
            self._seeds.update(visit.links.urls[:1])
        sent = messages(visit, owner, number, self.owners, self.scope, depth=depth, seed=is_seed, sums=[])
        for receiver, inbound in sent.items():
            self.parts[receiver].log.append(LinkBatch([inbound]))

    def finish(self) -> None:
        """Mark all links as sent and confirmed."""
        for part in self.parts:
            if part.last:
                cursors = {str(other.number): part.last for other in self.parts if other is not part}
                part.log.append(Setting(CURSORS, cursors))
            part.end = part.log.end()


def _collect_archives(directory: Path) -> None:
    """Move the shards' archive files to the crawl's archive, replacing symbolic links by hard links."""
    for file in (directory / SHARDS).glob("*/archive/*"):
        if not file.is_file():
            continue
        place = directory / "archive" / file.name
        if place.exists() and not place.is_symlink():
            continue
        second = place.with_name(f"{place.name}.new")
        second.unlink(missing_ok=True)
        try:
            os.link(file, second)
        except OSError:  # the file system does not support hard links
            shutil.copy2(file, second)
        second.replace(place)


# The common log is that of the crawl's own directory, which all readers use. Visits are merged in the order in which
# they ended, as far as all shards have progressed. Words are renumbered; archive files stay in place with links in the
# crawl's archive. Messages between shards and their model updates are not merged, but the resulting relevances are.

MERGED = "merged"  # setting: position up to which each shard's log is merged
SPLIT = "split.json"  # file with the positions in the shards' logs after splitting
PAGES_PER_QUERY = 500  # maximum pages per query
SHARED_SETTINGS = ("learned", "threshold", "probability")  # settings that are the same for all shards


def shard_path(directory: Path, number: int) -> Path:
    return directory / SHARDS / f"{number:03d}"


def shard_count(directory: Path) -> int:
    """Return the number of shards of a directory; 0 for a plain crawl."""
    return len(shard_directories(directory))


def make_shards(directory: Path, count: int) -> None:
    """Create the directories of all shards atomically."""
    new = directory / f"{SHARDS}.new"
    for number in range(count):
        (new / shard_path(Path(), number).name).mkdir(parents=True, exist_ok=True)
    new.rename(directory / SHARDS)


def _split(directory: Path) -> dict[str, Any]:
    """Return the positions at which the logs of split shards ended after splitting."""
    file = directory / SHARDS / SPLIT
    return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}


class Merger:
    """Merges shards into the log of a directory; the caller must hold its lock."""

    def __init__(self, directory: Path, log: SqliteLog, shards: int, traps: bool = True) -> None:
        self.directory, self.log, self.shards = directory, log, shards
        cursors, split = log.setting(MERGED, {}), _split(directory)
        if split.get("split") != cursors.get("split"):  # these shards were created by splitting this log
            cursors = split
        self._split = {"split": split["split"]} if "split" in split else {}
        self.cursors = {shard: int(cursors.get(str(shard), 0)) for shard in range(shards)}
        self._number: dict[str, int] = {}  # number of each word in this log
        self._words: dict[int, list[int]] = {}  # by shard: this log's numbers of its words
        self._missing_words: list[str] = []  # numbered words that this log lacks, added to the next visit
        self._picks = 0
        self._linked: set[str] = set()
        self._settings: dict[str, Any] = {key: log.setting(key, None) for key in SHARED_SETTINGS}
        self._copies = DuplicateIndex() if traps else None
        self._original_of: dict[str, str] = {}  # duplicate -> original, which any shard may have
        self._own_originals: list[str] = []  # pages that their own shard considers originals
        for visit in log.visits():
            self._picks = max(self._picks, visit.pick)
            for stem in visit.terms.new:
                self._number.setdefault(stem, len(self._number))
            if self._copies is not None:
                self._copies.learn(visit)
                self._remember_duplicate(visit)
        self._settle_at = self._next_settle()
        for shard in range(shards):
            self._words[shard] = []
            if self.cursors[shard]:
                with closing(self._open(shard)) as own:
                    for visit in own.visits("seq <= ?", given=(self.cursors[shard],)):
                        self._words[shard] += [self._numbered(stem) for stem in visit.terms.new]
                        if visit.is_page and not visit.same_as and visit.node in self._original_of:
                            self._own_originals.append(visit.node)

    def _numbered(self, stem: str) -> int:
        """Return the number of a merged word; this log may lack it after a repair."""
        if stem not in self._number:
            self._missing_words.append(stem)
        return self._number.setdefault(stem, len(self._number))

    def _open(self, shard: int) -> SqliteLog:
        return SqliteLog(shard_path(self.directory, shard) / NAME, readonly=True)

    def merge_new(self) -> int:
        """Merge new events; return their number."""
        logs = {n: self._open(n) for n in range(self.shards) if (shard_path(self.directory, n) / NAME).exists()}
        try:
            ends = {shard: log.end() for shard, log in logs.items()}
            count = 0
            with self.log.batch():
                news = (self._new_events(n, log, ends[n]) for n, log in logs.items())
                for _, shard, event in merge(*news, key=_order):
                    count += self._merge_event(shard, event)
                if any(ends[shard] > self.cursors[shard] for shard in ends):
                    self.cursors |= ends
                    self.log.append(Setting(MERGED, self._cursors()))
            return count
        finally:
            for log in logs.values():
                log.close()

    def merge_live(self) -> None:
        """Merge new events during a run; after each growth by a tenth also merge the current relevances."""
        self.merge_new()
        if self._picks >= self._settle_at:
            self._settle_at = self._next_settle()
            self.settle()

    def _next_settle(self) -> int:
        return max(self._picks + 20, math.ceil(1.1 * self._picks))

    def _new_events(self, shard: int, log: SqliteLog, end: int) -> Iterator[tuple[float, int, Event]]:
        last = -math.inf
        for _, event in log.events(self.cursors[shard], end):
            if isinstance(event, Visit | Seed | Setting):  # labels are in this log
                last = max(last, event.ended if isinstance(event, Visit) else event.at)
                yield last, shard, event

    def _merge_event(self, shard: int, event: Event) -> bool:
        if isinstance(event, Visit):
            self.log.append(self._mark_duplicate(self._renumbered(shard, event)))
        elif isinstance(event, Seed):
            self.log.append(event)
        elif isinstance(event, Setting) and event.key in SHARED_SETTINGS and self._settings[event.key] != event.value:
            self._settings[event.key] = event.value
            self.log.append(event)
        else:
            return False
        return True

    def _renumbered(self, shard: int, visit: Visit) -> Visit:
        words, terms, new = self._words[shard], visit.terms, self._missing_words
        self._missing_words = []
        for stem in terms.new:
            if stem not in self._number:
                self._number[stem] = len(self._number)
                new.append(stem)
            words.append(self._number[stem])
        ids: NDArray[np.uint32] = np.array([words[at] for at in terms.ids.tolist()], np.uint32)
        order = ids.argsort(kind="stable")
        marks = terms.marks[order] if len(terms.marks) else terms.marks
        self._picks += 1
        place = visit.place
        if place.file:
            self._link(shard, place.file)
        return replace(
            visit, terms=Terms(ids[order], terms.counts[order], new, marks), pick=self._picks,
            place=ArchivePlace(place.file, place.offset, place.length),
        )  # fmt: skip

    def _mark_duplicate(self, visit: Visit) -> Visit:
        """Mark a visit that duplicates a page of another shard, as shards know only their own pages."""
        if self._copies is not None:
            if visit.same_as:  # the original may duplicate a page of another shard
                visit.same_as = self._original_of.get(visit.same_as, visit.same_as)
            elif visit.is_version and "soft-404" not in visit.flags:
                visit.same_as = self._copies.original(visit)
                if visit.same_as and visit.is_page:
                    self._own_originals.append(visit.node)
            self._copies.learn(visit)
            self._remember_duplicate(visit)
        return visit

    def _remember_duplicate(self, visit: Visit) -> None:
        if visit.same_as:
            self._original_of[visit.node] = visit.same_as
        elif visit.is_version:  # changed content
            self._original_of.pop(visit.node, None)

    def _link(self, shard: int, file: str) -> None:
        if file in self._linked:
            return
        self._linked.add(file)
        archive, own = self.directory / "archive", shard_path(Path(), shard) / "archive"
        archive.mkdir(exist_ok=True)
        for name in (file, index_path(Path(file)).name):
            if not os.path.lexists(archive / name):
                (archive / name).symlink_to(Path("..") / own / name)

    def begin(self) -> dict[int, int]:
        """Record the start of a run; return the epoch of the last lease of each shard that is known to have stopped."""
        has_ended = self.log.has_ended(MERGED)
        self.log.append(Setting(MERGED, self._cursors()))
        over: dict[int, int] = {}
        for shard in range(self.shards) if has_ended else ():
            if (shard_path(self.directory, shard) / NAME).exists():
                with closing(self._open(shard)) as own:
                    over[shard] = int(own.setting("lease", {}).get("epoch", 0))
        return over

    def judged(self) -> dict[int, ModelUpdate]:
        """Return each shard's latest relevances by a judge that does not learn, if such a judge was used last.

        The common log has the pages of a shard in the shard's own order.
        """
        update = self.log.last_model_update()
        if update is None or RELEVANCES not in update.data:
            return {}
        relevances, of = update.data[RELEVANCES], Owners(self.shards).of
        urls = self.log.rows("url", VERSIONS)
        owners = np.array([of(url) for (url,) in islice(urls, len(relevances))], np.int32)
        return {
            shard: ModelUpdate(update.judge, {RELEVANCES: relevances[owners == shard]}, update.at)
            for shard in range(self.shards)
        }

    def _cursors(self) -> dict[str, Any]:
        return {**{str(shard): end for shard, end in self.cursors.items()}, **self._split}

    def settle(self) -> None:
        """Merge the current relevances of all pages."""
        self.merge_new()
        page_of = dict(self.log.rows("url, seq", VERSIONS))
        with self.log.batch():
            for shard in range(self.shards):
                if not (shard_path(self.directory, shard) / NAME).exists():
                    continue
                with closing(self._open(shard)) as own:
                    scores = own.rows("url, relevance_now", f"{VERSIONS} AND relevance_now NOT NULL")
                    self.log.store_scores((page_of[url], relevance) for url, relevance in scores if url in page_of)
            if self._settings["threshold"] is not None:  # readers must notice the new relevances
                self.log.append(Setting("threshold", self._settings["threshold"]))

    def counts(self) -> dict[str, int]:
        """Return the number of pages, and of relevant pages without duplicates across shards."""
        self.merge_new()
        end = {"pages": int(next(self.log.rows("COUNT(*)", PAGES))[0])}
        if (threshold := self._settings["threshold"]) is not None:
            end["relevant"] = int(
                next(self.log.rows("COUNT(*)", f"{UNIQUE_PAGES} AND {RELEVANCE_NOW} >= ?", given=(threshold,)))[0]
            )
        return end

    def counted_twice(self) -> int:
        """Return the number of relevant duplicates across shards, which their own shards count as originals."""
        threshold, count = self._settings["threshold"], 0
        for begin in range(0, len(self._own_originals) if threshold is not None else 0, PAGES_PER_QUERY):
            some = self._own_originals[begin : begin + PAGES_PER_QUERY]
            where = f"{PAGES} AND url IN ({', '.join('?' * len(some))}) AND {RELEVANCE_NOW} >= ?"
            count += int(next(self.log.rows("COUNT(*)", where, given=(*some, threshold)))[0])
        return count

    def finish(self, ending: str, now: float) -> dict[str, Any]:
        """Record the end of a run with the current relevances; return the data of the end event."""
        ends: list[dict[str, Any]] = []
        with self.log.batch():
            self.settle()
            for shard in range(self.shards):
                with closing(self._open(shard)) as own:
                    ends.append(own.setting("end", {}))
            end = _summed_ends(ends, ending)
            self.log.append(Setting("end", end, now))
        return end


def _order(news: tuple[float, int, Event]) -> tuple[float, int]:
    return news[:2]


def _summed_ends(ends: list[dict[str, Any]], ending: str) -> dict[str, Any]:
    end: dict[str, Any] = {"reason": ending}
    for key in ("pages", "requests", "bytes", "pruned", "held"):
        if any(key in end for end in ends):
            end[key] = sum(int(end.get(key, 0)) for end in ends)
    spent: Counter[str] = Counter()
    for end in ends:
        spent.update(end.get("spent", {}))
    groups = [group for end in ends for group in end.get("groups", [])]
    return end | {"spent": dict(spent), "groups": sorted(groups, key=lambda group: -int(group["addresses"]))[:100]}
