"""Arrays with a description, as a file: readable by any Lycosa of the same format, and nothing in it can run.

    lycosa-model 1                              the format and its version
    5f0c...                                     SHA-256 of all that follows, in hexadecimal digits
    {"kind": "nb", "classes": [...], ...}       one line of JSON: what it is, how it was made, which arrays follow
    ...                                         the arrays, one after the other, as the line above says

Nothing is compressed, so the file is as large as what it holds, and what it claims to hold can be compared with that
before anything is made of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import replacing

Made = TypeVar("Made")

MOST_BYTES = 2_000_000_000
"""A larger file is not read."""

MOST_HEADER = 50_000_000
MOST_SIDES = 2

_TYPES: dict[str, np.dtype[Any]] = {
    "f4": np.dtype("<f4"),
    "f8": np.dtype("<f8"),
    "i4": np.dtype("<i4"),
    "u1": np.dtype("|u1"),
}


@dataclass(frozen=True)
class Format:
    """A kind of file: what its first line says, and how people speak of it.

    >>> import tempfile
    >>> notes = Format("lycosa-notes", 1, "notebook", "lycosa note")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     notes.write(Path(place, "n"), pack({"by": "me"}, {"ages": np.array([3, 4], np.int32)}, {}))
    ...     notes.read(Path(place, "n"), lambda header, arrays: (header["by"], arrays["ages"].tolist()))
    ('me', [3, 4])
    """

    magic: str
    version: int
    noun: str
    """What the file holds, in a message."""
    command: str
    """What makes one."""

    @property
    def mark(self) -> bytes:
        """How every such file begins."""
        return f"{self.magic} ".encode()

    def write(self, path: Path, contents: Sequence[bytes]) -> None:
        """Write what `pack` has made, all of it or nothing."""
        try:
            with replacing(path) as file:
                file.write(f"{self.magic} {self.version}\n{digest(contents)}\n".encode())
                for part in contents:
                    file.write(part)
        except OSError as error:
            raise InputError(f"cannot write the {self.noun} {path}: {error.strerror}; choose another --out") from error

    def read(
        self,
        path: Path,
        make: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Made],
        most: int = MOST_BYTES,
    ) -> Made:
        """Make something of the header and the arrays of a file; whatever may be wrong with it is an InputError.

        `make` checks what it is given, and raises ValueError and the like where it is not what it has to be.
        """
        contents = self._contents(path, most)
        again = f"copy it again from where it came from, or make a new one with '{self.command}'"
        if contents is None:
            raise InputError(f"the {self.noun} {path} is damaged or cut short: {again}")
        try:
            end = contents.find(b"\n", 0, MOST_HEADER)
            header = json.loads(contents[:end] if end >= 0 else b"")
            return make(header, _arrays(header["arrays"], memoryview(contents)[end + 1 :]))
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError, AttributeError) as error:
            raise InputError(f"the {self.noun} {path} contradicts itself ({error}): {again}") from error
        except MemoryError as error:
            raise InputError(f"there is not enough memory for the {self.noun} {path}") from error

    def _contents(self, path: Path, most: int) -> bytes | None:
        """All that stands behind the digest; None if the digest is another one."""
        try:
            about = path.stat()
            if about.st_size > most:
                raise InputError(f"{path} has {about.st_size:,} bytes: no {self.noun} is that large")
            if not stat.S_ISREG(about.st_mode) and not path.is_dir():  # a pipe may never say anything
                raise InputError(f"cannot read the {self.noun} {path}: it is a pipe or a device, not a file")
            with open(path, "rb") as file:
                self._check_first_line(path, file.readline(100))
                told, contents = file.readline(100).rstrip(b"\n"), file.read(most)
        except OSError as error:
            raise InputError(f"cannot read the {self.noun} {path}: {error.strerror}") from error
        except MemoryError as error:
            raise InputError(f"there is not enough memory for the {self.noun} {path}") from error
        return contents if digest([contents]).encode() == told else None

    def _check_first_line(self, path: Path, first: bytes) -> None:
        if not first.startswith(self.mark):
            raise InputError(f"{path} is not a {self.noun} of Lycosa: name a file that '{self.command}' made")
        version = first[len(self.mark) :].rstrip(b"\n")
        if version != str(self.version).encode():
            raise InputError(
                f"{path} is a {self.noun} of format {version[:20].decode('ascii', 'replace')}, this Lycosa reads "
                f"{self.version}: use the version of Lycosa that made it, or make it again with '{self.command}'"
            )


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> list[bytes]:
    """A header, arrays and facts as they stand in a file."""
    described = []
    parts = [b""]
    for name, array in arrays.items():
        kind = array.dtype.str[1:]
        if kind not in _TYPES:
            raise ValueError(f"an array of {array.dtype} cannot be kept: it must be one of {', '.join(_TYPES)}")
        described.append([name, kind, list(array.shape)])
        parts.append(np.ascontiguousarray(array, _TYPES[kind]).tobytes())
    parts[0] = json.dumps({**header, "arrays": described, "facts": dict(facts)}).encode() + b"\n"
    return parts


def digest(contents: Sequence[bytes]) -> str:
    """Changes when the contents do."""
    summed = hashlib.sha256()
    for part in contents:
        summed.update(part)
    return summed.hexdigest()


def from_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Texts of one line each as an array, for a file.

    >>> to_texts(from_texts(["reef", "café"]))
    ['reef', 'café']
    """
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def to_texts(array: NDArray[Any]) -> list[str]:
    """The texts that `from_texts` was given."""
    return array.tobytes().decode().split("\n")


def _arrays(described: Sequence[Any], data: memoryview) -> dict[str, NDArray[Any]]:
    """The arrays that a header describes; they have to fill the data exactly."""
    found: dict[str, NDArray[Any]] = {}
    place = 0
    for name, kind, shape in described:
        if not all(type(size) is int and 0 <= size <= MOST_BYTES for size in shape):
            raise ValueError(f"{name} is of shape {shape}")
        if len(shape) > MOST_SIDES:
            raise ValueError(f"{name} has {len(shape)} dimensions")
        size = math.prod(shape) * _TYPES[kind].itemsize
        if place + size > len(data):
            raise ValueError(f"{name} is not all there")
        found[str(name)] = np.frombuffer(data[place : place + size], _TYPES[kind]).reshape(shape)
        place += size
    if place != len(data):
        raise ValueError("there is more in it than it says")
    return found
