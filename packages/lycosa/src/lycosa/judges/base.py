"""What judges have in common, and what is put around each so that it heeds labels."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.protocols import Judge, Learner
from lycosa.core.state import State, restore, state_of
from lycosa.core.types import Judgement, Label, Links, ModelUpdate, Page, Seed, Visit, settled
from lycosa.text.tokens import words_of

FACETS = ("context", "url")
# answer for the words around a link as if they were a page; only a classifier's differs from the context
CONTEXT_SCORE = "context_score"


class StatelessJudge:
    """Base of judges that tell of links what a strategy wants to know, and have nothing to learn themselves.

    Of words, their idf, the vocabulary learns.
    """

    threshold: float
    facets: tuple[str, ...] = ()  # needed of links beside alpha: "context", "url"

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""


def ask(judge: Judge, wants: Sequence[str]) -> None:
    """Tell a judge what a strategy wants to know of links, in the names that it knows; one without facets is left."""
    if hasattr(judge, "facets"):
        judge.facets = asked(judge, wants)


def asked(judge: Judge, wants: Sequence[str]) -> tuple[str, ...]:
    """What is wanted, in the names that a judge knows.

    >>> asked(StatelessJudge(), ("context", "context_score", "url"))
    ('context', 'url')
    """
    known = getattr(judge, "offers", FACETS)
    return tuple(dict.fromkeys("context" if name == CONTEXT_SCORE not in known else name for name in wants))


def facet_texts(links: Links, facet: str) -> list[str]:
    """What a facet of links is told by: the words around each, or those of its address."""
    return links.contexts if facet == "context" else [words_of(url) for url in links.urls]


# -- around any judge --------------------------------------------------------------------------------------

BETAS = "betas"  # in a model update: relevance of each page version so far


class JudgeWrapper:
    """Base of topics that ask another one first; they add `judge` and `learn`."""

    def __init__(self, judge: Judge) -> None:
        self.inner = judge
        self.threshold = judge.threshold

    @property
    def facets(self) -> tuple[str, ...]:
        return getattr(self.inner, "facets", ())

    @facets.setter
    def facets(self, names: tuple[str, ...]) -> None:
        if hasattr(self.inner, "facets"):
            self.inner.facets = names

    @property
    def offers(self) -> tuple[str, ...]:
        return getattr(self.inner, "offers", FACETS)


class LanguageJudge(JudgeWrapper):
    """Another topic's judgement, but pages that the space has flagged as being in a wrong language are worth nothing.

    >>> from lycosa.judges.pattern import RegexJudge
    >>> LanguageJudge(heeding(RegexJudge("coral"))).judge(Page("ok", marked="coral", flags=["language"]), None).relevance
    0.0
    """

    inner: Learner

    def __init__(self, judge: Learner) -> None:
        super().__init__(judge)
        self._right = bytearray()

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge, then look at the flag; links keep their alpha, since they may lead to the right language."""
        judgement = self.inner.judge(page, reading)
        if "language" in page.flags:
            judgement.relevance = 0.0
        return judgement

    def learn(self, visit: Visit) -> None:
        """Pass it on, but keep in mind which pages can't count."""
        if visit.is_version:
            self._right.append("language" not in visit.flags)
        self.inner.learn(visit)

    def state(self) -> State:
        return {"judge": state_of(self.inner), "right": bytes(self._right)}

    def restore(self, state: State) -> None:
        restore(self.inner, state["judge"])
        self._right = bytearray(state["right"])

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        return self.inner.next_update(now, force)

    def adopt(self, update: ModelUpdate) -> None:
        self.inner.adopt(update)

    def start(self, seed: Seed) -> None:
        self.inner.start(seed)

    def add_label(self, label: Label) -> None:
        self.inner.add_label(label)

    def relevances_now(self) -> NDArray[np.floating[Any]]:
        relevances_now: NDArray[np.floating[Any]] = self.inner.relevances_now().copy()
        relevances_now[~np.frombuffer(self._right, np.bool_)] = 0.0
        return relevances_now


class LabelledJudge(JudgeWrapper):
    """A judge that does not learn, but hears what people say: a label settles what its own page is worth, no other's.

    The judgement is another topic's; what pages are worth is what it said of them, unless somebody knew better.

    >>> from lycosa.judges.pattern import RegexJudge
    >>> judge = LabelledJudge(RegexJudge("coral"))
    >>> judge.learn(Visit("a", "page", "ok", 1, relevance=.9)); judge.learn(Visit("b", "page", "ok", 2, relevance=.1))
    >>> judge.add_label(Label("a", False)); judge.add_label(Label("b", True)); judge.relevances_now().round(2).tolist()
    [0.5, 0.5]
    >>> judge.relevances_now() >= judge.threshold
    array([False,  True])
    """

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self._betas = array("d")
        self._nodes = array("q")  # hashes: names of a million pages would take a hundred megabytes
        self._labels: dict[int, bool] = {}

    def judge(self, page: Page, reading: Any) -> Judgement:
        return self.inner.judge(page, reading)

    def learn(self, visit: Visit) -> None:
        """Keep what was said of it; pass it on, unless the topic has learned from this page before."""
        if visit.is_version:
            self._betas.append(visit.relevance)
            self._nodes.append(_hash(visit.node))
        if visit.kind != "revisit":
            self.inner.learn(visit)

    def state(self) -> State:
        judge = state_of(self.inner)
        return {"judge": judge, "betas": np.array(self._betas), "nodes": np.array(self._nodes), "labels": self._labels}

    def restore(self, state: State) -> None:
        restore(self.inner, state["judge"])
        self._betas, self._nodes = array("d", state["betas"].tobytes()), array("q", state["nodes"].tobytes())
        self._labels = dict(state["labels"])

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        return None

    def said_anew(self, now: float) -> ModelUpdate:
        """What it says of all pages, for a log in which another topic was asked about them."""
        return ModelUpdate("", {BETAS: np.array(self._betas)}, now)

    def adopt(self, update: ModelUpdate) -> None:
        """The pages so far were judged anew."""
        relevances = update.data[BETAS]
        self._betas[: len(relevances)] = array("d", relevances.tolist())

    def start(self, seed: Seed) -> None:
        """Where a crawl starts says nothing to a judge that does not learn."""

    def add_label(self, label: Label) -> None:
        """Somebody's word on a page; the last counts."""
        self._labels.pop(_hash(label.node), None)
        if label.relevant is not None:
            self._labels[_hash(label.node)] = label.relevant

    def relevances_now(self) -> NDArray[np.float64]:
        """What was said, or what somebody said instead."""
        relevances_now = np.array(self._betas)
        if self._labels:
            nodes = np.array(self._nodes)
            for at in np.flatnonzero(np.isin(nodes, np.array(list(self._labels)))).tolist():
                relevances_now[at] = settled(float(relevances_now[at]), self._labels[int(nodes[at])], self.threshold)
        return relevances_now


def _hash(node: str) -> int:
    """The same in every process, unlike Python's own."""
    return xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass")) - 2**63


def heeding(judge: Judge) -> Learner:
    """The topic itself if it learns, or one around it that at least hears labels."""
    return judge if isinstance(judge, Learner) else LabelledJudge(judge)
