"""Vocabulary of a crawl: pages as arrays of term ids.

A page is tokenised once, and all parts of Lycosa share the resulting array. Term ids are assigned in the order of first
occurrence in the log, so the vocabulary can be rebuilt by replaying the log.

Each language has its own tokeniser, but the terms are common: a stem has one id in all languages. The log keeps stems,
so a replay does not depend on languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit, runs
from lycosa.core.errors import DamagedError
from lycosa.core.state import State, TextLines
from lycosa.core.types import ADDRESS, HEADING, LEAD, MAIN, TITLE, Links, Page, Terms, Visit
from lycosa.text.fingerprint import TermHashes
from lycosa.text.languages import ENGLISH, code_of, sounds_like
from lycosa.text.tokens import CLOSE_TOKEN, OPEN_TOKEN, Tokens, fold, fold_all, new_among, url_words

# ids of a stop word or single letter, the start of a link, its end, the next part of a page
SKIP, OPENS, CLOSES, BREAK = -1, -2, -3, -4
HEAD = 2000  # characters of the main part that represent the topic of a page
LEXICONS = 8  # cached languages besides the vocabulary's own, with 131,072 tokens or 3 MB each
_UNKNOWN = -9

_BREAK_TOKEN = b"\x03"  # never occurs in a text returned by `fold`
_MARKS = {OPEN_TOKEN: OPENS, CLOSE_TOKEN: CLOSES, _BREAK_TOKEN: BREAK}
_BREAK_BETWEEN = b" " + _BREAK_TOKEN + b" "
_PARTS = (TITLE, HEADING, LEAD, ADDRESS)


class Head(NamedTuple):
    """Tokens of the title and the first `HEAD` characters of the main part (or of the whole text)."""

    tokens: Tokens
    numbers: NDArray[np.int32]


@dataclass(slots=True)
class PageWords:
    """A tokenised page: all words in order with link marks, and a bag of the words of its main part."""

    ids: NDArray[np.int32]
    terms: Terms
    simhash: int
    vocabulary: Vocabulary
    language: str = ENGLISH  # language of stop words and stemmer; "" for none
    head: Head | None = None  # beginning of the page; None if the page was restored from the log

    def spans(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return start and end of each link's words in `ids`, by the link's position on the page.

        Empty if the marks are unbalanced, so that anchors have to be read from the links themselves.
        """
        opens = np.flatnonzero(self.ids == OPENS)
        closes = np.flatnonzero(self.ids == CLOSES)
        if len(opens) != len(closes) or (opens > closes).any():
            opens = closes = opens[:0]
        return opens + 1, closes

    def unlinked(self) -> NDArray[np.int32]:
        inside = np.cumsum((self.ids == OPENS).astype(np.int32) - (self.ids == CLOSES))
        return self.ids[(self.ids >= 0) & (inside <= 0)]


