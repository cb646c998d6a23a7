"""How often a page changes, from looks at irregular times that say only whether it had changed.

A page changes at rate lambda, at random times (a Poisson process). A look after a time tau finds it unchanged with
probability exp(-lambda tau), else changed, once or many times. Some looks say more: the last change was s ago. With a
Gamma prior of shape a and mean a/b, the logarithm of what is maximised over log(lambda) is

    sum over changed log(1 - exp(-lambda tau))  -  lambda * sum over unchanged tau
        +  sum over known (log lambda - lambda s)  +  a log lambda - b lambda

and, for each page, half an unchanged look of the mean length of its looks is added. For n looks tau apart of which X
found a change, and without a prior, that gives

    lambda = -log((n - X + 1/2) / (n + 1/2)) / tau

which is Cho and Garcia-Molina's estimator: unlike X/(n tau) it counts changes that hide behind others, and unlike the
plain maximum it is finite where all looks found a change, and hardly biased.

Paper: Cho, Garcia-Molina 2003, "Estimating frequency of change". They solve the irregular case
without correction; half a look and the prior are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_TINY = 1e-300


class Posterior(NamedTuple):
    """What is known of the rate of each page: nearly Gamma, with this mean (per second) and shape.

    The standard deviation is rate/sqrt(shape).
    """

    rate: Floats
    shape: Floats


def estimate(
    span: Floats, since: Floats, a: ArrayLike = 0.0, b: ArrayLike = 0.0, start: Floats | None = None
) -> Posterior:
    """The rates of pages from their looks, a line for each page as Histories keeps them.

    With x = lambda tau and h(x) = x/(exp(x) - 1), the derivative by log(lambda) is

        g(lambda) = a + known + sum over changed h(lambda tau) - lambda B

    where B is b, and all the time without a change. It falls and is convex, so that Newton's steps from the left never
    overshoot; h(x) >= 1 - x/2 gives a place to start that is left of the root. `start` may be a better one.

    >>> day = 86_400.0
    >>> rate, _ = estimate(np.full((1, 4), day), np.array([[np.inf, -1.0, np.inf, -1.0]]))
    >>> round(float(rate[0] * day), 6), round(float(np.log(4.5 / 2.5)), 6)
    (0.587787, 0.587787)
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
    for _ in range(_STEPS):
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
