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
        bool, typer.Option("--follow", help="Keep indexing while the crawl runs, at the lowest priority.")
    ] = False,
) -> None:
    """Update the search index and the caches of a crawl.

    Other commands update them automatically, but for a large crawl this takes minutes; run it beforehand. Crawls of
    20,000 pages and more do it as they go (unless --no-index). Works while a crawl runs.
    """
    crawled(directory)
    if follow:
        os.nice(19)
        if not indexing.follow(directory):
            print(f"{directory} is already being followed")
        return
    with progress() as tell:
        end = indexing.index(directory, tell)
    print(f"{directory}: indexed up to event {end:,}")
