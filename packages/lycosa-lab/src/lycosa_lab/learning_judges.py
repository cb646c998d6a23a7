"""Simulated crawls with a judge that learns, such as the default judge of `lycosa crawl`.

Its judgement of a page depends on the pages before, so it can't be precomputed. The expensive work is the same in every
crawl (decompressing a page, tokenising it, embedding it) and is done once per corpus by `CorpusReadings`. The rest,
from numbering words in the order of the crawl to model updates, runs the production code, so that picks equal those of
the engine (asserted by a test).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.assessor import Assessor
from lycosa.core.budget import CrawlCounters
from lycosa.core.errors import InputError
from lycosa.core.files import CrashMarker
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.protocols import Judge, Learner, TrapFilter, VisitScheduler
from lycosa.core.table import Table
from lycosa.core.types import Page, Seed, Task, Terms, Visit
from lycosa.judges.base import set_facets
from lycosa.judges.probability import Probability
from lycosa.judges.probability.judge import vector_of
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text import embeddings
from lycosa.text.vocabulary import BREAK, Head, PageWords, Vocabulary
from lycosa_lab.cache import Columns, corpus_digest, digest, load, save
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import judge_maker
from lycosa_lab.subjects import HuntSubject


class CorpusReadings(Vocabulary):
    """All pages of a corpus as word numbers in page order, and the vector of each page."""

    def __init__(
        self, index: CorpusIndex, words: list[str], languages: list[str], columns: dict[str, NDArray[Any]]
    ) -> None:
        super().__init__()
        self.index, self.words, self.languages = index, words, languages
        self.start, self.every, self.vectors = columns["start"], columns["every"], columns["vectors"]
        self.link_words: dict[str, Any] = {}
        # cached pages, about 50 kB each
        self._page, self._reading = lru_cache(10_000)(index.page), lru_cache(10_000)(self._read)
        self._append(words)
        self._fit()

    @classmethod
    def of(
        cls, index: CorpusIndex, out: Path | None = None, progress: ProgressCallback = no_progress
    ) -> CorpusReadings:
        try:
            vectors = embeddings.vectors_digest()
        except InputError:  # embeddings are not installed
            vectors = ""
        path = out / "readings" / f"{digest(corpus_digest(index), vectors)}.npz" if out is not None else None
        kept = load(path)
        (words, languages), columns = kept or _read_all(index, progress)
        if path is not None and kept is None:
            save(path, [words, languages], **columns)
        return cls(index, words, languages, columns)

    def page(self, node: int) -> Page:
        """Return a page whose links may be modified."""
        page = self._page(node)
        return replace(page, links=replace(page.links, facets={}), flags=[], data={})

    def reading(self, page: Page) -> tuple[PageWords, NDArray[np.int32]]:
        """Return a page by the corpus's word numbers, and its unique words in order of first occurrence."""
        return self._reading(self.index.number_of[page.node])

    def _read(self, node: int) -> tuple[PageWords, NDArray[np.int32]]:
        page = self._page(node)
        reading, (_, every, _) = self.read(page), self.numbered(page)
        words, first = np.unique(every[every >= 0], return_index=True)
        return reading, words[np.argsort(first)]

    def numbered(self, page: Page) -> tuple[str, NDArray[np.int32], Head | None]:
        node = self.index.number_of[page.node]
        return self.languages[node], self.every[self.start[node] : self.start[node + 1]], None

    def vector(self, page: Page, language: str, head: Head | None) -> bytes:
        return bytes(self.vectors[self.index.number_of[page.node]])


def _read_all(index: CorpusIndex, progress: ProgressCallback) -> tuple[Any, Columns]:
    words, languages, every, vectors = Vocabulary(), [], [], []
    for node in range(len(index)):
        page = index.page(node)
        language, numbers, head = words.numbered(page)
        languages.append(language)
        every.append(numbers)
        vectors.append(np.frombuffer(vector_of(page, language, head), np.int8))
        progress("reading pages", node + 1, len(index))
    return (words.terms, languages), {
        "start": np.concatenate([[0], np.cumsum([len(numbers) for numbers in every])]).astype(np.int64),
        "every": np.concatenate([*every, np.zeros(0, np.int32)]),
        "vectors": np.array(vectors, np.int8).reshape(len(index), embeddings.DIMENSIONS),
    }


