"""Stop words, a file for each language: articles, pronouns, prepositions, conjunctions, auxiliaries.

They are folded like the output of `lycosa.text.tokens`: lower case, Greek without accents, Serbian in Latin letters,
Yiddish without points, and so on. The English list includes common navigation words of web pages.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

WEB = frozenset({"www", "com"})  # stop words in every language


@cache
def stop_words(code: str) -> frozenset[str]:
    """Return the stop words of a language by its two-letter code; for unknown languages, parts of URLs only.

    >>> "und" in stop_words("de"), "and" in stop_words("de"), len(stop_words("ja"))
    (True, False, 2)
    """
    try:
        text = (files(__name__) / f"{code}.txt").read_text("utf-8")
    except FileNotFoundError:
        text = ""
    return WEB.union(text.split())


ENGLISH = stop_words("en")
