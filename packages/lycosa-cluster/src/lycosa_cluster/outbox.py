"""Links to nodes of other shards, until their receivers have confirmed them.

Links are identified by the number of their page in the sender's log, which contains them all, so nothing else has to be
stored. Pages for one receiver are sent in batches. The number up to which a receiver has confirmed is its cursor,
stored in the sender's log as a setting. After a crash everything beyond the cursors is sent again, in different
batches; receivers drop duplicates.
"""

from __future__ import annotations

from asyncio import Event
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from lycosa.core.engine import Engine
from lycosa.core.types import ArchivePlace, InboundLinks, LinkBatch, Links, Terms, Visit
from lycosa.store.codec import pack_batch
from lycosa.store.log import SqliteLog
from lycosa_cluster.owning import Owners

CURSORS = "cursors"  # setting: confirmed page number of each receiver
MAX_QUEUED_PAGES = 5_000  # maximum pages for one receiver in memory; later ones are read from the log again
MAX_BATCH_PAGES, MAX_BATCH_LINKS = 200, 5_000  # limits of a batch; its last page may exceed the limit of links
LINKING = ("page", "redirect", "sitemap", "revisit")  # kinds of visits whose links join the frontier
Scope = Callable[[str, int], bool]


@dataclass(slots=True)
class Queue:
    """Unconfirmed pages for one receiver."""

    batches: deque[tuple[int, int, bytes]] = field(default_factory=deque)  # encoded: number of the last page, pages
    pages: list[InboundLinks] = field(default_factory=list)  # pages not yet in a batch
    links: int = 0
    count: int = 0  # number of all unconfirmed pages in memory
    filled: Event = field(default_factory=Event)  # set while there is something to send

    def add(self, page: InboundLinks) -> None:
        self.pages.append(page)
        self.links += len(page.visit.links.urls)
        self.count += 1
        self.filled.set()
        if len(self.pages) >= MAX_BATCH_PAGES or self.links >= MAX_BATCH_LINKS:
            self.pack()

    def pack(self) -> None:
        """Encode the pending pages as a batch."""
        packed = pack_batch(LinkBatch(self.pages))
        self.batches.append((self.pages[-1].number, len(self.pages), packed))
        self.pages, self.links = [], 0


class Outbox:
    """Links that one shard has to send; `scope` returns whether a URL belongs to the crawl, on any shard."""

    def __init__(self, shard: int, owners: Owners, engine: Engine, scope: Scope) -> None:
        self.shard, self.owners, self.engine, self.scope = shard, owners, engine, scope
        self.queues = {number: Queue() for number in range(owners.shards) if number != shard}
        self.cursors: dict[int, int] = dict.fromkeys(self.queues, 0)
        self._known = 0  # number of the last visit read from the log
        self._waiting_in_log: dict[int, int] = {}  # by receiver: number of the first page that did not fit in its queue
        self._recorded_cursors: dict[int, int] = {}
        self.bytes = self.sent = 0

    def catch_up(self) -> None:
        """Read the cursors and the unconfirmed pages from the log at the start of a run."""
        cursors = self.engine.tally.settings.get(CURSORS, {})
        for receiver, number in cursors.items() if isinstance(cursors, dict) else ():
            if int(receiver) in self.cursors:
                self.cursors[int(receiver)] = int(number)
        self._recorded_cursors = dict(self.cursors)
        self._read(min(self.cursors.values(), default=0), self.queues)

    def add(self, visit: Visit, number: int) -> None:
        if number > self._known:
            self._known = number
            self._put(visit, number, self.queues)

    def _read(self, after: int, receivers: Iterable[int]) -> None:
        """Read visits from the log for some receivers."""
        log = self.engine.log
        numbered = log.numbered("seq > ?", given=(after,)) if isinstance(log, SqliteLog) else enumerate(log, 1)
        for number, event in numbered:
            if number > after and isinstance(event, Visit):
                self._known = max(self._known, number)
                self._put(event, number, receivers)

    def _put(self, visit: Visit, number: int, receivers: Iterable[int]) -> None:
        for receiver, message in self._messages(visit, number).items():
            queue = self.queues[receiver]
            if receiver not in receivers or number <= self.cursors[receiver] or receiver in self._waiting_in_log:
                continue
            if queue.count >= MAX_QUEUED_PAGES:
                self._waiting_in_log[receiver] = number
            else:
                queue.add(message)

    def _messages(self, visit: Visit, number: int) -> dict[int, InboundLinks]:
        if not is_linking(visit):
            return {}
        table = self.engine.table
        row = table.row_of.get(visit.node, -1)
        return messages(
            visit, self.shard, number, self.owners, self.scope,
            depth=int(table.depth[row]) if row >= 0 else 0,
            seed=row >= 0 and bool(table.is_seed[row]),
            sums=table.inherited_values(row) if visit.outcome == "redirect" and row >= 0 else [],
        )  # fmt: skip

    @property
    def pending(self) -> int:
        return sum(queue.count for queue in self.queues.values()) + len(self._waiting_in_log)

    def next_batch(self, receiver: int) -> tuple[int, bytes]:
        """Return the next batch and the number of its last page; empty if all is confirmed."""
        queue = self.queues[receiver]
        if not queue.count and receiver in self._waiting_in_log:
            self._read(self._waiting_in_log.pop(receiver) - 1, (receiver,))
        if not queue.batches and queue.pages:
            queue.pack()
        if not queue.batches:
            return 0, b""
        last, _, packed = queue.batches[0]
        return last, packed

    def confirm(self, receiver: int, number: int) -> None:
        """Mark all pages up to a number as recorded by the receiver."""
        queue = self.queues[receiver]
        while queue.batches and queue.batches[0][0] <= number:
            _, pages, packed = queue.batches.popleft()
            queue.count -= pages
            self.bytes += len(packed)
            self.sent += pages
        if not queue.count and receiver not in self._waiting_in_log:
            queue.filled.clear()
        self.cursors[receiver] = max(self.cursors[receiver], number)

    def changed_cursors(self) -> dict[str, int] | None:
        """Return the cursors if they differ from the recorded ones, else None."""
        if self.cursors == self._recorded_cursors:
            return None
        self._recorded_cursors = dict(self.cursors)
        return {str(receiver): number for receiver, number in self.cursors.items()}


