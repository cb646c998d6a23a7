"""What `lycosa` offers to programs: the functions of other rooms."""

from __future__ import annotations

from pathlib import Path

from lycosa import crawling, explaining
from lycosa.collection import judging
from lycosa.collection.opened import Collection

crawl = crawling.crawl
resume = crawling.resume
refresh = crawling.refresh
watch = crawling.watch
judge = judging.judge
why = explaining.why


def open(directory: str | Path, *, threshold: float | None = None, whole_text: bool = False) -> Collection:
    """The pages that the crawl in a directory has gathered, with their text; the crawl may be running.

    Relevant is what is worth the crawl's threshold, or another one that is given. The text of a page is that of its
    main part, or with `whole_text` all that it says.
    """
    return Collection(Path(directory), threshold=threshold, whole_text=whole_text)
