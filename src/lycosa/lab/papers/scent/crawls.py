"""The crawls: five cells (what is told, where crawls start), all strategies in each, and shares of the oracle's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.certainty import Difference, Interval, interval, paired
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT, Mode
from lycosa.lab.measures import found, global_score
from lycosa.lab.papers import Bench
from lycosa.lab.papers.scent.choosing import Hunted
from lycosa.lab.reach import bound
from lycosa.lab.running import Results, run
from lycosa.lab.subjects import Subject, subjects_from_query, subjects_of

Floats = NDArray[np.float64]

SCENT, ORACLE = "scent", "oracle"
PUBLISHED = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor", "link-context", "shark-search",
    "fish-search", "fl_n", "fl_e", "fl_ne", "sl_n", "lr_fl", "mab_var", "mab_first", "otie", "opic-alpha",
    "link-score", "nb-links", "soft-focus",
)  # fmt: skip
QUICK = ("breadth-first", "best-first", "link-context")
LEFT_OUT = (
    "Not among the published: nr and pagerank, which rank the whole graph again and again and take minutes a crawl; "
    "those that are trained before the crawl (hmm, hybrid, context-graph, rules), as they are told more; those that "
    "need WordNet; and those that ignore the topic, but for breadth-first."
)

SEEDS, KEYWORD_SEEDS = 5, 50
"""Of a topic; and of a keyword, as in Gouriten et al., or a tenth of the pages that have it."""

EXAMPLES = 20
JUDGES = {"words": "vector,idf=none", "examples": "vector,idf=none"}
"""Of the judges that do not learn as they go, those that rank pages best (benchmarks/judges.py)."""

TRIALS = 24
"""Topics times seed sets, at least: where topics are fewer than eight, they get more seed sets."""

TABLES = ("experiment.toml", "results.csv", "results.parquet", "times.csv", "failures.txt")


@dataclass(frozen=True)
class Cell:
    """What the guide is told, and where crawls start."""

    key: str
    title: str
    told: str
    seeds: str

    @property
    def mode(self) -> Mode:
        """Keywords are judged by the guide, as Gouriten et al. have it; all else by labels."""
        return AS_PUBLISHED if self.key == "keyword" else INDEPENDENT


KEYWORD = Cell("keyword", "keyword", "words", "random")
QUERY_ON = Cell("query-on", "query, on-topic seeds", "words", "on-topic")
QUERY_OFF = Cell("query-off", "query, off-topic seeds", "words", "off-topic")
EXAMPLES_ON = Cell("examples-on", f"{EXAMPLES} examples, on-topic seeds", "examples", "on-topic")
EXAMPLES_OFF = Cell("examples-off", f"{EXAMPLES} examples, off-topic seeds", "examples", "off-topic")
ABLATED = (replace(QUERY_ON, key="ablation-on"), replace(QUERY_OFF, key="ablation-off"))
ABLATION_SETS = 1
"""Seed sets of each topic that are crawled with each term left out."""

CELLS = (KEYWORD, QUERY_ON, QUERY_OFF, EXAMPLES_ON, EXAMPLES_OFF)


@dataclass(frozen=True)
class Size:
    """How much is run."""

    topics: int = 8
    sets: int = 5
    budgets: tuple[int, ...] = (100, 500, 1000)
    published: tuple[str, ...] = PUBLISHED
    terms: int = 0
    """Of scent that are left out one by one; 0: all."""

    def sets_for(self, hunted: int) -> int:
        """Seed sets of each of so many topics."""
        return self.sets if self.sets < 5 else max(self.sets, ceil(TRIALS / max(1, hunted)))


@dataclass
class Crawls:
    """All crawls of a cell. Trials are topics and seed sets that every strategy has a crawl of."""

    cell: Cell
    results: Results

    @cached_property
    def published(self) -> list[str]:
        """Those to compare with."""
        return [name for name in self.results.strategies if name != ORACLE and not name.startswith(SCENT)]

    @cached_property
    def _outcomes(self) -> dict[str, dict[tuple[str, int], Any]]:
        known: dict[str, dict[tuple[str, int], Any]] = {name: {} for name in self.results.strategies}
        for one in self.results.outcomes:
            known[one.strategy][one.subject, one.seed_set] = one
        return known

    @cached_property
    def trials(self) -> list[tuple[str, int]]:
        """A topic and the number of a seed set."""
        for needed in (ORACLE, SCENT):
            if needed not in self._outcomes:
                raise InputError(f"{self.cell.title}: {needed} has no crawl. {' '.join(self.results.remarks)}")
        return [trial for trial in self._outcomes[ORACLE] if all(trial in crawls for crawls in self._outcomes.values())]

    @property
    def groups(self) -> list[str]:
        """The topic of each trial."""
        return [topic for topic, _ in self.trials]

    @property
    def topics(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys(self.groups))

    @property
    def budgets(self) -> list[int]:
        """Where it is measured."""
        return self.results.experiment.budgets

    @cached_property
    def curves(self) -> dict[str, Floats]:
        """Of each strategy what it had found after 0, 1, 2 ... pages: a line for each trial."""
        steps = np.arange(self.results.experiment.budget + 1)
        return {
            name: np.array([found(self.results.gains(crawls[trial]), steps) for trial in self.trials])
            for name, crawls in self._outcomes.items()
        }

    @cached_property
    def bounds(self) -> Floats:
        """What no crawl can exceed: a line for each trial, a column for each budget."""
        made = []
        for trial in self.trials:
            trace, subject = self._outcomes[ORACLE][trial].trace, self.results.subjects[trial[0]]
            made.append(
                bound(
                    self.results.index, self.results.truth(trial[0]), trace.nodes[: trace.seeds].tolist(),
                    self.budgets, subject.seen if len(subject.seen) else None,
                )
            )  # fmt: skip
        return np.array(made)

    def share(self, strategy: str, budget: int) -> Floats:
        """Of each trial what the strategy found, over what the oracle found; nan where that is nothing."""
        ours, best = self.curves[strategy][:, budget], self.curves[ORACLE][:, budget]
        return _over(ours, best)

    def of_bound(self, strategy: str, budget: int) -> Interval:
        """What the strategy found over what is reachable, mean over topics."""
        most = self.bounds[:, self.budgets.index(budget)]
        return interval(_over(self.curves[strategy][:, budget], most), draws=1, groups=self.groups)

    def interval(self, strategy: str, budget: int) -> Interval:
        """The mean share over topics and seed sets, and how sure it is."""
        return interval(self.share(strategy, budget), groups=self.groups)

    def mean(self, strategy: str, budget: int) -> float:
        """The mean share alone."""
        return interval(self.share(strategy, budget), draws=1, groups=self.groups).mean

    def geometric(self, strategy: str, budget: int) -> float:
        """As Gouriten et al. have it: what a topic's crawls found over what the oracle's did, geometric mean of all."""
        of = np.array(self.groups)
        ours, best = ([self.curves[name][of == topic, budget] for topic in self.topics] for name in (strategy, ORACLE))
        return global_score(ours, best)

    def by_topic(self, strategy: str, budget: int) -> dict[str, float]:
        """The mean share of each topic."""
        of, share = np.array(self.groups), self.share(strategy, budget)
        return {topic: interval(share[of == topic], draws=1).mean for topic in self.topics}

    def best(self, budget: int) -> str:
        """The published strategy with the highest mean share here, which nobody could have known before."""
        return max(self.published, key=lambda name: self.mean(name, budget))

    def ahead(self, one: str, other: str, budget: int) -> Difference:
        """How much larger the one's share is than the other's, on the same topics and seeds."""
        return paired(self.share(one, budget), self.share(other, budget), groups=self.groups)


def crawl(bench: Bench, cell: Cell, hunted: Hunted, size: Size, without: Sequence[str] = ()) -> Crawls:
    """Run a cell; crawls that are there already are kept. `without` are texts of scent with terms left out."""
    subjects = _subjects(bench, cell, hunted)
    fewest = min(hunted.keywords.values())
    plan = Experiment(
        f"scent, {cell.title}", str(bench.index.path or ""), [ORACLE, SCENT, *size.published, *without],
        told=cell.told, judge="keyword" if cell == KEYWORD else JUDGES[cell.told], mode=cell.mode, seeds=cell.seeds,
        examples=EXAMPLES if cell.told == "examples" else 10,
        seed_count=max(1, min(KEYWORD_SEEDS, fewest // 10)) if cell == KEYWORD else SEEDS,
        seed_sets=size.sets_for(len(subjects)), budgets=list(size.budgets), random_seed=bench.random_seed,
    )  # fmt: skip
    place = bench.out / (cell.key if cell == KEYWORD else cell.told)  # cells that share guides share a directory

    def tell(what: str, done: int, total: int) -> None:
        bench.tell(f"{cell.title}: {what}", done, total)

    results = run(plan, place, index=bench.index, subjects=subjects, workers=bench.workers, tell=tell)
    for name in TABLES:
        if (place / name).exists():
            (place / name).replace(place / f"{cell.key}-{name}")
    made = Crawls(cell, results)
    if not made.trials:
        raise InputError(f"{cell.title}: no trial that all strategies have run. {' '.join(results.remarks)}")
    return made


def _subjects(bench: Bench, cell: Cell, hunted: Hunted) -> list[Subject]:
    """What is hunted in a cell. Who is told examples is told no words: a name of a topic would be a query."""
    if cell == KEYWORD:
        return [subjects_from_query(bench.index, word) for word in hunted.keywords]
    if cell.told == "examples":
        told = subjects_of(bench.index, hunted.topics, random_seed=bench.random_seed, examples=EXAMPLES)
        return [replace(subject, words="") for subject in told]
    return subjects_of(bench.index, hunted.topics, random_seed=bench.random_seed)


def _over(ours: Floats, theirs: Floats) -> Floats:
    share: Floats = np.divide(ours, theirs, out=np.full(len(ours), np.nan), where=theirs > 0)
    return share
