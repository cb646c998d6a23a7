"""SB-CLASSIFIER: a sleeping bandit over groups of links, and a classifier of URLs (see docs/rivals.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step

PRIME, M, W = 766_245_317, 12, 15  # hash of n-grams to 2^M dimensions: the high M bits of the low W bits of a product
MAX_GROUPS = 1024  # maximum number of groups; beyond it a path joins the nearest group at any similarity
CHARACTERS = range(32, 127)  # range of character codes that are used
BATCH = 10  # pages between two updates of the classifier
# L2 penalty, relative learning rate of the intercept, learning rate of the first step
DECAY, INTERCEPT_DECAY, FIRST_RATE = 1e-4, 0.01, 10.0
TARGET = 1e6  # added to the priority of URLs classified as relevant; exceeds all other priorities


def hashed(number: int) -> int:
    """Return the dimension of an n-gram.

    >>> hashed(1), hashed(2)             # 766245317 % 32768 = 31173, / 8 = 3896.6; 62346 % 32768 = 29578, / 8 = 3697.25
    (3896, 3697)
    """
    return ((number * PRIME) % (1 << W)) >> (W - M)


@lru_cache(maxsize=1 << 14)
def bigrams(address: str) -> NDArray[np.intp]:
    codes = np.frombuffer(address[:300].lower().encode("ascii", "replace"), np.uint8).astype(np.intp)
    known = (codes >= CHARACTERS.start) & (codes < CHARACTERS.stop)
    both = known[:-1] & known[1:]
    pairs: NDArray[np.intp] = ((codes[:-1] - CHARACTERS.start) * len(CHARACTERS) + codes[1:] - CHARACTERS.start)[both]
    return pairs


class AddressClassifier:
    """Logistic regression of relevance on the character bigrams of URLs, trained by stochastic gradient descent."""

    def __init__(self) -> None:
        self.weights = np.zeros(len(CHARACTERS) ** 2)
        self.intercept = 0.0
        self.steps = 0
        self.batch: list[tuple[str, bool]] = []  # the next batch of URLs and their relevance

    def decision(self, address: str) -> float:
        """Return the decision value of a URL, above 0 for relevant; -inf before the first update."""
        return float(self.weights[bigrams(address)].sum()) + self.intercept if self.steps else -math.inf

    def add(self, address: str, relevant: bool) -> None:
        self.batch.append((address, relevant))
        if len(self.batch) >= BATCH:
            for one in self.batch:
                self._step(*one)
            self.batch = []

    def _step(self, address: str, relevant: bool) -> None:
        """Take a gradient step of log(1 + exp(-y p)) with the rate 1 / (decay (t0 + t)), which is 10 at first."""
        pairs, y = bigrams(address), 1.0 if relevant else -1.0
        p = float(self.weights[pairs].sum()) + self.intercept
        rate = 1 / (DECAY * (1 / (DECAY * FIRST_RATE) + self.steps))
        update = rate * y / (math.exp(min(y * p, 500.0)) + 1)
        self.steps += 1
        self.weights *= max(0.0, 1 - rate * DECAY)
        np.add.at(self.weights, pairs, update)
        self.intercept += INTERCEPT_DECAY * update


class Groups:
    """Groups of tag paths: the mean vector of each group's members, its pulls and their rewards."""

    def __init__(self, theta: float) -> None:
        self.theta = theta
        self.names: list[str] = []  # first path of each group
        self.centres = np.zeros((0, 1 << M), np.float32)
        self.lengths = np.zeros(0)
        self.members = np.zeros(0)
        self.pulls = np.zeros(0)
        self.rewards = np.zeros(0)
        self._grams: dict[tuple[str, str], int] = {}
        self._shared = np.zeros(1 << M, np.int64)  # number of n-grams hashed to each dimension

    def __len__(self) -> int:
        return len(self.names)

    def vector(self, path: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the shares of adjacent tag pairs, hashed and averaged per dimension, as indices and values."""
        pairs = list(pairwise(["[SOS]", *path.split(" "), "[EOS]"]))
        values: dict[int, float] = {}
        for pair in pairs:
            if pair not in self._grams and len(self._grams) < (1 << 16):
                self._shared[hashed(len(self._grams))] += 1
                self._grams[pair] = len(self._grams)
            if pair in self._grams:
                at = hashed(self._grams[pair])
                values[at] = values.get(at, 0.0) + 1 / len(pairs)
        where = np.fromiter(values, np.intp, len(values))
        return where, np.fromiter(values.values(), np.float64, len(values)) / self._shared[where]

    def join(self, path: str, times: int = 1) -> int:
        """Add `times` copies of a path to the nearest group by cosine, or to a new one; return the group."""
        where, values = self.vector(path)
        length = math.sqrt(float(values @ values))
        group = -1
        if len(self):
            inner = self.centres[: len(self), where] @ values
            similarity = inner / np.maximum(self.lengths[: len(self)] * length, 1e-30)
            group = int(similarity.argmax())
            if similarity[group] < self.theta and len(self) < MAX_GROUPS:
                group = -1
        if group < 0:
            group = self._new_group(path)
        centre, members = self.centres[group], self.members[group]
        centre *= members / (members + times)
        centre[where] += (values * times / (members + times)).astype(np.float32)
        self.members[group] += times
        self.lengths[group] = math.sqrt(float(centre @ centre))
        return group

    def _new_group(self, path: str) -> int:
        self.names.append(path)
        if len(self) > len(self.centres):  # growing by the 1,000 rows of `fit` would take 16 MB
            more = min(MAX_GROUPS, 16 + 2 * len(self.centres))
            self.centres = np.concatenate((self.centres, np.zeros((more - len(self.centres), 1 << M), np.float32)))
        for name in ("lengths", "members", "pulls", "rewards"):
            setattr(self, name, fit(getattr(self, name), len(self)))
        return len(self) - 1

    def means(self) -> Priorities:
        n = len(self)
        mean: Priorities = self.rewards[:n] / np.maximum(1, self.pulls[:n])
        return mean

    def bonuses(self, alpha: float, t: int) -> Priorities:
        bonus: Priorities = alpha * np.sqrt(math.log(max(1, t)) / (self.pulls[: len(self)] + 1e-6))
        return bonus


@dataclass
class SleepingBandit:
    """Sleeping bandit: priority = mean reward of the link's group + alpha sqrt(log t / pulls of the group) (AUER).

    Links are grouped by tag path, the tags from the document's root to the link. A path is a vector: the shares of its
    pairs of adjacent tags, hashed into 2^12 dimensions. It joins the group with the nearest centre by cosine, if that
    is at least `theta`; otherwise it starts a group. A group with open links is awake. A pull fetches a random link of
    the best awake group, and t counts requests.

    A classifier rates URLs (logistic regression on character bigrams, trained every ten pages). A link with a URL
    classified as relevant is fetched first; if it is relevant, the group of the page that links to it gets a reward of
    1. The reward of a pull is thus the number of relevant pages among its page's links.

    Paper: Gauquier, Manolescu, Senellart: Efficient Crawling for Scalable Web Data Acquisition, arXiv 2602.11874, and
    its program, with its defaults. There a site is crawled for data files. Departures: a target is a page that the
    judge finds relevant, and since it has links, too, each page is a pull of its group, and a relevant one that was not
    predicted by the classifier is a reward for its own group. No HEAD requests, which can't show relevance: until ten
    pages are known, no URL is classified as relevant. The nearest group is searched exactly; a batch is trained in
    order; consecutive links with the same path join at once; there are at most 1,024 groups, of 16 kB each. In spaces
    without tag paths all links are one group, and only the classifier is effective.
    """

    sweeping: ClassVar[bool] = True

    theta: float = 0.75
    alpha: float = 2 * math.sqrt(2)
    seed: int = 0
    threshold: float = 0.1
    groups_: Groups = learned()
    addresses_: AddressClassifier = learned(AddressClassifier)
    group_: NDArray[np.int32] = learned(lambda: np.zeros(0, np.int32))  # 1-based; 0: no group
    is_predicted_: NDArray[np.bool_] = column(np.bool_)  # URL classified as relevant
    requests_: int = learned(int)

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1:
            raise ValueError(f"'theta' is {self.theta:g}: it must be a cosine from 0 to 1")
        if not 0 <= self.alpha <= 100:
            raise ValueError(f"'alpha' is {self.alpha:g}: it must be from 0 to 100")
        self.groups_ = Groups(self.theta)

    def learn(self, step: Step, table: Table) -> Rows:
        self.group_, self.is_predicted_ = fit(self.group_, len(table)), fit(self.is_predicted_, len(table))
        visit, row = step.visit, step.row
        if not visit.follows:
            self.requests_ += 1
            if visit.is_page:
                self._record_pull(row, visit.relevance >= self.threshold and not visit.same_as, table)
        if visit.outcome == "redirect":
            new = step.children[self.group_[step.children] == 0]
            self.group_[new], self.is_predicted_[new] = self.group_[row], self.is_predicted_[row]
        else:
            self._group_links(step, table)
        return np.union1d(table.rows(), step.children).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        values = np.append(0.0, self.groups_.means() + self.groups_.bonuses(self.alpha, self.requests_))
        is_predicted = fit(self.is_predicted_, len(table))[rows]
        priorities: Priorities = values[fit(self.group_, len(table))[rows]] + TARGET * is_predicted
        return priorities

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        is_predicted = rows[fit(self.is_predicted_, len(table))[rows]]
        if len(is_predicted):
            return int(is_predicted[0])
        group = fit(self.group_, len(table))[rows]
        awake = np.unique(group)
        values = np.append(0.0, self.groups_.means() + self.groups_.bonuses(self.alpha, self.requests_))
        rows = rows[group == awake[values[awake].argmax()]]
        which = float(np.random.default_rng((self.seed % 2**64, number)).random())
        return int(rows[int(which * len(rows))])

    def explain(self, row: int, table: Table) -> dict[str, float]:
        group = int(fit(self.group_, len(table))[row]) - 1
        if group < 0:
            return {"no known link": 0.0}
        place = self.groups_.names[group] or "anywhere"
        terms = {
            f"links at {place}": float(self.groups_.means()[group]),
            "tried seldom": float(self.groups_.bonuses(self.alpha, self.requests_)[group]),
        }
        if fit(self.is_predicted_, len(table))[row]:
            terms["address looks relevant"] = TARGET
        return dict(sorted(terms.items(), key=lambda term: -term[1]))

    def _record_pull(self, row: int, relevant: bool, table: Table) -> None:
        """Record a pull of the page's group; the reward of a predicted page is that of its parent's group."""
        group, groups = int(self.group_[row]) - 1, self.groups_
        if group < 0:  # seeds have no group
            return
        self.addresses_.add(table.nodes[row], relevant)
        groups.pulls[group] += 1
        if self.is_predicted_[row]:
            group = int(self.group_[table.parent[row]]) - 1
        if relevant and group >= 0:
            groups.rewards[group] += 1

    def _group_links(self, step: Step, table: Table) -> None:
        """Assign new links to groups, in page order, and classify their URLs."""
        links, to = step.visit.links, step.of_link
        new = np.flatnonzero((to >= 0) & (table.state[to] == OPEN) & (self.group_[to] == 0))
        rows = list(dict.fromkeys(to[new].tolist()))
        if not rows:
            return
        place = dict(zip(to[new[::-1]].tolist(), new[::-1].tolist(), strict=True))  # first link to each row, by index
        paths = links.paths or [""] * len(links)
        for path, run in groupby(rows, key=lambda row: paths[place[row]]):
            same = list(run)
            self.group_[same] = 1 + self.groups_.join(path, len(same))
        if self.addresses_.steps:
            self.is_predicted_[rows] = [self.addresses_.decision(table.nodes[row]) > 0 for row in rows]
