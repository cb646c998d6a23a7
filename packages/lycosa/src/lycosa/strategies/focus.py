"""Hard and soft focus: rank links by the relevance of their page, optionally with a hub distiller and an apprentice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.frontier import PRUNED
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Priorities, Rows, Step, Visit
from lycosa.strategies.parents import Merge, MergedPriorities, PriorityFromParents
from lycosa.strategies.redirects import Redirects, check_iterations
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all, url_words


@dataclass
class HardFocus(PriorityFromParents):
    """Hard focus: follow the links of relevant pages only, and prune all others.

    A page is off topic if its best class is not a wanted one, or if its beta is below a limit. Its links are pruned
    unless a page on topic also links to them; they then have that page's beta as priority, the largest if there are
    several. Rows without a linking page have priority 0. Links of sitemaps and feeds are always followed.

    Parameters:
        least        the limit. Default: .5 for a classified page, and the judge's threshold for one without classes
        trust_seeds  follow the links of seeds even if they are off topic (default yes). The papers take their seeds
                     from a directory's listing of the topic; users may start at a portal, which covers no single topic

    Paper: Altingovde, Ulusoy 2004 (baseline crawler); Chakrabarti, van den Berg, Dom 1999.
    """

    least: float | None = None
    trust_seeds: bool = True
    threshold: float | None = None
    priority_: MergedPriorities = learned(MergedPriorities)

    def learn(self, step: Step, table: Table) -> Rows:
        trusted = step.visit.kind == "sitemap" or (self.trust_seeds and bool(table.is_seed[step.row]))
        follow = trusted or self.is_on_topic(step.visit)
        return self.priority_.update(step, table, max(0.0, step.visit.relevance) if follow else PRUNED)

    def is_on_topic(self, visit: Visit) -> bool:
        wanted = visit.data.get("target")
        least = self.least
        if least is None:
            least = 0.5 if wanted is not None or self.threshold is None else self.threshold
        return wanted is not False and visit.relevance >= least


@dataclass
class Distiller:
    """Hub scores of crawled pages, for soft focus. Hubs are pages with many links to relevant pages.

    An authority is a relevant page that good hubs link to, a hub a page that links to good authorities (HITS). Links
    are weighted by relevance, which prevents a drift to pages that are popular for other reasons:

        a(v) = sum over links (u, v) of beta(u) * h(u)     for pages with beta(v) >= least; 0 for all others
        h(u) = sum over links (u, v) of beta(v) * a(v)

    Both are scaled to a maximum of 1 in each of the `iterations`, which start from h = 1. Only crawled pages take part.
    `same_host` says whether links within a host count: `keep`, `drop`, or `auto`, which drops them once the crawl has
    seen a second host. Scores are recomputed every `period` visits; in between `hub` stays as it is (0 for new pages).

    Paper: Chakrabarti, van den Berg, Dom 1999 (distillation); `iterations` and `least` are our choice.
    """

    period: int = 100
    iterations: int = 10
    least: float = 0.1
    same_host: Literal["auto", "keep", "drop"] = "auto"
    hub: NDArray[np.float64] = column()  # from 0 to 1
    authority: NDArray[np.float64] = column()  # from 0 to 1
    steps_: int = learned(int)
    beta_: NDArray[np.float64] = column()
    redirects_: Redirects = learned(Redirects)

    def __post_init__(self) -> None:
        check_iterations(self.iterations, self.period)
        if self.same_host not in ("auto", "keep", "drop"):
            raise ValueError(f"'same_host' is {self.same_host!r}: it must be auto, keep or drop")

    def learn(self, step: Step, table: Table) -> bool:
        size = len(table)
        self.hub, self.authority = fit(self.hub, size), fit(self.authority, size)
        self.beta_ = fit(self.beta_, size)
        self.redirects_.learn(step, table)
        if step.visit.outcome == "ok":
            self.beta_[step.row] = step.visit.relevance
        self.steps_ += 1
        if self.steps_ % self.period:
            return False
        self._distil(table)
        return True

    def _distil(self, table: Table) -> None:
        size, beta = len(table), self.beta_
        parent, child = self.redirects_.edges(table)
        counts = (beta[child] >= self.least) & (beta[child] > 0) & (beta[parent] > 0)
        if self.same_host == "drop" or (self.same_host == "auto" and len(table.hosts) > 1):
            counts &= table.host[parent] != table.host[child]
        parent, child = parent[counts], child[counts]
        forward, backward = beta[child], beta[parent]
        hub = np.ones(size)
        authority = np.zeros(size)
        for _ in range(self.iterations):
            authority = _scaled(np.bincount(child, hub[parent] * backward, size))
            hub = _scaled(np.bincount(parent, authority[child] * forward, size))
        self.hub[:size], self.authority[:size] = hub, authority


def _scaled(column: NDArray[Any]) -> NDArray[np.float64]:
    return column / (column.max(initial=0.0) or 1.0)


SLOTS = 1 << 16  # hash slots for features; slot 0 is reserved for "no feature"
MAX_FEATURES = 24  # features kept per open row, 48 bytes
NEAR, FAR = 2, 6  # words on each side of a link: near ones (without stop words), and all that are read
CHUNK = 10_000  # rows estimated per batch
# positions of a word relative to its link; the first four as in `_words`
ANCHOR, BEFORE, AFTER, ADDRESS, FARTHER, CLASS = range(6)
_RANK = np.array([0, 3, 3, 2, 4, 1])  # precedence of positions when there are too many words
_SALT = np.array([0, 0x3A5D, 0x3A5D, 0x95B7, 0xC8E9, 0x6C33])  # before and after a link share one position
_CUT = -1


@lru_cache(maxsize=SLOTS)
def _hashed(token: bytes) -> int:
    """Return the hash of the stem of a raw token: 0 for stop words and noise, _CUT for the mark between texts."""
    if token == OPEN_TOKEN:
        return _CUT
    stem = stem_all([token])[0]
    return crc32(stem.encode()) % SLOTS if stem else 0


@dataclass
class Apprentice:
    """Estimated relevance of a link's target from the link's words, learned during the crawl; used by soft focus.

    The features of a link are the words of its anchor, nearby words (NEAR on each side), farther words of its context,
    the words of its URL, and the class of its page if it has one. Each fetched page trains the features of the link
    that led to it with its beta. With y the sum of beta over the training pages, n their number, and y(f), n(f) the
    same over those with feature f:

        p = y / n                                          odds = (y(f) + strength p) / (n(f) - y(f) + strength (1 - p))
        log odds of a link = log(p / (1 - p)) + mean over its features of (log odds(f) - log(p / (1 - p)))

    This is Naive Bayes on the presence of features, shrunk towards p for rare ones, with the mean instead of the sum,
    which is overconfident, as the words of a link are redundant: in twelve crawls of 250 pages of the embedded web soft
    focus found 612 relevant pages, 660 with the apprentice, and 538 with the sum.

    It has no effect until y and n - y are at least `least`. From then on links are estimated when they are found, and
    all open rows whenever the number of training pages has doubled, so the cost per page does not grow with the
    frontier. A row with several parents keeps the features of the link with the best estimate.

    Paper: Chakrabarti, Punera, Subramanyam 2002, which measures distance in the tree of the page's elements; here the
    context is plain words, and the words of the URL are added.
    """

    least: float = 5.0
    strength: float = 2.0
    y_: NDArray[np.float64] = learned(lambda: np.zeros(SLOTS))
    n_: NDArray[np.float64] = learned(lambda: np.zeros(SLOTS))
    relevance_sum_: float = learned(float)
    pages_: int = learned(int)
    # number of training pages at which all rows are estimated again; 0 if not yet estimated
    next_update_: int = learned(int)
    probability_: NDArray[np.float64] = column()  # NaN if unknown
    slot_: NDArray[np.int32] = column(np.int32)  # index of a row's features; 0 if not stored
    features_: NDArray[np.uint16] = learned(lambda: np.zeros((1024, MAX_FEATURES), np.uint16))
    free_: list[int] = learned(lambda: list(range(1023, 0, -1)))

    def __post_init__(self) -> None:
        if not self.least > 0 or not self.strength > 0:
            raise ValueError(f"'least' is {self.least} and 'strength' {self.strength}: both must be above 0")

    def learn(self, step: Step, table: Table) -> Rows:
        self.slot_ = fit(self.slot_, len(table))
        self.probability_ = fit(self.probability_, len(table), np.nan)
        row, rows = step.row, step.children
        if step.visit.is_page:
            self._train(row, step.visit)
        if step.visit.outcome == "redirect":
            self._inherit(row, rows[table.state[rows] == OPEN])
        else:
            self._store_links(step, table)
        if table.state[row] != OPEN and self.slot_[row]:
            self.free_.append(int(self.slot_[row]))
            self.slot_[row] = 0
        if not self.is_ready or self.pages_ < self.next_update_:
            return rows
        self.next_update_ = 2 * self.pages_
        stored_rows = np.flatnonzero(self.slot_[: len(table)]).astype(np.int32)
        self.probability_[stored_rows] = self._estimate(self.features_[self.slot_[stored_rows]])
        return np.union1d(stored_rows, rows).astype(np.int32)

    def probability(self, rows: Rows, table: Table) -> Priorities:
        """Return the estimate of each row; NaN where it is unknown, and for all rows before training."""
        return fit(self.probability_, len(table), np.nan)[rows]

    @property
    def is_ready(self) -> bool:
        return self.relevance_sum_ >= self.least and self.pages_ - self.relevance_sum_ >= self.least

    def _train(self, row: int, visit: Visit) -> None:
        features = self.features_[self.slot_[row]]
        features = features[features > 0]
        if not len(features):  # a seed, or already trained on
            return
        relevance = min(1.0, max(0.0, visit.relevance))
        self.y_[features] += relevance
        self.n_[features] += 1
        self.relevance_sum_ += relevance
        self.pages_ += 1

    def _estimate(self, features: NDArray[np.uint16]) -> Priorities:
        if len(features) <= CHUNK:
            evidence = self._evidence(features).sum(axis=1)
        else:  # all rows of the frontier
            of_slot = self._evidence(np.arange(SLOTS))
            chunks = (features[begin : begin + CHUNK] for begin in range(0, len(features), CHUNK))
            evidence = np.concatenate([of_slot[chunk].sum(axis=1) for chunk in chunks])
        evidence = evidence / np.maximum(1, np.count_nonzero(features, axis=1))
        probability: Priorities = 1 / (1 + np.exp(-np.clip(self._prior() + evidence, -30, 30)))
        return probability

    def _prior(self) -> float:
        return float(np.log(self.relevance_sum_ / (self.pages_ - self.relevance_sum_)))

    def _evidence(self, slots: NDArray[Any]) -> NDArray[np.float64]:
        """Return the change in the log odds of a link by each feature."""
        p = self.relevance_sum_ / self.pages_
        y, n = self.y_[slots], self.n_[slots]
        odds = np.log((y + self.strength * p) / (n - y + self.strength * (1 - p)))
        return np.where(slots > 0, odds - self._prior(), 0.0)

    def _store_links(self, step: Step, table: Table) -> None:
        rows, features = _features(step, table)
        if not len(rows):
            return
        new = self.slot_[rows] == 0
        if self.is_ready:
            estimates = self._estimate(features)
            better = new | (estimates > self.probability_[rows])
            self.probability_[rows[better]] = estimates[better]
        else:
            better = new
        self._reserve(int(new.sum()))
        self.slot_[rows[new]] = [self.free_.pop() for _ in range(int(new.sum()))]
        self.features_[self.slot_[rows[better]]] = features[better]

    def _inherit(self, row: int, targets: Rows) -> None:
        """Copy the features of a redirect to its target, unless the target's own have a better estimate."""
        if not len(targets) or not self.slot_[row]:
            return
        target = int(targets[0])
        if not self.slot_[target]:
            self._reserve(1)
            self.slot_[target] = self.free_.pop()
        elif not self.probability_[row] > self.probability_[target]:
            return
        self.features_[self.slot_[target]] = self.features_[self.slot_[row]]
        self.probability_[target] = self.probability_[row]

    def _reserve(self, limit: int) -> None:
        size = len(self.features_)
        if len(self.free_) < limit:
            grown = np.zeros((2 * size + limit, MAX_FEATURES), np.uint16)
            grown[:size] = self.features_
            self.free_ = list(range(len(grown) - 1, size - 1, -1)) + self.free_
            self.features_ = grown


