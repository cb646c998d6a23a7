"""How often to look at each page, given how often each changes and how many looks there are.

**The rate is known.** A page that changes at rate lambda and is looked at f times a second, evenly, is fresh for the
share of time

    F(lambda, f) = (1 - exp(-r)) / r        r = lambda/f

Looks are given out so that the sum of w F is largest. The last look at every page then brings as much as at any other,
the price mu:

    w/lambda (1 - (1 + r) exp(-r)) = mu

The left side is never more than w/lambda: a page with w/lambda <= mu is not looked at at all. It changes faster than it
is worth following, and the looks do more good elsewhere. So visits do not grow with the rate of change: they first
rise, then fall to nothing.

**The rate is guessed.** With lambda known, a page is still as we saw it after a time t with probability exp(-lambda t).
Where lambda is Gamma distributed with shape k and mean m, that is, with theta = k/m,

    S(t) = (1 + t/theta)^-k

the mean over all rates it may have. In a cycle of length tau it is fresh for I(tau), the integral of S up to tau, and

    claim(tau) = w (I(tau) - tau S(tau))

is what a look after tau brings: with k without end this is w/lambda (1 - (1 + lambda tau) exp(-lambda tau)), as above.
The look is due when the claim reaches the price. Doubt alone makes us look: a page that seems to change too fast to be
followed has a claim that stays below w/m if that is certain, but grows on and on if k <= 1, as it may be a quiet page
after all. So what little is known of is looked at now and then, and no chance has to be drawn.

Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lycosa.refresh.rates import Floats

_TOO_FAR = 700.0
"""exp(-r) is 0 for all purposes beyond this."""


def _table() -> tuple[Floats, Floats]:
    r = np.exp(np.linspace(np.log(1e-8), np.log(45.0), 4_096))
    return np.log(gain(r)), np.log(r)


def gain(r: Floats) -> Floats:
    """1 - (1 + r) exp(-r), also for small r, where it is r^2/2 - r^3/3 + ...

    >>> gain(np.array([1e-6, 1.0])).tolist() == [5e-13 - 1e-18 / 3 + 1e-24 / 8, 1 - 2 * np.exp(-1)]
    True
    """
    small = r * r * (0.5 - r * (1 / 3 - r * (1 / 8 - r * (1 / 30 - r / 144))))
    result: Floats = np.where(r < 1e-3, small, -np.expm1(-r) - r * np.exp(-r))
    return result


def inverse_gain(y: Floats) -> Floats:
    """The r with gain(r) = y; infinite where y >= 1.

    From a table, then Newton in log r, where log gain is nearly straight.

    >>> float(inverse_gain(gain(np.array([2.5])))[0]).__round__(12)
    2.5
    """
    y = np.asarray(y, np.float64)
    inside = np.clip(y, 1e-300, 1 - 2.0**-53)
    r = np.where(inside < 1e-12, np.sqrt(2 * inside), np.exp(np.interp(np.log(inside), *_TABLE)))
    for _ in range(2):
        slope = r * r * np.exp(-r)  # of gain by log r
        r = r * np.exp(np.clip((inside - gain(r)) / np.maximum(slope, 1e-300), -0.5, 0.5))
    return np.where(y >= 1, np.inf, np.where(y <= 0, 0.0, r))


_TABLE = _table()


def freshness(rate: ArrayLike, visits: ArrayLike) -> Floats:
    """The mean share of time in which our copy is as the page is.

    >>> freshness([1.0, 1.0, 0.0], [1.0, 0.0, 0.0]).round(3).tolist()
    [0.632, 0.0, 1.0]
    """
    rate, visits = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(visits, np.float64))
    r = np.divide(rate, visits, out=np.where(rate > 0, np.inf, 0.0), where=visits > 0)
    share: Floats = np.divide(-np.expm1(-np.minimum(r, 1e300)), r, out=np.ones(r.shape), where=r > 0)
    return np.where(np.isinf(r), 0.0, share)


class Allocation(NamedTuple):
    """Visits a second for each page, and the price: what one more look a second would bring."""

    visits: Floats
    price: float


def allocate(
    weight: ArrayLike, rate: ArrayLike, budget: float, least: ArrayLike = 0.0, most: float = np.inf, price: float = 0.0
) -> Allocation:
    """The visits that keep most fresh, `budget` in all.

    `least` and `most` are bounds on the visits of each page. Least visits that the budget does not suffice for are cut,
    all by the same factor; a budget that is more than all may have is not spent, and the price is then 0. `price` is
    where to begin to look for it.

    >>> visits, price = allocate([1, 1, 1], [0.1, 1.0, 100.0], budget=1.0)
    >>> visits.round(3).tolist()
    [0.309, 0.691, 0.0]
    """
    w, rate = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(rate, np.float64))
    floor = np.minimum(np.broadcast_to(np.asarray(least, np.float64), w.shape), most)
    if floor.sum() >= budget:
        return Allocation(floor * (budget / max(floor.sum(), 1e-300)), np.inf)
    live = (w > 0) & (rate > 0)
    ceiling = floor.copy()
    ceiling[live] = most
    if ceiling.sum() <= budget:
        return Allocation(ceiling, 0.0)
    dear = rate[live] / w[live]
    lam, low_end = rate[live], floor[live]
    spare = budget - floor[~live].sum()

    def demand(price: float) -> tuple[Floats, float]:
        """Visits at a price, and the slope of their sum by log(price)."""
        r = np.maximum(inverse_gain(price * dear), 1e-300)
        f = np.clip(lam / r, low_end, most)
        moving = (f > low_end) & (f < most)
        bent = np.exp(-np.minimum(r, _TOO_FAR)) * r**3
        slope = np.divide(lam * price * dear, bent, out=np.zeros(len(r)), where=moving & (bent > 0))
        return f, -float(slope.sum())

    # The bracket, in log price: nothing is worth more than 1/dear, and at a price of nothing all want the most.
    low, high = -np.inf, float(np.log(1 / dear.min()))
    many, few = np.full(len(lam), most), low_end
    at, stride = (np.log(price) if price > 0 else high - 1.0), 1.0
    for turn in range(300):
        if not low < at < high or turn % 8 == 7:
            at = (low + high) / 2 if low > -np.inf else min(high, at if at == at else high) - stride
            stride *= 2
        f, slope = demand(float(np.exp(at)))
        total = float(f.sum())
        if abs(total - spare) <= 1e-13 * spare:
            many = few = f
            break
        if total > spare:
            low, many = at, f
        else:
            high, few = at, f
        if high - low <= 4e-16 * abs(high):
            break
        # Newton on log(total) against log(price), a nearly straight line
        at += np.log(spare / total) * total / slope if slope < 0 and total > 0 else np.nan
    # Of pages with w/lambda = price to all digits some looks more or fewer are as good: they make up the difference.
    gap = float((many - few).sum())
    visits = floor.copy()
    visits[live] = few + (many - few) * ((spare - float(few.sum())) / gap if gap > 0 else 0.0)
    return Allocation(visits, float(np.exp(high)) if gap > 0 else float(np.exp(at)))


def guessed_gain(u: Floats, k: Floats) -> Floats:
    """claim/(w theta) where u = log(1 + tau/theta); k t^2/2 for small t = tau/theta.

    >>> (float(guessed_gain(np.array([np.log1p(1e-6)]), np.array([3.0]))[0]) / 1.5e-12).__round__(5)
    1.0
    """
    t = np.expm1(u)
    j = k - 1
    x = j * u
    # (1 - exp(-x))/j, which is u where j is 0
    share = np.where(np.abs(x) < 1e-9, u, -np.expm1(-x) / np.where(np.abs(x) < 1e-9, 1.0, j))
    small = k * t * t * (0.5 - t * (k + 1) / 3 + t * t * (k + 1) * (k + 2) / 8)
    result: Floats = np.where((k + 2) * t < 1e-3, small, share - t * np.exp(-k * u))
    return result


def claim(tau: Floats, weight: Floats, rate: Floats, shape: Floats) -> Floats:
    """What a look after tau brings."""
    theta = shape / np.maximum(rate, 1e-300)
    worth: Floats = weight * theta * guessed_gain(np.log1p(np.maximum(tau, 0.0) / theta), shape)
    return worth


def waiting(
    price: float, weight: Floats, rate: Floats, shape: Floats, longest: Floats, start: Floats | None = None
) -> Floats:
    """How long until the claims of pages reach the price, at most `longest`; `start` are guesses.

    Newton's steps in (log u, log gain), where the curve is nearly straight, with a bracket around them.

    >>> one = np.ones(1); tau = waiting(0.2, one, one, 2 * one, 100 * one)
    >>> claim(tau, one, one, 2 * one).round(12).tolist()
    [0.2]
    """
    tau = longest.copy()
    theta = shape / np.maximum(rate, 1e-300)
    rows = np.flatnonzero(claim(longest, weight, rate, shape) > price)
    if not len(rows):
        return tau
    k, top = shape[rows], theta[rows]
    y = price / (weight[rows] * top)
    high = np.log1p(longest[rows] / top)
    low = np.minimum(np.log1p(np.sqrt(2 * y / k)), high)  # gain(t) <= k t^2/2
    u = low.copy() if start is None else np.clip(np.log1p(start[rows] / top), low, high)
    active = np.arange(len(rows))
    for _ in range(60):
        at, shape_ = u[active], k[active]
        have = guessed_gain(at, shape_)
        above = have > y[active]
        high[active] = np.where(above, at, high[active])
        low[active] = np.where(above, low[active], at)
        slope = shape_ * np.expm1(at) * np.exp(-shape_ * at) * at  # of gain by log u
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
