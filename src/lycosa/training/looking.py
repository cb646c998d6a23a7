"""Pages with their links, by address: out of WARC files, or from the web."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from lycosa.core.errands import fetch
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Page
from lycosa.crawling import wall_clock, web_space
from lycosa.replay.recording import Recording
from lycosa.replay.records import Damaged
from lycosa.training.sources import Tell, document_of, found

Look: TypeAlias = Callable[[Sequence[str], Tell], dict[str, Page]]
"""Pages by address; what can't be had is left out."""


def recorded_pages(place: Path) -> Look:
    """Out of a WARC file, a directory of them, or a crawl's directory."""

    def look(urls: Sequence[str], tell: Tell) -> dict[str, Page]:
        pages = {}
        with Recording([place]) as recording:
            for number, url in enumerate(urls, 1):
                tell("reading pages", number, len(urls))
                try:
                    answer = found(recording, url)
                except Damaged:
                    continue
                if answer is not None and 200 <= answer.status < 300:
                    document = document_of(answer, url)
                    pages[url] = Page("ok", title=document.title, marked=document.marked, links=document.links)
        return pages

    return look
