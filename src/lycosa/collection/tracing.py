"""One page of a crawl: every visit of it, why it was fetched, where it leads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from lycosa.collection.reading import Collection
from lycosa.collection.words import clean
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.web.urls import canonical, check_seed, origin

NEAREST = 3
"""Addresses that are suggested for one that is unknown."""

_LINKING = "kind IN ('page', 'redirect', 'revisit', 'sitemap')"

MOST_COMPARED = 20_000
"""Addresses of a host among which the nearest are looked for: a second's work."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What led to a page: the first that did."""

    kind: str
    """`seed`, `link`, `redirect`, or empty if the log does not tell."""
    parent: str = ""
    title: str = ""
    anchor: str = ""
    alpha: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page, and how its target fared."""

    url: str
    anchor: str
    alpha: float
    state: str
    """`fetched`, `not fetched`, `vanished` or `moved` since it was, or what went wrong."""


def known(collection: Collection, typed: str) -> list[Visit]:
    """All visits of what a person typed, in order: as it is, in canonical form, with the scheme it lacks."""
    typed = typed.encode("utf-8", "replace").decode()
    for node in spellings(typed):
        visits = [visit for visit in collection.log.events("node = ?", given=(node,)) if isinstance(visit, Visit)]
        if visits:
            return visits
    raise InputError(_unknown(collection, typed))


def spellings(typed: str) -> list[str]:
    """The nodes that a person may mean, the likeliest first."""
    spelled = [typed, canonical(typed), check_seed(typed)]
    found = [node for node in spelled if node]
    found += [node.replace("https://", "http://", 1) for node in found if node.startswith("https://")]
    return list(dict.fromkeys(found))


def _unknown(collection: Collection, typed: str) -> str:
    """Why there is nothing to show, and what there is instead."""
    told = f"{typed} was not visited in {collection.path}"
    spelled = spellings(typed)
    link = next((found for node in spelled if (found := origin_of(collection, node)).kind), None)
    if link is not None and link.parent:
        told += f"; {link.parent} links to it"
    near = _nearest(collection, spelled)
    if near:
        return f"{told}. The nearest that was: " + ", ".join(near)
    return f"{told}. Look for pages with: lycosa search {collection.path} WORDS"


def _nearest(collection: Collection, spelled: Iterable[str]) -> list[str]:
    """Visited addresses of the same host that look alike."""
    node = next((node for node in spelled if canonical(node) == node), "")
    if not node:
        return []
    base = origin(node)
    nodes = [
        found
        for (found,) in collection.log.rows(
            "DISTINCT node",
            f"node >= ? AND node < ? AND {_LINKING}",
            f"node LIMIT {MOST_COMPARED}",
            (base + "/", base + "0"),  # what comes after a slash
        )
    ]
    return difflib.get_close_matches(node, nodes, NEAREST, 0.5) or nodes[:NEAREST]


def content_of(visits: Iterable[Visit]) -> Visit | None:
    """The newest visit that brought content."""
    bringing = [v for v in visits if v.kind in ("page", "revisit") and v.outcome == "ok" and v.status != 304]
    return bringing[-1] if bringing else None


def origin_of(collection: Collection, node: str) -> Origin:
    """What led to a node: that it is a seed, or the first visit before its own that holds a link to it."""
    log = collection.log
    if next(log.rows("seq", "kind = 'seed' AND node = ?", given=(node,)), None):
        return Origin("seed")
    own = next(log.rows("seq", f"node = ? AND {_LINKING}", given=(node,)), None)
    before = own[0] if own else 2**62
    for event in log.events(f"seq < ? AND {_LINKING}", given=(before,)):
        if isinstance(event, Visit) and node in event.links.urls:
            links, at = event.links, event.links.urls.index(node)
            kind = "redirect" if event.outcome == "redirect" else "link"
            alpha = float(links.alphas[at]) if len(links.alphas) else 0.0
            return Origin(kind, event.node, clean(event.title), clean(links.anchors[at]), alpha)
    return Origin("")


def links_of(collection: Collection, visit: Visit) -> list[Link]:
    """The links of a page in its order, each target once, with the words of its first link."""
    links = visit.links
    alphas = links.alphas.tolist() or [0.0] * len(links)
    found: dict[str, Link] = {}
    for url, anchor, alpha in zip(links.urls, links.anchors, alphas, strict=True):
        if url not in found:
            found[url] = Link(url, clean(anchor), alpha, _state(collection, url))
    return list(found.values())


def _state(collection: Collection, url: str) -> str:
    looks = list(collection.log.rows("kind, outcome", f"node = ? AND {_LINKING}", given=(url,)))
    if not looks:
        return "not fetched"
    kind, outcome = looks[-1]
    if kind != "revisit":
        return "fetched" if outcome == "ok" else str(outcome)
    standing = collection.standing(url)
    return "fetched" if standing is None or standing.state == "stands" else standing.state
