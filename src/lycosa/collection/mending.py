"""`lycosa mend`: a damaged log becomes one that can be read, with all of it that can be saved. The damaged one is kept.

An event is kept twice: as bytes, and in columns to find it by. Columns that were damaged are made again from the bytes.
A visit whose bytes were damaged is made again from its columns, and from the page in the archive: its words have to be
known, because later visits refer to words by the order in which they came. Whether they were the right ones is told by
the fingerprints of those visits. If not, or if the page was not archived, later visits lose their words, and nothing
else: what was fetched is still known, and so are its links and what it is worth.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.collection import shelf
from lycosa.collection.judging import page_of
from lycosa.collection.reading import Collection
from lycosa.core.errors import DamagedError, LockedError, LycosaError, StoreError
from lycosa.core.telling import Tell, silent
from lycosa.core.types import Event, Links, Place, Terms, Visit
from lycosa.store import codec
from lycosa.store.codec import VERSION
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, OTHERS, SqliteLog, harden, is_place, name_of
from lycosa.store.moving import manifest
from lycosa.store.snapshots import Snapshots
from lycosa.text.fingerprint import Signs
from lycosa.text.vocabulary import Vocabulary

FURTHER = 1_000_000
"""Events that are looked for one by one behind a part of the file that can't be read."""

_COLUMNS = (
    "seq, CAST(kind AS BLOB), CAST(node AS BLOB), CAST(outcome AS BLOB), beta, CAST(same AS BLOB), "
    "CAST(file AS BLOB), start, length, body"
)


@dataclass(slots=True)
class Mended:
    """What became of a log."""

    kept: int = 0
    """Events as they were."""
    mended: list[str] = field(default_factory=list)
    """What was made again, and from what."""
    lost: list[str] = field(default_factory=list)
    wordless: int = 0
    """Visits without their words: those behind one whose words are lost."""
    aside: Path = Path()
    """Where the damaged log is kept."""

    @property
    def whole(self) -> bool:
        """Whether there was nothing to mend."""
        return not self.mended and not self.lost


def mend(directory: Path) -> Mended:
    """Mend the log of a crawl that does not run. A log without damage is left as it is."""
    opened = Directory.open(directory, shard=True)
    try:
        path = directory / NAME
        if not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        new = path.with_name(f"{NAME}.mended.new")
        new.unlink(missing_ok=True)
        try:
            settle(path)
            done = _Mending(directory, opened).into(new)
        except (sqlite3.Error, DamagedError) as error:
            new.unlink(missing_ok=True)
            why = str(error).replace(str(new), str(path)).partition(". Restore")[0]
            raise DamagedError(f"{path} can't be mended ({why}): restore it from a backup") from error
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        if done.whole and not (fault := _fault(path)):
            new.unlink()
            return done
        if done.whole:
            done.mended.append(f"what events are found by ({fault})")
        done.aside = _aside(path)
        os.link(path, done.aside)
        os.replace(new, path)
        Snapshots(path.parent).remove()  # it is of the log that was
        shelf.remove(path.parent)
        return done
    finally:
        opened.close()


def settle(path: Path) -> None:
    """Bring what SQLite keeps beside the file into it: there must be nothing of the old one beside the new one."""
    held = LockedError(f"{path} is held by another program: close that one first")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        harden(db)
        try:
            db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise held if "locked" in str(error) else error from None
    if path.with_name(f"{path.name}-wal").exists():
        raise held


def _fault(path: Path) -> str:
    """What is wrong with the file although all of its events can be read: an index, say."""
    try:
        with closing(SqliteLog(path, readonly=True)) as log:
            log.check()
            return next(iter(log.unreadable(1)), "").partition(". Restore")[0]
    except StoreError as error:
        return str(error).partition(". Restore")[0]


