"""Search by gossip: a query is passed to the peers that are expected to have relevant documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lycosa.core.types import Page, Task
from lycosa.spaces.graph import GraphSpace, draw, read_rows


class GossipSpace(GraphSpace):
    """Peers with documents, and each peer's partial knowledge of its neighbours.

    V are peers, E the overlay network, V0 the querying peer, and the topic is the query. beta is the relevance of a
    peer's documents. alpha is the relevance of the titles that a peer remembers of its neighbour: the first lines of
    some documents, not all of them up to date. The budget limits the spread of the query: a tenth of the peers in the
    paper.

    In Python the overlay is a dictionary of neighbours, and `documents` has those of each peer. From files:

    - file: the overlay, one link per line: peer, tab, neighbour.
    - documents: one document per line: peer, tab, text.
    - known: the share of a neighbour's documents that a peer remembers.
    - stale: the share of these that the neighbour no longer has; another peer's document is remembered instead.
    - seed: known and stale documents are drawn from this number, the two peers and the document.

    >>> import lycosa
    >>> space = GossipSpace(
    ...     {"ann": ["bob", "cat"], "cat": ["dan"]},
    ...     {"bob": ["Timetables of trains"], "cat": ["Reefs, a guide"], "dan": ["Coral reefs"]},
    ...     known=1.0,
    ...     stale=0.0,
    ... )
    >>> [visit.node for visit in lycosa.crawl("coral reef", ["ann"], space=space, concurrency=1, budget=3)]
    ['ann', 'cat', 'dan']

    Paper: Gouriten, Maniu, Senellart 2014, 2.2. There a cache is relevant to the query or not; its size and age are
    parameters of ours.
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
                "it needs the documents of peers, one per line (peer, tab, text): write gossip,file=...,documents=..."
            )
        super().__init__(overlay, file=file)
        if not 0.0 <= known <= 1.0 or not 0.0 <= stale <= 1.0:
            raise ValueError(f"'known' is {known} and 'stale' is {stale}: both must be from 0 to 1")
        if isinstance(documents, str):
            read: dict[str, list[str]] = {}
            for _, (peer, text) in read_rows(documents, "a peer, a tab, and the text of a document", 2, 2):
                read.setdefault(peer, []).append(text)
            documents = read
        self.documents = documents
        self.known, self.stale, self.seed = known, stale, seed
        self._peers = sorted(self.documents)

    async def visit(self, task: Task) -> Page:
        page = await super().visit(task)
        if page.outcome != "ok":
            return page
        page.data = {}  # the judge decides instead of true relevances
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
        owner = self._peers[int(draw("owner", *key) * len(self._peers))]
        theirs = self.documents[owner]
        return theirs[int(draw("document", *key) * len(theirs))] if theirs else ""
