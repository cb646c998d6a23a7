"""A judge that has been corrected: another topic's judgement, moved by what a person's yes and no have taught.

What the topic itself said is kept beside it: of the page as `untaught` in the data of the visit, of its links as facets
whose names begin so. Once there are other lessons, visits that were recorded long ago are judged again from there,
without reading their pages. Links are moved by the words of their anchors, contexts and addresses, as far as these are
among the words that tell most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.protocols import Topic
from lycosa.core.types import Event, Judgement, Links, Page, Visit
from lycosa.text.addresses import words_of
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.lexicon import Lexicon
from lycosa.text.tokens import OPEN_TOKEN, fold_all, stem_all
from lycosa.topics.around import Around
from lycosa.topics.lessons import Correction, Lesson, Usual, damped, revised, settled

UNTAUGHT = "untaught"
TELLING = 200
"""Words that links are moved by: a common word more or less says nothing in so short a text."""

_BREAK, _SKIP, _PLAIN = -2, -1, 0
_LANGUAGES = 8

Column = NDArray[np.float32]


class Taught(Around):
    """Beta and alphas of another topic, corrected; its threshold stays.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> from lycosa.topics.query import Query
    >>> page, words = Page("ok", marked="Reefs of the Red Sea"), Vocabulary()
    >>> lesson = Lesson(np.array([0, 1]), np.array([1, 2]), 0.0, True)
    >>> topic = Taught(Query("coral"), Correction([lesson], threshold=.1), ["reef", "sea"])
    >>> Query("coral").judge(page, words.read(page)).beta < topic.judge(page, words.read(page)).beta
    True

    `terms` are the words that the correction's numbers stand for, `labels` what was said of which node.
    """

    def __init__(
        self,
        topic: Topic,
        correction: Correction,
        terms: Sequence[str] = (),
        labels: Mapping[str, bool] | None = None,
    ) -> None:
        super().__init__(topic)
        self.correction = correction
        self.labels = labels or {}
        self.weights_of = {
            terms[number]: float(correction.weights[number])
            for number in np.flatnonzero(correction.weights[: len(terms)]).tolist()
        }
        self.language = ENGLISH
        """Of pages that do not say theirs."""
        self._known: tuple[Sequence[str], int, NDArray[np.float64]] = ([], 0, np.zeros(0))
        self._glance = Glance(self.weights_of, correction.reach)

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on."""
        base = getattr(self.topic, "fingerprint", getattr(self.topic, "weights", ""))
        lessons = self.correction.weights.tobytes() + np.float64(self.correction.level).tobytes()
        return base, xxhash.xxh3_64_hexdigest(lessons)

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Ask the topic, then correct it."""
        said = self.topic.judge(page, reading)
        if not self.correction.lessons:
            return said
        beta, vocabulary = said.beta, getattr(reading, "vocabulary", None)
        if vocabulary is not None:
            said.beta = revised(beta, self._delta(vocabulary.terms, reading.terms.ids, reading.terms.counts))
        said.alphas, said.facets = self._links(page.links, said.alphas, said.facets, page.language)
        said.data = {**said.data, UNTAUGHT: float(beta)}
        return said

    def rejudge(self, visit: Visit, terms: Sequence[str]) -> Visit:
        """The visit as it would have been judged with these lessons; `terms` are the crawl's words up to it.

        The visit itself is left as it is. A page that somebody labelled lies on the side of the threshold where they
        put it; one in a wrong language stays at 0.
        """
        if visit.outcome != "ok" or visit.kind not in ("page", "sitemap", "revisit"):
            return visit
        if not self.correction.lessons and UNTAUGHT not in visit.data:
            return visit
        beta, alphas, facets = said(visit)
        again = copy(visit)
        if visit.is_version and "language" not in visit.flags:
            again.beta = revised(beta, self._delta(terms, visit.terms.ids, visit.terms.counts))
            again.beta = settled(again.beta, self.labels.get(visit.node), self.threshold)
        again.links = copy(visit.links)
        again.links.alphas, again.links.facets = self._links(visit.links, alphas, facets, visit.language)
        return again

    def again(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of a log, from the first, their visits judged again."""
        terms: list[str] = []
        for event in events:
            if isinstance(event, Visit):
                terms += event.terms.new
                yield self.rejudge(event, terms)
            else:
                yield event

    def _delta(self, terms: Sequence[str], ids: NDArray[Any], counts: NDArray[Any]) -> float:
        if not self.correction.lessons or not len(ids):
            return 0.0
        whose, known, column = self._known
        if whose is not terms:
            known = 0
        if known < len(terms):
            column = fit(column, len(terms))
            column[known : len(terms)] = [self.weights_of.get(term, 0.0) for term in terms[known:]]
            self._known = terms, len(terms), column
        return self.correction.moved(float(damped(counts) @ column[ids]))

    def _links(
        self, links: Links, alphas: Column, facets: Mapping[str, Column], declared: str
    ) -> tuple[Column, dict[str, Column]]:
        """Alphas and facets, moved; and as they were."""
        if not self.correction.lessons:
            return alphas, dict(facets)
        language = code_of(declared, self.language)
        moved = {UNTAUGHT: alphas, **{f"{UNTAUGHT} {name}": column for name, column in facets.items()}}
        if not len(links):
            return alphas, {**facets, **moved}
        for name, column in facets.items():
            texts = links.contexts if name == "context" else [words_of(url) for url in links.urls]
            moved[name] = _moved(column, self._glance.deltas(texts, language))
        return _moved(alphas, self._glance.deltas(links.anchors, language)), moved


