"""The API counts the same pages as all other readers of a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl_on_site import CrawlOnSite, crawl_on_site
from every_count import every_count
from lycosa.collection.judging import judge
from revisited_crawl import html
from site_maker import SiteUnderTest

HOME = "http://reef.test/"
CORAL, SPONGE, TRAIN = (f"{HOME}{name}" for name in ("coral", "sponge", "train"))


@pytest.fixture
def world(site: SiteUnderTest) -> CrawlOnSite:
    world = crawl_on_site(site)
    crawl = world.record()
    crawl.seed(HOME)
    crawl.page(HOME, html("Reefs", "coral " * 9), links=[CORAL, SPONGE, TRAIN])
    crawl.page(CORAL, html("Coral", "coral polyps " * 9), 1.0)
    crawl.page(SPONGE, html("Sponge", "coral sponge " * 9), 1.0)
    crawl.page(TRAIN, html("Train", "rails " * 9), 1.0, relevance=0.05)
    crawl.page(f"{HOME}copy", html("Coral", "coral polyps " * 9), 2.0, same_as=CORAL)
    crawl.changed(TRAIN, html("Reef train", "coral rails " * 9), 3.0, relevance=0.6)
    crawl.changed(SPONGE, html("Shop", "shops " * 9), 3.0, relevance=0.1)
    crawl.gone(CORAL, 4.0)
    crawl.close()
    return world


def api_counts(world: CrawlOnSite) -> dict[str, tuple[int, int]]:
    progress, listed = world.get("progress"), world.get("pages")
    hosts = progress["hosts"]
    return {
        "estimate": (listed["estimate"]["pages"], listed["estimate"]["relevant"]),
        "results": (listed["estimate"]["pages"], listed["total"]),
        "progress": (progress["crawl"]["pages"], progress["crawl"]["relevant"]),
        "curve": (progress["curve"]["pages"][-1], progress["curve"]["relevant"][-1]),
        "live hosts": (sum(host["pages"] for host in hosts), sum(host["relevant"] for host in hosts)),
    }


def test_api_counts_like_all_readers(world: CrawlOnSite) -> None:
    def check(path: Path) -> tuple[int, int]:
        found = every_count(path) | api_counts(world)
        del found["judge"]  # it would judge the handmade relevances anew
        assert 1 == len(set(found.values())), found
        return found["show"]

    assert (5, 3) == check(world.directory)
    judge(world.directory, threshold=0.55, keep=True)
    assert (5, 1) == check(world.directory)
