"""`lycosa disk`, `index`, `compact`, `upgrade`, `mend`: what keeps the directory of a crawl in order.

Each loads what it needs when it is run, not when it is asked for help.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column
from rich.text import Text

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import crawled, listing, output, print_json, right, wrapped
from lycosa.cli.progress import progress
from lycosa.collection.disk import measure

TOLD = 20
"""Events that are named."""


def disk(directory: Dir, json: Json = False) -> None:
    """Show the disk space a crawl uses. Works while it runs."""
    crawled(directory)
    found = measure(directory)
    if json:
        parts = [{"name": part.name, "of": part.of, "bytes": part.size, "cache": part.cache} for part in found.parts]
        print_json({"directory": directory, "pages": found.pages, "bytes": found.size, "parts": parts})
        return
    console = output()
    columns = [Column("", no_wrap=True), right("MB"), right("bytes a page"), Column("")]
    rows = [
        (
            f"  {part.name}" if part.of else part.name,
            f"{part.size / 1e6:,.1f}",
            f"{part.size / max(1, found.pages):,.0f}",
            "a cache, rebuilt when needed" if part.cache and part.size else "",
        )
        for part in found.parts
    ]
    each = f"{found.size / max(1, found.pages):,.0f}"
    rows.append(("all", f"{found.size / 1e6:,.1f}", each, f"{found.pages:,} pages"))
    console.print(listing(columns, rows))


def index(
    directory: Dir,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep indexing while the crawl runs, at the lowest priority.")
    ] = False,
) -> None:
    """Update the search index and the caches of a crawl.

    Other commands update them automatically, but for a large crawl this takes minutes; run it beforehand. Crawls of
    20,000 pages and more do it as they go (unless index is false in crawl.toml). Works while a crawl runs.
    """
    from lycosa.collection import searching

    crawled(directory)
    if follow:
        os.nice(19)
        if not searching.follow(directory):
            print(f"{directory} is already being followed")
        return
    with progress() as tell:
        end = searching.index(directory, tell)
    print(f"{directory}: indexed up to event {end:,}")


def compact(directory: Dir) -> None:
    """Shrink the log of a crawl without losing what it learned.

    Drops the words of links that lead out of scope, and of links that an earlier version of the page already has. If
    you widen the scope later, these links are ranked by their addresses alone.
    """
    from lycosa.collection import compacting

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


def upgrade(directory: Dir) -> None:
    """Convert the log of a crawl to the current format.

    Older logs are readable without it. Every event is read first; if one is damaged, or the log is from a newer
    version, nothing is changed. A log of the current format stays as it is.
    """
    from lycosa.collection import mending

    with progress() as tell:
        done = mending.upgrade(directory, tell)
    told = f"{done.events:,} events converted from format {done.before} to {done.now}"
    if done.before == done.now:
        told = f"the log already has the current format, {done.now}; all {done.events:,} events are readable"
    print(f"{directory}: {told}")


def mend(directory: Dir) -> None:
    """Repair a damaged log. The damaged file is kept.

    The logs of a cluster's shards are repaired with the crawl's own.
    """
    from lycosa.cluster.splitting import shard_path, shards_in
    from lycosa.store.directory import whole_of
    from lycosa.store.log import NAME

    shards = [shard_path(directory, number) for number in range(shards_in(directory))]
    for place in (directory, *(shard for shard in shards if (shard / NAME).exists())):
        _mend(place, whole_of(place) or place)


def _mend(directory: Path, whole: Path) -> None:
    """Repair one log, of a crawl or of a shard of it."""
    from lycosa.collection import mending

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
        f"the damaged log is {done.aside.name}. Continue with: lycosa resume {whole}"
    )
