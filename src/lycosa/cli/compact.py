"""`lycosa compact`: a log made smaller."""

from __future__ import annotations

from rich.text import Text

from lycosa.cli.parameters import Dir
from lycosa.cli.printing import output, wrapped
from lycosa.cli.progress import progress
from lycosa.collection import compacting


def compact(directory: Dir) -> None:
    """Shrink the log of a crawl without losing what it learned.

    Drops the words of links that lead out of scope, and of links that an earlier version of the page already has. If
    you widen the scope later, these links are ranked by their addresses alone.
    """
    with progress() as tell:
        done = compacting.compact(directory, tell)
    if done.after == done.before:
        print(f"{directory}: {done.events:,} events in {done.before / 1e6:,.1f} MB; it can't be made smaller")
        return
    print(
        f"{directory}: {done.events:,} events kept, {done.before / 1e6:,.1f} MB before, {done.after / 1e6:,.1f} MB now"
    )
    told = [
        f"Dropped the words of {done.outside:,} links out of scope and of {done.repeated:,} links that earlier "
        "versions of their pages already have."
    ]
    if done.snapshot:
        told.append("The snapshot no longer matches and was removed; the next resume reads the whole log once.")
    console = output()
    for line in told:
        wrapped(console, Text(line))
