"""Selection of diverse pages: the best pages of a crawl, and the most useful ones to label.

A page is skipped if it was recorded as a copy, or if its fingerprint and words nearly match those of a better page. At
most three of ten consecutive pages are of the same host, as long as other hosts have pages that are nearly as good.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.counting import Sample
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import by_uncertainty
from lycosa.collection.pages import PageRow, pages_at, terms_of
from lycosa.store.log import SqliteLog, current_labels

MAX_PAGES_PER_HOST = 3  # maximum number of pages of one host among ten consecutive ones
_CANDIDATES = """
    SELECT page.first, page.current, title, url, host, simhash, relevance_now
    FROM json_each(?) JOIN page ON page.first = json_each.value JOIN visit ON visit.seq = page.current
    JOIN score ON score.seq = page.current ORDER BY json_each.key
"""


class Candidate(NamedTuple):
    first: int
    seq: int
    title: str
    url: str
    host: str
    simhash: int
    relevance_now: float


def best_pages(collection: CrawlDirectory, limit: int, *, at_least: float = 0.0) -> list[PageRow]:
    """Return the best pages, without copies."""
    array = collection.pages_array()
    relevances_now = array["relevance_now"]
    chosen = np.flatnonzero(array.counted & (relevances_now > 0) & (relevances_now >= at_least))
    order = chosen[np.lexsort((array["seq"][chosen], -relevances_now[chosen]))][: max(200, 8 * limit)]
    candidates = _without_near_duplicates(collection.log, array["first"][order].tolist())
    return pages_at(collection.log, [page.first for page in diversify(candidates, limit)])


def _without_near_duplicates(log: SqliteLog, firsts: Sequence[int]) -> list[Candidate]:
    """Read pages by the numbers of their first visits, without those that nearly repeat an earlier one."""
    pages = list(map(Candidate._make, log.query(_CANDIDATES, (json.dumps(firsts),))))
    prints = np.array([page.simhash for page in pages], np.int64).view(np.uint64)
    similar = (np.bitwise_count(prints[:, None] ^ prints) <= 3) & (prints > 0) & (prints[:, None] > 0)
    words = cache(lambda place: terms_of(log, pages[place].seq)[0])
    kept: list[int] = []
    for place in range(len(pages)):
        others = [other for other in kept if similar[place, other]]
        if not any(have_same_words(words(place), words(other)) for other in others):
            kept.append(place)
    return [pages[place] for place in kept]


def have_same_words(page: NDArray[np.uint32], other: NDArray[np.uint32]) -> bool:
    """Return True if 80 % of the words are shared."""
    shared = len(np.intersect1d(page, other, assume_unique=True))
    return shared >= 0.8 * (len(page) + len(other) - shared)


def diversify(pages: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the first pages of a ranking, diversified by host among each ten consecutive pages.

    >>> pages = [Candidate(n, n, "", f"http://{host}.test/{n}", host, 0, 0.9) for n, host in enumerate("aaaab")]
    >>> [page.seq for page in diversify(pages, 5)]
    [0, 1, 2, 4, 3]
    """
    left, chosen = list(pages), list[Candidate]()
    hosts: Counter[str] = Counter()
    while left and len(chosen) < limit:
        if len(chosen) % 10 == 0:
            hosts.clear()
        enough = 0.8 * left[0].relevance_now
        suited = (
            place
            for place, page in enumerate(left)
            if page.relevance_now >= enough and hosts[page.host or page.url] < MAX_PAGES_PER_HOST
        )
        page = left.pop(next(suited, 0))
        hosts[page.host or page.url] += 1
        chosen.append(page)
    return chosen


@dataclass(frozen=True, slots=True)
class Question:
    """Page that the user is asked to label."""

    url: str
    title: str
    relevance_now: float
    reason: str = ""  # why this page is asked for

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def questions(collection: CrawlDirectory, limit: int = 10, labelled: Iterable[str] = ()) -> list[Question]:
    """Return the unlabelled pages whose labels would help the judge most, without those in `labelled`."""
    log, array = collection.log, collection.pages_array()
    known = json.dumps([*current_labels(log), *labelled])
    pages_known = "SELECT seq FROM visit WHERE url IN (SELECT value FROM json_each(?))"
    unlabelled = array.counted & ~np.isin(array["first"], [seq for (seq,) in log.query(pages_known, (known,))])
    firsts, relevances_now = array["first"][unlabelled], array["relevance_now"][unlabelled]
    order = by_uncertainty(relevances_now, array.threshold, array.probability)[: 10 * limit]
    chosen, others = list[Candidate](), list[Candidate]()
    hosts: Counter[str] = Counter()
    for page in _without_near_duplicates(log, firsts[order].tolist()):
        place = page.host or page.url
        (chosen if hosts[place] < MAX_PAGES_PER_HOST else others).append(page)
        hosts[place] += 1
    middle = "0.5" if array.probability else f"the threshold, {array.threshold:g}"
    return [_question(page, f"to teach the judge: near {middle}") for page in [*chosen, *others][:limit]]


def counting_questions(collection: CrawlDirectory, limit: int = 10) -> list[Question]:
    """Return the next pages of the sample that counts; none before its frame is in the log."""
    array = collection.pages_array()
    if array.frame is None:
        return []
    drawn = {page.first: page for page in Sample(array.frame, array.answers).draw(limit)}
    pages = map(Candidate._make, collection.log.query(_CANDIDATES, (json.dumps(list(drawn)),)))
    return [
        _question(
            page, f"to count: drawn at random from ranks {drawn[page.first].begin:,} to {drawn[page.first].end:,}"
        )
        for page in pages
    ]


def _question(page: Candidate, reason: str) -> Question:
    return Question(page.url, page.title, page.relevance_now, reason)
