"""deep-deep: online Q-learning with a linear function of link features, after the program (see docs/rivals.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned, runs
from lycosa.core.composite import GOLDEN
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step

SLOTS = 1 << 18  # hash slots for n-grams of anchors, and as many for URLs
SAME_HOST = 2 * SLOTS  # slot of the feature "stays on its host"
ANCHOR_GRAMS, ADDRESS_GRAMS = (3, 4, 5), (4, 5)
MEMORY = 100_000  # maximum number of experiences; beyond it each new one replaces a random one
# learning rate and L1 penalty (cumulative) are constant; the intercept learns more slowly, since features are sparse
LEARNING_RATE, PENALTY, INTERCEPT_DECAY = 0.1, 1e-4, 0.01
INITIAL = 0.05  # priority of all links before the first model is in use


def _grams(texts: list[str], sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct character n-grams of each text as (text number, slot) arrays."""
    whole = "\0".join(text[:200].replace("\0", " ") for text in texts)
    letters = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    number = np.cumsum(letters == 0)
    grams = [np.zeros(0, np.int64)]
    for size in sizes:
        starts = max(0, len(letters) - size + 1)
        gram = np.full(starts, size, np.uint64)
        for place in range(size):
            gram = gram * np.uint64(1_000_003) + letters[place : place + starts]
        within = (letters[:starts] != 0) & (number[:starts] == number[size - 1 : size - 1 + starts])
        slot = (gram[within] * GOLDEN) >> np.uint64(64 - 18)
        grams.append(number[:starts][within] * SLOTS + slot.astype(np.int64))
    keys = np.unique(np.concatenate(grams))
    return keys // SLOTS, keys % SLOTS


