"""The probability that a person who asked for this topic would say yes to a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Label, Lesson, Page, Seed, Terms, Visit
from lycosa.text.addresses import words_of
from lycosa.text.embeddings import DIMENSIONS, digest, vectors
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.quality import quality
from lycosa.text.tokens import stems as stems_of
from lycosa.text.vocabulary import Reading, Vocabulary
from lycosa.topics.embedding import COMMON, STEPS, packed
from lycosa.topics.examples import centroid
from lycosa.topics.phrases import Phrases, folded
from lycosa.topics.probability.asking import asked
from lycosa.topics.probability.evidence import SLOTS, Evidence, Looking, slot_of
from lycosa.topics.probability.line import expected, line, moved
from lycosa.topics.probability.pages import AT_ONCE, Pages, placed, values
from lycosa.topics.probability.regression import fitted, sigmoid
from lycosa.topics.query import Query

THRESHOLD = 0.5

SHOWN_LIKENESS, GUESSED_LIKENESS = 1.8, 1.0
"""Log odds for each unit of likeness to pages that were shown, or that were taken for relevant as none was."""
ANSWER = np.array([1.6, 1.0, 0.1, 4.5], np.float32)
"""Log odds for each unit of an answer (`ANSWERS`)."""

UNTAUGHT, UNTAUGHT_LINE = np.array([1.6, 1.5, 0.1, 7.0], np.float32), 4.1
"""The same before the first lesson, when nothing is known but the words; and the line then."""

FIRST, GROWTH = 10, 1.5
"""Pages after which it learns for the first time; and again whenever they are so many times as many."""

SHOWN, OTHERS, LIKELY = 60, 150, 10
"""Pages that it learns from: known to be relevant, drawn from the others, and taken for relevant if none is known."""

WORDS = 1000
"""Features of relevant pages that are weighed."""

TYPED, EXAMPLE, LABELLED = 1.0, 1.5, 3.0
"""How much a start page, an example and a label count."""

ASIDE, SCALE = 0.3, 150.0
"""The share of pages, by the words alone, that are not taken for irrelevant at first; and what either side weighs."""

WHERE = ("in its text", "in its title or address", "in its headings or first paragraphs", "by meaning")
"""Of the answers, for explanations."""

NAMED = 8
"""Words and links that an explanation names."""

READ = 3000
"""Characters of a page that its vector is made of."""

AGAINST, STUFFED = 4.0, 4.0
"""Log odds that words which speak against a page cost, and stuffing for each factor of e in quality below .5."""

Column = NDArray[np.float32]


class _Model(NamedTuple):
    """What a lesson says."""

    slots: NDArray[np.int32]
    weights: Column
    """Of each slot."""
    direction: Column
    level: float
    mean: Column
    line: float
    likeness: float
    """What a unit of d counts."""
    alone: dict[int, float]
    """d of the pages that were learned from, each as if it had not been."""
    idf: Column


class Probability:
    """Beta is a probability: .5 or more counts as relevant, unless told otherwise. Links are judged as `vector` does.

    A page's log odds are how much it is like pages that are known to be relevant, and how it answers the words,

        c d + ANSWER . (body, head, lead, meaning) - line

    d is learned (regression.py): positives are the start pages, as far as the words agree, examples and pages that
    somebody said yes to; negatives are drawn from the pages so far, less those that look relevant, and what somebody
    said no to. Where nobody has shown a page, the ten that answer the words best stand in. The line is drawn where
    line.py expects as many pages above it as are relevant. Both happen after 10 pages, 15, 23, ...; what came of it is
    a lesson, an event of the log, and from then on all pages so far are worth what it says of them.

    A topic may have "phrases in quotes" and -words that speak against a page.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> topic, words = Probability("coral reef"), Vocabulary()
    >>> reef = Page("ok", title="Coral reefs", main="Coral reefs are built by corals.", lead="Coral reefs are built")
    >>> rail = Page("ok", title="Railways", main="Trains run on rails.", lead="Trains run on rails.")
    >>> [topic.judge(page, words.read(page)).beta >= topic.threshold for page in (reef, rail)]
    [True, False]
    """

    probability = True

    def __init__(
        self,
        words: str | Mapping[str, float] = "",
        threshold: float = THRESHOLD,
        *,
        examples: Mapping[str, Any] | None = None,
    ) -> None:
        self.threshold = threshold
        self.asked = asked(words)
        self.words: str | Mapping[str, float] = words if isinstance(words, Mapping) else self.asked.text
        shown = list((examples or {}).get("pages", ()))
        if not self.asked.words and not shown:
            raise InputError("the topic is empty: say what to hunt in a few words, or with --example PAGE")
        stems: dict[str, float] = dict((examples or {}).get("centroid", {}))
        if stems and self.asked.words:
            heaviest = max(stems.values(), default=1.0)
            for stem, weight in Query(self.asked.words).weights.items():
                stems[stem] = stems.get(stem, 0.0) + weight * heaviest
        self.query = Query(stems, stemmed=True) if stems else Query(self.words)
        """Judges links."""
        self.notes: list[str] = []
        self.meaning = _meaning(self.asked.words, self.notes)
        self._looking = Looking(self.asked.words, self.asked.against, self.meaning)
        self._phrases = Phrases(dict.fromkeys(self.asked.phrases, 1.0)) if self.asked.phrases else None
        self._examples = Pages()
        self._shown = {str(example["node"]) for example in shown if example["node"]}
        for example in shown:
            self._examples.add(_example(example, self._looking), 1.0, True)
        self._pages = Pages()
        self._row_of: dict[str, int] = {}
        self._starts: set[str] = set()
        self._labels: dict[str, bool] = {}
        self._model: _Model | None = None
        self._next = FIRST
        self._pending: tuple[Terms, Evidence] | None = None

    @property
    def facets(self) -> tuple[str, ...]:
        """What is judged of links."""
        return self.query.facets

    @facets.setter
    def facets(self, names: tuple[str, ...]) -> None:
        self.query.facets = names

    @property
    def weights(self) -> Mapping[str, float]:
        """The stems that links are judged by."""
        return self.query.weights

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        return self.asked, self.query.weights, self._examples.count, digest() if self.meaning is not None else ""

    @staticmethod
    def from_examples(pages: Iterable[Page]) -> dict[str, Any]:
        """What the log keeps of example pages: the words that they share, and of each what can be seen of it."""
        found, words = [page for page in pages if page.main or page.marked], Vocabulary()
        kept = []
        for page in found:
            reading = words.read(page)
            terms = reading.terms
            if len(terms.ids):
                kept.append(
                    {
                        "stems": [words.terms[number] for number in terms.ids.tolist()],
                        "counts": terms.counts.tolist(),
                        "marks": terms.marks.tolist(),
                        "node": page.node,
                        "links": list(dict.fromkeys(page.links.urls))[:1000],
                        "language": reading.language,
                        "vector": _vector(page, reading.language),
                    }
                )
        return {"centroid": centroid(found), "pages": kept}

    # -- judging -----------------------------------------------------------------------------------------------

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Score the page, and each link by its anchor."""
        assert isinstance(reading, Reading), "this judge needs a reader; pass reader=Vocabulary() to the engine"
        judgement = self.query.judge(page, reading)
        data: dict[str, Any] = {"vector": _vector(page, reading.language)} if self.meaning is not None else {}
        if (good := quality(reading.ids)) < 0.999:
            data["quality"] = round(good, 3)
        if self._phrases is not None:
            text = folded(f"{page.title}\n{page.main or page.text}")
            data["phrases"] = round(self._phrases.contained(text) / len(self.asked.phrases), 3)
        looking = self._looking
        looking.meet(reading.vocabulary.terms[looking.terms :])
        evidence = looking.see(
            looking.slots(reading.terms), reading.terms, page.node, page.links.urls, reading.language, data
        )
        self._pending = reading.terms, evidence
        judgement.beta, judgement.data = self._worth(evidence), data
        return judgement

    def _worth(self, evidence: Evidence) -> float:
        if not len(evidence.slots.nonzero()[0]):
            return 0.0
        odds = float(evidence.answers @ (UNTAUGHT if self._model is None else ANSWER))
        if self._model is None:
            odds -= UNTAUGHT_LINE
        else:
            model = self._model
            weights = values(evidence.slots[None], evidence.amounts[None], model.idf)[0]
            d = float(weights @ self._weight[evidence.slots]) + model.level
            d += float(placed(evidence.vector[None], model.mean)[0] @ model.direction)
            odds += model.likeness * d - model.line
        odds -= AGAINST * evidence.against + STUFFED * max(0.0, -math.log(max(2.0 * evidence.quality, 1e-4)))
        return float(sigmoid(np.array(odds)).astype(np.float32))

    # -- what is learned ---------------------------------------------------------------------------------------

    def learn(self, visit: Visit) -> None:
        """Take in a recorded visit."""
        if visit.kind == "redirect" and visit.node in self._starts and len(visit.links):
            self._starts.add(visit.links.urls[0])
        pending, self._pending = self._pending, None
        live = pending is not None and pending[0].new is visit.terms.new
        if not live:
            self._looking.meet(visit.terms.new)
        if not visit.is_version:
            return
        if live and pending is not None:
            evidence = pending[1]
        else:
            looking = self._looking
            language = code_of(visit.language, ENGLISH)
            evidence = looking.see(
                looking.slots(visit.terms), visit.terms, visit.node, visit.links.urls, language, visit.data, visit.title
            )
        first = visit.is_page and not visit.same_as and bool(len(visit.terms.ids))
        row = self._pages.add(evidence, visit.beta, first)
        self._row_of[visit.node] = row
        if first:
            self._looking.count(evidence, int(visit.terms.counts.sum()))

    def start(self, seed: Seed) -> None:
        """A page that the user starts from: usually one of those that are wanted."""
        if seed.kind == "page":
            self._starts.add(seed.node)

    def hear(self, label: Label) -> None:
        """A person's word on a page."""
        self._labels.pop(label.node, None)
        if label.relevant is not None:
            self._labels[label.node] = label.relevant
        if self._model is None:
            self._settle()

    def worths(self) -> Column:
        """What each version of a page is worth now."""
        return self._pages.worth[: self._pages.count]

    def lesson(self, now: float, force: bool = False) -> Lesson | None:
        """What the pages so far teach; only after so many more of them."""
        count = int(np.count_nonzero(self._pages.first[: self._pages.count]))
        if count < self._next and not force:
            return None
        self._next = max(self._next, math.ceil(GROWTH * count))
        return Lesson("", self._studied(), now) if count >= 2 else None

    def adopt(self, lesson: Lesson) -> None:
        """Judge by it: new pages from now on, and all that are known."""
        model = self._model = _model(lesson.data, self._looking.idf())
        self._weight = np.zeros(SLOTS, np.float32)
        self._weight[model.slots] = model.weights
        pages = self._pages
        first = int(np.count_nonzero(pages.first[: pages.count]))
        self._next = max(FIRST, math.ceil(GROWTH * first))
        d = self._likeness(np.arange(pages.count), model)
        rows = np.frombuffer(lesson.data["rows"], np.int32)
        d[rows] = np.frombuffer(lesson.data["alone"], np.float32)
        odds = np.float32(model.likeness) * d + pages.answers[: pages.count] @ ANSWER - np.float32(model.line)
        stuffing = np.log(np.maximum(2.0 * pages.quality[: pages.count], 1e-4))
        odds += AGAINST * -pages.against[: pages.count] + STUFFED * np.minimum(stuffing, 0.0)
        worth = sigmoid(odds.astype(np.float64)).astype(np.float32)
        pages.worth[: pages.count] = np.where(pages.slots[: pages.count].any(axis=1), worth, np.float32(0.0))
        self._settle()

    def reasons(self, visit: Visit, stems: Sequence[str]) -> list[tuple[str, float]]:
        """Why a page that is known is worth what it is: log odds that add up to it, the weightiest first.

        `stems` are all words of the crawl, by number. A label stands alone: on its own page it is the last word.
        """
        row = self._row_of.get(visit.node)
        if row is None:
            return []
        if visit.node in self._labels:
            return [("somebody said yes" if self._labels[visit.node] else "somebody said no", math.inf)]
        pages, model = self._pages, self._model
        rates = (UNTAUGHT if model is None else ANSWER).tolist()
        told = [
            (f"the topic's words {where}", rate * float(answer))
            for where, rate, answer in zip(WHERE, rates, pages.answers[row].tolist(), strict=True)
        ]
        if model is None:
            told.append(("before anything is learned", -UNTAUGHT_LINE))
        else:
            told += self._likenesses(visit, row, stems, model)
            told.append(("the line between yes and no", -model.line))
        told.append(("words that speak against it", -AGAINST * float(pages.against[row])))
        told.append(("it looks stuffed", STUFFED * min(0.0, math.log(max(2.0 * float(pages.quality[row]), 1e-4)))))
        return sorted(((what, odds) for what, odds in told if odds), key=lambda pair: -abs(pair[1]))

    def _likenesses(self, visit: Visit, row: int, stems: Sequence[str], model: _Model) -> list[tuple[str, float]]:
        """What likens a page to those that are known to be relevant: words, words of its address, links, meaning."""
        slots = self._pages.slots[row]
        at = np.array([row])
        each = model.likeness * (self._pages.values(at, model.idf)[0] * self._weight[slots])
        name_of = {slot_of(stems[number]): stems[number] for number in visit.terms.ids.tolist()}
        for stem in stems_of(words_of(visit.node), code_of(visit.language, ENGLISH)):
            name_of[slot_of(f"address {stem}")] = f"{stem} in the address"
        for url, anchor in zip(visit.links.urls, visit.links.anchors, strict=True):
            name_of[slot_of(f"link {url}")] = f"a link to {anchor or url}"
        best = [number for number in np.argsort(-np.abs(each))[:NAMED].tolist() if each[number]]
        told = [(f"like relevant pages: {name_of.get(int(slots[n]), 'a word')}", float(each[n])) for n in best]
        near = model.likeness * float(self._pages.placed(at, model.mean)[0] @ model.direction)
        rest = float(each.sum()) - sum(odds for _, odds in told)
        told += [("like relevant pages: other words and links", rest), ("like relevant pages: meaning", near)]
        told.append(("pages in general", model.likeness * model.level))
        said = sum(odds for _, odds in told) / model.likeness
        alone = float(model.alone.get(row, said))
        return [*told, ("less what it taught itself", model.likeness * (alone - said))]

    def _settle(self) -> None:
        """On their own pages people have the last word."""
        for node, yes in self._labels.items():
            if (row := self._row_of.get(node)) is not None:
                self._pages.worth[row] = 1.0 if yes else 0.0

    def _likeness(self, rows: NDArray[np.intp], model: _Model) -> Column:
        """d, of many pages."""
        found = np.zeros(len(rows), np.float32)
        for begin in range(0, len(rows), AT_ONCE):
            some = rows[begin : begin + AT_ONCE]
            weighed = self._pages.values(some, model.idf) * self._weight[self._pages.slots[some]]
            near = self._pages.placed(some, model.mean) @ model.direction
            found[begin : begin + AT_ONCE] = weighed.sum(axis=1) + near + np.float32(model.level)
        return found

    def _studied(self) -> dict[str, Any]:
        """Fit the regression to the pages so far, and draw the line."""
        pages, count = self._pages, self._pages.count
        known = np.flatnonzero(pages.first[:count])
        asked = pages.answers[:count] @ UNTAUGHT
        rank = _rank(asked[known])
        percentile = np.zeros(count)
        percentile[known] = rank
        shown, weight, refused = self._given(percentile)
        guessed = not len(shown) and not self._examples.count
        if guessed:  # nobody has shown a page: the best answers stand in
            shown = known[np.argsort(-asked[known], kind="stable")[:LIKELY]]
            shown = shown[asked[shown] > 0.0]
            weight = np.full(len(shown), 0.5)
        others = np.setdiff1d(known, np.concatenate([shown, refused]))
        others = others[np.argsort(_shuffled(others), kind="stable")[:OTHERS]]
        idf = self._looking.idf()
        common = np.frombuffer(COMMON, np.int8).astype(np.float32) / np.float32(STEPS)
        off = known[pages.worth[known] < self.threshold]
        some = off[:: max(1, len(off) // 1000)]
        mean = (30.0 * common + pages.vectors[some].astype(np.float32).sum(axis=0) / STEPS) / (30.0 + len(some))
        mean = mean.astype(np.float32)
        rows = np.concatenate([shown, refused, others]).astype(np.intp)
        examples = np.arange(self._examples.count)
        slots = np.concatenate([self._examples.slots[examples], pages.slots[rows]])
        weighed = np.concatenate([self._examples.values(examples, idf), pages.values(rows, idf)])
        vectors_ = np.concatenate([self._examples.placed(examples, mean), pages.placed(rows, mean)])
        e, s, r = len(examples), len(shown), len(refused)
        positive = np.zeros(len(slots), bool)
        positive[: e + s] = True
        weights = np.concatenate([np.full(e, EXAMPLE), weight, np.full(r, LABELLED), np.ones(len(others))])
        telling = _telling(slots[positive], weighed[positive] * weights[positive, None])
        matrix = _dense(slots, weighed, telling)
        kernel = matrix @ matrix.T + vectors_ @ vectors_.T + np.float32(1.0)
        doubtful = np.ones(len(others))
        doubtful[percentile[others] >= 1.0 - ASIDE] = 0.0
        if not doubtful.any():
            doubtful[:] = 1.0
        for _ in range(2):
            used = np.concatenate([weights[: e + s], weights[e + s : e + s + r], doubtful])
            used[: e + s] *= SCALE / max(used[: e + s].sum(), 1e-9)
            used[e + s :] *= SCALE / max(used[e + s :].sum(), 1e-9)
            kept = np.flatnonzero(used > 0.0)
            a, alone = fitted(kernel[np.ix_(kept, kept)].astype(np.float64), positive[kept].astype(float), used[kept])
            d = kernel[:, kept].astype(np.float64) @ a
            d[kept] = alone
            middle = 0.5 * float(np.median(d[: e + s])) if e + s else 0.0
            doubtful = np.maximum(1.0 - sigmoid(d[e + s + r :] - middle), 0.02)
        full = np.zeros(len(slots))
        full[kept] = a
        data: dict[str, Any] = {
            "slots": telling.astype(np.int32).tobytes(),
            "weights": (full @ matrix).astype(np.float32).tobytes(),
            "direction": (full @ vectors_).astype(np.float32).tobytes(),
            "level": float(np.float32(full.sum())),
            "mean": mean.tobytes(),
            "rows": rows.astype(np.int32).tobytes(),
            "alone": d[e:].astype(np.float32).tobytes(),
            "line": 0.0,
            "likeness": GUESSED_LIKENESS if guessed else SHOWN_LIKENESS,
        }
        data["line"] = self._line(data, idf, known, rows, d[:e], s, r)
        return data

    def _given(self, percentile: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[np.intp]]:
        """Rows that are known to be relevant, what each counts, and rows that are known not to be."""
        shown: dict[int, float] = {}
        refused = []
        for node in sorted(self._starts):  # as far as the words agree: a portal may be among them
            row = self._row_of.get(node)
            if row is not None and self._pages.first[row]:
                shown[row] = TYPED * (0.2 + 0.8 * percentile[row] if self.asked.words else 1.0)
        for node in sorted(self._shown):  # examples that the crawl has met
            row = self._row_of.get(node)
            if row is not None and self._pages.first[row]:
                shown[row] = EXAMPLE
        for node, yes in self._labels.items():
            row = self._row_of.get(node)
            if row is None or not self._pages.first[row]:
                continue
            shown.pop(row, None)
            if yes:
                shown[row] = LABELLED
            else:
                refused.append(row)
        chosen = sorted(shown, key=lambda row: (-shown[row], -row))[:SHOWN]
        weights = np.array([shown[row] for row in chosen])
        return np.array(chosen, np.intp), weights, np.array(refused[-SHOWN:], np.intp)

    def _line(
        self,
        data: dict[str, Any],
        idf: Column,
        known: NDArray[np.intp],
        rows: NDArray[np.intp],
        examples: NDArray[Any],
        shown: int,
        refused: int,
    ) -> float:
        """Where the line lies for this lesson."""
        pages, model = self._pages, _model(data, idf)
        self._weight, before = np.zeros(SLOTS, np.float32), getattr(self, "_weight", None)
        self._weight[model.slots] = model.weights
        d = np.zeros(pages.count)
        d[known] = self._likeness(known, model)
        if before is not None:
            self._weight = before
        d[rows] = np.frombuffer(data["alone"], np.float32)
        scores = model.likeness * d + pages.answers[: pages.count] @ ANSWER
        scores -= AGAINST * pages.against[: pages.count]
        of_examples = model.likeness * examples + self._examples.answers[: self._examples.count] @ ANSWER
        given = np.concatenate([scores[rows[:shown]], of_examples])
        open_ = np.setdiff1d(known, rows[: shown + refused])
        if not len(open_):
            return float(np.mean(given)) - 2.0 if len(given) else 0.0
        at = line(scores[open_], expected(scores[open_], given, model.likeness == GUESSED_LIKENESS))
        said = [(row, yes) for node, yes in self._labels.items() if (row := self._row_of.get(node)) is not None]
        if said:
            at = moved(at, scores[[row for row, _ in said]], np.array([yes for _, yes in said], float))
        return at


def _model(data: Mapping[str, Any], idf: Column) -> _Model:
    """A lesson as it comes back from the log."""
    return _Model(
        np.frombuffer(data["slots"], np.int32),
        np.frombuffer(data["weights"], np.float32),
        np.frombuffer(data["direction"], np.float32),
        float(data["level"]),
        np.frombuffer(data["mean"], np.float32),
        float(data["line"]),
        float(data["likeness"]),
        dict(
            zip(np.frombuffer(data["rows"], np.int32).tolist(), np.frombuffer(data["alone"], np.float32), strict=True)
        ),
        idf,
    )


def _telling(slots: NDArray[np.int32], weighed: Column) -> NDArray[np.intp]:
    """The features that relevant pages have most of, in order."""
    sums = np.bincount(slots.ravel(), weighed.ravel(), SLOTS)
    sums[0] = 0.0
    best = np.argpartition(-sums, WORDS)[:WORDS]
    return np.sort(best[sums[best] > 0.0])


def _dense(slots: NDArray[np.int32], weighed: Column, telling: NDArray[np.intp]) -> Column:
    """Pages as rows, with a column for each feature that tells."""
    column_of = np.full(SLOTS, -1, np.int32)
    column_of[telling] = np.arange(len(telling))
    columns = column_of[slots]
    at, nth = np.nonzero(columns >= 0)
    matrix = np.zeros((len(slots), len(telling)), np.float32)
    np.add.at(matrix, (at, columns[at, nth]), weighed[at, nth])
    return matrix


def _rank(scores: NDArray[Any]) -> NDArray[Any]:
    """The share of scores that are below each, equal ones counted half."""
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return below / (2.0 * max(len(scores), 1))


def _shuffled(rows: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A number for each row by which they are drawn: the same one in each lesson."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _vector(page: Page, language: str) -> bytes:
    """What the log keeps of a page's meaning."""
    try:
        return packed(vectors([f"{page.title} {(page.main or page.text)[:READ]}"], language)[0])
    except InputError:  # no vectors are installed
        return bytes(DIMENSIONS)


def _meaning(words: Mapping[str, float], notes: list[str]) -> Column | None:
    """The words as a vector; None where none are installed."""
    try:
        found: Column = vectors([" ".join(words)])[0]
    except InputError as error:
        notes.append(f"pages are judged by their words alone: {error}")
        return None
    return found


def _example(kept: Mapping[str, Any], looking: Looking) -> Evidence:
    """An example page, as the log has kept it."""
    stems = [str(stem) for stem in kept["stems"]]
    found = np.fromiter(map(slot_of, stems), np.int32, len(stems))
    terms = Terms(
        np.arange(len(stems), dtype=np.uint32),
        np.array(kept["counts"], np.uint16),
        marks=np.array(kept["marks"], np.uint8),
    )
    return looking.see(found, terms, str(kept["node"]), kept["links"], str(kept["language"]), kept)
