"""The probability that a person who asked for this topic would say yes to a page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.nodes import Nodes, RowIndex
from lycosa.core.state import State, StateMismatch, restore_attributes, state_of_attributes
from lycosa.core.types import Judgement, Label, ModelUpdate, Page, Seed, Terms, Visit
from lycosa.judges.counting import Phrases, folded
from lycosa.judges.embedding import pack_vector
from lycosa.judges.examples import centroid
from lycosa.judges.probability.evidence import LINK, Evidence, Looking, Pages, slot_of, slots_of
from lycosa.judges.probability.line import FURTHEST, sigmoid
from lycosa.judges.probability.study import (
    AGAINST,
    ANSWER,
    EXAMPLE,
    LABELLED,
    MEANING,
    SHOWN,
    STUFFED,
    UNTAUGHT,
    UNTAUGHT_LINE,
    Given,
    Model,
    nearness,
    studied,
    untaught,
    usual_page,
)
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.embeddings import DIMENSIONS, digest, unit, vector, vector_from
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.readability import may_be_stuffed, quality
from lycosa.text.tokens import stems as stems_of
from lycosa.text.tokens import url_words
from lycosa.text.vocabulary import HEAD, Head, PageWords, Vocabulary

FIRST, GROWTH = 10, 1.5  # pages before the first model update, and growth until the next
# names of the answers, for explanations
WHERE = ("in its text", "in its title or address", "in its headings or first paragraphs", "by meaning")
SEEN = 2  # version of what is read of a page: older model updates do not fit
Column = NDArray[np.float32]


class Probability:
    """Beta is a probability: .5 or more counts as relevant, unless told otherwise. Links are judged as `vector` does.

    A page's log odds are how much it is like pages that are known to be relevant, and how it answers the words,

        c d + ANSWER . (body, head, lead, meaning) - line

    d is learned (line.py): positives are the start pages, as far as the words agree, examples and pages that
    somebody said yes to; negatives are drawn from the pages so far, less those that look relevant, and what somebody
    said no to. Where nobody has shown a page, the ten that answer the words best stand in, by what each says itself.
    The line is drawn where line.py expects as many pages above it as are relevant. Both happen after 10 pages, 15,
    23, ..., but not before there is a page that promises something, or 50 that do not. What came of it is a lesson, an
    event of the log, and from then on all pages so far are relevance_now what it says of them.

    A topic may have "phrases in quotes" and -words that speak against a page.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> topic, words = Probability("coral reef"), Vocabulary()
    >>> reef = Page("ok", title="Coral reefs", main="Coral reefs are built by corals.", lead="Coral reefs are built")
    >>> rail = Page("ok", title="Railways", main="Trains run on rails.", lead="Trains run on rails.")
    >>> [topic.judge(page, words.read(page)).relevance >= topic.threshold for page in (reef, rail)]
    [True, False]
    """

    probability = True

    def __init__(
        self,
        words: str | Mapping[str, float] = "",
        threshold: float = 0.5,
        *,
        examples: Mapping[str, Any] | None = None,
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise InputError(f"the threshold is {threshold:g}: it must be from 0 to 1, a probability")
        self.threshold = threshold
        self.asked = asked(words)
        self.words: str | Mapping[str, float] = words if isinstance(words, Mapping) else self.asked.text
        shown = list((examples or {}).get("pages", ()))
        if not self.asked.words and not shown:
            raise InputError("the topic is empty: say what to look for in a few words, or with --example PAGE")
        stems: dict[str, float] = dict((examples or {}).get("centroid", {}))
        if stems and self.asked.words:
            heaviest = max(stems.values(), default=1.0)
            for stem, weight in VectorJudge(self.asked.words).weights.items():
                stems[stem] = stems.get(stem, 0.0) + weight * heaviest
        self.query = VectorJudge(stems, stemmed=True) if stems else VectorJudge(self.words)  # judges links
        self.notes: list[str] = []
        self.meaning = _meaning(self.asked.words, self.notes)
        # vector of a page in a language; callers that judge pages repeatedly may cache it
        self.vector_of: Callable[[Page, str, Head | None], bytes] = vector_of
        self._looking = Looking(self.asked.words, self.asked.against, self.meaning)
        self._phrases = Phrases(dict.fromkeys(self.asked.phrases, 1.0)) if self.asked.phrases else None
        self._examples = Pages()
        self._shown = {str(example["node"]) for example in shown if example["node"]}
        for example in shown:
            self._examples.add(_example(example, self._looking), 1.0, True)
        every = np.arange(self._examples.count)
        # mean direction of the examples
        self._typical = unit(self._examples.placed(every, usual_page()).sum(axis=0)) if shown else None
        self._pages = Pages()
        self._nodes = Nodes()  # address of each row
        self._row_of = RowIndex(self._nodes)
        self._starts: set[str] = set()
        self._labels: dict[str, bool] = {}
        self._model: Model | None = None
        self._next = FIRST
        self._judged = 0  # rows that the last model update has judged again
        self._pending: tuple[Terms, Evidence] | None = None

    @property
    def facets(self) -> tuple[str, ...]:
        return self.query.facets

    @facets.setter
    def facets(self, names: tuple[str, ...]) -> None:
        self.query.facets = names

    @property
    def weights(self) -> Mapping[str, float]:
        return self.query.weights

    @property
    def fingerprint(self) -> object:
        kind = digest() if self.meaning is not None else ""
        return SEEN, self.asked, self.query.weights, self._examples.count, kind

    @staticmethod
    def from_examples(pages: Iterable[Page]) -> dict[str, Any]:
        """What the log keeps of example pages: the words that they share, and of each what can be seen of it."""
        readable, words = [page for page in pages if page.main or page.marked], Vocabulary()
        rows = []
        for page in readable:
            reading = words.read(page)
            terms = reading.terms
            if len(terms.ids):
                rows.append(
                    {
                        "stems": [words.terms[number] for number in terms.ids.tolist()],
                        "counts": terms.counts.tolist(),
                        "marks": terms.marks.tolist(),
                        "node": page.node,
                        "links": list(dict.fromkeys(page.links.urls))[:1000],
                        "language": reading.language,
                        "vector": vector_of(page, reading.language, reading.head),
                    }
                )
        return {"centroid": centroid(readable), "pages": rows}

    # -- judging -----------------------------------------------------------------------------------------------

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Score the page, and each link by its anchor."""
        assert isinstance(reading, PageWords), "this judge needs a reader; pass reader=Vocabulary() to the engine"
        judgement = self.query.judge_links(page, reading)
        data: dict[str, Any] = {}
        if self.meaning is not None:
            data["vector"] = self.vector_of(page, reading.language, reading.head)
        if reading.language != code_of(page.language, ENGLISH):  # a guess that did not sound like it
            data["read"] = reading.language
        if self._phrases is not None:
            text = folded(f"{page.title}\n{page.main or page.text}")
            data["phrases"] = round(self._phrases.contained(text) / len(self.asked.phrases), 3)
        looking = self._looking
        words, met = reading.vocabulary, len(looking.names)
        if met < len(words.terms):
            words.term_hashes.extend(words.terms)
            looking.meet(words.terms[met:], words.term_hashes.hashes[met : len(words.terms)])
        evidence = looking.see(
            looking.slots(reading.terms), reading.terms, page.node, page.links.urls, reading.language, data
        )
        relevance = self._worth(evidence)
        # Nobody is fooled by what is stuffed with other words.
        # checks for stuffing from here on, also where a page has none of the words
        if (relevance >= 0.1 or evidence.answers[:MEANING].any()) and may_be_stuffed(reading.terms.counts):
            evidence.quality = round(quality(reading.ids), 3)
            if evidence.quality < 1.0:
                data["quality"], relevance = evidence.quality, self._worth(evidence)
        self._pending = reading.terms, evidence
        judgement.relevance, judgement.data = relevance, data
        return judgement

    def _worth(self, page: Evidence) -> float:
        if not page.slots.any():
            return 0.0
        if self._model is None:
            odds = float(page.answers @ UNTAUGHT) - UNTAUGHT_LINE - AGAINST * page.against
            odds += self._nearness(page.vector) + _stuffing(page.quality)
        else:
            odds = self._model.odds_of(page) - self._model.line
        return float(np.float32(1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))))

    def _nearness(self, vector: NDArray[np.int8]) -> float:
        """Log odds for how near a page is to the examples; 0 without them."""
        return 0.0 if self._typical is None else float(nearness(vector[None], self._typical)[0])

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
            evidence.quality = float(visit.data.get("quality", 1.0))  # others may have looked where we did not
        else:
            looking = self._looking
            language = str(visit.data.get("read", code_of(visit.language, ENGLISH)))
            evidence = looking.see(
                looking.slots(visit.terms), visit.terms, visit.node, visit.links.urls, language, visit.data, visit.title
            )
        if visit.is_hollow:  # there is nothing on it, whatever its words
            evidence.slots, evidence.amounts = np.zeros_like(evidence.slots), np.zeros_like(evidence.amounts)
        first = visit.is_page and not visit.same_as and bool(evidence.slots.any())
        self._named(visit.node, self._pages.add(evidence, visit.relevance, first))
        if first:
            self._looking.count(evidence, int(visit.terms.counts.sum()))

    def _named(self, node: str, row: int) -> None:
        self._nodes.append(node)
        self._row_of[node] = row

    def start(self, seed: Seed) -> None:
        """A page that the user starts from: usually one of those that are wanted."""
        if seed.kind == "page":
            self._starts.add(seed.node)

    def add_label(self, label: Label) -> None:
        """A person's word on a page."""
        self._labels.pop(label.node, None)
        if label.relevant is not None:
            self._labels[label.node] = label.relevant
        if self._model is None:
            self._settle()

    def relevances_now(self) -> Column:
        """What each version of a page is relevance_now now."""
        return self._pages.relevance_now[: self._pages.count]

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        """What the pages so far teach; only after so many more of them."""
        count = self._pages.firsts
        if not force and (count < self._next or self.waits):
            return None
        self._next = max(self._next, math.ceil(GROWTH * count))
        if count < 2:
            return None
        return ModelUpdate(
            "", studied(self._pages, self._examples, self._given(), self._looking.idf(), self._typical), now
        )

    @property
    def waits(self) -> bool:
        """Whether there is nothing yet to learn from; a no, or the end of a run, does not change that.

        While no page was labelled and none reaches .2 by itself, 50 pages: the best irrelevant ones would stand in for
        relevant ones, and pages like them be hunted.
        """
        pages = self._pages
        if self._model is not None or any(self._labels.values()) or self._examples.count or pages.firsts >= 50:
            return False
        rows = np.flatnonzero(pages.first[: pages.count])
        odds = untaught(pages.answers[rows], pages.against[rows], pages.quality[rows], pages.vectors[:0], None)
        return not (sigmoid(odds) >= 0.2).any()

    def adopt(self, update: ModelUpdate) -> None:
        """Judge by it: new pages from now on, and all that are known."""
        self._model = Model.of(update.data, self._looking.idf())
        pages = self._pages
        self._next = max(FIRST, math.ceil(GROWTH * pages.firsts))
        self._judged = pages.count
        odds = self._model.odds(pages, np.arange(pages.count)) - np.float32(self._model.line)
        pages.relevance_now[: pages.count] = np.where(
            pages.filled[: pages.count], sigmoid(odds.astype(np.float64)), 0.0
        )
        self._settle()

    def state(self) -> State:
        return {
            "looking": self._looking.state(),
            "pages": state_of_attributes(self._pages),
            "nodes": self._nodes.state(),
            "rows": self._row_of.state(),
            "starts": sorted(self._starts),
            "labels": [[node, yes] for node, yes in self._labels.items()],
            "model": None if self._model is None else self._model.state(),
            "next": self._next,
            "judged": self._judged,
        }

    def restore(self, state: State) -> None:
        self._looking.restore(state["looking"])
        restore_attributes(self._pages, state["pages"])
        self._nodes.restore(state["nodes"])
        self._row_of.restore(state["rows"])
        if len(self._nodes) != self._pages.count:
            raise StateMismatch("pages have no address")
        self._starts, self._labels = set(state["starts"]), dict(state["labels"])
        self._model = None if state["model"] is None else Model.restored(state["model"])
        self._next, self._judged = state["next"], state["judged"]

    def explain(self, visit: Visit) -> dict[str, float]:
        """Why a page that is known is relevance_now what it is: log odds that add up to it, the weightiest first.

        A label stands alone: on its own page it is the last word.
        """
        row = self._row_of.get(visit.node)
        if row is None:
            return {}
        if visit.node in self._labels:
            yes = self._labels[visit.node]
            return {"somebody said yes" if yes else "somebody said no": FURTHEST if yes else -FURTHEST}
        pages, model = self._pages, self._model
        rates = (UNTAUGHT if model is None else ANSWER).tolist()
        parts = [
            (f"the topic's words {where}", rate * float(answer))
            for where, rate, answer in zip(WHERE, rates, pages.answers[row].tolist(), strict=True)
        ]
        if model is None:
            parts.append(("like the examples: meaning", self._nearness(pages.vectors[row])))
            parts.append(("before anything is learned", -UNTAUGHT_LINE))
        else:
            parts += self._likenesses(visit, row, model)
            parts.append(("the line between yes and no", -model.line))
        parts.append(("words that speak against it, or a phrase it lacks", -AGAINST * float(pages.against[row])))
        stuffing = _stuffing(float(pages.quality[row]))
        if row < self._judged or _is_in(stuffing, sum(odds for _, odds in parts), float(pages.relevance_now[row])):
            parts.append(("it looks stuffed", stuffing))
        return dict(sorted(((what, odds) for what, odds in parts if odds), key=lambda pair: -abs(pair[1])))

    def _likenesses(self, visit: Visit, row: int, model: Model) -> list[tuple[str, float]]:
        """What likens a page to those that are known to be relevant: words, words of its address, links, meaning."""
        slots = self._pages.slots[row]
        at = np.array([row])
        each = model.likeness * (self._pages.values(at, model.idf)[0] * model.weight[slots])
        stems = self._looking.names
        name_of = {slot_of(stems[number]): stems[number] for number in visit.terms.ids.tolist()}
        for stem in stems_of(url_words(visit.node), code_of(visit.language, ENGLISH)):
            name_of[slot_of(f"address {stem}")] = f"{stem} in the address"
        leads = slots_of(visit.links.urls, LINK).tolist()
        for slot, url, anchor in zip(leads, visit.links.urls, visit.links.anchors, strict=True):
            name_of[slot] = f"a link to {anchor or url}"
        best = [number for number in np.argsort(-np.abs(each))[:8].tolist() if each[number]]  # words and links named
        parts = [(f"like relevant pages: {name_of.get(int(slots[n]), 'a word')}", float(each[n])) for n in best]
        near = model.likeness * float(self._pages.placed(at, model.mean)[0] @ model.direction)
        rest = float(each.sum()) - sum(odds for _, odds in parts)
        parts += [("like relevant pages: other words and links", rest), ("like relevant pages: meaning", near)]
        parts.append(("pages in general", model.likeness * model.level))
        total = sum(odds for _, odds in parts) / model.likeness
        alone = float(model.alone.get(row, total))
        return [*parts, ("less what it taught itself", model.likeness * (alone - total))]

    def _settle(self) -> None:
        """On their own pages people have the last word."""
        for node, yes in self._labels.items():
            if (row := self._row_of.get(node)) is not None:
                self._pages.relevance_now[row] = 1.0 if yes else 0.0

    def _given(self) -> Given:
        """What people have said, as rows of pages that count."""
        first, row_of = self._pages.first, self._row_of
        certain: dict[int, float] = {}
        refused = []
        for node in sorted(self._shown):  # examples that the crawl has met
            row = row_of.get(node)
            if row is not None and first[row]:
                certain[row] = EXAMPLE
        for node, yes in self._labels.items():
            row = row_of.get(node)
            if row is not None and first[row]:
                certain.pop(row, None)
                if yes:
                    certain[row] = LABELLED
                else:
                    refused.append(row)
        rows = list(certain)[-SHOWN:]
        start_rows = {row_of[node] for node in self._starts if node in row_of}
        starts = sorted(row for row in start_rows if first[row] and row not in certain and row not in refused)[:SHOWN]
        counts = np.array([certain[row] for row in rows])
        return Given(np.array(starts, np.intp), np.array(rows, np.intp), counts, np.array(refused[-SHOWN:], np.intp))


