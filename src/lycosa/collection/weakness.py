"""Whether a topic's words can tell pages apart at all: hardly any page has them, or nearly all have."""

from __future__ import annotations

import re

from lycosa.collection.reading import Collection
from lycosa.store.log import VISITS
from lycosa.text.tokens import stems

LOOKED_AT = 1_000
"""Pages that are looked at, the first ones: a moment's work."""

FEWEST = 20
"""Of fewer pages nothing is said."""

RARE, RARE_PAGES, COMMON = 0.03, 2, 0.9
"""Shares of the pages that have the words: with fewer, or no more than so many, they are rare; with more common."""

ENOUGH = 3
"""Words of a topic that a page must have, if it has more of them."""

_SAID = {1: "the word", 2: "both words"}
_UNWANTED = re.compile(r"(?<!\S)-\S+")


def weakness(collection: Collection, pages: int) -> str:
    """What to say of the topic's words, if they are weak; empty if they are not, or if it is no topic of words."""
    options = collection.options
    if not options.topic or pages < FEWEST:
        return ""
    language = options.languages[0] if options.languages else "en"
    wanted = list(dict.fromkeys(stems(_UNWANTED.sub(" ", options.topic), language)))
    if not wanted:
        return ""
    needed = min(len(wanted), ENOUGH)
    words_before, looked_at, having = 0, 0, 0
    numbers: set[int] = set()
    for visit in collection.log.visits(VISITS):
        numbers.update(words_before + place for place, stem in enumerate(visit.terms.new) if stem in wanted)
        words_before += len(visit.terms.new)
        if visit.is_page:
            looked_at += 1
            having += len(numbers.intersection(visit.terms.ids.tolist())) >= needed
            if looked_at == LOOKED_AT:
                break
    return told(having, looked_at, len(wanted))


def told(having: int, pages: int, words: int) -> str:
    """In words.

    >>> told(3, 300, 2)
    'only 3 of 300 pages have both words: name other words, or pages as examples'
    >>> told(299, 300, 1)
    '299 of 300 pages have the word: it does not tell pages apart'
    >>> told(50, 300, 4)
    ''
    """
    the_words = _SAID.get(words, "all words" if words <= ENOUGH else f"{ENOUGH} of the {words} words")
    of = f"{having:,} of {pages:,} pages {'has' if having == 1 else 'have'} {the_words}"
    if having <= max(RARE_PAGES, RARE * pages):
        of = f"none of {pages:,} pages has {the_words}" if not having else f"only {of}"
        return f"{of}: name other words, or pages as examples"
    if having >= COMMON * pages:
        return f"{of}: {'it does' if words == 1 else 'they do'} not tell pages apart"
    return ""
