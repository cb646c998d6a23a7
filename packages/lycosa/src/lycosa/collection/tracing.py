"""One page of a crawl, by what a person typed: every visit of it."""

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

NEAREST = 3  # addresses that are suggested for one that is unknown

MOST_COMPARED = 20_000  # addresses of a host among which the nearest are looked for: a second's work


def known(collection: CrawlDirectory, typed: str) -> list[Visit]:
    """All visits of what a person typed, in order: as it is, in canonical form, with the scheme it lacks."""
    typed = typed.encode("utf-8", "replace").decode()
    for node in spellings(typed):
        if visits := list(collection.log.visits("node = ?", given=(node,))):
            return visits
    raise InputError(_unknown(collection, typed))


def spellings(typed: str) -> list[str]:
    """The nodes that a person may mean, the likeliest first."""
    spelled = [typed, canonical(typed), check_seed(typed)]
    nodes = [node for node in spelled if node]
    nodes += [node.replace("https://", "http://", 1) for node in nodes if node.startswith("https://")]
    return list(dict.fromkeys(nodes))


def _unknown(collection: CrawlDirectory, typed: str) -> str:
    """Why there is nothing to show, and what there is instead."""
    message = f"{typed} was not visited in {collection.path}"
    spelled = spellings(typed)
    view = collection.view()
    origins = (view.origin(collection.log, node) for node in spelled)
    origin = next((origin for origin in origins if origin.kind), None)
    if origin is not None and origin.parent:
        message += f"; {origin.parent} links to it"
    near = _nearest(collection, spelled)
    if near:
        return f"{message}. The nearest that was: " + ", ".join(near)
    return f"{message}. Look for pages with: lycosa search {collection.path} WORDS"


def _nearest(collection: CrawlDirectory, spelled: Iterable[str]) -> list[str]:
    """Visited addresses of the same host that look alike."""
    node = next((node for node in spelled if canonical(node) == node), "")
    if not node:
        return []
    base = urls.origin(node)
    nodes = [
        visited
        for (visited,) in collection.log.rows(
            "DISTINCT node",
            "node >= ? AND node < ? AND kind IN ('page', 'redirect', 'revisit', 'sitemap')",
            f"node LIMIT {MOST_COMPARED}",
            (base + "/", base + "0"),  # what comes after a slash
        )
    ]
    return difflib.get_close_matches(node, nodes, NEAREST, 0.5) or nodes[:NEAREST]


def content_of(visits: Iterable[Visit]) -> Visit | None:
    """The newest visit that brought content."""
    bringing = [v for v in visits if v.kind in ("page", "revisit") and v.outcome == "ok" and v.status != 304]
    return bringing[-1] if bringing else None


def compared(
    collection: CrawlDirectory, versions: Sequence[Visit], earlier: int, later: int, longest: int | None = None
) -> Comparison:
    """Two versions of a page, by their places among all, as the archive has them; of long ones only the beginning."""
    old, new = (_version(collection, versions[place], place + 1, longest) for place in (earlier, later))
    # What was recorded tells of one step, so it says nothing of versions that are further apart.
    change = change_of(versions[later]) if later == earlier + 1 else None
    return compare(versions[later].node, old, new, change=change, versions=len(versions))


def _version(collection: CrawlDirectory, visit: Visit, number: int, longest: int | None) -> Version:
    if not collection.options.archive:
        raise InputError(f"there is no text of {visit.node}: the crawl was run without an archive")
    exchange = collection.exchange(visit)
    if exchange is None or (not exchange.body and visit.size):
        raise InputError(
            f"version {number} of {visit.node} is missing in the archive: restore it from a backup, or choose another "
            "version"
        )
    document = collection.document(visit, exchange)
    text, title = document.said[:longest], document.title or visit.title
    return Version(number, visit.started, visit.size, title, text, document.links.urls)
