"""Pages saved and relevant pages lost by stopping rules, in default crawls of recorded webs with labels.

    python benchmarks/stopping.py FOLDER... [--crawls 3] [--skip 0] [--pages 1000] [--webs a,b]

Folders and topics as in judges.py. Each crawl runs to its budget; every rule is asked after every tenth page, and noted
where it would have ended the crawl. Webs that end before the budget count with the pages that they have.

    ends            share of crawls that the rule ends before the budget
    pages           pages fetched, as a share of those without the rule
    relevant        relevant pages found, by the labels, as a share of those without the rule
    least           the smallest such share of a single crawl
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import numpy as np
from judges import Crawled, crawls, read, readable_name

import lycosa
from lycosa.core.stopping import CHECK_EVERY, HarvestSoFar, read_rules

RULES = ["exhausted=100", "exhausted", "exhausted=300", "harvest=.02", "harvest=.05", "relevant=30"]


async def ends(crawled: Crawled, space: object, budget: int) -> dict[str, int]:
    """Crawl; return after how many pages each rule would have ended it."""
    crawling = lycosa.crawl(readable_name(crawled.topic), crawled.seeds, space=space, budget=budget)  # type: ignore[arg-type]
    rules, ended = dict(zip(RULES, read_rules(RULES), strict=True)), dict[str, int]()
    async for visit in crawling:
        if not visit.is_page:
            continue
        crawled.visits.append(visit)
        if len(crawled.visits) % CHECK_EVERY or crawling.engine is None:
            continue
        known = crawling.engine.model_updates.relevant_now()
        assert known is not None
        harvest = HarvestSoFar(len(crawled.visits), int(np.count_nonzero(known)), known)
        for name, rule in rules.items():
            if name not in ended and rule.reason(harvest):
                ended[name] = len(crawled.visits)
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="folders with WARC files and their labels")
    parser.add_argument("--crawls", type=int, default=3, help="maximum number of topics per web")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first topics of each web")
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--webs", default="", help="only these, separated by commas")
    given = parser.parse_args()
    rows: dict[str, list[tuple[bool, float, float]]] = {name: [] for name in RULES}
    for labels in sorted(path for folder in given.folders for path in folder.glob("*.labels.tsv")):
        web = labels.name.removesuffix(".labels.tsv")
        if given.webs and web not in given.webs.split(","):
            continue
        files = [labels.with_name(f"{web}{end}.warc.gz") for end in ("-blind", "")]
        recorded = read(next(file for file in files if file.exists()))
        for crawled in crawls(web, recorded, labels, given.crawls, given.skip):
            try:
                ended = asyncio.run(ends(crawled, recorded, given.pages))
            except lycosa.InputError as error:
                print(f"{web}, {crawled.topic}: {error}", flush=True)
                continue
            found = np.cumsum([visit.node in crawled.members for visit in crawled.visits])
            total = len(crawled.visits)
            for name, results in rows.items():
                pages = ended.get(name, total)
                results.append((name in ended, pages / total, found[pages - 1] / max(found[-1], 1)))
            print(f"<!-- {web}, {crawled.topic}: {total} pages, {found[-1]} relevant; {ended} -->", flush=True)
    print("| rule | ends | pages | relevant | least |\n|---|---|---|---|---|")
    for name, results in rows.items():
        early, pages, relevant = np.array(results, float).T
        print(f"| {name} | {early.mean():.2f} | {pages.mean():.2f} | {relevant.mean():.3f} | {relevant.min():.2f} |")


if __name__ == "__main__":
    main()
