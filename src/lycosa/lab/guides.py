"""What a judge says of every page and link of a corpus: found once, looked up by every simulated visit.

Only for judges whose word does not depend on what was crawled before. Those that learn as the crawl goes (idf learned
from its pages) have to judge during the crawl: see simulation.crawl.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from lycosa.core.protocols import Topic
from lycosa.core.telling import Tell, silent
from lycosa.core.types import Links, Terms, Visit, as_stored
from lycosa.lab.index import Index
from lycosa.text.vocabulary import Vocabulary


@dataclass
class Guide:
    """beta of every node and alpha of every child (in the order of `index.child`), and what else a judge said.

    `links` are the alphas link by link where pages link to a child more than once, `facets` more numbers for each link,
    `data` what the judge wants to be remembered of each page, packed.
    """

    index: Index
    beta: NDArray[np.floating[Any]]
    alpha: NDArray[np.float32]
    threshold: float = 1e-9
    name: str = "given"
    links: NDArray[np.float32] | None = None
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    data: list[bytes] = field(default_factory=list)
    stems: dict[str, float] = field(default_factory=dict)
    """What the example pages that a judge was told are about, by stem."""

    @classmethod
    def given(cls, index: Index) -> Guide:
        """The scores that a graph has."""
        n, e = len(index), len(index.child)
        beta = index.score if len(index.score) else np.zeros(n, np.float32)
        alpha = index.alpha if len(index.alpha) else np.zeros(e, np.float32)
        return cls(index, beta, alpha)

    @classmethod
    def judged(
        cls,
        index: Index,
        topic: Topic,
        name: str,
        wants: tuple[str, ...] = (),
        tell: Tell = silent,
    ) -> Guide:
        """Let a topic judge all pages. `wants` are the facets that strategies will ask for."""
        if hasattr(topic, "facets"):
            topic.facets = wants
        reader = Vocabulary()
        beta = np.zeros(len(index))  # in double precision, as the engine has it: ties are broken by less
        links = np.zeros(int(index.link_start[-1]), np.float32)
        facets: dict[str, NDArray[np.float32]] = {}
        data: list[bytes] = []
        for node in range(len(index)):
            page = index.page(node)
            said = topic.judge(page, reader.read(page))
            here = slice(index.link_start[node], index.link_start[node + 1])
            beta[node] = said.beta if np.isfinite(said.beta) else 0.0
            links[here] = np.nan_to_num(said.alphas)
            for facet, column in said.facets.items():
                if facet not in facets:
                    facets[facet] = np.zeros(len(links), np.float32)
                facets[facet][here] = np.nan_to_num(column)
            data.append(msgpack.packb(as_stored(said.data)) if said.data else b"")
            tell("judging pages", node + 1, len(index))
        return cls(
            index, beta, strongest(index, links), topic.threshold, name,
            links if len(index.link_slot) else None, facets, data if any(data) else [],
        )  # fmt: skip

    def visit(self, node: int, pick: int, arm: str = "", score: float = 0.0) -> Visit:
        """The visit of a node, as the engine would build it; what takes time to look up comes when it is asked for."""
        return RecordedVisit(self, node, pick, arm, score)

    def alphas(self, node: int) -> NDArray[np.float32]:
        """The alpha of each child of a node."""
        start = self.index.columns["child_start"]
        return self.alpha[start.item(node) : start.item(node + 1)]


def strongest(index: Index, links: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each child the largest number among the links to it from the same page."""
    if not len(index.link_slot):
        return links
    first = np.repeat(index.child_start[:-1], np.diff(index.link_start))
    largest = np.full(len(index.child), -np.inf, np.float32)
    np.maximum.at(largest, first + index.link_slot, links)
    return largest


class RecordedVisit(Visit):
    """A visit that looks its words and links up when someone asks for them.

    What Visit has as slots that can be written are properties here, which no one writes: hence the remarks for mypy.
    """

    __slots__ = ("_data", "_guide", "_links", "_node", "_terms")

    def __init__(self, guide: Guide, node: int, pick: int, arm: str, score: float) -> None:
        self._guide, self._node = guide, node
        self._links: Links | None = None
        self._terms: Terms | None = None
        self._data: dict[str, Any] | None = None
        self.kind, self.outcome = "page", "ok"
        self.pick, self.arm, self.score = pick, arm, score
        self.beta = guide.beta.item(node)
        self.retry_at, self.same_as, self.attempt, self.hops = 0.0, "", 1, 0

    def __getattr__(self, name: str) -> Any:
        """What is not recorded is as in a visit of which nothing is known: no times, no address, no flags."""
        return getattr(_PLAIN, name)

    @property
    def node(self) -> str:  # type: ignore[override]
        return str(self._guide.index.names[self._node])

    @property
    def language(self) -> str:  # type: ignore[override]
        return self._guide.index.page(self._node).language

    @property
    def title(self) -> str:  # type: ignore[override]
        return self._guide.index.page(self._node).title

    @property
    def terms(self) -> Terms:  # type: ignore[override]
        if self._terms is None:
            self._terms = self._guide.index.terms(self._node)
        return self._terms

    @property
    def links(self) -> Links:  # type: ignore[override]
        if self._links is None:
            guide = self._guide
            self._links = guide.index.page(self._node).links
            here = slice(guide.index.link_start[self._node], guide.index.link_start[self._node + 1])
            self._links.alphas = np.array((guide.alpha if guide.links is None else guide.links)[here])
            self._links.facets = {name: np.array(column[here]) for name, column in guide.facets.items()}
        return self._links

    @property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        if self._data is None:
            packed = self._guide.data[self._node] if self._guide.data else b""
            self._data = msgpack.unpackb(packed) if packed else {}
        return self._data


_PLAIN = Visit("", "page", "ok", 0, status=200)
