"""Confidence intervals over topics and seed sets, and paired tests of two strategies.

A unit is one run: a topic and a seed set. Runs on one topic are correlated, so with `groups` (the topics) the bootstrap
draws topics first and then seed sets within them. A single unit gives an interval of nan and p = 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.drawing.figure import Curve

Floats: TypeAlias = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

DRAWS = 2000
FLIPS = 10_000


class Interval(NamedTuple):
    """A mean with its 95 % bootstrap interval; `n` is the number of units."""

    mean: float
    low: float
    high: float
    n: int = 0

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 3) -> str:
        """Format with `digits` decimal places.

        >>> str(Interval(.5, .41, .6)), Interval(.5, math.nan, math.nan).text(1)
        ('0.500 (0.410 to 0.600)', '0.5')
        """
        mean, low, high = (f"{value:.{digits}f}" for value in self[:3])
        return f"{mean} ({low} to {high})" if math.isfinite(self.low) else mean


class PairedDifference(NamedTuple):
    """Mean of a - b with its interval and two-sided p-value."""

    mean: float
    low: float
    high: float
    p: float
    n: int  # differences that could have either sign: of topics if given, else of units

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 3) -> str:
        """Format with `digits` decimal places.

        >>> str(PairedDifference(.05, -.01, .1, .2, 8)), PairedDifference(.05, math.nan, math.nan, 1, 1).text(2)
        ('+0.050 (95 %: -0.010 to +0.100; p = 0.200)', '+0.05 (one trial only)')
        """
        if math.isnan(self.mean):
            return "nothing to compare"
        mean, low, high = (f"{value:+.{digits}f}" for value in self[:3])
        sure = math.isfinite(self.low)
        return f"{mean} (95 %: {low} to {high}; p = {self.p:.3f})" if sure else f"{mean} (one trial only)"


def interval(
    values: ArrayLike, draws: int = DRAWS, random_seed: int = 0, *, groups: Sequence[Hashable] | None = None
) -> Interval:
    """Return the mean over units and its bootstrap percentile interval (Efron 1979), ignoring nan.

    With `groups`, one per value, the mean is taken over group means, and each draw resamples groups and then values
    within them. With a single group only its values are resampled, so the interval does not cover other topics.

    Percentile intervals are too narrow for few units: they cover the mean of 3 normal values 71 % of the time, of 10
    values 90 % (measured by a test).
    """
    known = np.asarray(values, np.float64)
    kept = ~np.isnan(known)
    known = known[kept]
    if not len(known):
        return Interval(math.nan, math.nan, math.nan, 0)
    of = _numbered(groups, kept)
    mean = float(_mean(of, known))
    if len(known) < 2:
        return Interval(mean, math.nan, math.nan, 1)
    low, high = _tails(_drawn(tuple(of.tolist()), draws, random_seed) @ known)
    return Interval(mean, float(low), float(high), len(known))


def curve(
    label: str, x: Sequence[float], lines: ArrayLike, groups: Sequence[Hashable] | None = None, random_seed: int = 0
) -> Curve:
    """Return the mean of curves, one per unit, with an `interval` band from the same draws at every point."""
    known = np.atleast_2d(np.asarray(lines, np.float64))
    of = _numbered(groups, np.ones(len(known), np.bool_))
    mean_curve = Curve(label, x, _mean(of, known).tolist())
    if len(known) > 1:
        low, high = _tails(_drawn(tuple(of.tolist()), DRAWS, random_seed) @ known)
        mean_curve.low, mean_curve.high = low.tolist(), high.tolist()
    return mean_curve


def paired(
    a: ArrayLike, b: ArrayLike, random_seed: int = 0, *, groups: Sequence[Hashable] | None = None
) -> PairedDifference:
    """Test whether a is better than b, paired by unit: a sign-flip permutation test (Fisher 1935).

    p is the share of sign assignments whose mean is at least as far from 0 as the observed one: exact for up to 14
    differences, otherwise over 10,000 random assignments plus the observed one. With `groups`, the signs of group means
    are flipped. The smallest p of n differences is 2 / 2^n, so 5 cannot reach .05. Pairs with a nan are ignored.
    """
    one, two = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if one.shape != two.shape:
        raise ValueError(f"{one.size} values and {two.size}: a paired test needs both for every unit")
    apart = one - two
    kept = ~np.isnan(apart)
    mean, low, high, _ = interval(apart, random_seed=random_seed, groups=groups)
    of = _numbered(groups, kept) if groups is not None else np.arange(np.count_nonzero(kept))
    if not len(of):
        return PairedDifference(mean, low, high, math.nan, 0)
    means = np.bincount(of, apart[kept]) / np.bincount(of)
    return PairedDifference(mean, low, high, sign_flip(means, random_seed), len(means))


def sign_flip(differences: ArrayLike, random_seed: int = 0) -> float:
    """Return the two-sided p-value of the mean of differences; see `paired`."""
    known = np.asarray(differences, np.float64)
    n = len(known)
    if n == 0:
        return math.nan
    seen = abs(known.sum())
    near = seen - 1e-9 * np.abs(known).sum()  # tolerance, as the same numbers summed in another order differ
    if n <= 14:  # at most 16,384 assignments of signs
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float(np.mean(np.abs(signs @ known) >= near))
    rng = np.random.default_rng((random_seed, n))
    as_far = 0
    for begin in range(0, FLIPS, 1000):
        signs = 1.0 - 2.0 * rng.integers(0, 2, (min(1000, FLIPS - begin), n))
        as_far += int(np.count_nonzero(np.abs(signs @ known) >= near))
    return (1 + as_far) / (1 + FLIPS)


def holm(p_values: ArrayLike) -> Floats:
    """Correct p-values for multiple comparisons (Holm 1979: family-wise error rate); nan are not counted.

    The smallest of m is multiplied by m, the next by m - 1 and so on; results are monotonic and at most 1.
    """
    known = np.asarray(p_values, np.float64)
    corrected = np.full(known.shape, math.nan)
    order = np.argsort(known, kind="stable")[: np.count_nonzero(~np.isnan(known))]
    factors = len(order) - np.arange(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(known[order] * factors))
    return corrected


def corrected(differences: Mapping[Key, PairedDifference]) -> dict[Key, PairedDifference]:
    """Return the differences with p corrected for multiple comparisons (`holm`)."""
    p_values = holm([one.p for one in differences.values()]).tolist()
    return {name: one._replace(p=p) for (name, one), p in zip(differences.items(), p_values, strict=True)}


def _numbered(groups: Sequence[Hashable] | None, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the groups of the kept units in order of appearance; without groups all units are in group 0."""
    if groups is None:
        return np.zeros(int(np.count_nonzero(kept)), np.int64)
    if len(groups) != len(kept):
        raise ValueError(f"{len(kept)} values and {len(groups)} groups: each value needs its group")
    numbers: dict[Hashable, int] = {}
    return np.array(
        [numbers.setdefault(group, len(numbers)) for group, keep in zip(groups, kept.tolist(), strict=True) if keep],
        np.int64,
    )


