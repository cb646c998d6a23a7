"""`lycosa upgrade`: a log in the format of today."""

from __future__ import annotations

from lycosa.cli.parameters import Dir
from lycosa.cli.progress import progress
from lycosa.collection import upgrading


def upgrade(directory: Dir) -> None:
    """Convert the log of a crawl to the current format.

    Older logs are readable without it. Every event is read first; if one is damaged, or the log is from a newer
    version, nothing is changed. A log of the current format stays as it is.
    """
    with progress() as tell:
        done = upgrading.upgrade(directory, tell)
    told = f"{done.events:,} events converted from format {done.before} to {done.now}"
    if done.before == done.now:
        told = f"the log already has the current format, {done.now}; all {done.events:,} events are readable"
    print(f"{directory}: {told}")
