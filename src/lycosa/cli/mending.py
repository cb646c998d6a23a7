"""`lycosa mend`: what can be saved of a damaged log."""

from __future__ import annotations

from pathlib import Path

from lycosa.collection.mending import mend

TOLD = 20
"""Events that are named."""


def run(directory: Path) -> None:
    """Mend the log, and say what was done."""
    done = mend(directory)
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
