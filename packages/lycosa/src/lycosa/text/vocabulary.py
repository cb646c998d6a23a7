"""Words to term ids: a page is tokenised once, and everyone who needs words takes slices of the same array.

A lexicon remembers every raw token, which stands in for stop list, stemmer and vocabulary. Ids are given in the order
in which the log met the terms, so the vocabulary is a fold over the log like everything else.

A page is read in the language it declares, each by a lexicon of its own. The terms are common to all: a stem has one
id, whatever language it came from. The log keeps stems, so a replay need not know the languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit, runs
from lycosa.core.errors import DamagedError
from lycosa.core.state import State, Texts
from lycosa.core.types import ADDRESS, HEADING, LEAD, MAIN, TITLE, Links, Page, Terms, Visit
from lycosa.text.fingerprint import Signs
from lycosa.text.languages import ENGLISH, code_of, sounds_like
from lycosa.text.tokens import CLOSE_TOKEN, OPEN_TOKEN, Tokens, fold, fold_all, new_among, words_of

# ids: stop word or single letter, start of a link, its end, next part of a page
SKIP, OPENS, CLOSES, BREAK = -1, -2, -3, -4
HEAD = 2000  # characters that tell what a page is about
LEXICONS = 8  # languages beside the vocabulary's own whose tokens are cached: 131,072 tokens, 3 MB each
_UNMET = -9

_BREAK_TOKEN = b"\x03"  # `fold` leaves none of these in a text
_MARKS = {OPEN_TOKEN: OPENS, CLOSE_TOKEN: CLOSES, _BREAK_TOKEN: BREAK}
_BREAK_BETWEEN = b" " + _BREAK_TOKEN + b" "
_PARTS = (TITLE, HEADING, LEAD, ADDRESS)


class Head(NamedTuple):
    """The title and the first `HEAD` characters of the main part, or of the text: what a page is about."""

    tokens: Tokens
    numbers: NDArray[np.int32]


@dataclass(slots=True)
class PageWords:
    """All words of a page as ids in order, links marked; and as a bag those of its main part, where it has one."""

    ids: NDArray[np.int32]
    terms: Terms
    simhash: int
    vocabulary: Vocabulary
    language: str = ENGLISH  # whose stop words and stemmer were used; empty: none
    head: Head | None = None  # how the page begins; None if it was not read just now

    def spans(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where each link's words begin and end in `ids`, by the link's position on the page.

        Empty if the marks do not pair up: then anchors have to be read from the links themselves.
        """
        opens = np.flatnonzero(self.ids == OPENS)
        closes = np.flatnonzero(self.ids == CLOSES)
        if len(opens) != len(closes) or (opens > closes).any():
            opens = closes = opens[:0]
        return opens + 1, closes

    def unlinked(self) -> NDArray[np.int32]:
        """The words outside links."""
        inside = np.cumsum((self.ids == OPENS).astype(np.int32) - (self.ids == CLOSES))
        return self.ids[(self.ids >= 0) & (inside <= 0)]


