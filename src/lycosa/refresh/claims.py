"""What a look at a page brings, where its rate of change is not known but guessed.

With the rate lambda known, a page is still as we saw it after a time t with probability exp(-lambda t). Where lambda is
Gamma distributed with shape k and mean m, that is, with theta = k/m,

    S(t) = (1 + t/theta)^-k

the mean over all rates it may have. In a cycle of length tau it is fresh for I(tau), the integral of S up to tau, and

    claim(tau) = w (I(tau) - tau S(tau))

is what a look after tau brings: with k without end this is w/lambda (1 - (1 + lambda tau) exp(-lambda tau)), as in
allocation.py. The look is due when the claim reaches the price. Doubt alone makes us look: a page that seems to change
too fast to be followed has a claim that stays below w/m if that is certain, but grows on and on if k <= 1, as it may be
a quiet page after all. So what little is known of is looked at now and then, and no chance has to be drawn.
"""

from __future__ import annotations

import numpy as np

from lycosa.refresh.rates import Floats

_STEPS = 60


def gain(u: Floats, k: Floats) -> Floats:
    """claim/(w theta) where u = log(1 + tau/theta); k t^2/2 for small t = tau/theta.

    >>> (float(gain(np.array([np.log1p(1e-6)]), np.array([3.0]))[0]) / 1.5e-12).__round__(5)
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
    worth: Floats = weight * theta * gain(np.log1p(np.maximum(tau, 0.0) / theta), shape)
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
    for _ in range(_STEPS):
        at, shape_ = u[active], k[active]
        have = gain(at, shape_)
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
