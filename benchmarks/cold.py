"""Relevant pages lost with most of the frontier on disk: the same crawls with all rows in memory, and with a tenth.

    python benchmarks/cold.py INDEX ... [--topics 5] [--sets 2] [--budget 500] [--judge vector,idf=none] [--out DIR]

INDEX is created by `lycosa lab index` from a corpus with labels. Each crawl runs with all rows in memory, to count the
links that wait at most, then again with a tenth of that as `memory_rows`. Printed are the relevant pages of both, and
the paired difference with its interval, relative to all rows in memory: for each corpus, and for all of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lycosa_lab.confidence import paired
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import judgements_for
from lycosa_lab.seeds import seed_sets
from lycosa_lab.simulation import simulate
from lycosa_lab.subjects import subjects_of
from lycosa_lab.trial_strategies import make_trial_strategy

SHARE = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path, nargs="+")
    parser.add_argument("--topics", type=int, default=5)
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--judge", default="vector,idf=none")
    parser.add_argument("--strategy", default="scent")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    pairs: list[tuple[str, float, float]] = []
    for path in given.index:
        own = compare(CorpusIndex.open(path), given)
        print_difference(str(path), own)
        pairs += own
    print_difference("all together", pairs)


def compare(index: CorpusIndex, given: argparse.Namespace) -> list[tuple[str, float, float]]:
    """Return the topic and the relevant pages of each pair of crawls: with all rows in memory, and with a tenth."""
    pairs = []
    for subject in subjects_of(index, count=given.topics):
        guide = judgements_for(index, subject, "words", given.judge, out=given.out)
        for seeds in seed_sets(index, subject, "on-topic", count=3, sets=given.sets):
            fetched, most = crawl(index, subject, guide, seeds, given, 0)
            memory_rows = max(8, most // SHARE)
            again, _ = crawl(index, subject, guide, seeds, given, memory_rows)
            full, spilled = (float(np.count_nonzero(subject.truth[nodes] > 0)) for nodes in (fetched, again))
            same = len(set(fetched.tolist()) & set(again.tolist())) / max(1, len(fetched))
            summary = f"{full:.0f} and {spilled:.0f}, {same:.0%} the same pages"
            print(f"{subject.name}: {most:,} wait at most, {memory_rows} in memory: {summary}", flush=True)
            pairs.append((subject.name, full, spilled))
    return pairs


def print_difference(name: str, pairs: list[tuple[str, float, float]]) -> None:
    """Print the mean difference and its interval."""
    topics, full, spilled = zip(*pairs, strict=True)
    difference, mean = paired(np.array(spilled), np.array(full), groups=topics), float(np.mean(full))
    change, low, high = (number / mean for number in difference[:3])
    print(
        f"{name}, {len(pairs)} pairs: {mean:.1f} with all rows in memory; {change:+.2%} [{low:+.2%}, {high:+.2%}]",
        flush=True,
    )


def crawl(index, subject, guide, seeds, given, memory_rows):  # type: ignore[no-untyped-def]
    """Return the fetched nodes, and the maximum number of waiting rows."""
    estimator = make_trial_strategy(given.strategy, index, subject, guide, budget=given.budget, random_seed=0)
    trace = simulate(guide, estimator, seeds, given.budget, memory_rows=memory_rows)
    seen, waiting, most = set(seeds), len(seeds), 0
    for node in trace.nodes.tolist():
        new = set(index.children(node).tolist()) - seen
        seen |= new
        waiting += len(new) - 1
        most = max(most, waiting)
    return trace.nodes[trace.seeds :], most


if __name__ == "__main__":
    main()
