"""What has changed since the pages were first fetched: over time, lately, for good.

Fed with the looks again in the order of the log; what it keeps grows with the pages that have changed or gone, not with
the looks.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import islice

import numpy as np

from lycosa.collection.reading import Collection
from lycosa.collection.report import charts
from lycosa.collection.report.figures import Changed, Freshness, Gone, Restless
from lycosa.core.types import Visit
from lycosa.refresh.change import KINDS, change_of
from lycosa.refresh.ledger import Wanted, changes

LATEST, GONE, RESTLESS = 30, 30, 10
"""Changes, vanished or moved pages, and restless ones that are shown."""

SORTS = (*KINDS[:-1], "vanished", "moved", KINDS[-1])
"""What the picture tells apart, from the foot of a bar to its top."""

_WANTED = Wanted(what=("changed", "vanished", "moved", "returned"))

CLIP = 300
"""Letters of a title that are kept."""


class Looks:
    """Collects what looking again has brought."""

    def __init__(self) -> None:
        self.looks = self.new = 0
        self.first = self.last = 0.0
        self.counts: Counter[str] = Counter()
        self._times, self._sorts = array("d"), array("b")
        self._restless: Counter[str] = Counter()
        self._gone: dict[str, tuple[str, float, str]] = {}

    def visit(self, visit: Visit) -> None:
        """See a visit; those that are no looks again are passed over, but for pages that were found meanwhile."""
        if visit.kind != "revisit":
            self.new += visit.is_page and "change" in visit.data
            return
        self.looks += 1
        self.first, self.last = self.first or visit.started, max(self.last, visit.started)
        change = change_of(visit)
        if visit.outcome in ("ok", "unchanged"):
            self._gone.pop(visit.node, None)
        elif change is not None and change.what in ("vanished", "moved"):
            self._gone[visit.node] = (change.what, visit.started, change.target)
        if change is None:
            return
        sort = change.kind if change.what == "changed" else change.what
        self.counts[sort] += 1
        if change.what == "changed" and change.matters:
            self._restless[visit.node] += 1
        if sort in SORTS:  # a page that returns is told, but not drawn
            self._times.append(visit.started)
            self._sorts.append(SORTS.index(sort))

    def tell(self, collection: Collection, last: int) -> Freshness | None:
        """All of it, up to an event; None where nobody has looked again."""
        if not self.looks:
            return None
        told = Freshness(
            self.looks, self.last, sorts=[(sort, self.counts[sort]) for sort in SORTS if self.counts[sort]]
        )
        told.returned, told.new = self.counts["returned"], self.new
        told.chart = charts.stacked(
            np.array(self._times), np.array(self._sorts, np.int64), SORTS, self.first, self.last
        )
        told.latest = [
            Changed(one.url, one.title[:CLIP], one.at, one.change.what, one.change.kind, one.change.magnitude,
                    "; ".join(one.change.says)[:CLIP])
            for one in islice(changes(collection.log, upto=last, newest_first=True, wanted=_WANTED), LATEST)
        ]  # fmt: skip
        lately = sorted(self._gone.items(), key=lambda item: -item[1][1])
        told.gone_count = len(lately)
        for node, (what, since, target) in lately[:GONE]:
            told.gone.append(Gone(node, _title(collection, node), what, since, target))
        for node, times in self._restless.most_common(RESTLESS):
            standing = collection.standing(node)
            if standing is not None:
                told.restless.append(Restless(node, _title(collection, node), times, standing.looks, standing.changed))
        return told


def _title(collection: Collection, node: str) -> str:
    """The title that a page last had."""
    version = collection.versions.last(node)
    return version.title[:CLIP] if version is not None else ""
