"""Raw tokens to term ids, a page at a time: 2,800 tokens in 0.12 ms, where a dictionary of bytes takes 0.4.

Cutting a page into Python objects and hashing each is what costs, so the page stays one buffer. A token's key is its
first eight bytes read as an integer, longer ones mixed in; the key picks a slot of a table. A slot is never given away:
whoever comes first keeps it, and on the web the frequent words come first. The few tokens that find their slot empty or
taken go through a dictionary, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lycosa.text.languages import ENGLISH
from lycosa.text.tokens import LONGEST, OPEN_TOKEN, stem_all

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
"""Masks that keep the first n bytes of a word of eight."""

_LONGEST_BYTES = 4 * LONGEST
_PAD = b" " * (_LONGEST_BYTES + 16)
_MOST_TOKENS = 1_000_000
_BITS = 20


class Lexicon:
    """Remembers the id of every raw token; `look_up` is asked for those it has not met.

    It has 2^`bits` slots, 12 bytes each, and forgets everything when it knows `most` tokens (a million if not given).

    >>> lexicon = Lexicon(look_up=lambda tokens: [len(token) for token in tokens])
    >>> lexicon.ids(b"coral reef bleaching coral").tolist()
    [5, 4, 9, 5]
    """

    def __init__(
        self, look_up: Callable[[list[bytes]], list[int]], *, bits: int = _BITS, most: int | None = None
    ) -> None:
        self._look_up = look_up
        self._most = most if most is not None else _MOST_TOKENS
        self._shift = np.uint64(64 - bits)
        self._keys = np.zeros(1 << bits, np.uint64)
        self._ids = np.zeros(1 << bits, np.int32)
        self._known: dict[bytes, int] = {}

    def ids(self, folded: bytes) -> NDArray[np.int32]:
        """The ids of the tokens of a folded text, in order."""
        buffer = b" " + folded + _PAD
        letters = np.frombuffer(buffer, np.uint8) != 32
        edges = (letters[1:] != letters[:-1]).nonzero()[0]
        edges += 1
        starts, ends = edges[0::2].copy(), edges[1::2]
        keys = _keys(buffer, starts, ends - starts)
        slots = ((keys * _MIX) >> self._shift).view(np.intp)
        ids = self._ids.take(slots)
        strange = (self._keys.take(slots) != keys).nonzero()[0]
        if len(strange):
            ids[strange] = new_ids = self._slowly(buffer, starts[strange].tolist(), ends[strange].tolist())
            slots, keys = slots[strange], keys[strange]
            empty = self._keys[slots] == 0
            self._keys[slots[empty]] = keys[empty]
            # Of several newcomers to one slot the last has left its key: only its id may stand there.
            in_slot = self._keys[slots] == keys
            self._ids[slots[in_slot]] = new_ids[in_slot]
        return ids

    def _slowly(self, buffer: bytes, starts: list[int], ends: list[int]) -> NDArray[np.int32]:
        """The ids of some tokens, by the dictionary; those it does not know are looked up all at once."""
        return np.array(self.of([buffer[start:end] for start, end in zip(starts, ends, strict=True)]), np.int32)

    def of(self, tokens: list[bytes], look_up: Callable[[list[bytes]], list[int]] | None = None) -> list[int]:
        """The ids of some raw tokens; `look_up` is asked instead of the usual one."""
        id_of = self._known
        if len(id_of) >= self._most:
            id_of.clear()
            self._keys[:] = 0
        ids = list(map(id_of.get, tokens))
        if None not in ids:
            return cast(list[int], ids)
        new = list(dict.fromkeys([token for token, known in zip(tokens, ids, strict=True) if known is None]))
        id_of.update(zip(new, (look_up or self._look_up)(new), strict=True))
        return [id_of[token] for token in tokens]


class Tokens:
    """Raw tokens of a language by number, in the order in which they were met, with their stems.

    Whoever needs something of words (their terms, their vectors) keeps a column by these numbers: so a text is cut, and
    its words are looked up, once for all.

    >>> tokens = Tokens()
    >>> tokens.read(b"corals of the reef corals").tolist(), tokens.stems
    ([1, 2, 3, 4, 1], ['', 'coral', '', '', 'reef'])
    """

    def __init__(self, language: str = ENGLISH, *, bits: int = _BITS) -> None:
        self.language = language
        self.names: list[bytes] = []
        self.stems: list[str] = []
        """Empty for what is no word: stop words, marks of links, noise."""
        self._lexicon = Lexicon(self._meet, bits=bits)
        self.mark = int(self.read(OPEN_TOKEN)[0])
        """The number of what stands between texts."""

    def read(self, folded: bytes) -> NDArray[np.int32]:
        """The numbers of a folded text's tokens, in order."""
        return self._lexicon.ids(folded)

    def _meet(self, tokens: list[bytes]) -> list[int]:
        before = len(self.names)
        self.names += tokens
        self.stems += stem_all(tokens, self.language)
        return list(range(before, len(self.names)))


def new_among(numbers: NDArray[np.int32], known: NDArray[np.int32], unknown: int) -> list[int]:
    """The distinct numbers of which nothing is known yet, in the order in which they come.

    >>> new_among(np.array([2, 0, 2, 1], np.int32), np.array([-9, -9, -9, 5], np.int32), -9)
    [2, 0]
    """
    return list(dict.fromkeys(numbers[known == unknown].tolist()))


def _keys(buffer: bytes, starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A number for each token: exact up to eight bytes, a hash beyond, cut off where no word is that long."""
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, strides=(1,))
    keys: NDArray[np.uint64] = words[starts]
    keys &= _FIRST.take(lengths, mode="clip")
    long = (lengths > 8).nonzero()[0]
    offset = 8
    while len(long) and offset <= _LONGEST_BYTES:
        size = lengths.take(long)
        more = words[starts.take(long) + offset]
        more &= _FIRST.take(size - offset, mode="clip")
        keys[long] = (keys.take(long) * _MIX) ^ more
        offset += 8
        long = long[size > offset]
    return keys