def _mean(of: NDArray[np.int64], values: Floats) -> Floats:
    means: Floats = np.mean([values[of == group].mean(axis=0) for group in range(int(of.max()) + 1)], axis=0)
    return means


@lru_cache(maxsize=4)
def _drawn(groups: tuple[int, ...], draws: int, random_seed: int) -> Floats:
    """Return the weight of each unit in each bootstrap draw, which draws groups and then units within each."""
    of = np.array(groups, np.int64)
    rng = np.random.default_rng((random_seed, len(of)))
    sizes = np.bincount(of)
    order = np.argsort(of, kind="stable")  # units grouped
    first = np.cumsum(sizes) - sizes
    weights = np.zeros((draws, len(of)))
    for draw in range(draws):
        chosen = rng.integers(0, len(sizes), len(sizes)) if len(sizes) > 1 else np.zeros(1, np.int64)
        many = sizes[chosen]
        places = np.repeat(first[chosen], many) + (rng.random(many.sum()) * np.repeat(many, many)).astype(np.int64)
        weights[draw] = np.bincount(order[places], np.repeat(1.0 / (len(sizes) * many), many), len(of))
    return weights


def _tails(drawn: Floats) -> tuple[Floats, Floats]:
    rest = (1.0 - 0.95) / 2.0
    low, high = np.quantile(drawn, [rest, 1.0 - rest], axis=0).round(12)  # the weights sum to 1 only up to rounding
    return low, high