class CrawlWords(Vocabulary):
    """A crawl's vocabulary built from readings: words are numbered in the order in which the crawl meets them."""

    def __init__(self, readings: CorpusReadings) -> None:
        super().__init__()
        self._readings = readings
        known = len(readings.words)
        # negative numbers (tokens that are not terms) follow the words and map to themselves
        self.number = np.full(known - BREAK, -1, np.int32)
        self.number[known:] = np.arange(BREAK, 0)

    def read(self, page: Page) -> PageWords:
        """Return the page's words as tokenising would, by renumbering known ones."""
        reading, order = self._readings.reading(page)
        new = order[self.number[order] < 0]
        self.number[new] = np.arange(len(self.terms), len(self.terms) + len(new))
        stems = [self._readings.words[word] for word in new.tolist()]
        self._append(stems)
        self._fit()
        ids = self.number[reading.terms.ids]
        sort = ids.argsort()
        terms = Terms(ids[sort].astype(np.uint32), reading.terms.counts[sort], stems, reading.terms.marks[sort])
        return NumberedReading(reading, terms, self)


class NumberedReading(PageWords):
    """A reading whose word sequence is renumbered on demand."""

    __slots__ = ("_ids", "_of")

    def __init__(self, of: PageWords, terms: Terms, words: CrawlWords) -> None:
        self._of = of
        self._ids: NDArray[np.int32] | None = None
        self.terms, self.simhash, self.vocabulary, self.language = terms, of.simhash, words, of.language
        self.head = None

    @property
    def ids(self) -> NDArray[np.int32]:  # type: ignore[override]
        if self._ids is None:
            assert isinstance(self.vocabulary, CrawlWords)
            self._ids = self.vocabulary.number[self._of.ids]
        return self._ids


@dataclass
class LearningJudgements:
    index: CorpusIndex
    readings: CorpusReadings
    make: Callable[[], Judge]
    threshold: float
    probability: bool
    stems: dict[str, float]
    data: Sequence[bytes] = ()
    exact: bool = False

    def begin(self, seeds: Iterable[int], wants: Sequence[str] = ()) -> TrialJudge:
        return TrialJudge(self, seeds, wants)

    @cached_property
    def relevance(self) -> NDArray[np.floating[Any]]:
        """Relevance of each page by the judge after it has seen all pages, which no crawl knows."""
        judge = self.begin(())
        relevance = np.array([judge.visit(node, node + 1).relevance for node in range(len(self.index))])
        relevances_now = judge.apply_update(force=True)
        return relevance if relevances_now is None else relevances_now


class TrialJudge:
    """Judge of one crawl; pages must be passed in the order of its visits."""

    def __init__(self, guide: LearningJudgements, seeds: Iterable[int], wants: Sequence[str]) -> None:
        self.index, self._readings = guide.index, guide.readings
        self._judge, self._reader = guide.make(), CrawlWords(guide.readings)
        set_facets(self._judge, wants)
        self._learner = self._judge if isinstance(self._judge, Learner) else None
        if self._learner is not None:
            for node in seeds:
                self._learner.start(Seed(self.index.names[node]))
        self._assessor = Assessor(
            self._judge,
            "",
            Table(),
            CrawlCounters(),
            reader=self._reader,
            trap_filter=TrapFilter(),
            scheduler=VisitScheduler(),
            mark=CrashMarker(),
        )
        self._link_relevances = np.zeros(0, np.float32)
        self.seconds = 0.0

    @property
    def words(self) -> list[str]:
        return self._reader.terms

    def visit(self, node: int, pick: int, arm: str = "", score: float = 0.0) -> Visit:
        began = process_time()
        task = Task(self.index.names[node], pick=pick, arm=arm, priority=score)
        visit = self._assessor.assess(task, self._readings.page(node))
        self._reader.learn(visit)
        self._judge.learn(visit)
        self._link_relevances = self.index.strongest(node, visit.links.link_relevances)
        self.seconds += process_time() - began
        return visit

    def apply_update(self, force: bool = False) -> NDArray[np.floating[Any]] | None:
        """Apply a pending model update; return the relevance of all visited pages in order, or None."""
        if self._learner is None:
            return None
        began = process_time()
        update = self._learner.next_update(0.0, force)
        if update is None:
            return None
        self._learner.adopt(update)
        self.seconds += process_time() - began
        return self._learner.relevances_now()

    def link_relevances(self, node: int) -> NDArray[np.float32]:
        return self._link_relevances


def learning_judgements(
    index: CorpusIndex, subject: HuntSubject, description: str, judge: str, readings: CorpusReadings
) -> LearningJudgements:
    make = judge_maker(index, subject, description, judge)

    def make_with_readings() -> Judge:
        judge_ = make()
        query = judge_.query if isinstance(judge_, Probability) else judge_
        if isinstance(judge_, Probability):
            judge_.vector_of = readings.vector
        if isinstance(query, VectorJudge):
            query.link_words = readings.link_words
        return judge_

    first = make_with_readings()
    return LearningJudgements(
        index, readings, make_with_readings, first.threshold, bool(getattr(first, "probability", False)),
        dict(getattr(first, "weights", {})) if description == "examples" else {},
    )  # fmt: skip
