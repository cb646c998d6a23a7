"""What a search engine answers: how it is asked (OpenSearch), and the results in its JSON, feed or page.

No network here: bytes in, addresses out. Everything is bounded, and nothing raises for what a body contains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

from lycosa.web.html import extract
from lycosa.web.inflate import charset_of
from lycosa.web.sources import decode, read_source
from lycosa.web.sources.markup import attributes, local, pieces
from lycosa.web.urls import canonical, resolve, site

MOST_BYTES = 2_000_000  # of an answer or a description

MOST_RESULTS = 1000
MOST_VALUES = 200_000  # of an answer in JSON
# the one whose results are told from its furniture best comes first
_FORMS = ("application/rss+xml", "application/atom+xml", "application/json", "text/html", "application/xhtml+xml")
_PARAMETER = re.compile(r"\{([\w:.-]*)(\?)?\}")
_KNOWN = {"startindex": "1", "startpage": "1", "language": "*", "inputencoding": "UTF-8", "outputencoding": "UTF-8"}
_KEYS = ("url", "link", "href", "uri", "unescapedUrl", "permalink", "html_url", "web_url")
_LINK = re.compile(rb"<link\b[^>]{0,2000}>", re.IGNORECASE)


def is_template(text: str) -> bool:
    """Whether words can be put into an address: it has {} or {searchTerms}.

    >>> is_template("https://a.example/find?q={}"), is_template("https://a.example/find?q=reefs")
    (True, False)
    """
    return any(match[1].lower() in ("", "searchterms") for match in _PARAMETER.finditer(text))


def filled(template: str, words: str, count: int) -> str | None:
    """A template with words in it; None if the engine wants to be told something that nobody knows.

    >>> filled("https://a.example/?q={searchTerms}&n={count?}&l={language}&x={x:y?}", "coral reefs", 10)
    'https://a.example/?q=coral+reefs&n=10&l=*&x='
    """
    known = {"": quote_plus(words), "searchterms": quote_plus(words), "count": str(count), **_KNOWN}
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name not in known and not match[2]:
            missing.append(name)
        return known.get(name, "")

    asked = _PARAMETER.sub(value, template)
    return None if missing else asked


def read_description(body: bytes, url: str) -> str:
    """The template of an OpenSearch description; empty if it is none, or names no way to search by address.

    >>> url = b'<Url type="text/html" template="/find?q={searchTerms}"/>'
    >>> read_description(b"<OpenSearchDescription>" + url + b"</OpenSearchDescription>", "https://a.example/about/search.xml")
    'https://a.example/find?q={searchTerms}'
    """
    inside, found = False, dict[str, str]()
    for what, name, rest in pieces(decode(body[:MOST_BYTES])):
        if what == "open" and local(name) == "opensearchdescription":
            inside = True
        elif inside and what == "open" and local(name) == "url":
            told = {key.lower(): text for key, text in attributes(rest).items()}
            template, form = told.get("template", ""), told.get("type", "").lower()
            by_address = told.get("method", "get").lower() == "get"
            if by_address and told.get("rel", "results") == "results" and form in _FORMS and is_template(template):
                found.setdefault(form, template)
    template = next((found[form] for form in _FORMS if form in found), "")
    return _absolute(template, url)


def description_in(body: bytes, url: str) -> str:
    """The address of the OpenSearch description that a page names; empty if it names none.

    >>> head = b'<link rel="search" type="application/opensearchdescription+xml" href="/search.xml">'
    >>> description_in(head, "https://a.example/")
    'https://a.example/search.xml'
    """
    for tag in _LINK.findall(body[:MOST_BYTES]):
        told = {key.lower(): text for key, text in attributes(tag[5:-1].decode("utf-8", "replace")).items()}
        if told.get("type", "").lower() == "application/opensearchdescription+xml" and told.get("href"):
            return resolve(url, [told["href"]])[0] or ""
    return ""


def results(body: bytes, url: str, content_type: str, furniture: Collection[str] = ()) -> dict[str, str]:
    """The addresses of the results in their order, with their titles.

    Of a page these are its links but for its `furniture` (what it also has when nothing was found) and for those to
    more searches; a link that passes through the engine counts as the one that it leads to.
    """
    body = body[:MOST_BYTES]
    text = decode(body, content_type).lstrip()
    if text[:1] in ("{", "["):
        return _bounded(_in_json(text, url))
    source = read_source(body, url, content_type)
    if source is not None and source.form == "feed":
        return _bounded(zip(source.links.urls, source.links.anchors, strict=True))
    return _bounded(pair for pair in _links(body, url, content_type) if pair[0] not in furniture)


def furniture_of(body: bytes, url: str, content_type: str) -> set[str]:
    return {link for link, _ in _links(body[:MOST_BYTES], url, content_type)}


def is_page(body: bytes, content_type: str) -> bool:
    """Whether an answer is a web page, whose results have to be told from its furniture."""
    text = decode(body[:MOST_BYTES], content_type).lstrip()
    source = None if text[:1] in ("{", "[") else read_source(body[:MOST_BYTES], "", content_type)
    return text[:1] not in ("{", "[") and (source is None or source.form != "feed")


def _links(body: bytes, url: str, content_type: str) -> Iterator[tuple[str, str]]:
    """The links of a page that lead to no further search."""
    asked = urlsplit(url)
    links = extract(body[:500_000], url, charset_of(content_type)).links  # as much as is read in this process
    for link, anchor in zip(links.urls, links.anchors, strict=True):
        parts = urlsplit(link)
        if site(link) == site(url) and (through := _through(parts.query, url)):
            yield through, anchor
        elif (parts.netloc, parts.path.rstrip("/")) != (asked.netloc, asked.path.rstrip("/")):
            yield link, anchor


def _through(query: str, url: str) -> str:
    """Where a link leads that passes through the engine: another site's address among its parameters."""
    try:
        values = [value for _, value in parse_qsl(query, max_num_fields=50)]
    except ValueError:
        return ""
    leads = (canonical(value) for value in values if value.startswith(("http://", "https://")))
    return next((lead for lead in leads if lead and site(lead) != site(url)), "")


