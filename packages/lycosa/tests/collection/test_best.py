"""Tests of the selection of diverse pages."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lycosa.collection.best import Candidate, best_pages, diversify
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import PageRow
from lycosa.core.options import Options
from lycosa.core.types import Visit
from lycosa.store.directory import Directory


def page(host: str, number: int, relevance: float, **more: object) -> Visit:
    return Visit(f"http://{host}.test/{number}", "page", "ok", number, relevance=relevance, **more)  # type: ignore[arg-type]


def candidate(host: str, number: int, relevance_now: float) -> Candidate:
    return Candidate(number, number, "", f"http://{host}.test/{number}", f"{host}.test", 0, relevance_now)


def hosts(pages: Sequence[Candidate | PageRow]) -> str:
    """Return the host letters of some pages."""
    return "".join(page.url[7] for page in pages)


def test_diversify_limits_pages_per_host() -> None:
    pages = [candidate("a", n, 0.9) for n in range(12)] + [candidate("b", n, 0.8) for n in range(4)]
    pages += [candidate("c", n, 0.75) for n in range(9)]
    assert "aaabbbccca" == hosts(diversify(pages, 10))
    assert "aaabbbcccaaaabccca" == hosts(diversify(pages, 18))


def test_diversify_skips_much_worse_hosts() -> None:
    pages = [candidate("a", n, 0.9) for n in range(5)]
    assert "aaaaa" == hosts(diversify([*pages, candidate("b", 1, 0.4)], 5))
    assert "aaaaab" == hosts(diversify([*pages, candidate("b", 1, 0.4)], 9))


def test_diversify_keeps_nodes_without_hosts() -> None:
    pages = [Candidate(n, n, "", f"node {n}", "", 0, 0.9) for n in range(6)]
    assert pages == diversify(pages, 9)


def test_best_pages_skips_copies(tmp_path: Path) -> None:
    directory = Directory.create(tmp_path / "crawl", Options(topic="coral"))
    log = directory.log()
    for visit in (
        page("a", 1, 0.5, simhash=0b1111),
        page("b", 2, 0.9, simhash=0b0111),
        page("c", 3, 0.8, same_as="http://b.test/2"),
        page("d", 4, 0.7, simhash=0xFFFF),
        page("e", 5, 0.6),
        page("f", 6, 0.4),
        page("g", 7, 0.0),
    ):
        log.append(visit)
    with CrawlDirectory(directory.path) as collection:
        assert "bdef" == hosts(best_pages(collection, 9))
        assert "bd" == hosts(best_pages(collection, 2))
    log.store_relevances(np.array([0.9, 0.1, 0.8, 0.0, 0.6, 0.95, 0.2]))
    with CrawlDirectory(directory.path) as collection:
        assert "faeg" == hosts(best_pages(collection, 9))
        assert "fa" == hosts(best_pages(collection, 9, at_least=0.7))
    log.close()
    directory.close()
