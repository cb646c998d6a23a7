"""Count of relevant pages from answers about a stratified random sample.

When counting starts, all unlabelled pages are ranked by relevance, once, and the ranking is stored in the log: the
*frame*. Later ranks move with each answer, those of the frame do not. Its strata are the ranks 1-4, 5-8, 9-16, 17-32
and so on. Each stratum has a fixed pseudo-random order. The labelled pages at the beginning of that order are a random
sample of the stratum, whoever labelled them, when and in which order. Other labelled pages (those that teach the judge
most, for instance) are known, but say nothing about the rest.

Relevance falls with rank r: the share of relevant pages is c / (1 + (r / m)^s), with m, s and c unknown. The share of a
stratum varies around that as a beta distribution worth CONCENTRATION answers. The posterior over a grid of (m, s, c)
gives the count and its interval; shares before the first answer come from the judge's own count.

docs/judging.md has the measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.estimate import EVEN, Estimate
from lycosa.core.types import START_RELEVANCE, Setting
from lycosa.store.log import SqliteLog

FRAME = "count_frame"  # setting with the frame
FIRST_STRATUM = 4  # pages of the first stratum; each later one ends at twice the rank
MAX_NEW_SHARE = 0.1  # pages fetched since, as a share of the frame, from which a new frame is needed
CONCENTRATION = 8.0  # answers that the curve is worth in each stratum
COUNT_SPREAD = 0.85  # standard deviation of the logarithm of the judge's own count
TAIL = 0.075  # probability of each side outside of the interval: held the truth in nine of ten crawls
STEEPNESS, CEILINGS = (0.5, 1.0, 2.0, 4.0), (0.3, 0.6, 0.85, 1.0)  # of the curves
# Probability of each steepness (rows) and ceiling, fitted to crawls of 9 of the 17 development sites.
SHAPES = np.array([[16, 6, 4, 3], [3, 3, 8, 14], [1, 1, 7, 22], [1, 1, 2, 10]]) / 102.0
MIN_ANSWERS = 5  # from which the sample counts
TRUSTED_ANSWERS = 10  # from which it counts even if the judge's interval is elsewhere
MIDDLES = 24  # values of m
RANKS = 16  # ranks per stratum at which a curve is evaluated
LIMIT = 1e-3  # shares are at least this, and at most 1 less this

Column = NDArray[Any]
Answers: TypeAlias = dict[int, bool | None]  # by the number of a page's first visit; None if withdrawn or skipped


@dataclass(frozen=True)
class Frame:
    """Pages as they were ranked when counting started."""

    ranked: NDArray[np.int64]  # numbers of the pages' first visits, best first
    expected: float  # number of relevant pages by the judge

    @classmethod
    def read(cls, log: SqliteLog) -> Frame | None:
        """Return the last frame of a log, whose content is not trusted."""
        stored = log.setting(FRAME, None)
        try:
            ranked, expected = np.array(stored["ranked"], np.int64), float(stored["expected"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        fits = ranked.ndim == 1 and len(ranked) and 0.0 <= expected <= len(ranked)
        return cls(ranked, expected) if fits else None

    def setting(self, now: float) -> Setting:
        return Setting(FRAME, {"ranked": self.ranked.tolist(), "expected": self.expected}, now)


def draw_frame(firsts: Column, relevances_now: Column, answers: Answers) -> Frame:
    """Return a frame of the pages that are neither seeds nor labelled."""
    is_open = open_pages(firsts, relevances_now, answers)
    firsts, relevances_now = firsts[is_open], relevances_now[is_open]
    order = np.lexsort((shuffled(firsts), -relevances_now))
    return Frame(firsts[order].astype(np.int64), float(np.count_nonzero(relevances_now >= EVEN)))


def open_pages(firsts: Column, relevances_now: Column, answers: Answers) -> NDArray[np.bool_]:
    """Return which pages are neither labelled nor seeds that count as examples."""
    labelled = [first for first, relevant in answers.items() if relevant is not None]
    is_open: NDArray[np.bool_] = ~np.isin(firsts, labelled) & (relevances_now != np.float32(START_RELEVANCE))
    return is_open


def read_answers(log: SqliteLog) -> Answers:
    """Return the last label of each page."""
    query = """
        SELECT page.first, label.relevant FROM label
        JOIN visit ON visit.url = label.url JOIN page ON page.first = visit.seq
        WHERE label.seq IN (SELECT MAX(seq) FROM label GROUP BY url)
    """
    return {first: None if relevant is None else bool(relevant) for first, relevant in log.query(query)}


def with_answers(firsts: Column, relevances_now: Column, answers: Answers) -> Column:
    """Return relevances with labels that the judge has not learned yet."""
    relevances_now = relevances_now.copy()
    for relevant in (False, True):
        labelled = [first for first, answer in answers.items() if answer is relevant]
        relevances_now[np.isin(firsts, labelled)] = float(relevant)
    return relevances_now


def is_outdated(frame: Frame, firsts: Column, relevances_now: Column, answers: Answers) -> bool:
    """Return whether so many pages were fetched since that a new frame is needed."""
    new = open_pages(firsts, relevances_now, answers) & ~np.isin(firsts, frame.ranked)
    return bool(np.count_nonzero(new) > MAX_NEW_SHARE * len(frame.ranked))


def count_by_sample(
    found: Estimate, frame: Frame, answers: Answers, firsts: Column, relevances_now: Column
) -> Estimate:
    """Return the estimate by the sample if it has enough answers, otherwise the judge's.

    Pages outside of the frame (seeds, those labelled before it was drawn, and those fetched since) count as they are.
    """
    sample = Sample(frame, answers)
    if sample.size < MIN_ANSWERS or is_outdated(frame, firsts, relevances_now, answers):
        return found
    relevances_now = with_answers(firsts, relevances_now, answers)
    others = int(np.count_nonzero(~np.isin(firsts, frame.ranked) & (relevances_now >= EVEN)))
    expected, low, high = (others + round(count) for count in sample.count())
    if sample.size < TRUSTED_ANSWERS and (high < found.low or low > found.high):
        return found
    return replace(found, expected=expected, low=low, high=high)


def shuffled(firsts: Column) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each page (splitmix64, Steele et al. 2014), which never changes.

    >>> shuffled(np.array([1, 2])).tolist()
    [16294208416658607535, 7960286522194355700]
    """
    x = np.asarray(firsts).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


