"""`lycosa index`: what searches and shows a crawl, brought up to date beforehand."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from lycosa.cli.parameters import Dir
from lycosa.cli.printing import crawled
from lycosa.cli.progress import progress
from lycosa.collection import indexing


def index(
    directory: Dir,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on as long as it is crawled, with the lowest priority.")
    ] = False,
) -> None:
    """Bring the search index of a crawl up to date, and what show, report and export read.

    They do so by themselves; for a large crawl it takes minutes, so have it done beforehand. A crawl of 20,000 pages
    and more does it as it goes (--no-index: it does not). Works while it runs.
    """
    crawled(directory)
    if follow:
        os.nice(19)
        if not indexing.follow(directory):
            print(f"{directory} is followed already")
        return
    with progress() as tell:
        end = indexing.index(directory, tell)
    print(f"{directory}: indexed up to event {end:,}")
