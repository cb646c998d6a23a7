"""`lycosa mend`: what can be saved of a damaged log."""

from __future__ import annotations

from lycosa.cli.parameters import Dir
from lycosa.collection import mending

TOLD = 20
"""Events that are named."""


def mend(directory: Dir) -> None:
    """Repair a damaged log. The damaged file is kept."""
    done = mending.mend(directory)
    if done.whole:
        print(f"{directory}: nothing to repair, all {done.kept:,} events are readable")
        return
    for what, events in (("made again", done.mended), ("lost", done.lost)):
        for event in events[:TOLD]:
            print(f"{what}: {event}")
        if len(events) > TOLD:
            print(f"{what}: {len(events) - TOLD:,} more")
    if done.wordless:
        print(f"{done.wordless:,} visits have lost the words of their pages, which the judge learns from")
    print(
        f"{directory}: {done.kept:,} events intact, {len(done.mended):,} reconstructed, {len(done.lost):,} lost; "
        f"the damaged log is {done.aside.name}. Continue with: lycosa resume {directory}"
    )
