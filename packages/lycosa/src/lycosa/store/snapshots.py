"""Checkpoints of a crawl's learned state: two files, rewritten repeatedly while the crawl runs.

    blocks    the bytes of all arrays, in blocks of 16 KiB, in any order
    map       description of the checkpoint and its arrays; place and XXH3 hash of each block

Most of the state does not change between checkpoints. Only blocks with a changed hash are written, in places that the
previous checkpoint does not use; then the new map replaces the old one. If the process is killed in between, the
previous checkpoint is intact. Blocks of zeros are not stored.

Files are not synced, since a checkpoint is a cache: hashes reveal truncated, flipped or lost data, and a checkpoint
that was rewritten during a read. Contents are never executed, and claimed sizes are compared with the file sizes before
memory is allocated.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import Stemmer
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import FileArray, Scratch
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.state import AppendOnly, FileFormat, State, StateMismatch, TextLines, added, digest, pack
from lycosa.version import __version__

NAME, MAP, BLOCKS = "snapshot", "map", "blocks"

BLOCK = 1 << 14  # block size in bytes
MAX_MAP_BYTES = 200_000_000  # limit of the map; enough for 100 GB of blocks
BLOCKS_PER_READ = 64
MIN_FILE_BYTES = 1 << 24  # spillable arrays above this size are restored into files
ZEROS = -1  # place of all-zero blocks, which are not stored
_FORMAT = FileFormat("lycosa-snapshot", 1, "snapshot", "lycosa resume")
_ARRAY, _APPEND_ONLY, _TEXTS, _SPILLED = range(4)
_TYPES = {name: np.dtype(name) for name in ("<f4", "<f8", "|i1", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1")}
_PLACEHOLDER = 1  # msgpack extension type of the placeholder of an array
_hash = xxhash.xxh3_64_intdigest
_ZERO = _hash(bytes(BLOCK))

About = dict[str, Any]
ArrayFilter = Callable[[tuple[str, ...]], bool]

MAX_UNREAD_BLOCKS = 100_000  # limit of the blocks kept from an earlier checkpoint that this process did not read
MIN_FREE_BYTES = 50_000_000  # free space to leave on the disk


@cache
def code_digest() -> str:
    """Return a hash of all that affects replayed state: code, Python, NumPy (rounding), tokenizer and stemmer."""
    versions = f"{np.__version__} {Stemmer.version()} {sys.version} {sys.byteorder}"
    summed = xxhash.xxh3_128(f"{__version__} {versions}".encode())
    home = Path(__file__).parents[1]
    for package in ("core", "text", "judges", "strategies", "web", "store", "spaces", "traps", "crawling"):
        for file in sorted((home / package).rglob("*.py")):
            summed.update(str(file.relative_to(home)).encode())
            summed.update(file.read_bytes())
    return summed.hexdigest()


@dataclass
class _StoredArray:
    kind: int
    dtype: str
    shape: list[int]
    items: int  # length of a growing collection, else 0
    size: int  # in bytes
    places: NDArray[np.int32]
    hashes: NDArray[np.uint64]


class Snapshots:
    """Reader and writer of the checkpoint in a directory. Writing requires a lock, such as that of the directory."""

    def __init__(self, directory: Path, name: str = NAME) -> None:
        self.path = directory / name
        self._leaves: dict[str, _StoredArray] = {}  # contents of the files as last read or written

    def write(self, facts: About, state: State) -> None:
        """Write a state and its description; raise OSError for a full disk, StateMismatch if it cannot be stored."""
        leaves: dict[str, Any] = {}
        rest = _extract_arrays(state, "", leaves)
        plain = msgpack.packb(rest, default=_number, unicode_errors="surrogatepass", strict_types=False)
        if self.path.is_symlink():
            raise StateMismatch(f"{self.path} is a symbolic link")
        self.path.mkdir(exist_ok=True)
        self._check_free_space(leaves)
        file = _open_regular_file(self.path / BLOCKS, os.O_RDWR | os.O_CREAT)
        try:
            room = _BlockAllocator(file, self._leaves.values())
            stored = {name: self._write_array(name, leaf, file, room) for name, leaf in leaves.items()}
        finally:
            os.close(file)
        self._write_map(facts, stored, plain)
        self._leaves = stored

    def _check_free_space(self, leaves: Mapping[str, Any]) -> None:
        """Raise StateMismatch unless the disk has room for two states, as old blocks are overwritten last."""
        needed = 2 * sum(leaf.nbytes for leaf in leaves.values() if isinstance(leaf, np.ndarray))
        blocks = self.path / BLOCKS
        taken = blocks.lstat().st_blocks * 512 if blocks.exists() else 0
        if shutil.disk_usage(self.path).free < max(0, needed - taken) + MIN_FREE_BYTES:
            raise StateMismatch("not enough free disk space for a checkpoint")

    def _write_array(self, name: str, leaf: Any, file: int, room: _BlockAllocator) -> _StoredArray:
        before = self._leaves.get(name)
        if isinstance(leaf, np.ndarray):
            contiguous = np.ascontiguousarray(leaf)
            kind, dtype, shape, items, first = _ARRAY, contiguous.dtype.str, list(leaf.shape), 0, 0
            data = contiguous.reshape(-1).view(np.uint8).data
        else:
            kind, items, shape = _kind(leaf), len(leaf.items), list[int]()
            if before is None or before.kind != kind or before.items > items:
                before = None
            first = 0 if before is None else before.size // BLOCK
            more = leaf.encode(added(leaf.items, 0 if before is None else before.items))
            dtype = "|u1" if isinstance(leaf, TextLines) else more.dtype.str
            rest = b"" if before is None else _last(before, file)
            data = memoryview(rest + (more if isinstance(more, bytes) else more.tobytes()))
        if dtype not in _TYPES:
            raise StateMismatch(f"{name} is an array of {dtype}: expected one of {', '.join(_TYPES)}")
        hashes = np.array([_hash(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)], np.uint64)
        places = np.full(len(hashes), -2, np.int32)
        if before is not None:
            known = min(len(hashes), len(before.hashes) - first)
            same = hashes[:known] == before.hashes[first : first + known]
            places[:known] = np.where(same, before.places[first : first + known], -2)
        places[hashes == _ZERO] = ZEROS
        changed = np.flatnonzero(places == -2)
        places[changed] = room.take(len(changed))
        _write(file, data, changed, places)
        if first and before is not None:
            places = np.concatenate([before.places[:first], places])
            hashes = np.concatenate([before.hashes[:first], hashes])
        return _StoredArray(kind, dtype, shape, items, first * BLOCK + len(data), places, hashes)

    def _write_map(self, facts: About, leaves: Mapping[str, _StoredArray], plain: bytes) -> None:
        described = [[name, leaf.kind, leaf.dtype, leaf.shape, leaf.items, leaf.size] for name, leaf in leaves.items()]
        arrays = {
            "places": np.concatenate([np.zeros(0, np.int32), *(leaf.places for leaf in leaves.values())]),
            "hashes": np.concatenate([np.zeros(0, np.uint64), *(leaf.hashes for leaf in leaves.values())]).view("u1"),
            "plain": np.frombuffer(plain, np.uint8),
        }
        contents = pack({"about": facts, "leaves": described}, arrays, {})
        new = self.path / f"{MAP}.new"
        new.unlink(missing_ok=True)
        with open(new, "xb") as file:
            file.write(_FORMAT.mark + f"{_FORMAT.version}\n{digest(contents)}\n".encode())
            for part in contents:
                file.write(part)
        new.replace(self.path / MAP)

    def remove(self) -> None:
        self._leaves = {}
        for name in (MAP, f"{MAP}.new", BLOCKS):
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):  # the directory may contain foreign files
            self.path.rmdir()

    def read(
        self, fits: Callable[[About], bool], wanted: ArrayFilter | None = None, progress: ProgressCallback = no_progress
    ) -> tuple[About, State] | None:
        """Return description and state of the checkpoint; None if it is missing, damaged or rejected by `fits`.

        `wanted` selects the arrays to load by their path of keys; the others are None.
        """
        for _ in range(3):  # retried, since it may be rewritten during the read
            try:
                about, leaves, plain = _FORMAT.read(self.path / MAP, _parse_map, MAX_MAP_BYTES)
                if not fits(about):
                    return None
                state = self._unpacked(leaves, plain, wanted, progress)
            except Exception:  # a checkpoint is a cache, so fall back to the log
                return None
            if state is not None:
                self._leaves = leaves if wanted is None else {}
                return about, state
        return None

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Raise StateMismatch for any error inside the block; half-restored parts must be discarded."""
        try:
            yield
        except Exception as error:
            why = str(error) if isinstance(error, StateMismatch) else f"{type(error).__name__}: {error}"
            raise StateMismatch(f"the snapshot in {self.path} does not match the crawl ({why})") from error

    def about(self) -> About | None:
        """Return the description of the checkpoint; None if it is missing or damaged."""
        if not (self.path / MAP).exists():
            return None
        try:
            return _FORMAT.read(self.path / MAP, _parse_map, MAX_MAP_BYTES)[0]
        except InputError:
            return None

    def _unpacked(
        self, leaves: Mapping[str, _StoredArray], plain: bytes, wanted: ArrayFilter | None, progress: ProgressCallback
    ) -> State | None:
        """Return the state with the selected arrays; None if the hash of a block differs."""
        some = {name: leaf for name, leaf in leaves.items() if wanted is None or wanted(tuple(name.split("\0")[1:]))}
        done, total = 0, sum(leaf.size for leaf in some.values())
        megabytes = max(1, total // 1_000_000)
        values: dict[str, Any] = dict.fromkeys(leaves)
        lists: dict[bytes, list[str]] = {}
        file = _open_regular_file(self.path / BLOCKS, os.O_RDONLY)
        try:
            _check(leaves, os.fstat(file).st_size)
            for name, leaf in some.items():
                value = _value(file, leaf, lists)
                if value is None:
                    return None
                done += leaf.size
                progress("reading the snapshot", megabytes * done // max(1, total), megabytes)
                values[name] = value
        finally:
            os.close(file)
        state: State = msgpack.unpackb(
            plain,
            ext_hook=lambda _, name: values[name.decode("utf-8", "surrogatepass")],  # replace placeholders by arrays
            unicode_errors="surrogatepass",
            strict_map_key=False,
        )
        return state


class _BlockAllocator:
    """Allocator of block places that the previous checkpoint does not use."""

    def __init__(self, file: int, leaves: Collection[_StoredArray]) -> None:
        length = os.fstat(file).st_size
        last = max((int(leaf.places.max(initial=-1)) for leaf in leaves), default=-1)
        size = min(-(-length // BLOCK), 2 * (last + 1) + MAX_UNREAD_BLOCKS)
        os.ftruncate(file, min(length, size * BLOCK))  # later blocks are not used
        used = np.zeros(size, np.bool_)
        for leaf in leaves:
            used[leaf.places[leaf.places >= 0]] = True
        self._free = np.flatnonzero(~used).astype(np.int32)
        self._taken, self._end = 0, size

    def take(self, count: int) -> NDArray[np.int32]:
        found = self._free[self._taken : self._taken + count]
        self._taken += len(found)
        more = np.arange(self._end, self._end + count - len(found), dtype=np.int32)
        self._end += len(more)
        return np.concatenate([found, more])


def _open_regular_file(path: Path, flags: int) -> int:
    """Open a regular file; raise OSError for symbolic links, FIFOs and devices."""
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def _extract_arrays(value: Any, name: str, leaves: dict[str, Any]) -> Any:
    """Replace the arrays in a state by placeholders, and collect them in `leaves`."""
    if isinstance(value, dict):
        return {key: _extract_arrays(each, f"{name}\0{key}", leaves) for key, each in value.items()}
    if not isinstance(value, np.ndarray | AppendOnly | TextLines):
        return value
    leaves[name] = value
    return msgpack.ExtType(_PLACEHOLDER, name.encode("utf-8", "surrogatepass"))


def _kind(leaf: AppendOnly | TextLines) -> int:
    return _TEXTS if isinstance(leaf, TextLines) else _SPILLED if leaf.filed else _APPEND_ONLY


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise StateMismatch(f"a {type(value).__name__} cannot be stored in a checkpoint")


def _last(leaf: _StoredArray, file: int) -> bytes:
    """Return the contents of a collection's last block unless it is full."""
    rest = leaf.size % BLOCK
    if not rest:
        return b""
    data = os.pread(file, rest, int(leaf.places[-1]) * BLOCK)
    if _hash(data) != leaf.hashes[-1]:
        raise OSError(5, "the checkpoint file was changed by another program")
    return data


def _write(file: int, data: memoryview, changed: NDArray[np.intp], places: NDArray[np.int32]) -> None:
    """Write blocks, merging runs that are contiguous in memory and in the file."""
    if not len(changed):
        return
    targets = places[changed]
    cuts = np.flatnonzero((np.diff(changed) != 1) | (np.diff(targets) != 1)) + 1
    for run in np.split(np.arange(len(changed)), cuts):
        begin, at = int(changed[run[0]]) * BLOCK, int(targets[run[0]]) * BLOCK
        end = min(len(data), begin + len(run) * BLOCK)
        while begin < end:
            written = os.pwrite(file, data[begin:end], at)
            begin, at = begin + written, at + written


def _parse_map(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[About, dict[str, _StoredArray], bytes]:
    leaves: dict[str, _StoredArray] = {}
    places, hashes, at = arrays["places"], arrays["hashes"].tobytes(), 0
    all_hashes = np.frombuffer(hashes, np.uint64)
    for name, kind, dtype, shape, items, size in header["leaves"]:
        if type(name) is not str or type(size) is not int or size < 0:
            raise ValueError("invalid name or size of an array")
        if kind not in (_ARRAY, _APPEND_ONLY, _TEXTS, _SPILLED) or dtype not in _TYPES:
            raise ValueError(f"unsupported type of array {name}")
        if any(type(side) is not int or side < 0 for side in (items, *shape)):
            raise ValueError(f"invalid shape of array {name}")
        if size % _TYPES[dtype].itemsize or (kind == _ARRAY and size != math.prod(shape) * _TYPES[dtype].itemsize):
            raise ValueError(f"array {name} has {size} bytes, which does not fit its shape {shape}")
        end = at - -size // BLOCK
        leaves[name] = _StoredArray(kind, dtype, shape, items, size, places[at:end], all_hashes[at:end])
        at = end
    if at != len(places) or at != len(all_hashes):
        raise ValueError(f"there are {len(places)} blocks and {len(all_hashes)} hashes: expected {at}")
    return header["about"], leaves, arrays["plain"].tobytes()


def _check(leaves: Mapping[str, _StoredArray], size: int) -> None:
    """Raise ValueError if blocks are missing or shared, or a tiny file claims huge arrays by blocks of zeros."""
    places = np.concatenate([np.zeros(0, np.int32), *(leaf.places for leaf in leaves.values())])
    stored = places[places != ZEROS]
    if len(stored) and (stored.min() < 0 or int(stored.max()) * BLOCK >= size or len(np.unique(stored)) < len(stored)):
        raise ValueError("blocks are missing or shared")
    if len(places) > 8 * len(stored) + 100_000:
        raise ValueError("too many blocks of zeros for the number of stored blocks")


def _value(file: int, leaf: _StoredArray, lists: dict[bytes, list[str]]) -> Any:
    """Read a stored array or collection; return None if the hash of a block differs."""
    if leaf.kind == _SPILLED and leaf.size > MIN_FILE_BYTES:
        return _read_into_file(file, leaf)
    data = np.zeros(leaf.size, np.uint8)
    if not _read(file, leaf, data.data, 0):
        return None
    return _texts(data, leaf, lists) if leaf.kind == _TEXTS else _array(data, leaf)


def _read_into_file(file: int, leaf: _StoredArray) -> FileArray | None:
    """Copy an array into a scratch file in pieces; return None if the hash of a block differs."""
    scratch = Scratch()
    for first in range(0, len(leaf.places), BLOCKS_PER_READ):
        data = memoryview(bytearray(min(BLOCKS_PER_READ * BLOCK, leaf.size - first * BLOCK)))
        if not _read(file, leaf, data, first):
            return None
        scratch.write(data, first * BLOCK)
    return FileArray(scratch, _TYPES[leaf.dtype], leaf.size)


def _read(file: int, leaf: _StoredArray, view: memoryview, first: int) -> bool:
    """Read the bytes of an array from block `first` on into a zeroed buffer; return True if the hashes are correct."""
    places = leaf.places[first : first - -len(view) // BLOCK]
    stored = np.flatnonzero(places != ZEROS)
    cuts = np.flatnonzero((np.diff(stored) != 1) | (np.diff(places[stored]) != 1)) + 1
    for run in np.split(stored, cuts) if len(stored) else ():
        begin, at = int(run[0]) * BLOCK, int(places[run[0]]) * BLOCK
        end = min(len(view), begin + len(run) * BLOCK)
        while begin < end:
            got = os.preadv(file, [view[begin:end]], at)
            if not got:
                return False
            begin, at = begin + got, at + got
    hashes = leaf.hashes[first : first + len(places)].tolist()
    return all(_hash(view[at * BLOCK : (at + 1) * BLOCK]) == hashes[at] for at in stored.tolist())


def _array(data: NDArray[np.uint8], leaf: _StoredArray) -> NDArray[Any]:
    array = data.view(_TYPES[leaf.dtype])
    return array.reshape(leaf.shape) if leaf.kind == _ARRAY else array


def _texts(data: NDArray[np.uint8], leaf: _StoredArray, lists: dict[bytes, list[str]]) -> list[str]:
    """Decode a list of texts; equal lists share their strings."""
    key = leaf.hashes.tobytes()
    if key not in lists:
        lists[key] = data.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
        if len(lists[key]) != leaf.items:
            raise ValueError("wrong number of texts")
    return list(lists[key])
