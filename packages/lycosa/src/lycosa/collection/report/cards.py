"""Cards of the pages in the report: title, origin, and the path that led there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import PageRow, origin_of, page_at, path_to
from lycosa.collection.report.figures import Card, PathBranch, PathStep
from lycosa.collection.search_text import main_text, split_words
from lycosa.collection.snippets import Highlight, Snippet, snippet
from lycosa.core.errors import StoreError
from lycosa.core.options import Options
from lycosa.store.log import SqliteLog

PAGES_AT_ENDS = 8  # pages shown at each end of a long path without relevant pages


class Cards:
    """Builder of the cards of some hundred pages."""

    def __init__(self, collection: CrawlDirectory, marks: Sequence[Highlight] = ()) -> None:
        self.collection, self.log = collection, collection.log
        self.marks = marks
        self._firsts = collection.pages_array()["first"]

    def card(self, page: PageRow, *, excerpt: bool = False) -> Card:
        origin = origin_of(self.log, page.url)
        card = Card(
            page.url,
            page.title,
            self._number(page),
            page.relevance_now,
            page.relevance_now >= self.collection.threshold and not page.duplicate_of,
            page.priority,
            page.depth,
            origin.kind or "unknown",
            origin.parent,
            origin.parent_title,
            anchor=origin.anchor,
            host=page.host,
            same_as=page.duplicate_of,
        )
        if origin.kind == "link" and (parent := page_at(self.log, origin.parent)) is not None:
            card.parent_number = self._number(parent)
        if page.state != "stands":
            card.state, card.state_since = page.state, page.since
        elif page.changed:
            card.state, card.state_since = "changed", page.changed
        if excerpt:
            card.excerpt = self._excerpt(page.seq)
        return card

    def _number(self, page: PageRow) -> int:
        return int(np.searchsorted(self._firsts, page.first)) + 1

    def _step(self, url: str) -> Card:
        """Return the card of a page on a path, which may start at a sitemap or outside of this log."""
        page = page_at(self.log, url)
        return Card(url, "", origin="start") if page is None else self.card(page)

    def _excerpt(self, seq: int) -> list[tuple[str, bool]]:
        """Return the passage with most of the topic's words, split at its highlights."""
        passage = read_excerpt(self.collection, seq, self.marks)
        return split_at_highlights(passage) if passage.spans else []

    def tree(self, best: Sequence[str]) -> list[PathBranch]:
        """Return the paths from the seeds to the best pages as a forest; common beginnings are merged."""
        rank = {url: number for number, url in enumerate(best, 1)}
        children: dict[str, dict[str, None]] = {}
        roots: dict[str, None] = {}
        for url in best:
            path = path_to(self.log, url)
            roots[path[0]] = None
            for parent, child in pairwise(path):
                children.setdefault(parent, {})[child] = None
        return [self._branch(root, children, rank) for root in roots]

    def _branch(self, url: str, children: dict[str, dict[str, None]], rank: dict[str, int]) -> PathBranch:
        path = [url]
        while len(following := children.get(path[-1], {})) == 1:
            path += following
        steps: list[PathStep] = []
        for is_best, stretch in groupby(path, key=lambda each: each in rank):
            group = list(stretch)
            left_out = 0 if is_best else max(0, len(group) - 2 * PAGES_AT_ENDS)
            for place, each in enumerate(group):
                if not left_out or place < PAGES_AT_ENDS or place >= len(group) - PAGES_AT_ENDS:
                    steps.append(PathStep(self._step(each), rank.get(each, 0), left_out * (place == PAGES_AT_ENDS - 1)))
        return PathBranch(steps, [self._branch(child, children, rank) for child in children.get(path[-1], ())])


def read_excerpt(collection: CrawlDirectory, seq: int, marks: Sequence[Highlight]) -> Snippet:
    """Return the passage of a page with most of the topic's words; empty if the page is not archived."""
    try:
        text = main_text(collection.document(collection.log.visit(seq)))
    except (StoreError, OSError):
        return Snippet()
    regex = collection.options.regex
    return snippet(text, pattern_highlights(regex, text) if regex else marks, 240)


def split_at_highlights(passage: Snippet) -> list[tuple[str, bool]]:
    """Split a passage at its highlights.

    >>> split_at_highlights(Snippet("All about coral.", [(10, 15)]))
    [('All about ', False), ('coral', True), ('.', False)]
    """
    cut_pieces, at = [], 0
    for begin, end in passage.spans:
        cut_pieces += [(passage.text[at:begin], False), (passage.text[begin:end], True)]
        at = end
    return [piece for piece in [*cut_pieces, (passage.text[at:], False)] if piece[0]]


def learned_terms(log: SqliteLog) -> list[str]:
    """Return the most important terms of a topic learned from examples or read from a file."""
    learned = log.setting("learned", {})
    return sorted(learned, key=lambda term: (-learned[term], term))[:12]


def topic_highlights(options: Options, learned: Sequence[str]) -> list[Highlight]:
    """Return highlights for the words of the topic, or for the terms it has learned.

    >>> [mark.words for mark in topic_highlights(Options(topic="the coral reefs"), ())]
    [('the',), ('coral',), ('reef',)]
    """
    words = split_words(options.topic) or [term for term in learned if term]
    # A plural also highlights its singular; prefixes of one or two letters match too much.
    stems = dict.fromkeys(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
    chosen = [stem for stem in stems if len(stem) > 2 or not stem.isascii()]
    return [Highlight((stem,), prefix=True, group=number) for number, stem in enumerate(chosen)]


def pattern_highlights(regex: str, text: str) -> list[Highlight]:
    """Return the highlight of a regular expression's first match."""
    try:
        match = re.search(regex, text[:100_000], re.IGNORECASE)  # limit of the search
    except re.error:  # crawl.toml was edited
        return []
    words = tuple(split_words(match.group())) if match else ()
    return [Highlight(words)] if words else []
