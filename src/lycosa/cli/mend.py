"""`lycosa mend`: what can be saved of a damaged log."""

from __future__ import annotations

from lycosa.cli.parameters import Dir
from lycosa.collection import mending

TOLD = 20
"""Events that are named."""


def mend(directory: Dir) -> None:
    """Make a damaged log readable again, with all of it that can be saved; the damaged one is kept beside it."""
    done = mending.mend(directory)
    if done.whole:
        print(f"{directory}: nothing to mend, all {done.kept:,} events can be read")
        return
    for what, events in (("made again", done.mended), ("lost", done.lost)):
        for event in events[:TOLD]:
            print(f"{what}: {event}")
        if len(events) > TOLD:
            print(f"{what}: {len(events) - TOLD:,} more")
    if done.wordless:
        print(f"{done.wordless:,} visits have lost the words of their pages, which the judge learns from")
    print(
        f"{directory}: {done.kept:,} events as they were, {len(done.mended):,} made again, {len(done.lost):,} lost; "
        f"the damaged log is {done.aside.name}. Go on with: lycosa resume {directory}"
    )
