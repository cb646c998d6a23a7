"""Simulated steps per second of each estimator, compared with a straightforward implementation.

    python benchmarks/lab.py [--corpus wikispeedia.index] [--graph france.index] [--steps 100000] [--only fl_e,lr_fl]

Each graph runs in a process of its own: the corpus, if given (an index created by `lycosa lab index`), and a generated
graph of 2.2 million nodes and 35.6 million links (`--graph`: an index of `generated:france`; by default it is
generated, smaller with --nodes). Batch size 1, fifty seeds with a score, CPU time of one core.

The straightforward implementation keeps dictionaries, and scores the whole frontier after every page; breadth-first is
a queue, best-first a heap. It stops after --patience seconds. The table shows its speed for the steps until then, ours
over the same steps, and the number of first steps in which both fetched the same nodes, where both define them alike.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.core.options import Options
from lycosa.core.protocols import Strategy
from lycosa.strategies import strategy
from lycosa_lab.corpora.generated import generate
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.simulation import simulate

NAMES = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor", "fl_deg", "fl_n", "fl_e", "fl_ne", "sl_n",
    "sl_e", "sl_ne", "lr_fl", "lr_sl", "opic", "opic-alpha", "mab_epsilon", "mab_first", "mab_var",
)  # fmt: skip
QUERY = "coral reef fish ocean sea marine"
SEEDS = 50
ALIKE = 300
"""Number of steps whose picks are compared."""


class Plain:
    """Straightforward crawl that keeps the features of the estimators in dictionaries."""

    def __init__(self, guide: Judgements, seeds: list[int]) -> None:
        self.guide, self.index = guide, guide.index
        self.fetched: list[int] = []
        self.relevance: dict[int, float] = {}
        self.links: dict[int, dict[int, float]] = {}
        self.parents: dict[int, list[int]] = {}
        self.frontier: dict[int, int] = {}  # in order of discovery
        self.known = dict.fromkeys(seeds, 0)
        self.depth = dict.fromkeys(seeds, 0)
        self.sums: dict[int, list[float]] = {}
        self.examples: list[tuple[list[float], float]] = []

    def fetch(self, node: int, features: Callable[[int], list[float]] | None = None) -> dict[int, float]:
        """Fetch a node; return its links with their relevances."""
        self.frontier.pop(node, None)
        relevance = float(self.guide.relevance[node])
        if features is not None:
            self.examples.append((features(node), relevance))
        self.fetched.append(node)
        self.relevance[node] = relevance
        links = dict(zip(self.index.children(node).tolist(), self.guide.link_relevances(node).tolist(), strict=True))
        self.links[node] = links
        for child, alpha in links.items():
            if child not in self.known:
                self.known[child] = len(self.known)
                self.depth[child] = self.depth[node] + 1
                self.frontier[child] = self.known[child]
            self.parents.setdefault(child, []).append(node)
            sums = self.sums.setdefault(child, [0.0, 0.0, 0.0, 0.0])
            for place, value in enumerate((1.0, relevance, alpha, relevance * alpha)):
                sums[place] += value
        return links

    def first_level(self, node: int) -> list[float]:
        """Return the four fl_ features."""
        return [math.log1p(value) for value in self.sums.get(node, (0.0, 0.0, 0.0, 0.0))]

    def second_level(self, node: int) -> list[float]:
        """Return the three sl_ features, summed from scratch."""
        n = e = ne = 0.0
        for parent in self.parents.get(node, ()):
            for sibling, alpha in self.links[parent].items():
                if sibling in self.relevance and sibling != node:
                    n += self.relevance[sibling]
                    e += alpha
                    ne += self.relevance[sibling] * alpha
        return [math.log1p(n), math.log1p(e), math.log1p(ne)]

    def both_levels(self, node: int) -> list[float]:
        """Return all seven features."""
        return self.first_level(node) + self.second_level(node)

    def weights(self) -> np.ndarray:
        """Return the ridge regression weights over all examples."""
        if not self.examples:
            return np.zeros(8)
        x = np.array([[*features, 1.0] for features, _ in self.examples])
        y = np.array([relevance for _, relevance in self.examples])
        return np.linalg.solve(x.T @ x + 1e-3 * np.eye(x.shape[1]), x.T @ y)

    def best(self, score: Callable[[int], float]) -> int:
        """Score the whole frontier and return the best row; the first one in a tie."""
        return max(self.frontier, key=lambda node: (score(node), -self.frontier[node]))


def run_plain(name: str, guide: Judgements, seeds: list[int], steps: int, patience: float) -> tuple[list[int], float]:
    """Run the straightforward crawl; return its nodes without the seeds, and its CPU seconds."""
    crawl = Plain(guide, seeds)
    turn = _turn(name, crawl)
    for seed in seeds:
        turn(seed)
    begun = time.process_time()
    while len(crawl.fetched) < len(seeds) + steps and crawl.frontier and time.process_time() - begun < patience:
        turn(None)
    return crawl.fetched[len(seeds) :], time.process_time() - begun


def _turn(name: str, crawl: Plain) -> Callable[[int | None], None]:
    """Return a function that runs one step: for a seed, or for the best node by the estimator."""
    if name == "breadth-first":
        queue: deque[int] = deque()

        def in_order(seed: int | None) -> None:
            node = queue.popleft() if seed is None else seed
            before = len(crawl.known)
            links = crawl.fetch(node)
            queue.extend(child for child in links if crawl.known[child] >= before)

        return in_order
    if name.startswith("best-first"):
        page, anchor = {"best-first": (0.5, 0.5), "best-first-page": (1.0, 0.0)}.get(name, (0.0, 1.0))
        heap: list[tuple[float, int, int]] = []

        def from_heap(seed: int | None) -> None:
            node = seed
            while node is None or (seed is None and node in crawl.relevance):
                node = heapq.heappop(heap)[2]
            for child, alpha in crawl.fetch(node).items():
                if child not in crawl.relevance:
                    priority = page * crawl.relevance[node] + anchor * alpha
                    heapq.heappush(heap, (-priority, crawl.known[child], child))

        return from_heap
    if name.startswith("opic"):
        return _cash(crawl, by_alpha=name == "opic-alpha")
    if name.startswith("mab_"):
        return _bandit(crawl)
    features = {"sl_": crawl.second_level, "lr_sl": crawl.both_levels}.get(name[:3] if name[0] == "s" else name)
    features = features or crawl.first_level

    def rescored(seed: int | None) -> None:
        node = seed
        if node is None:
            node = crawl.best(_scorer(name, crawl))
        # seeds are not training examples
        crawl.fetch(node, features if name.startswith("lr_") and seed is None else None)

    return rescored


def _scorer(name: str, crawl: Plain) -> Callable[[int], float]:
    if name.startswith("lr_"):
        weights = crawl.weights().tolist()
        features = crawl.first_level if name == "lr_fl" else crawl.both_levels
        return lambda node: sum(w * x for w, x in zip(weights, [*features(node), 1.0], strict=False))
    if name.startswith("sl_"):
        place = ("n", "e", "ne").index(name[3:])
        return lambda node: crawl.second_level(node)[place]
    place = ("deg", "n", "e", "ne").index(name[3:])
    return lambda node: crawl.first_level(node)[place]


def _cash(crawl: Plain, *, by_alpha: bool) -> Callable[[int | None], None]:
    """Return a step that passes cash along links: in equal shares, or by link relevance (Gouriten et al. 2014)."""
    cash: dict[int, float] = {}

    def turn(seed: int | None) -> None:
        node = crawl.best(lambda one: cash.get(one, 0.0)) if seed is None else seed
        links = crawl.fetch(node)
        for child in links:
            cash.setdefault(child, 1.0 if by_alpha else 0.0)
        mine = cash.pop(node, 1.0)
        shares = {child: alpha * cash[child] for child, alpha in links.items()} if by_alpha else {}
        total = sum(shares.values())
        for child in links:
            cash[child] += mine * (shares[child] / total if total > 0 else 1 / len(links))

    return turn


def _bandit(crawl: Plain) -> Callable[[int | None], None]:
    """Return a step of an epsilon-greedy bandit with five arms and epsilon 0.1."""
    arms, chance = ("fl_deg", "fl_n", "fl_e", "fl_ne", "lr_fl"), random.Random(1)
    pulls, rewards = [0] * 5, [0.0] * 5

    def turn(seed: int | None) -> None:
        if seed is not None:
            crawl.fetch(seed)
            return
        arm = max(range(5), key=lambda one: rewards[one] / max(1, pulls[one]))
        if chance.random() < 0.1:
            arm = chance.randrange(5)
        node = crawl.best(_scorer(arms[arm], crawl))
        crawl.fetch(node, crawl.first_level)
        pulls[arm] += 1
        rewards[arm] += crawl.relevance[node]

    return turn


def note_times(crawler: Strategy, times: list[float]) -> None:
    """Append the CPU time to `times` at every 1,024th pick of a strategy."""
    pick = crawler.pick

    def timed(number: int, *given: Any) -> Any:
        if number % 1024 == 0:
            times.append(time.process_time())
        return pick(number, *given)

    crawler.pick = timed  # type: ignore[method-assign]


def measure(index: CorpusIndex, steps: int, names: list[str], patience: float, repeat: int) -> None:
    """Print a line for each estimator of one graph, and our peak memory."""
    if index.has_text:
        from lycosa.judges.factory import make_judge

        guide = Judgements.judged(index, make_judge(Options(topic=QUERY, judge="vector,idf=background")))
    else:
        guide = Judgements.given(index)
    drawn = np.random.default_rng(1).choice(np.flatnonzero(np.asarray(guide.relevance) > 0), SEEDS, replace=False)
    seeds = [int(seed) for seed in drawn]
    print(f"\n{index.facts.get('source')}: {len(index):,} nodes, {len(index.child):,} links, up to {steps:,} steps")
    print("steps per second; CPU time, best of " + str(repeat))
    ours: dict[str, tuple[float, list[float], list[int]]] = {}
    for name in names:
        rate, marks, nodes = 0.0, [], []
        for _ in range(repeat):
            gc.collect()
            at = [time.process_time()]
            own = strategy(name, seed=1, budget=steps)
            note_times(own, at)
            trace = simulate(guide, own, seeds, steps)
            found = len(trace.nodes) / (time.process_time() - at[0])
            if found > rate:
                rate, marks = found, [moment - at[0] for moment in at]
            nodes = trace.found.tolist()
        ours[name] = (rate, marks, nodes)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{'':20}{'ours':>10}{'plain':>11}{'its steps':>11}{'ours then':>11}{'ratio':>9}   same picks")
    for name in names:
        rate, marks, nodes = ours[name]
        gc.collect()
        plain, took = run_plain(name, guide, seeds, min(steps, len(nodes)), patience)
        slow = len(plain) / took
        # our time after the same number of steps, rounded up to 1,024
        then = min(len(marks) - 1, math.ceil(len(plain) / 1024))
        beside = then * 1024 / marks[then] if then else rate
        agreement = ""
        if not name.startswith("mab_") and name not in ("opic", "opic-alpha"):
            compared = list(zip(nodes, plain, strict=False))[:ALIKE]
            same = next((at for at, (a, b) in enumerate(compared) if a != b), len(compared))
            agreement = f"{same} of {len(compared)}"
        print(
            f"{name:20}{rate:10,.0f}{slow:11,.1f}{len(plain):11,}{beside:11,.0f}{beside / slow:8,.1f}x   {agreement}",
            flush=True,
        )
    print(f"our peak memory over all estimators: {peak:.2f} GB")


def main() -> None:
    """Measure each graph in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", help="an index of pages")
    parser.add_argument("--graph", help="an index of a graph with scores; generated by default")
    parser.add_argument("--nodes", type=int, help="nodes of the generated graph")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--patience", type=float, default=10.0, help="CPU seconds for the straightforward version")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        measure(CorpusIndex.open(given.inside), given.steps, given.only.split(","), given.patience, given.repeat)
        return
    with tempfile.TemporaryDirectory() as place:
        graph = given.graph
        if graph is None and (given.nodes or not given.corpus):
            graph = str(Path(place) / "france.index")
            generate(Path(graph), "france", nodes=given.nodes)
        for index in filter(None, (given.corpus, graph)):
            options = [f"--{name}={getattr(given, name)}" for name in ("steps", "only", "patience", "repeat")]
            subprocess.run([sys.executable, __file__, f"--inside={index}", *options], check=True)


if __name__ == "__main__":
    main()
