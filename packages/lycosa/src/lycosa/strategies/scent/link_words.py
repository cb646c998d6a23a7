"""Words of links: hash slots of their stems, and word vectors to compare them with the topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.state import AppendOnly, State, TextLines, restore_attributes, state_of_attributes
from lycosa.core.types import Links
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.tokens import Tokens, new_among, url_words
from lycosa.text.vocabulary import LinkTexts

# Number of hash slots for stems, fixed so that memory does not grow with the crawl. Of 100,000 stems two thirds do not
# share a slot; most of the others are rare.
SLOTS = 1 << 18
NO_WORD = 0
MAX_LANGUAGES = 8
_STOP_WORD, _UNKNOWN = -1, -9
_EMPTY = np.zeros(0, np.int32)

Slots = NDArray[np.int32]


def slot_of(stem: str) -> int:
    return 1 + crc32(stem.encode("utf-8", "replace")) % (SLOTS - 1)


def slots_of(stems: Sequence[str]) -> Slots:
    return np.array([slot_of(stem) for stem in stems], np.int32)


class LinkWords:
    """Tokeniser of texts into slots. `on_new_words` is called with new words and their slots.

    >>> words = LinkWords()
    >>> text, slot = words.read(["coral reefs", "", "the reef"])
    >>> text.tolist(), slot.tolist() == [slot_of("coral"), slot_of("reef"), slot_of("reef")]
    ([0, 0, 2], True)
    """

    def __init__(self, on_new_words: Callable[[list[str], list[int]], None] | None = None) -> None:
        self._on_new_words = on_new_words
        self._tokens: dict[str, Tokens] = {}
        self._slots_by_token: WeakKeyDictionary[Tokens, Slots] = WeakKeyDictionary()
        self._slots_by_stem = np.zeros(1024, np.int32)
        self._stems = 0

    def read(self, texts: Sequence[str], language: str = ENGLISH) -> tuple[NDArray[np.intp], Slots]:
        """Return the text number and the slot of each word of the texts, without stop words."""
        read = LinkTexts.cut(list(texts), self._tokens_of(code_of(language, ENGLISH)))
        return self._slots_of_texts(read, np.arange(len(texts)))

    def read_links(
        self, links: Links, chosen: NDArray[np.intp], language: str = ENGLISH
    ) -> tuple[NDArray[np.intp], Slots]:
        """Read the contexts of some links, then their anchors, then their URLs, as `read` does."""
        read = links.read
        if isinstance(read, LinkTexts) and read.tokens.language == code_of(language, ENGLISH):
            n = len(links)
            return self._slots_of_texts(read, np.concatenate([chosen, n + chosen, 2 * n + chosen]))
        numbers = chosen.tolist()
        texts = [links.contexts[at] for at in numbers]
        texts += [links.anchors[at] for at in numbers]
        texts += [url_words(links.urls[at]) for at in numbers]
        return self.read(texts, language)

    def slots(self, stems: list[str], ids: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return the slots of the words of a page; `stems` has all words of the crawl so far, by id."""
        if len(stems) > self._stems:
            self._slots_by_stem = fit(self._slots_by_stem, len(stems))
            self._slots_by_stem[self._stems : len(stems)] = slots_of(stems[self._stems :])
            self._stems = len(stems)
        slots: NDArray[np.intp] = self._slots_by_stem.take(ids).astype(np.intp)
        return slots

    def state(self) -> State:
        """Return the slots of the words of pages; those of links' words are only a cache."""
        return state_of_attributes(self, "_on_new_words", "_tokens", "_slots_by_token")

    def _slots_of_texts(self, read: LinkTexts, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], Slots]:
        owner, numbers = read.take(texts)
        tokens = read.tokens
        column = fit(self._slots_by_token.get(tokens, _EMPTY), len(tokens.names), _UNKNOWN)
        slots = column.take(numbers)
        new = new_among(numbers, slots, _UNKNOWN)
        if new:
            column[new] = self._new_slots(
                [tokens.names[token] for token in new], [tokens.stems[token] for token in new]
            )
            slots = column.take(numbers)
        self._slots_by_token[tokens] = column
        has_slot = (slots >= 0).nonzero()[0]
        return owner.take(has_slot), slots.take(has_slot)

    def _tokens_of(self, language: str) -> Tokens:
        """Return the tokens for texts that are not tokenised yet; those of the languages used last are cached."""
        tokens = self._tokens.pop(language, None)
        if tokens is None or len(tokens.names) > 100_000:
            tokens = Tokens(language, bits=17)
            if len(self._tokens) >= MAX_LANGUAGES:
                del self._tokens[next(iter(self._tokens))]
        self._tokens[language] = tokens
        return tokens

    def _new_slots(self, tokens: list[bytes], stems: list[str]) -> Slots:
        slots = slots_of(stems)
        with_stem = [number for number, stem in enumerate(stems) if stem]
        if len(with_stem) < len(stems):
            slots[[number for number, stem in enumerate(stems) if not stem]] = _STOP_WORD
        if self._on_new_words is not None and with_stem:
            numbers = slots.tolist()
            words = [tokens[number].decode("utf-8", "ignore") for number in with_stem]
            self._on_new_words(words, [numbers[number] for number in with_stem])
        return slots


