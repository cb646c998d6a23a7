"""`lycosa check`: verify the files of a crawl, rebuild its indexes, and print sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import Part, print_result, require_crawl
from lycosa.cli.progress_bar import show_progress

if TYPE_CHECKING:
    from lycosa.collection.checking import CrawlCheck


def check(directory: Dir, *, json: Json = False) -> None:
    """Check the files of a crawl, rebuild indexes, and show sizes.

    Reads the whole log and archive, and lists damage, losses and rebuilt indexes, one per line. A damaged log is kept
    under another name and replaced by a copy of its readable part. Exit code 1 if log or archive were damaged.
    """
    from lycosa.collection import checking
    from lycosa.store.directory import shard_directories
    from lycosa.store.log import NAME

    require_crawl(directory)
    with show_progress(json) as progress:
        places = (directory, *(shard for shard in shard_directories(directory) if (shard / NAME).exists()))
        found = {str(place): checking.check(place, progress) for place in places}
    print_result(found, _parts(found), json=json)
    if any(done.faults for done in found.values()):
        raise typer.Exit(1)


def _parts(found: dict[str, CrawlCheck]) -> Iterator[Part]:
    for place, done in found.items():
        yield from done.faults + done.rebuilt
        for name, size in sorted(done.sizes.items(), key=lambda item: -item[1]):
            yield f"{size / 1e6:12,.1f} MB  {name}"
        yield f"{place}: {done.events:,} events; {'see above what was wrong' if done.faults else 'nothing is wrong'}"