class Vocabulary:
    """Terms of all pages so far, with the number of pages that contain each.

    >>> words = Vocabulary()
    >>> reading = words.read(Page("ok", marked="Corals bleach; the \\x01bleaching reef\\x02 too."))
    >>> [words.terms[i] for i in reading.terms.ids], reading.terms.counts.tolist()
    (['coral', 'bleach', 'reef'], [1, 2, 1])
    >>> reading.terms.marks.tolist() == [MAIN, MAIN, MAIN]
    True
    >>> starts, ends = reading.spans()
    >>> [words.terms[i] for i in reading.ids[starts[0] : ends[0]]]
    ['bleach', 'reef']

    `language` is the default for pages that do not declare one. In a language without a stemmer, words are not stemmed.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = code_of(language, ENGLISH)
        self.terms: list[str] = []
        self.id_of: dict[str, int] = {}
        self.pages = 0
        self.frequency = np.zeros(4096, np.uint32)  # number of pages of the log with each term
        self._own = _Language(Tokens(self.language))
        self._others: dict[str, _Language] = {}
        self.term_hashes = TermHashes()
        self._marked = np.zeros(4096, np.uint8)

    def read(self, page: Page) -> PageWords:
        """Tokenise a page. New words get the next free ids."""
        before = len(self.terms)
        language, all_ids, head = self.numbered(page)
        breaks = np.flatnonzero(all_ids == BREAK).tolist()
        ids = all_ids[: breaks[0]]
        title = _words(all_ids[breaks[0] : breaks[1]])
        bag = _bag(_words(all_ids[breaks[4] :]), title) if page.main else _bag(_words(ids))
        bag.new = self.terms[before:]
        self._fit()
        bag.marks = self._part_marks(bag, all_ids, breaks, title if page.main else title[:0])
        self.term_hashes.extend(self.terms)
        return PageWords(ids, bag, self.term_hashes.simhash(bag.ids, bag.counts), self, language, head)

    def numbered(self, page: Page) -> tuple[str, NDArray[np.int32], Head | None]:
        """Return the language of a page, the ids of its words (the whole page, then part by part), and its head."""
        language = self._language_of(page)
        known = self._known(language)
        # The whole page first, so that ids do not depend on the parts.
        parts = [f"{page.title} {page.marked}", page.title, page.headings, page.lead, url_words(page.node), page.main]
        # the cut may split a word, so its terms are not added to the vocabulary
        parts.append(f"{page.title} {(page.main or page.text)[:HEAD]}")
        tokens = known.tokens.read(_BREAK_BETWEEN.join([fold(part, language) for part in parts]))
        end = int(np.flatnonzero(tokens == known.mark)[-1])
        return language, self._terms_of(tokens[:end], known), Head(known.tokens, tokens[end + 1 :])

    def _terms_of(self, tokens: NDArray[np.int32], known: _Language) -> NDArray[np.int32]:
        """Return the term ids of tokens; a new stem gets the next free id."""
        known.terms = fit(known.terms, len(known.tokens.names), _UNKNOWN)
        ids = known.terms.take(tokens)
        new = new_among(tokens, ids, _UNKNOWN)
        if not new:
            return ids
        id_of, terms, stems, names = self.id_of, self.terms, known.tokens.stems, known.tokens.names
        numbers = []
        for token in new:
            term = stems[token]
            number = id_of.get(term) if term else _MARKS.get(names[token], SKIP)
            if number is None:
                number = id_of[term] = len(terms)
                terms.append(term)
            elif term:
                stems[token] = terms[number]  # share one string between all tokens with this stem
            numbers.append(number)
        known.terms[new] = numbers
        return known.terms.take(tokens)

    def _part_marks(
        self, bag: Terms, all_ids: NDArray[np.int32], breaks: list[int], title: NDArray[np.int32]
    ) -> NDArray[np.uint8]:
        """Return the parts in which each term of the bag occurs; `title` has title words outside of the main part."""
        if len(self._marked) < len(self.terms):
            self._marked = np.zeros(len(self.frequency), np.uint8)
        marked = self._marked
        for bit, start, end in zip(_PARTS, breaks, breaks[1:], strict=False):
            if end > start + 1:
                marked[_words(all_ids[start:end])] |= bit
        marks: NDArray[np.uint8] = marked[bag.ids]
        marked[_words(all_ids[breaks[0] : breaks[4]])] = 0
        if len(title):
            marks[bag.counts > np.bincount(np.searchsorted(bag.ids, title), minlength=len(marks))] |= MAIN
        else:
            marks |= MAIN
        return marks

    def _language_of(self, page: Page) -> str:
        """Return the declared language, or a guessed one that passes `sounds_like`: names confuse the guesser."""
        language = code_of(page.language, self.language)
        if page.guessed and language != self.language and not sounds_like(page.text, language, self.language):
            return self.language
        return language

    def learn(self, visit: Visit) -> None:
        """Learn the new words and the page frequencies of a recorded visit."""
        # replayed from the log; in a live crawl `read` has added them
        if visit.terms.new and visit.terms.new[-1] not in self.id_of:
            self._append(visit.terms.new)
        # a revisit is another version of a page that is already counted
        if len(visit.terms.ids) and visit.kind != "revisit":
            if int(visit.terms.ids.max()) >= len(self.terms):
                message = f"the log is damaged, {visit.node} has words that no visit brought: lycosa check DIR"
                raise DamagedError(message)
            self._fit()
            self.pages += 1
            self.frequency[visit.terms.ids] += 1

    def state(self) -> State:
        return {"terms": TextLines(self.terms), "pages": self.pages, "frequency": self.frequency}

    def restore(self, state: State) -> None:
        self.terms, self.pages, self.frequency = state["terms"], state["pages"], state["frequency"]
        self.id_of = dict(zip(self.terms, range(len(self.terms)), strict=True))

    def follow(self, stems: list[str]) -> None:
        """Take over the word ids of a crawl; `stems` are all of its words so far (`Table.stems`), in order.

        Used by components that have a vocabulary of their own and do not see every visit.
        """
        if len(stems) > len(self.terms):
            self._append(stems[len(self.terms) :])
            self._fit()

    def _append(self, stems: list[str]) -> None:
        for term in stems:
            self.id_of[term] = len(self.terms)
            self.terms.append(term)

    def idf(self, ids: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the inverse document frequency of terms in the crawl so far; all are equal before the first page."""
        return self.idf_by(self.frequency[ids])

    def idf_by(self, frequency: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the idf for page frequencies; a frequency of 0 counts as 1."""
        rarity: NDArray[np.float64] = np.log((self.pages + 1) / (np.maximum(frequency, 1) + 0.5)) + 1.0
        return rarity

    def _known(self, language: str) -> _Language:
        """Return the token cache of a language; the least recently used language is dropped."""
        if language == self.language:
            if len(self._own.tokens.names) >= 1_000_000:
                self._own = _Language(Tokens(language))
            return self._own
        known = self._others.pop(language, None)
        if known is None or len(known.tokens.names) >= 1 << 17:
            known = _Language(Tokens(language, bits=18))
            if len(self._others) >= LEXICONS:
                del self._others[next(iter(self._others))]
        self._others[language] = known
        return known

    def _fit(self) -> None:
        self.frequency = fit(self.frequency, len(self.terms))


class _Language:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.mark = int(tokens.read(_BREAK_TOKEN)[0])
        self.terms = np.full(1024, _UNKNOWN, np.int32)


def _words(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    return ids[ids >= 0]


def _bag(*parts: NDArray[np.int32]) -> Terms:
    words = np.concatenate(parts)
    if not len(words):
        return Terms()
    words.sort()
    differs = np.empty(len(words) + 1, bool)
    differs[0] = differs[-1] = True
    np.not_equal(words[1:], words[:-1], out=differs[1:-1])
    edges = differs.nonzero()[0]
    first, counts = edges[:-1], edges[1:] - edges[:-1]
    return Terms(words[first].astype(np.uint32), np.minimum(counts, 65535).astype(np.uint16))


# Contexts, anchors and URLs of a page's links, tokenised once for all readers.

PARTS = ("context", "anchor", "url")


@dataclass(slots=True)
class LinkTexts:
    """Token numbers of several texts; text i has `numbers[starts[i] : starts[i + 1]]`.

    >>> links = Links(["http://a.test/reef"], ["Reefs"], ["On reefs"], [""], [0])
    >>> read = LinkTexts.of(links, Tokens())
    >>> [read.tokens.names[number] for number in read.part("context")[1]]
    [b'on', b'reefs']
    """

    tokens: Tokens
    numbers: NDArray[np.int32]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, links: Links, tokens: Tokens) -> LinkTexts:
        return cls.cut([*links.contexts, *links.anchors, *map(url_words, links.urls)], tokens)

    @classmethod
    def cut(cls, texts: list[str], tokens: Tokens) -> LinkTexts:
        numbers = tokens.read(fold_all(texts, tokens.language))
        is_mark = numbers == tokens.mark
        marks = is_mark.nonzero()[0]
        starts = np.zeros(len(texts) + 1, np.intp)
        starts[1:-1] = marks - np.arange(len(marks))
        starts[-1] = len(numbers) - len(marks)
        return cls(tokens, numbers[~is_mark], starts)

    def starts_of(self, name: str) -> NDArray[np.intp]:
        """Return the start of each text of one part in `numbers`, and the end of the last."""
        n = (len(self.starts) - 1) // len(PARTS)
        first = PARTS.index(name) * n
        return self.starts[first : first + n + 1]

    def part(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        starts = self.starts_of(name)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), self.numbers[starts[0] : starts[-1]]

    def take(self, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Return two arrays with an entry per word of the given texts: its index in `texts`, and its token number."""
        starts = self.starts[texts]
        lengths = self.starts[texts + 1] - starts
        return np.repeat(np.arange(len(texts)), lengths), self.numbers.take(runs(starts, lengths))