def stratum_bounds(pages: int) -> list[int]:
    """Return the ranks at which strata end, after 0.

    >>> stratum_bounds(40), stratum_bounds(3)
    ([0, 4, 8, 16, 32, 40], [0, 3])
    """
    bounds = [0, min(FIRST_STRATUM, pages)]
    while bounds[-1] < pages:
        bounds.append(min(2 * bounds[-1], pages))
    return bounds


class DrawnPage(NamedTuple):
    """Page to ask for, with the ranks of its stratum."""

    first: int
    begin: int
    end: int


class Sample:
    """Strata of a frame with the answers so far."""

    def __init__(self, frame: Frame, answers: Answers) -> None:
        self.frame, self.bounds = frame, stratum_bounds(len(frame.ranked))
        count = len(self.bounds) - 1
        self.sizes = np.diff(self.bounds).astype(np.float64)
        self.yes, self.asked, self.known = (
            np.zeros(count),
            np.zeros(count),
            np.zeros(count),
        )  # known: all labelled pages
        self.known_yes = 0
        self.unasked: list[list[int]] = []
        for number, (begin, end) in enumerate(pairwise(self.bounds)):
            members = frame.ranked[begin:end]
            order = members[np.argsort(shuffled(members))].tolist()
            labels = [answers.get(first) for first in order]
            self.known[number] = sum(relevant is not None for relevant in labels)
            self.known_yes += sum(map(bool, labels))
            sampled = next((at for at, first in enumerate(order) if first not in answers), len(order))
            self.yes[number] = sum(map(bool, labels[:sampled]))
            self.asked[number] = sum(relevant is not None for relevant in labels[:sampled])
            self.unasked.append([first for first in order[sampled:] if first not in answers])

    @property
    def size(self) -> int:
        return int(self.asked.sum())

    def draw(self, limit: int) -> list[DrawnPage]:
        """Return the next pages to ask for, each where it tells most.

        That is the stratum with the largest N sqrt(p (1 - p)) / n, with N pages, n answers and a share p (Neyman 1934).
        """
        weights, shares = self._posterior()
        p = np.clip(weights @ shares, LIMIT, 1.0 - LIMIT)
        asked, drawn = self.asked.copy(), list[DrawnPage]()
        left = [pages[::-1] for pages in self.unasked]
        while len(drawn) < limit and any(left):
            gain = self.sizes * np.sqrt(p * (1.0 - p) / ((asked + 0.5) * (asked + 1.5)))
            number = int(np.argmax(np.where([bool(pages) for pages in left], gain, -1.0)))
            drawn.append(DrawnPage(left[number].pop(), self.bounds[number] + 1, self.bounds[number + 1]))
            asked[number] += 1
        return drawn

    def count(self) -> tuple[float, float, float]:
        """Return the expected number of relevant pages in the frame, and the ends of its interval.

        Given a curve, the number of relevant pages among the unlabelled ones of a stratum is beta-binomial. The sum is
        taken as normal, and its distribution is averaged over the curves.
        """
        weights, shares = self._posterior()
        left, worth = self.sizes - self.known, CONCENTRATION + self.asked
        means = self.known_yes + shares @ left
        spreads = np.sqrt(shares * (1.0 - shares) @ (left * (worth + left) / (worth + 1.0)) + 1.0 / 12.0)
        low, high = self.known_yes, self.known_yes + float(left.sum())
        counts = np.expm1(np.linspace(math.log1p(low), math.log1p(high), 200))
        below = weights @ normal_cdf((counts - means[:, None]) / spreads[:, None])
        ends = np.interp([TAIL, 1.0 - TAIL], below, counts)
        return float(weights @ means), float(ends[0]), float(ends[1])

    def _posterior(self) -> tuple[Column, Column]:
        """Return the probability of each curve, and the share of relevant pages of each stratum by each curve."""
        shares, logs = _curves(self.bounds)
        expected = np.log(shares @ self.sizes + 0.5) - math.log(self.frame.expected + 0.5)
        logs = logs - 0.5 * (expected / COUNT_SPREAD) ** 2
        for number, (yes, asked) in enumerate(zip(self.yes, self.asked, strict=True)):
            share = CONCENTRATION * shares[:, number, None]
            logs += np.log(share + np.arange(yes)).sum(1)
            logs += np.log(CONCENTRATION - share + np.arange(asked - yes)).sum(1)
        weights = np.exp(logs - logs.max())
        return weights / weights.sum(), (CONCENTRATION * shares + self.yes) / (CONCENTRATION + self.asked)


def _curves(bounds: list[int]) -> tuple[Column, Column]:
    """Return the mean of each curve in each stratum, and the logarithm of the curve's probability."""
    middles = np.geomspace(0.5, 2.0 * bounds[-1], MIDDLES)
    m, s, c = np.array(list(product(middles, STEEPNESS, CEILINGS))).T[:, :, None]
    columns = []
    for begin, end in pairwise(bounds):
        ranks = begin + (np.arange(min(end - begin, RANKS)) + 0.5) * (end - begin) / min(end - begin, RANKS)
        columns.append((c / (1.0 + (ranks / m) ** s)).mean(1))
    shares = np.clip(np.array(columns).T, LIMIT, 1.0 - LIMIT)
    return shares, np.tile(np.log(SHAPES.ravel()), MIDDLES)


def normal_cdf(z: Column) -> Column:
    """Return the normal distribution function, within .0003 (Page 1977)."""
    cdf: Column = 0.5 * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (z + 0.044715 * z**3)))
    return cdf
