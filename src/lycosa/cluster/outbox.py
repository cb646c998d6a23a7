"""Links to nodes of other shards, until their receivers have confirmed them.

A message is named by the number that its page has in the sender's log, and the log has all of the page's links: so
nothing has to be kept here that could not be made again. Where a receiver has confirmed everything up to a number, that
number is its cursor; cursors stand in the sender's log (a setting). After a crash all beyond them is sent again, and
whoever has it already leaves it out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from lycosa.cluster.owning import Owners
from lycosa.core.engine import Engine
from lycosa.core.types import Inbound, Links, Terms, Visit
from lycosa.store.codec import encode_other
from lycosa.store.log import VISITS, SqliteLog

CURSORS = "cursors"
"""The setting that says up to which number each receiver has confirmed."""

MOST = 5_000
"""Messages for one receiver that are kept in memory; the others wait in the log."""

BATCH, BATCH_BYTES = 200, 1 << 20
"""Messages and bytes that are sent at once, at most."""

LINKING = ("page", "redirect", "sitemap", "revisit")
"""Kinds of visits whose links join the frontier."""

Scope = Callable[[str, int], bool]


class Outbox:
    """What one shard has to send. `scope` says what belongs to the crawl, whoever fetches it."""

    def __init__(self, shard: int, owners: Owners, engine: Engine, scope: Scope) -> None:
        self.shard, self.owners, self.engine, self.scope = shard, owners, engine, scope
        self.queues: dict[int, deque[tuple[int, bytes]]] = {n: deque() for n in range(owners.shards) if n != shard}
        self.cursors: dict[int, int] = dict.fromkeys(self.queues, 0)
        self._known = 0  # the last visit of the log that was looked at
        self._behind: dict[int, int] = {}  # the first message that a receiver's queue had no room for
        self._noted: dict[int, int] = {}
        self.bytes = self.sent = 0

    def catch_up(self) -> None:
        """At the start of a run: what the log says of cursors, and what is beyond them."""
        cursors = self.engine.tally.settings.get(CURSORS, {})
        for receiver, number in cursors.items() if isinstance(cursors, dict) else ():
            if int(receiver) in self.cursors:
                self.cursors[int(receiver)] = int(number)
        self._noted = dict(self.cursors)
        self._read(min(self.cursors.values(), default=0), self.queues)

    def add(self, visit: Visit, number: int) -> None:
        """A visit was recorded under this number."""
        if number > self._known:
            self._known = number
            self._put(visit, number, self.queues)

    def _read(self, after: int, receivers: Iterable[int]) -> None:
        """Visits of the log, for some receivers."""
        log = self.engine.log
        if isinstance(log, SqliteLog):
            for number, event in log.numbered(f"seq > ? AND {VISITS}", given=(after,)):
                if isinstance(event, Visit):
                    self._known = max(self._known, number)
                    self._put(event, number, receivers)
            return
        for number, event in enumerate(log, 1):
            if number > after and isinstance(event, Visit):
                self._known = max(self._known, number)
                self._put(event, number, receivers)

    def _put(self, visit: Visit, number: int, receivers: Iterable[int]) -> None:
        for receiver, message in self._messages(visit, number).items():
            queue = self.queues[receiver]
            if receiver not in receivers or number <= self.cursors[receiver] or receiver in self._behind:
                continue
            if len(queue) >= MOST:
                self._behind[receiver] = number
            else:
                queue.append((number, encode_other(message)))

    def _messages(self, visit: Visit, number: int) -> dict[int, Inbound]:
        """For each receiver what it has to know of a visit."""
        if not is_linking(visit):
            return {}
        table = self.engine.table
        row = table.row_of.get(visit.node, -1)
        return messages(
            visit, self.shard, number, self.owners, self.scope,
            depth=int(table.depth[row]) if row >= 0 else 0, outcome=self._outcome(visit, row),
            seed=row >= 0 and bool(table.is_seed[row]),
            sums=table.handed_on(row) if visit.outcome == "redirect" and row >= 0 else [],
        )  # fmt: skip

    def _outcome(self, visit: Visit, row: int) -> float:
        """What our strategy took the page to be worth: the judge's word, unless it has one of its own."""
        tell = getattr(getattr(self.engine.strategy, "estimator", None), "outcome_of", None)
        return float(tell(row)) if tell is not None and row >= 0 else visit.beta

    # -- what is sent ------------------------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Messages that were not confirmed."""
        return sum(map(len, self.queues.values())) + len(self._behind)

    def batch(self, receiver: int) -> tuple[int, list[bytes]]:
        """What to send next, and the number of its last message; nothing if all is confirmed."""
        queue = self.queues[receiver]
        if not queue and receiver in self._behind:
            self._read(self._behind.pop(receiver) - 1, (receiver,))
        messages: list[bytes] = []
        size, last = 0, 0
        for number, message in queue:
            if messages and (len(messages) >= BATCH or size + len(message) > BATCH_BYTES):
                break
            messages.append(message)
            size += len(message)
            last = number
        return last, messages

    def confirm(self, receiver: int, number: int) -> None:
        """The receiver has recorded all up to this number."""
        queue = self.queues[receiver]
        while queue and queue[0][0] <= number:
            self.bytes += len(queue.popleft()[1])
            self.sent += 1
        self.cursors[receiver] = max(self.cursors[receiver], number)

    def news(self) -> dict[str, int] | None:
        """The cursors, if they are others than the log has."""
        if self.cursors == self._noted:
            return None
        self._noted = dict(self.cursors)
        return {str(receiver): number for receiver, number in self.cursors.items()}


def is_linking(visit: Visit) -> bool:
    """Whether the links of a visit join the frontier."""
    return visit.kind in LINKING and visit.outcome in ("ok", "redirect")


def messages(
    visit: Visit,
    shard: int,
    number: int,
    owners: Owners,
    scope: Scope,
    *,
    depth: int,
    outcome: float,
    seed: bool,
    sums: list[float],
) -> dict[int, Inbound]:
    """What each other shard has to know of a visit, which has this number in the log of its shard."""
    further = depth + (visit.outcome != "redirect")
    chosen: dict[int, list[int]] = {}
    for at, url in enumerate(visit.links.urls):
        owner = owners.of(url)
        if owner != shard and scope(url, further):
            chosen.setdefault(owner, []).append(at)
    sources: dict[int, list[str]] = {}
    if visit.kind == "sitemap":
        for source in visit.data.get("sources", ()):
            if (owner := owners.of(source)) != shard:
                sources.setdefault(owner, []).append(source)
    made = {}
    for owner in sorted({*chosen, *sources}):
        page = replace(visit, terms=Terms(), links=_some(visit.links, chosen.get(owner, [])), data={}, digest=b"")
        if owner in sources:
            page.data = {"sources": sources[owner]}
        made[owner] = Inbound(shard, number, page, depth, visit.hops, outcome, seed, sums)
    return made


def _some(links: Links, chosen: list[int]) -> Links:
    """Some of a page's links."""

    def of(column: list[str]) -> list[str]:
        return [column[at] for at in chosen] if column else []

    return Links(
        of(links.urls), of(links.anchors), of(links.contexts), of(links.rels), [links.positions[at] for at in chosen],
        links.alphas[chosen] if len(links.alphas) else links.alphas,
        {name: column[chosen] for name, column in links.facets.items() if len(column)},
        of(links.paths),
    )  # fmt: skip
