"""Progress and result of a crawl on a cluster."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from lycosa.cli.cluster_crawl import run_cluster_crawl
from lycosa.core.errors import NothingFetched, StoreError


class Remote:
    """Finished crawl on a cluster."""

    def __init__(self, pages: int, error: str = "") -> None:
        self.path, self.shards, self.notes, self.complaint = Path("reefs"), 2, ["a note"], "the seeds are gone"
        self.progress = {"pages": pages, "relevant": 3, "requests": 12}
        self.ending, self.error, self.closed = "page budget spent", error, False

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        return self._run()

    async def _run(self) -> AsyncIterator[dict[str, Any]]:
        if self.error:
            raise StoreError(self.error)
        yield self.progress

    def stop(self) -> None: ...

    async def close(self) -> None:
        self.closed = True


def test_run_prints_result_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    crawl: Any = Remote(10)
    run_cluster_crawl(crawl)
    out, err = capsys.readouterr()
    assert "10 pages, 3 relevant, 12 requests, 2 shards: page budget spent. See it with: lycosa show reefs\n" == out
    assert "a note" in err
    assert crawl.closed


def test_run_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    crawl: Any = Remote(10)
    run_cluster_crawl(crawl, json=True)
    assert {"pages": 10, "relevant": 3, "shards": 2}.items() <= json.loads(capsys.readouterr().out).items()


def test_run_without_pages_raises() -> None:
    crawl: Any = Remote(0)
    with pytest.raises(NothingFetched, match="the seeds are gone"):
        run_cluster_crawl(crawl, quiet=True)


def test_run_after_store_error_prints_how_to_continue() -> None:
    crawl: Any = Remote(5, "the disk is full")
    with pytest.raises(StoreError, match="the disk is full; continue with: lycosa resume reefs"):
        run_cluster_crawl(crawl, quiet=True)
    assert crawl.closed