def _stuffing(quality: float) -> float:
    """Log odds that a page loses for how it reads."""
    return STUFFED * min(0.0, math.log(max(2.0 * quality, 1e-4)))


def _is_in(stuffing: float, others: float, relevance_now: float) -> bool:
    """Whether a page was judged as stuffed when it was fetched: that was not looked at where little spoke for it."""
    odds = math.log(max(relevance_now, 1e-13) / max(1.0 - relevance_now, 1e-13))
    return abs(others + stuffing - odds) < abs(others - odds)


def vector_of(page: Page, language: str, head: Head | None = None) -> bytes:
    """What the log keeps of a page's meaning; `head` is how it begins, where it was read already."""
    rare = language != ENGLISH  # what is rare in English may be common in another language
    try:
        if head is not None:
            return pack_vector(vector_from(*head, rare=rare))
        return pack_vector(vector(f"{page.title} {(page.main or page.text)[:HEAD]}", language, rare=rare))
    except InputError:  # their files are damaged
        return bytes(DIMENSIONS)


def _meaning(words: Mapping[str, float], notes: list[str]) -> Column | None:
    """The words as a vector; None where there are no vectors."""
    try:
        return vector(" ".join(words))
    except InputError as error:
        notes.append(f"pages are judged by their words alone: {error}")
        return None