def _in_json(text: str, url: str) -> Iterator[tuple[str, str]]:
    """Of every object in a list the address that it has; of OpenSearch suggestions the fourth list."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    suggests = isinstance(data, list) and len(data) == 4 and isinstance(data[0], str) and isinstance(data[3], list)
    for link, title in _suggested(data) if suggests else _listed(data):
        yield resolve(url, [link])[0] or "", title


def _suggested(data: list[Any]) -> Iterator[tuple[str, str]]:
    titles = data[1] if isinstance(data[1], list) else []
    for at, link in enumerate(data[3][:MOST_RESULTS]):
        if isinstance(link, str):
            yield link, str(titles[at]) if at < len(titles) else ""


def _listed(data: Any) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[Any, bool]] = [(data, False)]
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        value, listed = waiting.pop()
        if isinstance(value, list):
            waiting += ((each, True) for each in reversed(value[:MOST_VALUES]))
        elif isinstance(value, dict):
            link = next((value[key] for key in _KEYS if isinstance(value.get(key), str)), "")
            if listed and link:
                yield link, str(value.get("title") or value.get("name") or "")
            else:
                waiting += ((each, False) for each in reversed(list(value.values())))


def _absolute(link: str, url: str) -> str:
    """A template as seen from its description, with its braces as they are."""
    if not link or link.startswith(("http://", "https://")):
        return link
    base = urlsplit(url)
    return f"{base.scheme}:{link}" if link.startswith("//") else f"{base.scheme}://{base.netloc}/{link.lstrip('/')}"


def _bounded(pairs: Iterator[tuple[str, str]] | zip[tuple[str, str]]) -> dict[str, str]:
    """Web addresses, each once, with one line of title."""
    found: dict[str, str] = {}
    for link, title in pairs:
        url = canonical(link)
        if url is not None and len(found) < MOST_RESULTS:
            found.setdefault(url, " ".join(title.split())[:200])
    return found
