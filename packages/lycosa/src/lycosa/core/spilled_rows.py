"""Rows in memory and rows spilled to disk.

A row in memory is complete: the table, the estimator, the frontier and the trap filter have it in their columns. A
spilled row is a record of a file with these columns and its name; its fingerprint, last priority, host and trap group
stay in memory, 35 to 52 bytes. Its row number is reused.

Rows are exchanged (`SpilledRows.sweep`) when more than `limit` are in memory, when fewer than half as many are left,
and after every so many visits. The best rows, three quarters of `limit`, stay in memory or are reloaded, and the
best few of each host. A spilled row is reloaded at once when a page links to it, when it is a seed, or on a visit.

All of it happens while events are folded, so a replayed crawl has the same rows in memory. The file is a cache: without
a snapshot that fits, the log is folded from its beginning and the file is written from scratch.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.composite import Altered, Greedy, Spread
from lycosa.core.errors import InputError
from lycosa.core.frontier import FREE, PRUNED, SHUT, Frontier
from lycosa.core.nodes import fingerprints
from lycosa.core.state import State, StateMismatch
from lycosa.core.table import OPEN

if TYPE_CHECKING:
    from lycosa.core.protocols import TrapFilter
    from lycosa.core.table import SpilledTable, Table
    from lycosa.core.types import Priorities, Rows

Record = Mapping[str, NDArray[Any]]  # columns of some rows by name
# Maximum records created, read or written at once; each has 1 kB.
RECORDS = 1 << 14
AT_ONCE = 1 << 20  # spilled rows scanned at once
INLINE = 96  # bytes of a name in its record; the rest is stored in further places of the file
FREED, ROW, TEXT = range(3)  # content of a place in the file

_LEAST = -3e38
TOKEN = 32  # length of the random token at the start of the file

_MIX = np.uint64(0x9E3779B97F4A7C15)


@runtime_checkable
class Spillable(Protocol):
    """Interface of a part with data of each row that can be removed and restored."""

    def leave(self, rows: Rows, table: Table) -> Record: ...

    def join(self, rows: Rows, known: Record, table: Table) -> None: ...


@runtime_checkable
class Rescorable(Protocol):
    """Interface of an estimator that can update the priorities of spilled rows."""

    def renew(self, known: Record, aside: SpilledTable, table: Table) -> Priorities: ...


def spillable_estimator(strategy: object, frontier: Frontier, trap_filter: TrapFilter) -> Spillable | None:
    """Return the estimator of a strategy if its rows can be spilled, otherwise None."""
    estimator = getattr(strategy, "estimator", None)
    if type(strategy) not in (Greedy, Altered) or type(frontier) is not Frontier or isinstance(estimator, Spread):
        return None
    return estimator if isinstance(estimator, Spillable) and _has_state(estimator) and _has_state(trap_filter) else None


def _has_state(part: object) -> bool:
    defined = {name: at for at, kind in reversed([*enumerate(type(part).__mro__)]) for name in vars(kind)}
    learns = min(defined[name] for name in ("learn", "reconsider") if name in defined)
    return max(defined.get(name, math.inf) for name in ("leave", "join")) <= learns


class SpilledRows:
    """Store of the rows on disk, which also decides which rows are in memory."""

    def __init__(
        self,
        limit: int,
        table: Table,
        frontier: Frontier,
        estimator: Spillable,
        trap_filter: TrapFilter,
        place: Path | None = None,
        readonly: bool = False,
    ) -> None:
        self.limit, self.table, self.frontier, self.trap_filter = limit, table, frontier, trap_filter
        self.file = SpillFile(place, readonly)
        self._parts: dict[str, Spillable] = {
            "table": table,
            "estimator": estimator,
            "frontier": frontier,
            "trap_filter": trap_filter,
        }
        self._columns: dict[str, list[str]] = {}  # column names of each part
        self._kind = np.zeros(1024, np.uint8)
        self._score = np.zeros(1024, np.float32)
        self._age = np.zeros(1024, np.int32)
        self._host_key = np.zeros(1024, np.int32)
        self._tag = np.zeros(1024, np.int32)
        self._held = np.zeros(1024, np.uint8)
        self._pinned: list[NDArray[np.bool_]] = []
        """Which places are used by each of the last two snapshots; the last one may not have been written."""
        self._end = 0
        self._back: dict[int, float] = {}  # rows reloaded since the last event, and their priorities
        self._renews = estimator if isinstance(estimator, Rescorable) else None
        self._visits = 0  # visits since the last sweep
        self._turn = 0  # age of the next spilled row whose priority is updated
        self.count = 0  # number of spilled rows
        self.returned = 0  # rows reloaded by the last sweep
        self.sweeps = 0  # number of sweeps; until the first one nothing is spilled
        table.spilled = self
        self.listen(True)

    def listen(self, listening: bool) -> None:
        """Set whether looking up a spilled node reloads it."""
        self.table.row_of.recall = self.recall if listening else None

    def settle(self) -> None:
        """Rank reloaded rows after an event, and sweep if it is time."""
        if self._back:
            self._rank()
        self.table.renewed.clear()  # all parts have processed them
        self._visits += 1
        memory_rows = self.table.open_rows - self.count
        if memory_rows > self.limit or (
            self.count and (2 * memory_rows < self.limit or self._visits >= max(64, self.limit // 16))
        ):
            self.sweep()

    def _rank(self) -> None:
        back, self._back = self._back, {}
        rows, priorities = np.fromiter(back, np.int32, len(back)), np.fromiter(back.values(), np.float64, len(back))
        left = (self.table.state[rows] == OPEN) & (self.frontier.priority[rows] == -math.inf) & (priorities > -math.inf)
        if left.any():
            self.frontier.rank(rows[left], priorities[left])

    def wanting(self) -> bool:
        """Return whether a spilled row could be fetched."""
        return any(bool((priorities > -math.inf).any()) for _, priorities in self._some(self.trap_filter.tag_levels()))

    def sweep(self) -> None:
        table = self.table
        self._rank()
        by_tag = self.trap_filter.tag_levels()
        self._update_spilled(min(32 * self._visits, self.limit), by_tag)  # as many as scent ranks in memory
        self._visits = 0
        memory_rows = table.rows().astype(np.int32)
        fixed = table.is_seed[memory_rows] | table.is_source[memory_rows]
        if colliding_rows := table.row_of.colliding_rows:
            fixed |= np.isin(memory_rows, colliding_rows)
        capacity = max(0, int(self.limit * 0.75) - int(np.count_nonzero(fixed)))  # 3/4 stay in memory
        memory_rows = memory_rows[~fixed]
        priorities, host_keys = self._memory_priorities(memory_rows), table.host[memory_rows]
        stays, better = self._best(memory_rows, priorities, capacity, by_tag)
        few = min(64, self.limit // (4 * max(1, len(table.hosts))))  # per host; a quarter in total
        stays |= _nth(host_keys, -priorities, table.age(memory_rows)) < few
        returning = np.union1d(better, self._best_of_sparse_hosts(host_keys[stays], few, by_tag)).astype(np.intp)
        returning = returning[self._age[returning].argsort()]  # by age, because places differ in a replayed crawl
        leaving = memory_rows[~stays]
        leaving = leaving[np.lexsort((table.age(leaving), -priorities[~stays]))]  # so that similar rows are adjacent
        self.returned = len(returning)
        if not len(leaving) and not len(returning):
            return
        self.sweeps += 1
        for begin in range(0, len(leaving), RECORDS):
            self._spill(leaving[begin : begin + RECORDS])
        for begin in range(0, len(returning), RECORDS):
            some = returning[begin : begin + RECORDS]
            records, names = self._read(some)
            self._renew(records)
            self._free(records, some)
            self._restore_rows(records, names)
        rows = np.fromiter(self._back, np.int32, len(self._back))
        self.frontier.priority[rows] = np.fromiter(self._back.values(), np.float64, len(rows))
        self._back = {}
        self.frontier.rebuild()

    def _update_spilled(self, limit: int, by_tag: NDArray[np.uint8]) -> None:
        """Update the priorities of up to `limit` spilled rows, in order of discovery."""
        if self._renews is None or not self.count:
            return
        found = np.zeros(0, np.intp)
        for places, priorities in self._some(by_tag):
            found = np.concatenate([found, places[(self._age[places] >= self._turn) & (priorities > -math.inf)]])
            if len(found) > limit:
                found = found[self._age[found].argpartition(limit)[:limit]]
        self._turn = int(self._age[found].max()) + 1 if len(found) == limit and limit else 0
        found.sort()
        for begin in range(0, len(found), RECORDS):
            places = found[begin : begin + RECORDS]
            self._score[places] = self._renew(self.file.read(places))

    def _renew(self, records: NDArray[Any]) -> NDArray[Any]:
        """Update records; return their priorities."""
        for begin in range(0, len(records), RECORDS) if self._renews is not None else ():
            some = records[begin : begin + RECORDS]
            known, aside = self._of_part("estimator", some), self.table.aside(self._of_part("table", some))
            assert self._renews is not None
            renewed, priorities = self._renews.renew(known, aside, self.table), some["frontier score"]
            # Unranked and pruned rows are recognised by their priority, so it is not changed.
            priorities[:] = np.where(priorities > PRUNED, np.maximum(renewed, _LEAST), priorities)
        return records["frontier score"]

    def _of_part(self, name: str, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        columns = self._columns.get(name)
        if columns is None:  # all records have one dtype
            names = [column.partition(" ") for column in records.dtype.names or ()]
            columns = self._columns[name] = [column for part, _, column in names if part == name and column]
        return {column: records[f"{name} {column}"] for column in columns}

    def _some(self, by_tag: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        for begin in range(0, self._end, AT_ONCE) if self.count else ():
            places = begin + np.flatnonzero(self._kind[begin : min(self._end, begin + AT_ONCE)] == ROW)
            yield places, self._spilled_priority(places, by_tag)

    def _memory_priorities(self, rows: Rows) -> NDArray[np.float32]:
        priority = self.frontier.priority[rows]
        priorities = np.where(priority > PRUNED, np.maximum(priority, _LEAST), -math.inf).astype(np.float32)
        return self._effective_priorities(priorities, self.frontier.level[rows], self.table.host[rows])

    def _spilled_priority(self, places: NDArray[np.intp], by_tag: NDArray[np.uint8]) -> NDArray[np.float32]:
        level = self._held[places]
        if len(by_tag):
            tag = self._tag[places]
            level = np.maximum(level, np.where(tag >= 0, by_tag[np.maximum(tag, 0)], FREE))
        return self._effective_priorities(self._score[places], level, self._host_key[places])

    def _effective_priorities(
        self, priority: NDArray[np.float32], level: NDArray[np.uint8], host_key: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        priority[level != FREE] -= 1e9  # behind all free ones
        priority[level == SHUT] = -math.inf
        if self.frontier.host_budget:
            priority[self.frontier.pages()[host_key] >= self.frontier.host_budget] = -math.inf
        return priority

    def _best(
        self, memory_rows: Rows, priorities: NDArray[np.float32], capacity: int, by_tag: NDArray[np.uint8]
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which rows in memory, and which spilled ones, are among the best `capacity` rows."""
        # Spilled rows must be better than the worst of `capacity` rows in memory.
        least = _nth_best(priorities, capacity) if len(memory_rows) >= capacity else -math.inf
        spilled, spilled_priorities = np.zeros(0, np.intp), np.zeros(0, np.float32)
        for places, part_priorities in self._some(by_tag):
            better = part_priorities > least
            spilled, spilled_priorities = (
                np.concatenate([spilled, places[better]]),
                np.concatenate([spilled_priorities, part_priorities[better]]),
            )
            if len(spilled) > capacity:
                better = spilled_priorities >= _nth_best(spilled_priorities, capacity)
                spilled, spilled_priorities = spilled[better], spilled_priorities[better]
        age = np.concatenate([self.table.age(memory_rows), self._age[spilled]])
        first = np.lexsort((age, -np.concatenate([priorities, spilled_priorities])))[:capacity]
        stays = np.zeros(len(memory_rows) + len(spilled), np.bool_)
        stays[first] = True
        return stays[: len(memory_rows)], spilled[stays[len(memory_rows) :]]

    def _best_of_sparse_hosts(
        self, row_in_memory: NDArray[np.int32], few: int, by_tag: NDArray[np.uint8]
    ) -> NDArray[np.intp]:
        """Return the best spilled rows of hosts with few rows in memory."""
        lacks = few - np.bincount(row_in_memory, minlength=len(self.table.hosts))
        spilled, priorities = np.zeros(0, np.intp), np.zeros(0, np.float32)
        for places, values in self._some(by_tag) if few else ():
            some = (lacks[self._host_key[places]] > 0) & (values > -math.inf)
            spilled, priorities = np.concatenate([spilled, places[some]]), np.concatenate([priorities, values[some]])
            host_keys = self._host_key[spilled]
            chosen = _nth(host_keys, -priorities, self._age[spilled]) < lacks[host_keys]
            spilled, priorities = spilled[chosen], priorities[chosen]
        return spilled

    def _spill(self, rows: Rows) -> None:
        if not len(rows):
            return
        table = self.table
        tags, held = self.trap_filter.tags(rows)
        host_keys, names = table.host[rows], [table.name(row) for row in rows.tolist()]
        known: dict[str, NDArray[Any]] = {}
        for part_name, part in self._parts.items():
            known |= {f"{part_name} {name}": column for name, column in part.leave(rows, table).items()}
        places = self._allocate(len(rows))
        self._keep(places, names, known)
        priorities = known["frontier score"]
        self._kind[places], self._host_key[places], self._tag[places], self._held[places] = ROW, host_keys, tags, held
        self._age[places] = known["table age"]
        self._score[places] = np.where(priorities > PRUNED, np.maximum(priorities, _LEAST), -math.inf)
        self.count += len(rows)
        table.put_aside(rows, names, (-2 - places).astype(np.int32))

    def recall(self, numbers: list[int], names: list[bytes]) -> list[int | None]:
        """Reload spilled rows by number and name; return their rows."""
        wanted = dict(zip(numbers, names, strict=True))  # drops duplicates
        places = -2 - np.fromiter(wanted, np.intp, len(wanted))
        records, found = self._read(places)
        fits = np.array([name == is_called for name, is_called in zip(wanted.values(), found, strict=True)], np.bool_)
        row_of: dict[int, int] = {}
        if fits.any():
            some = places[fits]
            if not fits.all():
                records = records[fits]
                found = [name for name, fit_ in zip(found, fits.tolist(), strict=True) if fit_]
            self._free(records, some)
            rows = self._restore_rows(records, found)
            row_of = dict(zip((-2 - some).tolist(), rows.tolist(), strict=True))
        return [
            row_of.get(number) if wanted[number] == name else None for number, name in zip(numbers, names, strict=True)
        ]

    def _restore_rows(self, records: NDArray[Any], names: list[bytes]) -> Rows:
        """Restore rows from records; the frontier gets their priorities later."""
        if not len(records):
            return np.zeros(0, np.int32)
        rows = self.table.take_back(names, records["key"])
        for part_name, part in self._parts.items():
            part.join(rows, self._of_part(part_name, records), self.table)
        self.frontier.hold(rows, self.trap_filter.levels(rows))
        self._back.update(zip(rows.tolist(), records["frontier score"].tolist(), strict=True))
        return rows

    def _allocate(self, count: int) -> NDArray[np.intp]:
        free = self._kind[: self._end] == FREED
        for pinned in self._pinned:
            free[: len(pinned)] &= ~pinned[: len(free)]
        found = np.flatnonzero(free)[:count]
        return np.concatenate([found, self._append(count - len(found))])

    def _append(self, count: int) -> NDArray[np.intp]:
        begin, self._end = self._end, self._end + count
        for name in _COLUMNS:
            setattr(self, name, fit(getattr(self, name), self._end))
        return np.arange(begin, self._end)

    def _keep(self, places: NDArray[np.intp], names: list[bytes], known: Record) -> None:
        if self.file.kind is None:
            self.file.kind = _kind_of(known)
        for begin in range(0, len(places), RECORDS):
            some = slice(begin, begin + RECORDS)
            self._keep_some(places[some], names[some], {name: column[some] for name, column in known.items()})

    def _keep_some(self, places: NDArray[np.intp], names: list[bytes], known: Record) -> None:
        records = np.zeros(len(places), self.file.kind)
        for name, column in known.items():
            records[name] = column
        records["key"] = fingerprints(names)
        records["length"] = [len(name) for name in names]
        records["name"] = np.array(names, f"S{INLINE}").view(np.uint8).reshape(-1, INLINE)  # cuts longer names
        for at in np.flatnonzero(records["length"] > INLINE).tolist():  # few
            more = self._append(self.file.places(len(names[at]) - INLINE))
            self._kind[more] = TEXT
            records["more"][at] = more[0]
            self.file.write_text(int(more[0]), names[at][INLINE:])
        self.file.write(places, records)

    def _read(self, places: NDArray[np.intp]) -> tuple[NDArray[Any], list[bytes]]:
        if not len(places):
            return np.zeros(0, self.file.kind or np.dtype([("frontier score", np.float64)])), []
        records = self.file.read(places)
        lengths, texts = records["length"].tolist(), records["name"].tobytes()
        names = [texts[at * INLINE : at * INLINE + min(length, INLINE)] for at, length in enumerate(lengths)]
        for at in np.flatnonzero(records["length"] > INLINE).tolist():  # few; the rest has no checksum of its own
            names[at] += self.file.read_text(int(records["more"][at]), lengths[at] - INLINE)
            if fingerprints([names[at]])[0] != records["key"][at]:
                raise self.file.damage_error()
        return records, names

    def _free(self, records: NDArray[Any], places: NDArray[np.intp]) -> None:
        self._kind[places] = FREED
        self.count -= len(places)
        if len(records):
            for at in np.flatnonzero(records["length"] > INLINE).tolist():
                more = int(records["more"][at])
                self._kind[more : more + self.file.places(int(records["length"][at]) - INLINE)] = FREED

    def about(self) -> list[Any]:
        """Return token and length of the file that a snapshot refers to, to be checked by `fits`."""
        return [] if self.file.kind is None else [self.file.token, self.file.offset(self._end)]

    def state(self) -> State:
        """Return the columns; the places of this snapshot are not overwritten until two later snapshots exist."""
        columns = {name: getattr(self, name)[: self._end] for name in _COLUMNS}
        self._pinned = [*self._pinned[-1:], columns["_kind"] != FREED]
        if self.file.kind is None:
            return {"columns": {}}
        self.file.flush()
        kind = [[name, kind.base.str, list(kind.shape)] for name, (kind, *_) in (self.file.kind.fields or {}).items()]
        counters = {name: getattr(self, name) for name in ("count", "sweeps", "_end", "_visits", "_turn")}
        return {"columns": columns, "kind": kind, **counters}

    def restore(self, state: State) -> None:
        if not state["columns"]:
            return
        for name in ("count", "sweeps", "_end", "_visits", "_turn"):
            setattr(self, name, state[name])
        for name in _COLUMNS:
            column, before = state["columns"][name], getattr(self, name)
            if column.dtype != before.dtype or len(column) != self._end:
                raise StateMismatch(f"{name} has {len(column)} rows of {column.dtype}: expected {self._end}")
            setattr(self, name, column)
        self.file.kind = np.dtype([(name, kind, tuple(shape)) for name, kind, shape in state["kind"]])
        self.file.take_over()
        self._pinned = [self._kind != FREED]
        if self.sweeps:
            self.frontier.by_age()


