"""Fixtures of the export tests."""

import gzip
from pathlib import Path

import pytest

from synthetic_crawl import crawled, html, prose, real


@pytest.fixture(scope="session")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl the embedded web."""
    return real(tmp_path_factory.mktemp("crawl") / "reefs")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Write a crawl in several files: relevant and other pages, robots.txt, a redirect, a failure, a compressed one."""
    with crawled(tmp_path / "crawl", rotate=4_000) as crawl:
        crawl.other("http://a.test/robots.txt", "robots", body=b"User-agent: *\nAllow: /\n")
        for i in range(30):
            crawl.page(f"http://a.test/{i}", html(f"Page {i}", prose(i)), relevance=(i % 3) / 5)
        crawl.redirect("http://a.test/go", "http://a.test/1")
        crawl.other("http://a.test/gone", "page", "gone", b"gone")
        packed = gzip.compress(html("Packed", prose(99)).encode() * 5)
        crawl.page(
            "http://a.test/gz", packed, headers=[(b"Content-Encoding", b"gzip"), (b"Content-Type", b"text/html")]
        )
    return tmp_path / "crawl"
