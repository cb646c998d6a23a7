"""Measures of a crawl, computed from its gains: the relevance of each fetched page in the order of fetching.

Seeds and pages used for training are excluded. A crawl that runs out of links keeps its sum at later budgets; `harvest`
is over the pages it fetched, so report `fetched` with it; `area` is over the whole budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa_lab.confidence import Floats as Floats
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject

Nodes: TypeAlias = NDArray[np.integer[Any]]


def gains(trace: Trace, subject: HuntSubject, truth: ArrayLike | None = None) -> Floats:
    """Return the gain of each counted page by the subject's truth (1 or 0 for classes), or by `truth` if given."""
    worth = np.asarray(subject.truth if truth is None else truth)
    return worth[subject.counted(trace.found)].astype(np.float64)


def targets(trace: Trace, subject: HuntSubject, truth: ArrayLike | None = None) -> float:
    """Return the summed truth of all nodes except seeds and training pages."""
    worth = np.where(subject.unseen, subject.truth if truth is None else truth, 0.0)
    worth[trace.nodes[: trace.seeds]] = 0.0
    return float(worth.astype(np.float64).sum())


def cumulative(gains: ArrayLike) -> Floats:
    """Return score(i) = sum over j <= i of beta(v_j) without seeds (Gouriten et al. 2014, sections 3 and 8.2)."""
    return np.cumsum(np.asarray(gains, np.float64))


def fetched(gains: ArrayLike, budgets: ArrayLike) -> NDArray[np.int64]:
    """Return the number of pages fetched at each budget: fewer after the crawl ran out of links."""
    return np.minimum(np.asarray(budgets, np.int64), np.size(gains))


def steps_to(last: int, points: int = 60) -> NDArray[np.int64]:
    """Return evenly spaced steps of a curve, from 1 to `last`.

    >>> steps_to(5, 3).tolist(), steps_to(2).tolist()
    ([1, 3, 5], [1, 2])
    """
    return np.unique(np.linspace(1, last, min(points, last)).astype(np.int64))


def found(gains: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return the sum of gains within each budget: for classes the number of relevant pages."""
    sums = np.concatenate([[0.0], cumulative(gains)])
    return sums[fetched(gains, budgets)]


def exhausted(gains: ArrayLike, budget: int) -> bool:
    """Return whether the last quarter of a budget had at most a twentieth of the relevant pages (gain .5 or more).

    Two exhausted crawls with the same number of pages can't be distinguished, as no relevant pages were left.

    >>> exhausted([1, 1, 1, 0, 0, 0, 0, 0], 8), exhausted([1, 0, 0, 1], 4)
    (True, False)
    """
    hits = np.asarray(gains, np.float64)[:budget] >= 0.5
    return bool(np.count_nonzero(hits[budget - budget // 4 :]) <= 0.05 * np.count_nonzero(hits))


def polite(hosts: ArrayLike) -> Floats:
    """Return when each request is sent, with one per second and host, in this order; requests take no time.

    time(i) = max(time(i - 1), time of the last page of the same host + 1)
    """
    now, free, times = 0.0, dict[Any, float](), []
    for host in np.asarray(hosts).tolist():
        now = max(now, free.get(host, 0.0))
        free[host] = now + 1.0
        times.append(now)
    return np.array(times, np.float64)


def sites(
    trace: Trace, subject: HuntSubject, hosts: ArrayLike, truth: ArrayLike | None = None, least: float = 0.0
) -> Floats:
    """Return for each counted page 1 if it is the first relevant one of its host, else 0.

    `hosts` has the host number of each node, or -1. A page is relevant if its truth is above 0 and at least `least`.
    Hosts with a relevant seed do not count.
    """
    worth, host = np.asarray(subject.truth if truth is None else truth), np.asarray(hosts)
    relevant = (worth > 0) & (worth >= least)
    seeds = trace.nodes[: trace.seeds]
    had, nodes = {-1, *host[seeds[relevant[seeds]]].tolist()}, subject.counted(trace.found)
    first = np.zeros(len(nodes))
    for at in np.flatnonzero(relevant[nodes]).tolist():
        if (here := host.item(nodes.item(at))) not in had:
            had.add(here)
            first[at] = 1.0
    return first


def harvest(gains: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return the mean gain of the pages fetched within each budget: harvest(b) = found(b) / fetched(b), or 0.

    Paper: harvest rate, Guan et al. 2008, 3; harvest ratio, Altingovde, Ulusoy 2004 (sum of relevance over N).
    """
    return found(gains, budgets) / np.maximum(fetched(gains, budgets), 1)


def recall(gains: ArrayLike, total: float, budgets: ArrayLike) -> Floats:
    """Return the share of all `targets` found within each budget: recall(b) = found(b) / total; nan if there are none.

    Paper: target recall, Guan et al. 2008, 3, after Pant and Srinivasan 2005.

    >>> recall([1, 0, 1], 4, [1, 3]).tolist()
    [0.25, 0.5]
    """
    return found(gains, budgets) / total if total > 0 else np.full(np.shape(budgets), math.nan)


def harvest_curve(gains: ArrayLike, budget: int = 0) -> Floats:
    """Return found(b) / b for b = 1, 2 ... `budget` (0: to the last page); pages not fetched count as irrelevant."""
    steps = np.arange(1, 1 + (budget or np.size(gains)))
    return found(gains, steps) / steps


def area(curve: ArrayLike, budget: int = 0) -> float:
    """Return the area under the harvest curve over the budget: area = 1/B * sum over i = 1..B of curve(i) / i.

    `curve` is cumulative and constant beyond its end. The default budget is its length.
    """
    known = extended(curve, budget)
    return float(np.mean(known / np.arange(1, 1 + len(known)))) if len(known) else 0.0


def extended(curve: ArrayLike, length: int = 0) -> Floats:
    """Cut or extend a cumulative curve to a length (0: unchanged), repeating its last value."""
    known = np.asarray(curve, np.float64)
    if not length or len(known) == length:
        return known
    last = known[-1] if len(known) else 0.0
    return np.concatenate([known[:length], np.full(max(0, length - len(known)), last)])


def best_of_both(one: ArrayLike, other: ArrayLike) -> Floats:
    """Return the gains whose running sum is the maximum of that of two crawls.

    >>> best_of_both([0, 3, 0], [1, 1]).tolist()      # running sums 0, 3, 3 and 1, 2, 2
    [1.0, 2.0, 0.0]
    """
    length = max(np.size(one), np.size(other))
    most = np.maximum(extended(cumulative(one), length), extended(cumulative(other), length))
    return np.diff(most, prepend=0.0) if length else most


def geometric_mean(values: ArrayLike) -> float:
    """Return exp of the mean logarithm of values from 0 on, ignoring nan (Gouriten et al. 2014, section 5)."""
    known = np.asarray(values, np.float64).ravel()
    known = known[~np.isnan(known)]
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(known)))) if len(known) else math.nan


