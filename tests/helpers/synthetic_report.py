"""Synthetic logs for tests of the report, and the cost of a large report:

    python tests/helpers/synthetic_report.py 100000

prints seconds, peak memory and file size, each measured in a separate process.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from first_links import FirstLinks
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import gather, render
from lycosa.core.options import Options
from lycosa.core.types import Event, Links, Seed, Setting, Visit
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog


def write(path: Path, events: Iterable[Event], **options: object) -> Path:
    """Write a crawl directory with these events."""
    chosen = Options.from_mapping({"topic": "coral reef", "seeds": ["http://a.test/"], **options}, "test")
    Directory.create(path, chosen).close()
    log, first_links = SqliteLog(path / NAME), FirstLinks()
    with log.batch():
        for event in events:
            first_links.fill(event)
            log.append(event)
    log.close()
    return path


def page(node: str, relevance: float = 0.0, to: Iterable[str] = (), **more: object) -> Visit:
    """Return a page with links; the anchors are `to` and the target."""
    links = Links.to(*to, anchors=[f"to {url}" for url in to])
    fields: dict[str, object] = {"title": f"Page {node}", "links": links, "priority": 0.5, **more}
    return Visit(node, "page", "ok", 0, relevance=relevance, **fields)  # type: ignore[arg-type]


def redirect(node: str, target: str) -> Visit:
    return Visit(node, "redirect", "redirect", 0, links=Links.to(target))


def large(pages: int, hosts: int = 2000, links: int = 40) -> Iterable[Event]:
    """Yield a crawl of 40 links per page, three quarters of them to fetched pages; 20 % of pages are relevant."""
    dice = random.Random(7)
    at = 1_700_000_000.0

    def url(number: int) -> str:
        return f"http://host-{number % hosts}.example/articles/some-words-in-a-path/{number}.html"

    yield Setting("threshold", 0.1, at)
    yield Seed(url(0), at)
    for number in range(pages):
        near = [url(dice.randrange(max(1, number - 500), number + 2000)) for _ in range(links * 3 // 4)]
        far = [f"http://elsewhere-{dice.randrange(10**6)}.example/{k}" for k in range(links - len(near))]
        targets = [url(number + 1), *near, *far][:links]
        at += 0.05
        found = Links.to(*targets, anchors=["some words of an anchor"] * links)
        found.contexts = ["some words around the anchor, as many as there are in a context"] * links
        found.link_relevances = np.full(links, 0.2, np.float32)
        yield Visit(
            url(number),
            "page" if dice.random() > 0.03 else "redirect",
            "ok" if dice.random() > 0.03 else "gone",
            number,
            priority=dice.random(),
            started=at,
            ended=at + 0.04,
            status=200,
            size=30_000,
            title=f"A page about some things, number {number}",
            language="en",
            relevance=max(0.0, dice.gauss(0.02, 0.1)),
            same_as=url(dice.randrange(number)) if number and dice.random() < 0.02 else "",
            links=found,
        )
    yield Setting("end", {"reason": "page budget spent", "pages": pages}, at + 1)


def _measure(path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with CrawlDirectory(path) as collection:
        told = gather(collection)
    gathered = time.process_time() - began
    text = render(told)
    rendered = time.process_time() - began - gathered
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{told.pages:,} pages: gathered in {gathered:.1f} s, rendered in {rendered:.1f} s, "
        f"{grown:.0f} MB above the {before / 1024:.0f} MB of the imports, page of {len(text.encode()) / 1000:.0f} kB"
    )


def _main() -> None:
    if len(sys.argv) > 2:
        _measure(Path(sys.argv[2]))
        return
    with TemporaryDirectory() as directory:
        path = write(Path(directory) / "crawl", large(int(sys.argv[1])))
        subprocess.run([sys.executable, __file__, "measure", str(path)], check=True)


if __name__ == "__main__":
    _main()
