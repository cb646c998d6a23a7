"""The words of links as numbers: a page's texts are read at once, and each stem has a slot of its own, or nearly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.state import Grown, State, Texts, plain, put_back
from lycosa.core.types import Links
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.tokens import Tokens, new_among, words_of
from lycosa.text.vocabulary import LinkTexts

# Hash buckets for stems, so that memory does not grow with the crawl. Of 100,000 stems two thirds are alone in theirs;
# the others are mostly rare.
SLOTS = 1 << 18
NOWHERE = 0  # the slot of no word
LANGUAGES = 8
_SKIP, _UNMET = -1, -9
_NOBODY = np.zeros(0, np.int32)

Slots = NDArray[np.int32]


def slot_of(stem: str) -> int:
    """Where what is known of a stem is kept."""
    return 1 + crc32(stem.encode("utf-8", "replace")) % (SLOTS - 1)


def slots_of(stems: Sequence[str]) -> Slots:
    """The same for many stems.

    >>> slots_of(["coral", "reef"]).tolist() == [slot_of("coral"), slot_of("reef")]
    True
    """
    return np.array([slot_of(stem) for stem in stems], np.int32)


class LinkWords:
    """Texts to slots. `meet` is told of words that are new, with their slots.

    >>> words = LinkWords()
    >>> text, slot = words.read(["coral reefs", "", "the reef"])
    >>> text.tolist(), slot.tolist() == [slot_of("coral"), slot_of("reef"), slot_of("reef")]
    ([0, 0, 2], True)
    """

    def __init__(self, meet: Callable[[list[str], list[int]], None] | None = None) -> None:
        self._meet = meet
        self._tokens: dict[str, Tokens] = {}
        self._columns: WeakKeyDictionary[Tokens, Slots] = WeakKeyDictionary()
        self._of_stem = np.zeros(1024, np.int32)
        self._known = 0

    def read(self, texts: Sequence[str], language: str = ENGLISH) -> tuple[NDArray[np.intp], Slots]:
        """The words of all texts: of each the number of its text, and its slot."""
        read = LinkTexts.cut(list(texts), self._tokens_of(code_of(language, ENGLISH)))
        return self._worded(read, np.arange(len(texts)))

    def read_links(
        self, links: Links, chosen: NDArray[np.intp], language: str = ENGLISH
    ) -> tuple[NDArray[np.intp], Slots]:
        """The same of the contexts of some links, then their anchors, then their addresses."""
        read = links.read
        if isinstance(read, LinkTexts) and read.tokens.language == code_of(language, ENGLISH):
            n = len(links)
            return self._worded(read, np.concatenate([chosen, n + chosen, 2 * n + chosen]))
        some = chosen.tolist()
        texts = [links.contexts[at] for at in some]
        texts += [links.anchors[at] for at in some]
        texts += [words_of(links.urls[at]) for at in some]
        return self.read(texts, language)

    def _worded(self, read: LinkTexts, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], Slots]:
        owner, numbers = read.take(texts)
        tokens = read.tokens
        column = fit(self._columns.get(tokens, _NOBODY), len(tokens.names), _UNMET)
        slots = column.take(numbers)
        new = new_among(numbers, slots, _UNMET)
        if new:
            column[new] = self._slots_of([tokens.names[token] for token in new], [tokens.stems[token] for token in new])
            slots = column.take(numbers)
        self._columns[tokens] = column
        has_slot = (slots >= 0).nonzero()[0]
        return owner.take(has_slot), slots.take(has_slot)

    def slots(self, stems: list[str], ids: NDArray[np.uint32]) -> NDArray[np.intp]:
        """The slots of a page's words; `stems` are all words of the crawl so far, by number."""
        if len(stems) > self._known:
            self._of_stem = fit(self._of_stem, len(stems))
            self._of_stem[self._known : len(stems)] = slots_of(stems[self._known :])
            self._known = len(stems)
        slots: NDArray[np.intp] = self._of_stem.take(ids).astype(np.intp)
        return slots

    def state(self) -> State:
        """The slots of the crawl's words; tokens of links are met again."""
        return plain(self, "_meet", "_tokens", "_columns")

    def _tokens_of(self, language: str) -> Tokens:
        """For texts that nobody has cut. Moved to the end: those at the front have not been used for longest."""
        tokens = self._tokens.pop(language, None)
        if tokens is None or len(tokens.names) > 100_000:
            tokens = Tokens(language, bits=17)
            if len(self._tokens) >= LANGUAGES:
                del self._tokens[next(iter(self._tokens))]
        self._tokens[language] = tokens
        return tokens

    def _slots_of(self, tokens: list[bytes], stems: list[str]) -> Slots:
        slots = slots_of(stems)
        worded = [number for number, stem in enumerate(stems) if stem]
        if len(worded) < len(stems):
            slots[[number for number, stem in enumerate(stems) if not stem]] = _SKIP
        if self._meet is not None and worded:
            numbers = slots.tolist()
            self._meet([tokens[n].decode("utf-8", "ignore") for n in worded], [numbers[n] for n in worded])
        return slots


