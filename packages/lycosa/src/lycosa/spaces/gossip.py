"""Search by gossip: a query is passed from peer to peer, to those that are said to have something on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lycosa.core.types import Page, Task
from lycosa.spaces.graph import GraphSpace, draw, read_rows


class GossipSpace(GraphSpace):
    """Peers with documents, and what each has heard of its neighbours.

    V are peers, E the overlay network, V0 the peer that asks, the topic is the query. beta is the relevance of a
    peer's documents. alpha is the relevance of what the peer that passes the query on remembers of its neighbour: the
    first lines of some of its documents, and not all of them up to date. The budget limits how far the query spreads:
    the paper says a tenth of the peers.

    In Python the overlay is a dictionary of neighbours, and `documents` has those of each peer. From files:

    file: the overlay, one link a line: peer, tab, neighbour.
    documents: what peers have, one document a line: peer, tab, text.
    known: the share of a neighbour's documents that a peer has heard of.
    stale: the share of these that the neighbour does not have any more; what is remembered is another's document.
    seed: which ones they are is drawn from this number, the two peers and the document.

    >>> import lycosa
    >>> space = GossipSpace(
    ...     {"ann": ["bob", "cat"], "cat": ["dan"]},
    ...     {"bob": ["Timetables of trains"], "cat": ["Reefs, a guide"], "dan": ["Coral reefs"]},
    ...     known=1.0,
    ...     stale=0.0,
    ... )
    >>> [visit.node for visit in lycosa.crawl("coral reef", ["ann"], space=space, concurrency=1, budget=3)]
    ['ann', 'cat', 'dan']

    Paper: Gouriten, Maniu, Senellart 2014, 2.2. There caches are said to be relevant to the query or not; how much of
    a neighbour they hold, and how old it is, are parameters of ours.
    """

    def __init__(
        self,
        overlay: Mapping[str, Sequence[str]] | None = None,
        documents: Mapping[str, Sequence[str]] | str = "",
        known: float = 0.5,
        stale: float = 0.1,
        seed: int = 0,
        file: str = "",
    ) -> None:
        if not documents:
            raise ValueError(
                "it needs what peers have, one per line: peer, tab, text. Write gossip,file=...,documents=..."
            )
        super().__init__(overlay, file=file)
        if not 0.0 <= known <= 1.0 or not 0.0 <= stale <= 1.0:
            raise ValueError(f"known is {known} and stale is {stale}: both are shares, from 0 to 1")
        if isinstance(documents, str):
            read: dict[str, list[str]] = {}
            for _, (peer, text) in read_rows(documents, "a peer, a tab, and the text of a document", 2, 2):
                read.setdefault(peer, []).append(text)
            documents = read
        self.documents = documents
        self.known, self.stale, self.seed = known, stale, seed
        self._peers = sorted(self.documents)

    async def visit(self, task: Task) -> Page:
        """The peer's documents, and its neighbours under the names that the peer has for them."""
        page = await super().visit(task)
        if page.outcome != "ok":
            return page
        page.data = {}  # no true scores here: the topic judges
        page.marked = "\n".join(self.documents.get(task.node, ()))
        page.links.anchors = [self.remembered(task.node, peer) for peer in page.links.urls]
        return page

    def remembered(self, holder: str, peer: str) -> str:
        lines = []
        for number, document in enumerate(self.documents.get(peer, ())):
            key = (self.seed, holder, peer, number)
            if draw("known", *key) < self.known:
                lines.append(self._another(key) if draw("stale", *key) < self.stale else document)
        return "; ".join(line.partition("\n")[0] for line in lines)

    def _another(self, key: tuple[object, ...]) -> str:
        """A document that the neighbour may have had once: any peer's."""
        owner = self._peers[int(draw("owner", *key) * len(self._peers))]
        theirs = self.documents[owner]
        return theirs[int(draw("document", *key) * len(theirs))] if theirs else ""
