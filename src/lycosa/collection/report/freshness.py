"""What has changed since the pages were first fetched: over time, lately, for good."""

from __future__ import annotations

from itertools import islice

import numpy as np

from lycosa.collection.reading import Collection
from lycosa.collection.report import charts
from lycosa.collection.report.figures import Changed, Freshness, Gone, Restless
from lycosa.collection.tally import SORTS
from lycosa.refresh.ledger import Wanted, changes

LATEST, GONE, RESTLESS = 30, 30, 10
"""Changes, vanished or moved pages, and restless ones that are shown."""

CLIP = 300
"""Letters of a title that are kept."""

_WANTED = Wanted(what=("changed", "vanished", "moved", "returned"))


def freshness(collection: Collection) -> Freshness | None:
    """What looking again has brought; None where nobody has."""
    view = collection.view()
    looks = view.tally.looks
    if not looks.count:
        return None
    fresh = Freshness(looks.count, looks.last, sorts=[(sort, looks.sorts[sort]) for sort in SORTS if looks.sorts[sort]])
    fresh.returned, fresh.new = looks.sorts["returned"], looks.new
    fresh.chart = charts.stacked(np.array(looks.times), np.array(looks.kinds, np.int64), SORTS, looks.first, looks.last)
    fresh.latest = [
        Changed(entry.url, entry.title[:CLIP], entry.at, entry.change.what, entry.change.kind, entry.change.magnitude,
                "; ".join(entry.change.says)[:CLIP])
        for entry in islice(changes(collection.log, upto=view.seq, newest_first=True, wanted=_WANTED), LATEST)
    ]  # fmt: skip
    lately = sorted(looks.gone.items(), key=lambda item: -item[1][1])
    fresh.gone_count = len(lately)
    for node, (what, since, target) in lately[:GONE]:
        fresh.gone.append(Gone(node, _title(collection, node), what, since, target))
    for node, times in looks.restless.most_common(RESTLESS):
        page = view.page(node)
        if page is not None and page.fate is not None:
            title = _title(collection, node)
            fresh.restless.append(Restless(node, title, times, page.fate.looks, page.fate.changed))
    return fresh


def _title(collection: Collection, node: str) -> str:
    """The title that a page last had."""
    version = collection.versions.last(node)
    return version.title[:CLIP] if version is not None else ""
