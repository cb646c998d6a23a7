"""The functions of the public Python API."""

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
    """Open the collection of pages in a crawl's directory; the crawl may be running.

    `threshold` overrides the crawl's threshold of relevant pages. The text of a page is its main content, or all of its
    text with `whole_text`.
    """
    return Collection(Path(directory), threshold=threshold, whole_text=whole_text)
