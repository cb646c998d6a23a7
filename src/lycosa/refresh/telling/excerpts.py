"""The first words that came and went with a change: what a reader of a feed or a mail sees before any click."""

from __future__ import annotations

from functools import lru_cache

from lycosa.core.errors import StoreError
from lycosa.core.types import Visit
from lycosa.refresh.diff.rows import diff
from lycosa.refresh.ledger import Told
from lycosa.refresh.snapshot import Snapshot
from lycosa.refresh.telling.words import plain
from lycosa.store.versions import Versions
from lycosa.web.inflate import BadEncoding, inflate

LONGEST = 120
"""Characters of either."""

LARGEST = 500_000
"""Characters of a text; a longer one is not read for a line."""

REMEMBERED = 400
"""Excerpts that are kept: those of a feed's entries, and some."""


class Excerpts:
    """Told of a change, says which words came and which went; empty where the archive can't tell."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self._excerpt = lru_cache(REMEMBERED)(self._made)

    def __call__(self, item: Told) -> str:
        """The words of the main part that came and went."""
        if item.change.what != "changed" or item.origin or not item.follows:
            return ""
        return self._excerpt(item.url, item.follows, item.at)

    def _made(self, url: str, before: float, at: float) -> str:
        versions = {visit.started: visit for visit in self.versions.of(url)}
        if before not in versions or at not in versions:
            return ""
        try:
            old, new = (self._text(versions[when]) for when in (before, at))
        except StoreError:  # an archive that can't be read is no reason not to tell
            return ""
        if max(len(old), len(new)) > LARGEST:
            return ""
        runs = [run for row in diff(old, new).rows if row.state in ("changed", "removed", "added") for run in row.runs]
        came = plain(" … ".join(run.text for run in runs if run.state == "added"), LONGEST)
        went = plain(" … ".join(run.text for run in runs if run.state == "removed"), LONGEST)
        return "; ".join(filter(None, (came and f"came: {came}", went and f"went: {went}")))

    def _text(self, visit: Visit) -> str:
        exchange = self.versions.exchange(visit)
        if exchange is None:
            return ""
        try:
            body, _ = inflate(exchange.body, exchange.header("content-encoding"), 4 * LARGEST)
        except BadEncoding:
            return ""
        kind = exchange.header("content-type")
        return Snapshot.of(visit.node, body, kind, beta=visit.worth, threshold=0.0).main_text
