"""TRES: reinforcement learning with a tree frontier, in which each leaf proposes one link (see docs/rivals.md)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.composite import GOLDEN, splitmix
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.deep_deep import best_of_each, first_links

Matrix = NDArray[np.float32]

FEATURES = (
    "parent relevant", "closeness", "path relevant", "address", "anchor", "context", "host", "unknown host", "promise",
)  # fmt: skip
PARENT, CLOSENESS, PATH, ADDRESS, ANCHOR, CONTEXT, HOST, UNKNOWN, PROMISE = range(9)
SLOPE = 0.1  # slope of the leaky ReLU for negative inputs
GAMMA, LEARNING_RATE, CLIP = 0.99, 1e-3, 1.0
MEMORY = 20_000  # maximum number of pages in the replay memory; the most recent ones are kept


def quantized(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round shares down to tenths, but keep positive ones above 0.

    >>> quantized(np.array([0, .04, .39, 1])).tolist()
    [0.0, 1e-05, 0.3, 1.0]
    """
    tenths: NDArray[np.float64] = np.floor(share * 10 + 1e-9) / 10
    return np.where((share > 0) & (tenths == 0), 1e-5, tenths)


class QNetwork:
    """Network of 9 -> 30 -> 15 -> 1 units with leaky ReLUs, trained by Adam on the squared error."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng((seed % 2**64, 0))
        sizes = (len(FEATURES), 30, 15, 1)
        self.weights: list[NDArray[np.float64]] = []
        for inner, outer in pairwise(sizes):
            limit = np.sqrt(6 / (inner + outer))  # Glorot initialisation
            self.weights += [rng.uniform(-limit, limit, (inner, outer)), np.zeros(outer)]
        self.target = [weight.copy() for weight in self.weights]
        self._mean = [np.zeros_like(weight) for weight in self.weights]
        self._square = [np.zeros_like(weight) for weight in self.weights]
        self._steps = 0

    def value(self, x: NDArray[np.floating], weights: list[NDArray[np.float64]] | None = None) -> Priorities:
        return self._forward(x, weights or self.weights)[-1][:, 0]

    def _forward(self, x: NDArray[np.floating], weights: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        layers: list[NDArray[np.float64]] = [x.astype(np.float64)]
        for number in range(0, len(weights), 2):
            z = layers[-1] @ weights[number] + weights[number + 1]
            layers.append(np.where(z > 0, z, SLOPE * z) if number + 2 < len(weights) else z)
        return layers

    def train(self, x: NDArray[np.floating], y: Priorities) -> None:
        layers = self._forward(x, self.weights)
        error = 2 * (layers[-1] - y[:, np.newaxis]) / len(y)
        self._steps += 1
        for number in range(len(self.weights) - 2, -1, -2):
            slopes = [layers[number // 2].T @ error, error.sum(axis=0)]
            error = (error @ self.weights[number].T) * np.where(layers[number // 2] > 0, 1.0, SLOPE)
            for at, slope in enumerate(slopes, number):
                self._adam(at, np.clip(slope, -CLIP, CLIP))

    def _adam(self, at: int, slope: NDArray[np.float64]) -> None:
        self._mean[at] += 0.1 * (slope - self._mean[at])
        self._square[at] += 0.001 * (slope**2 - self._square[at])
        rate = LEARNING_RATE * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        self.weights[at] -= rate * self._mean[at] / (np.sqrt(self._square[at]) + 1e-7)

    def update_target(self) -> None:
        self.target = [weight.copy() for weight in self.weights]


def best_split(x: NDArray[np.floating], rewards: Priorities) -> tuple[int, float] | None:
    """Return the feature and threshold (inclusive on the left) that reduce the variance of the rewards most.

    >>> best_split(np.array([[0, 1], [0, 2], [1, 3.]]), np.array([0, 1, 1.]))      # into [0] and [1, 1]: 0, and not 2/9
    (1, 1.0)
    """
    n, best, split = len(rewards), 1e-12, None
    for feature in range(x.shape[1]) if np.ptp(rewards) > 0 else ():
        order = np.argsort(x[:, feature], kind="stable")
        value, reward = x[order, feature], rewards[order]
        last = np.flatnonzero(value[1:] > value[:-1])  # last index of each value except the largest
        if not len(last):
            continue
        left = np.cumsum(reward)[last]
        size = last + 1.0
        # Variance = mean of squares - square of mean; the mean of squares is the same before and after the split.
        fall = left**2 / size + (reward.sum() - left) ** 2 / (n - size) - reward.sum() ** 2 / n
        if fall.max() / n > best:
            best, split = fall.max() / n, (feature, float(value[last[fall.argmax()]]))
    return split


@dataclass
class Tres:
    """TRES: links are points of nine features; a tree over them proposes a link per leaf, a network chooses the best.

    A point x describes the path: whether the link's page is relevant, 1 / the number of links since the last relevant
    page, the share of relevant pages on the path from the seed; and the link: whether URL, anchor and context match the
    topic, the share of relevant pages on its host (.5 if unknown), whether the host is unknown, and the link relevance.
    Shares are in tenths.

    The tree holds fetched pages (x, reward: 1 if relevant, else 0) and open links. A leaf of 5 pages or more is split,
    up to depth 18, where the variance of the rewards falls most. To choose, one random link is drawn from each leaf,
    and the one with the largest Q(x) is fetched; during the first `start` pages a random one of them. Q is a network
    with layers of 30 and 15 units, trained after every third page on 60 of the last 20,000 pages by double Q-learning,
    with A the links of the page:

        y = r + .99 Q'(argmax over A of Q)                               (Q': the network, copied every `switch` pages)

    The priority is the mean reward of the pages in a link's leaf. The defaults of `start` and `switch` are for the
    paper's crawls of 20,000 pages; proportionate values for 1,000 are `start=25,switch=25`.

    Paper: Kontogiannis et al., Tree-based Focused Web Crawling with Reinforcement Learning, arXiv 2112.07620, and its
    program (ddaedalus/tres). All training is online. Departures: keyword expansion and KwBiLSTM are replaced by the
    judge (a page is relevant if beta >= threshold; the binary features are whether the judge gives URL, anchor and
    context more than 0, while theirs search for keywords). A URL is in the frontier once, with the features of its most
    relevant link, theirs once per linking page. There is no limit of pages per host (see `--host-budget`), and hosts of
    seeds are unknown. As in the program, the learning rate is effectively constant, and seeds count as relevant.
    """

    wants: ClassVar[tuple[str, ...]] = ("context", "url")
    sweeping: ClassVar[bool] = True

    start: int = 500
    switch: int = 500
    seed: int = 0
    threshold: float = 0.1
    network_: QNetwork = learned()
    steps_: int = learned(int)
    x_: Matrix = learned(lambda: np.zeros((0, len(FEATURES)), np.float32))
    leaf_: NDArray[np.int32] = column(np.int32)  # leaf of each open row
    fetched_: NDArray[np.int32] = column(np.int32)  # 1-based node of each page in the tree; 0: none
    reward_: NDArray[np.float32] = column(np.float32)
    # Number of relevant and irrelevant pages on the path to each row, and of links since the last relevant one.
    path_: NDArray[np.int32] = learned(lambda: np.zeros((0, 3), np.int32))
    # per host: number of pages and of relevant pages
    host_: NDArray[np.int64] = learned(lambda: np.zeros((0, 2), np.int64))
    memory_: NDArray[np.int32] = column(np.int32)
    known_: NDArray[np.bool_] = column(np.bool_)  # rows in the replay memory
    size_: int = learned(int)
    next_: int = learned(int)
    # The tree by node: split feature (-1 for a leaf), threshold, left child (the right one follows), depth; number of
    # pages and sum of their rewards.
    feature_: list[int] = learned(lambda: [-1])
    value_: list[float] = learned(lambda: [0.0])
    child_: list[int] = learned(lambda: [0])
    depth_: list[int] = learned(lambda: [0])
    pages_: NDArray[np.float64] = learned(lambda: np.zeros((1, 2)))

    def __post_init__(self) -> None:
        if self.start < 0:
            raise ValueError(f"'start' is {self.start}: it must be at least 0 pages")
        if self.switch < 1:
            raise ValueError(f"'switch' is {self.switch}: it must be at least 1 page")
        self.network_ = QNetwork(self.seed)

    def learn(self, step: Step, table: Table) -> Rows:
        self._fit(table)
        visit, row, changed = step.visit, step.row, -1
        if visit.is_page and not visit.follows:
            reward = float(visit.relevance >= self.threshold and not visit.same_as)
            changed = self._add_page(row, reward, table)
            self._replay(table)
        if visit.outcome == "redirect":
            rows = step.children[table.state[step.children] == OPEN]
            new = rows[~self.path_[rows].any(axis=1)]
            for known in (self.x_, self.leaf_, self.path_):
                known[new] = known[row]
        else:
            self._add_links(step, table)
        if changed < 0:
            return step.children
        changed_rows = np.flatnonzero((self.leaf_[: len(table)] >= changed) & (table.state[: len(table)] == OPEN))
        return np.union1d(changed_rows, step.children).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        leaf = fit(self.leaf_, len(table))[rows]
        mean: Priorities = self.pages_[leaf, 1] / np.maximum(1, self.pages_[leaf, 0])
        return mean

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        start = np.uint64(((self.seed + 1) * 0xD1342543DE82EF95 + number * 0x632BE59BD9B4E019) % 2**64)
        drawn = splitmix(rows.astype(np.uint64) * GOLDEN + start)
        leaf = fit(self.leaf_, len(table))[rows]
        least = np.full(len(self.feature_), np.iinfo(np.uint64).max)
        np.minimum.at(least, leaf, drawn)
        candidates = rows[np.flatnonzero(drawn == least[leaf])]
        if self.steps_ < self.start:
            which = float(np.random.default_rng((self.seed % 2**64, number)).random())
            candidates = candidates[np.argsort(fit(self.leaf_, len(table))[candidates], kind="stable")]
            return int(candidates[int(which * len(candidates))])
        return int(candidates[self.network_.value(self._with_host_features(candidates, table)).argmax()])

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """Return the mean reward of the link's leaf, labelled with the conditions that lead to the leaf."""
        (priority,) = self.priority(np.array([row]), table).tolist()
        node, conditions = 0, []
        x = fit(self.x_, len(table))[row]
        while self.feature_[node] >= 0:
            feature, value = self.feature_[node], self.value_[node]
            right = bool(x[feature] > value)
            conditions.append(f"{FEATURES[feature]} {'>' if right else '<='} {value:.2g}")
            node = self.child_[node] + right
        return {f"pages with {', '.join(conditions)}" if conditions else "all pages so far": priority}

    def _fit(self, table: Table) -> None:
        rows = len(table)
        self.x_, self.path_ = fit(self.x_, rows), fit(self.path_, rows)
        self.leaf_, self.fetched_, self.known_ = fit(self.leaf_, rows), fit(self.fetched_, rows), fit(self.known_, rows)
        self.reward_, self.host_ = fit(self.reward_, rows), fit(self.host_, len(table.hosts))

    def _with_host_features(self, rows: Rows, table: Table) -> Matrix:
        x = self.x_[rows]
        pages, relevant = self.host_[table.host[rows]].T
        x[:, HOST] = np.where(pages > 0, quantized(relevant / np.maximum(1, pages)), 0.5)
        x[:, UNKNOWN] = pages == 0
        return x

    def _add_page(self, row: int, reward: float, table: Table) -> int:
        """Add the page to the tree and the replay memory; return the first changed node."""
        one = np.array([row])
        if table.is_seed[row]:
            reward = 1.0
            self.x_[row, [HOST, UNKNOWN]] = 1.0, 0.0
        else:
            self.x_[row] = self._with_host_features(one, table)[0]
            self.host_[table.host[row]] += 1, reward > 0
        self.steps_ += not table.is_seed[row]
        # a page without links has no next choice to learn from
        if not self.known_[row] and table.edges.out_degree(one)[0]:
            self.memory_ = fit(self.memory_, min(self.size_ + 1, MEMORY))
            if self.size_ == MEMORY:
                self.known_[self.memory_[self.next_]] = False
            self.memory_[self.next_], self.known_[row] = row, True
            self.size_, self.next_ = min(self.size_ + 1, MEMORY), (self.next_ + 1) % MEMORY
        if self.fetched_[row]:
            self.pages_[self.fetched_[row] - 1] -= 1, self.reward_[row]
        leaf = int(self._leaves(self.x_[one])[0])
        self.reward_[row], self.fetched_[row] = reward, leaf + 1
        self.pages_[leaf] += 1, reward
        return self._split(leaf, table)

    def _leaves(self, x: Matrix) -> NDArray[np.int32]:
        feature, value, child = np.array(self.feature_), np.array(self.value_), np.array(self.child_)
        node = np.zeros(len(x), np.int32)
        while len(inner := np.flatnonzero(feature[node] >= 0)):
            at = node[inner]
            node[inner] = child[at] + (x[inner, feature[at]] > value[at])
        return node

    def _split(self, leaf: int, table: Table) -> int:
        """Split a leaf if that reduces the variance of its rewards; return the first changed node."""
        pages, rewards = self.pages_[leaf].tolist()
        if pages < 5 or self.depth_[leaf] >= 18 or rewards in (0, pages):
            return leaf
        inside = np.flatnonzero(self.fetched_ == leaf + 1)
        split = best_split(self.x_[inside], self.reward_[inside].astype(np.float64))
        if split is None:
            return leaf
        left = len(self.feature_)
        self.feature_[leaf], self.value_[leaf], self.child_[leaf] = *split, left
        self.feature_ += [-1, -1]
        self.value_ += [0.0, 0.0]
        self.child_ += [0, 0]
        self.depth_ += [self.depth_[leaf] + 1] * 2
        waiting = np.flatnonzero(self.leaf_[: len(table)] == leaf)
        self.leaf_[waiting] = left + (self.x_[waiting, split[0]] > split[1])
        self.fetched_[inside] = left + 1 + (self.x_[inside, split[0]] > split[1])
        sides = self.fetched_[inside] - 1 - left
        counts = np.bincount(sides, minlength=2), np.bincount(sides, self.reward_[inside], 2)
        self.pages_ = np.concatenate((self.pages_, np.column_stack(counts)))
        self.pages_[leaf] = 0
        return leaf

    def _add_links(self, step: Step, table: Table) -> None:
        """Set the features of links that are new, or have a larger link relevance on this page than on earlier ones."""
        row, children = step.row, step.children
        if not len(children):
            return
        path, state = self._path_features(np.array([row]), table)
        better = ~self.path_[children].any(axis=1) | (step.link_relevances > self.x_[children, PROMISE])
        better &= table.state[children] == OPEN
        rows = children[better]
        x = np.zeros((len(rows), len(FEATURES)), np.float32)
        x[:, :ADDRESS] = state
        x[:, ADDRESS], x[:, CONTEXT] = step.facet("url")[better] > 0, step.facet("context")[better] > 0
        x[:, ANCHOR], x[:, PROMISE] = step.link_relevances[better] > 0, step.link_relevances[better]
        self.x_[rows], self.path_[rows] = x, path
        self.x_[rows] = x = self._with_host_features(rows, table)
        self.leaf_[rows] = self._leaves(x)

    def _path_features(self, rows: Rows, table: Table) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        relevant = (self.reward_[rows] > 0) | table.is_seed[rows]
        good, bad, since = self.path_[rows].T.astype(np.int64)
        good, bad, since = good + relevant, bad + ~relevant, np.where(relevant, 1, since + 1)
        state = np.column_stack((relevant.astype(np.float64), quantized(1 / since), quantized(good / (good + bad))))
        return np.column_stack((good, bad, since)), state

    def _replay(self, table: Table) -> None:
        if self.steps_ and self.steps_ % self.switch == 0:
            self.network_.update_target()
        if self.steps_ < self.start or self.steps_ % 3 or not self.size_:
            return
        rng = np.random.default_rng((self.seed % 2**64, self.steps_, 1))
        rows = self.memory_[rng.choice(self.size_, min(60, self.size_), replace=False)]
        links, owners = first_links(rows, table)
        x = self.x_[links]
        x[:, :ADDRESS] = self._path_features(rows, table)[1][owners]
        best, pages = best_of_each(self.network_.value(x), owners)
        next_values = np.zeros(len(rows))
        next_values[pages] = self.network_.value(x[best], self.network_.target)
        self.network_.train(self.x_[rows], self.reward_[rows] + GAMMA * next_values)
