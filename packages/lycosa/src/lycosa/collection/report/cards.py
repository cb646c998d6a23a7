"""Cards of the pages in the report: title, origin, and the path that led there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.link_graph import REDIRECT, SITEMAP
from lycosa.collection.report.figures import Card, PathBranch, PathStep
from lycosa.collection.search_text import main_text, split_words
from lycosa.collection.snippets import Highlight, Snippet, snippet
from lycosa.collection.tally import host_of
from lycosa.core.errors import StoreError
from lycosa.core.options import Options
from lycosa.core.types import Visit

MAX_TITLE_LENGTH = 300  # maximum length of a title or an anchor
PAGES_AT_ENDS = 8  # pages shown at each end of a long path without relevant pages


class Cards:
    """Builder of the cards of some hundred pages, whose visits are read from the log."""

    def __init__(self, collection: CrawlDirectory, depth: NDArray[np.int32], marks: Sequence[Highlight] = ()) -> None:
        self.collection = collection
        self.view = collection.view()
        self.depth = depth
        self.marks = marks
        self._number = np.cumsum(self.view.column("crawled"))
        self._kind = self.view.column("kind")
        self._relevant = self.view.relevant(collection.threshold)
        self.read = lru_cache(maxsize=512)(collection.log.visit)

    def visit(self, vertex: int) -> Visit:
        return self.read(self.view.columns["first"].item(vertex))

    def card(self, vertex: int, *, excerpt: bool = False) -> Card:
        visit = self.visit(vertex)
        card = Card(
            visit.node,
            visit.title[:MAX_TITLE_LENGTH],
            int(self._number[vertex]),
            visit.relevance_now,
            bool(self._relevant[vertex]),
            visit.priority,
            int(self.depth[vertex]),
            host=host_of(visit.node),
            same_as=visit.same_as,
        )
        self._explain(card, vertex)
        if excerpt:
            card.excerpt = self._excerpt(visit)
        return card

    def set_current_state(self, card: Card) -> None:
        """Set the state of the page since it was fetched."""
        page = self.view.page(card.node)
        fate = page.fate if page is not None else None
        if fate is not None and fate.state != "stands":
            card.state, card.state_since = fate.state, fate.since
        elif fate is not None and fate.changed:
            card.state, card.state_since = "changed", fate.changed

    def _explain(self, card: Card, vertex: int) -> None:
        """Set the origin of the page, skipping redirects."""
        if self._kind[vertex] == SITEMAP:
            card.origin = "start"
            return
        via, source = self.view.first_link_event(card.node), self.view.source(self.read, card.node)
        card.redirected = via >= 0 and self.read(via).outcome == "redirect"
        if source is None:
            start = self.view.nodes[self.view.path_to(vertex)[0]]  # the page itself, or a redirect to it
            card.origin = "seed" if self.view.graph.is_seed(start) else "unknown"
            return
        parent, link = source
        card.origin = "sitemap" if parent.kind == "sitemap" else "link"
        card.parent, card.parent_title = parent.node, parent.title[:MAX_TITLE_LENGTH]
        card.anchor = parent.links.anchors[link][:MAX_TITLE_LENGTH]
        if card.origin == "link":
            card.parent_number = int(self._number[self.view.graph.vertex(parent.node)])

    def _excerpt(self, visit: Visit) -> list[tuple[str, bool]]:
        """Return the passage with most of the topic's words, split at its highlights."""
        try:
            text = main_text(self.collection.document(visit))
        except (StoreError, OSError):  # the report works without the archive
            return []
        regex = self.collection.options.regex
        marks = pattern_highlights(regex, text) if regex else self.marks
        passage = snippet(text, marks, 240)
        return split_at_highlights(passage) if passage.spans else []

    def tree(self, best: Sequence[int]) -> list[PathBranch]:
        """Return the paths from the seeds to the best pages as a forest; common beginnings are merged."""
        rank = {vertex: number for number, vertex in enumerate(best, 1)}
        children: dict[int, list[int]] = {}
        roots: list[int] = []
        for vertex in best:
            path = [each for each in self.view.path_to(vertex) if self._kind[each] != REDIRECT]
            if path[0] not in roots:
                roots.append(path[0])
            for parent, child in pairwise(path):
                if child not in children.setdefault(parent, []):
                    children[parent].append(child)
        return [self._branch(root, children, rank) for root in roots]

    def _branch(self, vertex: int, children: dict[int, list[int]], rank: dict[int, int]) -> PathBranch:
        path = [vertex]
        while len(children.get(path[-1], ())) == 1:
            path.append(children[path[-1]][0])
        steps: list[PathStep] = []
        for is_best, stretch in groupby(path, key=lambda each: each in rank):
            group = list(stretch)
            left_out = 0 if is_best else max(0, len(group) - 2 * PAGES_AT_ENDS)
            for place, each in enumerate(group):
                if not left_out or place < PAGES_AT_ENDS or place >= len(group) - PAGES_AT_ENDS:
                    steps.append(PathStep(self.card(each), rank.get(each, 0), left_out * (place == PAGES_AT_ENDS - 1)))
        return PathBranch(steps, [self._branch(child, children, rank) for child in children.get(path[-1], ())])


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
