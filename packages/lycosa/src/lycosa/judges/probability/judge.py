"""The judge `probability`: the probability that a user interested in the topic would label a page relevant."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.nodes import Nodes, RowIndex
from lycosa.core.state import State, StateMismatch, restore_attributes, state_of_attributes
from lycosa.core.types import START_RELEVANCE, Judgement, Label, ModelUpdate, Page, Seed, Terms, Visit
from lycosa.judges.counting import Phrases, folded
from lycosa.judges.embedding import pack_vector
from lycosa.judges.examples import centroid
from lycosa.judges.probability.evidence import LINK, Answer, Evidence, EvidenceReader, EvidenceTable, slot_of, slots_of
from lycosa.judges.probability.learned_model import (
    AGAINST_COST,
    ANSWER_RATES,
    EXAMPLE_WEIGHT,
    LABEL_WEIGHT,
    MAX_NAMED,
    OWN_LINE,
    OWN_RATES,
    STUFFING_COST,
    LearnedModel,
    NamedPages,
    learn_model,
    nearness_odds,
    own_odds,
    usual_page,
)
from lycosa.judges.probability.relevance_line import MAX_LOG_ODDS, sigmoid
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.embeddings import DIMENSIONS, unit, vector, vector_from, vectors_digest
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.readability import may_be_stuffed, quality
from lycosa.text.tokens import stems as stems_of
from lycosa.text.tokens import url_words
from lycosa.text.vocabulary import HEAD, Head, PageWords, Vocabulary

FIRST_UPDATE, GROWTH = 10, 1.5  # pages before the first model update, and growth until the next
MAX_REASONS = 8  # words and links listed in an explanation
MAX_WAIT = 50  # maximum number of pages before the first model update while none has a probability of .2
ANSWER_NAMES = {
    Answer.BODY: "in its text",
    Answer.HEAD: "in its title or URL",
    Answer.LEAD: "in its headings or first paragraphs",
    Answer.MEANING: "by meaning",
}
ENOUGH_FOR_WEIGHT = 20  # labels from which each has its full weight
SEARCH_PARAMETERS = frozenset(("q", "query", "search", "s", "keyword", "keywords"))
MAX_PROBABILITY = 1.0 - 2.0**-20  # a relevance of 1 is a label yes
EVIDENCE_VERSION = 3  # model updates based on older evidence are incompatible
Column = NDArray[np.float32]


class Probability:
    """Judge by probability: pages with .5 or more are relevant by default. Links are judged as by `vector`.

    The log odds of a page are its likeness to relevant pages plus its match scores with the topic, minus a threshold,

        c likeness + ANSWER_RATES . (body, head, lead, meaning) - line

    Likeness (learned_model.py) and threshold (relevance_line.py) are learned after 10 pages, 15, 23, ..., but the first
    time only after a page with a probability of .2, or after 50 pages. All pages so far are then judged again.

    A topic may have "phrases in quotes" and -words that count against a page.

    >>> from lycosa.text.vocabulary import Vocabulary
    >>> judge, words = Probability("coral reef"), Vocabulary()
    >>> reef = Page("ok", title="Coral reefs", main="Coral reefs are built by corals.", lead="Coral reefs are built")
    >>> rail = Page("ok", title="Railways", main="Trains run on rails.", lead="Trains run on rails.")
    >>> [judge.judge(page, words.read(page)).relevance >= judge.threshold for page in (reef, rail)]
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
            raise InputError("out-of-range", f"the threshold is {threshold:g}: it must be from 0 to 1, a probability")
        self.threshold = threshold
        self.topic = parse_topic(words)
        self.words: str | Mapping[str, float] = words if isinstance(words, Mapping) else self.topic.text
        shown = list((examples or {}).get("pages", ()))
        if not self.topic.words and not shown:
            raise InputError("empty-topic", "the topic is empty: describe it in a few words, or give an --example PAGE")
        stems: dict[str, float] = dict((examples or {}).get("centroid", {}))
        if stems and self.topic.words:
            heaviest = max(stems.values(), default=1.0)
            for stem, weight in VectorJudge(self.topic.words).weights.items():
                stems[stem] = stems.get(stem, 0.0) + weight * heaviest
        # A topic of stop words only ("privacy", "the who") is searched for as it is written.
        self._is_literal = bool(self.topic.words) and not any(map(stems_of, self.topic.words))
        if self._is_literal:
            stems = stems or dict(self.topic.words)
        self.query = VectorJudge(stems, stemmed=True) if stems else VectorJudge(self.words)  # judges links
        self.notes: list[str] = []
        self.meaning = _meaning(self.topic.words, self.notes)
        # An attribute, so that callers that judge the same pages repeatedly can cache vectors.
        self.vector_of: Callable[[Page, str, Head | None], bytes] = vector_of
        self._reader = EvidenceReader(self.topic.words, self.topic.against, self.meaning, self._is_literal)
        phrases = tuple(self.topic.words) if self._is_literal else self.topic.phrases
        self._phrases = Phrases(dict.fromkeys(phrases, 1.0)) if phrases else None
        self._examples = EvidenceTable()
        self._example_nodes = {str(example["node"]) for example in shown if example["node"]}
        for example in shown:
            self._examples.add(_example(example, self._reader), 1.0, True)
        example_rows = np.arange(self._examples.count)
        # Mean direction of the vectors of the examples.
        self._mean_example = unit(self._examples.directions(example_rows, usual_page()).sum(axis=0)) if shown else None
        self._pages = EvidenceTable()
        self._nodes = Nodes()  # URL of each row
        self._row_of = RowIndex(self._nodes)
        self._starts: set[str] = set()  # start pages, which are examples unless they are portals
        self._labels: dict[str, bool] = {}
        self._model: LearnedModel | None = None
        self._next_update = FIRST_UPDATE
        self._rows_judged_again = 0  # number of rows judged by the last model update
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
        kind = vectors_digest() if self.meaning is not None else ""
        return EVIDENCE_VERSION, self.topic, self.query.weights, self._examples.count, kind

    @staticmethod
    def from_examples(pages: Iterable[Page]) -> dict[str, Any]:
        """Return example pages in the format of the log: their shared vocabulary, and the evidence of each."""
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

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge a page, and each link by its anchor."""
        assert isinstance(reading, PageWords), "this judge needs a reader; pass reader=Vocabulary() to the engine"
        judgement = self.query.judge_links(page, reading)
        data: dict[str, Any] = {}
        if self.meaning is not None:
            data["vector"] = self.vector_of(page, reading.language, reading.head)
        if reading.language != code_of(page.language, ENGLISH):  # the declared language is wrong
            data["read"] = reading.language
        if self._phrases is not None:
            text = folded(f"{page.title}\n{page.main or page.text}")
            data["phrases"] = round(self._phrases.contained(text) / len(self._phrases.weights), 3)
            if self._is_literal:
                has_word = [self._phrases.count(anchor) > 0.0 for anchor in page.links.anchors]
                judgement.link_relevances = np.array(has_word, np.float32)
        reader = self._reader
        words, met = reading.vocabulary, len(reader.names)
        if met < len(words.terms):
            words.term_hashes.extend(words.terms)
            reader.add_stems(words.terms[met:], words.term_hashes.hashes[met : len(words.terms)])
        evidence = reader.read(
            reader.slots(reading.terms), reading.terms, page.node, page.links.urls, reading.language, data
        )
        relevance = self._relevance(evidence)
        # Only pages that may be relevant are checked for stuffing.
        if (relevance >= 0.1 or evidence.answers[: Answer.MEANING].any()) and may_be_stuffed(reading.terms.counts):
            evidence.quality = round(quality(reading.ids), 3)
            if evidence.quality < 1.0:
                data["quality"], relevance = evidence.quality, self._relevance(evidence)
        self._pending = reading.terms, evidence
        is_example = (
            page.node in self._starts
            and evidence.slots.any()
            and not is_portal(page.node, page.links.urls, words_of(reading.terms))
        )
        judgement.relevance, judgement.data = START_RELEVANCE if is_example else relevance, data
        return judgement

    def _relevance(self, page: Evidence) -> float:
        if not page.slots.any():
            return 0.0
        if self._model is None:
            odds = float(page.answers @ OWN_RATES) - OWN_LINE - AGAINST_COST * page.against
            odds += self._nearness(page.vector) + _stuffing(page.quality)
        else:
            odds = self._model.odds_of(page) - self._model.line
        probability = 1.0 / (1.0 + math.exp(-min(max(odds, -MAX_LOG_ODDS), MAX_LOG_ODDS)))
        return float(np.float32(min(probability, MAX_PROBABILITY)))

    def _nearness(self, vector: NDArray[np.int8]) -> float:
        return 0.0 if self._mean_example is None else float(nearness_odds(vector[None], self._mean_example)[0])

    def learn(self, visit: Visit) -> None:
        """Add a recorded visit to the evidence."""
        if visit.node in self._starts:
            if visit.kind == "redirect" and len(visit.links):
                self._starts.add(visit.links.urls[0])
            elif visit.is_version and is_portal(visit.node, visit.links.urls, words_of(visit.terms)):
                self._starts.remove(visit.node)
        pending, self._pending = self._pending, None
        judged = pending[1] if pending is not None and pending[0].new is visit.terms.new else None
        if judged is None:
            self._reader.add_stems(visit.terms.new)
        if not visit.is_version:
            return
        if judged is not None:
            evidence = judged
            evidence.quality = float(visit.data.get("quality", 1.0))  # a trap filter may have computed it
        else:
            reader = self._reader
            language = str(visit.data.get("read", code_of(visit.language, ENGLISH)))
            evidence = reader.read(
                reader.slots(visit.terms), visit.terms, visit.node, visit.links.urls, language, visit.data, visit.title
            )
        if visit.is_hollow:  # counts as an empty page
            evidence.slots, evidence.amounts = np.zeros_like(evidence.slots), np.zeros_like(evidence.amounts)
        is_first = visit.is_page and not visit.same_as and bool(evidence.slots.any())
        row = self._pages.add(evidence, visit.relevance, is_first)
        self._nodes.append(visit.node)
        self._row_of[visit.node] = row
        if is_first:
            self._reader.count(evidence, int(visit.terms.counts.sum()))

    def start(self, seed: Seed) -> None:
        """Add a seed, which is an example unless the user or the page itself says that it only leads on."""
        if seed.kind == "page" and not seed.data.get("portal"):
            self._starts.add(seed.node)

    def add_label(self, label: Label) -> None:
        self._labels.pop(label.node, None)
        if label.relevant is not None:
            self._labels[label.node] = label.relevant
        if self._model is None:
            self._apply_known()

    def relevances_now(self) -> Column:
        return self._pages.relevance_now[: self._pages.count]

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        """Learn from the pages so far; return None until there are half as many again, unless forced."""
        count = self._pages.first_count
        if not force and (count < self._next_update or self.is_waiting):
            return None
        self._next_update = max(self._next_update, math.ceil(GROWTH * count))
        if count < 2:
            return None
        idf = self._reader.idf()
        named = self._named_pages()
        data = learn_model(self._pages, self._examples, named, idf, self._mean_example, self._model)
        return ModelUpdate("", data, now)

    @property
    def count_widths(self) -> tuple[float, float]:
        """How far the logarithm of the number of relevant pages may be off; zeros before the first update."""
        return (0.0, 0.0) if self._model is None else self._model.widths

    @property
    def is_waiting(self) -> bool:
        """True while no model can be learned: no example, no label yes, and no page with a probability of .2.

        Otherwise the best irrelevant pages would stand in for relevant ones, and the crawl would look for similar
        pages. Waiting ends after MAX_WAIT pages, but not with a label no or the end of a run.
        """
        pages = self._pages
        if self._model is not None or any(self._labels.values()) or self._examples.count:
            return False
        if any(node in self._row_of for node in self._starts):
            return False
        if pages.first_count >= MAX_WAIT:
            return False
        rows = np.flatnonzero(pages.is_first[: pages.count])
        odds = own_odds(pages.answers[rows], pages.against[rows], pages.quality[rows], pages.vectors[:0], None)
        return not (sigmoid(odds) >= 0.2).any()

    def adopt(self, update: ModelUpdate) -> None:
        """Use a model update for new pages from now on, and judge all known pages again."""
        self._model = LearnedModel.of(update.data, self._reader.idf())
        pages = self._pages
        self._next_update = max(FIRST_UPDATE, math.ceil(GROWTH * pages.first_count))
        self._rows_judged_again = pages.count
        odds = self._model.odds(pages, np.arange(pages.count)) - np.float32(self._model.line)
        probability = np.minimum(sigmoid(odds.astype(np.float64)), MAX_PROBABILITY)
        pages.relevance_now[: pages.count] = np.where(pages.has_features[: pages.count], probability, 0.0)
        self._apply_known()

    def state(self) -> State:
        return {
            "reader": self._reader.state(),
            "pages": state_of_attributes(self._pages),
            "nodes": self._nodes.state(),
            "rows": self._row_of.state(),
            "starts": sorted(self._starts),
            "labels": [[node, yes] for node, yes in self._labels.items()],
            "model": None if self._model is None else self._model._asdict(),
            "next": self._next_update,
            "judged": self._rows_judged_again,
        }

    def restore(self, state: State) -> None:
        self._reader.restore(state["reader"])
        restore_attributes(self._pages, state["pages"])
        self._nodes.restore(state["nodes"])
        self._row_of.restore(state["rows"])
        if len(self._nodes) != self._pages.count:
            raise StateMismatch("a page has no URL")
        self._starts, self._labels = set(state["starts"]), dict(state["labels"])
        self._model = None if state["model"] is None else LearnedModel.restored(state["model"])
        self._next_update, self._rows_judged_again = state["next"], state["judged"]

    def explain(self, visit: Visit) -> dict[str, float]:
        """Return the log odds that add up to the current relevance of a known page, largest first.

        A labelled page has only its label.
        """
        row = self._row_of.get(visit.node)
        if row is None:
            return {}
        if visit.node in self._labels:
            is_yes = self._labels[visit.node]
            return {"labelled yes": MAX_LOG_ODDS} if is_yes else {"labelled no": -MAX_LOG_ODDS}
        if visit.node in self._starts and self._pages.has_features[row]:
            return {"start page, taken as an example": math.log(START_RELEVANCE / (1.0 - START_RELEVANCE))}
        pages, model = self._pages, self._model
        contributions = (OWN_RATES if model is None else ANSWER_RATES).astype(np.float64) * pages.answers[row]
        parts = [(f"the topic's words {ANSWER_NAMES[answer]}", float(contributions[answer])) for answer in Answer]
        if model is None:
            parts.append(("like the examples: meaning", self._nearness(pages.vectors[row])))
            parts.append(("constant before the first model update", -OWN_LINE))
        else:
            parts += self._likenesses(visit, row, model)
            parts.append(("threshold between relevant and other pages", -model.line))
        parts.append(("words against the topic, or a missing phrase", -AGAINST_COST * float(pages.against[row])))
        stuffing = _stuffing(float(pages.quality[row]))
        others = sum(odds for _, odds in parts)
        if row < self._rows_judged_again or _counted_stuffing(stuffing, others, float(pages.relevance_now[row])):
            parts.append(("stuffed text", stuffing))
        return dict(sorted(((what, odds) for what, odds in parts if odds), key=lambda pair: -abs(pair[1])))

    def _likenesses(self, visit: Visit, row: int, model: LearnedModel) -> list[tuple[str, float]]:
        """Return the parts of the likeness of a page to relevant ones: words, words of its URL, links, meaning."""
        slots = self._pages.slots[row]
        at = np.array([row])
        each = model.likeness * (self._pages.features(at, model.idf)[0] * model.weight[slots])
        stems = self._reader.names
        name_of = {slot_of(stems[number]): stems[number] for number in visit.terms.ids.tolist()}
        for stem in stems_of(url_words(visit.node), code_of(visit.language, ENGLISH)):
            name_of[slot_of(f"address {stem}")] = f"{stem} in the URL"
        link_slots = slots_of(visit.links.urls, LINK).tolist()
        for slot, url, anchor in zip(link_slots, visit.links.urls, visit.links.anchors, strict=True):
            name_of[slot] = f"a link to {anchor or url}"
        best = [number for number in np.argsort(-np.abs(each))[:MAX_REASONS].tolist() if each[number]]
        parts = [(f"like relevant pages: {name_of.get(int(slots[n]), 'a word')}", float(each[n])) for n in best]
        near = model.likeness * float(self._pages.directions(at, model.mean)[0] @ model.direction)
        rest = float(each.sum()) - sum(odds for _, odds in parts)
        parts += [("like relevant pages: other words and links", rest), ("like relevant pages: meaning", near)]
        parts.append(("pages in general", model.likeness * model.level))
        total = sum(odds for _, odds in parts) / model.likeness
        alone = dict(zip(model.rows.tolist(), model.alone.tolist(), strict=True)).get(row, total)
        return [*parts, ("leave-one-out correction", model.likeness * (alone - total))]

    def _apply_known(self) -> None:
        """Set the relevance of start pages that are examples, and of labelled pages."""
        pages = self._pages
        for node in self._starts:
            if (row := self._row_of.get(node)) is not None and pages.has_features[row]:
                pages.relevance_now[row] = START_RELEVANCE
        for node, yes in self._labels.items():
            if (row := self._row_of.get(node)) is not None:
                self._pages.relevance_now[row] = 1.0 if yes else 0.0

    def _named_pages(self) -> NamedPages:
        is_first, row_of = self._pages.is_first, self._row_of
        certain: dict[int, float] = {}
        refused = []
        label_weight = 1.0 + (LABEL_WEIGHT - 1.0) * min(1.0, len(self._labels) / ENOUGH_FOR_WEIGHT)
        for node in sorted(self._example_nodes):  # examples that the crawl has fetched
            row = row_of.get(node)
            if row is not None and is_first[row]:
                certain[row] = EXAMPLE_WEIGHT
        for node, yes in self._labels.items():
            row = row_of.get(node)
            if row is not None and is_first[row]:
                certain.pop(row, None)
                if yes:
                    certain[row] = label_weight
                else:
                    refused.append(row)
        rows = sorted(list(certain)[-MAX_NAMED:])  # sorted, so that the order of the labels does not matter
        start_rows = {row_of[node] for node in self._starts if node in row_of}
        starts = sorted(row for row in start_rows if is_first[row] and row not in certain and row not in refused)
        return NamedPages(
            starts=np.array(starts[:MAX_NAMED], np.intp),
            certain=np.array(rows, np.intp),
            weights=np.array([certain[row] for row in rows]),
            refused=np.array(sorted(refused[-MAX_NAMED:]), np.intp),
            label_weight=label_weight,
        )


def words_of(terms: Terms) -> int:
    return int(terms.counts.sum())


def is_portal(node: str, links: Sequence[str], words: int) -> bool:
    """Return whether a start page obviously only leads on: a home page, a list of links, or a page of search results.

    Of 744 pages of 17 sites that are examples of a topic, 5 % pass for portals.

    >>> is_portal("http://a.test/list", [f"http://a.test/{n}" for n in range(30)], words=60)
    True
    >>> is_portal("http://a.test/reefs", [f"http://a.test/{n}" for n in range(30)], words=600)
    False
    """
    try:
        parts = urlsplit(node)
    except ValueError:  # a node of a space without URLs
        return False
    if SEARCH_PARAMETERS.intersection(parse_qs(parts.query)):
        return True
    count = len(set(links))
    return count >= 20 and (words < 2.5 * count or parts.path in ("", "/"))


def _stuffing(quality: float) -> float:
    return STUFFING_COST * min(0.0, math.log(max(2.0 * quality, 1e-4)))


def _counted_stuffing(stuffing: float, others: float, relevance_now: float) -> bool:
    """Return True if stuffing was counted at the time of the fetch; only pages that could be relevant were checked."""
    odds = math.log(max(relevance_now, 1e-13) / max(1.0 - relevance_now, 1e-13))
    return abs(others + stuffing - odds) < abs(others - odds)


def vector_of(page: Page, language: str, head: Head | None = None) -> bytes:
    """Return the word vector of a page in the format of the log; `head` is the beginning of the page, if read."""
    rare = language != ENGLISH  # words that are rare in English may be common in another language
    try:
        if head is not None:
            return pack_vector(vector_from(*head, rare=rare))
        return pack_vector(vector(f"{page.title} {(page.main or page.text)[:HEAD]}", language, rare=rare))
    except InputError:  # the vector file is damaged
        return bytes(DIMENSIONS)


def _meaning(words: Mapping[str, float], notes: list[str]) -> Column | None:
    try:
        return vector(" ".join(words))
    except InputError as error:
        notes.append(f"pages are judged by words only, without word vectors: {error}")
        return None


def _example(kept: Mapping[str, Any], reader: EvidenceReader) -> Evidence:
    stems = [str(stem) for stem in kept["stems"]]
    slots = slots_of(stems)
    terms = Terms(
        np.arange(len(stems), dtype=np.uint32),
        np.array(kept["counts"], np.uint16),
        marks=np.array(kept["marks"], np.uint8),
    )
    return reader.read(slots, terms, str(kept["node"]), kept["links"], str(kept["language"]), kept)


_PART = re.compile(r'(?<!\S)(-?)"([^"]+)"|(?<!\S)(-?)(\S+)')


@dataclass(frozen=True, slots=True)
class TopicQuery:
    """Parsed topic: words, "phrases in quotes", and -words against it."""

    words: Mapping[str, float] = field(default_factory=dict)  # weight by word or phrase
    phrases: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.words)


def parse_topic(topic: str | Mapping[str, float]) -> TopicQuery:
    """Parse a topic.

    >>> parse_topic('"great barrier reef" bleaching -hotel').words
    {'great barrier reef': 1.0, 'bleaching': 1.0}
    >>> parse_topic('"great barrier reef" bleaching -hotel').against
    ('hotel',)
    >>> parse_topic("sea-level rise").text
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
            "only-excluded-words",
            f"the topic {topic!r} only excludes words: add words to search for, for example 'reef -hotel'",
        )
    return TopicQuery(words, tuple(phrases), tuple(against))