class Vocabulary:
    """All terms met so far, and in how many pages each occurs.

    >>> words = Vocabulary()
    >>> reading = words.read(Page("ok", marked="Corals bleach; the \\x01bleaching reef\\x02 too."))
    >>> [words.terms[i] for i in reading.terms.ids], reading.terms.counts.tolist()
    (['coral', 'bleach', 'reef'], [1, 2, 1])
    >>> reading.terms.marks.tolist() == [MAIN, MAIN, MAIN]
    True
    >>> starts, ends = reading.spans()
    >>> [words.terms[i] for i in reading.ids[starts[0] : ends[0]]]
    ['bleach', 'reef']

    `language` is that of pages which do not say theirs. One without a stemmer leaves their words as they are.

    >>> page = Page("ok", marked="Die Häuser am Riff", language="de-AT")
    >>> [words.terms[i] for i in words.read(page).terms.ids]
    ['haus', 'riff']
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = code_of(language, ENGLISH)
        self.terms: list[str] = []
        self.id_of: dict[str, int] = {}
        self.pages = 0
        self.frequency = np.zeros(4096, np.uint32)  # pages of the log with each term
        self._own = _Language(Tokens(self.language))
        self._others: dict[str, _Language] = {}
        self.signs = Signs()
        self._marked = np.zeros(4096, np.uint8)

    def read(self, page: Page) -> PageWords:
        """Tokenise a page. New words get the next free ids."""
        before = len(self.terms)
        language, every, head = self.numbered(page)
        breaks = np.flatnonzero(every == BREAK).tolist()
        ids = every[: breaks[0]]
        title = _words(every[breaks[0] : breaks[1]])
        bag = _bag(_words(every[breaks[4] :]), title) if page.main else _bag(_words(ids))
        bag.new = self.terms[before:]
        self._fit()
        bag.marks = self._where(bag, every, breaks, title if page.main else title[:0])
        self.signs.extend(self.terms)
        return PageWords(ids, bag, self.signs.simhash(bag.ids, bag.counts), self, language, head)

    def numbered(self, page: Page) -> tuple[str, NDArray[np.int32], Head | None]:
        """The language of a page, the ids of all its words (the whole, and again part by part), and how it begins."""
        language = self._language_of(page)
        known = self._known(language)
        # The whole comes first, so that its new words have the ids that they would have without the parts.
        parts = [f"{page.title} {page.marked}", page.title, page.headings, page.lead, words_of(page.node), page.main]
        parts.append(f"{page.title} {(page.main or page.text)[:HEAD]}")  # cut within a word, which is none of the page
        tokens = known.tokens.read(_BREAK_BETWEEN.join([fold(part, language) for part in parts]))
        end = int(np.flatnonzero(tokens == known.mark)[-1])
        return language, self._terms_of(tokens[:end], known), Head(known.tokens, tokens[end + 1 :])

    def _terms_of(self, tokens: NDArray[np.int32], known: _Language) -> NDArray[np.int32]:
        """The ids of tokens; a new stem gets the next free one."""
        known.terms = fit(known.terms, len(known.tokens.names), _UNMET)
        ids = known.terms.take(tokens)
        new = new_among(tokens, ids, _UNMET)
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
                stems[token] = terms[number]  # one string for all tokens that have it
            numbers.append(number)
        known.terms[new] = numbers
        return known.terms.take(tokens)

    def _where(
        self, bag: Terms, every: NDArray[np.int32], breaks: list[int], title: NDArray[np.int32]
    ) -> NDArray[np.uint8]:
        """In which parts each of the bag's terms occurs; `title` are the words of it that are not of the main part."""
        if len(self._marked) < len(self.terms):
            self._marked = np.zeros(len(self.frequency), np.uint8)
        marked = self._marked
        for bit, start, end in zip(_PARTS, breaks, breaks[1:], strict=False):
            if end > start + 1:
                marked[_words(every[start:end])] |= bit
        marks: NDArray[np.uint8] = marked[bag.ids]
        marked[_words(every[breaks[0] : breaks[4]])] = 0
        if len(title):
            marks[bag.counts > np.bincount(np.searchsorted(bag.ids, title), minlength=len(marks))] |= MAIN
        else:
            marks |= MAIN
        return marks

    def _language_of(self, page: Page) -> str:
        """What the page declares. A guess has to sound like it: lists of names are taken for anything."""
        language = code_of(page.language, self.language)
        if page.guessed and language != self.language and not sounds_like(page.text, language, self.language):
            return self.language
        return language

    def learn(self, visit: Visit) -> None:
        """Take in a recorded visit: the words it was the first to use, and which words it has."""
        if visit.terms.new and visit.terms.new[-1] not in self.id_of:  # replayed; live, `read` has added them
            self._append(visit.terms.new)
        if len(visit.terms.ids) and visit.kind != "revisit":  # another version of a page that was counted
            if int(visit.terms.ids.max()) >= len(self.terms):
                raise DamagedError(
                    f"the log is damaged, {visit.node} has words that no visit brought: lycosa check DIR"
                )
            self._fit()
            self.pages += 1
            self.frequency[visit.terms.ids] += 1

    def state(self) -> State:
        return {"terms": Texts(self.terms), "pages": self.pages, "frequency": self.frequency}

    def restore(self, state: State) -> None:
        self.terms, self.pages, self.frequency = state["terms"], state["pages"], state["frequency"]
        self.id_of = dict(zip(self.terms, range(len(self.terms)), strict=True))

    def follow(self, stems: list[str]) -> None:
        """Number words as a crawl does: `stems` are all of its words so far (`Table.stems`), in order.

        For whoever keeps a vocabulary of their own, and does not see every visit that brings new words.
        """
        if len(stems) > len(self.terms):
            self._append(stems[len(self.terms) :])
            self._fit()

    def _append(self, stems: list[str]) -> None:
        for term in stems:
            self.id_of[term] = len(self.terms)
            self.terms.append(term)

    def idf(self, ids: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Inverse document frequency, learned as the crawl goes: all words weigh the same until a page is in."""
        return self.idf_by(self.frequency[ids])

    def idf_by(self, frequency: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The same of words that so many pages have. One that no page has had yet counts as if one had."""
        rarity: NDArray[np.float64] = np.log((self.pages + 1) / (np.maximum(frequency, 1) + 0.5)) + 1.0
        return rarity

    def _known(self, language: str) -> _Language:
        """What was met of a language. Of the others it moves to the end: the first was not used for longest."""
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
        if len(self.terms) > len(self.frequency):
            grown = np.zeros(max(len(self.terms), 2 * len(self.frequency)), np.uint32)
            grown[: len(self.frequency)] = self.frequency
            self.frequency = grown


class _Language:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.mark = int(tokens.read(_BREAK_TOKEN)[0])
        self.terms = np.full(1024, _UNMET, np.int32)


def _words(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    return ids[ids >= 0]


def _bag(*parts: NDArray[np.int32]) -> Terms:
    """How often each word occurs in some parts of a page together."""
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


# -- texts of links ----------------------------------------------------------------------------------------

# What is said of a page's links (contexts, anchors, addresses), cut into tokens once for all who read it.

PARTS = ("context", "anchor", "url")


@dataclass(slots=True)
class LinkTexts:
    """Texts as numbers of tokens, one after the other; those of text i are `numbers[starts[i] : starts[i + 1]]`.

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
        return cls.cut([*links.contexts, *links.anchors, *map(words_of, links.urls)], tokens)

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
        """Where among the numbers the texts of one part start, and where the last one ends."""
        n = (len(self.starts) - 1) // len(PARTS)
        first = PARTS.index(name) * n
        return self.starts[first : first + n + 1]

    def part(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The tokens of one part, and of each the number of its link."""
        starts = self.starts_of(name)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), self.numbers[starts[0] : starts[-1]]

    def take(self, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The tokens of some texts, in this order, and of each the place of its text among these."""
        starts = self.starts[texts]
        lengths = self.starts[texts + 1] - starts
        return np.repeat(np.arange(len(texts)), lengths), self.numbers.take(runs(starts, lengths))
