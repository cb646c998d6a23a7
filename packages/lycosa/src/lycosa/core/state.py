"""Learned state as plain values, so that a fold can continue from it instead of from the first event; array files.

A part may offer `state()` and `restore(state)`. A state is a dict of arrays, plain values (numbers, texts, bytes, lists
and dicts of these), nested states, and, for append-only data, `AppendOnly` and `TextLines`, of which snapshots only
write the new items. Derived data (caches, heaps, indices) and visits in flight are not part of it.

A state is exact: a restored part that folds the next events equals one that folded all events. Parts that can't provide
it raise `StateMismatch`, and the log is folded from its beginning.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write

State = dict[str, Any]
_LEARNING = ("learn", "reconsider", "adopt", "add_label", "start", "rank", "note")  # methods by which parts learn
_PLAIN = (np.ndarray, bool, int, float, str, bytes, type(None))


class StateMismatch(Exception):
    """A part can't provide its state, or a state does not fit."""


@dataclass(frozen=True)
class AppendOnly:
    """An append-only collection, stored as an array and restored as one: on disk (`Filed`) if `filed` and large."""

    items: Collection[Any]
    encode: Callable[[Sequence[Any]], NDArray[Any]]
    filed: bool = False


@dataclass(frozen=True)
class TextLines:
    """An append-only collection of single-line texts, or of items that `key` converts; restored as a list of texts."""

    items: Collection[Any]
    key: Callable[[Any], str] | None = None

    def encode(self, items: Sequence[Any]) -> bytes:
        """Return some items as stored, one per line."""
        lines = items if self.key is None else [self.key(item) for item in items]
        joined = "\n".join(lines)
        if joined.count("\n") != max(0, len(lines) - 1):
            raise StateMismatch("a text has several lines: expected one")
        return joined.encode("utf-8", "surrogatepass") + b"\n" if lines else b""


def added(items: Collection[Any], since: int) -> Sequence[Any]:
    return items[since:] if isinstance(items, Sequence) else list(islice(items, since, None))


def state_of(part: Any) -> State:
    check(part)
    state: State = part.state()
    return state


def restore(part: Any, state: State) -> None:
    check(part)
    part.restore(state)


def check(part: object) -> None:
    """Raise StateMismatch if a class overrides a learning method but inherits `state()`, which would be incomplete."""
    defined = {name: at for at, kind in reversed([*enumerate(type(part).__mro__)]) for name in vars(kind)}
    if not {"state", "restore"} <= defined.keys():
        raise StateMismatch(f"{type(part).__name__} has no state() and restore()")
    if any(defined["state"] > defined[name] for name in _LEARNING if name in defined):
        raise StateMismatch(f"{type(part).__name__} overrides a learning method but inherits state()")


def state_of_attributes(part: object, *besides: str) -> State:
    """Return all attributes of a part except those named in `besides`; they must be arrays, plain values or parts.

    >>> class Sums:
    ...     def __init__(self): self.sums, self.pages, self.cache = np.zeros(2), 3, {}
    >>> state_of_attributes(Sums(), "cache")
    {'sums': array([0., 0.]), 'pages': 3}
    """
    state: State = {}
    for name, value in vars(part).items():
        if name in besides:
            continue
        if isinstance(value, _PLAIN):
            state[name] = value
        elif hasattr(value, "state"):
            state[name] = value.state()
        elif hasattr(value, "__dict__"):
            state[name] = state_of_attributes(value)
        else:
            raise StateMismatch(f"{type(part).__name__}.{name} is a {type(value).__name__}: expected a plain value")
    return state


def restore_attributes(part: object, state: State) -> None:
    """Set the attributes that `state_of_attributes` returned for another instance."""
    for name, value in state.items():
        before = getattr(part, name)
        if isinstance(value, dict) and not isinstance(before, _PLAIN):
            before.restore(value) if hasattr(before, "restore") else restore_attributes(before, value)
            continue
        if isinstance(before, np.ndarray):
            fits = isinstance(value, np.ndarray) and value.dtype == before.dtype and value.shape[1:] == before.shape[1:]
        else:
            fits = not isinstance(value, np.ndarray | dict)
        if not fits:
            raise StateMismatch(f"{type(part).__name__}.{name} is stored with another type or shape")
        setattr(part, name, value)


Made = TypeVar("Made")
MAX_BYTES, MAX_HEADER_BYTES = 2_000_000_000, 50_000_000

_TYPES: dict[str, np.dtype[Any]] = {kind: np.dtype(f"<{kind}") for kind in ("f4", "f8", "i4", "u1")}