def precision_distance(picked: ArrayLike, best: ArrayLike, window: int = 1000) -> Floats:
    """Return the moving mean of how far the score of the picked node is below that of the best in the frontier.

        distance(i) = mean over the last `window` steps up to i of best(j) - picked(j)

    The window is shorter at the first steps. Steps without a pick (nan) are ignored.

    Paper: Gouriten et al. 2014, section 8.1, figure 2: the mean over a window of 1,000 steps, whose position is not
    given. Here it ends at the step, so that no value depends on later steps.
    """
    if window < 1:
        raise ValueError(f"'window' ({window}) must be at least 1 step")
    apart = np.asarray(best, np.float64) - np.asarray(picked, np.float64)
    known = ~np.isnan(apart)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, apart, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    end = np.arange(1, 1 + len(apart))
    begin = np.maximum(0, end - window)
    with np.errstate(invalid="ignore"):
        smoothed: Floats = (sums[end] - sums[begin]) / (counts[end] - counts[begin])
    return smoothed.round(12)  # rounding errors of differences of sums


def overlap(a: Nodes, b: Nodes) -> float:
    """Return the share of pages that two crawls have in common; nan if both are empty.

        overlap = |A and B| / ((|A| + |B|) / 2)

    Paper: Altingovde, Ulusoy 2004, table 3, which has no formula. Of |A and B| / N and |A and B| / |A or B| only the
    first agrees with its harvest ratios, as common pages have the same harvest in both crawls (worked out in a test).
    """
    ours, theirs = np.unique(a), np.unique(b)
    pages = len(ours) + len(theirs)
    return 2.0 * len(np.intersect1d(ours, theirs, assume_unique=True)) / pages if pages else math.nan


def exclusive(a: Nodes, b: Nodes, truth: ArrayLike) -> tuple[float, float]:
    """Return the harvest of the pages that only the first or only the second crawl fetched; nan without any.

    Paper: Altingovde, Ulusoy 2004, table 3: exclusive HR.
    """
    worth = np.asarray(truth, np.float64)
    own = np.setdiff1d(a, b), np.setdiff1d(b, a)
    ours, theirs = (float(worth[nodes].mean()) if len(nodes) else math.nan for nodes in own)
    return ours, theirs


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return the correlation of two columns; nan if one is constant or there are fewer than two rows.

        r = sum (x - mx)(y - my) / sqrt(sum (x - mx)^2 * sum (y - my)^2)

    Paper: Gouriten et al. 2014, section 7.2, table 3, between a feature and the nodes' scores.
    """
    one, two = _centred(x), _centred(y)
    scale = math.sqrt(float(one @ one)) * math.sqrt(float(two @ two)) if len(one) > 1 else 0.0
    return float(np.clip(one @ two / scale, -1.0, 1.0)) if scale > 0 else math.nan


def r_squared(features: Sequence[ArrayLike], y: ArrayLike) -> float:
    """Return the share of the variance of y explained by a linear regression on the features and a constant.

        R^2 = 1 - sum (y - prediction)^2 / sum (y - my)^2

    It is nan if y is constant. Features may be collinear. Paper: Gouriten et al. 2014, section 7.3, table 4.
    """
    of = _centred(y)
    spread = float(of @ of)
    columns = []
    for feature in features:
        column = _centred(feature)
        scale = math.sqrt(float(column @ column))
        if scale > 0:
            columns.append(column / scale)
    if not spread > 0 or len(of) < 2:
        return math.nan
    gram = np.array([[one @ two for two in columns] for one in columns]).reshape(len(columns), len(columns))
    along = np.array([column @ of for column in columns])
    explained = float(along @ np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ along) if columns else 0.0
    return min(1.0, max(0.0, explained / spread))


def _centred(values: ArrayLike) -> Floats:
    column = np.asarray(values, np.float64)
    if not len(column):
        return column
    if column.min() == column.max():  # the rounded mean would leave residuals that correlate
        return np.zeros(len(column))
    centred: Floats = column - column.mean()
    return centred
