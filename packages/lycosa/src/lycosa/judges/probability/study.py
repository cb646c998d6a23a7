"""What the pages so far teach: which of them are alike in the way that relevant pages are, and where the line lies.

Positives are pages that a person named: examples, pages with a yes, start pages. Start pages are usually examples; but
portals and directories may be among them, so each counts as far as it is trusted (`_trust`): by how well it answers the
words, or how much it is like the other positives, compared with the pages at large. Where little is left to trust, the
pages that answer the words best stand in. Negatives are drawn from all pages: at first those that least look relevant,
then each as far as the regression so far does not take it for relevant (positive-unlabelled learning).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError
from lycosa.core.state import State
from lycosa.judges.embedding import COMMON, STEPS
from lycosa.judges.probability.evidence import AT_ONCE, PARTS, SHARES, SLOTS, VECTOR, Evidence, Pages, placed
from lycosa.judges.probability.line import LARGE, expected, fitted, line, moved, sigmoid
from lycosa.text.embeddings import DIMENSIONS, unit

ANSWER = np.array([1.6, 1.0, 0.1, 4.5], np.float32)  # log odds per unit of an answer (`evidence.ANSWERS`)
# the same before the first model update, and the line then
UNTAUGHT, UNTAUGHT_LINE = np.array([1.6, 1.5, 0.1, 7.0], np.float32), 4.1
AGAINST = 4.0  # log odds that words against the topic cost
STUFFED = 4.0  # log odds lost for each factor of e by which quality is below one half
SHOWN, OTHERS, LIKELY = 60, 150, 10  # pages learned from: labelled, drawn from the others, guessed relevant
# weights of an example and of a label, where a trusted start page counts 1; sum that makes guesses unnecessary
EXAMPLE, LABELLED, ENOUGH = 1.5, 3.0, 1.5
DOUBTFUL = 0.1  # probability by itself: on a site about related things most pages say .02 to .1 of any topic
TELLING = 1000  # features of relevant pages that are weighed
SCALE = 150.0  # total weight of positives, and of negatives
# index of the answer by meaning; how far above all pages the line lies if none has any of the words
MEANING, NOWHERE = 3, 2.0
# pages that the mean of other collections counts for beside the less relevant half; pages in that half
MEAN, MOST = 30.0, 1000
_BEGINS = [part.start for part in PARTS]

Column = NDArray[np.float32]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]


class Model(NamedTuple):
    """What a lesson says, as it comes back from the log."""

    weight: Column  # of each slot
    direction: Column
    level: float
    mean: Column
    line: float
    likeness: float
    alone: dict[int, float]  # d of the pages that were learned from, each as if it had not been
    idf: Column

    @classmethod
    def of(cls, data: Mapping[str, Any], idf: Column) -> Model:
        """`idf` are those of now: at the same place in the log they are the same. A log may come from anywhere."""
        weight = np.zeros(SLOTS, np.float32)
        try:
            slots, weights = np.frombuffer(data["slots"], np.int32), np.frombuffer(data["weights"], np.float32)
            rows, alone = np.frombuffer(data["rows"], np.int32), np.frombuffer(data["alone"], np.float32)
            direction, mean = (np.frombuffer(data[name], np.float32) for name in ("direction", "mean"))
            level, line, likeness = (float(data[name]) for name in ("level", "line", "likeness"))
            odds_alone = dict(zip(rows.tolist(), alone.tolist(), strict=True))
            whole = np.concatenate([weights, alone, direction, mean, [level, line, likeness]])
            if len(slots) != len(weights) or len(direction) != DIMENSIONS or len(mean) != DIMENSIONS:
                raise ValueError("its parts do not fit together")
            if not np.isfinite(whole).all() or (len(slots) and not 0 <= slots.min() <= slots.max() < SLOTS):
                raise ValueError("its numbers make no sense")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DamagedError(
                f"a lesson of the judge in the log is damaged ({error}): restore the log from a backup"
            ) from error
        weight[slots] = weights
        return cls(weight, direction, level, mean, line, likeness, odds_alone, idf)

    def state(self) -> State:
        rows, alone = np.array(list(self.alone), np.int32), np.array(list(self.alone.values()))
        return {**self._asdict(), "alone": {"rows": rows, "alone": alone}}

    @classmethod
    def restored(cls, state: State) -> Model:
        alone = dict(zip(state["alone"]["rows"].tolist(), state["alone"]["alone"].tolist(), strict=True))
        return cls(**{**state, "alone": alone})

    def odds_of(self, page: Evidence) -> float:
        """Log odds of a page that is new, before the line is drawn: `odds` of many pages, made for one."""
        weights = page.amounts * self.idf[page.slots]
        squares = np.add.reduceat(weights * weights, _BEGINS).tolist()
        weighted = np.add.reduceat(weights * self.weight[page.slots], _BEGINS).tolist()
        d = self.level
        for square, total, share in zip(squares, weighted, SHARES, strict=True):
            if square:
                d += math.sqrt(share / square) * total
        if page.vector.any():
            place = page.vector / np.float32(STEPS) - self.mean
            d += VECTOR * float(place @ self.direction) / math.sqrt(float(place @ place) or 1.0)
        stuffing = min(0.0, math.log(max(2.0 * page.quality, 1e-4)))
        return self.likeness * d + float(page.answers @ ANSWER) - AGAINST * page.against + STUFFED * stuffing

    def odds(self, pages: Pages, rows: Rows) -> Numbers:
        """Log odds of some pages, before the line is drawn."""
        d = np.zeros(len(rows), np.float32)
        for begin in range(0, len(rows), AT_ONCE):
            some = rows[begin : begin + AT_ONCE]
            weighed = pages.values(some, self.idf) * self.weight[pages.slots[some]]
            d[begin : begin + AT_ONCE] = weighed.sum(axis=1) + pages.placed(some, self.mean) @ self.direction
        d += np.float32(self.level)
        at = np.searchsorted(rows, list(self.alone))  # rows are in order
        for place, (row, alone) in zip(at.tolist(), self.alone.items(), strict=True):
            if place < len(rows) and rows[place] == row:
                d[place] = alone
        stuffing = np.log(np.maximum(2.0 * pages.quality[rows], 1e-4))
        odds: Numbers = (
            np.float32(self.likeness) * d
            + pages.answers[rows] @ ANSWER
            - np.float32(AGAINST) * pages.against[rows]
            + np.float32(STUFFED) * np.minimum(stuffing, 0.0)
        )
        return odds


@dataclass(slots=True)
class Given:
    """What people have said, by rows."""

    starts: Rows
    certain: Rows  # examples met by the crawl, and pages labelled yes
    counts: Numbers  # weight of each of them
    refused: Rows


def untaught(
    answers: Column, against: Column, quality: Column, vectors: NDArray[np.int8], typical: Column | None
) -> Numbers:
    """Log odds of pages by what they say by themselves: how they answer the words, and how near they are to examples.

    `typical` is the mean of the examples' vectors, of length 1; None if there are none.
    """
    stuffing = np.minimum(np.log(np.maximum(2.0 * quality, 1e-4)), 0.0)
    odds: Numbers = answers @ UNTAUGHT - UNTAUGHT_LINE - AGAINST * against + STUFFED * stuffing
    return odds if typical is None else odds + nearness(vectors, typical)


def nearness(vectors: NDArray[np.int8], typical: Column) -> Numbers:
    """Log odds for how near pages are to the examples: the cosines of their vectors with the mean of theirs."""
    cosines = placed(vectors, usual_page()) @ typical / np.float32(VECTOR)
    # .19: the usual page's. In an encyclopaedia half of a class have .7 and more, half of the others .15 and less.
    odds: Numbers = 10.0 * (np.maximum(cosines, 0.0) - 0.19)
    return odds


def studied(pages: Pages, examples: Pages, given: Given, idf: Column, typical: Column | None) -> dict[str, Any]:
    """A lesson's data. `examples` are pages that were shown beforehand, and `typical` their mean vector."""
    rows_known = np.flatnonzero(pages.first[: pages.count])
    asked = pages.answers[: pages.count] @ UNTAUGHT

    def says(some: Rows) -> Numbers:
        """What pages say by themselves. Not all are asked: vectors of a large crawl lie in a file."""
        vectors = pages.vectors[some] if typical is not None else pages.vectors[:0]
        odds = untaught(pages.answers[some], pages.against[some], pages.quality[some], vectors, typical)
        probability: Numbers = sigmoid(odds)
        return probability

    percentile = np.zeros(pages.count)
    percentile[rows_known] = rank(asked[rows_known])
    named = np.concatenate([given.certain, given.starts])
    is_other = pages.first[: pages.count].copy()
    is_other[named] = is_other[given.refused] = False
    likely = np.flatnonzero(is_other & (asked > 0.0))
    likely = likely[np.argsort(-asked[likely], kind="stable")[:LIKELY]]
    is_other[likely] = False
    others = np.flatnonzero(is_other)
    others = others[np.argsort(_shuffled(others), kind="stable")[:OTHERS]]
    rows = np.concatenate([named, likely, given.refused, others]).astype(np.intp)
    e, c = examples.count, examples.count + len(given.certain)
    n = c + len(given.starts)
    p, r = n + len(likely), n + len(likely) + len(given.refused)

    mean = _mean(pages, rows_known[pages.relevance_now[rows_known] <= np.median(pages.relevance_now[rows_known])])
    every = np.arange(e)
    slots = np.concatenate([examples.slots[every], pages.slots[rows]])
    weighed = np.concatenate([examples.values(every, idf), pages.values(rows, idf)])
    vectors = np.concatenate([examples.placed(every, mean), pages.placed(rows, mean)])
    telling = _telling(slots[:p], weighed[:p])
    matrix = _dense(slots, weighed, telling)
    kernel = matrix @ matrix.T + vectors @ vectors.T + np.float32(1.0)

    positive = np.concatenate([np.full(e, EXAMPLE), given.counts, np.zeros(p - c)])
    for at, saying in zip(range(c, n), says(given.starts).tolist(), strict=True):
        positive[at] = _trust(kernel, at, n, p, percentile[rows[at - e]]) * min(1.0, saying / DOUBTFUL)
    standing_in = says(likely)
    missing, likeness = ENOUGH - float(positive.sum()), 1.8  # log odds per unit of likeness to labelled pages
    guessed = missing > 0.5 * ENOUGH
    if guessed:  # who stands in counts by what it says itself; together they have to be as good as one page
        likeness = min(1.0, float(standing_in.sum())) if p > n else 1.0
    if missing > 0.0 and p > n:
        positive[n:] = missing * standing_in / standing_in.sum()
    weights, d = np.zeros(len(slots)), np.zeros(len(slots))
    if positive.sum() > 0.0:
        negative = _unlike(kernel, positive, r, percentile[others])
        yes = np.zeros(len(slots))
        yes[:p] = 1.0
        for _ in range(2):
            used = np.concatenate([positive, np.full(r - p, LABELLED), negative])
            used[:p] *= SCALE / max(used[:p].sum(), 1e-9)
            used[p:] *= SCALE / max(used[p:].sum(), 1e-9)
            used_rows = np.flatnonzero(used > 0.0)
            a, alone = fitted(kernel[np.ix_(used_rows, used_rows)].astype(np.float64), yes[used_rows], used[used_rows])
            d = kernel[:, used_rows].astype(np.float64) @ a
            d[used_rows] = alone
            negative = np.maximum(1.0 - _looking(d[r:], float(np.average(d[:p], weights=positive))), 0.02)
        weights[used_rows] = a
    data: dict[str, Any] = {
        "slots": telling.astype(np.int32).tobytes(),
        "weights": (weights @ matrix).astype(np.float32).tobytes(),
        "direction": (weights @ vectors).astype(np.float32).tobytes(),
        "level": float(np.float32(weights.sum())),
        "mean": mean.tobytes(),
        "rows": rows.astype(np.int32).tobytes(),
        "alone": d[e:].astype(np.float32).tobytes(),
        "likeness": likeness,
        "line": 0.0,
    }
    odds = np.zeros(pages.count)
    odds[rows_known] = Model.of(data, idf).odds(pages, rows_known)
    of_examples = data["likeness"] * d[:e] + examples.answers[:e] @ ANSWER
    is_trusted = positive > 0.2  # weight that tells where relevant pages lie
    trusted = rows[: p - e][is_trusted[e:]]

    def said(rows: Rows) -> float:
        probability = says(rows)
        return float((probability * probability / (probability + DOUBTFUL)).sum())

    shown = np.concatenate([examples.placed(every, usual_page()), pages.placed(named, usual_page())])[is_trusted[:n]]
    near = _closeness(pages, np.setdiff1d(rows_known, named), shown)
    shown_odds = np.concatenate([odds[trusted], of_examples])
    data["line"] = _line(odds, rows_known, shown_odds, given, said, near)
    if (
        guessed and not pages.answers[rows_known, :MEANING].any()
    ):  # words that no page has, and nobody to show what is meant
        data["line"] = max(data["line"], float(odds[rows_known].max()) + NOWHERE)
    return data


