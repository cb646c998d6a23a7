"""`lycosa check`: verify the files of a crawl, rebuild its indexes, and print sizes."""

from __future__ import annotations

import typer

from lycosa.cli.parameters import Dir
from lycosa.cli.printing import crawled
from lycosa.cli.progress import progress


def check(directory: Dir) -> None:
    """Check the files of a crawl, rebuild indexes, and show sizes.

    Reads the whole log and archive, and lists damage, losses and rebuilt indexes, one line each. A damaged log is
    replaced by a copy of its readable part, and kept. Exit code 1 if log or archive were damaged.
    """
    from lycosa.collection import checking
    from lycosa.store.directory import shards_of
    from lycosa.store.log import NAME

    crawled(directory)
    wrong = False
    for place in (directory, *(shard for shard in shards_of(directory) if (shard / NAME).exists())):
        with progress() as tell:
            done = checking.check(place, tell)
        for line in done.wrong + done.rebuilt:
            print(line)
        for name, size in sorted(done.sizes.items(), key=lambda item: -item[1]):
            print(f"{size / 1e6:12,.1f} MB  {name}")
        print(f"{place}: {done.events:,} events; {'see above what was wrong' if done.wrong else 'nothing is wrong'}")
        wrong = wrong or bool(done.wrong)
    if wrong:
        raise typer.Exit(1)
