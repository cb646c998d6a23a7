"""deep-deep: Q-learning over links, online, with a linear function of what a link says.

A rival of today: no paper, the program is what is described (docs/rivals.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned, runs
from lycosa.core.composite import GOLDEN
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step

SLOTS = 1 << 18  # hash buckets for n-grams of anchors, and as many for addresses
SAME_HOST = 2 * SLOTS  # slot of the feature "stays on its host"
ANCHOR_GRAMS, ADDRESS_GRAMS = (3, 4, 5), (4, 5)
MEMORY = 100_000  # pages; then each new one replaces a random one
LEARNING_RATE, PENALTY, INTERCEPT_DECAY = 0.1, 1e-4, 0.01  # constant; L1, cumulative; features are sparse
INITIAL = 0.05  # score of every link before the first model is in use


def _grams(texts: list[str], sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The n-grams of letters of some texts, each once a text: the number of the text, and the slot."""
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
    """score = Q(link), the return that is expected of following it: its reward, and gamma times the best that is next.

    Q is linear in what the link says: the n-grams of letters of its anchor (3 to 5) and of its address (4 and 5), each
    there or not, each of the two vectors of length 1, and whether the link stays on its host. Each page that was
    fetched by a link a is an experience: a, the reward r, and the links A of the page. r is from 0 to 1: beta, if the
    judge gives probabilities, else beta / threshold, at most 1. After each, `sample` experiences are drawn from all of
    them, and the *online* Q takes a step of the stochastic gradient towards

        y = r + gamma Q'(argmax over A of Q)                                                (gamma Q' = 0 without links)

    for each of them, where Q' is the *target* Q: a copy of the online one, made anew after every `switch` experiences
    (double learning). Scores are by the target Q: until the first copy they are all .05, so the crawl is breadth-first.

    Which link is fetched is drawn. Hosts are in a softmax of their best scores with a `temperature`; the best link of
    the host is taken. Besides, for each such link one more is taken with probability `eps`, of any host any link; so
    eps / (1 + eps) of all picks are random.

    Parameters:
        gamma        the discount
        eps          see above
        temperature  of the softmax over hosts
        switch       experiences between two copies of the online Q
        sample       experiences that are replayed after each page

    Source: TeamHG-Memex/deep-deep, a Scrapy spider, 2016; the numbers are those of its spider for relevant pages. Where
    it differs: a link's features are those of the page that was the first to link there; 2^18 slots in place of 2^20,
    and hashes without a sign; no title attribute; a host in place of a registered domain; rewards are the judge's; the
    examples of a replay are not shuffled, and the L1 penalty is taken at their end; the next link is one of a page's
    first 256. Pages that fail teach nothing, those of an unwanted type a reward of 0.

    Some 600 bytes a known link. The memory holds rows, as the table has their links.

    >>> q = DeepDeep(); table = Table()
    >>> q.choose(np.array([table.add("a", 0), table.add("b", 0)]), number=1, table=table)
    0
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
    intercept_: NDArray[np.float64] = learned(lambda: np.array([0.0, INITIAL]))  # of the online and of the target Q
    steps_: int = learned(int)
    rest_: int = learned(int)  # pages until all links may be ranked again
    memory_: NDArray[np.int32] = column(np.int32)  # rows of the experiences
    size_: int = learned(int)
    place_: NDArray[np.int32] = column(np.int32)  # of each row in the memory, from 1; 0: none
    reward_: NDArray[np.float64] = column()
    priority_: NDArray[np.float64] = column()
    slots_: NDArray[np.uint32] = column(np.uint32)
    filled_: int = learned(int)
    start_: NDArray[np.int64] = column(np.int64)  # where the slots of each row begin
    # Slots of each row's anchor, address and host (0 or 1).
    count_: NDArray[np.uint16] = learned(lambda: np.zeros((0, 3), np.uint16))

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < 1:
            raise ValueError(f"gamma={self.gamma:g} is the share of what comes next: take a number from 0 to below 1")
        if not 0 <= self.eps <= 1:
            raise ValueError(f"eps={self.eps:g} is a probability: take a number from 0 to 1")
        if not self.temperature > 0:
            raise ValueError(f"temperature={self.temperature:g}: it must be above 0")
        if self.switch < 1 or self.sample < 1:
            raise ValueError(f"switch={self.switch} and sample={self.sample} are counts: take 1 or more")

    def learn(self, step: Step, table: Table) -> Rows:
        """Read the links, remember what came of the one that led here, and replay."""
        self._fit(len(table))
        self._read(step, table)
        visit, row = step.visit, step.row
        tells = visit.is_page or (visit.kind == "page" and visit.outcome == "unwanted")
        if not tells or visit.follows or table.is_seed[row]:
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
        self.rest_ = int(len(rows) / 30_000 / (0.33 / 0.67) / 0.1)  # a third of the time at .1 s a page, as they reckon
        return np.union1d(rows, step.children).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """Q of each link, by the target as of when it was ranked."""
        return fit(self.priority_, len(table), INITIAL)[rows]

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        """The best link of a host that is drawn, or any link of any host."""
        chance, which, whose = np.random.default_rng((self.seed % 2**64, number)).random(3).tolist()
        host_key = table.host[rows]
        hosts = np.unique(host_key)
        if chance < self.eps / (1 + self.eps):
            rows = rows[host_key == hosts[int(whose * len(hosts))]]
            return int(rows[int(which * len(rows))])
        priority = self.priority(rows, table)
        if len(hosts) > 1:
            best = np.full(len(table.hosts), -math.inf)
            np.maximum.at(best, host_key, priority)
            share = np.cumsum(np.exp((best[hosts] - best[hosts].max()) / self.temperature))
            host = hosts[min(int(np.searchsorted(share, whose * share[-1], "right")), len(hosts) - 1)]
            rows, priority = rows[host_key == host], priority[host_key == host]
        return int(rows[priority.argmax()])

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """What the letters of anchor and address add, and the host."""
        (priority,) = self.priority(np.array([row]), table).tolist()
        if self.steps_ < self.switch:
            return {"nothing learned yet": priority}
        values = self.value(np.array([row]), self.target_, self.intercept_[1])[0].tolist()
        terms = dict(zip(("anchor", "address", "same host", "what all links have"), values, strict=True))
        if abs(older := priority - sum(values)) > 1e-9:
            terms["of an earlier ranking"] = older
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def value(self, rows: Rows, weights: NDArray[np.float64], intercept: float) -> NDArray[np.float64]:
        """Of each row what its anchor, its address, its host and the intercept add up to Q."""
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
        self.place_, self.reward_ = fit(self.place_, rows), fit(self.reward_, rows)
        self.priority_, self.start_ = fit(self.priority_, rows, INITIAL), fit(self.start_, rows)
        self.count_ = fit(self.count_, rows)

    def _read(self, step: Step, table: Table) -> None:
        """The features of links that are new, and what they are worth."""
        row, links = step.row, step.visit.links
        if step.visit.outcome == "redirect":
            new = step.children[~self.count_[step.children].any(axis=1)]
            self.start_[new], self.count_[new], self.priority_[new] = (
                self.start_[row],
                self.count_[row],
                self.priority_[row],
            )
            return
        # A link that has been read has slots, but for a short one to another host, which is read again to no effect.
        first: dict[int, int] = {}
        unread = (step.of_link >= 0) & (table.state[step.of_link] == OPEN) & ~self.count_[step.of_link].any(axis=1)
        for number in np.flatnonzero(unread).tolist():
            first.setdefault(int(step.of_link[number]), number)
        if not first:
            return
        rows = np.fromiter(first, np.int64, len(first))
        anchors = [" ".join(links.anchors[number].lower().split()) for number in first.values()]
        same = np.flatnonzero(table.host[rows] == table.host[row])
        features = (
            _grams(anchors, ANCHOR_GRAMS),
            _grams([table.nodes[at] for at in rows.tolist()], ADDRESS_GRAMS),
            (same, np.zeros(len(same), np.int64)),
        )
        for kind, (whose, _) in enumerate(features):
            self.count_[rows, kind] = np.bincount(whose, minlength=len(rows))
        whose = np.concatenate([whose for whose, _ in features])
        slots = np.concatenate([slot + kind * SLOTS for kind, (_, slot) in enumerate(features)])
        slots = slots[np.argsort(whose, kind="stable")]
        self.slots_ = fit(self.slots_, self.filled_ + len(slots))
        self.slots_[self.filled_ : self.filled_ + len(slots)] = slots
        length = self.count_[rows].sum(axis=1, dtype=np.int64)
        self.start_[rows] = self.filled_ + np.cumsum(length) - length
        self.filled_ += len(slots)
        if self.steps_ >= self.switch:
            self.priority_[rows] = self.value(rows, self.target_, self.intercept_[1]).sum(axis=1)

    def _remember(self, row: int, reward: float) -> None:
        """One experience more, or another reward for one that is there."""
        self.reward_[row] = reward
        if self.place_[row]:
            return
        place = self.size_
        if self.size_ < MEMORY:
            self.memory_ = fit(self.memory_, self.size_ + 1)
            self.size_ += 1
        else:
            place = int(np.random.default_rng((self.seed % 2**64, self.steps_, 1)).integers(MEMORY))
            self.place_[self.memory_[place]] = 0
        self.memory_[place], self.place_[row] = row, place + 1

    def _replay(self, table: Table) -> None:
        """Some experiences again, each a step of the gradient; then weights are drawn to 0 by what is due."""
        chance = np.random.default_rng((self.seed % 2**64, self.steps_))
        rows = self.memory_[chance.choice(self.size_, min(self.sample, self.size_), replace=False)]
        wanted = self.reward_[rows] + self.gamma * self._next(rows, table)
        count = self.count_[rows].astype(np.int64)
        length = count.sum(axis=1)
        slots = self.slots_[runs(self.start_[rows], length)].astype(np.intp)
        x = np.repeat(1 / np.sqrt(np.maximum(1, count)).ravel(), count.ravel())
        online, (intercept, target), begin = self.online_, self.intercept_.tolist(), 0
        for end, y in zip(np.cumsum(length).tolist(), wanted.tolist(), strict=True):
            at, its = slots[begin:end], x[begin:end]
            weight = online[at]
            update = LEARNING_RATE * (y - float(weight @ its) - intercept)
            online[at] = weight + update * its
            intercept += INTERCEPT_DECAY * update
            begin = end
        self.intercept_[:] = intercept, target
        # The cumulative penalty of a weight is that of the last example that has it: of several, the last one stays.
        self.due_[slots] = np.repeat(LEARNING_RATE * PENALTY * np.arange(1, len(rows) + 1), length)
        weight, due = online[slots], self.due_[slots]
        online[slots] = np.sign(weight) * np.maximum(0, np.abs(weight) - due)

    def _next(self, rows: Rows, table: Table) -> Priorities:
        """What the links of each page promise: that which is best by the online Q, valued by the target Q."""
        links, whose = first_links(rows, table)
        each, place = np.unique(links, return_inverse=True)
        values = self.value(each, self.online_, self.intercept_[0]).sum(axis=1)[place]
        best, pages = best_of_each(values, whose)
        promised = np.zeros(len(rows))
        promised[pages] = self.value(links[best], self.target_, self.intercept_[1]).sum(axis=1)
        return promised


def first_links(rows: Rows, table: Table) -> tuple[Rows, NDArray[np.intp]]:
    """The first links of some pages, and of each link whose it is, by the page's place among these."""
    degree = table.edges.out_degree(rows).astype(np.int64)
    edges, whose = table.edges.leaving(rows), np.repeat(np.arange(len(rows)), degree)
    near = np.arange(len(edges)) - (np.cumsum(degree) - degree)[whose] < 256
    return table.edges.child[edges[near]], whose[near]


def best_of_each(values: Priorities, whose: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Of each owner the place of its largest value, the first of equal ones; and the owners that have any.

    >>> [column.tolist() for column in best_of_each(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2]))]
    [[1, 2], [0, 2]]
    """
    best = np.full(whose.max(initial=0) + 1, -math.inf)
    np.maximum.at(best, whose, values)
    top = np.flatnonzero(values == best[whose])
    owners, first = np.unique(whose[top], return_index=True)
    return top[first], owners
