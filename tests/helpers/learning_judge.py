"""A minimal learning judge, which represents others in tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Judgement, Label, ModelUpdate, Page, Seed, Visit
from lycosa.text.tokens import stems

FIRST = 4
"""Pages before the first model update; the next ones follow after twice as many, and so on."""


class Learning:
    """Judge by the share of the query's words on a page, plus words of labelled pages.

    A model update also lists query words that occur on every page, which are ignored.
    """

    def __init__(self, words: str = "", threshold: float = 0.5) -> None:
        self.words = words
        self.threshold = threshold
        self.asked = set(stems(words))
        self.common: set[str] = set()
        self.telling: dict[str, float] = {}
        self.next = FIRST
        self.terms: list[str] = []
        self.nodes: list[str] = []
        self.bags: list[frozenset[str]] = []
        self.labels: dict[str, bool] = {}

    @property
    def fingerprint(self) -> object:
        return self.words

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge a page by the current model; all links get the same relevance."""
        found = frozenset(reading.vocabulary.terms[number] for number in reading.terms.ids.tolist())
        return Judgement(self._score(found), np.full(len(page.links), 0.5, np.float32))

    def learn(self, visit: Visit) -> None:
        self.terms += [term for term in visit.terms.new if term not in self.terms]
        if visit.is_version:
            self.nodes.append(visit.node)
            self.bags.append(frozenset(self.terms[number] for number in visit.terms.ids.tolist()))

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        """Return common words and words that separate positive from negative labels."""
        if not self.bags or (len(self.bags) < self.next and not force):
            return None
        everywhere = frozenset.intersection(*self.bags) if len(self.bags) > 1 else frozenset()
        telling: dict[str, float] = {}
        for relevant, sign in ((True, 0.5), (False, -0.5)):
            for stem in self._words_of(relevant) - self._words_of(not relevant) - everywhere:
                telling[stem] = sign
        common = sorted(self.asked & everywhere)
        return ModelUpdate("", {"common": common, "telling": telling, "next": 2 * max(self.next, len(self.bags))}, now)

    def _words_of(self, relevant: bool) -> set[str]:
        bags: Sequence[frozenset[str]] = [
            bag for node, bag in zip(self.nodes, self.bags, strict=True) if self.labels.get(node) is relevant
        ]
        return set().union(*bags)

    def adopt(self, update: ModelUpdate) -> None:
        self.common, self.telling = set(update.data["common"]), dict(update.data["telling"])
        self.next = update.data["next"]

    def start(self, seed: Seed) -> None:
        """Ignore seeds."""

    def add_label(self, label: Label) -> None:
        self.labels.pop(label.node, None)
        if label.relevant is not None:
            self.labels[label.node] = label.relevant

    def relevances_now(self) -> NDArray[np.float32]:
        """Return the relevance of all pages by the current model; labels override it."""
        known = zip(self.nodes, self.bags, strict=True)
        relevances_now = [float(self.labels[node]) if node in self.labels else self._score(bag) for node, bag in known]
        return np.array(relevances_now, np.float32)

    def _score(self, found: frozenset[str]) -> float:
        asked = self.asked - self.common
        share = len(asked & found) / max(len(asked), 1)
        moved = share + sum(self.telling.get(stem, 0.0) for stem in sorted(found))
        return float(np.float32(min(1.0, max(0.0, moved))))
