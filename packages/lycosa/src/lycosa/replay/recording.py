"""A recorded web: some WARC files, looked through by address and date.

Each file has an index of its own, and all of them are asked, one after the other: a look-up costs a few microseconds a
file, and nothing has to be merged when one of them changes.

Which capture is served:

1. Addresses meet in their canonical form: without fragment, tracking parameters and session ids. A capture of just the
   spelling that was asked for comes first, then one of the same scheme, then one of the other (http for https).
2. Of several, the last one by the date asked for; if all are later, the first. Without a date the newest that has
   content: a page that has vanished since is shown as it last was.
3. A revisit has its own headers, and the body of the record it refers to; one that says "not modified" is that record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from lycosa.core.errors import InputError, StoreError
from lycosa.replay.captures import CONTENT, REVISIT, SECURE, bare, digest_key, identify
from lycosa.replay.index import open_index
from lycosa.replay.places import archives
from lycosa.replay.records import Damaged, RecordedAnswer, read
from lycosa.web.urls import canonical, resolve


class Spot(NamedTuple):
    archive: ArchiveFile
    row: int

    @property
    def cost(self) -> int:
        """Bytes that have to be read; of a revisit nobody knows before."""
        columns = self.archive.index.columns
        return int(columns["length"][self.row]) if not columns["flags"][self.row] & REVISIT else 1 << 62


class ArchiveFile:
    def __init__(self, path: Path, progress: Callable[[int, int], None]) -> None:
        self.path = path
        self.index = open_index(path, progress)
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error

    def read(self, row: int) -> RecordedAnswer:
        columns = self.index.columns
        offset, length = int(columns["offset"][row]), int(columns["length"][row])
        try:
            return read(os.pread(self._file, length, offset))
        # The index itself may be what is damaged.
        except (OSError, OverflowError, MemoryError, Damaged) as error:
            raise Damaged(f"the record at byte {offset:,} of {self.path} can't be read: {error}") from error

    def close(self) -> None:
        os.close(self._file)


@dataclass(slots=True)
class RecordedHost:
    name: str
    pages: int = 0
    start: str = ""


class Recording:
    """Some WARC files as one web."""

    def __init__(
        self,
        named: Iterable[Path],
        *,
        at: int | None = None,
        progress: Callable[[Path, int, int], None] = lambda path, reached, captures: None,
    ) -> None:
        self.at = at  # the moment to show by default, in microseconds since 1970; None: the newest
        self.archives: list[ArchiveFile] = []
        self.notes: list[str] = []
        try:
            named = list(named)
            for path in archives(named):
                try:
                    archive = ArchiveFile(path, lambda reached, captures, path=path: progress(path, reached, captures))  # type: ignore[misc]
                except InputError as error:  # an empty or torn file in a directory is no reason to serve nothing
                    if path in named:
                        raise
                    self.notes.append(f"left out: {error}")
                else:
                    self.archives.append(archive)
            if not len(self):
                raise InputError(f"no page is recorded in {', '.join(str(path) for path in archives(named))}")
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return sum(len(archive.index) for archive in self.archives)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        for archive in self.archives:
            archive.close()
        self.archives = []

    @property
    def start(self) -> str:
        return str(max(self.archives, key=lambda held: len(held.index)).index.facts["start"])

    def hosts(self) -> list[RecordedHost]:
        """The hosts with pages, those with most first."""
        numbers: dict[str, int] = {}
        starts: list[str] = []
        keys, owners = [np.zeros(0, np.uint64)], [np.zeros(0, np.intp)]
        for archive in self.archives:
            mine = []
            for name, start in archive.index.hosts():
                number = numbers.setdefault(name, len(starts))
                if number == len(starts):
                    starts.append(start)
                elif start:
                    starts[number] = min(starts[number] or start, start, key=len)
                mine.append(number)
            key, host = archive.index.pages()
            keys.append(key)
            owners.append(np.array(mine, np.intp)[host])
        _, first = np.unique(np.concatenate(keys), return_index=True)
        pages = np.bincount(np.concatenate(owners)[first], minlength=len(starts))
        hosts = [
            RecordedHost(name, int(pages[number]), starts[number]) for name, number in numbers.items() if pages[number]
        ]
        return sorted(hosts, key=lambda host: -host.pages)

    # -- looking up ----------------------------------------------------------------------------------------------

    def locate(self, url: str, at: int | None = None) -> list[Spot]:
        """Where captures of an address may lie, the best first."""
        key, exact, address = identify(url)
        secure, at = address.startswith("https://"), self.at if at is None else at
        ranked: list[tuple[tuple[bool, bool, bool, int], int, Spot]] = []
        for archive in self.archives:
            columns = archive.index.columns
            for row in archive.index.rows(key):
                date = int(columns["date"][row])
                flags = int(columns["flags"][row])
                rank = (
                    int(columns["exact"][row]) != exact,
                    bool(flags & SECURE) != secure,
                    not flags & CONTENT if at is None else date > at,
                    -date if at is None else abs(date - at),
                )
                ranked.append((rank, len(ranked), Spot(archive, row)))
        return [spot for _, _, spot in sorted(ranked, key=lambda item: item[:2])]

    def answer(self, url: str, spots: Iterable[Spot]) -> RecordedAnswer | None:
        """What was recorded of an address, at the first of these spots that is really about it."""
        address = identify(url)[2]
        for spot in spots:
            answer = spot.archive.read(spot.row)
            recorded = identify(answer.url)[2]
            if bare(recorded) != bare(address):
                continue  # another address with the same hash
            if recorded != address and answer.status in range(300, 400) and _target(answer) == address:
                continue  # http sent on to https, or the other way: to those who are there it leads nowhere
            return self._with_body(answer) if answer.revisit else answer
        return None

    def find(self, url: str, at: int | None = None) -> RecordedAnswer | None:
        return self.answer(url, self.locate(url, at))

    def _with_body(self, revisit: RecordedAnswer) -> RecordedAnswer:
        """A revisit with what it leaves out."""
        if revisit.status in range(300, 400) and not revisit.unchanged:
            return revisit  # where it leads is in its headers
        for original in self._originals(revisit):
            if revisit.unchanged or not revisit.headers:
                original.date = revisit.date
                return original
            revisit.body = original.body
            return revisit
        raise Damaged(
            f"{revisit.url} was recorded as the same as an earlier answer, and that one is not in these files"
        )

    def _originals(self, revisit: RecordedAnswer) -> Iterable[RecordedAnswer]:
        """Records that have the body: the one it refers to, or any with the same digest."""
        date = revisit.refers_to_date or revisit.date
        for spot in self.locate(revisit.refers_to or revisit.url, date):
            original = spot.archive.read(spot.row)
            if original.revisit:
                # What still stands may itself be told by reference, as its bytes had come from elsewhere before.
                if revisit.unchanged and not original.unchanged:
                    yield self._with_body(original)
            elif revisit.unchanged or not revisit.digest or original.digest == revisit.digest:
                yield original
        if revisit.digest:
            for archive in self.archives:
                for row in archive.index.with_digest(digest_key(revisit.digest)):
                    original = archive.read(row)
                    if original.digest.upper() == revisit.digest.upper():
                        yield original


def _target(answer: RecordedAnswer) -> str | None:
    return resolve(canonical(answer.url) or answer.url, [answer.header(b"location")])[0]
