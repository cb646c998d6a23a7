"""The apprentice: a second classifier, which learns from the first one which links of a page are worth following.

Paper items:
    batsakis-two-classifiers: `--strategy soft-focus,apprentice=yes`. Test:
        estimators/test_apprentice.py::test_naive_bayes_by_hand.
    rules-apprentice: `--strategy soft-focus,apprentice=yes`. Test:
        estimators/test_apprentice.py::test_the_class_of_the_page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Rows, Scores, Step, Visit
from lycosa.text.addresses import words_of
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all

SLOTS = 1 << 16
"""Features share so many slots, by their hash; slot 0 is none's."""

MOST_FEATURES = 24
"""Features that are kept of an open row, 48 bytes."""

NEAR, FAR = 2, 6
"""Words on each side of a link that are close to it (stop words don't count), and those that are looked at."""

CHUNK = 10_000
"""Rows that are judged at once."""

ANCHOR, BEFORE, AFTER, ADDRESS, FARTHER, CLASS = range(6)
"""Where a word stands, the first four in the order of `_words`."""

_RANK = np.array([0, 3, 3, 2, 4, 1])
"""Which places come first when there are too many words."""

_SALT = np.array([0, 0x3A5D, 0x3A5D, 0x95B7, 0xC8E9, 0x6C33])
"""The same word in two places is two features, but before and after a link are one place."""

_CUT = -1


@lru_cache(maxsize=SLOTS)
def _hashed(token: bytes) -> int:
    """The hash of a raw token's stem, 0 for stop words and noise; _CUT for the mark between texts."""
    if token == OPEN_TOKEN:
        return _CUT
    stem = stem_all([token])[0]
    return crc32(stem.encode()) % SLOTS if stem else 0


