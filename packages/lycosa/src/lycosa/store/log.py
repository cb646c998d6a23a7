"""The log of a crawl: a database of events in order, `crawl.sqlite` (schema.py).

Each event is committed on its own, or several in one `batch()`. WAL with `synchronous=NORMAL`: a commit takes 0.03 ms
and survives a kill of the process at any moment; a power failure may lose the last commits, but never consistency.
Readers (`lycosa show`) work while a crawl is running. The writer holds a lock on the directory, so that two crawls
cannot share a log.
"""

from __future__ import annotations

import fcntl
import heapq
import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import xxhash

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.table import MAX_HOPS
from lycosa.core.types import ArchivePlace, Event, Label, LinkBatch, ModelUpdate, Seed, Setting, Visit
from lycosa.store import codec, schema
from lycosa.store.page_state import PageState

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

NAME = "crawl.sqlite"
_OLD_NAME = "log.sqlite"

PAGES = "kind = 'page' AND outcome = 'ok'"  # SQL for `Visit.is_page`
UNIQUE_PAGES = f"{PAGES} AND duplicate_of = ''"  # the same without copies
VERSIONS = "kind IN ('page', 'revisit') AND outcome = 'ok'"  # SQL for `Visit.is_version`
RELEVANCE_NOW = "COALESCE(relevance_now, relevance)"  # SQL for `Visit.relevance_now`
PLACE = re.compile(r"\w[\w.-]{0,250}", re.ASCII)  # archive file names, without path separators

_WITH_CONTENT = "visit LEFT JOIN score USING (seq) LEFT JOIN content USING (seq)"
_VISIT = """
    url, kind, outcome, pick, arm, priority, attempt, retry_at, hops, origin, started, ended, address, status, size,
    title, language, etag, modified, flags, note, digest, simhash, judge, relevance, duplicate_of, data,
    warc_file, warc_offset, warc_length, parent, anchor, depth, priority_terms
"""
_INSERT_VISIT = f"INSERT INTO visit (seq, host, target, {_VISIT}) VALUES (?{', ?' * (_VISIT.count(',') + 3)})"
_STATE = "state, since, versions, revisits, last_seen, changed, moved_to"
_ANCHORS_CACHED = 64  # pages whose anchors are kept for the next visits


class Lock:
    """Exclusive lock on a crawl's directory; the kernel releases it when the process ends."""

    def __init__(self, directory: Path, *, peek: bool = False) -> None:
        self.path = directory / "lock"
        try:
            self._file = open(self.path, "r" if peek else "a+")  # noqa: SIM115 - held open for as long as the lock is held
        except OSError as error:
            advice = "make it writable, or choose another directory with --out"
            raise StoreError(f"cannot write to {directory}: {error.strerror}; {advice}") from error
        if not self._acquire(fcntl.LOCK_SH if peek else fcntl.LOCK_EX):
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LockedError(
                f"{directory} is in use by a running crawl (process {holder or 'unknown'}); "
                f"stop it first, or watch it with: lycosa show {directory}"
            )
        if peek:
            return
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def _acquire(self, how: int) -> bool:
        """Try to lock for 0.2 s, since readers such as `lycosa show` hold the lock for a moment."""
        for _ in range(10):
            try:
                fcntl.flock(self._file, how | fcntl.LOCK_NB)
            except OSError:
                if how == fcntl.LOCK_SH:
                    return False
                time.sleep(0.02)
            else:
                return True
        return False

    def release(self) -> None:
        self._file.close()


class _Table(NamedTuple):
    """Table of events other than visits."""

    name: str
    columns: str


_OTHERS: dict[type, _Table] = {
    Seed: _Table("seed", "url, at, kind, data"),
    Label: _Table("label", "url, relevant, at, author"),
    Setting: _Table("setting", "name, value, at"),
    ModelUpdate: _Table("model_update", "judge, data, binary, at"),
    LinkBatch: _Table("link_batch", "sender, number, data"),
}


