"""The number of changes since a time."""

from __future__ import annotations

from pathlib import Path

from lycosa_server.unseen_changes import changes_since
from revisited_crawl import DAY, EPOCH, Revisited, html

ONE = "https://reefs.example/one"


def test_changes_since_counts_revisited_pages(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    assert changes_since(crawl, 0.0) is None
    made = Revisited(crawl)
    made.seed(ONE)
    made.page(ONE, html("One", "coral"), 0.1)
    assert changes_since(crawl, 0.0) is None
    made.changed(ONE, html("One", "kelp"), 1.0)
    assert [1, 1] == [changes_since(crawl, 0.0), changes_since(crawl, 0.0)]
    made.changed(ONE, html("One", "squid"), 2.0)
    assert [2, 1] == [changes_since(crawl, 0.0), changes_since(crawl, EPOCH + 1.5 * DAY)]
    made.close()
