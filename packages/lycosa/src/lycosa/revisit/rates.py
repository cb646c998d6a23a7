"""Estimate how often pages change from visits at irregular times, and how often to revisit them.

**One page.** It changes at rate lambda, at random times (a Poisson process). A visit after a time tau finds it
unchanged with probability exp(-lambda tau), else changed at least once. Some visits reveal that the last change was s
ago. With a Gamma prior of shape a and mean a/b, the log posterior that is maximised over log(lambda) is

    sum over changed log(1 - exp(-lambda tau))  -  lambda * sum over unchanged tau
        +  sum over known (log lambda - lambda s)  +  a log lambda - b lambda

and, for each page, half an unchanged visit of the mean length of its intervals is added. For n visits tau apart of
which X found a change, and without a prior, that gives

    lambda = -log((n - X + 1/2) / (n + 1/2)) / tau

which is Cho and Garcia-Molina's estimator: unlike X/(n tau) it accounts for several changes between two visits, and
unlike the plain maximum it is finite where all visits found a change, and nearly unbiased.

**The prior.** Rates of pages are assumed to be Gamma distributed with one shape a for all, and a mean that is the mean
of all pages, times a factor of the page's host, times a factor of its relevance class (quarters of the relevance). All
are learned from the pages themselves (empirical Bayes): estimate the rates with the prior so far, fit the prior to
them, and repeat.

Shape: with y = rate/mean, log a - digamma(a) = -mean(E log y), solved by Minka's approximation; E log y is that of each
page's own posterior, so that pages with few visits do not look alike. Factor of a group g of n_g pages, after
Buehlmann:

    1 + Z_g (mean of y in g - 1)    Z_g = n_g / (n_g + 1/(a V))

where V is the variance between groups, by moments: the variance of the group means beyond that expected by chance. For
similar groups, or a single one, V = 0 and all factors are 1. Default without any visit: once in three weeks.

Paper: Cho, Garcia-Molina 2003, "Estimating frequency of change". They solve the irregular case without correction; half
a visit and the prior are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.core.columns import fit
from lycosa.core.types import Rows

Floats = NDArray[np.float64]

_TINY = 1e-300

USUAL = 1 / (21 * 86_400.0)  # default change rate per second of unknown pages
SHAPE = 0.5  # half the pages change less than .45 times as often as the mean: rates differ by orders of magnitude
_TRUST = 4.0  # weight of the default rate USUAL, in pages
_SAMPLE = 4_096
_CLASSES = 4


class Posterior(NamedTuple):
    """Gamma posterior of each page's rate: mean (per second) and shape; the deviation is rate/sqrt(shape)."""

    rate: Floats
    shape: Floats


def estimate(
    span: Floats, since: Floats, a: ArrayLike = 0.0, b: ArrayLike = 0.0, start: Floats | None = None
) -> Posterior:
    """Estimate the rates of pages from their visits, one row per page as in Histories.

    With x = lambda tau and h(x) = x/(exp(x) - 1), the derivative by log(lambda) is

        g(lambda) = a + known + sum over changed h(lambda tau) - lambda B

    where B is b plus all time without a change. It falls and is convex, so Newton steps from the left never overshoot;
    h(x) >= 1 - x/2 gives a start left of the root. `start` may be a better one.
    """
    n = len(span)
    changed = since == np.inf
    unchanged = since < 0
    known = ~(changed | unchanged)
    time = np.where(unchanged, span, 0.0).sum(1)
    row, _ = np.nonzero(changed)
    tau = span[changed]
    hidden = np.bincount(row, tau, n)
    censored = np.count_nonzero(~known & (span > 0), axis=1)
    half = 0.5 * (time + hidden) / np.maximum(censored, 1)
    A = np.asarray(a, np.float64) + np.count_nonzero(known, axis=1)
    B = np.maximum(np.asarray(b, np.float64) + time + np.where(known, since, 0.0).sum(1) + half, _TINY)
    least = (A + np.bincount(row, minlength=n)) / (B + hidden / 2)
    rate = least if start is None else np.maximum(start, least)
    for _ in range(100):
        x = np.minimum(rate[row] * tau, 700.0)
        h = x / np.expm1(x)
        shape = np.bincount(row, h * (x + h - 1.0), n) + rate * B
        g = A + np.bincount(row, h, n) - rate * B
        better = np.maximum(rate + rate * g / np.maximum(shape, _TINY), least)
        settled = np.abs(better - rate) <= 1e-12 * rate
        rate = better
        if settled.all():
            break
    return Posterior(rate, np.maximum(shape, _TINY))


