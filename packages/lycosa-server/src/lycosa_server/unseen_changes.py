"""Count the changes of a crawl's pages since a time."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path

from lycosa.core.errors import LycosaError
from lycosa.revisit.ledger import changes
from lycosa.store.log import NAME, SqliteLog
from lycosa_server.crawl_cache import Signature, log_signature


def changes_since(directory: Path, since: float) -> int | None:
    """Return the number of changes after a time; None if no page was revisited, or the log cannot be read."""
    stamp = log_signature(directory / NAME)
    try:
        return _count(directory / NAME, stamp, since) if stamp else None
    except LycosaError:  # a log that is being created or is damaged; opening it reports the error
        return None


@lru_cache(2_000)
def _count(path: Path, stamp: Signature, since: float) -> int | None:
    with closing(SqliteLog(path, readonly=True)) as log:
        if next(log.rows("1", "kind = 'revisit'", "seq LIMIT 1"), None) is None:
            return None
        return sum(change.at > since for change in changes(log, since=since))
