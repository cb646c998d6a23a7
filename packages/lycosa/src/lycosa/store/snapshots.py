"""A snapshot of what a crawl has learned: two files in its directory, written again and again while it runs.

    blocks    the bytes of all arrays, in blocks of 16 kB, in no order
    map       what the snapshot is of, which arrays there are, and of each block where it is and its hash (XXH3)

Most of what a crawl knows does not change from one snapshot to the next. So of each array only those blocks are written
whose hash is another one, into places that the last snapshot does not use; then the new map takes the place of the old.
Whoever is killed in between has the old snapshot, whole. A block that is all zeros is not kept at all.

Nothing is synced: a snapshot is a cache. What was cut, flipped or lost is noticed by the hashes, as is a snapshot
that somebody writes anew while it is read. Nothing in it can run, and what it claims to hold is compared with the size
of its files before room is made for it.
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

from lycosa.core.columns import Filed, Scratch
from lycosa.core.errors import InputError
from lycosa.core.state import Format, Grown, State, Texts, Untold, added, digest, pack
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.version import __version__

NAME, MAP, BLOCKS = "snapshot", "map", "blocks"

BLOCK = 1 << 14  # bytes
MOST_MAP = 200_000_000  # bytes of a map: enough for a hundred gigabytes of blocks
AT_ONCE = 64  # blocks that are read at once
FILED = 1 << 24  # bytes; a larger array may come back in a file
ZEROS = -1  # place of blocks of zeros, which are not kept
_FORMAT = Format("lycosa-snapshot", 1, "snapshot", "lycosa resume")
_ARRAY, _GROWN, _TEXTS, _FILED = range(4)
_TYPES = {name: np.dtype(name) for name in ("<f4", "<f8", "|i1", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1")}
_MARK = 1  # kind of the placeholder of an array among plain values
_hash = xxhash.xxh3_64_intdigest
_ZERO = _hash(bytes(BLOCK))

About = dict[str, Any]

Wanted = Callable[[tuple[str, ...]], bool]

UNKNOWN = 100_000  # blocks of a snapshot that was not read, and stays until the next is complete
SPARE = 50_000_000  # bytes that have to be left on the disk


@cache
def code() -> str:
    """Changes with the code that folds, with numpy's, whose last bits may be others, and with what cuts and stems."""
    others = f"{np.__version__} {Stemmer.version()} {sys.version} {sys.byteorder}"
    summed = xxhash.xxh3_128(f"{__version__} {others}".encode())
    home = Path(__file__).parents[1]
    for room in ("core", "text", "judges", "strategies", "web", "store", "spaces", "traps", "crawling"):
        for file in sorted((home / room).rglob("*.py")):
            summed.update(str(file.relative_to(home)).encode())
            summed.update(file.read_bytes())
    return summed.hexdigest()


@dataclass
class _Leaf:
    """An array as it is kept."""

    kind: int
    dtype: str
    shape: list[int]
    items: int  # of a collection that grows: how many there were
    size: int  # in bytes
    places: NDArray[np.int32]
    hashes: NDArray[np.uint64]