def _aside(path: Path) -> Path:
    number = 1
    while (place := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return place


class _Mending:
    """One log, from what can be read of it to another."""

    def __init__(self, directory: Path, opened: Directory) -> None:
        self.directory = directory
        self.done = Mended()
        languages = opened.options.languages
        self.words = Vocabulary(languages[0] if languages else "en")
        self.signs = Signs()
        self.doubtful = self.wordless = False
        """Whether words were made again, so that numbers of words are to be checked; whether they are lost."""
        self.last: Visit | None = None

    def into(self, path: Path) -> Mended:
        """Write the new log."""
        with (
            closing(sqlite3.connect(f"{(self.directory / NAME).absolute().as_uri()}?mode=ro", uri=True)) as db,
            closing(SqliteLog(path)) as log,
        ):
            harden(db)
            if db.execute("PRAGMA user_version").fetchone()[0] not in codec.READS:
                raise DamagedError("it is of another format")
            worths = _worths(db)
            with log.together():
                for row in self._rows(db):
                    event = self._mended(row)
                    if event is not None:
                        log.put(row[0], event, worths.get(row[0]) if isinstance(event, Visit) else None)
        return self.done

    def _rows(self, db: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
        """All rows that SQLite can still give, in order; where it can't, they are tried one by one."""
        last, top = 0, -1
        while True:
            try:
                for row in db.execute(f"SELECT {_COLUMNS} FROM event WHERE seq > ? ORDER BY seq", (last,)):
                    if row[0] <= last:  # SQLite has lost its way
                        raise sqlite3.DatabaseError("malformed: events are out of order")
                    yield row
                    last = row[0]
                return
            except sqlite3.DatabaseError as error:
                if "malformed" not in str(error):
                    raise
            if top < 0:
                top = _top(db, last)
            row = self._next(db, last, top)
            if row is None:
                return
            yield row
            last = row[0]

    def _next(self, db: sqlite3.Connection, last: int, top: int) -> tuple[Any, ...] | None:
        """The next row behind one, each number tried by itself; those that can't be given are lost."""
        for seq in range(last + 1, top + 1):
            try:
                row: tuple[Any, ...] | None = db.execute(
                    f"SELECT {_COLUMNS} FROM event WHERE seq = ?", (seq,)
                ).fetchone()
            except sqlite3.DatabaseError:
                self.done.lost.append(f"event {seq}: the file is damaged there")
                self.wordless = True
                continue
            if row is not None:
                return row
        return None

    def _mended(self, row: tuple[Any, ...]) -> Event | None:
        """An event, as it was or as it can be made again; None if it is lost."""
        seq, (kind, node, outcome, same, file) = row[0], (_text(row[at]) for at in (1, 2, 3, 5, 6))
        event = _decoded(kind, node, row[9])
        place = self._place(file, row[7], row[8])
        if event is None:
            if kind not in codec.KINDS or outcome not in codec.OUTCOMES or not node:
                self.done.lost.append(f"event {seq}: {kind or 'something'} {node or ''}".rstrip())
                self.wordless = self.wordless or kind not in OTHERS
                return None
            event = self._again(seq, kind, node, outcome, _real(row[4]), same or "", place)
        elif isinstance(event, Visit):
            columns = (event.kind, event.node, event.outcome, event.beta, event.same_as, event.place)
            event.place = place
            if columns[:-1] != (kind, node, outcome, row[4], same) or (file, row[7], row[8]) != (
                place.file,
                place.offset,
                place.length,
            ):
                self.done.mended.append(f"event {seq}, {event.kind} {event.node}: its columns")
            else:
                self.done.kept += 1
        elif (type(event).__name__.lower(), name_of(event)) != (kind, node):
            self.done.mended.append(f"event {seq}, {type(event).__name__.lower()} {name_of(event)}: its columns")
        else:
            self.done.kept += 1
        if isinstance(event, Visit):
            self._count_words(event)
            self.last = event
        return event

    def _place(self, file: str | None, start: Any, length: Any) -> Place:
        """Where the archive has the bytes, if it does."""
        if not file or type(start) is not int or type(length) is not int:
            return Place()
        place, path = Place(file, start, length), self.directory / "archive" / file
        if not is_place(place):
            return Place()
        moved = manifest(path.parent).get(file, {"size": 0})
        size = path.stat().st_size if path.is_file() else moved["size"]
        return place if size >= start + length else Place()

    def _again(self, seq: int, kind: Any, node: str, outcome: Any, beta: float, same: str, place: Place) -> Visit:
        """A visit from its columns and the archive."""
        before = self.last or Visit("", "page", "ok", 0)
        visit = Visit(
            node, kind, outcome, before.pick, started=before.ended, ended=before.ended, judge=before.judge, beta=beta,
            same_as=same, place=place, note="mended: what was recorded of it was damaged",
        )  # fmt: skip
        sources = "its columns"
        if outcome == "ok" and kind in ("page", "revisit", "probe", "sitemap"):  # those bring words
            try:
                self._read(visit)
                sources = "its columns and the archive"
            except (LycosaError, OSError):
                visit.place = Place()
                self.wordless = True
        self.done.mended.append(f"event {seq}, {kind} {node}: made again from {sources}")
        return visit

    def _read(self, visit: Visit) -> None:
        if visit.kind == "sitemap":
            raise StoreError("a source is not read again")
        with Collection(self.directory, 0.0) as collection:
            page = page_of(collection, visit)
            exchange = collection.exchange(visit)
        reading = self.words.read(page)
        visit.title, visit.language, visit.simhash = page.title, page.language, reading.simhash
        visit.size = len(exchange.body) if exchange is not None else 0
        visit.terms = reading.terms if visit.is_version else Terms(new=reading.terms.new)
        visit.links = page.links if visit.is_version else Links()
        visit.links.alphas = np.zeros(len(visit.links), np.float32)
        self.doubtful = True

    def _count_words(self, visit: Visit) -> None:
        """Number the words that a visit brought; where that can't be right, it loses its words, and so do all later."""
        if not self.wordless:
            self.words.learn(replace(visit, terms=Terms(new=visit.terms.new)))
            self.wordless = self.doubtful and not self._fits(visit)
        if self.wordless:
            self.done.wordless += bool(len(visit.terms.ids) or visit.terms.new)
            visit.terms = Terms()

    def _fits(self, visit: Visit) -> bool:
        """Whether the words of a visit are those that its fingerprint was made of."""
        ids = visit.terms.ids
        if not len(ids):
            return True
        self.signs.extend(self.words.terms)
        return int(ids.max()) < len(self.words.terms) and self.signs.simhash(ids, visit.terms.counts) == visit.simhash


def _decoded(kind: str | None, node: str | None, body: Any) -> Event | None:
    """What an event's bytes say; its kind may be damaged, then they have to agree with its name."""
    if not isinstance(body, bytes):
        return None
    for guess in (kind,) if kind in OTHERS else (*OTHERS, "") if kind not in codec.KINDS else ("",):
        try:
            event: Event = codec.decode_other(str(guess), body) if guess else codec.decode_visit(body, Place())
        except codec.ERRORS:
            continue
        if guess == kind or not guess or name_of(event) == node:
            return event
    return None


def _worths(db: sqlite3.Connection) -> dict[int, float]:
    try:
        return {seq: worth for seq, worth in db.execute("SELECT seq, worth FROM worth") if math.isfinite(worth)}
    except (sqlite3.DatabaseError, TypeError):  # it can be made again: lycosa judge
        return {}


def _top(db: sqlite3.Connection, last: int) -> int:
    """The number of the last event, if the file still tells."""
    for asked in ("SELECT MAX(seq) FROM event", "SELECT MAX(seq) FROM event INDEXED BY event_node WHERE node >= ''"):
        try:
            return min(int(db.execute(asked).fetchone()[0]), last + FURTHER)
        except (sqlite3.DatabaseError, TypeError):
            continue
    return last


def _text(value: Any) -> str | None:
    try:
        return bytes(value).decode() if value is not None else None
    except (UnicodeDecodeError, TypeError):
        return None


def _real(value: Any) -> float:
    return float(value) if isinstance(value, float | int) and math.isfinite(value) else 0.0


# -- older formats -----------------------------------------------------------------------------------------

# The log of a crawl in the format of today: `lycosa upgrade`. Every command reads older formats as they are, and who
# goes on with a crawl brings its log up to date; this does so without fetching anything, after it has read every event.


@dataclass(slots=True)
class Upgraded:
    """What came of it."""

    before: int
    now: int = VERSION
    """Formats of the log."""
    events: int = 0


def upgrade(directory: Path, tell: Tell = silent) -> Upgraded:
    """Bring the log of a crawl that does not run up to date. One that was damaged, or is newer, stays as it is."""
    opened = Directory.open(directory, shard=True)
    try:
        path = directory / NAME
        if not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        with closing(SqliteLog(path, readonly=True)) as log:
            done, end = Upgraded(log.version()), log.end()
            for done.events, _ in enumerate(log, 1):
                if done.events % 500 == 0:
                    tell("reading", done.events, end)
        with closing(opened.log()):  # who opens it to write brings it up to date
            pass
        return done
    finally:
        opened.close()
