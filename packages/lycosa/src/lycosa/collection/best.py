"""Selection of diverse pages: the best pages of a crawl, and the most useful ones to label.

A page is skipped if it was recorded as a copy, or if its fingerprint and words nearly match those of a better page. At
most three of ten consecutive pages are of the same host, as long as other hosts have pages that are nearly as good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import by_uncertainty
from lycosa.collection.tally import host_of
from lycosa.core.types import Visit
from lycosa.store.log import current_labels

MAX_PAGES_PER_HOST = 3  # maximum number of pages of one host among ten consecutive ones


def best_pages(
    collection: CrawlDirectory, limit: int, *, at_least: float = 0.0, first_versions: bool = False
) -> list[tuple[int, Visit]]:
    """Return the best pages with their sequence numbers: current versions, or the first ones."""
    view = collection.view()
    if first_versions:
        numbers, relevances_now, pages = view.column("first"), view.column("first_relevance"), view.first_versions()[1]
    else:
        numbers, relevances_now, pages = view.column("seq"), view.column("relevance_now"), view.current()
    chosen = np.flatnonzero(pages & (relevances_now > 0) & (relevances_now >= at_least))
    order = chosen[np.lexsort((numbers[chosen], -relevances_now[chosen]))][: max(200, 8 * limit)]
    different: list[tuple[int, Visit]] = []
    for seq in numbers[order].tolist():
        visit = collection.log.visit(seq)
        if not any(are_near_duplicates(visit, other) for _, other in different):
            different.append((seq, visit))
    return diversify(different, limit)


def are_near_duplicates(page: Visit, other: Visit) -> bool:
    """Return True if at most 3 bits of the fingerprints differ and 80 % of the words are shared."""
    if not (page.simhash and other.simhash) or (page.simhash ^ other.simhash).bit_count() > 3:
        return False
    shared = len(np.intersect1d(page.terms.ids, other.terms.ids, assume_unique=True))
    return shared >= 0.8 * (len(page.terms.ids) + len(other.terms.ids) - shared)


def diversify(pages: Sequence[tuple[int, Visit]], limit: int) -> list[tuple[int, Visit]]:
    """Return the first pages of a ranking, diversified by host among each ten consecutive pages.

    >>> pages = [(n, Visit(f"http://{host}.test/{n}", "page", "ok", n, relevance=.9)) for n, host in enumerate("aaaab")]
    >>> [seq for seq, _ in diversify(pages, 5)]
    [0, 1, 2, 4, 3]
    """
    left = list(pages)
    chosen: list[tuple[int, Visit]] = []
    hosts: Counter[str] = Counter()
    while left and len(chosen) < limit:
        if len(chosen) % 10 == 0:
            hosts.clear()
        enough = 0.8 * left[0][1].relevance_now
        at = next(
            (
                place
                for place, (_, visit) in enumerate(left)
                if visit.relevance_now >= enough and hosts[host_or_node(visit)] < MAX_PAGES_PER_HOST
            ),
            0,
        )
        page = left.pop(at)
        hosts[host_or_node(page[1])] += 1
        chosen.append(page)
    return chosen


def host_or_node(visit: Visit) -> str:
    """Return the host of a page; nodes of spaces other than the web count as their own host."""
    return host_of(visit.node) or visit.node


@dataclass(frozen=True, slots=True)
class Question:
    """Page that the user is asked to label."""

    url: str
    title: str
    relevance_now: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def questions(collection: CrawlDirectory, limit: int = 10, labelled: Iterable[str] = ()) -> list[Question]:
    """Return the unlabelled pages whose labels would help the judge most; `labelled` are labels not logged yet."""
    view = collection.view()
    unlabelled = view.current()
    labelled_vertices = [view.graph.vertex(node) for node in {*current_labels(collection.log), *labelled}]
    unlabelled[[vertex for vertex in labelled_vertices if vertex >= 0]] = False
    numbers, relevances_now = view.column("seq")[unlabelled], view.column("relevance_now")[unlabelled]
    by_event = np.argsort(numbers)
    pages, relevances_now = numbers[by_event].tolist(), relevances_now[by_event]
    order = by_uncertainty(relevances_now, collection.threshold, collection.probability)
    chosen: list[Visit] = []
    left: list[Visit] = []
    hosts: Counter[str] = Counter()
    for place in order[: 10 * limit].tolist():
        visit = collection.log.visit(pages[place])
        if any(are_near_duplicates(visit, other) for other in chosen):
            continue
        if hosts[host_or_node(visit)] >= MAX_PAGES_PER_HOST:
            left.append(visit)
            continue
        hosts[host_or_node(visit)] += 1
        chosen.append(visit)
        if len(chosen) == limit:
            break
    return [Question(visit.node, visit.title, visit.relevance_now) for visit in [*chosen, *left][:limit]]