@dataclass
class Apprentice:
    """How relevant a link's target will be, judged by what the page has to say of the link before it is followed.

    The features of a link are words: those of its anchor, those close by (NEAR on each side) and those farther away in
    its context, those of its address, and the class of the page, if it was put into one. Each time a page was fetched,
    the features of the link that led there are taught with its beta, which is what the first classifier says of it.
    With y the sum of beta over the pages taught, n their number, and y(f), n(f) the same over those with feature f:

        p = y / n                                          odds = (y(f) + strength p) / (n(f) - y(f) + strength (1 - p))
        log odds of a link = log(p / (1 - p)) + mean over its features of (log odds(f) - log(p / (1 - p)))

    which is Naive Bayes on the presence of features, a feature seen rarely saying little, but for the mean: Naive Bayes
    has the sum. The words in and around a link say the same thing several times over, and their sum is sure of it far
    too soon. In twelve hunts of 250 pages on the embedded web soft focus found 612 pages, with the apprentice 660; with
    the sum in place of the mean it was 538. The result is on the scale of beta, whatever that is.

    It changes nothing until y and n - y are at least `least`: some pages have to be good and some bad. From then on
    links get their probability as they are found, and all open rows a new one when the number of pages taught has
    doubled: the cost for each page stays the same, however large the frontier gets. A row with several parents keeps
    the features of the link that looks best; several links of one page to it count as one.

    Not a strategy of its own: soft focus uses it. A page of 60 links takes .5 ms if most of them were on other pages
    before, some 1.3 ms if all are new.

    Paper: Chakrabarti, Punera, Subramanyam 2002. Distance there is counted in the tree of the page's elements, to the
    left and to the right; the context that is kept of a link has words only. The address's words are ours.

    >>> table, apprentice = Table(), Apprentice(least=1)
    >>> _ = table.add_seed("s")
    >>> def page(node, beta, *links):
    ...     links = Links.to(*links, anchors=links)
    ...     return apprentice.learn(table.absorb(Visit(node, "page", "ok", 1, beta=beta, links=links)), table)
    >>> for visit in ("s", 0, "coral", "trains"), ("coral", .9), ("trains", .1):
    ...     _ = page(*visit)
    >>> rows = page("s", 0, "coral reef", "old trains")
    >>> good, bad = apprentice.probability(rows, table)
    >>> bool(good > .5 > bad)
    True
    """

    least: float = 5.0
    strength: float = 2.0
    y_: NDArray[np.float64] = learned(lambda: np.zeros(SLOTS))
    n_: NDArray[np.float64] = learned(lambda: np.zeros(SLOTS))
    good_: float = learned(float)
    pages_: int = learned(int)
    again_: int = learned(int)
    """The number of pages at which all rows are judged anew; 0: no row was judged yet."""
    probability_: NDArray[np.float64] = column()
    """Of each row what it promises, NaN if that is not known."""
    place_: NDArray[np.int32] = column(np.int32)
    """Where the features of a row are kept, 0: nowhere."""
    features_: NDArray[np.uint16] = learned(lambda: np.zeros((1024, MOST_FEATURES), np.uint16))
    free_: list[int] = learned(lambda: list(range(1023, 0, -1)))

    def __post_init__(self) -> None:
        if not self.least > 0 or not self.strength > 0:
            raise ValueError(f"least is {self.least} and strength {self.strength}: both have to be above 0")

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from what the page turned out to be, then judge its links; the rows that may be judged otherwise."""
        self.place_ = fit(self.place_, len(table))
        self.probability_ = fit(self.probability_, len(table), np.nan)
        row, rows = step.row, step.children
        if step.visit.is_page:
            self._teach(row, step.visit)
        if step.visit.outcome == "redirect":
            self._inherit(row, rows[table.state[rows] == OPEN])
        else:
            self._judge_links(step, table)
        if table.state[row] != OPEN and self.place_[row]:
            self.free_.append(int(self.place_[row]))
            self.place_[row] = 0
        if not self.ready or self.pages_ < self.again_:
            return rows
        self.again_ = 2 * self.pages_
        held_rows = np.flatnonzero(self.place_[: len(table)]).astype(np.int32)
        self.probability_[held_rows] = self._judge(self.features_[self.place_[held_rows]])
        return np.union1d(held_rows, rows).astype(np.int32)

    def probability(self, rows: Rows, table: Table) -> Scores:
        """What each row promises; NaN for rows of which nothing is known, and for all until some were taught."""
        return fit(self.probability_, len(table), np.nan)[rows]

    @property
    def ready(self) -> bool:
        """Whether it has seen enough, good and bad, to be listened to."""
        return self.good_ >= self.least and self.pages_ - self.good_ >= self.least

    def _teach(self, row: int, visit: Visit) -> None:
        features = self.features_[self.place_[row]]
        features = features[features > 0]
        if not len(features):  # a seed, or fetched before
            return
        beta = min(1.0, max(0.0, visit.beta))
        self.y_[features] += beta
        self.n_[features] += 1
        self.good_ += beta
        self.pages_ += 1

    def _judge(self, features: NDArray[np.uint16]) -> Scores:
        if len(features) <= CHUNK:
            says = self._says(features).sum(axis=1)
        else:  # the whole frontier
            of_slot = self._says(np.arange(SLOTS))
            chunks = (features[begin : begin + CHUNK] for begin in range(0, len(features), CHUNK))
            says = np.concatenate([of_slot[chunk].sum(axis=1) for chunk in chunks])
        says = says / np.maximum(1, np.count_nonzero(features, axis=1))
        probability: Scores = 1 / (1 + np.exp(-np.clip(self._prior() + says, -30, 30)))
        return probability

    def _prior(self) -> float:
        return float(np.log(self.good_ / (self.pages_ - self.good_)))

    def _says(self, slots: NDArray[Any]) -> NDArray[np.float64]:
        """By how much each feature changes the log odds of a link."""
        p = self.good_ / self.pages_
        y, n = self.y_[slots], self.n_[slots]
        odds = np.log((y + self.strength * p) / (n - y + self.strength * (1 - p)))
        return np.where(slots > 0, odds - self._prior(), 0.0)

    def _judge_links(self, step: Step, table: Table) -> None:
        """Keep the features of the links to open rows, where they are the first or look better than those kept."""
        rows, features = _features(step, table)
        if not len(rows):
            return
        new = self.place_[rows] == 0
        if self.ready:
            looks = self._judge(features)
            better = new | (looks > self.probability_[rows])
            self.probability_[rows[better]] = looks[better]
        else:
            better = new
        self._make_room(int(new.sum()))
        self.place_[rows[new]] = [self.free_.pop() for _ in range(int(new.sum()))]
        self.features_[self.place_[rows[better]]] = features[better]

    def _inherit(self, row: int, targets: Rows) -> None:
        """The target of a redirect has the features of its source, unless it has its own that look better."""
        if not len(targets) or not self.place_[row]:
            return
        target = int(targets[0])
        if not self.place_[target]:
            self._make_room(1)
            self.place_[target] = self.free_.pop()
        elif not self.probability_[row] > self.probability_[target]:
            return
        self.features_[self.place_[target]] = self.features_[self.place_[row]]
        self.probability_[target] = self.probability_[row]

    def _make_room(self, most: int) -> None:
        size = len(self.features_)
        if len(self.free_) < most:
            grown = np.zeros((2 * size + most, MOST_FEATURES), np.uint16)
            grown[:size] = self.features_
            self.free_ = list(range(len(grown) - 1, size - 1, -1)) + self.free_
            self.features_ = grown


def _features(step: Step, table: Table) -> tuple[Rows, NDArray[np.uint16]]:
    """The open rows that the page links to, and of each the features, the most telling first."""
    links = step.visit.links
    numbers = np.flatnonzero((step.of_link >= 0) & (table.state[step.of_link] == OPEN))
    rows, child = np.unique(step.of_link[numbers], return_inverse=True)
    features = np.zeros((len(rows), MOST_FEATURES), np.uint16)
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
    fits = at < MOST_FEATURES
    features[child[fits], at[fits]] = word[fits]
    features.sort(axis=1)
    features[:, 1:][features[:, 1:] == features[:, :-1]] = 0  # each feature once
    return rows, features


def _within(group: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of sorted members of groups the number of each within its group, from the front (0) and from the back (1)."""
    size = np.bincount(group, minlength=groups)
    at = np.arange(len(group)) - (np.cumsum(size) - size)[group]
    return at, size[group] - at


def _words(links: Links, numbers: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of the links, hashed, and of each the number of its text: there are four to a link."""
    texts: list[str] = []
    for number in numbers:
        anchor, context = links.anchors[number], links.contexts[number]
        before, _, after = context.partition(anchor) if anchor else (context, "", "")
        close = before.rsplit(None, FAR)[-FAR:], after.split(None, FAR)[:FAR]
        texts += anchor, " ".join(close[0]), " ".join(close[1]), words_of(links.urls[number])
    mark = OPEN_TOKEN.decode()
    whole = mark.join(texts)
    if whole.count(mark) != len(texts) - 1:  # one that someone wrote himself
        whole = mark.join(text.replace(mark, " ") for text in texts)
    tokens = fold(whole).split()  # all at once: one page has some hundred short texts
    word = np.fromiter(map(_hashed, tokens), np.int64, len(tokens))
    text = np.cumsum(word == _CUT)
    return text[word > 0], word[word > 0]
