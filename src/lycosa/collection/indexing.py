"""What shows and searches a crawl, brought up to where its log ends: the view (shelf.py) and the search index.

Whoever asks brings them up by themselves. For a large crawl that takes minutes, so it is done beforehand: by a process
that follows the crawl while it runs (crawling/following.py), or by `lycosa index`. Both work a few seconds at a time,
and let go of what they hold in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from lycosa.collection import shelf
from lycosa.collection.reading import Collection
from lycosa.collection.searching import Search
from lycosa.collection.view import CrawlView
from lycosa.core.telling import Tell, silent
from lycosa.store.directory import is_running

AT_A_TIME = 4.0
"""Seconds of work on the search index before others get their turn."""

PAUSE = 0.05
FOLLOWER = "follower"
"""The lock of whoever keeps them up to date."""

LOOK_AGAIN = 5.0
"""Seconds between two looks at a crawl that runs."""


def index(directory: Path, tell: Tell = silent) -> int:
    """Bring the view and the search index up to date; up to which event they are."""
    view = CrawlView(directory)
    with Collection(directory, view=view) as collection:
        end = collection.log.end()
        while view._step():
            tell("reading the log", view.seq, end)
        if view.seq - view.kept >= shelf.WORTH_IT:
            view.write_down()
        index_words(collection, tell)
    return view.seq


def index_words(collection: Collection, tell: Tell = silent) -> None:
    """Bring the search index up to date."""
    end = collection.log.end()
    with Search(collection, patience=AT_A_TIME) as search:
        while True:
            search.keep_up()
            tell("indexing", end - search.behind, end)
            if not search.behind:
                return
            time.sleep(PAUSE)


def follow(directory: Path, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Keep them up to date until the crawl is over; whether nobody else is doing so already."""
    with shelf.alone(directory, FOLLOWER) as mine:
        if not mine:
            return False
        running = True
        while running:
            running = is_running(directory)  # asked before: what it has done by then is looked at once more
            index(directory)
            if running:
                sleep(LOOK_AGAIN)
        return True