def _features(step: Step, table: Table) -> tuple[Rows, NDArray[np.uint16]]:
    links = step.visit.links
    numbers = np.flatnonzero((step.of_link >= 0) & (table.state[step.of_link] == OPEN))
    rows, child = np.unique(step.of_link[numbers], return_inverse=True)
    features = np.zeros((len(rows), MAX_FEATURES), np.uint16)
    if not len(rows):
        return rows, features
    text, word = _words(links, numbers.tolist())
    at, left = _within(text, 4 * len(numbers))
    place = text % 4
    place[(place == BEFORE) & (left > NEAR)] = FARTHER
    place[(place == AFTER) & (at >= NEAR)] = FARTHER
    word, child = word ^ _SALT[place], child[text // 4]
    classes = step.visit.data.get("classes")
    if classes:
        own = crc32(str(classes[0][0]).encode()) % SLOTS ^ _SALT[CLASS]
        word, place = np.append(word, np.full(len(rows), own)), np.append(place, np.full(len(rows), CLASS))
        child = np.append(child, np.arange(len(rows)))
    order = np.argsort(child * len(_RANK) + _RANK[place], kind="stable")
    word, child = word[order], child[order]
    at, _ = _within(child, len(rows))
    fits = at < MAX_FEATURES
    features[child[fits], at[fits]] = word[fits]
    features.sort(axis=1)
    features[:, 1:][features[:, 1:] == features[:, :-1]] = 0  # each feature once
    return rows, features


def _within(group: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the members of each group from the front (0, 1, ...) and from the back (..., 2, 1); `group` is sorted."""
    size = np.bincount(group, minlength=groups)
    at = np.arange(len(group)) - (np.cumsum(size) - size)[group]
    return at, size[group] - at


def _words(links: Links, numbers: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the hashed words of the links, and for each the number of its text; a link has four texts."""
    texts: list[str] = []
    for number in numbers:
        anchor, context = links.anchors[number], links.contexts[number]
        before, _, after = context.partition(anchor) if anchor else (context, "", "")
        close = before.rsplit(None, FAR)[-FAR:], after.split(None, FAR)[:FAR]
        texts += anchor, " ".join(close[0]), " ".join(close[1]), url_words(links.urls[number])
    mark = OPEN_TOKEN.decode()
    whole = mark.join(texts)
    if whole.count(mark) != len(texts) - 1:  # a text contains the mark itself
        whole = mark.join(text.replace(mark, " ") for text in texts)
    tokens = fold(whole).split()  # a single call, since a page has hundreds of short texts
    word = np.fromiter(map(_hashed, tokens), np.int64, len(tokens))
    text = np.cumsum(word == _CUT)
    return text[word > 0], word[word > 0]


BOOST = 1e6  # added to links of a good hub; exceeds any sum of betas


@dataclass
class SoftFocus:
    """Soft focus: every link of a page gets the page's beta, its relevance to the wanted classes. Nothing is pruned.

    With several parents `merge` combines their betas; the papers leave this open.

    Parameters:
        distiller   periodically find hubs, pages that link to many relevant pages, and fetch the remaining links of the
                    best `hubs` of them first until the next update. As in the paper; the number of hubs is ours
        apprentice  distinguish the links of a page by the words in and around them. Once it has seen enough pages, the
                    priority is the mean of beta and the apprentice's estimate; in the paper only the estimate counts

    Paper: Chakrabarti, van den Berg, Dom 1999; Chakrabarti, Punera, Subramanyam 2002 (apprentice); Altingovde, Ulusoy
    2004, where it is the baseline, without distiller and apprentice.

    >>> table, focus = Table(), SoftFocus()
    >>> for node, relevance in (("a", .3), ("b", .8)):
    ...     _ = table.add_seed(node)
    ...     visit = Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to("c"))
    ...     rows = focus.learn(table.absorb(visit), table)
    >>> focus.priority(rows, table).tolist()
    [0.8]
    """

    merge: Merge = "max"
    distiller: bool = False
    apprentice: bool = False
    hubs: int = 10
    parents_: MergedPriorities = learned()
    distiller_: Distiller | None = learned()
    apprentice_: Apprentice | None = learned()
    boosted_: NDArray[np.bool_] = column(np.bool_)  # rows linked from one of the best hubs

    def __post_init__(self) -> None:
        if self.hubs < 1:
            raise ValueError(f"'hubs' is {self.hubs}: it must be 1 or more; leave out the distiller for none")
        self.parents_ = MergedPriorities(self.merge)
        self.distiller_ = Distiller() if self.distiller else None
        self.apprentice_ = Apprentice() if self.apprentice else None

    @property
    def proportional(self) -> bool:
        """False with the distiller, whose boost only moves links to the front."""
        return not self.distiller

    def learn(self, step: Step, table: Table) -> Rows:
        rows = self.parents_.update(step, table, max(0.0, step.visit.relevance))
        if self.apprentice_ is not None:
            rows = self.apprentice_.learn(step, table)
        if self.distiller_ is not None:
            self.boosted_ = fit(self.boosted_, len(table))
            if step.visit.outcome == "redirect":
                self.boosted_[step.children] |= self.boosted_[step.row]
            if self.distiller_.learn(step, table):
                rows = np.union1d(rows, self._boost_links(self.distiller_, table)).astype(np.int32)
        return rows

    def priority(self, rows: Rows, table: Table) -> Priorities:
        priority = self.parents_.priority(rows, table)
        if self.apprentice_ is not None:
            estimate = self.apprentice_.probability(rows, table)
            priority = np.where(np.isnan(estimate), priority, (priority + np.nan_to_num(estimate)) / 2)
        if self.distiller_ is not None:
            priority = priority + BOOST * fit(self.boosted_, len(table))[rows]
        return priority

    def _boost_links(self, distiller: Distiller, table: Table) -> Rows:
        """Raise the links of the best hubs and lower all others; return the rows that were or are raised."""
        before = self.boosted_.copy()
        self.boosted_[:] = False
        good = np.flatnonzero(distiller.hub[: len(table)])
        for row in good[np.argsort(-distiller.hub[good], kind="stable")][: self.hubs].tolist():
            self.boosted_[distiller.redirects_.ends(table.edges.children(row))] = True
        return np.flatnonzero(before | self.boosted_).astype(np.int32)
