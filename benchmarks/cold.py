"""What is lost when most of a frontier is on disk: the same crawls with all rows in memory, and with a tenth of them.

    python benchmarks/cold.py INDEX ... [--topics 5] [--sets 2] [--budget 500] [--judge vector,idf=none] [--out DIR]

An index is one of `lycosa lab index`, of a corpus with labels. Each crawl is run with all rows, to see how many wait at
most, then again with a tenth of that as `memory_rows`. Told are the relevant pages of both and the interval of the difference
in pairs, in parts of what was found with all rows: of each corpus, and of all together.
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
    """Say where, and go."""
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
        progress(str(path), own)
        pairs += own
    progress("all together", pairs)


def compare(index: CorpusIndex, given: argparse.Namespace) -> list[tuple[str, float, float]]:
    """All crawls of a corpus, in pairs: the topic, what was found with all rows, and with a tenth."""
    pairs = []
    for subject in subjects_of(index, count=given.topics):
        guide = judgements_for(index, subject, "words", given.judge, out=given.out)
        for seeds in seed_sets(index, subject, "on-topic", count=3, sets=given.sets):
            fetched, most = crawl(index, subject, guide, seeds, given, 0)
            memory_rows = max(8, most // SHARE)
            again, _ = crawl(index, subject, guide, seeds, given, memory_rows)
            found, left = (float(np.count_nonzero(subject.truth[nodes] > 0)) for nodes in (fetched, again))
            same = len(set(fetched.tolist()) & set(again.tolist())) / max(1, len(fetched))
            told = f"{found:.0f} and {left:.0f}, {same:.0%} the same"
            print(f"{subject.name}: {most:,} wait at most, {memory_rows} hot: {told}", flush=True)
            pairs.append((subject.name, found, left))
    return pairs


def progress(name: str, pairs: list[tuple[str, float, float]]) -> None:
    """The mean difference and its interval, over topics and crawls."""
    topics, found, left = zip(*pairs, strict=True)
    difference, mean = paired(np.array(left), np.array(found), groups=topics), float(np.mean(found))
    change, low, high = (number / mean for number in difference[:3])
    print(f"{name}, {len(pairs)} pairs: {mean:.1f} with all; {change:+.2%} [{low:+.2%}, {high:+.2%}]", flush=True)


def crawl(index, subject, guide, seeds, given, memory_rows):  # type: ignore[no-untyped-def]
    """The nodes that were fetched, and how many rows waited at most."""
    hunts = make_trial_strategy(given.strategy, index, subject, guide, budget=given.budget, random_seed=0)
    trace = simulate(guide, hunts, seeds, given.budget, memory_rows=memory_rows)
    seen, waiting, most = set(seeds), len(seeds), 0
    for node in trace.nodes.tolist():
        new = set(index.children(node).tolist()) - seen
        seen |= new
        waiting += len(new) - 1
        most = max(most, waiting)
    return trace.nodes[trace.seeds :], most


if __name__ == "__main__":
    main()