def _example(kept: Mapping[str, Any], looking: Looking) -> Evidence:
    """An example page, as the log has kept it."""
    stems = [str(stem) for stem in kept["stems"]]
    slots = slots_of(stems)
    terms = Terms(
        np.arange(len(stems), dtype=np.uint32),
        np.array(kept["counts"], np.uint16),
        marks=np.array(kept["marks"], np.uint8),
    )
    return looking.see(slots, terms, str(kept["node"]), kept["links"], str(kept["language"]), kept)


# -- what was asked for ------------------------------------------------------------------------------------

# A topic as it was typed: words, "phrases in quotes", and -words that speak against.

_PART = re.compile(r'(?<!\S)(-?)"([^"]+)"|(?<!\S)(-?)(\S+)')


@dataclass(frozen=True, slots=True)
class TopicQuery:
    """What a person asked for."""

    # texts to look for, with their weights, those of a phrase included
    words: Mapping[str, float] = field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The words, as other parts of a crawl want them."""
        return " ".join(self.words)


def asked(topic: str | Mapping[str, float]) -> TopicQuery:
    """Read a topic.

    >>> asked('"great barrier reef" bleaching -hotel').words
    {'great barrier reef': 1.0, 'bleaching': 1.0}
    >>> asked('"great barrier reef" bleaching -hotel').against
    ('hotel',)
    >>> asked("sea-level rise").text
    'sea-level rise'
    """
    if isinstance(topic, Mapping):
        return TopicQuery({text: float(weight) for text, weight in topic.items()})
    words: dict[str, float] = {}
    phrases, against = [], []
    for match in _PART.finditer(topic):
        minus, text = match[1] or match[3], match[2] or match[4]
        text = " ".join(text.replace('"', " ").split())
        if minus and any(map(str.isalnum, text)):
            against.append(text)
        elif text:
            words[text] = words.get(text, 0.0) + 1.0
            if match[2] and " " in text:
                phrases.append(text)
    if against and not words:
        raise InputError(
            f"the topic {topic!r} only says what is not wanted: say in a few words what is, for example 'reef -hotel'"
        )
    return TopicQuery(words, tuple(phrases), tuple(against))
