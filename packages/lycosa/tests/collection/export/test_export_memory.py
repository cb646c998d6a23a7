"""Tests that exports stream: ten times the pages need the same memory, except for a few bytes per page."""

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
"""Pages of the smaller crawl; the larger one has ten times as many."""

SLACK = 100_000
"""Bytes by which the peaks may differ: buffers, small caches, Python's free lists (65,000 bytes when full)."""


@pytest.fixture(scope="module")
def crawl_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Return a function that writes a crawl of that many pages of 8,000 characters, cached."""
    path = tmp_path_factory.mktemp("memory")
    return cache(lambda pages: many(path / str(pages), pages, 1_000))


def peak(crawl: Path, out: Path) -> int:
    """Return the peak memory of an export, including Arrow's pool."""
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
        ("t.parquet", 100),  # statistics of each row group of 40,000 characters (8 million in production)
        ("t.warc.gz", 0),
        ("t.wacz", 400),  # lines of the index
        ("t.txt", 40),
    ],
)
def test_export_memory_does_not_grow(
    crawl_of: Callable[[int], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    a_page: int,
) -> None:
    # Both crawls fill several row groups of this size.
    monkeypatch.setattr(tables, "ROW_GROUP_CHARACTERS", 40_000)
    monkeypatch.setattr(wacz, "LINES_PER_BLOCK", 64)
    small, large = crawl_of(PAGES), crawl_of(10 * PAGES)
    export(small, tmp_path / name)  # load modules and fill caches
    growth = peak(large, tmp_path / name) - peak(small, tmp_path / name)
    assert growth < a_page * 9 * PAGES + SLACK
