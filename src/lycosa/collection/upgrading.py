"""The log of a crawl in the format of today: `lycosa upgrade`. Every command reads older formats as they are, and who
goes on with a crawl brings its log up to date; this does so without fetching anything, after it has read every event.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lycosa.core.errors import StoreError
from lycosa.core.telling import Tell, silent
from lycosa.store.codec import VERSION
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog


@dataclass(slots=True)
class Upgraded:
    """What came of it."""

    before: int
    now: int = VERSION
    """Formats of the log."""
    events: int = 0


def upgrade(directory: Path, tell: Tell = silent) -> Upgraded:
    """Bring the log of a crawl that does not run up to date. One that was damaged, or is newer, stays as it is."""
    opened = Directory.open(directory, shard=True)
    try:
        path = directory / NAME
        if not path.exists():
            raise StoreError(f"{path} does not exist: nothing has been crawled there yet")
        with closing(SqliteLog(path, readonly=True)) as log:
            done, end = Upgraded(log.version()), log.end()
            for done.events, _ in enumerate(log, 1):
                if done.events % 500 == 0:
                    tell("reading", done.events, end)
        with closing(opened.log()):  # who opens it to write brings it up to date
            pass
        return done
    finally:
        opened.close()
