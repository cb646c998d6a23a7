"""Trained classifiers and their file format: classes, terms and weights, in the container of core/state.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.state import FileFormat, digest, from_texts, pack, to_texts
from lycosa.judges.classifiers import DecisionTree, LinearSvm, NeuralNetwork
from lycosa.judges.taxonomy import MAX_PATH_LENGTH, path_of
from lycosa.text.bags import Bags
from lycosa.text.naive_bayes import NaiveBayes, PlainNaiveBayes
from lycosa.version import SOFTWARE

FORMAT = FileFormat("lycosa-model", 1, "model", "lycosa train")
MAGIC = FORMAT.mark


class Classifier(Protocol):
    """Interface of the classifiers in `KINDS`; `fit(bags, labels, classes, terms, seed)` trains one."""

    kind: ClassVar[str]
    name: ClassVar[str]

    def probabilities(self, bags: Bags) -> NDArray[np.float64]: ...

    def arrays(self) -> dict[str, NDArray[np.float32]]: ...


KINDS: dict[
    str, type[NaiveBayes] | type[PlainNaiveBayes] | type[LinearSvm] | type[NeuralNetwork] | type[DecisionTree]
] = {kind.kind: kind for kind in (NaiveBayes, PlainNaiveBayes, LinearSvm, NeuralNetwork, DecisionTree)}


@dataclass
class TrainedModel:
    """A trained classifier with its classes and terms.

    >>> bags = Bags.of([([0], [1]), ([1], [1])])
    >>> classifier = NaiveBayes.fit(bags, np.array([0, 1]), 2, 2, smoothing=1, length=8)
    >>> model = TrainedModel(["Art", "Science"], ["paint", "proof"], [1, 1], classifier)
    >>> model.probabilities(["proof", "unknown"]).round(2).tolist()
    [0.35, 0.65]
    """

    classes: list[str]
    terms: list[str]
    counts: list[int]  # training pages of each class
    classifier: Classifier
    facts: dict[str, Any] = field(default_factory=dict)  # provenance and quality measures: see training/evaluation.py

    @cached_property
    def column_of(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    @cached_property
    def priors(self) -> NDArray[np.float64]:
        counts = np.array(self.counts, np.float64)
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    @property
    def default_targets(self) -> list[str]:
        """Default targets: the classes or branches marked in the taxonomy."""
        marked = self.facts.get("marked")
        return [name for name in marked if isinstance(name, str)] if isinstance(marked, list) else []

    @cached_property
    def digest(self) -> str:
        return digest(self._contents())

    def probabilities(self, stems: Sequence[str]) -> NDArray[np.float64]:
        """Return P(c | words) for each class, for a text given as stems."""
        present = sorted(self.column_of[stem] for stem in stems if stem in self.column_of)
        columns, counts = np.unique(np.array(present, np.intp), return_counts=True)
        row: NDArray[np.float64] = self.classifier.probabilities(Bags.of([(columns, counts.astype(np.float64))]))[0]
        return row

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        FORMAT.write(path, self._contents())

    def _contents(self) -> list[bytes]:
        header = {
            "kind": self.classifier.kind,
            "by": SOFTWARE,
            "classes": self.classes,
            "counts": self.counts,
        }
        return pack(header, {"terms": from_texts(self.terms), **self.classifier.arrays()}, self.facts)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model; raise InputError if the file is damaged or not a model."""
        return FORMAT.read(path, cls._from_contents)

    @classmethod
    def _from_contents(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Build a model from the contents of a file. Malformed contents raise ValueError, KeyError or TypeError."""
        classes, counts, kind = header["classes"], header["counts"], header["kind"]
        _check_classes(classes, counts)
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind!r} of model")
        terms = to_texts(arrays.pop("terms"))
        if len(set(terms)) != len(terms):
            raise ValueError("duplicate term")
        classifier_type = KINDS[kind]
        shapes = classifier_type.shapes(len(classes), len(terms))
        if set(shapes) != set(arrays):
            raise ValueError(f"the arrays of the file are {', '.join(arrays)}: expected {', '.join(shapes)}")
        for name, array in arrays.items():
            is_valid = len(array.shape) == len(shapes[name]) and all(
                expected in (-1, actual) for expected, actual in zip(shapes[name], array.shape, strict=True)
            )
            if not is_valid or array.dtype != np.float32:
                raise ValueError(
                    f"{name} has shape {array.shape} and type {array.dtype}: expected {shapes[name]} and float32"
                )
            if not (np.abs(array) < 1e9).all():  # products of larger values might overflow; also rejects NaN
                raise ValueError(f"{name} has values that are not numbers, or are too large")
        facts = header["facts"]
        if not isinstance(facts, dict):
            raise TypeError("its facts are not a JSON object")
        return cls(classes, terms, counts, classifier_type.from_arrays(arrays), facts)


def _check_classes(classes: Any, counts: Any) -> None:
    is_valid = isinstance(classes, list) and all(isinstance(c, str) and c == path_of(c) != "" for c in classes)
    if not is_valid or len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError("it has fewer than two classes, or invalid or duplicate class names")
    if max(map(len, classes)) > MAX_PATH_LENGTH:
        raise ValueError(f"a class name has more than {MAX_PATH_LENGTH:,} characters")
    if not isinstance(counts, list) or len(counts) != len(classes):
        raise ValueError("classes and page counts differ in number")
    if not all(isinstance(count, int) and 0 < count < 2**53 for count in counts):
        raise ValueError("the page count of a class is not positive")


def fit_model(
    kind: str,
    bags: Bags,
    labels: NDArray[np.intp],
    classes: Sequence[str],
    terms: Sequence[str],
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Train a classifier on pages; `labels` are indices into `classes`."""
    classifier: Classifier = KINDS[kind].fit(bags, labels, len(classes), len(terms), seed)
    counts = np.bincount(labels, minlength=len(classes)).tolist()
    return TrainedModel(list(classes), list(terms), counts, classifier, dict(facts or {}))