class SqliteLog:
    """Event log in an SQLite file."""

    def __init__(self, path: Path, *, readonly: bool = False, busy_seconds: float = 10.0) -> None:
        self.path = path
        self.command = "resume"  # subcommand suggested in error messages
        self._name = str(path)
        self._busy = busy_seconds
        self._versions: list[int] | None = None
        self._chained: dict[str, tuple[int, bytes]] = {}
        self._next = 0  # sequence number of the next event; 0: not read yet
        self._anchors = lru_cache(maxsize=_ANCHORS_CACHED)(self._read_anchors)
        refuse_earlier_release(path.parent)
        if readonly and not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        if not path.exists():
            self._create()
        address = path.absolute().as_uri()
        if readonly and not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
            address += "?immutable=1"  # SQLite creates files next to the log, which is impossible on a read-only medium
        with self._translating_errors():
            self._db = sqlite3.connect(address, timeout=busy_seconds, isolation_level=None, uri=True)
        try:
            self._set_up(readonly)
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        """Create an empty log under a temporary name, then rename it, so that readers never see an incomplete log."""
        new = self.path.with_name(f"{self.path.name}.new")
        with self._translating_errors():
            new.unlink(missing_ok=True)
            with closing(sqlite3.connect(new, isolation_level=None)) as db:
                schema.create(db)
            new.rename(self.path)

    def _set_up(self, readonly: bool) -> None:
        with self._translating_errors():
            harden(self._db)
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            new = not version and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
            if version != schema.VERSION and not new:  # checked before writing, since this may be a foreign database
                raise DamagedError(
                    f"{self.path} was not written by this release of Lycosa: its format is {version}, not "
                    f"{schema.VERSION}. Use the release that wrote it"
                )
            if readonly:
                self._db.execute("PRAGMA query_only=1")
                return
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA checkpoint_fullfsync=1")  # for macOS, see core/files.py
            if new:
                schema.create(self._db)

    def append(self, event: Event) -> int:
        """Append and commit an event; return its sequence number. A committed event survives kill -9."""
        with self.batch():
            seq = self._next or self.end() + 1
            self.put(seq, event)
        self._next = seq + 1
        if isinstance(event, Visit) and self._versions is not None and event.is_version:
            self._versions.append(seq)
        if not os.path.exists(self._name):
            raise StoreError(f"{self.path} was deleted while the crawl ran: restore it, or start a new crawl")
        return seq

    def put(self, seq: int, event: Event) -> None:
        """Insert an event under a sequence number, which must be the highest so far, within a batch."""
        if isinstance(event, Visit):
            self._put_visit(seq, event)
            return
        table = _OTHERS[type(event)]
        values = _other_values(event)
        marks = ", ?" * len(values)
        self._db.execute(f"INSERT INTO {table.name} (seq, {table.columns}) VALUES (?{marks})", (seq, *values))

    def _put_visit(self, seq: int, visit: Visit) -> None:
        if visit.parent and not visit.anchor:
            visit.anchor = self._anchor(visit)
        data, binary = codec.pack_data(visit.data)
        content = codec.pack_links(visit.links), codec.pack_terms(visit.terms), binary
        row = _visit_values(seq, visit, data)
        try:
            self._db.execute(_INSERT_VISIT, row)
        except UnicodeEncodeError:  # a lone surrogate in a link's text, say
            clean = [each.encode("utf-8", "ignore").decode() if isinstance(each, str) else each for each in row]
            self._db.execute(_INSERT_VISIT, clean)
        if any(content):
            self._db.execute("INSERT INTO content VALUES (?, ?, ?, ?)", (seq, *content))
        if visit.is_version:
            self._db.execute("INSERT OR REPLACE INTO score VALUES (?, ?)", (seq, visit.relevance_now))
        self._put_page(seq, visit)

    def _put_page(self, seq: int, visit: Visit) -> None:
        """Update the table of pages with a visit."""
        if visit.kind not in ("page", "revisit"):
            return
        known = None
        if visit.kind == "revisit":
            columns = f"first, current, is_copy, {_STATE}"
            joined = f"SELECT {columns} FROM page JOIN visit ON visit.seq = page.first WHERE url = ?"
            known = self._db.execute(joined, (visit.node,)).fetchone()
        before = PageState(*known[3:]) if known is not None else None
        after = PageState.after(before, visit)
        if after is before or after is None:
            return
        first, current, is_copy = known[:3] if known is not None else (seq, seq, False)
        if visit.is_version:
            current, is_copy = seq, bool(visit.same_as)
        row = (
            first, current, is_copy, after.state, after.since, after.versions, after.revisits, after.last_seen,
            after.changed, after.moved_to,
        )  # fmt: skip
        self._db.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _anchor(self, visit: Visit) -> str:
        """Return the text of the first link to a page on its parent, or of the link that was redirected to it."""
        anchors, node = self._anchors(visit.parent), visit.node
        for _ in range(min(visit.hops, MAX_HOPS)):
            if node in anchors:
                break
            query = "SELECT url FROM visit WHERE target = ? AND target != '' ORDER BY seq LIMIT 1"
            found = self._db.execute(query, (node,)).fetchone()
            node = found[0] if found else node
        if node in anchors:
            return anchors[node]
        # The link is on an older version, or on one newer than those in the cache.
        return next((known[node] for known in self._versions_of_anchors(visit.parent) if node in known), "")

    def _read_anchors(self, parent: str) -> dict[str, str]:
        """Return the text of the links on the newest version of a page."""
        return next(self._versions_of_anchors(parent), {})

    def _versions_of_anchors(self, parent: str) -> Iterator[dict[str, str]]:
        """Yield, for each version of a page from the newest on, the text of the first link with any to each URL."""
        query = "SELECT links FROM visit JOIN content USING (seq) WHERE url = ? AND links NOT NULL ORDER BY seq DESC"
        for (blob,) in self._db.execute(query, (parent,)):
            links, anchors = self.decoded(codec.unpack_links, blob), dict[str, str]()
            for url, anchor in zip(links.urls, links.anchors, strict=True):
                anchors[url] = anchors.get(url) or anchor
            yield anchors

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        """Store the current relevance of each page version, in log order."""
        if self._versions is None:
            self._versions = [seq for (seq,) in self.rows("seq", VERSIONS)]
        seqs = self._versions
        if len(seqs) != len(relevances_now):
            raise StoreError(
                f"{self.path} has {len(seqs)} page versions, but {len(relevances_now)} relevances were given"
            )
        self.store_scores(zip(seqs, relevances_now.tolist(), strict=True))

    def store_scores(self, relevances_now: Iterable[tuple[int, float]]) -> None:
        """Store the current relevances of some pages, given as pairs of sequence number and relevance."""
        with self.batch():
            self._db.executemany("INSERT OR REPLACE INTO score VALUES (?, ?)", relevances_now)

    def forget_places(self, seqs: Sequence[int]) -> None:
        rows = [(seq,) for seq in seqs]
        with self.batch():
            change = "UPDATE visit SET warc_file = '', warc_offset = 0, warc_length = 0 WHERE seq = ?"
            self._db.executemany(change, rows)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Commit all events appended in the block at once, or none if it raises."""
        is_nested = self._db.in_transaction
        if is_nested:  # the outermost batch commits
            yield
            return
        with self._translating_errors():
            self._db.execute("BEGIN")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite rolls back by itself if the disk is full
                    self._db.execute("ROLLBACK")
                self._versions = None  # may hold rows that were rolled back
                self._next = 0
                raise
            self._db.execute("COMMIT")

    def __iter__(self) -> Iterator[Event]:
        return (event for _, event in self.events())

    def events(self, after: int = 0, until: int | None = None) -> Iterator[tuple[int, Event]]:
        """Yield the events between two sequence numbers in order, with their numbers; by default all so far."""
        until = self.end() if until is None else until
        others = (self._others(kind, after, until) for kind in _OTHERS)
        within = self.numbered("seq > ? AND seq <= ?", given=(after, until))
        return heapq.merge(within, *others, key=itemgetter(0))

    def _others(self, kind: type, after: int, until: int) -> Iterator[tuple[int, Event]]:
        table = _OTHERS[kind]
        query = f"SELECT seq, {table.columns} FROM {table.name} WHERE seq > ? AND seq <= ? ORDER BY seq"
        for seq, *values in self.query(query, (after, until)):
            yield seq, self.decoded(partial(_other_event, kind), values, f"event {seq}, a {table.name},")

    def seeds(self) -> list[Seed]:
        return [event for _, event in self._others(Seed, 0, self.end()) if isinstance(event, Seed)]

    def labels(self) -> list[Label]:
        return [event for _, event in self._others(Label, 0, self.end()) if isinstance(event, Label)]

    def last_model_update(self) -> ModelUpdate | None:
        (last,) = next(self.query("SELECT MAX(seq) FROM model_update"))
        found = self._others(ModelUpdate, last - 1, last) if last else iter(())
        return next((event for _, event in found if isinstance(event, ModelUpdate)), None)

    def count_widths(self) -> object:
        """Return the widths of the interval of the count, from the last model update; None without any."""
        query = "SELECT json_extract(data, '$.widths') FROM model_update ORDER BY seq DESC LIMIT 1"
        (widths,) = next(self.query(query), (None,))
        return self.decoded(json.loads, widths or "null", "the last model update")

    def setting(self, name: str, default: Any) -> Any:
        query = "SELECT value FROM setting WHERE name = ? ORDER BY seq DESC LIMIT 1"
        for (value,) in self.query(query, (name,)):
            return self.decoded(codec.unpack_value, value, f"the setting {name!r}")
        return default

    def decoded(self, decode: Callable[[Any], T], stored: Any, what: str = "the content of a visit") -> T:
        """Decode a stored value; raise DamagedError if it is unreadable."""
        try:
            return decode(stored)
        except codec.DECODE_ERRORS as error:
            raise self._damaged(f"{what} can't be read: {_brief(error)}") from error

    def visits(self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()) -> Iterator[Visit]:
        """Yield the visits that match an SQL condition."""
        return (visit for _, visit in self.numbered(where, order, given))

    def visit(self, seq: int) -> Visit:
        return next(self.visits("seq = ?", given=(seq,)))

    def numbered(
        self, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[int, Visit]]:
        """Yield sequence number and visit of the selected visits."""
        columns = f"seq, {_VISIT}, relevance_now, links, terms, binary"
        for seq, *row in self.query(f"SELECT {columns} FROM {_WITH_CONTENT} WHERE {where} ORDER BY {order}", given):
            yield seq, self.decoded(_visit, row, f"event {seq}, a visit,")

    def visits_at(self, seqs: Sequence[int], slice_size: int) -> Iterator[tuple[int, Visit]]:
        """Yield visits by sequence number; they are read in slices, so that a running crawl can write in between."""
        for start in range(0, len(seqs), slice_size):
            wanted = json.dumps(list(seqs[start : start + slice_size]))
            yield from self.numbered("seq IN (SELECT value FROM json_each(?))", given=(wanted,))

    def query(self, sql: str, given: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an SQL query."""
        with self._translating_errors():
            yield from chain(self._db.execute(sql, given))  # a bare cursor would be closed, perhaps after the database

    def rows(
        self, columns: str, where: str = "TRUE", order: str = "seq", given: tuple[object, ...] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield columns of the selected visits; `RELEVANCE_NOW` is the SQL expression of a page's current relevance."""
        joined = "visit LEFT JOIN score USING (seq)"
        return self.query(f"SELECT {columns} FROM {joined} WHERE {where} ORDER BY {order}", given)

    def check(self) -> None:
        """Raise DamagedError if this is no crawl, or if a visit has impossible columns."""
        with self._translating_errors():
            found = schema.objects(self._db)
            if strange := sorted(found ^ schema.expected_objects()):
                kind, name, _ = strange[0]
                raise DamagedError(
                    f"{self.path} is not a crawl of Lycosa: look at its {kind} {name[:60]!a}, or keep the events with: "
                    f"lycosa check {self.path.parent}"
                )
            named = self._db.execute("SELECT kind, outcome, MIN(seq) FROM visit GROUP BY kind, outcome")
            for kind, outcome, seq in named:
                if kind not in codec.KINDS or outcome not in codec.OUTCOMES:
                    raise self._damaged(f"event {seq} is of an unknown kind {kind[:40]!a} or outcome {outcome[:40]!a}")

    def _damaged(self, why: str) -> DamagedError:
        return DamagedError(
            f"{self.path} is damaged: {why}. Restore it from a backup, or keep the readable part with: "
            f"lycosa check {self.path.parent}"
        )

    def end(self) -> int:
        """Return the sequence number of the last event, 0 for an empty log."""
        with self._translating_errors():
            ends = " UNION ALL ".join(f"SELECT MAX(seq) AS seq FROM {name}" for name in EVENT_TABLES)
            return int(self._db.execute(f"SELECT COALESCE(MAX(seq), 0) FROM ({ends})").fetchone()[0])

    def chain(self, seq: int) -> str:
        """Return a hash of all events up to a sequence number, without links, words and models."""
        with self._translating_errors():
            for name, columns in _CHAINED.items():
                at, hashed = self._chained.get(name, (0, b""))
                if at > seq:
                    at, hashed = 0, b""
                query = f"SELECT {columns} FROM {name} WHERE seq > ? AND seq <= ? ORDER BY seq"
                for row in self._db.execute(query, (at, seq)):
                    hashed = xxhash.xxh3_128_digest(hashed + repr(row).encode("utf-8", "surrogatepass"))
                self._chained[name] = seq, hashed
        return xxhash.xxh3_128_hexdigest(b"".join(hashed for _, hashed in self._chained.values()))

    def has_ended(self, started: str = "") -> bool:
        """Return whether the last run ended and nothing was fetched since; `started` is a setting of a start."""
        ended, started_at = (
            next(self.query("SELECT COALESCE(MAX(seq), 0) FROM setting WHERE name = ?", (name,)))[0]
            for name in ("end", started)
        )
        visited = next(self.query("SELECT COALESCE(MAX(seq), 0) FROM visit"))[0]
        return bool(ended > max(visited, started_at))

    def archived(self) -> dict[str, int]:
        """Return the end offset of the last recorded visit in each archive file."""
        ends = dict(
            self.rows("warc_file, MAX(warc_offset + warc_length)", "warc_file != '' GROUP BY warc_file", "warc_file")
        )
        for file, end in ends.items():
            if not is_valid_place(ArchivePlace(file, 0, end)):
                raise self._damaged(f"{str(file)[:60]!a} is not a valid archive file name")
        return ends

    @property
    def connection(self) -> sqlite3.Connection:
        return self._db

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise SQLite errors as StoreError with advice for the user."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:  # UnicodeError: messages about a damaged schema
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> StoreError:
        text = " ".join(str(error).split())
        if "locked" in text or "busy" in text:
            return LockedError(
                f"{self.path} has been locked by another program for {self._busy:.0f} s: close that program "
                f"(a database browser, a backup?), then continue with: lycosa {self.command} {self.path.parent}"
            )
        if "full" in text or "disk I/O" in text:
            return StoreError(
                f"cannot write {self.path}: {text}. Nothing recorded is lost: free some space, then continue with: "
                f"lycosa {self.command} {self.path.parent}"
            )
        damage = ("malformed", "not a database", "Could not decode", "no such table", "no such column")
        if any(words in text for words in damage):
            return self._damaged(_brief(error))
        return StoreError(f"cannot use {self.path}: {text}")


def refuse_earlier_release(directory: Path) -> None:
    """Raise DamagedError for a crawl with a log of another format."""
    if (directory / _OLD_NAME).exists() and not (directory / NAME).exists():
        raise DamagedError(
            f"{directory} was written by an earlier release of Lycosa ({_OLD_NAME}), which alone can read it: "
            "use that release, or start a new crawl"
        )


def harden(db: sqlite3.Connection) -> None:
    """Harden a connection to an untrusted database, whose schema must not call functions with side effects."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")


EVENT_TABLES = ("visit", *(table.name for table in _OTHERS.values()))
_CHAINED = {
    "visit": "seq, kind, url, outcome, duplicate_of, warc_file, warc_offset",
    "seed": "*",
    "label": "*",
    "setting": "*",
    "model_update": "seq, judge, data, length(binary)",
    "link_batch": "seq, sender, number, length(data)",
}


def is_valid_place(place: ArchivePlace) -> bool:
    fits = 0 <= place.offset <= 2**53 and 0 <= place.length <= 2**53
    return fits and (not place.file or PLACE.fullmatch(place.file) is not None)


def host_of(node: str) -> str:
    """Return the host of a URL with its port; empty for a node that is not a URL.

    >>> host_of("http://example.org:81/a"), host_of("http://example.org"), host_of("notes/reefs")
    ('example.org:81', 'example.org', '')
    """
    scheme, mark, rest = node.partition("://")
    return rest.split("/", 1)[0] if mark and scheme in ("http", "https") else ""


def _visit_values(seq: int, visit: Visit, data: str) -> tuple[object, ...]:
    """Return the row of a visit, in the order of `_INSERT_VISIT`."""
    place = visit.place
    terms = {name: round(value, 4) for name, value in visit.priority_terms.items() if math.isfinite(value)}
    return (
        seq, host_of(visit.node), visit.target, visit.node, visit.kind, visit.outcome, visit.pick, visit.arm,
        visit.priority, visit.attempt, visit.retry_at, visit.hops, visit.origin, visit.started, visit.ended,
        visit.address, visit.status, visit.size, visit.title, visit.language, visit.etag, visit.modified,
        json.dumps(visit.flags, ensure_ascii=False) if visit.flags else "[]", visit.note, visit.digest,
        visit.simhash - (visit.simhash >> 63 << 64), visit.judge, visit.relevance, visit.same_as, data,
        place.file, place.offset, place.length, visit.parent, visit.anchor, visit.depth,
        json.dumps(terms, ensure_ascii=False, separators=(",", ":")) if terms else "{}",
    )  # fmt: skip


_FLAGS, _SIMHASH, _RELEVANCE, _DATA = 19, 22, 24, 26  # positions of columns in `_VISIT`


def _visit(row: list[Any]) -> Visit:
    """Return the visit of a row with the columns of `numbered`."""
    *plain, relevance_now, links, terms, binary = row
    file, offset, length, parent, anchor, depth, priority_terms = plain[_DATA + 1 :]
    fields = plain[: _DATA + 1]
    codec.check_names(fields[1], fields[2])
    place = ArchivePlace(file, offset, length)
    if not is_valid_place(place):
        raise ValueError(f"{str(file)[:60]!a} is not a place in the archive")
    fields[_FLAGS], terms_by_name = json.loads(fields[_FLAGS]), json.loads(priority_terms)
    if not isinstance(fields[_FLAGS], list) or not set(map(type, fields[_FLAGS])) <= {str}:
        raise ValueError("flags of a visit must be texts")
    if not isinstance(terms_by_name, dict) or not set(map(type, terms_by_name.values())) <= {float, int}:
        raise ValueError("terms of a priority must be numbers")
    fields[_SIMHASH] &= 2**64 - 1
    fields[_DATA] = codec.unpack_data(fields[_DATA], binary)
    fields += codec.unpack_terms(terms), codec.unpack_links(links), place, parent, anchor, depth
    fields += terms_by_name, None if relevance_now == fields[_RELEVANCE] else relevance_now
    return Visit(*fields)


def stored_event(db: sqlite3.Connection, seq: int) -> tuple[Event | None, list[str]]:
    """Return an event of a database that may be damaged, and its unreadable parts.

    The event is None if it is unreadable, and its parts are the tables in which it may be; they are empty if there is
    no event with this number.
    """
    defects = []
    for kind, name in (Visit, "visit"), *((kind, table.name) for kind, table in _OTHERS.items()):
        try:
            found = _stored_visit(db, seq) if kind is Visit else _stored_other(db, seq, kind)
        except (sqlite3.DatabaseError, *codec.DECODE_ERRORS):
            defects.append(name)
        else:
            if found is not None:
                return found
    return None, defects


def _stored_other(db: sqlite3.Connection, seq: int, kind: type) -> tuple[Event, list[str]] | None:
    table = _OTHERS[kind]
    row = db.execute(f"SELECT {table.columns} FROM {table.name} WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else (_other_event(kind, list(row)), [])


def _stored_visit(db: sqlite3.Connection, seq: int) -> tuple[Visit, list[str]] | None:
    row = db.execute(f"SELECT {_VISIT} FROM visit WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        return None
    visit, defects = _visit([*row, None, None, None, None]), []
    for name in ("links", "terms", "binary"):
        try:
            (blob,) = db.execute(f"SELECT {name} FROM content WHERE seq = ?", (seq,)).fetchone() or (None,)
            if name == "links":
                visit.links = codec.unpack_links(blob)
            elif name == "terms":
                visit.terms = codec.unpack_terms(blob)
            else:
                visit.data |= codec.unpack(blob) if blob else {}
        except (sqlite3.DatabaseError, *codec.DECODE_ERRORS):
            defects.append(name)
    with suppress(sqlite3.DatabaseError):  # `lycosa judge` can compute it again
        query = "SELECT relevance_now FROM score WHERE seq = ?"
        (visit.updated_relevance,) = db.execute(query, (seq,)).fetchone() or (None,)
    return visit, defects


def _other_values(event: Event) -> tuple[object, ...]:
    match event:
        case Seed():
            return event.node, event.at, event.kind, codec.pack_value(event.data)
        case Label():
            return event.node, event.relevant, event.at, event.by
        case Setting():
            return event.key, codec.pack_value(event.value), event.at
        case ModelUpdate():
            return event.judge, *codec.pack_data(event.data), event.at
        case LinkBatch():
            return event.sender, event.number, codec.pack_batch(event)
    raise TypeError(f"a log cannot hold a {type(event).__name__}")


def _other_event(kind: type, values: list[Any]) -> Event:
    if kind is Seed:
        url, at, seed_kind, data = values
        return Seed(url, at, seed_kind, _dictionary(codec.unpack_value(data)))
    if kind is Label:
        url, relevant, at, author = values
        return Label(url, None if relevant is None else bool(relevant), at, author)
    if kind is Setting:
        name, value, at = values
        return Setting(name, codec.unpack_value(value), at)
    if kind is ModelUpdate:
        judge, data, binary, at = values
        return ModelUpdate(judge, codec.unpack_data(data, binary), at)
    return codec.unpack_batch(values[2])


def _dictionary(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("expected a dictionary")
    return value


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class MemoryLog:
    """Event log in memory, for experiments and tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        versions = [event for event in self.events if isinstance(event, Visit) and event.is_version]
        for visit, relevance_now in zip(versions, relevances_now.tolist(), strict=True):
            visit.updated_relevance = relevance_now

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield

    def __iter__(self) -> Iterator[Event]:
        return iter(list(self.events))

    def close(self) -> None:
        pass


class NullLog(MemoryLog):
    """Event log that discards all events, for crawls whose visits are processed immediately."""

    def append(self, event: Event) -> int:
        return 0

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        pass


def current_labels(log: SqliteLog) -> dict[str, bool]:
    """Return the current label of each page in the order in which they were set; the last label of a page is used."""
    labels: dict[str, bool] = {}
    for event in log.labels():
        labels.pop(event.node, None)
        if event.relevant is not None:
            labels[event.node] = event.relevant
    return labels


def missing_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    """Return the labels that are missing in the log; after a crash, labels may be submitted again."""
    known = {(event.node, event.at, event.by) for event in log.labels()}
    return [label for label in labels if (label.node, label.at, label.by) not in known]


def append_labels(log: SqliteLog, labels: Iterable[Label]) -> list[Label]:
    missing = missing_labels(log, labels)
    with log.batch():
        for label in missing:
            log.append(label)
    return missing
