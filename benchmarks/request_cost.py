"""What strategies find for each request, dead links and redirects paid for, beside what they find for each page.

    python benchmarks/request_cost.py INDEX WARC [--topic CLASS ...] [--strategy NAME ...] [--budget 1000]

INDEX is what `lycosa lab index` made of WARC, with labels. From three on-topic seeds a topic the engine crawls the
recorded web as it is, with the judge of `lycosa crawl`, told the topic's words.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.estimators import strategy
from lycosa.lab import measures
from lycosa.lab.guides import told_judge
from lycosa.lab.index import Index
from lycosa.lab.requests import recorded_in, requests
from lycosa.lab.seeds import seed_sets
from lycosa.lab.subjects import subjects_of
from lycosa.replay.recording import Recording
from lycosa.topics import DEFAULT

STRATEGIES = ["scent", "best-first", "breadth-first"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("warc", type=Path)
    parser.add_argument("--topic", action="append", default=[])
    parser.add_argument("--strategy", action="append", default=[])
    parser.add_argument("--budget", type=int, default=1000)
    given = parser.parse_args()
    index = Index.open(given.index)
    subjects = subjects_of(index, given.topic, count=0 if given.topic else 4, random_seed=1)
    print(
        f"| strategy | found in {given.budget // 5} requests | in {given.budget} | found a request |\n|---|---|---|---|"
    )
    with Recording([given.warc]) as recording:
        find = recorded_in(recording)
        for name in given.strategy or STRATEGIES:
            rows = []
            for subject in subjects:
                topic: Any = told_judge(index, subject, "words", DEFAULT)()
                (seeds,) = seed_sets(index, subject, "on-topic", count=3, random_seed=1)
                facts: dict[str, Any] = {
                    "threshold": topic.threshold,
                    "probability": True,
                    "words": subject.words,
                    "budget": given.budget,
                }
                hunts = strategy(name, seed=1, **facts)
                brought = requests(find, index, subject, topic, hunts, seeds, given.budget)
                budgets = [given.budget // 5, given.budget]
                rows.append([*measures.found(brought, budgets), measures.harvest(brought, budgets)[-1]])
            early, late, rate = np.mean(rows, axis=0)
            print(f"| {name} | {early:.1f} | {late:.1f} | {rate:.3f} |", flush=True)


if __name__ == "__main__":
    main()
