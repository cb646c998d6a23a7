"""Base classes of judges, and wrappers that add labels and languages to any judge."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.protocols import Judge, Learner
from lycosa.core.state import State, restore, state_of
from lycosa.core.types import Judgement, Label, Links, ModelUpdate, Page, Seed, Visit, apply_label
from lycosa.text.tokens import url_words

FACETS = ("context", "url")
# facet: relevance of the context of a link, judged as if it were a page; differs from "context" only for classifiers
CONTEXT_SCORE = "context_score"


class StatelessJudge:
    """Base class of judges that learn nothing from visits; word statistics live in the vocabulary."""

    threshold: float
    facets: tuple[str, ...] = ()  # additional judgements of links: "context", "url"

    def learn(self, visit: Visit) -> None:
        pass

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass


def set_facets(judge: Judge, wanted: Sequence[str]) -> None:
    """Set the facets that a strategy needs, under the judge's own names; no effect on a judge without facets."""
    if hasattr(judge, "facets"):
        judge.facets = offered_facets(judge, wanted)


def offered_facets(judge: Judge, wanted: Sequence[str]) -> tuple[str, ...]:
    """Translate the facets that a strategy needs into those that the judge offers.

    >>> offered_facets(StatelessJudge(), ("context", "context_score", "url"))
    ('context', 'url')
    """
    known = getattr(judge, "offers", FACETS)
    return tuple(dict.fromkeys("context" if name == CONTEXT_SCORE not in known else name for name in wanted))


def facet_texts(links: Links, facet: str) -> list[str]:
    """Return the texts that a facet is computed from: the context of each link, or the words of its URL."""
    return links.contexts if facet == "context" else [url_words(url) for url in links.urls]


RELEVANCES = "betas"  # key in a model update: relevance of each page version so far


class JudgeWrapper:
    """Base class of judges that wrap another one. Subclasses add `judge` and `learn`."""

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
    """Wrapper that sets the relevance of pages flagged as being in an unwanted language to 0.

    >>> from lycosa.judges.pattern import RegexJudge
    >>> judge = LanguageJudge(with_labels(RegexJudge("coral")))
    >>> judge.judge(Page("ok", marked="coral", flags=["language"]), None).relevance
    0.0
    """

    inner: Learner

    def __init__(self, judge: Learner) -> None:
        super().__init__(judge)
        self._is_right_language = bytearray()

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge the page and apply the flag; links keep their relevance, since they may lead to the right language."""
        judgement = self.inner.judge(page, reading)
        if "language" in page.flags:
            judgement.relevance = 0.0
        return judgement

    def learn(self, visit: Visit) -> None:
        if visit.is_version:
            self._is_right_language.append("language" not in visit.flags)
        self.inner.learn(visit)

    def state(self) -> State:
        return {"judge": state_of(self.inner), "right": bytes(self._is_right_language)}

    def restore(self, state: State) -> None:
        restore(self.inner, state["judge"])
        self._is_right_language = bytearray(state["right"])

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
        relevances_now[~np.frombuffer(self._is_right_language, np.bool_)] = 0.0
        return relevances_now


class LabelledJudge(JudgeWrapper):
    """Wrapper that lets people label pages for a judge that does not learn. A label affects its own page only.

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
        self._relevances = array("d")
        self._nodes = array("q")  # hashes, since the URLs of a million pages would take 100 MB
        self._labels: dict[int, bool] = {}

    def judge(self, page: Page, reading: Any) -> Judgement:
        return self.inner.judge(page, reading)

    def learn(self, visit: Visit) -> None:
        """Store the relevance of a page version; the inner judge learns from the first version of a page only."""
        if visit.is_version:
            self._relevances.append(visit.relevance)
            self._nodes.append(_node_hash(visit.node))
        if visit.kind != "revisit":
            self.inner.learn(visit)

    def state(self) -> State:
        judge = state_of(self.inner)
        return {
            "judge": judge,
            "betas": np.array(self._relevances),
            "nodes": np.array(self._nodes),
            "labels": self._labels,
        }

    def restore(self, state: State) -> None:
        restore(self.inner, state["judge"])
        self._relevances, self._nodes = array("d", state["betas"].tobytes()), array("q", state["nodes"].tobytes())
        self._labels = dict(state["labels"])

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        return None

    def full_update(self, now: float) -> ModelUpdate:
        """Return an update with the relevance of every page, for a log written by another judge."""
        return ModelUpdate("", {RELEVANCES: np.array(self._relevances)}, now)

    def adopt(self, update: ModelUpdate) -> None:
        relevances = update.data[RELEVANCES]
        self._relevances[: len(relevances)] = array("d", relevances.tolist())

    def start(self, seed: Seed) -> None:
        """Ignore seeds, since the judge does not learn."""

    def add_label(self, label: Label) -> None:
        """Store a label; the last one of a page counts, and `relevant=None` removes it."""
        self._labels.pop(_node_hash(label.node), None)
        if label.relevant is not None:
            self._labels[_node_hash(label.node)] = label.relevant

    def relevances_now(self) -> NDArray[np.float64]:
        """Return the relevance of every page version, corrected by labels."""
        relevances_now = np.array(self._relevances)
        if self._labels:
            nodes = np.array(self._nodes)
            for at in np.flatnonzero(np.isin(nodes, np.array(list(self._labels)))).tolist():
                label = self._labels[int(nodes[at])]
                relevances_now[at] = apply_label(float(relevances_now[at]), label, self.threshold)
        return relevances_now


def _node_hash(node: str) -> int:
    """Hash a URL to the same number in every process, unlike `hash`."""
    return xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass")) - 2**63


def with_labels(judge: Judge) -> Learner:
    return judge if isinstance(judge, Learner) else LabelledJudge(judge)
