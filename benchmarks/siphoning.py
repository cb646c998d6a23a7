"""Records found behind a search form, request by request, with each strategy.

The embedded web's library has 2,000 records without links to them. Each strategy starts from one keyword and queries
the form, in virtual time; the baseline `random` takes the same kind of keywords in random order.

    python benchmarks/siphoning.py [--seeds 11,12,13,14,15] [--only random,best-first] [--count new] [--pages 50]

Share of the records found, in per cent: mean and standard deviation over the seeds, each of which is another web.
"""

from __future__ import annotations

import argparse
from statistics import mean, stdev
from typing import Any

import lycosa
from lycosa.spaces.search_form import SearchFormSpace
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import Web
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.text.keywords import keywords
from lycosa.web.politeness import Politeness

MARKS = (25, 50, 100, 200)
"""Numbers of requests at which the found records are counted."""

STRATEGIES = (
    "random", "breadth-first", "best-first", "scent", "fl_deg", "fl_n", "fl_e", "fl_ne", "lr_fl", "mab_var", "opic",
)  # fmt: skip


def siphon(seed: int, strategy: str, marks: tuple[int, ...] = MARKS, **parameters: Any) -> list[float]:
    """Return the share of a library's records that a strategy has found at each of the marks."""
    web = Web(seed=seed, pages=60, hosts=3, traps=())
    hidden = set(web.records())

    async def ask() -> list[float]:
        politeness = Politeness(clock, delay=0.0, free=lambda address: True)
        transport = SimTransport(web, seed=seed, latency=(0.01, 0.02))
        space = SearchFormSpace(
            WebSpace(transport, politeness, clock), web.form(), words=keywords, **parameters
        )  # as the command line sets it
        found: dict[int, float] = {}
        crawl = lycosa.crawl(
            seeds=["water"], space=space, clock=clock, judge="given", strategy=strategy, budget=max(marks),
            random_seed=seed,
        )  # fmt: skip
        async for visit in crawl:
            assert crawl.engine is not None
            if visit.is_page and crawl.engine.tally.pages in marks:
                found[crawl.engine.tally.pages] = len(hidden.intersection(space.seen)) / len(hidden)
        return [found.get(mark, len(hidden.intersection(space.seen)) / len(hidden)) for mark in marks]

    return run_virtual(ask())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="11,12,13,14,15")
    parser.add_argument("--only", default=",".join(STRATEGIES))
    parser.add_argument("--count", choices=("new", "all"), default="new")
    parser.add_argument("--pages", type=int, default=50)
    chosen = parser.parse_args()
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    print(f"| strategy | {' | '.join(map(str, MARKS))} |\n|---|{'---|' * len(MARKS)}")
    for strategy in chosen.only.split(","):
        runs = [siphon(seed, strategy, count=chosen.count, pages=chosen.pages) for seed in seeds]
        cells = [
            f"{100 * mean(shares):.1f} ± {100 * stdev(shares) if len(shares) > 1 else 0:.1f}"
            for shares in zip(*runs, strict=True)
        ]
        print(f"| {strategy} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
