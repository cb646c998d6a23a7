"""Compact storage of node names, and a hash table from name to row.

A name takes its bytes plus 12, a hash table entry 17 to 34 bytes; a list and dict of strings would take 190 bytes
besides the text. Fingerprints are the first 64 bits of BLAKE2b, so collisions can't be provoked; among 100 million
names the probability of one is 3 in 10,000. Texts are always compared, and the second of two colliding names is kept in
a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import overload

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, StateMismatch

EMPTY = -1  # empty slot of the hash table
MAX_PLAIN_NAMES = 1 << 16  # maximum names in a plain dict: faster, and still small
AT_ONCE = 1 << 14  # names joined per batch
FULL = 0.7  # maximum load factor of the hash table


class Nodes(Sequence[str]):
    """List of strings stored in one byte array; items may be replaced."""

    def __init__(self) -> None:
        self._size = 0
        self._bytes = np.zeros(1 << 14, np.uint8)
        self._used = 0
        self._begin = np.zeros(1024, np.int64)
        self._length = np.zeros(1024, np.int32)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(self._size))]
        if not -self._size <= row < self._size:
            raise IndexError(f"row {row} is out of range: there are {self._size} rows")
        return self.text(row if row >= 0 else row + self._size).decode("utf-8", "surrogatepass")

    def __setitem__(self, row: int, node: str) -> None:
        self.put(row, node.encode("utf-8", "surrogatepass"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def text(self, row: int) -> bytes:
        begin = self._begin.item(row)
        return self._bytes[begin : begin + self._length.item(row)].tobytes()

    def append(self, node: str) -> None:
        row = self._size
        if row == len(self._begin):
            self._begin, self._length = fit(self._begin, row + 1), fit(self._length, row + 1)
        self._size = row + 1
        self.put(row, node.encode("utf-8", "surrogatepass"))

    def put(self, row: int, text: bytes) -> None:
        """Set the name of a row. The bytes of its old name stay in use until `tidy`."""
        begin, end = self._used, self._used + len(text)
        if end > len(self._bytes):
            self._bytes = fit(self._bytes, end)
        self._bytes[begin:end] = np.frombuffer(text, np.uint8)
        self._begin[row], self._length[row], self._used = begin, len(text), end

    def tidy(self) -> None:
        """Free the space of replaced names if it exceeds half of the array."""
        n = self._size
        if self._used < 2 * int(self._length[:n].sum()) + (1 << 20):
            return
        ends = np.cumsum(self._length[:n], dtype=np.int64)
        kept = np.empty(int(ends[-1]), np.uint8)
        begins = ends - self._length[:n]
        for first in range(0, n, AT_ONCE):
            last = min(first + AT_ONCE, n)
            joined = b"".join([self.text(row) for row in range(first, last)])
            kept[begins[first] : ends[last - 1]] = np.frombuffer(joined, np.uint8)
        self._begin[:n] = begins
        self._bytes, self._used = kept, len(kept)

    def state(self) -> State:
        n = self._size
        return {"bytes": self._bytes[: self._used], "begin": self._begin[:n], "length": self._length[:n]}

    def restore(self, state: State) -> None:
        begin, length, joined = state["begin"], state["length"], state["bytes"]
        if len(begin) != len(length) or joined.dtype != np.uint8 or (begin.dtype, length.dtype) != (np.int64, np.int32):
            raise StateMismatch("the stored columns of names differ in length or have the wrong type")
        if len(begin) and (begin.min() < 0 or length.min() < 0 or int((begin + length).max()) > len(joined)):
            raise StateMismatch("stored names extend beyond the stored text")
        self._size, self._used = len(begin), len(joined)
        self._bytes, self._begin, self._length = joined, begin, length


def fingerprints(texts: Iterable[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join([blake2b(text, digest_size=8).digest() for text in texts]), np.uint64)


class Fingerprints:
    """Hash table from fingerprint to number, without deletion; lookups return -1 for unknown keys.

    >>> some = Fingerprints(); some.put(7, 0); some.put(7 + 1024, -5); some.put(7, 3)
    >>> some.find(np.array([7, 8, 1031], np.uint64)).tolist(), len(some)
    ([3, -1, -5], 2)
    """

    def __init__(self) -> None:
        self._size = 0
        self._keys = np.zeros(1024, np.uint64)
        self._numbers = np.full(1024, EMPTY, np.int32)

    def __len__(self) -> int:
        return self._size

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        at = self._places(keys)
        found = self._numbers.take(at)
        misplaced = ((self._keys.take(at) != keys) & (found != EMPTY)).nonzero()[0]
        while len(misplaced):
            at[misplaced] = (at[misplaced] + 1) & (len(self._keys) - 1)
            there = at[misplaced]
            found[misplaced] = self._numbers[there]
            misplaced = misplaced[(self._keys[there] != keys[misplaced]) & (found[misplaced] != EMPTY)]
        return found

    def one(self, key: int) -> int:
        return self._numbers.item(self._at(key))

    def _at(self, key: int) -> int:
        last = len(self._keys) - 1
        at = key & last
        while self._numbers.item(at) != EMPTY and self._keys.item(at) != key:
            at = (at + 1) & last
        return at

    def put(self, key: int, number: int) -> None:
        at = self._at(key)
        if self._numbers.item(at) == EMPTY:
            self._size += 1
        self._keys[at], self._numbers[at] = key, number
        if self._size > FULL * len(self._keys):
            self._grow(2 * len(self._keys))

    def put_all(self, keys: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        size = len(self._keys)
        while self._size + len(keys) > FULL * size:
            size *= 2
        if size > len(self._keys):
            self._grow(size)
        at = self._places(keys)
        left = np.arange(len(keys))
        while len(left):
            there, key = at[left], keys[left]
            new = self._numbers[there] == EMPTY
            self._keys[there[new]] = key[new]  # the last of several keys for one slot; others try the next
            won = self._keys[there] == key
            self._size += int(np.count_nonzero(new & won))
            self._numbers[there[won]] = numbers[left[won]]
            left = left[~won]
            at[left] = (at[left] + 1) & (len(self._keys) - 1)

    def _places(self, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        return (keys & np.uint64(len(self._keys) - 1)).astype(np.intp)

    def _grow(self, size: int) -> None:
        there = (self._numbers != EMPTY).nonzero()[0]
        keys, numbers = self._keys[there], self._numbers[there]
        self._keys, self._numbers = np.zeros(size, np.uint64), np.full(size, EMPTY, np.int32)
        self._size = 0
        self.put_all(keys, numbers)

    def state(self) -> State:
        return {"keys": self._keys, "numbers": self._numbers}

    def restore(self, state: State) -> None:
        keys, numbers = state["keys"], state["numbers"]
        size = len(keys)
        if size < 1024 or size & (size - 1) or len(numbers) != size:
            raise StateMismatch("the stored hash table has the wrong size")
        if keys.dtype != np.uint64 or numbers.dtype != np.int32:
            raise StateMismatch(f"hash table of {keys.dtype} and {numbers.dtype}: expected uint64 and int32")
        self._keys, self._numbers = keys, numbers
        self._size = int(np.count_nonzero(numbers != EMPTY))


class RowIndex:
    """Hash index from name to row: a dict while there are few names, then a hash table.

    Spilled names have numbers below -1, which `recall` turns into rows again.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._plain: dict[str, int] | None = {}
        self._fingerprints = Fingerprints()
        self._collisions: dict[str, int] = {}  # names with the fingerprint of another name
        # Reloads spilled rows by number and name; None for a row whose name is another one.
        self.recall: Callable[[list[int], list[bytes]], list[int | None]] | None = None

    def __len__(self) -> int:
        return len(self._plain) if self._plain is not None else len(self._fingerprints) + len(self._collisions)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, str) and self.get(node) is not None

    def __getitem__(self, node: str) -> int:
        row = self.get(node)
        if row is None:
            raise KeyError(node)
        return row

    def __setitem__(self, node: str, row: int) -> None:
        if self._plain is not None:
            self._plain[node] = row
            if len(self._plain) > MAX_PLAIN_NAMES:
                self._switch_to_hashes()
            return
        text = node.encode("utf-8", "surrogatepass")
        key = int(fingerprints([text])[0])
        known = self._fingerprints.one(key)
        taken = known < EMPTY or (known > EMPTY and known != row and self._nodes.text(known) != text)
        if taken:
            self._collisions[node] = row
        else:
            self._fingerprints.put(key, row)

    @overload
    def get(self, node: str) -> int | None: ...
    @overload
    def get(self, node: str, default: int) -> int: ...
    def get(self, node: str, default: int | None = None) -> int | None:
        found = self._plain.get(node) if self._plain is not None else self._row_of_name(node)
        return default if found is None else found

    def _row_of_name(self, node: str) -> int | None:
        """Return the row of one name; ten times as fast as `rows`."""
        text = node.encode("utf-8", "surrogatepass")
        number = self._fingerprints.one(int(fingerprints([text])[0]))
        if number > EMPTY and self._nodes.text(number) == text:
            return number
        if number == EMPTY:
            return None
        found = self.recall([number], [text])[0] if number < EMPTY and self.recall is not None else None
        return self._collisions.get(node) if found is None else found

    def rows(self, nodes: Sequence[str]) -> list[int | None]:
        if self._plain is not None:
            return list(map(self._plain.get, nodes))
        if not nodes:
            return []
        texts = [node.encode("utf-8", "surrogatepass") for node in nodes]
        numbers = self._fingerprints.find(fingerprints(texts)).tolist()
        found: list[int | None] = [
            at if at > EMPTY and self._nodes.text(at) == text else None for at, text in zip(numbers, texts, strict=True)
        ]
        if self.recall is not None and min(numbers) < EMPTY:
            away = [at for at, number in enumerate(numbers) if number < EMPTY]
            back = self.recall([numbers[at] for at in away], [texts[at] for at in away])
            for at, row in zip(away, back, strict=True):
                found[at] = row
        if self._collisions:
            found = [self._collisions.get(node) if row is None else row for node, row in zip(nodes, found, strict=True)]
        return found

    def row_in_memory(self, node: str) -> int | None:
        """Return the row of a name without reloading spilled rows."""
        recall, self.recall = self.recall, None
        try:
            return self.get(node)
        finally:
            self.recall = recall

    @property
    def colliding_rows(self) -> list[int]:
        return list(self._collisions.values())

    def renumber(self, keys: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        self._fingerprints.put_all(keys, numbers)

    def keys(self, texts: Sequence[bytes]) -> NDArray[np.uint64]:
        """Return the fingerprints of known names; switches to the hash table if there is only the dict."""
        if self._plain is not None:
            self._switch_to_hashes()
        return fingerprints(texts)

    def _switch_to_hashes(self) -> None:
        plain, self._plain = self._plain or {}, None
        keys = fingerprints(node.encode("utf-8", "surrogatepass") for node in plain)
        _, first = np.unique(keys, return_index=True)
        rows = np.fromiter(plain.values(), np.int32, len(plain))
        self._fingerprints.put_all(keys[first], rows[first])
        if len(first) < len(keys):
            others = set(range(len(keys))).difference(first.tolist())
            self._collisions = {node: row for at, (node, row) in enumerate(plain.items()) if at in others}

    def state(self) -> State:
        """Return the hash table, or an empty state while there is only the dict."""
        if self._plain is not None:
            return {}
        return {"fingerprints": self._fingerprints.state(), "twins": dict(self._collisions)}

    def restore(self, state: State) -> None:
        nodes = self._nodes
        if state:
            self._plain, self._collisions = None, dict(state["twins"])
            self._fingerprints.restore(state["fingerprints"])
        else:
            self._plain = dict(zip(nodes, range(len(nodes)), strict=True))
