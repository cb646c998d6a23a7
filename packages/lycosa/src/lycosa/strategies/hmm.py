"""Hidden Markov model of the distance to relevant pages, and its hybrid with similarity to relevant pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.neighbours import Clusters, LiteralNeighbours, Neighbours, PageVector
from lycosa.strategies.parents import MaxOrLast
from lycosa.text.browsing import Browsing

_ALMOST_ONE = 1.0 - 2.0**-30
_MIN_EPSILON = 1e-6  # narrower buckets leave too few bits for the second probability


@dataclass(kw_only=True)
class BrowsingEstimator:
    """Base of estimators that run a hidden Markov model of a browsing record along the paths of a crawl."""

    proportional: ClassVar[bool] = True

    clusters: Clusters = "kmeans"
    k: int = 5
    smoothing: float = 0.1
    merge: MaxOrLast = "max"
    literal: bool = False
    pages_: Neighbours = learned()
    chain_: Chain = learned()
    forward_: ForwardValues = learned()

    def set_up(self, file: str | Browsing) -> None:
        if self.k < 1:
            raise ValueError(f"'k' is {self.k}: it must be at least 1 neighbour")
        if not 0 <= self.smoothing < 1e6:
            raise ValueError(f"'smoothing' is {self.smoothing:g}: it must be 0 or more pages")
        browsing = Browsing.of(file)
        cluster, clusters = browsing.clustering(self.clusters), browsing.clusters(self.clusters)
        self.chain_ = Chain.of(browsing.state, browsing.steps, cluster, browsing.states, clusters, self.smoothing)
        self.pages_ = (LiteralNeighbours if self.literal else Neighbours)(browsing, self.clusters, self.k)
        self.forward_ = ForwardValues(self.chain_, self.merge, self.literal)

    def learn(self, step: Step, table: Table) -> Rows:
        value: float | NDArray[np.float64] = 0.0
        self.pages_.follow(table.stems)
        if step.visit.outcome != "redirect" and len(step.children):
            page = self.pages_.vector(step.visit)
            value = self.link_priority(step, page, self.forward_.visit(step, table, self.pages_.cluster(page)))
        return self.forward_.update(step, table, value)

    def link_priority(self, step: Step, page: PageVector, now: NDArray[np.float64]) -> float | NDArray[np.float64]:
        """Return one priority for all links of a page, or one for each; `now` is a(., t) of the page."""
        raise NotImplementedError

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.forward_.priority(rows, table)



@dataclass
class Hmm(BrowsingEstimator):
    """Hidden Markov model: priority = a(L0, t + 1), the probability that the next page on the path is relevant.

    The hidden state of a page is its distance from a relevant page, 0 to `states` - 1; its observation is its cluster,
    by a vote of its `k` nearest training pages. Both are learned from a browsing record (`file`, from `lycosa train
    browse`). Forward values a(Li, t) follow the path by eq. 5, and are extrapolated by one step with eq. 6. Pages
    without known words contribute no observation.

    Priorities that differ by less than `epsilon` count as equal, and the probability of a relevant page in two steps
    decides: the priority is epsilon * (bucket + a(L0, t + 2)), with buckets of that width. `epsilon=0`: no buckets.
    `smoothing` pages are added to each cluster in each state, because unseen combinations would make all later
    probabilities 0. If several pages link to a URL, the one that gives the highest priority is its predecessor
    (`merge=last`: the last one).

    Paper: Batsakis 2007, sections 2.5 and 3.4.1, eq. 5, 6, fig. 9; Liu, Milios, Janssen 2004. Departures: forward
    values are normalised at each step, since otherwise long paths underflow and short ones always win, and tf is 1 +
    log f (`literal=yes` keeps the raw values and the thesis's weights, see neighbours.py); emissions are smoothed; sums
    run to `states` - 1. The thesis names Viterbi, but its formulas are those of the forward algorithm.

    >>> from lycosa.core.types import Links, Terms, Visit
    >>> from lycosa.text.bags import Bags
    >>> pages = Bags.of([([0], [1]), ([0], [2]), ([1], [3])])
    >>> browsing = Browsing(
    ...     ["list", "reef"], pages, ["a", "b", "c"], np.array([False, False, True]), np.array([2, 1, 0]),
    ...     np.array([[0, 1], [1, 2], [0, 1]]), {"kmeans": np.array([0, 0, 1])}, states=3,
    ... )
    >>> hmm, table = Hmm(browsing), Table()
    >>> _ = table.add_seed("u")
    >>> visit = Visit("u", "page", "ok", 1, links=Links.to("v"), terms=Terms(np.array([0]), np.array([1]), ["list"]))
    >>> hmm.priority(hmm.learn(table.absorb(visit), table), table).round(4).tolist()     # .01 * (76 + .4651)
    [0.7647]
    """

    file: str | Browsing = ""
    epsilon: float = field(default=0.01, kw_only=True)

    def __post_init__(self) -> None:
        if self.epsilon and not _MIN_EPSILON <= self.epsilon <= 1:
            raise ValueError(f"'epsilon' is {self.epsilon:g}: it must be 0, or {_MIN_EPSILON:g} to 1")
        self.set_up(self.file)

    def link_priority(self, step: Step, page: PageVector, now: NDArray[np.float64]) -> float:
        next_step = self.chain_.predict(now)
        return bucketed(float(next_step[0]), float(self.chain_.predict(next_step)[0]), self.epsilon)


def bucketed(one: float, two: float, epsilon: float) -> float:
    """Return a number that orders by the bucket of the first probability, then by the second probability."""
    if not epsilon:
        return one
    bucket = int(one / epsilon + 1e-9)  # .3 with a rounding error belongs to the bucket that starts at .3
    return epsilon * (bucket + min(1.0, two) * _ALMOST_ONE)


@dataclass
class Hybrid(BrowsingEstimator):
    """Hybrid: priority = (similarity(page, c_r) + hmm(page)) / 2 (eq. 11); with `anchors`, links of a page differ:

    priority = (hmm(page) + (similarity(page, c_r) + similarity(anchor, c_r)) / 2) / 2 (eq. 12).

    hmm is a(L0, t + 1), see `Hmm`, and c_r the centroid of the relevant pages of the browsing record, so that pages of
    one cluster differ. There are no buckets. The similarity of a page or anchor without known words is 0.

    Paper: Batsakis 2007, section 3.4.2, eq. 11, 12. Departures: w = (1 + log f) idf, and each relevant page weighs the
    same in c_r; words that no training page has count towards the length of a page or anchor, with the idf of words of
    one page; and those of `Hmm`. `literal=yes` undoes them, but raw forward values soon underflow.

    >>> from lycosa.core.types import Links, Terms, Visit
    >>> from lycosa.text.bags import Bags
    >>> pages = Bags.of([([0], [1]), ([0], [2]), ([1], [3])])
    >>> browsing = Browsing(
    ...     ["list", "reef"], pages, ["a", "b", "c"], np.array([False, False, True]), np.array([2, 1, 0]),
    ...     np.array([[0, 1], [1, 2], [0, 1]]), {"kmeans": np.array([0, 0, 1])}, states=3,
    ... )
    >>> visit = Visit("u", "page", "ok", 1, links=Links.to("v"), terms=Terms(np.array([0]), np.array([1]), ["list"]))
    >>> visit.links.anchors[0] = "the reef"
    >>> for anchors in (False, True):                   # (0 + .7684) / 2, and (.7684 + (0 + 1) / 2) / 2
    ...     hybrid, table = Hybrid(browsing, anchors), Table()
    ...     _ = table.add_seed("u")
    ...     print(hybrid.priority(hybrid.learn(table.absorb(visit), table), table).round(4).tolist())
    [0.3842]
    [0.6342]
    """

    file: str | Browsing = ""
    anchors: bool = False

    def __post_init__(self) -> None:
        self.set_up(self.file)

    def link_priority(self, step: Step, page: PageVector, now: NDArray[np.float64]) -> float | NDArray[np.float64]:
        hmm = float(self.chain_.predict(now)[0])
        similarity = self.pages_.similarity(page)
        if not self.anchors:
            return (similarity + hmm) / 2
        mixed: NDArray[np.float64] = (hmm + (similarity + self.pages_.anchor_similarities(step)) / 2) / 2
        return mixed


class Chain(NamedTuple):
    """Parameters of the hidden Markov model: initial distribution pi, transitions A, emissions B.

    pi_i is the share of pages in state i; a_ij the share of steps from i that lead to j; b_ic the share of pages in
    state i that are of cluster c, with `smoothing` pages added to each cluster. Pages of unknown cluster (-1) are
    ignored in B. The row of A of a state without steps is pi, and the row of B of a state without pages is uniform.

    >>> chain = Chain.of(np.array([0, 1]), np.array([[1, 0], [1, 1]]), np.array([0, 1]), states=2, clusters=2)
    >>> chain.pi.tolist(), chain.a.tolist(), chain.b.tolist()
    ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    """

    pi: NDArray[np.float64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        state: NDArray[np.intp],
        steps: NDArray[np.intp],
        cluster: NDArray[np.intp],
        states: int,
        clusters: int,
        smoothing: float = 0.0,
    ) -> Self:
        pi = np.bincount(state, minlength=states) / len(state)
        a = _pair_counts(state[steps[:, 0]], state[steps[:, 1]], (states, states))
        left = a.sum(axis=1, keepdims=True)
        clustered = cluster >= 0
        b = _pair_counts(state[clustered], cluster[clustered], (states, clusters)) + smoothing
        seen = b.sum(axis=1, keepdims=True)
        a = np.where(left > 0, a / np.where(left > 0, left, 1.0), pi)
        return cls(pi, a, np.where(seen > 0, b / np.where(seen > 0, seen, 1.0), 1.0 / clusters))

    def forward(self, before: NDArray[np.float64], cluster: int) -> NDArray[np.float64]:
        """Return a(L_j, t) = b_jc * sum over i of a(L_i, t - 1) a_ij (eq. 5); without b for an unknown cluster (-1)."""
        predicted = self.predict(before)
        return predicted if cluster < 0 else self.b[:, cluster] * predicted

    def predict(self, now: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a(L_j, t + 1) = sum over i of a(L_i, t) a_ij (eq. 6)."""
        following: NDArray[np.float64] = now @ self.a
        return following


def _pair_counts(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.float64]:
    pairs = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return pairs.reshape(shape).astype(np.float64)


@dataclass
class ForwardValues:
    """Forward values along the paths of a crawl; the predecessor of a page is the parent that determined its priority.

    Pages without a linking page are at t = 1, with a(., 0) = pi. `literal` keeps the values of eq. 5, which shrink with
    each step; otherwise they are normalised to a sum of 1, which keeps their proportions. New links of a revisited page
    get its current priority; the values passed on along the path stay those of the first visit.
    """

    chain: Chain = field(repr=False)
    merge: MaxOrLast = "max"
    literal: bool = False
    now_: NDArray[np.float64] = learned()  # a(., t) of each visited page
    predecessor_: NDArray[np.int32] = column(np.int32)  # parent that determined the priority of each row; -1 if none
    value_: NDArray[np.float64] = column()

    def __post_init__(self) -> None:
        self.now_ = np.zeros((0, len(self.chain.pi)))

    def visit(self, step: Step, table: Table, cluster: int) -> NDArray[np.float64]:
        """Return a(., t) of a page by its observed cluster; -1 if unknown."""
        self._fit(table)
        predecessor = self.predecessor_[step.row]
        before = self.now_[predecessor] if predecessor >= 0 else self.chain.pi
        now = self.chain.forward(before, cluster)
        if not self.literal:
            if not now.sum() > 0:  # the model gives this observation a probability of 0, so ignore it
                now = self.chain.predict(before)
            now = now / now.sum()
        if not step.visit.follows or not self.now_[step.row].any():
            self.now_[step.row] = now
        return now

    def update(self, step: Step, table: Table, value: float | NDArray[np.float64]) -> Rows:
        """Set the priority of a page's links where it is higher; redirect targets get the value of their source."""
        self._fit(table)
        rows, predecessor = step.children, step.row
        if step.visit.outcome == "redirect":
            value, predecessor = float(self.value_[step.row]), int(self.predecessor_[step.row])
            if predecessor < 0:  # the source is a seed and has no value
                return rows
        values = np.broadcast_to(np.asarray(value, np.float64), rows.shape)
        is_better = (self.predecessor_[rows] < 0) | (self.merge == "last") | (values > self.value_[rows])
        self.value_[rows[is_better]] = values[is_better]
        self.predecessor_[rows[is_better]] = predecessor
        return rows

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return fit(self.value_, len(table))[rows]

    def _fit(self, table: Table) -> None:
        self.now_, self.value_ = fit(self.now_, len(table)), fit(self.value_, len(table))
        self.predecessor_ = fit(self.predecessor_, len(table), -1)
