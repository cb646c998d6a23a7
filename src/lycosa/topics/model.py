"""A trained classifier as a file: one file, readable by any Lycosa of the same format, and nothing in it can run.

    lycosa-model 1                              the format and its version
    5f0c...                                     SHA-256 of all that follows, in hexadecimal digits
    {"kind": "nb", "classes": [...], ...}       one line of JSON: what it is, how it was made, how good it is
    ...                                         the arrays, one after the other, as the line above says

Nothing is compressed, so the file is as large as what it holds, and what it claims to hold can be compared with that
before anything is made of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.text.bags import Bags
from lycosa.text.naive_bayes import NaiveBayes
from lycosa.topics.neural import Network
from lycosa.topics.svm import LinearSvm
from lycosa.topics.taxonomy import LONGEST, path_of
from lycosa.version import SOFTWARE

MAGIC, VERSION = b"lycosa-model ", 1

MOST_BYTES = 2_000_000_000
"""A larger file is not read."""

MOST_HEADER = 50_000_000
MOST_SIDES = 2

_TYPES: dict[str, np.dtype[Any]] = {"f4": np.dtype("<f4"), "u1": np.dtype("|u1")}
_LARGEST = 1e9
"""No weight is that large; products of larger ones might not be numbers."""

_AGAIN = "copy it again from where it came from, or train a new one with 'lycosa train'"


class Classifier(Protocol):
    """What a model predicts with. `fit(bags, labels, classes, terms, seed)` makes one."""

    kind: ClassVar[str]
    name: ClassVar[str]

    def probabilities(self, bags: Bags) -> NDArray[np.float64]: ...

    def arrays(self) -> dict[str, NDArray[np.float32]]: ...


KINDS: dict[str, type[NaiveBayes] | type[LinearSvm] | type[Network]] = {
    kind.kind: kind for kind in (NaiveBayes, LinearSvm, Network)
}


@dataclass
class Model:
    """Classes, terms, and a classifier that knows which go together.

    >>> bags = Bags.of([([0], [1]), ([1], [1])])
    >>> classifier = NaiveBayes.fit(bags, np.array([0, 1]), 2, 2, smoothing=1, length=8)
    >>> model = Model(["Art", "Science"], ["paint", "proof"], [1, 1], classifier)
    >>> model.probabilities(["proof", "unknown"]).round(2).tolist()
    [0.35, 0.65]
    """

    classes: list[str]
    terms: list[str]
    counts: list[int]
    """Training pages of each class."""
    classifier: Classifier
    facts: dict[str, Any] = field(default_factory=dict)
    """How it was made and how good it is: see training/quality.py."""

    @cached_property
    def column_of(self) -> dict[str, int]:
        """Where each term stands."""
        return {term: column for column, term in enumerate(self.terms)}

    @cached_property
    def priors(self) -> NDArray[np.float64]:
        """The share of each class among the training pages."""
        counts = np.array(self.counts, np.float64)
        found: NDArray[np.float64] = counts / counts.sum()
        return found

    @cached_property
    def digest(self) -> str:
        """Changes when the model does."""
        return hashlib.sha256(b"".join(self._contents())).hexdigest()

    def probabilities(self, stems: Sequence[str]) -> NDArray[np.float64]:
        """P(c | words) for each class, of a text given as stems."""
        found = sorted(self.column_of[stem] for stem in stems if stem in self.column_of)
        columns, counts = np.unique(np.array(found, np.intp), return_counts=True)
        told: NDArray[np.float64] = self.classifier.probabilities(Bags.of([(columns, counts.astype(np.float64))]))[0]
        return told

    # -- as a file -----------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write it, all of it or nothing."""
        contents = self._contents()
        digest = hashlib.sha256(b"".join(contents)).hexdigest()
        try:
            with replacing(path) as file:
                file.write(MAGIC + f"{VERSION}\n{digest}\n".encode())
                for part in contents:
                    file.write(part)
        except OSError as error:
            raise InputError(f"cannot write the model {path}: {error.strerror}; choose another --out") from error

    def _contents(self) -> list[bytes]:
        terms = np.frombuffer("\n".join(self.terms).encode(), np.uint8)
        arrays: dict[str, NDArray[Any]] = {"terms": terms, **self.classifier.arrays()}
        header = {
            "kind": self.classifier.kind,
            "by": SOFTWARE,
            "classes": self.classes,
            "counts": self.counts,
            "arrays": [
                [name, "u1" if array.dtype == np.uint8 else "f4", list(array.shape)] for name, array in arrays.items()
            ],
            "facts": self.facts,
        }
        parts = [json.dumps(header).encode() + b"\n"]
        for array in arrays.values():
            parts.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return parts

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model; whatever may be wrong with the file is an InputError that says so."""
        try:
            if path.stat().st_size > MOST_BYTES:
                raise InputError(f"{path} has {path.stat().st_size:,} bytes: no model is that large")
            if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # a pipe may never say anything
                raise InputError(f"cannot read the model {path}: it is a pipe or a device, not a file")
            with open(path, "rb") as file:
                first = file.readline(100)
                _check_version(path, first)
                digest, contents = file.readline(100).rstrip(b"\n"), file.read(MOST_BYTES)
        except OSError as error:
            raise InputError(f"cannot read the model {path}: {error.strerror}") from error
        except MemoryError as error:
            raise InputError(f"there is not enough memory for the model {path}") from error
        if hashlib.sha256(contents).hexdigest().encode() != digest:
            raise InputError(f"the model {path} is damaged or cut short: {_AGAIN}")
        try:
            return cls._read(contents)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError, AttributeError) as error:
            raise InputError(f"the model {path} contradicts itself ({error}): {_AGAIN}") from error

    @classmethod
    def _read(cls, contents: bytes) -> Self:
        """Make a model of what stands behind the digest; errors of many kinds where it is not what it has to be."""
        end = contents.find(b"\n", 0, MOST_HEADER)
        header = json.loads(contents[:end] if end >= 0 else b"")
        classes, counts, kind = header["classes"], header["counts"], header["kind"]
        _check_classes(classes, counts)
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r} of model")
        arrays = _arrays(header["arrays"], memoryview(contents)[end + 1 :])
        terms = arrays.pop("terms").tobytes().decode().split("\n")
        if len(set(terms)) != len(terms):
            raise ValueError("a term is there twice")
        made = KINDS[kind]
        shapes = made.shapes(len(classes), len(terms))
        if set(shapes) != set(arrays):
            raise ValueError(f"its arrays are {', '.join(arrays)}")
        for name, array in arrays.items():
            fits = len(array.shape) == len(shapes[name]) and all(
                want in (-1, have) for want, have in zip(shapes[name], array.shape, strict=True)
            )
            if not fits or array.dtype != np.float32:
                raise ValueError(f"{name} is of shape {array.shape}")
            if not (np.abs(array) < _LARGEST).all():  # nor is NaN less than anything
                raise ValueError(f"{name} has values that are no numbers, or far too large")
        facts = header["facts"]
        if not isinstance(facts, dict):
            raise TypeError("its facts are not named")
        return cls(classes, terms, counts, made.from_arrays(arrays), facts)


def _check_version(path: Path, first: bytes) -> None:
    """The first line says what the file is."""
    if not first.startswith(MAGIC):
        raise InputError(f"{path} is not a model of Lycosa: name a file that 'lycosa train' made")
    version = first[len(MAGIC) :].rstrip(b"\n")
    if version != str(VERSION).encode():
        raise InputError(
            f"{path} is a model of format {version[:20].decode('ascii', 'replace')}, this Lycosa reads {VERSION}: use "
            "the version of Lycosa that made it, or train it again with 'lycosa train'"
        )


def _check_classes(classes: Any, counts: Any) -> None:
    named = isinstance(classes, list) and all(isinstance(name, str) and name == path_of(name) != "" for name in classes)
    if not named or len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError("its classes are not two or more different names")
    if max(map(len, classes)) > LONGEST:
        raise ValueError(f"the name of a class has more than {LONGEST:,} characters")
    if not isinstance(counts, list) or len(counts) != len(classes):
        raise ValueError("it does not say how many pages each class had")
    if not all(isinstance(count, int) and 0 < count < 2**53 for count in counts):
        raise ValueError("the number of pages of a class is not positive")


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


def fitted(
    kind: str,
    bags: Bags,
    labels: NDArray[np.intp],
    classes: Sequence[str],
    terms: Sequence[str],
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> Model:
    """Train a classifier of a kind on pages; `labels` are numbers of classes."""
    classifier: Classifier = KINDS[kind].fit(bags, labels, len(classes), len(terms), seed)
    counts = np.bincount(labels, minlength=len(classes)).tolist()
    return Model(list(classes), list(terms), counts, classifier, dict(facts or {}))
