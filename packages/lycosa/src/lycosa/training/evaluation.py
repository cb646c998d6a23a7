"""Quality of a classifier on held-out pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.text.folds import log_loss


@dataclass
class Quality:
    pages: int  # held-out pages
    accuracy: float
    majority: float  # accuracy of always predicting the largest class
    log_loss: float
    gap: float  # calibration error over ten bins
    # name, pages, held_out, precision, recall, f1 of each class (None if nothing was held out or predicted)
    classes: list[dict[str, Any]] = field(default_factory=list)
    # true class, predicted class, count: the most frequent first
    confusions: list[tuple[str, str, int]] = field(default_factory=list)


def hold_out(
    labels: NDArray[np.intp], groups: NDArray[np.intp], share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training rows and held-out rows: a random share of each class.

    Copies stay together (`groups`), so that no page is tested on its own copy. Every class keeps at least one group for
    training; a class with a single group is not held out.
    """
    generator = np.random.default_rng([seed, 1])
    test = np.zeros(len(labels), bool)
    order = np.argsort(groups, kind="stable")
    firsts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    members = np.split(order, firsts[1:])
    owner = np.array([labels[rows[0]] for rows in members])
    for label in np.unique(owner):
        own_groups = generator.permutation(np.flatnonzero(owner == label))
        target, taken = share * sum(len(members[number]) for number in own_groups), 0
        for number in own_groups[1:].tolist():
            if taken + len(members[number]) / 2 > target and taken:
                break
            test[members[number]] = True
            taken += len(members[number])
    for label in np.unique(labels):  # all pages of a class may have been taken as copies of pages of other classes
        if test[labels == label].all():
            test[np.isin(groups, groups[labels == label])] = False
    return np.flatnonzero(~test), np.flatnonzero(test)


def measure(
    probabilities: NDArray[np.float64], labels: NDArray[np.intp], classes: Sequence[str], pages: Sequence[int]
) -> Quality:
    """Compare predicted probabilities of held-out pages with their labels; `pages` is the size of each class."""
    predicted = probabilities.argmax(axis=1)
    table = np.zeros((len(classes), len(classes)), np.intp)
    np.add.at(table, (labels, predicted), 1)
    rows = [
        {"name": name, "pages": int(pages[number]), **_scores(table, number)} for number, name in enumerate(classes)
    ]
    confusions = [
        (classes[true], classes[other], int(table[true, other]))
        for true, other in zip(*np.nonzero(table), strict=True)
        if true != other
    ]
    confusions.sort(key=lambda item: (-item[2], item[0], item[1]))
    accuracy, majority = float((predicted == labels).mean()), float(np.bincount(labels).max() / len(labels))
    loss, gap = log_loss(probabilities, labels), _calibration_error(probabilities, labels)
    return Quality(len(labels), accuracy, majority, loss, gap, rows, confusions[:10])


def _scores(table: NDArray[np.intp], number: int) -> dict[str, Any]:
    is_right, actual, predicted = map(int, (table[number, number], table[number].sum(), table[:, number].sum()))
    return {
        "held_out": actual,
        "precision": is_right / predicted if predicted else None,
        "recall": is_right / actual if actual else None,
        "f1": 2 * is_right / (actual + predicted) if actual else None,
    }


def _calibration_error(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> float:
    confidence, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * 10).astype(int), 9)
    masks = [bins == n for n in np.unique(bins)]
    return float(sum(abs(is_right[mask].mean() - confidence[mask].mean()) * mask.mean() for mask in masks))
