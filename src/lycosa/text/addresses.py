"""The words of an address, for whoever reads URLs as text."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

_ENDING = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jspx?|cgi|do)$", re.IGNORECASE)
"""What a page was made with says nothing of what is on it."""

_HUMP = re.compile(r"(?<=[a-z][a-z])(?=[A-Z])|(?<=[A-Z][A-Z])(?=[A-Z][a-z])")
"""Where camelCase words meet. One small letter alone is no word: iPhone, eBay."""

_WORD = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|[^\W\d_]+(?:\d{1,2}(?!\d)[^\W\d_]*)*")
"""Letters, with a digit or two among them (mp3, covid19), or a year. Other numbers are no words."""

_UNDER_COUNTRIES = frozenset(("ac", "co", "com", "edu", "go", "gob", "gov", "govt", "ne", "net", "or", "org"))
"""Second labels that belong to the suffix, below a country's: co.uk, com.au."""

MOST = 2000
"""Characters that are read of an address."""


@lru_cache(maxsize=1 << 14)  # the links of a site's menu are met on each of its pages
def words_of(url: str) -> str:
    """The words of a URL, spaces between them, as they are written: host, path and query.

    Percent-encoding is undone, words are cut at punctuation, camelCase and long numbers. Of the host, `www` and the
    public suffix are left out (by rule of thumb: `co.uk` is known as one, `github.io` is not); so are scheme, port,
    password, fragment, `.html` and the like, and numbers that are no years. What has no scheme is read as a path.

    >>> words_of("https://www.reef-life.co.uk/2016/coralBleaching_part2.html?q=great+barrier&id=80231#top")
    'reef life 2016 coral Bleaching part2 q great barrier id'
    """
    scheme, mark, rest = url[:MOST].partition("://")
    if not mark:
        host, rest = "", scheme
    else:
        end = rest.find("/")
        if end < 0 or "?" in rest[:end] or "#" in rest[:end]:
            end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
        host, rest = _host(rest[:end]), rest[end:]
    path, _, query = rest.partition("#")[0].partition("?")
    text = f"{host} {_ENDING.sub('', path)} {query.replace('+', ' ')}"
    if "%" in text:
        text = unquote(text)
    if not text.islower():
        text = _HUMP.sub(" ", text)
    return " ".join(_WORD.findall(text))


@lru_cache(maxsize=1 << 12)
def _host(authority: str) -> str:
    """The labels of a host that say something; none for an IP address."""
    name = authority.rpartition("@")[2]
    if name.startswith("["):
        return ""
    labels = name.partition(":")[0].lower().rstrip(".").split(".")
    if labels[-1].isdigit():
        return ""
    names = labels[:-1]
    if len(names) > 1 and len(labels[-1]) == 2 and names[-1] in _UNDER_COUNTRIES:
        names = names[:-1]
    return " ".join(_spelt(label) for label in names if label != "www")


def _spelt(label: str) -> str:
    """A label as people read it: xn--mnchen-3ya is münchen."""
    if label.startswith("xn--"):
        try:
            return label[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return ""
    return label
