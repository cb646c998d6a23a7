"""What `lycosa` offers to programs: the functions of other rooms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from lycosa import crawling, explaining
from lycosa.collection import judging
from lycosa.collection.opened import Collection
from lycosa.store.directory import CONFIG, SHARDS

P = ParamSpec("P")
Made = TypeVar("Made")


def _joined(function: Callable[P, Made]) -> Callable[P, Made]:
    """The same function of a directory: what shards of a cluster have recorded there is one crawl's from then on."""

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> Made:
        directory = Path(str(args[0] if args else options.get("out", "")))
        if (directory / CONFIG).exists() and any(directory.glob(f"{SHARDS}*")):
            from lycosa.cluster.splitting import join

            join(directory)
        return function(*args, **options)

    return call


crawl = crawling.crawl
resume = crawling.resume
revisit = _joined(crawling.revisit)
watch = _joined(crawling.watch)
judge = judging.judge
why = explaining.why


def open(directory: str | Path, *, threshold: float | None = None, whole_text: bool = False) -> Collection:
    """The pages that the crawl in a directory has gathered, with their text; the crawl may be running.

    Relevant is what is worth the crawl's threshold, or another one that is given. The text of a page is that of its
    main part, or with `whole_text` all that it says.
    """
    return Collection(Path(directory), threshold=threshold, whole_text=whole_text)
