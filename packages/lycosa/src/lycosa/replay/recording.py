"""A recorded web: WARC files, searched by URL and date.

Each file has its own index, and all are searched in turn: a lookup costs a few microseconds per file, and no merge is
needed when one of them changes.

Which capture is served:
1. URLs match in canonical form: without fragment, tracking parameters and session ids. A capture with the exact
   spelling comes first, then one of the same scheme, then one of the other (http for https).
2. Of several, the last one up to the requested date; if all are later, the first. Without a date the newest with
   content: a page that has vanished since is shown in its last version.
3. A revisit has its own headers, and the body of the record it refers to; "not modified" stands for that record.
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
from lycosa.replay.records import Damaged, RecordedResponse, read
from lycosa.web.urls import canonical, resolve


class Spot(NamedTuple):
    archive: ArchiveFile
    row: int

    @property
    def cost(self) -> int:
        """Number of bytes to read; unknown for a revisit."""
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

    def read(self, row: int) -> RecordedResponse:
        columns = self.index.columns
        offset, length = int(columns["offset"][row]), int(columns["length"][row])
        try:
            return read(os.pread(self._file, length, offset))
        # The index itself may be damaged.
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
    """Several WARC files as one recorded web."""

    def __init__(
        self,
        named: Iterable[Path],
        *,
        at: int | None = None,
        progress: Callable[[Path, int, int], None] = lambda path, reached, captures: None,
    ) -> None:
        self.at = at  # default time in microseconds since 1970; None: the newest capture
        self.archives: list[ArchiveFile] = []
        self.notes: list[str] = []
        try:
            named = list(named)
            for path in archives(named):
                try:
                    archive = ArchiveFile(path, lambda reached, captures, path=path: progress(path, reached, captures))  # type: ignore[misc]
                except InputError as error:  # skip an empty or torn file in a directory
                    if path in named:
                        raise
                    self.notes.append(f"left out: {error}")
                else:
                    self.archives.append(archive)
            if not len(self):
                raise InputError(
                    "nothing-to-do", f"no page is recorded in {', '.join(str(path) for path in archives(named))}"
                )
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
        """Return the hosts with pages, those with the most pages first."""
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

    def locate(self, url: str, at: int | None = None) -> list[Spot]:
        """Return possible captures of a URL, best first."""
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

    def response(self, url: str, spots: Iterable[Spot]) -> RecordedResponse | None:
        """Return the first of these captures that matches the URL, as a response."""
        address = identify(url)[2]
        for spot in spots:
            response = spot.archive.read(spot.row)
            recorded = identify(response.url)[2]
            if bare(recorded) != bare(address):
                continue  # hash collision
            if recorded != address and response.status in range(300, 400) and _target(response) == address:
                continue  # a redirect between http and https would loop here
            return self._with_body(response) if response.revisit else response
        return None

    def find(self, url: str, at: int | None = None) -> RecordedResponse | None:
        return self.response(url, self.locate(url, at))

    def _with_body(self, revisit: RecordedResponse) -> RecordedResponse:
        if revisit.status in range(300, 400) and not revisit.unchanged:
            return revisit  # a redirect needs no body
        for original in self._originals(revisit):
            if revisit.unchanged or not revisit.headers:
                original.date = revisit.date
                return original
            revisit.body = original.body
            return revisit
        raise Damaged(f"{revisit.url} was recorded as unchanged since an earlier response, which is not in these files")

    def _originals(self, revisit: RecordedResponse) -> Iterable[RecordedResponse]:
        """Yield records with the body: the referenced one, or any with the same digest."""
        date = revisit.refers_to_date or revisit.date
        for spot in self.locate(revisit.refers_to or revisit.url, date):
            original = spot.archive.read(spot.row)
            if original.revisit:
                # a "not modified" record may itself refer to another record
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


def _target(response: RecordedResponse) -> str | None:
    return resolve(canonical(response.url) or response.url, [response.header(b"location")])[0]