def _closeness(pages: Pages, others: Rows, shown: Column) -> float:
    """The median cosine, in meaning, of the other pages with the mean of those that were shown; 0 if there are none."""
    if not len(shown) or not len(others):
        return 0.0
    some = others[:: max(1, len(others) // MOST)]
    return float(np.median(pages.placed(some, usual_page()) @ unit(shown.sum(axis=0)))) / VECTOR


def _line(
    odds: Numbers, known: Rows, shown: Numbers, given: Given, said: Callable[[Rows], float], near: float
) -> float:
    """Where the line lies, by how many of the pages are relevant of which nobody has said anything, and by labels.

    `said` is how many of some pages are relevant by what they say by themselves: asked only if it counts. `near` is how
    close the pages are to those that were shown.
    """
    labelled = np.concatenate([given.certain, given.refused])
    free = known[~np.isin(known, labelled)]
    if not len(free):
        return float(np.mean(shown)) - 2.0 if len(shown) else 0.0
    alone = said(free) if len(free) < 2 * LARGE else 0.0
    at = line(odds[free], expected(odds[free], shown, alone, near))
    yes = np.concatenate([np.ones(len(given.certain)), np.zeros(len(given.refused))])
    return moved(at, odds[labelled], yes) if len(labelled) else at


def _trust(kernel: Column, at: int, named: int, likely: int, percentile: float) -> float:
    """How far a start page is one of those that are wanted, from 0 to 1.

    Two things can speak for it: how it answers the words, and how much it is like the other pages that were named,
    both compared with the pages at large. But portals are like each other, too: what hardly answers at all is not
    trusted for that.
    """
    others = np.delete(np.arange(named), at)
    like = percentile
    if len(others) and likely < len(kernel):
        near = kernel[:, others].mean(axis=1)
        like = float(np.mean(near[likely:] < near[at]))
    # share of pages that a start page must beat at the words, to be trusted for its likeness
    return max(0.0, 2.0 * max(percentile, like) - 1.0) * min(1.0, percentile / 0.4)


def _unlike(kernel: Column, positive: Numbers, first: int, percentile: Numbers) -> Numbers:
    """How much each of the other pages counts as irrelevant to begin with: 1 for those that least look relevant."""
    if first == len(kernel):
        return np.zeros(0)
    likeness = kernel[first:, : len(positive)] @ positive
    looks = 0.6 * rank(likeness) + 0.4 * percentile
    return np.where(rank(looks) < 1.0 - 0.7, 1.0, 0.0)  # seven in ten are no negatives at first


def _looking(d: Numbers, high: float) -> Numbers:
    """How far pages look relevant by their likeness: one half midway between the usual page and the positives."""
    if not len(d):
        return d
    low = float(d[d <= np.median(d)].mean())
    probability: Numbers = sigmoid(4.0 * (d - (low + high) / 2.0) / max(high - low, 0.5))
    return probability


def _mean(pages: Pages, off: Rows) -> Column:
    """The mean page: what all pages have in common. Those of the more relevant half are not among them."""
    some = off[:: max(1, len(off) // MOST)]
    whole = MEAN * usual_page() + pages.vectors[some].astype(np.float32).sum(axis=0) / np.float32(STEPS)
    mean: Column = (whole / np.float32(MEAN + len(some))).astype(np.float32)
    return mean


def usual_page() -> Column:
    return np.frombuffer(COMMON, np.int8).astype(np.float32) / np.float32(STEPS)


def _telling(slots: NDArray[np.int32], weighed: Column) -> Rows:
    """The features that positives have most of, in order."""
    distinct, at = np.unique(slots, return_inverse=True)
    sums = np.bincount(at.ravel(), weighed.ravel(), len(distinct))
    some = np.flatnonzero((sums != 0.0) & (distinct != 0))
    if len(some) > TELLING:
        some = np.sort(some[np.argsort(-sums[some], kind="stable")[:TELLING]])
    return distinct[some].astype(np.intp)


def _dense(slots: NDArray[np.int32], weighed: Column, telling: Rows) -> Column:
    """Pages as rows, with a column for each feature that tells."""
    column_of = np.full(SLOTS, -1, np.int32)
    column_of[telling] = np.arange(len(telling))
    columns = column_of[slots]
    at, nth = np.nonzero(columns >= 0)
    matrix = np.zeros((len(slots), len(telling)), np.float32)
    np.add.at(matrix.reshape(-1), at * len(telling) + columns[at, nth], weighed[at, nth])
    return matrix


def rank(scores: Numbers) -> Numbers:
    """The share of scores that are below each, equal ones counted half.

    >>> rank(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [0.875, 0.25, 0.25, 0.625]
    """
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return below / (2.0 * max(len(scores), 1))


def _shuffled(rows: Rows) -> NDArray[np.uint64]:
    """A number for each row by which they are drawn: the same one in each lesson."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
