"""Lookup of pages by typed URLs, and comparison of page versions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.revisit.change import change_of
from lycosa.revisit.diff import Comparison, Version, compare
from lycosa.web import urls
from lycosa.web.urls import canonical, check_seed

MAX_SUGGESTIONS = 3  # maximum number of similar URLs suggested for an unknown one

MAX_COMPARED_URLS = 20_000  # maximum number of URLs of a host that are compared, about a second's work


def visits_of(collection: CrawlDirectory, typed: str) -> list[Visit]:
    """Return all visits of a URL in order; it is looked up as typed, in canonical form, and with a scheme added."""
    typed = typed.encode("utf-8", "replace").decode()
    for node in spellings(typed):
        if visits := list(collection.log.visits("url = ?", given=(node,))):
            return visits
    raise InputError("unknown-page", _unknown_message(collection, typed))


def spellings(typed: str) -> list[str]:
    """Return the nodes that the typed text may refer to, most likely first."""
    candidates = [typed, canonical(typed), check_seed(typed)]
    nodes = [node for node in candidates if node]
    nodes += [node.replace("https://", "http://", 1) for node in nodes if node.startswith("https://")]
    return list(dict.fromkeys(nodes))


def _unknown_message(collection: CrawlDirectory, typed: str) -> str:
    message = f"{typed} was not visited in {collection.path}"
    candidates = spellings(typed)
    suggestions = _similar_urls(collection, candidates)
    if suggestions:
        return f"{message}; similar visited URLs: " + ", ".join(suggestions)
    return f"{message}; search for pages with: lycosa search {collection.path} WORDS"


def _similar_urls(collection: CrawlDirectory, candidates: Iterable[str]) -> list[str]:
    node = next((node for node in candidates if canonical(node) == node), "")
    if not node:
        return []
    base = urls.origin(node)
    visited = collection.log.rows(
        "DISTINCT url",
        "url >= ? AND url < ? AND kind IN ('page', 'redirect', 'revisit', 'sitemap')",
        f"url LIMIT {MAX_COMPARED_URLS}",
        (base + "/", base + "0"),  # "0" follows "/" in ASCII, so this is the range of all URLs of the origin
    )
    nodes = [url for (url,) in visited]
    return difflib.get_close_matches(node, nodes, MAX_SUGGESTIONS, 0.5) or nodes[:MAX_SUGGESTIONS]


def latest_content(visits: Iterable[Visit]) -> Visit | None:
    """Return the newest visit that brought content."""
    with_content = [v for v in visits if v.kind in ("page", "revisit") and v.outcome == "ok" and v.status != 304]
    return with_content[-1] if with_content else None


def compared(
    collection: CrawlDirectory, versions: Sequence[Visit], earlier: int, later: int, longest: int | None = None
) -> Comparison:
    """Compare two versions of a page by index; `longest` is the maximum number of characters compared."""
    old, new = (_version(collection, versions[place], place + 1, longest) for place in (earlier, later))
    # The recorded change refers to consecutive versions only.
    change = change_of(versions[later]) if later == earlier + 1 else None
    return compare(versions[later].node, old, new, change=change, versions=len(versions))


def _version(collection: CrawlDirectory, visit: Visit, number: int, longest: int | None) -> Version:
    if not collection.options.archive:
        raise InputError("no-archive", f"no text of {visit.node} is archived: the crawl was run with --no-archive")
    exchange = collection.exchange(visit)
    if exchange is None or (not exchange.body and visit.size):
        message = f"version {number} of {visit.node} is missing in the archive"
        raise InputError("missing-version", f"{message}: restore it from a backup, or choose another version")
    document = collection.document(visit, exchange)
    text, title = document.content[:longest], document.title or visit.title
    return Version(number, visit.started, visit.size, title, text, document.links.urls)
