"""Metadata from meta elements and JSON-LD (author, dates, site name, licence), and URLs in plain text."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_VALUE_LENGTH = 200  # characters per value

_META_NAMES = {
    "author": "author article:author dc.creator dcterms.creator citation_author parsely-author",
    "published": "article:published_time date dc.date dc.date.issued dcterms.issued dcterms.created "
    "citation_publication_date datepublished pubdate parsely-pub-date",
    "modified": "article:modified_time og:updated_time last-modified dcterms.modified",
    "site": "og:site_name application-name",
    "licence": "dc.rights dcterms.license dcterms.rights",
}
META = {name: value for value, names in _META_NAMES.items() for name in names.split()}  # lower-case name -> ours
# The first key that is present counts.
_LINKED_DATA = {
    "author": ("author", "creator"),
    "published": ("datePublished", "dateCreated"),
    "modified": ("dateModified",),
    "licence": ("license",),
    "site": ("publisher",),
}


def add_value(facts: dict[str, str], name: str, value: str) -> None:
    """Store a value unless the name has one already; a URL is not accepted as an author."""
    value = " ".join(value[: 2 * MAX_VALUE_LENGTH].split())[:MAX_VALUE_LENGTH]
    if value and name not in facts and not (name == "author" and value.startswith("http")):
        facts[name] = value


def read_json_ld(facts: dict[str, str], script: str) -> str:
    """Store the metadata of a JSON-LD script and return its article text; malformed JSON is ignored.

    >>> about = {}
    >>> read_json_ld(about, '{"@graph": [{"author": {"name": "Ann"}, "datePublished": "2024", "articleBody": "Sea"}]}')
    'Sea'
    >>> about
    {'author': 'Ann', 'published': '2024'}
    """
    if len(script) > 100_000:
        return ""
    try:
        data = json.loads(script)
    except (ValueError, RecursionError):
        return ""
    article = ""
    if isinstance(data, dict) and isinstance(data.get("@graph"), list):
        data = data["@graph"]
    for thing in (data if isinstance(data, list) else [data])[:20]:
        if isinstance(thing, dict):
            for name, keys in _LINKED_DATA.items():
                for key in keys:
                    add_value(facts, name, _value(thing.get(key)))
            article = article or _value(thing.get("articleBody"))
    return article


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, (_value(each) for each in value[:5] if not isinstance(each, list))))
    if isinstance(value, dict):
        value = value.get("name") or value.get("url")
    return value if isinstance(value, str) else ""


_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`{}|\\^\u00ab\u00bb\u201c\u201d\u2018\u2019]{3,2000}", re.I)
_PAIRS = {")": "(", "]": "["}


def find_urls(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each URL in a text, without trailing punctuation."""
    found: list[tuple[int, int]] = []
    if "://" not in text and "www." not in text.lower():
        return found
    for match in _URL.finditer(text):
        url = match[0]
        while url[-1] in ".,;:!?*_~" or (url[-1] in _PAIRS and url.count(url[-1]) > url.count(_PAIRS[url[-1]])):
            url = url[:-1]
            if not url:
                break
        if len(url) > 8:
            found.append((match.start(), match.start() + len(url)))
    return found


def as_href(url: str) -> str:
    return f"http://{url}" if url[:4].lower() == "www." else url
