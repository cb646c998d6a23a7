"""The words of links as numbers: a page's texts are read at once, and each stem has a slot of its own, or nearly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import State, plain
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.lexicon import Lexicon
from lycosa.text.tokens import OPEN_TOKEN, fold_all, stem_all

SLOTS = 1 << 18
"""Places for stems, chosen by a hash: what is learned of words takes the same memory however long a crawl is. With
100,000 stems two thirds are alone in their slot; those that are not are rare words, mostly."""

NOWHERE = 0
"""The slot of no word."""

LANGUAGES = 8
_REMEMBERED, _BITS = 100_000, 17
_SKIP, _BREAK = -1, -2

Slots = NDArray[np.int32]


def slot_of(stem: str) -> int:
    """Where what is known of a stem is kept."""
    return 1 + crc32(stem.encode("utf-8", "replace")) % (SLOTS - 1)


class LinkWords:
    """Texts to slots. `meet` is told of words that are new, with their slots.

    >>> words = LinkWords()
    >>> text, slot = words.read(["coral reefs", "", "the reef"])
    >>> text.tolist(), slot.tolist() == [slot_of("coral"), slot_of("reef"), slot_of("reef")]
    ([0, 0, 2], True)
    """

    def __init__(self, meet: Callable[[list[str], list[int]], None] | None = None) -> None:
        self._meet = meet
        self._lexicons: dict[str, Lexicon] = {}
        self._of_stem = np.zeros(1024, np.int32)
        self._known = 0

    def read(self, texts: Sequence[str], language: str = ENGLISH) -> tuple[NDArray[np.intp], Slots]:
        """The words of all texts: of each the number of its text, and its slot."""
        language = code_of(language, ENGLISH)
        lexicon = self._lexicon(language)
        slots = lexicon.ids(fold_all(texts, language))
        owner = (slots == _BREAK).cumsum()
        has_slot = (slots >= 0).nonzero()[0]
        return owner[has_slot], slots[has_slot]

    def slots(self, stems: list[str], ids: NDArray[np.uint32]) -> NDArray[np.intp]:
        """The slots of a page's words; `stems` are all words of the crawl so far, by number."""
        if len(stems) > self._known:
            self._of_stem = fit(self._of_stem, len(stems))
            self._of_stem[self._known : len(stems)] = [slot_of(stem) for stem in stems[self._known :]]
            self._known = len(stems)
        slots: NDArray[np.intp] = self._of_stem[ids].astype(np.intp)
        return slots

    def state(self) -> State:
        """The slots of the crawl's words; tokens of links are met again."""
        return plain(self, "_meet", "_lexicons")

    def _lexicon(self, language: str) -> Lexicon:
        """Moved to the end: the one at the front has not been used for longest."""
        lexicon = self._lexicons.pop(language, None)
        if lexicon is None:
            lexicon = Lexicon(partial(self._numbers, language), bits=_BITS, most=_REMEMBERED)
            if len(self._lexicons) >= LANGUAGES:
                del self._lexicons[next(iter(self._lexicons))]
        self._lexicons[language] = lexicon
        return lexicon

    def _numbers(self, language: str, tokens: list[bytes]) -> list[int]:
        stems = stem_all(tokens, language)
        numbers = [slot_of(stem) if stem else _SKIP for stem in stems]
        if self._meet is not None:
            worded = [number for number, stem in enumerate(stems) if stem]
            self._meet([tokens[n].decode("utf-8", "ignore") for n in worded], [numbers[n] for n in worded])
        return [_BREAK if token == OPEN_TOKEN else number for token, number in zip(tokens, numbers, strict=True)]