class Teacher:
    """Gathers lessons: show it the events of a crawl, from the first, and it knows what the labelled pages were like.

    A page that was looked at again teaches as it was last seen.
    """

    def __init__(self, labels: Mapping[str, bool]) -> None:
        self.labels = labels
        self.terms: list[str] = []
        self.usual = Usual()
        self._found: dict[str, Visit] = {}

    def see(self, event: Event) -> None:
        """One more event."""
        if not isinstance(event, Visit):
            return
        self.terms += event.terms.new
        if event.is_page:
            self.usual.add(event.terms.ids, event.terms.counts)
        if event.is_version and event.node in self.labels:
            self._found[event.node] = event

    def lessons(self) -> list[Lesson]:
        """In the order of the labels; those of pages that the crawl does not have are left out."""
        found = self._found
        return [
            Lesson(found[node].terms.ids, found[node].terms.counts, said(found[node])[0], relevant)
            for node, relevant in self.labels.items()
            if node in found
        ]

    def teach(self, topic: Topic) -> Taught:
        """The topic, corrected."""
        correction = Correction(self.lessons(), topic.threshold, self.usual.mean())
        return Taught(topic, correction, self.terms, self.labels)


def said(visit: Visit) -> tuple[float, Column, dict[str, Column]]:
    """What the topic itself said of a visit: beta, alphas and facets, from before anything was learned."""
    facets, beta = visit.links.facets, float(visit.data.get(UNTAUGHT, visit.beta))
    if UNTAUGHT not in facets:
        return beta, visit.links.alphas, facets
    own = {
        name.removeprefix(f"{UNTAUGHT} "): column for name, column in facets.items() if name.startswith(f"{UNTAUGHT} ")
    }
    return beta, facets[UNTAUGHT], own


class Glance:
    """The words that tell most, looked for in short texts."""

    def __init__(self, weights: Mapping[str, float], reach: float) -> None:
        telling = sorted(weights.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:TELLING]
        self._number = {stem: number for number, (stem, _) in enumerate(telling, 1)}
        self._weight = np.array([0.0, *(weight for _, weight in telling)])
        self._reach = reach
        self._lexicons: dict[str, Lexicon] = {}

    def deltas(self, texts: Sequence[str], language: str) -> NDArray[np.float64]:
        """By how much each text moves a score: the weights of its words, by the root of how many words it has."""
        lexicon = self._lexicons.get(language)
        if lexicon is None:
            if len(self._lexicons) >= _LANGUAGES:
                self._lexicons.clear()
            lexicon = Lexicon(lambda tokens: self._numbers(tokens, language), bits=16, most=50_000)
            self._lexicons[language] = lexicon
        ids = lexicon.ids(fold_all(texts, language))
        owners, words = np.cumsum(ids == _BREAK), ids >= _PLAIN
        owners, ids = owners[words], ids[words]
        sums = np.bincount(owners, self._weight[ids], len(texts))
        return self._reach * sums / np.sqrt(np.maximum(np.bincount(owners, minlength=len(texts)), 1))

    def _numbers(self, tokens: list[bytes], language: str) -> list[int]:
        return [
            _BREAK if token == OPEN_TOKEN else self._number.get(stem, _PLAIN) if stem else _SKIP
            for token, stem in zip(tokens, stem_all(tokens, language), strict=True)
        ]


def _moved(column: Column, deltas: NDArray[np.float64]) -> Column:
    """`revised`, for many."""
    moved: Column = np.clip(column + deltas, np.minimum(column, 0.0), np.maximum(column, 1.0)).astype(np.float32)
    return moved
