"""Words that carry no topic, a file for each language: articles, pronouns, prepositions, conjunctions, auxiliaries.

They are kept as `lycosa.text.tokens` folds them: no capitals, Greek without accents, Serbian in Latin letters, Yiddish
without points, and so on. The English list has the furniture of web pages as well.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

WEB = frozenset({"www", "http", "https", "com", "html"})  # stop words in every language


@cache
def stop_words(code: str) -> frozenset[str]:
    """The stop words of one of our languages, by its two letters; for another language those of addresses only.

    >>> "und" in stop_words("de"), "and" in stop_words("de"), len(stop_words("ja"))
    (True, False, 5)
    """
    try:
        text = (files(__name__) / f"{code}.txt").read_text("utf-8")
    except FileNotFoundError:
        text = ""
    return WEB.union(text.split())


ENGLISH = stop_words("en")
