"""The model learned from the pages so far: which pages are like relevant ones, and the threshold ("line") in log odds.

Positives are pages chosen by people: examples, pages labelled yes, start pages that are not portals. Without any, the
pages that match the topic best stand in. Negatives are drawn from the other pages: at first those that look least
relevant, then each as far as the regression does not take it for relevant (positive-unlabelled learning).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError
from lycosa.judges.embedding import COMMON, STEPS
from lycosa.judges.probability.evidence import (
    KINDS,
    PAGES_AT_ONCE,
    SLOTS,
    VECTOR_SCALE,
    Answer,
    Evidence,
    EvidenceTable,
    directions,
)
from lycosa.judges.probability.relevance_line import (
    count_widths,
    expected_relevant,
    fit_regression,
    line_after_labels,
    line_for_count,
    sigmoid,
    steady_line,
)
from lycosa.text.embeddings import DIMENSIONS

# Log odds per unit of match score (body, head, lead, meaning), with and without a model, and the threshold without.
ANSWER_RATES = np.array([1.6, 2.0, 0.1, 4.5], np.float32)
OWN_RATES, OWN_LINE = np.array([1.6, 1.5, 0.1, 7.0], np.float32), 4.1
AGAINST_COST = 4.0  # log odds lost for excluded words
STUFFING_COST = 4.0  # log odds lost for each factor of e by which quality is below one half
LIKENESS = 1.2  # log odds per unit of likeness to the positives
MAX_NAMED, MAX_OTHERS, MAX_STAND_INS = 60, 150, 10  # maximum number of pages learned from, by kind
EXAMPLE_WEIGHT, LABEL_WEIGHT = 1.5, 3.0  # weights of an example and of a label; a trusted start page has 1
ENOUGH = 1.5  # sum of the weights of positives from which no stand-ins are needed
DOUBTFUL = 0.1  # limit of probabilities without a model: .02 to .1 is usual on sites about related things
MAX_FEATURES = 1000  # maximum number of features of the positives
SIDE_WEIGHT = 150.0  # sum of the weights of all positives, and likewise of all negatives
NOWHERE = 2.0  # how far the threshold is above all pages if none has any of the words
BACKGROUND_PAGES, MAX_MEAN_PAGES = 30.0, 1000  # of the mean page: weight of other collections, limit of pages
_KIND_BEGINS = [columns.start for columns, _ in KINDS.values()]

Column = NDArray[np.float32]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]


class Anchor(NamedTuple):
    """Number of pages above the line, as one update found it: the next one moves the line little from there."""

    pages: int = 0  # number of pages (rows) so far
    above: float = 0.0  # pages above the line, before labels move it


class LearnedModel(NamedTuple):
    """Content of a model update."""

    weight: Column  # weight of each slot
    direction: Column
    level: float
    mean: Column
    line: float
    likeness: float
    rows: NDArray[np.int32]  # pages learned from
    alone: Column  # likeness of each of these pages as if it had been left out
    anchor: Anchor  # of this model update
    last_anchor: Anchor  # of the update before, made from fewer pages
    widths: tuple[float, float]  # how far the logarithm of the count may be off, downwards and upwards
    idf: Column

    @classmethod
    def of(cls, data: Mapping[str, Any], idf: Column) -> LearnedModel:
        """Parse the data of a model update, which is not trusted; `idf` is that of the same place in the log."""
        weight = np.zeros(SLOTS, np.float32)
        try:
            slots, weights = np.frombuffer(data["slots"], np.int32), np.frombuffer(data["weights"], np.float32)
            rows, alone = np.frombuffer(data["rows"], np.int32), np.frombuffer(data["alone"], np.float32)
            direction, mean = (np.frombuffer(data[name], np.float32) for name in ("direction", "mean"))
            level, line, likeness = (float(data[name]) for name in ("level", "line", "likeness"))
            anchor, last_anchor = (
                Anchor(int(data[name][0]), float(data[name][1])) for name in ("anchor", "last_anchor")
            )
            widths = float(data["widths"][0]), float(data["widths"][1])
            numbers = np.concatenate(
                [weights, alone, direction, mean, [level, line, likeness], anchor, last_anchor, widths]
            )
            fits = len(slots) == len(weights) and len(rows) == len(alone)
            if not fits or len(direction) != DIMENSIONS or len(mean) != DIMENSIONS:
                raise ValueError("its arrays have inconsistent lengths")
            if not np.isfinite(numbers).all() or (len(slots) and not 0 <= slots.min() <= slots.max() < SLOTS):
                raise ValueError("it has values that are not finite, or slots out of range")
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise DamagedError(
                f"a model update of the judge in the log is damaged ({error}): restore the log from a backup"
            ) from error
        weight[slots] = weights
        return cls(weight, direction, level, mean, line, likeness, rows, alone, anchor, last_anchor, widths, idf)

    @classmethod
    def restored(cls, fields: Mapping[str, Any]) -> LearnedModel:
        """Return the model of a snapshot, in which tuples have become lists."""
        return cls(**{**fields, "anchor": Anchor(*fields["anchor"]), "last_anchor": Anchor(*fields["last_anchor"])})

    def odds_of(self, page: Evidence) -> float:
        """Return the log odds of a new page before the threshold is subtracted; same as `odds` for a single page."""
        values = page.amounts * self.idf[page.slots]
        squares = np.add.reduceat(values * values, _KIND_BEGINS).tolist()
        products = np.add.reduceat(values * self.weight[page.slots], _KIND_BEGINS).tolist()
        likeness = self.level
        for square, product, (_, weight) in zip(squares, products, KINDS.values(), strict=True):
            if square:
                likeness += math.sqrt(weight / square) * product
        if page.vector.any():
            vector = page.vector / np.float32(STEPS) - self.mean
            likeness += VECTOR_SCALE * float(vector @ self.direction) / math.sqrt(float(vector @ vector) or 1.0)
        stuffing = min(0.0, math.log(max(2.0 * page.quality, 1e-4)))
        answers = float(page.answers @ ANSWER_RATES)
        return self.likeness * likeness + answers - AGAINST_COST * page.against + STUFFING_COST * stuffing

    def odds(self, pages: EvidenceTable, rows: Rows) -> Numbers:
        """Return the log odds of sorted rows before the threshold is subtracted."""
        likeness = np.zeros(len(rows), np.float32)
        for begin in range(0, len(rows), PAGES_AT_ONCE):
            some = rows[begin : begin + PAGES_AT_ONCE]
            products = pages.features(some, self.idf) * self.weight[pages.slots[some]]
            near = pages.directions(some, self.mean) @ self.direction
            likeness[begin : begin + PAGES_AT_ONCE] = products.sum(axis=1) + near
        likeness += np.float32(self.level)
        for place, row, alone in zip(rows.searchsorted(self.rows).tolist(), self.rows, self.alone, strict=True):
            if place < len(rows) and rows[place] == row:
                likeness[place] = alone
        stuffing = np.log(np.maximum(2.0 * pages.quality[rows], 1e-4))
        odds: Numbers = (
            np.float32(self.likeness) * likeness
            + pages.answers[rows] @ ANSWER_RATES
            - np.float32(AGAINST_COST) * pages.against[rows]
            + np.float32(STUFFING_COST) * np.minimum(stuffing, 0.0)
        )
        return odds


@dataclass(slots=True)
class NamedPages:
    """Rows of the pages that people chose or labelled."""

    starts: Rows
    certain: Rows  # examples fetched by the crawl, and pages labelled yes
    weights: Numbers  # weights of `certain`
    refused: Rows  # pages labelled no
    label_weight: float = LABEL_WEIGHT


class TrainingPages(NamedTuple):
    """Pages to learn from: rows of the examples, then rows of the crawl by role."""

    examples: Rows
    certain: Rows
    starts: Rows
    stand_ins: Rows  # pages that match the topic best
    refused: Rows
    others: Rows

    @property
    def rows(self) -> Rows:
        """Rows of all pages except the examples."""
        return np.concatenate(self[1:]).astype(np.intp)

    def places(self, first: str, last: str = "") -> slice:
        """Return the positions of one role of pages among all of them, or of a range of roles."""
        ends = np.cumsum([len(part) for part in self]).tolist()
        begin, end = self._fields.index(first), self._fields.index(last or first)
        return slice(ends[begin] - len(self[begin]), ends[end])


def own_odds(
    answers: Column, against: Column, quality: Column, vectors: NDArray[np.int8], typical: Column | None
) -> Numbers:
    """Return log odds of pages without a model, by their match with the topic and their similarity to the examples.

    `typical` is the mean of the examples' vectors, of length 1; None without examples.
    """
    stuffing = np.minimum(np.log(np.maximum(2.0 * quality, 1e-4)), 0.0)
    odds: Numbers = answers @ OWN_RATES - OWN_LINE - AGAINST_COST * against + STUFFING_COST * stuffing
    return odds if typical is None else odds + nearness_odds(vectors, typical)


def nearness_odds(vectors: NDArray[np.int8], typical: Column) -> Numbers:
    """Return log odds of pages by the cosines of their vectors with the mean of the examples."""
    cosines = directions(vectors, usual_page()) @ typical / np.float32(VECTOR_SCALE)
    # .19: the usual page. In an encyclopaedia half of a class have .7 or more, and half of the others .15 or less.
    odds: Numbers = 10.0 * (np.maximum(cosines, 0.0) - 0.19)
    return odds


def learn_model(
    pages: EvidenceTable,
    examples: EvidenceTable,
    named: NamedPages,
    idf: Column,
    typical: Column | None,
    last: LearnedModel | None = None,
) -> dict[str, Any]:
    """Return the data of a model update, which is the same if nothing has changed since the `last` one.

    `examples` are not pages of the crawl, and `typical` is their mean vector.
    """

    def own_probability(rows: Rows) -> Numbers:
        # Only for some rows, since the vectors of a large crawl are in a file.
        vectors = pages.vectors[rows] if typical is not None else pages.vectors[:0]
        odds = own_odds(pages.answers[rows], pages.against[rows], pages.quality[rows], vectors, typical)
        probability: Numbers = sigmoid(odds)
        return probability

    firsts = np.flatnonzero(pages.is_first[: pages.count])
    answer_odds = pages.answers[: pages.count] @ OWN_RATES
    percentile = np.zeros(pages.count)
    percentile[firsts] = rank(answer_odds[firsts])
    training = _choose_training_pages(pages, examples, named, answer_odds)
    rows = training.rows

    mean = _mean_page(pages, firsts[answer_odds[firsts] <= np.median(answer_odds[firsts])])
    slots = np.concatenate([examples.slots[training.examples], pages.slots[rows]])
    features = np.concatenate([examples.features(training.examples, idf), pages.features(rows, idf)])
    vectors = np.concatenate([examples.directions(training.examples, mean), pages.directions(rows, mean)])
    positives = training.places("examples", "stand_ins")
    columns = _strongest_features(slots[positives], features[positives])
    matrix = _dense(slots, features, columns)
    kernel = matrix @ matrix.T + vectors @ vectors.T + np.float32(1.0)

    positive, stand_ins_prevail, likeness = _positive_weights(training, named, own_probability)
    weights, likenesses = _fit(kernel, training, positive, percentile[training.others], named.label_weight)
    of_crawl = training.places("certain", "others")
    data: dict[str, Any] = {
        "slots": columns.astype(np.int32).tobytes(),
        "weights": (weights @ matrix).astype(np.float32).tobytes(),
        "direction": (weights @ vectors).astype(np.float32).tobytes(),
        "level": float(np.float32(weights.sum())),
        "mean": mean.tobytes(),
        "rows": rows.astype(np.int32).tobytes(),
        "alone": likenesses[of_crawl].astype(np.float32).tobytes(),
        "likeness": likeness,
        "line": 0.0,
        "anchor": (0, 0.0),
        "last_anchor": (0, 0.0),
        "widths": (0.0, 0.0),
    }
    odds = np.zeros(pages.count)
    odds[firsts] = LearnedModel.of(data, idf).odds(pages, firsts)
    of_examples = training.places("examples")
    example_odds = likeness * likenesses[of_examples] + examples.answers[training.examples] @ ANSWER_RATES
    data |= _line(pages, examples, training, odds, example_odds, own_probability, last)
    if stand_ins_prevail and not pages.answers[firsts, : Answer.MEANING].any():
        data["line"] = max(data["line"], float(odds[firsts].max()) + NOWHERE)
    return data


def _choose_training_pages(
    pages: EvidenceTable, examples: EvidenceTable, named: NamedPages, answer_odds: Numbers
) -> TrainingPages:
    is_other = pages.is_first[: pages.count].copy()
    is_other[named.certain] = is_other[named.starts] = is_other[named.refused] = False
    stand_ins = np.flatnonzero(is_other & (answer_odds > 0.0))
    stand_ins = stand_ins[np.argsort(-answer_odds[stand_ins], kind="stable")[:MAX_STAND_INS]]
    is_other[stand_ins] = False
    others = np.flatnonzero(is_other)
    others = others[np.argsort(_shuffled(others), kind="stable")[:MAX_OTHERS]]
    every_example = np.arange(examples.count)
    return TrainingPages(every_example, named.certain, named.starts, stand_ins, named.refused, others)


def _positive_weights(
    training: TrainingPages, named: NamedPages, own_probability: Callable[[Rows], Numbers]
) -> tuple[Numbers, bool, float]:
    """Return the weights of examples to stand-ins, whether stand-ins prevail, and log odds per unit of likeness."""
    positive = np.concatenate([
        np.full(len(training.examples), EXAMPLE_WEIGHT),
        named.weights,
        np.ones(len(training.starts)),
        np.zeros(len(training.stand_ins)),
    ])  # fmt: skip
    own_of_stand_ins = own_probability(training.stand_ins)
    missing, likeness = ENOUGH - float(positive.sum()), LIKENESS
    stand_ins_prevail = missing > 0.5 * ENOUGH
    if stand_ins_prevail:  # weighted by their own probabilities; likeness counts fully if these add up to 1
        likeness = min(1.0, float(own_of_stand_ins.sum())) if len(training.stand_ins) else 1.0
    if missing > 0.0 and len(training.stand_ins):
        positive[training.places("stand_ins")] = missing * own_of_stand_ins / own_of_stand_ins.sum()
    return positive, stand_ins_prevail, likeness


def _fit(
    kernel: Column, training: TrainingPages, positive: Numbers, percentile_of_others: Numbers, label_weight: float
) -> tuple[Numbers, Numbers]:
    """Return the weight of each training page in the regression, and its likeness as if it had been left out."""
    weights, likenesses = np.zeros(len(kernel)), np.zeros(len(kernel))
    if positive.sum() <= 0.0:
        return weights, likenesses
    positives, others = training.places("examples", "stand_ins"), training.places("others")
    negative = _first_negatives(kernel, positive, others.start, percentile_of_others)
    is_positive = np.zeros(len(kernel))
    is_positive[positives] = 1.0
    for _ in range(2):
        used = np.concatenate([positive, np.full(len(training.refused), label_weight), negative])
        used[: positives.stop] *= SIDE_WEIGHT / max(used[: positives.stop].sum(), 1e-9)
        used[positives.stop :] *= SIDE_WEIGHT / max(used[positives.stop :].sum(), 1e-9)
        rows = np.flatnonzero(used > 0.0)
        a, alone = fit_regression(kernel[np.ix_(rows, rows)].astype(np.float64), is_positive[rows], used[rows])
        likenesses = kernel[:, rows].astype(np.float64) @ a
        likenesses[rows] = alone
        high = float(np.average(likenesses[positives], weights=positive))
        negative = np.maximum(1.0 - _looks_relevant(likenesses[others], high), 0.02)
    weights[rows] = a
    return weights, likenesses


def _line(
    pages: EvidenceTable,
    examples: EvidenceTable,
    training: TrainingPages,
    odds: Numbers,
    example_odds: Numbers,
    own_probability: Callable[[Rows], Numbers],
    last: LearnedModel | None,
) -> dict[str, Any]:
    """Return the threshold, the anchors of this update and of the last one with fewer pages, and the count's widths."""
    named_rows = np.concatenate([training.certain, training.starts])
    free = np.setdiff1d(np.flatnonzero(pages.is_first[: pages.count]), np.concatenate([named_rows, training.refused]))
    anchor = Anchor()
    if last is not None:
        anchor = last.anchor if last.anchor.pages < pages.count else last.last_anchor
    known = np.concatenate([odds[named_rows], example_odds])
    heads = np.concatenate([pages.answers[named_rows, Answer.HEAD], examples.answers[training.examples, Answer.HEAD]])
    if len(free):
        some = free[:: max(1, len(free) // MAX_MEAN_PAGES)]
        own_count = float(_surely(own_probability(some)).sum()) * len(free) / len(some)
        count = expected_relevant(odds[free], own_count, known, float(heads.mean()) if len(heads) else 0.0)
        line = steady_line(line_for_count(odds[free], count), odds[free[free < anchor.pages]], anchor.above)
    else:
        line = float(known.mean()) - 2.0 if len(known) else 0.0
    above = float(np.count_nonzero(odds[free] > line))
    labelled = np.concatenate([training.certain, training.refused])
    if len(labelled):
        is_yes = np.concatenate([np.ones(len(training.certain)), np.zeros(len(training.refused))])
        line = line_after_labels(line, odds[labelled], is_yes)
    widths = count_widths(len(free), odds[free], known)
    return {"line": line, "anchor": (pages.count, above), "last_anchor": tuple(anchor), "widths": widths}


def _surely(probability: Numbers) -> Numbers:
    """Return less of small probabilities: .02 to .1 is usual on sites about related things."""
    reduced: Numbers = probability * probability / (probability + DOUBTFUL)
    return reduced


def _first_negatives(kernel: Column, positive: Numbers, first: int, percentile: Numbers) -> Numbers:
    """Return 1 for the pages that look least relevant, 0 for the rest: the negatives of the first round."""
    if first == len(kernel):
        return np.zeros(0)
    likeness = kernel[first:, : len(positive)] @ positive
    looks = 0.6 * rank(likeness) + 0.4 * percentile
    return np.where(rank(looks) < 1.0 - 0.7, 1.0, 0.0)  # seven in ten are not used as negatives at first


def _looks_relevant(likenesses: Numbers, high: float) -> Numbers:
    """Return how relevant pages look: .5 is midway between the usual page and the mean of the positives, `high`."""
    if not len(likenesses):
        return likenesses
    low = float(likenesses[likenesses <= np.median(likenesses)].mean())
    probability: Numbers = sigmoid(4.0 * (likenesses - (low + high) / 2.0) / max(high - low, 0.5))
    return probability


def _mean_page(pages: EvidenceTable, rows: Rows) -> Column:
    some = rows[:: max(1, len(rows) // MAX_MEAN_PAGES)]
    whole = BACKGROUND_PAGES * usual_page() + pages.vectors[some].astype(np.float32).sum(axis=0) / np.float32(STEPS)
    mean: Column = (whole / np.float32(BACKGROUND_PAGES + len(some))).astype(np.float32)
    return mean


def usual_page() -> Column:
    return np.frombuffer(COMMON, np.int8).astype(np.float32) / np.float32(STEPS)


def _strongest_features(slots: NDArray[np.int32], features: Column) -> Rows:
    distinct, at = np.unique(slots, return_inverse=True)
    sums = np.bincount(at.ravel(), features.ravel(), len(distinct))
    some = np.flatnonzero((sums != 0.0) & (distinct != 0))
    if len(some) > MAX_FEATURES:
        some = np.sort(some[np.argsort(-sums[some], kind="stable")[:MAX_FEATURES]])
    return distinct[some].astype(np.intp)


def _dense(slots: NDArray[np.int32], features: Column, columns: Rows) -> Column:
    column_of = np.full(SLOTS, -1, np.int32)
    column_of[columns] = np.arange(len(columns))
    at_column = column_of[slots]
    at, nth = np.nonzero(at_column >= 0)
    matrix = np.zeros((len(slots), len(columns)), np.float32)
    np.add.at(matrix.reshape(-1), at * len(columns) + at_column[at, nth], features[at, nth])
    return matrix


def rank(scores: Numbers) -> Numbers:
    """Return the share of scores below each score, with equal ones counted half.

    >>> rank(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [0.875, 0.25, 0.25, 0.625]
    """
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return below / (2.0 * max(len(scores), 1))


def _shuffled(rows: Rows) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each row to sample by, the same one in each update."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