@dataclass(slots=True)
class Prior:
    """Gamma prior of the change rates: shape, overall mean, and factors by host and by relevance class."""

    shape: float = SHAPE
    mean: float = USUAL
    hosts: Floats = field(default_factory=lambda: np.ones(0))
    classes: Floats = field(default_factory=lambda: np.ones(_CLASSES))

    def means(self, histories: Histories, rows: Rows) -> Floats:
        host = histories.host[rows]
        known = host < len(self.hosts)
        factor = np.where(known, self.hosts[np.where(known, host, 0)], 1.0) if len(self.hosts) else 1.0
        expected: Floats = self.mean * factor * self.classes[classes(histories.weight[rows])]
        return expected

    def fit(self, histories: Histories, rows: Rows | None = None) -> None:
        """Fit to the histories; the result does not depend on earlier fits."""
        rows = np.flatnonzero(histories.visits[: len(histories)]) if rows is None else rows
        self.shape, self.mean, self.hosts, self.classes = SHAPE, USUAL, np.ones(0), np.ones(_CLASSES)
        if not len(rows):
            return
        for _ in range(6):
            self._round(histories, rows[:: -(-len(rows) // _SAMPLE)])
        if len(rows) > _SAMPLE:
            self._round(histories, rows)

    def _round(self, histories: Histories, rows: Rows) -> None:
        means = self.means(histories, rows)
        rate, shape = estimate(histories.span[rows], histories.since[rows], self.shape, self.shape / means)
        mean = (_TRUST * USUAL + rate.sum()) / (_TRUST + len(rows))
        host, kind = histories.host[rows], classes(histories.weight[rows])
        hosts = credible(rate / mean, host, self.shape)
        kinds = credible(rate / (mean * hosts[host]), kind, self.shape)
        self.mean, self.hosts = float(mean), hosts
        self.classes = np.concatenate([kinds, np.ones(_CLASSES - len(kinds))])
        y = rate / self.means(histories, rows)
        log_y = np.log(y) + digamma(shape) - np.log(shape)
        spread = np.log(y.mean()) - log_y.mean()  # 0 if all pages change equally often
        spread = (_TRUST * 1.27 + len(rows) * spread) / (_TRUST + len(rows))  # 1.27 is the spread of SHAPE
        self.shape = float(np.clip((3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread), 0.1, 4.0))


def classes(weight: Floats) -> NDArray[np.intp]:
    return np.clip(_CLASSES * weight, 0, _CLASSES - 1).astype(np.intp)


def credible(y: Floats, group: NDArray[np.integer], shape: float) -> Floats:
    """Return a factor for each group: its mean, shrunk by group size and the variance between groups.

    >>> y = np.array([0.1, 0.1, 0.1, 0.1, 1.9, 1.9, 1.9, 1.9]); host = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> credible(y, host, shape=4.0).round(2).tolist(), credible(y, 0 * host, 4.0).tolist()
    ([0.13, 1.87], [1.0])
    """
    n = np.bincount(group)
    used = n > 0
    means = np.where(used, np.bincount(group, y) / np.maximum(n, 1), 1.0)
    chance = (np.count_nonzero(used) - 1) / shape
    among = len(y) - (n**2).sum() / len(y)
    between = max(0.0, float((n * (means - 1) ** 2).sum()) - chance) / among if among > 0 else 0.0
    if between <= 0:
        return np.ones(len(n))
    factors: Floats = np.maximum(1 + n / (n + 1 / (shape * between)) * (means - 1), 0.01)
    return factors


def digamma(x: Floats) -> Floats:
    """Return the derivative of log Gamma for x > 0, accurate to about 1e-8."""
    y = x + 5.0
    series = np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6)
    result: Floats = series - sum(1 / (x + step) for step in range(5))
    return result


class Rates:
    """Rate estimates of all pages; updated for pages with new visits, and for all after the prior is refitted."""

    def __init__(self) -> None:
        self.prior = Prior()
        self.rate: Floats = np.zeros(0)
        self.shape: Floats = np.zeros(0)
        self._seen: NDArray[np.int32] = np.zeros(0, np.int32)
        self._fitted = 0.0

    def review(self, histories: Histories) -> None:
        """Refit the prior if enough visits or pages were added since the last fit."""
        if histories.total + len(histories) > self._fitted * 1.1 + 16:  # grown by a tenth since the last fit
            self.prior.fit(histories)
            self._fitted = histories.total + len(histories)
            self._seen[:] = -1

    def posterior(self, histories: Histories, rows: Rows) -> Posterior:
        self.rate, self.shape = fit(self.rate, len(histories)), fit(self.shape, len(histories))
        self._seen = fit(self._seen, len(histories), -1)
        stale = rows[self._seen[rows] != histories.visits[rows]]
        if len(stale):
            a = self.prior.shape
            means = self.prior.means(histories, stale)
            start = np.where(self._seen[stale] < 0, self.rate[stale], 0.0)  # only the prior has changed
            posterior = estimate(histories.span[stale], histories.since[stale], a, a / means, start)
            self.rate[stale], self.shape[stale] = posterior
            self._seen[stale] = histories.visits[stale]
        return Posterior(self.rate[rows], self.shape[rows])


KEPT = 16  # number of recent visits kept per page
UNCHANGED, UNKNOWN = -1.0, math.inf  # markers in place of the time since the last change

_COLUMNS: dict[str, tuple[Any, tuple[int, ...], float]] = {  # dtype, shape of one entry, fill value
    "host": (np.int32, (), 0),
    "weight": (np.float64, (), 0),
    "first": (np.float64, (), 0),
    "last": (np.float64, (), 0),
    "tried": (np.float64, (), 0),
    "failures": (np.int32, (), 0),
    "visits": (np.int32, (), 0),
    "dropped": (np.bool_, (), False),
    "span": (np.float64, (KEPT,), 0),
    "since": (np.float64, (KEPT,), UNCHANGED),
}


class Histories:
    """Visits of watched pages by number: when, and whether the page had changed.

    One row per page in columns that grow by doubling, like those of core/table.py; a fold over the log. The last 16
    visits of a page are kept, in slot `number % 16`: older ones say little about its current behaviour.
    """

    host: NDArray[np.int32]
    weight: NDArray[np.float64]  # importance of the page, for instance its relevance
    first: NDArray[np.float64]
    last: NDArray[np.float64]  # time of the last successful visit
    tried: NDArray[np.float64]  # time of the last request, successful or not
    failures: NDArray[np.int32]  # consecutive requests without a result
    visits: NDArray[np.int32]  # visits after the first
    dropped: NDArray[np.bool_]  # true if the page has vanished
    span: NDArray[np.float64]  # time since the previous visit, per kept visit; 0: none
    since: NDArray[np.float64]  # time since the last change, per kept visit; UNCHANGED or UNKNOWN

    def __init__(self) -> None:
        self._length = 0
        self.total = 0  # visits of all pages
        self.now = 0.0  # latest time known; callers may set a later one
        for name, (dtype, shape, fill) in _COLUMNS.items():
            setattr(self, name, np.full((0, *shape), fill, dtype))

    def __len__(self) -> int:
        return self._length

    def add(self, at: float, host: int = 0, weight: float = 1.0) -> int:
        i = self._length
        if i == len(self.host):
            for name, (_, _, fill) in _COLUMNS.items():
                setattr(self, name, fit(getattr(self, name), i + 1, fill))
        self._length += 1
        self.host[i], self.weight[i] = host, max(0.0, weight)
        self.first[i] = self.last[i] = self.tried[i] = at
        self.now = max(self.now, at)
        return i

    def add_visit(self, i: int, at: float, changed: bool, modified: float = 0.0) -> None:
        """Record a visit; `modified` is the time of the last change if the host reports it reliably, else 0."""
        last = float(self.last[i])
        span = max(at - last, 1.0 if changed else 0.0)  # a change takes time, but clocks differ or are coarse
        since = UNCHANGED
        if changed:
            since = at - modified if last <= modified <= at and modified > 0 else UNKNOWN
        slot = int(self.visits[i]) % KEPT
        self.span[i, slot], self.since[i, slot] = span, since
        self.visits[i] += 1
        self.total += 1
        self._record_request(i, at)
        self.last[i] = max(at, last)
        self.failures[i] = 0
        self.dropped[i] = False

    def failed(self, i: int, at: float) -> None:
        self._record_request(i, at)
        self.failures[i] += 1

    def drop(self, i: int, at: float = 0.0) -> None:
        """Record that the page has vanished; each further such visit counts as a failure."""
        self._record_request(i, at)
        self.failures[i] = self.failures[i] + 1 if self.dropped[i] else 1
        self.dropped[i] = True

    def revive(self, i: int, at: float) -> None:
        """Record that the page has returned; its history continues from here, as changes in between are unknown."""
        self.dropped[i] = False
        self.failures[i] = 0
        self._record_request(i, at)
        self.last[i] = max(at, float(self.last[i]))

    def _record_request(self, i: int, at: float) -> None:
        self.tried[i] = max(at, float(self.tried[i]))
        self.now = max(self.now, at)

    def rows(self, which: Rows | int | None = None) -> Rows:
        return np.arange(self._length) if which is None else np.atleast_1d(np.asarray(which, np.intp))


# Revisit intervals, given the rate estimates and the number of visits.
#
# With lambda known, a page is unchanged after a time t with probability exp(-lambda t). If lambda is Gamma distributed
# with shape k and mean m, that is, with theta = k/m,
#
#     S(t) = (1 + t/theta)^-k
#
# is the mean over its possible rates. In a cycle of length tau the copy is fresh for I(tau), the integral of S up to
# tau, and
#
#     claim(tau) = w (I(tau) - tau S(tau))
#
# is the gain of a visit after tau: in the limit of k this is w/lambda (1 - (1 + lambda tau) exp(-lambda tau)), as
# above. The visit is due when the claim reaches the price. Uncertainty alone causes visits: a page that seems to change
# too fast to be followed has a claim that stays below w/m if that is certain, but grows without bound if k <= 1,
# because it may be a quiet page after all. So little-known pages are visited now and then without random draws.
#
# Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers".


def guessed_gain(u: Floats, k: Floats) -> Floats:
    """Return claim/(w theta) where u = log(1 + tau/theta); k t^2/2 for small t = tau/theta.

    >>> (float(guessed_gain(np.array([np.log1p(1e-6)]), np.array([3.0]))[0]) / 1.5e-12).__round__(5)
    1.0
    """
    t = np.expm1(u)
    j = k - 1
    x = j * u
    # (1 - exp(-x))/j, which is u for j = 0
    share = np.where(np.abs(x) < 1e-9, u, -np.expm1(-x) / np.where(np.abs(x) < 1e-9, 1.0, j))
    small = k * t * t * (0.5 - t * (k + 1) / 3 + t * t * (k + 1) * (k + 2) / 8)
    result: Floats = np.where((k + 2) * t < 1e-3, small, share - t * np.exp(-k * u))
    return result


def claim(tau: Floats, weight: Floats, rate: Floats, shape: Floats) -> Floats:
    theta = shape / np.maximum(rate, 1e-300)
    worth: Floats = weight * theta * guessed_gain(np.log1p(np.maximum(tau, 0.0) / theta), shape)
    return worth


def waiting(
    price: float, weight: Floats, rate: Floats, shape: Floats, longest: Floats, start: Floats | None = None
) -> Floats:
    """Return the time until the claims of pages reach the price, at most `longest`; `start` are guesses.

    Newton steps in (log u, log gain), where the curve is nearly straight, within a bracket.
    """
    tau = longest.copy()
    theta = shape / np.maximum(rate, 1e-300)
    rows = np.flatnonzero(claim(longest, weight, rate, shape) > price)
    if not len(rows):
        return tau
    k, top = shape[rows], theta[rows]
    y = price / (weight[rows] * top)
    high = np.log1p(longest[rows] / top)
    low = np.minimum(np.log1p(np.sqrt(2 * y / k)), high)  # because gain(t) <= k t^2/2
    u = low.copy() if start is None else np.clip(np.log1p(start[rows] / top), low, high)
    active = np.arange(len(rows))
    for _ in range(60):
        at, shape_ = u[active], k[active]
        have = guessed_gain(at, shape_)
        above = have > y[active]
        high[active] = np.where(above, at, high[active])
        low[active] = np.where(above, low[active], at)
        slope = shape_ * np.expm1(at) * np.exp(-shape_ * at) * at  # derivative of the gain by log u
        step = (y[active] - have) / np.maximum(slope, 1e-300)
        step = np.where(above, step, np.log(y[active] / np.maximum(have, 1e-300)) * have / np.maximum(slope, 1e-300))
        better = at * np.exp(np.clip(step, -3, 3))
        outside = (better <= low[active]) | (better >= high[active])
        better = np.where(outside & (np.abs(step) > 1e-9), (low[active] + high[active]) / 2, better)
        u[active] = better
        active = active[np.abs(better - at) > 1e-7 * at]
        if not len(active):
            break
    tau[rows] = np.expm1(u) * top
    return tau