@dataclass
class DeepDeep:
    """deep-deep: priority = Q(link), the expected return: the reward plus gamma times that of the best next link.

    Q is linear in binary features of the link: character n-grams of its anchor (3 to 5) and of its URL (4 and 5), each
    of the two vectors scaled to length 1, and whether the link stays on its host. Each page fetched through a link a is
    an experience: a, the reward r, and the links A of the page. r is from 0 to 1: beta if the judge gives
    probabilities, else beta / threshold, at most 1. After each page, `sample` of all experiences are drawn, and the
    *online* Q takes a stochastic gradient step for each of them towards

        y = r + gamma Q'(argmax over A of Q)                                                (gamma Q' = 0 without links)

    where Q' is the *target* Q: a copy of the online one, taken after every `switch` experiences (double learning).
    Priorities use the target Q; until the first copy they are all .05.

    The host of a pick is drawn from a softmax over the best priority of each host, with `temperature`; its best link is
    taken. A share eps / (1 + eps) of all picks takes a random link of a random host instead.

    Source: TeamHG-Memex/deep-deep, a Scrapy spider, 2016; defaults are those of its spider for relevant pages.
    Departures: a link has the features of the first page that links to it; 2^18 slots instead of 2^20, and unsigned
    hashes; no title attribute; hosts instead of registered domains; rewards come from the judge; the examples of a
    replay are not shuffled, and the L1 penalty is applied at their end; only the first 256 links of a page are next
    links. Failed pages are not learned from; pages of an unwanted type have a reward of 0. Memory: about 600 bytes per
    link.
    """

    gamma: float = 0.4
    eps: float = 0.2
    temperature: float = 0.1
    switch: int = 100
    sample: int = 50
    seed: int = 0
    threshold: float = 0.1
    probability: bool = False
    online_: NDArray[np.float64] = learned(lambda: np.zeros(SAME_HOST + 1))
    target_: NDArray[np.float64] = learned(lambda: np.zeros(SAME_HOST + 1))
    due_: NDArray[np.float64] = learned(lambda: np.zeros(SAME_HOST + 1))
    # intercepts of the online and the target Q
    intercept_: NDArray[np.float64] = learned(lambda: np.array([0.0, INITIAL]))
    steps_: int = learned(int)
    rest_: int = learned(int)  # pages until all links may be ranked again
    memory_: NDArray[np.int32] = column(np.int32)  # rows of the experiences
    size_: int = learned(int)
    position_: NDArray[np.int32] = column(np.int32)  # 1-based position of each row in the memory; 0 if it is not there
    reward_: NDArray[np.float64] = column()
    priority_: NDArray[np.float64] = column()
    slots_: NDArray[np.uint32] = column(np.uint32)
    filled_: int = learned(int)
    start_: NDArray[np.int64] = column(np.int64)  # index of each row's first slot
    # Number of slots of each row's anchor, URL and host (0 or 1).
    count_: NDArray[np.uint16] = learned(lambda: np.zeros((0, 3), np.uint16))

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < 1:
            raise ValueError(f"'gamma' is {self.gamma:g}: it must be at least 0 and below 1")
        if not 0 <= self.eps <= 1:
            raise ValueError(f"'eps' is {self.eps:g}: it must be a probability from 0 to 1")
        if not self.temperature > 0:
            raise ValueError(f"'temperature' is {self.temperature:g}: it must be above 0")
        if self.switch < 1 or self.sample < 1:
            raise ValueError(f"'switch' is {self.switch} and 'sample' {self.sample}: both must be 1 or more")

    def learn(self, step: Step, table: Table) -> Rows:
        self._fit(len(table))
        self._read(step, table)
        visit, row = step.visit, step.row
        is_result = visit.is_page or (visit.kind == "page" and visit.outcome == "unwanted")
        if not is_result or visit.follows or table.is_seed[row]:
            return step.children
        reward = visit.relevance if self.probability else visit.relevance / self.threshold
        self._remember(row, min(1.0, max(0.0, reward)) if visit.is_page else 0.0)
        self.steps_ += 1
        self.rest_ -= 1
        self._replay(table)
        if self.steps_ % self.switch:
            return step.children
        self.target_ = self.online_.copy()
        self.intercept_[1] = self.intercept_[0]
        if self.rest_ > 0:
            return step.children
        rows = table.rows()
        self.priority_[rows] = self.value(rows, self.target_, self.intercept_[1]).sum(axis=1)
        # so that ranking takes a third of the time at .1 s per page, as estimated by the original
        self.rest_ = int(len(rows) / 30_000 / (0.33 / 0.67) / 0.1)
        return np.union1d(rows, step.children).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return fit(self.priority_, len(table), INITIAL)[rows]

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        explore, row_draw, host_draw = np.random.default_rng((self.seed % 2**64, number)).random(3).tolist()
        host_key = table.host[rows]
        hosts = np.unique(host_key)
        if explore < self.eps / (1 + self.eps):
            rows = rows[host_key == hosts[int(host_draw * len(hosts))]]
            return int(rows[int(row_draw * len(rows))])
        priority = self.priority(rows, table)
        if len(hosts) > 1:
            best = np.full(len(table.hosts), -math.inf)
            np.maximum.at(best, host_key, priority)
            share = np.cumsum(np.exp((best[hosts] - best[hosts].max()) / self.temperature))
            host = hosts[min(int(np.searchsorted(share, host_draw * share[-1], "right")), len(hosts) - 1)]
            rows, priority = rows[host_key == host], priority[host_key == host]
        return int(rows[priority.argmax()])

    def explain(self, row: int, table: Table) -> dict[str, float]:
        (priority,) = self.priority(np.array([row]), table).tolist()
        if self.steps_ < self.switch:
            return {"nothing learned yet": priority}
        values = self.value(np.array([row]), self.target_, self.intercept_[1])[0].tolist()
        terms = dict(zip(("anchor", "address", "same host", "constant"), values, strict=True))
        if abs(offset := priority - sum(values)) > 1e-9:
            terms["change since the last ranking"] = offset
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def value(self, rows: Rows, weights: NDArray[np.float64], intercept: float) -> NDArray[np.float64]:
        """Return the contributions of anchor, URL, host and intercept to the Q of each row, as four columns."""
        count = self.count_[rows].astype(np.int64)
        slots = self.slots_[runs(self.start_[rows], count.sum(axis=1))].astype(np.intp)
        products = weights.take(slots)
        values = np.full((len(rows), 4), intercept, np.float64)
        if len(rows):
            starts = np.cumsum(count.ravel()) - count.ravel()
            sums = np.add.reduceat(np.append(products, 0.0), starts).reshape(count.shape)
            values[:, :3] = np.where(count > 0, sums / np.sqrt(np.maximum(1, count)), 0.0)
        return values

    def _fit(self, rows: int) -> None:
        self.position_, self.reward_ = fit(self.position_, rows), fit(self.reward_, rows)
        self.priority_, self.start_ = fit(self.priority_, rows, INITIAL), fit(self.start_, rows)
        self.count_ = fit(self.count_, rows)

    def _read(self, step: Step, table: Table) -> None:
        row, links = step.row, step.visit.links
        if step.visit.outcome == "redirect":
            new = step.children[~self.count_[step.children].any(axis=1)]
            for known in (self.start_, self.count_, self.priority_):
                known[new] = known[row]
            return
        # Known links have slots, except short ones to another host, which are read again with the same result.
        first: dict[int, int] = {}
        unread = (step.of_link >= 0) & (table.state[step.of_link] == OPEN) & ~self.count_[step.of_link].any(axis=1)
        for number in np.flatnonzero(unread).tolist():
            first.setdefault(int(step.of_link[number]), number)
        if not first:
            return
        rows = np.fromiter(first, np.int64, len(first))
        anchors = [" ".join(links.anchors[number].lower().split()) for number in first.values()]
        same = np.flatnonzero(table.host[rows] == table.host[row])
        addresses = _grams([table.nodes[at] for at in rows.tolist()], ADDRESS_GRAMS)
        features = _grams(anchors, ANCHOR_GRAMS), addresses, (same, np.zeros(len(same), np.int64))
        for kind, (owners, _) in enumerate(features):
            self.count_[rows, kind] = np.bincount(owners, minlength=len(rows))
        owners = np.concatenate([owners for owners, _ in features])
        slots = np.concatenate([slot + kind * SLOTS for kind, (_, slot) in enumerate(features)])
        slots = slots[np.argsort(owners, kind="stable")]
        self.slots_ = fit(self.slots_, self.filled_ + len(slots))
        self.slots_[self.filled_ : self.filled_ + len(slots)] = slots
        length = self.count_[rows].sum(axis=1, dtype=np.int64)
        self.start_[rows] = self.filled_ + np.cumsum(length) - length
        self.filled_ += len(slots)
        if self.steps_ >= self.switch:
            self.priority_[rows] = self.value(rows, self.target_, self.intercept_[1]).sum(axis=1)

    def _remember(self, row: int, reward: float) -> None:
        self.reward_[row] = reward
        if self.position_[row]:
            return
        place = self.size_
        if self.size_ < MEMORY:
            self.memory_ = fit(self.memory_, self.size_ + 1)
            self.size_ += 1
        else:
            place = int(np.random.default_rng((self.seed % 2**64, self.steps_, 1)).integers(MEMORY))
            self.position_[self.memory_[place]] = 0
        self.memory_[place], self.position_[row] = row, place + 1

    def _replay(self, table: Table) -> None:
        """Take a gradient step for each experience of a sample, then apply the L1 penalty."""
        rng = np.random.default_rng((self.seed % 2**64, self.steps_))
        rows = self.memory_[rng.choice(self.size_, min(self.sample, self.size_), replace=False)]
        wanted = self.reward_[rows] + self.gamma * self._next_values(rows, table)
        count = self.count_[rows].astype(np.int64)
        length = count.sum(axis=1)
        slots = self.slots_[runs(self.start_[rows], length)].astype(np.intp)
        x = np.repeat(1 / np.sqrt(np.maximum(1, count)).ravel(), count.ravel())
        online, (intercept, target), begin = self.online_, self.intercept_.tolist(), 0
        for end, y in zip(np.cumsum(length).tolist(), wanted.tolist(), strict=True):
            at, features = slots[begin:end], x[begin:end]
            weight = online[at]
            update = LEARNING_RATE * (y - float(weight @ features) - intercept)
            online[at] = weight + update * features
            intercept += INTERCEPT_DECAY * update
            begin = end
        self.intercept_[:] = intercept, target
        # The last example with a weight sets its cumulative penalty: indexed assignment keeps the last value.
        self.due_[slots] = np.repeat(LEARNING_RATE * PENALTY * np.arange(1, len(rows) + 1), length)
        weight, due = online[slots], self.due_[slots]
        online[slots] = np.sign(weight) * np.maximum(0, np.abs(weight) - due)

    def _next_values(self, rows: Rows, table: Table) -> Priorities:
        """Return the value of the best link of each page: chosen by the online Q, valued by the target Q."""
        links, owners = first_links(rows, table)
        each, place = np.unique(links, return_inverse=True)
        values = self.value(each, self.online_, self.intercept_[0]).sum(axis=1)[place]
        best, pages = best_of_each(values, owners)
        next_values = np.zeros(len(rows))
        next_values[pages] = self.value(links[best], self.target_, self.intercept_[1]).sum(axis=1)
        return next_values


def first_links(rows: Rows, table: Table) -> tuple[Rows, NDArray[np.intp]]:
    """Return the first 256 links of each page, and for each link the index of its page in `rows`."""
    degree = table.edges.out_degree(rows).astype(np.int64)
    edges, owners = table.edges.leaving(rows), np.repeat(np.arange(len(rows)), degree)
    kept = np.arange(len(edges)) - (np.cumsum(degree) - degree)[owners] < 256
    return table.edges.child[edges[kept]], owners[kept]


def best_of_each(values: Priorities, owners: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the index of each owner's largest value (the first of ties), and the owners that have values.

    >>> [column.tolist() for column in best_of_each(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2]))]
    [[1, 2], [0, 2]]
    """
    best = np.full(owners.max(initial=0) + 1, -math.inf)
    np.maximum.at(best, owners, values)
    top = np.flatnonzero(values == best[owners])
    owners, first = np.unique(owners[top], return_index=True)
    return top[first], owners
