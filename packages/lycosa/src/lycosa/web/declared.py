"""Metadata from meta elements and JSON-LD (author, dates, site name, licence), and URLs in plain text."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_VALUE_LENGTH = 200  # characters of a value

# meta elements by lower-case name
META = {
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "citation_author": "author",
    "parsely-author": "author",
    "article:published_time": "published",
    "date": "published",
    "dc.date": "published",
    "dc.date.issued": "published",
    "dcterms.issued": "published",
    "dcterms.created": "published",
    "citation_publication_date": "published",
    "datepublished": "published",
    "pubdate": "published",
    "parsely-pub-date": "published",
    "article:modified_time": "modified",
    "og:updated_time": "modified",
    "last-modified": "modified",
    "dcterms.modified": "modified",
    "og:site_name": "site",
    "application-name": "site",
    "dc.rights": "licence",
    "dcterms.license": "licence",
    "dcterms.rights": "licence",
}
_LINKED_DATA = {
    "author": "author",
    "creator": "author",
    "datePublished": "published",
    "dateCreated": "published",
    "dateModified": "modified",
    "license": "licence",
    "publisher": "site",
}


def add_value(about: dict[str, str], name: str, value: str) -> None:
    """Store a value unless the name has one already; a URL is not accepted as an author."""
    value = " ".join(value[: 2 * MAX_VALUE_LENGTH].split())[:MAX_VALUE_LENGTH]
    if value and name not in about and not (name == "author" and value.startswith("http")):
        about[name] = value


def read_json_ld(about: dict[str, str], script: str) -> str:
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
            for key, name in _LINKED_DATA.items():
                if key in thing:
                    add_value(about, name, _value(thing[key]))
            article = article or _value(thing.get("articleBody"))
    return article


def _value(value: Any) -> str:
    """Return a JSON-LD value as text: a string, the name or URL of an object, or up to five of them joined."""
    if isinstance(value, list):
        return ", ".join(filter(None, (_value(each) for each in value[:5] if not isinstance(each, list))))
    if isinstance(value, dict):
        value = value.get("name") or value.get("url")
    return value if isinstance(value, str) else ""


_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`{}|\\^\u00ab\u00bb\u201c\u201d\u2018\u2019]{3,2000}", re.I)
_PAIRS = {")": "(", "]": "["}


def find_addresses(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each web address in a text, without trailing punctuation."""
    found: list[tuple[int, int]] = []
    if "://" not in text and "www." not in text.lower():
        return found
    for match in _ADDRESS.finditer(text):
        address = match[0]
        while address[-1] in ".,;:!?*_~" or (
            address[-1] in _PAIRS and address.count(address[-1]) > address.count(_PAIRS[address[-1]])
        ):
            address = address[:-1]
            if not address:
                break
        if len(address) > 8:
            found.append((match.start(), match.start() + len(address)))
    return found


def as_href(address: str) -> str:
    return f"http://{address}" if address[:4].lower() == "www." else address
