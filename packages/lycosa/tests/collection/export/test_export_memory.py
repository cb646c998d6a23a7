"""Streaming: ten times the pages need the same memory, but for the few bytes a page that are accounted for."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow
import pytest

from lycosa.collection.export import export, tables, wacz
from synthetic_crawl import many

PAGES = 8
"""Of the smaller crawl; the larger one has ten times as many."""

SLACK = 100_000
"""Bytes by which the peaks may differ anyway: buffers, small caches, Python's free lists (65,000 bytes when full)."""


@pytest.fixture(scope="module")
def crawl_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Crawls of so many pages, each made once; a page has 8,000 characters."""
    path = tmp_path_factory.mktemp("memory")
    return cache(lambda pages: many(path / str(pages), pages, 1_000))


def peak(crawl: Path, out: Path) -> int:
    """The most memory in use at a time during an export: Python's, and Arrow's own."""
    gc.collect()
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(pool)
    tracemalloc.start()
    try:
        export(crawl, out)
        return tracemalloc.get_traced_memory()[1] + (pool.max_memory() or 0)
    finally:
        tracemalloc.stop()
        pyarrow.set_memory_pool(before)


@pytest.mark.parametrize(
    ("name", "a_page"),
    [
        ("t.jsonl", 30),
        ("t.csv", 30),
        ("t.parquet", 100),  # what is kept of each row group, of 40,000 characters below; else of 8 million
        ("t.warc.gz", 0),
        ("t.wacz", 400),  # the lines of its index
        ("t.txt", 40),
    ],
)
def test_memory_does_not_grow_with_the_crawl(
    crawl_of: Callable[[int], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    a_page: int,
) -> None:
    """The peak is that of a tenth of the crawl, and so many bytes for each page more."""
    # Smaller portions, so that both crawls fill them.
    monkeypatch.setattr(tables, "ROW_GROUP_CHARACTERS", 40_000)
    monkeypatch.setattr(wacz, "LINES_PER_BLOCK", 64)
    small, large = crawl_of(PAGES), crawl_of(10 * PAGES)
    export(small, tmp_path / name)  # modules and caches
    growth = peak(large, tmp_path / name) - peak(small, tmp_path / name)
    assert growth < a_page * 9 * PAGES + SLACK