# -- meaning -----------------------------------------------------------------------------------------------

# What words mean, in numbers: how near a link's words are to the topic.

DIMENSIONS = 64  # the first of 256: they were trained to say the most
Matrix = NDArray[np.float32]


class Meaning:
    """A vector for each word met in links, and the topic's vector.

    >>> meaning = Meaning("coral reef")
    >>> meaning.meet(["corals", "train"], [1, 2])
    >>> near, far = meaning.similar(meaning.sums(np.array([1, 2], np.int32), np.array([1, 1]), np.array([0, 1])))
    >>> bool(near > .3 > far)
    True
    """

    def __init__(self, words: str = "", terms: Mapping[str, float] | None = None) -> None:
        from lycosa.text.embeddings import vectors, word_vectors  # reads 8 MB: only where a crawl is made

        self._vectors, self._word_vectors = vectors, word_vectors
        self.topic = self._topic(words, terms or {})
        self._words: dict[int, str] = {}  # word of each slot
        self._place = np.zeros(SLOTS, np.int32)  # line of each slot's vector; 0: not looked up
        self._lines = np.zeros((1024, DIMENSIONS), np.float32)
        self._count = 1

    def meet(self, words: list[str], slots: list[int]) -> None:
        """Remember words, which are looked up when someone asks; of several words in one slot the first one counts."""
        for slot, word in zip(slots, words, strict=True):
            self._words.setdefault(slot, word)

    def sums(self, slots: Slots, counts: NDArray[np.intp], begins: NDArray[np.intp]) -> Matrix:
        """The sum of each text's words: how many it has, and where among the slots they begin."""
        worded = counts.nonzero()[0]
        summed = np.zeros((len(counts), DIMENSIONS), np.float32)
        if len(worded):
            lines = self._lines_of(slots)
            summed[worded] = np.add.reduceat(self._lines.take(lines, axis=0), begins.take(worded), axis=0)
        return summed

    def _lines_of(self, slots: Slots) -> Slots:
        """Where the vectors of words are that were met; 0 for no word."""
        lines = self._place.take(slots)
        if new := [slot for slot in new_among(slots, lines, 0) if slot in self._words]:
            self._look_up(new)
            lines = self._place.take(slots)
        return lines

    def _look_up(self, slots: list[int]) -> None:
        """The vectors of words that were met."""
        begin, end = self._count, self._count + len(slots)
        self._lines = fit(self._lines, end)
        words = [self._words[slot] for slot in slots]
        vectors = self._word_vectors([*words, ""])[:-1, :DIMENSIONS]  # one alone would be rounded in another way
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        self._lines[begin:end] = vectors / np.maximum(lengths, 1e-6)[:, None]
        self._place[slots] = np.arange(begin, end)
        self._count = end

    def similar(self, summed: Matrix) -> NDArray[np.float32]:
        """Return the cosine of each text with the topic; 0 for a text without a word."""
        length = np.sqrt(np.einsum("ij,ij->i", summed, summed))
        inverse = 1.0 / np.maximum(length, 1e-6)
        inverse[length == 0.0] = 0.0
        cosines: NDArray[np.float32] = (summed @ self.topic) * inverse
        return cosines

    def state(self) -> State:
        words = {
            "slots": Grown(self._words, lambda some: np.array(some, np.int32)),
            "words": Texts(self._words.values()),
        }
        return {**words, "numbers": plain(self, "_vectors", "_word_vectors", "_words")}

    def restore(self, state: State) -> None:
        self._words = dict(zip(state["slots"].tolist(), state["words"], strict=True))
        put_back(self, state["numbers"])

    def _topic(self, words: str, terms: Mapping[str, float]) -> NDArray[np.float32]:
        if words:
            vector = self._vectors([words])[0]
        else:
            heavy = sorted(terms.items(), key=lambda term: (-term[1], term[0]))[:40]
            vector = np.zeros(DIMENSIONS, np.float32)
            if heavy:
                vector = np.array([weight for _, weight in heavy]) @ self._vectors([term for term, _ in heavy])
        vector = vector[:DIMENSIONS].astype(np.float32)
        unit: NDArray[np.float32] = vector / max(float(np.sqrt(vector @ vector)), 1e-6)
        return unit


def meaning_of(words: str, terms: Mapping[str, float]) -> Meaning | None:
    """None where the vectors cannot be read: scent then goes by the words alone."""
    try:
        return Meaning(words, terms)
    except InputError:
        return None