DIMENSIONS = 64  # the first of 256 dimensions, which are trained to carry most of the meaning
MAX_TOPIC_TERMS = 40  # terms with the largest weights
Matrix = NDArray[np.float32]


class TopicMeaning:
    """Word vector of the topic, and those of the words seen in links.

    >>> meaning = TopicMeaning("coral reef")
    >>> meaning.add_words(["corals", "train"], [1, 2])
    >>> near, far = meaning.cosines(meaning.sums(np.array([1, 2], np.int32), np.array([1, 1]), np.array([0, 1])))
    >>> bool(near > .3 > far)
    True
    """

    def __init__(self, words: str = "", terms: Mapping[str, float] | None = None) -> None:
        from lycosa.text.embeddings import vectors, word_vectors  # reads 8 MB, so only where a crawl needs it

        self._vectors, self._word_vectors = vectors, word_vectors
        self.topic = self._topic(words, terms or {})
        self._words: dict[int, str] = {}  # word of each slot
        self._line = np.zeros(SLOTS, np.int32)  # index of each slot's vector in _lines; 0 if not looked up
        self._lines = np.zeros((1024, DIMENSIONS), np.float32)
        self._count = 1

    def add_words(self, words: list[str], slots: list[int]) -> None:
        """Add words, whose vectors are looked up when needed; the first word of a slot wins."""
        for slot, word in zip(slots, words, strict=True):
            self._words.setdefault(slot, word)

    def sums(self, slots: Slots, counts: NDArray[np.intp], begins: NDArray[np.intp]) -> Matrix:
        """Return the sum of the word vectors of each text, which has `counts` slots from index `begins` on."""
        with_words = counts.nonzero()[0]
        sums = np.zeros((len(counts), DIMENSIONS), np.float32)
        if len(with_words):
            lines = self._lines_of(slots)
            sums[with_words] = np.add.reduceat(self._lines.take(lines, axis=0), begins.take(with_words), axis=0)
        return sums

    def cosines(self, sums: Matrix) -> NDArray[np.float32]:
        """Return the cosine of each text with the topic; 0 for an empty text."""
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        inverse = 1.0 / np.maximum(length, 1e-6)
        inverse[length == 0.0] = 0.0
        cosines: NDArray[np.float32] = (sums @ self.topic) * inverse
        return cosines

    def state(self) -> State:
        words = {
            "slots": AppendOnly(self._words, lambda some: np.array(some, np.int32)),
            "words": TextLines(self._words.values()),
        }
        return {**words, "numbers": state_of_attributes(self, "_vectors", "_word_vectors", "_words")}

    def restore(self, state: State) -> None:
        self._words = dict(zip(state["slots"].tolist(), state["words"], strict=True))
        restore_attributes(self, state["numbers"])

    def _lines_of(self, slots: Slots) -> Slots:
        """Return the indices of word vectors in `_lines`; 0 for unknown words."""
        lines = self._line.take(slots)
        if new := [slot for slot in new_among(slots, lines, 0) if slot in self._words]:
            self._look_up(new)
            lines = self._line.take(slots)
        return lines

    def _look_up(self, slots: list[int]) -> None:
        begin, end = self._count, self._count + len(slots)
        self._lines = fit(self._lines, end)
        words = [self._words[slot] for slot in slots]
        # with another word, as a single one would be rounded differently
        vectors = self._word_vectors([*words, ""])[:-1, :DIMENSIONS]
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        self._lines[begin:end] = vectors / np.maximum(lengths, 1e-6)[:, None]
        self._line[slots] = np.arange(begin, end)
        self._count = end

    def _topic(self, words: str, terms: Mapping[str, float]) -> NDArray[np.float32]:
        if words:
            vector = self._vectors([words])[0]
        else:
            heavy = sorted(terms.items(), key=lambda term: (-term[1], term[0]))[:MAX_TOPIC_TERMS]
            vector = np.zeros(DIMENSIONS, np.float32)
            if heavy:
                vector = np.array([weight for _, weight in heavy]) @ self._vectors([term for term, _ in heavy])
        vector = vector[:DIMENSIONS].astype(np.float32)
        unit: NDArray[np.float32] = vector / max(float(np.sqrt(vector @ vector)), 1e-6)
        return unit


def topic_meaning(words: str, terms: Mapping[str, float]) -> TopicMeaning | None:
    """Return the meaning of a topic, or None if the word vectors cannot be read."""
    try:
        return TopicMeaning(words, terms)
    except InputError:
        return None
