"""Hunts on the embedded web: what each judge and strategy finds at a budget, against breadth-first.

    python benchmarks/hunts.py [--pages 300] [--webs 5] [--traps] [NAME ...]

Each of five webs is grown from another seed, and hunted for another topic, once by each name; chance has no other part
in it. What counts is the truth that the web knows: different pages on the topic, under whatever address. The interval
is that of the mean difference to breadth-first over the webs (95 %, t distribution). *Islands* are pages on the topic
to which only off-topic pages lead.

NAME is a strategy (`ehrig`, `best-first,merge=sum`), or `judge:NAME` for best-first with that judge. What learns from
browsing is trained on a web of its own, grown from a seed that is not hunted, for the same topic: see `record`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

import lycosa
from lycosa.core.types import Visit
from lycosa.estimators import BROWSING, STRATEGIES
from lycosa.spaces.web import WebSpace
from lycosa.testing import Web
from lycosa.testing.simulation import SimTransport, clock, run_virtual
from lycosa.training.wandering import sessions
from lycosa.web.html import extract
from lycosa.web.politeness import Politeness

TOPICS = (
    "marine biology/coral reefs",
    "railways/night trains",
    "astronomy/meteorites",
    "music/violin making",
    "railways/steam locomotives",
)
NAMES = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor",
    "ehrig", "ssrm", "synset-expansion", "judge:ehrig", "judge:ssrm", "judge:synset-expansion",
    "judge:corley-mihalcea", "judge:embedding", "hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph",
)  # fmt: skip
ELSEWHERE = 1000
"""Added to the seed of a web that is hunted: the web that is browsed for training."""

SESSIONS = 60
_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def hunt(web: Web, topic: str, name: str, pages: int) -> list[Visit]:
    """One crawl over a simulated transport, as the command line would put it together."""
    judge, _, named = name.rpartition(":")
    options = {"judge": named} if judge else {"strategy": trained(named, web.seed, topic)}

    async def run() -> list[Visit]:
        politeness = Politeness(clock, delay=0.01, free=lambda address: True)
        space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=3)
        async with lycosa.crawl(
            web.query(topic), web.seeds(topic), space=space, clock=clock, budget=pages, concurrency=4, **options
        ) as crawl:
            return [visit async for visit in crawl]

    return run_virtual(run())


def found(web: Web, topic: str, visits: list[Visit]) -> tuple[int, int]:
    """Different pages on the topic, and how many of them lie on islands."""
    pages = {web.canonical(visit.node) for visit in visits if visit.is_page}
    return len(pages & set(web.relevant(topic))), len(pages & set(web.islands(topic)))


def trained(name: str, seed: int, topic: str) -> str:
    """The strategy, with the file that it learns from if it needs one."""
    entry = STRATEGIES.get(name.partition(",")[0])
    return f"{name},file={browsing(seed, topic)}" if entry is not None and entry.needs == BROWSING else name


@cache
def browsing(seed: int, topic: str) -> Path:
    """A trained file, of simulated browsing on another web."""
    from lycosa.training.browse import train_browse

    folder = Path(tempfile.mkdtemp())
    path = folder / "record.jsonl"
    path.write_text("\n".join(record(Web(seed=seed + ELSEWHERE, traps=()), topic)) + "\n")
    train_browse(str(path), folder / "browsing.model")
    return folder / "browsing.model"


def record(web: Web, topic: str) -> Iterator[str]:
    """Sessions that start at any page off the topic, as lines of a browsing record with the pages' text."""
    import json

    @cache
    def read(url: str) -> tuple[str, str, list[str]]:
        document = extract(web.response(url).body, url)
        known = [target for target in document.links.urls if web.canonical(target) == target]
        return document.title, document.marked.replace("\x01", "").replace("\x02", ""), known

    relevant = set(web.relevant(topic))
    urls = [url for url in web.urls() if url not in relevant]
    starts = [urls[number] for number in np.random.default_rng(web.seed).choice(len(urls), SESSIONS, replace=False)]
    for walk in sessions(lambda url: read(url)[2], relevant.__contains__, starts, random_seed=web.seed):
        for look in walk:
            title, text, _ = read(look.url)
            told = {"url": look.url, "referrer": look.referrer, "relevant": look.url in relevant}
            yield json.dumps({**told, "title": title, "text": text})


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval."""
    spread = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return float(np.mean(values)), float(_T.get(len(values), 2.0) * spread)


def main() -> None:
    """Hunt, and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    arguments.add_argument("--pages", type=int, default=300)
    arguments.add_argument("--webs", type=int, default=5)
    arguments.add_argument("--traps", action="store_true")
    given = arguments.parse_args()
    webs = [
        (Web(seed=seed, traps="all" if given.traps else (), slowness=0.05), TOPICS[seed % len(TOPICS)])
        for seed in range(1, given.webs + 1)
    ]
    base = [found(web, topic, hunt(web, topic, "breadth-first", given.pages))[0] for web, topic in webs]
    there = [len(list(web.relevant(topic))) for web, topic in webs]
    print(f"{given.pages} pages, {given.webs} webs, {np.mean(there):.0f} pages on the topic in each on average\n")
    print("| | found | more than breadth-first | on islands |\n|---|---|---|---|")
    for name in given.names:
        hunted = [found(web, topic, hunt(web, topic, name, given.pages)) for web, topic in webs]
        more, half = interval([mine - other for (mine, _), other in zip(hunted, base, strict=True)])
        islands = np.mean([on_islands for _, on_islands in hunted])
        mean = np.mean([mine for mine, _ in hunted])
        print(f"| `{name}` | {mean:.1f} | {more:+.1f} ± {half:.1f} | {islands:.1f} |", flush=True)


if __name__ == "__main__":
    main()