@dataclass(frozen=True)
class FileFormat:
    """A file format for arrays with a JSON header, without executable content.

        lycosa-model 1                              format and version
        5f0c...                                     SHA-256 of the rest, in hexadecimal
        {"kind": "nb", "classes": [...], ...}       JSON header in one line, with names, types and shapes of the arrays
        ...                                         the arrays, uncompressed

    As nothing is compressed, declared sizes are checked against the file before memory is allocated.

    >>> import tempfile
    >>> notes = FileFormat("lycosa-notes", 1, "notebook", "lycosa note")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     notes.write(Path(place, "n"), pack({"by": "me"}, {"ages": np.array([3, 4], np.int32)}, {}))
    ...     notes.read(Path(place, "n"), lambda header, arrays: (header["by"], arrays["ages"].tolist()))
    ('me', [3, 4])
    """

    magic: str
    version: int
    noun: str  # name of the content in messages
    command: str  # command that creates such files

    @property
    def mark(self) -> bytes:
        """First bytes of every such file."""
        return f"{self.magic} ".encode()

    def write(self, path: Path, contents: Sequence[bytes]) -> None:
        try:
            with atomic_write(path) as file:
                file.write(f"{self.magic} {self.version}\n{digest(contents)}\n".encode())
                for part in contents:
                    file.write(part)
        except OSError as error:
            reason = f"{error.strerror}; choose another --out"
            raise InputError("unwritable-file", f"cannot write the {self.noun} {path}: {reason}") from error

    def read(
        self, path: Path, make: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Made], max_bytes: int = MAX_BYTES
    ) -> Made:
        """Return `make(header, arrays)` for a file; raise InputError if unreadable or `make` raises ValueError."""
        contents = self._contents(path, max_bytes)
        remedy = f"restore it from a copy, or create a new one with '{self.command}'"
        if contents is None:
            raise InputError("bad-file", f"the {self.noun} {path} is damaged or cut short: {remedy}")
        try:
            end = contents.find(b"\n", 0, MAX_HEADER_BYTES)
            header = json.loads(contents[:end] if end >= 0 else b"")
            return make(header, _arrays(header["arrays"], memoryview(contents)[end + 1 :]))
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError, AttributeError) as error:
            raise InputError("bad-file", f"the {self.noun} {path} is inconsistent ({error}): {remedy}") from error
        except MemoryError as error:
            raise InputError("too-large", f"there is not enough memory for the {self.noun} {path}") from error

    def _contents(self, path: Path, max_bytes: int) -> bytes | None:
        """Return the content after the digest; None if the digest does not match."""
        try:
            status = path.stat()
            if status.st_size > max_bytes:
                raise InputError("too-large", f"{path} has {status.st_size:,} bytes: the maximum is {max_bytes:,}")
            if not stat.S_ISREG(status.st_mode) and not path.is_dir():  # reading a pipe might block forever
                reason = "it is a pipe or a device, not a file"
                raise InputError("not-a-file", f"cannot read the {self.noun} {path}: {reason}")
            with open(path, "rb") as file:
                self._check_first_line(path, file.readline(100))
                expected_digest, contents = file.readline(100).rstrip(b"\n"), file.read(max_bytes)
        except OSError as error:
            raise InputError("unreadable-file", f"cannot read the {self.noun} {path}: {error.strerror}") from error
        except MemoryError as error:
            raise InputError("too-large", f"there is not enough memory for the {self.noun} {path}") from error
        return contents if digest([contents]).encode() == expected_digest else None

    def _check_first_line(self, path: Path, first: bytes) -> None:
        if not first.startswith(self.mark):
            hint = f"give a file created by '{self.command}'"
            raise InputError("wrong-file", f"{path} is not a {self.noun}: {hint}")
        version = first[len(self.mark) :].rstrip(b"\n")
        if version != str(self.version).encode():
            found = f"{path} is a {self.noun} of format {version[:20].decode('ascii', 'replace')}"
            hint = f"create it again with '{self.command}'"
            raise InputError("bad-version", f"{found}: expected {self.version}; {hint}")


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> list[bytes]:
    """Return a header, arrays and facts in file format."""
    descriptions = []
    parts = [b""]
    for name, array in arrays.items():
        kind = array.dtype.str[1:]
        if kind not in _TYPES:
            raise ValueError(f"an array of {array.dtype} cannot be stored: expected one of {', '.join(_TYPES)}")
        descriptions.append([name, kind, list(array.shape)])
        parts.append(np.ascontiguousarray(array, _TYPES[kind]).tobytes())
    parts[0] = json.dumps({**header, "arrays": descriptions, "facts": dict(facts)}).encode() + b"\n"
    return parts


def digest(contents: Sequence[bytes]) -> str:
    """Return the SHA-256 of the concatenated contents."""
    checksum = hashlib.sha256()
    for part in contents:
        checksum.update(part)
    return checksum.hexdigest()


def from_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Encode single-line texts as an array, for a file.

    >>> to_texts(from_texts(["reef", "café"]))
    ['reef', 'café']
    """
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def to_texts(array: NDArray[Any]) -> list[str]:
    """Decode the output of `from_texts`."""
    return array.tobytes().decode().split("\n")


def _arrays(descriptions: Sequence[Any], data: memoryview) -> dict[str, NDArray[Any]]:
    """Return the arrays described by a header; raise ValueError unless they fill the data exactly."""
    found: dict[str, NDArray[Any]] = {}
    offset = 0
    for name, kind, shape in descriptions:
        if not all(type(size) is int and 0 <= size <= MAX_BYTES for size in shape):
            raise ValueError(f"{name} has an invalid shape: {shape}")
        if len(shape) > 2:
            raise ValueError(f"{name} has {len(shape)} dimensions: expected 1 or 2")
        size = math.prod(shape) * _TYPES[kind].itemsize
        if offset + size > len(data):
            raise ValueError(f"{name} ends beyond the end of the file")
        found[str(name)] = np.frombuffer(data[offset : offset + size], _TYPES[kind]).reshape(shape)
        offset += size
    if offset != len(data):
        raise ValueError(f"{len(data) - offset:,} bytes follow the last array: expected none")
    return found