class Snapshots:
    """The snapshot in a crawl's directory, or another one that is kept so. Whoever writes it holds the directory's
    lock, or one of its own; anybody may read it.
    """

    def __init__(self, directory: Path, name: str = NAME) -> None:
        self.path = directory / name
        self._leaves: dict[str, _Leaf] = {}  # what the files hold now, as far as we know

    # -- writing -----------------------------------------------------------------------------------------------

    def write(self, about: About, state: State) -> None:
        """Keep a state; `about` says what it is of. OSError if there is no room, Untold if it can't be told."""
        leaves: dict[str, Any] = {}
        plain = msgpack.packb(
            _walk(state, "", leaves), default=_number, unicode_errors="surrogatepass", strict_types=False
        )
        if self.path.is_symlink():
            raise Untold(f"{self.path} leads somewhere else")
        self.path.mkdir(exist_ok=True)
        self._look_for_room(leaves)
        file = _opened(self.path / BLOCKS, os.O_RDWR | os.O_CREAT)
        try:
            room = _Room(file, self._leaves.values())
            kept = {name: self._keep(name, leaf, file, room) for name, leaf in leaves.items()}
        finally:
            os.close(file)
        self._write_map(about, kept, plain)
        self._leaves = kept

    def _look_for_room(self, leaves: Mapping[str, Any]) -> None:
        """A cache must not take the room that the crawl needs; twice, as what was is overwritten only afterwards."""
        needed = 2 * sum(leaf.nbytes for leaf in leaves.values() if isinstance(leaf, np.ndarray))
        blocks = self.path / BLOCKS
        taken = blocks.lstat().st_blocks * 512 if blocks.exists() else 0
        if shutil.disk_usage(self.path).free < max(0, needed - taken) + SPARE:
            raise Untold("the disk has too little room")

    def _keep(self, name: str, leaf: Any, file: int, room: _Room) -> _Leaf:
        """Write what has changed of an array."""
        before = self._leaves.get(name)
        if isinstance(leaf, np.ndarray):
            whole = np.ascontiguousarray(leaf)
            kind, dtype, shape, items, first = _ARRAY, whole.dtype.str, list(leaf.shape), 0, 0
            data = whole.reshape(-1).view(np.uint8).data
        else:
            kind, items, shape = _kind(leaf), len(leaf.items), list[int]()
            if before is None or before.kind != kind or before.items > items:
                before = None
            first = 0 if before is None else before.size // BLOCK
            more = leaf.encode(added(leaf.items, 0 if before is None else before.items))
            dtype = "|u1" if isinstance(leaf, Texts) else more.dtype.str
            rest = b"" if before is None else _last(before, file)
            data = memoryview(rest + (more if isinstance(more, bytes) else more.tobytes()))
        if dtype not in _TYPES:
            raise Untold(f"{name} is an array of {dtype}")
        hashes = np.array([_hash(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)], np.uint64)
        places = np.full(len(hashes), ZEROS, np.int32)
        if before is not None:
            known = min(len(hashes), len(before.hashes) - first)
            same = hashes[:known] == before.hashes[first : first + known]
            places[:known] = np.where(same, before.places[first : first + known], -2)
            places[known:] = -2
        else:
            places[:] = -2
        places[hashes == _ZERO] = ZEROS
        changed = np.flatnonzero(places == -2)
        places[changed] = room.take(len(changed))
        _write(file, data, changed, places)
        if first and before is not None:
            places = np.concatenate([before.places[:first], places])
            hashes = np.concatenate([before.hashes[:first], hashes])
        return _Leaf(kind, dtype, shape, items, first * BLOCK + len(data), places, hashes)

    def _write_map(self, about: About, leaves: Mapping[str, _Leaf], plain: bytes) -> None:
        told = [[name, leaf.kind, leaf.dtype, leaf.shape, leaf.items, leaf.size] for name, leaf in leaves.items()]
        arrays = {
            "places": np.concatenate([np.zeros(0, np.int32), *(leaf.places for leaf in leaves.values())]),
            "hashes": np.concatenate([np.zeros(0, np.uint64), *(leaf.hashes for leaf in leaves.values())]).view("u1"),
            "plain": np.frombuffer(plain, np.uint8),
        }
        contents = pack({"about": about, "leaves": told}, arrays, {})
        new = self.path / f"{MAP}.new"
        new.unlink(missing_ok=True)
        with open(new, "xb") as file:
            file.write(_FORMAT.mark + f"{_FORMAT.version}\n{digest(contents)}\n".encode())
            for part in contents:
                file.write(part)
        new.replace(self.path / MAP)

    def remove(self) -> None:
        """Throw it away."""
        self._leaves = {}
        for name in (MAP, f"{MAP}.new", BLOCKS):
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's files may be there, too
            self.path.rmdir()

    # -- reading -----------------------------------------------------------------------------------------------

    def read(
        self, fits: Callable[[About], bool], wanted: Wanted | None = None, tell: ProgressCallback = no_progress
    ) -> tuple[About, State] | None:
        """What a snapshot is of, and its state; None if there is none that fits, or not all of it is there.

        `wanted` says of which parts the arrays are, each by the names that lead to it, once it is known what the
        snapshot is of; of others there is None in place of arrays.
        """
        for _ in range(3):  # a snapshot may be rewritten while it is read
            try:
                made = _FORMAT.read(self.path / MAP, _mapped, MOST_MAP)
                about, leaves, plain = made
                if not fits(about):
                    return None
                state = self._unpacked(leaves, plain, wanted, tell)
            except Exception:  # whatever is wrong with it, the log has everything
                return None
            if state is not None:
                self._leaves = leaves if wanted is None else {}
                return about, state
        return None

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Raise Untold for any error while a state is restored: the parts are then half restored, and of no use."""
        try:
            yield
        except Exception as error:
            why = str(error) if isinstance(error, Untold) else f"{type(error).__name__}: {error}"
            raise Untold(f"the snapshot in {self.path} does not fit ({why})") from error

    def about(self) -> About | None:
        """What the snapshot is of, if there is one."""
        try:
            return _FORMAT.read(self.path / MAP, _mapped, MOST_MAP)[0]
        except InputError:
            return None

    def _unpacked(self, leaves: Mapping[str, _Leaf], plain: bytes, wanted: Wanted | None, tell: ProgressCallback) -> State | None:
        """The state, with the arrays that are wanted; None if a block is another one than it was."""
        some = {name: leaf for name, leaf in leaves.items() if wanted is None or wanted(tuple(name.split("\0")[1:]))}
        done, total = 0, sum(leaf.size for leaf in some.values())
        megabytes = max(1, total // 1_000_000)
        values: dict[str, Any] = dict.fromkeys(leaves)
        lists: dict[bytes, list[str]] = {}
        file = _opened(self.path / BLOCKS, os.O_RDONLY)
        try:
            _check(leaves, os.fstat(file).st_size)
            for name, leaf in some.items():
                value = _value(file, leaf, lists)
                if value is None:
                    return None
                done += leaf.size
                tell("reading the snapshot", megabytes * done // max(1, total), megabytes)
                values[name] = value
        finally:
            os.close(file)
        state: State = msgpack.unpackb(
            plain,
            ext_hook=lambda code, name: values[name.decode("utf-8", "surrogatepass")],  # arrays where their marks stand
            unicode_errors="surrogatepass",
            strict_map_key=False,
        )
        return state


class _Room:
    """Places of blocks that the last snapshot does not use."""

    def __init__(self, file: int, leaves: Collection[_Leaf]) -> None:
        length = os.fstat(file).st_size
        last = max((int(leaf.places.max(initial=-1)) for leaf in leaves), default=-1)
        size = min(-(-length // BLOCK), 2 * (last + 1) + UNKNOWN)
        os.ftruncate(file, min(length, size * BLOCK))  # nobody needs what is behind
        used = np.zeros(size, np.bool_)
        for leaf in leaves:
            used[leaf.places[leaf.places >= 0]] = True
        self._free = np.flatnonzero(~used).astype(np.int32)
        self._taken, self._end = 0, size

    def take(self, count: int) -> NDArray[np.int32]:
        """So many of them, in order; the file grows where there are not enough."""
        found = self._free[self._taken : self._taken + count]
        self._taken += len(found)
        more = np.arange(self._end, self._end + count - len(found), dtype=np.int32)
        self._end += len(more)
        return np.concatenate([found, more])


def _opened(path: Path, flags: int) -> int:
    """A file that is one: no link to another, and nothing that one waits for."""
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "no file", str(path))
    return file


def _walk(value: Any, name: str, leaves: dict[str, Any]) -> Any:
    """A state with marks in place of arrays, which are collected."""
    if isinstance(value, dict):
        return {key: _walk(each, f"{name}\0{key}", leaves) for key, each in value.items()}
    if not isinstance(value, np.ndarray | Grown | Texts):
        return value
    leaves[name] = value
    return msgpack.ExtType(_MARK, name.encode("utf-8", "surrogatepass"))


def _kind(leaf: Grown | Texts) -> int:
    """How a collection is kept."""
    return _TEXTS if isinstance(leaf, Texts) else _FILED if leaf.filed else _GROWN


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise Untold(f"a {type(value).__name__} is not a plain value")


def _last(leaf: _Leaf, file: int) -> bytes:
    """What stands in the last block of a collection, if that is not full."""
    rest = leaf.size % BLOCK
    if not rest:
        return b""
    data = os.pread(file, rest, int(leaf.places[-1]) * BLOCK)
    if _hash(data) != leaf.hashes[-1]:
        raise OSError(5, "a snapshot's file was changed by somebody else")
    return data


def _write(file: int, data: memoryview, changed: NDArray[np.intp], places: NDArray[np.int32]) -> None:
    """Write some blocks; those that are neighbours here and there at once."""
    if not len(changed):
        return
    there = places[changed]
    cuts = np.flatnonzero((np.diff(changed) != 1) | (np.diff(there) != 1)) + 1
    for run in np.split(np.arange(len(changed)), cuts):
        begin, at = int(changed[run[0]]) * BLOCK, int(there[run[0]]) * BLOCK
        end = min(len(data), begin + len(run) * BLOCK)
        while begin < end:
            written = os.pwrite(file, data[begin:end], at)
            begin, at = begin + written, at + written


def _mapped(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[About, dict[str, _Leaf], bytes]:
    """A map as it was written."""
    leaves: dict[str, _Leaf] = {}
    places, hashes, at = arrays["places"], arrays["hashes"].tobytes(), 0
    all_hashes = np.frombuffer(hashes, np.uint64)
    for name, kind, dtype, shape, items, size in header["leaves"]:
        if type(name) is not str or type(size) is not int or size < 0:
            raise ValueError("an array has no name or size")
        if kind not in (_ARRAY, _GROWN, _TEXTS, _FILED) or dtype not in _TYPES:
            raise ValueError(f"{name} is not an array")
        if any(type(side) is not int or side < 0 for side in (items, *shape)):
            raise ValueError(f"{name} has no size")
        if size % _TYPES[dtype].itemsize or (kind == _ARRAY and size != math.prod(shape) * _TYPES[dtype].itemsize):
            raise ValueError(f"{name} is of another size")
        end = at - -size // BLOCK
        leaves[name] = _Leaf(kind, dtype, shape, items, size, places[at:end], all_hashes[at:end])
        at = end
    if at != len(places) or at != len(all_hashes):
        raise ValueError("there are more blocks than arrays")
    return header["about"], leaves, arrays["plain"].tobytes()


def _check(leaves: Mapping[str, _Leaf], size: int) -> None:
    """Whether the blocks can be there, each once. Zeros take no room until they are changed."""
    places = np.concatenate([np.zeros(0, np.int32), *(leaf.places for leaf in leaves.values())])
    kept = places[places != ZEROS]
    if len(kept) and (kept.min() < 0 or int(kept.max()) * BLOCK >= size or len(np.unique(kept)) < len(kept)):
        raise ValueError("blocks are missing")
    if len(places) > 8 * len(kept) + 100_000:
        raise ValueError("there is nothing but zeros")


def _value(file: int, leaf: _Leaf, lists: dict[bytes, list[str]]) -> Any:
    """What was kept; None if a block is another one than it was."""
    if leaf.kind == _FILED and leaf.size > FILED:
        return _filed(file, leaf)
    data = np.zeros(leaf.size, np.uint8)
    if not _read(file, leaf, data.data, 0):
        return None
    return _texts(data, leaf, lists) if leaf.kind == _TEXTS else _array(data, leaf)


def _filed(file: int, leaf: _Leaf) -> Filed | None:
    """An array in a file of its own, never all of it in memory."""
    scratch = Scratch()
    for first in range(0, len(leaf.places), AT_ONCE):
        data = memoryview(bytearray(min(AT_ONCE * BLOCK, leaf.size - first * BLOCK)))
        if not _read(file, leaf, data, first):
            return None
        scratch.write(data, first * BLOCK)
    return Filed(scratch, _TYPES[leaf.dtype], leaf.size)


def _read(file: int, leaf: _Leaf, view: memoryview, first: int) -> bool:
    """The bytes of an array from a block on, as many as there is room for, which is zeros; whether they are as they
    were written.
    """
    places = leaf.places[first : first - -len(view) // BLOCK]
    kept = np.flatnonzero(places != ZEROS)
    cuts = np.flatnonzero((np.diff(kept) != 1) | (np.diff(places[kept]) != 1)) + 1
    for run in np.split(kept, cuts) if len(kept) else ():
        begin, at = int(run[0]) * BLOCK, int(places[run[0]]) * BLOCK
        end = min(len(view), begin + len(run) * BLOCK)
        while begin < end:
            got = os.preadv(file, [view[begin:end]], at)
            if not got:
                return False
            begin, at = begin + got, at + got
    hashes = leaf.hashes[first : first + len(places)].tolist()
    return all(_hash(view[at * BLOCK : (at + 1) * BLOCK]) == hashes[at] for at in kept.tolist())


def _array(data: NDArray[np.uint8], leaf: _Leaf) -> NDArray[Any]:
    array = data.view(_TYPES[leaf.dtype])
    return array.reshape(leaf.shape) if leaf.kind == _ARRAY else array


def _texts(data: NDArray[np.uint8], leaf: _Leaf, lists: dict[bytes, list[str]]) -> list[str]:
    """The texts of a collection; those of two that are the same are the same texts."""
    key = leaf.hashes.tobytes()
    if key not in lists:
        lists[key] = data.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
        if len(lists[key]) != leaf.items:
            raise ValueError("texts are missing")
    return list(lists[key])
