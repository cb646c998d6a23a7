"""Search engine results: parse JSON, feeds and HTML pages. Pure functions of bytes; malformed bodies never raise."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from lycosa.web.html import extract
from lycosa.web.inflate import charset_of
from lycosa.web.sources import decode, read_source
from lycosa.web.urls import canonical, resolve, site

MAX_BYTES = 2_000_000  # bytes of a response
MAX_RESULTS = 1000
MAX_VALUES = 200_000  # values of a JSON response
_KEYS = ("url", "link", "href", "uri", "unescapedUrl", "permalink", "html_url", "web_url")


def parse_results(body: bytes, url: str, content_type: str, boilerplate: Collection[str] = ()) -> dict[str, str]:
    """Return the URLs of the results in order, with their titles.

    On an HTML page these are all links except `boilerplate` (links that are also on a page without results) and further
    searches; a link that redirects through the engine counts as its target.
    """
    body = body[:MAX_BYTES]
    text = decode(body, content_type).lstrip()
    if text[:1] in ("{", "["):
        return _bounded(_in_json(text, url))
    source = read_source(body, url, content_type)
    if source is not None and source.form == "feed":
        return _bounded(zip(source.links.urls, source.links.anchors, strict=True))
    return _bounded(pair for pair in _links(body, url, content_type) if pair[0] not in boilerplate)


def boilerplate_links(body: bytes, url: str, content_type: str) -> set[str]:
    return {link for link, _ in _links(body[:MAX_BYTES], url, content_type)}


def is_html_response(body: bytes, content_type: str) -> bool:
    """Return True if a response is an HTML page, which mixes results with other links."""
    text = decode(body[:MAX_BYTES], content_type).lstrip()
    source = None if text[:1] in ("{", "[") else read_source(body[:MAX_BYTES], "", content_type)
    return text[:1] not in ("{", "[") and (source is None or source.form != "feed")


def _links(body: bytes, url: str, content_type: str) -> Iterator[tuple[str, str]]:
    search = urlsplit(url)
    links = extract(body[:500_000], url, charset_of(content_type)).links  # small enough for this process
    for link, anchor in zip(links.urls, links.anchors, strict=True):
        parts = urlsplit(link)
        if site(link) == site(url) and (through := _through(parts.query, url)):
            yield through, anchor
        elif (parts.netloc, parts.path.rstrip("/")) != (search.netloc, search.path.rstrip("/")):
            yield link, anchor


def _through(query: str, url: str) -> str:
    """Return the target of a redirect through the engine: a URL of another site in the query."""
    try:
        values = [value for _, value in parse_qsl(query, max_num_fields=50)]
    except ValueError:
        return ""
    leads = (canonical(value) for value in values if value.startswith(("http://", "https://")))
    return next((lead for lead in leads if lead and site(lead) != site(url)), "")


def _in_json(text: str, url: str) -> Iterator[tuple[str, str]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    for link, title in _listed(data):
        yield resolve(url, [link])[0] or "", title


def _listed(data: Any) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[Any, bool]] = [(data, False)]
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        value, listed = waiting.pop()
        if isinstance(value, list):
            waiting += ((each, True) for each in reversed(value[:MAX_VALUES]))
        elif isinstance(value, dict):
            link = next((value[key] for key in _KEYS if isinstance(value.get(key), str)), "")
            if listed and link:
                yield link, str(value.get("title") or value.get("name") or "")
            else:
                waiting += ((each, False) for each in reversed(list(value.values())))


def _bounded(pairs: Iterator[tuple[str, str]] | zip[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for link, title in pairs:
        url = canonical(link)
        if url is not None and len(found) < MAX_RESULTS:
            found.setdefault(url, " ".join(title.split())[:200])
    return found
