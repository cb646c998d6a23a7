"""Index of one WARC file: the position of each capture, in memory-mapped columns.

It is created once and cached. Opening it reads a few hundred bytes regardless of its size; a lookup is a binary search
by URL hash. URLs themselves are not stored: the record is checked, so hash collisions are harmless. An index is valid
while its file has the recorded size and modification time.

    16 bytes   magic
     8 bytes   length of the facts
               facts (msgpack): size and time of the file, end of the last record, rows, offset of the hosts, ...
               columns, each aligned to 8 bytes
               hosts (msgpack): name and start page of each, by number
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest as hash_name

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write
from lycosa.replay.captures import PAGE, REVISIT, Captures
from lycosa.replay.places import cache_directory
from lycosa.replay.scanning import ScanProgress, scan, segments

MAGIC = b"LYCOSA-INDEX-003"
COLUMNS = {
    "key": "<u8", "date": "<i8", "offset": "<u8", "length": "<u8", "digest": "<u8",
    "by_digest": "<u4", "exact": "<u4", "host": "<u4", "flags": "|u1",
}  # fmt: skip
Columns = Mapping[str, NDArray[Any]]


class Index:
    """Captures of one WARC file, ordered by key and date."""

    def __init__(self, columns: Columns, facts: dict[str, Any], hosts: bytes | tuple[Path, int] = b"") -> None:
        self.columns = columns
        self.facts = facts
        self._hosts = hosts
        self.key, self.date, self.flags = columns["key"], columns["date"], columns["flags"]

    def __len__(self) -> int:
        return len(self.key)

    def rows(self, key: int) -> range:
        wanted = np.uint64(key)  # a plain int would make numpy convert the whole column
        return range(int(self.key.searchsorted(wanted)), int(self.key.searchsorted(wanted, "right")))

    def with_digest(self, digest: int) -> list[int]:
        """Return the captures with this payload digest that contain the bytes themselves."""
        digests, order = self.columns["digest"], self.columns["by_digest"]
        wanted = np.uint64(digest)
        try:
            first, last = (int(np.searchsorted(digests, wanted, side, order)) for side in ("left", "right"))
            return [int(row) for row in order[first:last] if not self.flags[row] & REVISIT]
        except (ValueError, IndexError):  # a corrupt index
            return []

    def hosts(self) -> list[tuple[str, str]]:
        """Return name and start page of each host, by number."""
        packed = self._hosts
        if not isinstance(packed, bytes):
            with open(packed[0], "rb") as file:
                file.seek(packed[1])
                packed = file.read()
        try:
            return [(str(name), str(start)) for name, start in msgpack.unpackb(packed)]
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise StoreError(f"the index {self._hosts[0]!s} is damaged: delete it, and it will be rebuilt") from error

    def pages(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Return key and host of each distinct page."""
        rows = np.flatnonzero(self.flags & PAGE)
        keys, first = np.unique(self.key[rows], return_index=True)
        return keys, self.columns["host"][rows[first]]

    def save(self, path: Path) -> None:
        assert isinstance(self._hosts, bytes)
        facts = msgpack.packb(self.facts)
        parts = [MAGIC + struct.pack("<Q", len(facts)) + facts]
        parts += [np.ascontiguousarray(self.columns[name]).tobytes() for name in COLUMNS]
        with atomic_write(path) as file:
            for part in parts:
                file.write(part)
                file.write(b"\0" * (-len(part) % 8))
            file.write(self._hosts)


def load(path: Path) -> Index | None:
    """Load an index from disk; None if there is no usable one."""
    try:
        with open(path, "rb") as file:
            head = file.read(24)
            if head[:16] != MAGIC:
                return None
            length = struct.unpack("<Q", head[16:])[0]
            size = os.fstat(file.fileno()).st_size
            if length > size:
                return None
            facts = msgpack.unpackb(file.read(length))
        place, rows = _aligned(24 + length), facts["rows"]
        columns = {}
        for name, kind in COLUMNS.items():
            dtype = np.dtype(kind)
            if rows:
                columns[name] = np.memmap(path, dtype, "r", place, (rows,)).view(np.ndarray)
            else:
                columns[name] = np.zeros(0, dtype)
            place = _aligned(place + rows * dtype.itemsize)
        index = Index(columns, facts, (path, place))
        return index if size == place + facts["hosts_size"] else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, struct.error):
        return None


def _aligned(place: int) -> int:
    return place + -place % 8


def kept_at(path: Path) -> Path:
    return cache_directory() / "index" / f"{hash_name(os.path.abspath(path).encode())}-{path.name}"


def open_index(path: Path, progress: ScanProgress) -> Index:
    """Return the index of a WARC file, cached or new."""
    kept = kept_at(path)
    try:
        stat = path.stat()
        saved = load(kept)
        if saved is not None and (saved.facts["size"], saved.facts["time"]) == (stat.st_size, stat.st_mtime_ns):
            return saved
        captures, end = Captures(), 0
        for part in segments(path, stat.st_size):
            end = scan(path, part, captures, progress)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    if not captures.records:
        raise InputError("bad-file", f"{path} contains no WARC records: is it a web archive?")
    index = _build_index(captures, {"size": stat.st_size, "time": stat.st_mtime_ns, "end": end})
    with suppress(OSError):  # the index is created again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        index.save(kept)
    return index


def _build_index(captures: Captures, file_facts: dict[str, Any]) -> Index:
    chosen = captures.servable()
    columns = {name: np.array(column, COLUMNS[name])[chosen] for name, column in captures.columns.items()}
    order = np.lexsort((columns["date"], columns["key"]))
    columns = {name: column[order] for name, column in columns.items()}
    columns["by_digest"] = np.argsort(columns["digest"], kind="stable").astype("<u4")
    hosts = list(zip(captures.hosts, captures.starts, strict=True))
    packed = msgpack.packb(hosts)
    facts = {**file_facts, "rows": len(order), "hosts": len(hosts), "hosts_size": len(packed)}
    index = Index(columns, facts, packed)
    pages = np.bincount(index.pages()[1])
    facts["start"] = hosts[int(pages.argmax())][1] if len(pages) else ""
    return index
