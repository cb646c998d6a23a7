"""A shard: an engine with its own log that fetches its own hosts within its grants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from lycosa.core.engine import Engine
from lycosa.core.picker import ShardBudget
from lycosa.core.types import Event, Label, ModelUpdate, Setting
from lycosa.store.codec import unpack_batch
from lycosa.store.log import SqliteLog
from lycosa.version import SOFTWARE
from lycosa.web.politeness import Politeness
from lycosa_cluster.leasing import Leases, Ledger
from lycosa_cluster.messages import Grant, ShardReport
from lycosa_cluster.outbox import CURSORS, Outbox
from lycosa_cluster.owning import Owners

LEASE = "lease"  # setting: epoch and end of a shard's lease
PROMISES = 32  # maximum number of rows that a shard offers at once


def add_new_labels(engine: Engine, labels: Iterable[Label]) -> int:
    """At the start of a run, record labels that are missing in the log; return their number."""
    recorded = {(label.node, label.at) for label in _labels(engine)}
    new = [label for label in labels if (label.node, label.at) not in recorded]
    if new:
        engine.add_labels(new)
    return len(new)


def _labels(engine: Engine) -> list[Label]:
    log = engine.log
    return log.labels() if isinstance(log, SqliteLog) else [label for label in log if isinstance(label, Label)]


def follow_update(engine: Engine, update: ModelUpdate | None) -> None:
    """At the start of a run, apply another judge's model update unless the log has it."""
    if update is None:
        return
    log = engine.log
    if isinstance(log, SqliteLog):
        known = list(log.query("SELECT judge, at FROM model_update"))
    else:
        known = [(event.judge, event.at) for event in log if isinstance(event, ModelUpdate)]
    if (update.judge, update.at) not in known:
        engine.model_updates.record_update(update)


class Shard:
    """Engine that fetches only within its grants, under a lease recorded in its log."""

    def __init__(
        self,
        number: int,
        owners: Owners,
        engine: Engine,
        scope: Callable[[str, int], bool] | None = None,
        ledger: Ledger | None = None,
        over: int | None = None,
    ) -> None:
        self.number, self.engine = number, engine
        self.outbox = Outbox(number, owners, engine, scope or (lambda node, depth: True))
        self.outbox.catch_up()
        self.total = engine.tally.pages * owners.shards  # last known number of pages of all shards
        engine.recorded = self.outbox.add
        lease: Any = engine.tally.settings.get(LEASE, {})
        self.epoch = int(lease.get("epoch", 0)) + 1
        # End of the previous process's lease, before which nothing is fetched; 0 if that process is known to have
        # stopped (`over` is its epoch).
        self.free_from = 0.0 if self.epoch - 1 == over else float(lease.get("until", 0.0))
        self.allowance = engine.picker.allowance = ShardBudget(engine.tally.pages, engine.tally.requests)
        self.leases = Leases(number, owners, engine.clock, ledger)
        politeness = getattr(engine.space, "politeness", None)
        if isinstance(politeness, Politeness) and owners.shards > 1:
            self.leases.ledger.open(politeness.address_delay, self.free_from)
            politeness.leases = self.leases
        self._until = 0.0  # end of the lease as recorded in the log

    def receive(self, packed: bytes) -> int:
        """Record links from another shard; return the number of the last page."""
        pages = unpack_batch(packed)
        self.engine.add_events_from_shards([pages])
        return pages.number

    @property
    def unused(self) -> int:
        """Number of granted pages that are not under way yet."""
        return max(0, self.allowance.pages - self.engine.tally.pages - self.engine.picker.under_way[1])

    def report(self) -> ShardReport:
        """Return a progress report; grants that cannot be used now are given back."""
        engine, allowance = self.engine, self.allowance
        tally, picker, now = engine.tally, engine.picker, engine.clock()
        tasks, unused = picker.under_way[0], self.unused
        promises = engine.frontier.promises(PROMISES + unused, now, engine.space.at_once)
        if unused > len(promises):
            allowance.pages -= unused - len(promises)
            unused = len(promises)
        level = float(getattr(getattr(engine.strategy, "estimator", None), "priority_offset_", 0.0))
        soon = engine.frontier.next_ready()
        alone = math.isfinite(soon) and soon > now + picker.patience
        waits = math.isfinite(soon) and not alone
        return ShardReport(
            self.number, self.epoch, tally.pages, tally.requests, picker.received, allowance.pages, allowance.requests,
            [promise - level for promise in promises[unused:]], engine.frontier.best_soon(now) - level,
            bool(tasks or engine._arrived or waits or promises or self.outbox.pending),
            tally.relevant, alone, SOFTWARE,
            level, engine.strategy.proportional,
        )  # fmt: skip

    def accept(self, grant: Grant, sent_at: float) -> None:
        """Apply a grant; its lease begins at the time of the request."""
        allowance, now = self.allowance, self.engine.clock()
        self.total = max(self.total, grant.total)
        until = sent_at + grant.seconds
        events: list[Event] = []
        renewed = not grant.over and until > now and self._until < now + grant.seconds / 2
        if renewed:
            self._until = until
            events.append(Setting(LEASE, {"epoch": self.epoch, "until": until}, now))
        # recorded together with the lease: if cursors lag behind, a crash only sends some links again
        if (renewed or grant.over) and (cursors := self.outbox.changed_cursors()) is not None:
            events.append(Setting(CURSORS, cursors, now))
        if events:
            self.engine.add_events_from_shards(events)
        allowance.until = self.leases.until = self._until
        self.leases.over = bool(grant.over)
        allowance.over = grant.over
        if grant.pages > allowance.pages or grant.requests > allowance.requests or grant.over:
            allowance.pages = max(allowance.pages, grant.pages)
            allowance.requests = max(allowance.requests, grant.requests)
            self.engine.wake()
