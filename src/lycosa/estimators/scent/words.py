"""The words of links as numbers: a page's texts are read at once, and each stem has a slot of its own, or nearly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, plain
from lycosa.core.types import Links
from lycosa.text.addresses import words_of
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.lexicon import Tokens, new_among
from lycosa.text.link_texts import LinkTexts

SLOTS = 1 << 18
"""Places for stems, chosen by a hash: what is learned of words takes the same memory however long a crawl is. With
100,000 stems two thirds are alone in their slot; those that are not are rare words, mostly."""

NOWHERE = 0
"""The slot of no word."""

LANGUAGES = 8
_REMEMBERED, _BITS = 100_000, 17
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
    try:
        hashes = np.fromiter(map(crc32, map(str.encode, stems)), np.uint32, len(stems))
    except UnicodeEncodeError:  # half of a character
        return np.array([slot_of(stem) for stem in stems], np.int32)
    return (1 + hashes % np.uint32(SLOTS - 1)).astype(np.int32)


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
        if tokens is None or len(tokens.names) > _REMEMBERED:
            tokens = Tokens(language, bits=_BITS)
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
