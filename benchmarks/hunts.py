"""Relevant pages found on the embedded web by each judge and strategy, compared with breadth-first.

    python benchmarks/hunts.py [--pages 100 300] [--webs 5] [--traps] [--tunnels] [NAME ...]

Each of five webs has another random seed and another topic, and is crawled once with each name; nothing else is random.
Counted are distinct pages on the topic, by the web's own labels, under any URL. The interval is that of the mean
difference to breadth-first over the webs (95 %, t distribution). *Islands* are pages on the topic that only off-topic
pages link to.

NAME is a strategy (`ehrig`, `best-first,merge=sum`), or `judge:NAME` for best-first with that judge. Strategies that
learn from browsing are trained on a separate web with another seed and the same topic.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import lycosa
from lycosa.core.options import Options
from lycosa.core.types import Visit
from lycosa.spaces.web_space import WebSpace
from lycosa.strategies import BROWSING, STRATEGIES
from lycosa.testweb import Web
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.training.browse import train_browse
from lycosa.training.page_loading import fetched_pages
from lycosa.web.politeness import Politeness

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from browsed_web import browse

TOPICS = (
    "marine biology/coral reefs",
    "astronomy/exoplanets",
    "railways/steam locomotives",
    "music/violin making",
    "medieval history/castles",
)
NAMES = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor",
    "ehrig", "ssrm", "synset-expansion", "judge:ehrig", "judge:ssrm", "judge:synset-expansion",
    "judge:corley-mihalcea", "judge:embedding", "hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph",
)  # fmt: skip
ELSEWHERE = 1000
"""Offset from a web's random seed to that of its training web."""
_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def run_crawl(web: Web, topic: str, name: str, pages: int) -> list[Visit]:
    """Run one crawl over a simulated transport, with the options of the command line."""
    judge, _, named = name.rpartition(":")
    options = {"judge": named} if judge else {"strategy": trained(named, web, topic)}

    async def run() -> list[Visit]:
        politeness = Politeness(clock, delay=0.01, free=lambda address: True)
        space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=3)
        async with lycosa.crawl(
            web.query(topic), web.seeds(topic), space=space, clock=clock, budget=pages, concurrency=4, **options
        ) as crawl:
            return [visit async for visit in crawl]

    return run_virtual(run())


def count_relevant(web: Web, topic: str, visits: list[Visit], pages: int) -> int:
    """Return the number of distinct pages on the topic among the first `pages` fetched."""
    fetched_pages = [visit.node for visit in visits if visit.is_page]
    return len({web.canonical(node) for node in fetched_pages[:pages]} & set(web.relevant(topic)))


def on_islands(web: Web, topic: str, visits: list[Visit]) -> int:
    """Return the number of fetched pages on the topic that only off-topic pages link to."""
    pages = {web.canonical(visit.node) for visit in visits if visit.is_page}
    return len(pages & set(web.relevant(topic)) & set(web.islands(topic)))


def trained(name: str, web: Web, topic: str) -> str:
    """Return the strategy spec, with its trained file if it needs one."""
    entry = STRATEGIES.get(name.partition(",")[0])
    return (
        f"{name},file={browsing(web.seed, topic, web.tunnels)}"
        if entry is not None and entry.needs == BROWSING
        else name
    )


@cache
def browsing(seed: int, topic: str, tunnels: bool) -> Path:
    """Return a file trained by simulated browsing on another web."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "record.jsonl"
    path.write_text("\n".join(browse(Web(seed + ELSEWHERE, traps=(), tunnels=tunnels), topic)) + "\n")
    train_browse(path, folder / "browsing.model", fetched_pages(Options()))
    return folder / "browsing.model"


def interval(values: list[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % interval."""
    spread = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return float(np.mean(values)), float(_T.get(len(values), 2.0) * spread)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    arguments.add_argument("--pages", type=int, nargs="+", default=[100, 300])
    arguments.add_argument("--webs", type=int, default=5)
    arguments.add_argument("--traps", action="store_true")
    arguments.add_argument("--tunnels", action="store_true", help="the topics lie behind off-topic pages, see Web")
    given = arguments.parse_args()
    webs = [
        (
            Web(seed=seed, traps="all" if given.traps else (), slowness=0.05, tunnels=given.tunnels),
            TOPICS[seed % len(TOPICS)],
        )
        for seed in range(1, given.webs + 1)
    ]
    most = max(given.pages)
    there = [len(list(web.relevant(topic))) for web, topic in webs]
    print(f"{given.webs} webs, {np.mean(there):.0f} pages on the topic in each on average\n")
    titles = " | ".join(f"at {pages}" for pages in given.pages)
    print(f"| | {titles} | more than breadth-first at {most} | on islands |\n|---|{'---|' * len(given.pages)}---|---|")
    base = [count_relevant(web, topic, run_crawl(web, topic, "breadth-first", most), most) for web, topic in webs]
    for name in given.names:
        crawls = [(web, topic, run_crawl(web, topic, name, most)) for web, topic in webs]
        cells = " | ".join(f"{np.mean([count_relevant(*one, pages) for one in crawls]):.1f}" for pages in given.pages)
        more, half = interval([count_relevant(*one, most) - other for one, other in zip(crawls, base, strict=True)])
        islands = np.mean([on_islands(*one) for one in crawls])
        print(f"| `{name}` | {cells} | {more:+.1f} ± {half:.1f} | {islands:.1f} |", flush=True)


if __name__ == "__main__":
    main()
