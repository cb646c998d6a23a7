"""CDXJ: where the crawl's own WARC files hold each page, for pywb, OutbackCDX and others that serve them as they are.

With all pages all that is archived is listed: redirects and robots.txt, too. The lines are those of the indexes that
lie beside the files, put in order; what an index lacks, as its file is still being written, is read from the file.
"""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_right
from collections.abc import Iterator
from typing import IO

from lycosa.collection.export.selection import Selection, Written
from lycosa.drawing.formats import many
from lycosa.store import cdxj


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write the index."""
    chosen = None if pages.everything else _spans(pages)
    done = Written()
    for entry in _entries(pages):
        if chosen is None or _holds(chosen.get(entry.file, []), entry.offset):
            out.write(entry.line)
            done.pages += 1
    if missing := pages.total - pages.archived:
        done.remarks.append(f"left out: {many(missing, 'page')} without a record in the archive")
    return done


def _spans(pages: Selection) -> dict[str, list[tuple[int, int]]]:
    """Where the records of the pages lie, file by file: of one that was rendered, all that belongs to it."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for _, visit in pages.looks():
        spans.setdefault(visit.place.file, []).append((visit.place.offset, visit.place.offset + visit.place.length))
    return {file: sorted(found) for file, found in spans.items()}


def _holds(spans: list[tuple[int, int]], offset: int) -> bool:
    at = bisect_right(spans, (offset, sys.maxsize)) - 1
    return at >= 0 and offset < spans[at][1]


def _entries(pages: Selection) -> Iterator[cdxj.Entry]:
    """What the archive holds, as far as the log knows of it, in the order of an index."""
    archive = pages.collection.path / "archive"
    files = [cdxj.stream(archive / name, end) for name, end in pages.log.archived().items()]
    return heapq.merge(*files, key=lambda entry: entry.line)