_COLUMNS = ("_kind", "_score", "_age", "_host_key", "_tag", "_held")


def _nth_best(values: NDArray[np.float32], n: int) -> float:
    return float(np.partition(values, len(values) - n)[len(values) - n]) if n else math.inf


def _nth(groups: NDArray[np.int32], *keys: NDArray[Any]) -> NDArray[np.intp]:
    order = np.lexsort((*reversed(keys), groups))
    ordered = groups[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    nth = np.empty(len(groups), np.intp)
    nth[order] = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    return nth


def _kind_of(known: Record) -> np.dtype[Any]:
    fields: list[Any] = [("check", np.uint64), ("key", np.uint64), ("length", np.int32), ("more", np.int32)]
    fields.append(("name", np.uint8, (INLINE,)))
    fields += [(name, column.dtype, column.shape[1:]) for name, column in known.items()]
    rest = -np.dtype(fields).itemsize % 8
    return np.dtype([*fields, ("", np.uint8, (rest,))] if rest else fields)


class SpillFile:
    """File of fixed-size records, addressed by place. Without a path, or if readonly, writes go to a temporary file."""

    def __init__(self, path: Path | None, readonly: bool) -> None:
        self.path, self.readonly = path, readonly
        self.kind: np.dtype[Any] | None = None
        self.token = ""  # random token that identifies the file
        self._given: int | None = None  # the file of a crawl opened for reading
        self._own: int | None = None
        self._written = np.zeros(0, np.bool_)  # places written to the temporary file

    def places(self, count: int) -> int:
        """Return how many places a number of bytes takes."""
        return -(-count // self._size)

    @property
    def _size(self) -> int:
        assert self.kind is not None
        return self.kind.itemsize

    def take_over(self) -> None:
        assert self.path is not None
        flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(self.path, (os.O_RDONLY if self.readonly else os.O_RDWR) | flags)
        self.token = os.pread(file, TOKEN, 0).decode("ascii", "replace")
        if self.readonly:
            self._given = file
        else:
            self._own = file

    def _writable_file(self) -> int:
        """Return the descriptor of the file to write to."""
        if self._own is None:
            if self.path is None or self.readonly:
                with tempfile.TemporaryFile(prefix="lycosa-cold-") as file:
                    self._own = os.dup(file.fileno())
            else:
                flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                self._own = os.open(self.path, flags, 0o666)
            self.token = os.urandom(TOKEN // 2).hex()
            os.pwrite(self._own, self.token.encode(), 0)
        return self._own

    def offset(self, place: int) -> int:
        return TOKEN + place * self._size

    def write(self, places: NDArray[np.intp], records: NDArray[Any]) -> None:
        records["check"] = _checks(records, places)
        data = records.tobytes()
        for begin, end, first in _runs(places):
            self._write(data[begin * self._size : end * self._size], first)

    def write_text(self, first: int, text: bytes) -> None:
        self._write(text.ljust(self.places(len(text)) * self._size, b"\0"), first)

    def _write(self, data: bytes, first: int) -> None:
        if self._given is not None:
            end = first + self.places(len(data))
            self._written = fit(self._written, end)
            self._written[first:end] = True
        at, file = self.offset(first), self._writable_file()
        view = memoryview(data)
        while view:
            written = os.pwrite(file, view, at)
            view, at = view[written:], at + written

    def read(self, places: NDArray[np.intp]) -> NDArray[Any]:
        order = np.argsort(places, kind="stable")
        records = np.empty(len(places), self.kind)
        whole = np.dtype((np.void, self._size))  # numpy copies whole records faster than field by field
        for begin in range(0, len(places), RECORDS):
            some = order[begin : begin + RECORDS]
            records.view(whole)[some] = self._records(places[some]).view(whole)
        return records

    def _records(self, places: NDArray[np.intp]) -> NDArray[Any]:
        data = b"".join([self._read((end - begin) * self._size, first) for begin, end, first in _runs(places)])
        if len(data) != len(places) * self._size:
            raise self.damage_error()
        records = np.frombuffer(data, self.kind)
        if (_checks(records, places) != records["check"]).any():
            raise self.damage_error()
        return records

    def read_text(self, first: int, length: int) -> bytes:
        return self._read(length, first)

    def _read(self, size: int, first: int) -> bytes:
        """Read bytes from place `first` on; each place is read from the file it was last written to."""
        if self._given is None:
            return os.pread(self._writable_file(), size, self.offset(first))
        pieces = []
        for place in range(first, first + self.places(size)):
            own = place < len(self._written) and self._written[place]
            many = min(self._size, size - (place - first) * self._size)
            pieces.append(os.pread(self._writable_file() if own else self._given, many, self.offset(place)))
        return b"".join(pieces)

    def damage_error(self) -> InputError:
        if self.path is None:
            return InputError(
                "bad-file", "the temporary file of spilled rows was changed by another program: start again"
            )
        if self.readonly:
            return InputError("bad-file", f"{self.path} changed while it was read: try again")
        return InputError("bad-file", f"{self.path} is damaged: delete it, then continue; the log is read again")

    def flush(self) -> None:
        """Sync the file before a snapshot refers to it."""
        if self._own is not None and self.path is not None and not self.readonly:
            os.fdatasync(self._own)

    def close(self) -> None:
        for file in (self._own, self._given):
            if file is not None:
                os.close(file)
        self._own = self._given = None

    def __del__(self) -> None:
        self.close()


def fits(facts: list[Any], path: Path | None) -> bool:
    """Return whether the file that a snapshot refers to exists and is complete."""
    if not facts:
        return True
    token, size = facts
    try:
        with open(path or "", "rb") as file:
            return bool(file.read(TOKEN) == token.encode() and os.fstat(file.fileno()).st_size >= size)
    except OSError:
        return False


def _checks(records: NDArray[Any], places: NDArray[np.intp]) -> NDArray[np.uint64]:
    words = np.ascontiguousarray(records).view(np.uint64).reshape(len(records), -1)[:, 1:]
    factors = (np.arange(1, words.shape[1] + 1, dtype=np.uint64) * _MIX) | np.uint64(1)
    sums: NDArray[np.uint64] = (words * factors).sum(axis=1, dtype=np.uint64) + (
        places.astype(np.uint64) + np.uint64(1)
    ) * _MIX
    return sums


def _runs(places: NDArray[np.intp]) -> list[tuple[int, int, int]]:
    gaps = ((places[1:] - places[:-1] != 1).nonzero()[0] + 1).tolist()
    begins = [0, *gaps]
    return list(zip(begins, [*gaps, len(places)], places[begins].tolist(), strict=True))