def is_linking(visit: Visit) -> bool:
    """Return whether the links of a visit join the frontier."""
    return visit.kind in LINKING and visit.outcome in ("ok", "redirect")


def messages(
    visit: Visit, shard: int, number: int, owners: Owners, scope: Scope, *, depth: int, seed: bool, sums: list[float]
) -> dict[int, InboundLinks]:
    """Return the message about a visit for each other shard; `number` is its number in the log of its shard."""
    further = depth + (visit.outcome != "redirect")
    chosen: dict[int, list[int]] = {}
    for at, (url, owner) in enumerate(zip(visit.links.urls, map(owners.of, visit.links.urls), strict=True)):
        if owner != shard and scope(url, further):
            chosen.setdefault(owner, []).append(at)
    sources: dict[int, list[str]] = {}
    if visit.kind == "sitemap":
        for source in visit.data.get("sources", ()):
            if (owner := owners.of(source)) != shard:
                sources.setdefault(owner, []).append(source)
    messages_by_owner = {}
    for owner in sorted({*chosen, *sources}):
        page = Visit(
            visit.node, visit.kind, visit.outcome, visit.pick, visit.arm, retry_at=visit.retry_at, hops=visit.hops,
            started=visit.started, ended=visit.ended, language=visit.language, flags=visit.flags,
            relevance=visit.relevance, same_as=visit.same_as,
            data={"sources": sources[owner]} if owner in sources else {},
            terms=_WORDLESS, links=_some(visit.links, chosen.get(owner, [])), place=_NOWHERE,
        )  # fmt: skip
        messages_by_owner[owner] = InboundLinks(shard, number, page, depth, visit.hops, seed, sums)
    return messages_by_owner


_WORDLESS, _NOWHERE = Terms(), ArchivePlace()


def _some(links: Links, chosen: list[int]) -> Links:
    places = np.array(chosen, np.intp)
    columns = (links.urls, links.anchors, links.contexts, links.rels, links.paths)
    urls, anchors, contexts, rels, paths = ([column[at] for at in chosen] if column else [] for column in columns)
    return Links(
        urls, anchors, contexts, rels, [links.positions[at] for at in chosen],
        links.link_relevances.take(places) if len(links.link_relevances) else links.link_relevances,
        {name: column.take(places) for name, column in links.facets.items() if len(column)},
        paths,
    )  # fmt: skip
