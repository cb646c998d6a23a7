"""The graphs and their crawls: keywords on the corpus, as on the paper's Wikipedia graphs, and generated graphs.

Table 1 has their sizes. The score of a crawl is the sum of its nodes' scores; global scores are relative to greedy with
the oracle (section 5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lycosa.core.errors import InputError
from lycosa_lab.comparison import CrawlComparison
from lycosa_lab.corpora.generated import generate
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, ENOUGH, Cell, Mode, ReportTable
from lycosa_lab.judgements import Judgements, judgements_for
from lycosa_lab.measures import Floats, cumulative, extended, found, geometric_mean
from lycosa_lab.papers import Bench
from lycosa_lab.papers.gouriten.claims import SCORE, SIZES, STEPS
from lycosa_lab.results import ExperimentResults
from lycosa_lab.subjects import HuntSubject, subjects_of
from lycosa_lab.trial_strategies import ORACLE

CORPUS, GENERATED = "corpus", "generated"
GROUPS = (CORPUS, GENERATED)

# Nodes of generated graphs; the paper's have 2.2 million (Wikipedia) and 16.9 million (Twitter).
QUICK_NODES, NODES, LARGE_NODES = 20_000, 200_000, 2_200_000
LIKE = ("bretagne", "france", "happy", "jazz", "weird")
QUICK_LIKE = ("bretagne", "happy")


@dataclass
class Dataset:
    """A graph with scores of nodes and links, and the subject that has these scores as its truth."""

    name: str
    group: str
    index: CorpusIndex
    guide: Judgements
    subject: HuntSubject  # its truth is the relevance by the guide
    labels: HuntSubject | None = None  # the same subject with the corpus' labels as truth
    description: str = "score"
    judge: str = ""
    steps: tuple[int, ...] = ()


def _place(name: str) -> str:
    return "graphs/" + re.sub(r"\W", "-", name.lower())


def seeds_for(subject: HuntSubject) -> int:
    """Return the paper's fifty seeds, but at most a tenth of the nodes with a score.

    >>> seeds_for(HuntSubject("few", np.ones(80, np.float32))), seeds_for(HuntSubject("many", np.ones(900, np.float32)))
    (8, 50)
    """
    return max(1, min(50, int(np.count_nonzero(subject.truth)) // 10))


def steps_for(index: CorpusIndex, quick: bool) -> tuple[int, ...]:
    """Return the paper's steps up to a third of the nodes; longer crawls fetch most nodes with any strategy."""
    fitting = [step for step in ((30, 100, 300) if quick else STEPS) if step <= len(index) // 3]
    return tuple(fitting) or (max(1, len(index) // 3),)


def keyword(name: str) -> str:
    empty = {"and", "the", "for", "from", "with", "general", "other", "others", "misc"}
    for part in reversed(name.split("/")):
        words = re.findall(r"[^\W\d_]{3,}", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", part))
        if phrase := " ".join(word for word in map(str.lower, words) if word not in empty):
            return phrase
    return name


def keywords_of(bench: Bench, remarks: list[str]) -> Iterable[Dataset]:
    """Yield graphs scored by keywords from class names, or by the stored scores of a corpus without text."""
    index = bench.index
    steps = steps_for(index, bench.quick)
    if not index.has_text:
        subject = subjects_of(index)[0]
        yield Dataset("CORPUS", CORPUS, index, Judgements.given(index), subject, steps=steps)
        return
    wanted = 2 if bench.quick else ENOUGH
    used: list[str] = []
    for topic in subjects_of(index, count=4 * wanted, least=20, max_pages=0, random_seed=bench.random_seed):
        if len(used) == wanted:
            break
        words = keyword(topic.name)
        if words in used:
            continue
        # without `seen`, as no page is used for training
        labels = HuntSubject(words, topic.truth, words, truth_by=topic.truth_by)
        guide = judgements_for(index, labels, "words", "keyword", (), bench.out / _place(words), bench.progress)
        share = float(np.count_nonzero(guide.relevance)) / len(index)
        if not max(0.005, 40 / len(index)) <= share <= 0.6:
            remarks.append(f"Left out: the keyword {words!r}, which is on {100 * share:.1f} % of the pages.")
            continue
        used.append(words)
        subject = replace(labels, truth=np.asarray(guide.relevance, np.float32), truth_by="keyword")
        yield Dataset(words.upper(), CORPUS, index, guide, subject, labels, "words", "keyword", steps)
    if not used:
        raise InputError("no-keyword", "no class name is on .5 % to 60 % of the pages: use a corpus of other classes")


def generated(bench: Bench, *, large: bool = False) -> Iterable[Dataset]:
    nodes = LARGE_NODES if large else QUICK_NODES if bench.quick else NODES
    for like in QUICK_LIKE if bench.quick else LIKE:
        path = bench.out / f"{like}-{nodes}-{bench.random_seed}.index"
        index = (
            CorpusIndex.open(path) if path.exists()
            else generate(path, like, nodes=nodes, random_seed=bench.random_seed, progress=bench.progress)
        )  # fmt: skip
        name = f"like {like.upper()}"
        subject = replace(subjects_of(index)[0], name=name)
        yield Dataset(name, GENERATED, index, Judgements.given(index), subject, steps=steps_for(index, bench.quick))


def table_1(graphs: list[Dataset]) -> ReportTable:
    rows: list[list[Cell]] = [
        [
            graph.name, "here", len(graph.index), 100 * np.count_nonzero(graph.guide.relevance) / len(graph.index),
            len(graph.index.child), 100 * np.count_nonzero(graph.guide.alpha) / max(1, len(graph.index.child)),
        ]
        for graph in graphs
    ]  # fmt: skip
    rows += [
        [name, "paper", round(1e6 * nodes), shared, round(1e6 * edges), promising]
        for name, (nodes, shared, edges, promising) in SIZES.items()
    ]
    return ReportTable(
        "gouriten-table-1", "Table 1: sizes of the graphs",
        ("graph", "here or paper", "nodes", "non-zero nodes (%)", "edges", "non-zero edges (%)"), rows, AS_PUBLISHED,
        digits=1,
        note="Graphs in capitals: scores are log(1 + occurrences) of these words, in the page and in 100 characters "
        "around a link. The others are generated, with the sizes and shares of the paper's graphs.",
    )  # fmt: skip


@dataclass
class Crawls:
    """Crawls of several graphs by several strategies, scored by the guide or by labels (`mode`)."""

    mode: Mode = AS_PUBLISHED
    results: dict[str, tuple[Dataset, ExperimentResults]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)  # graphs that could not be crawled, with the reason

    @property
    def suffixes(self) -> tuple[str, str]:
        return ("", "") if self.mode == AS_PUBLISHED else ("-independent", " by labels")

    def curve(self, graph: str, strategy: str, length: int) -> Floats:
        results = self.results[graph][1]
        gains = [results.gains(outcome) for outcome in results.select(strategy)]
        return np.array([extended(cumulative(one), length) for one in gains])

    @property
    def groups(self) -> list[str]:
        return [group for group in GROUPS if self.graphs(group)]

    def graphs(self, group: str, step: int = 0) -> list[str]:
        return [
            name
            for name, (dataset, results) in self.results.items()
            if dataset.group == group and step <= results.experiment.budget
        ]

    def steps(self, group: str) -> list[int]:
        every = [set(self.results[name][1].experiment.budgets) for name in self.graphs(group)]
        return sorted(set.intersection(*every)) if every else []

    def global_score(self, group: str, strategy: str, step: int) -> float:
        """Return the paper's global score: the geometric mean over graphs of the mean score relative to greedy's."""

        def score(results: ExperimentResults, text: str) -> float:
            return float(np.mean([float(found(results.gains(one), step)) for one in results.select(text)]))

        chosen = [self.results[name][1] for name in self.graphs(group, step)]
        pairs = [(score(results, strategy), score(results, ORACLE)) for results in chosen]
        return geometric_mean([ours / greedy for ours, greedy in pairs if greedy])

    def global_scores(self, group: str, named: Mapping[str, str]) -> dict[str, dict[int, float]]:
        return {
            label: {step: self.global_score(group, text, step) for step in self.steps(group)}
            for label, text in named.items()
        }

    def compared(self, named: Mapping[str, str], least: int = 0, *, ends: bool = False) -> CrawlComparison:
        """Compare strategies over the graphs with at least `least` steps, or all graphs if there are none.

        They are compared at the steps that all graphs have, or with `ends` at the end of each crawl.
        """
        every = [results for _, results in self.results.values()]
        chosen = [results for results in every if results.experiment.budget >= least] or every
        shared = sorted(set.intersection(*(set(results.experiment.budgets) for results in chosen)))
        last = min(results.experiment.budget for results in chosen)
        labels = {text: label for label, text in named.items()}
        parts = [
            CrawlComparison.of(
                labels, [results], [results.experiment.budget] if ends or not shared else shared, [SCORE]
            )
            for results in chosen
        ]
        return replace(CrawlComparison.pooled(parts), budgets=[last] if ends or not shared else shared)

    def have(self, strategy: str) -> bool:
        return all(strategy in results.strategies for _, results in self.results.values())

    def remarks(self) -> list[str]:
        return self.left_out + [
            f"{graph}: {line}" for graph, (_, results) in self.results.items() for line in results.remarks
        ]

    def beaten(self) -> list[str]:
        return [
            line
            for _, results in self.results.values()
            for line in results.remarks
            if line.startswith("Above the oracle")
        ]


def crawl(
    bench: Bench,
    graphs: Iterable[Dataset],
    strategies: Sequence[str],
    *,
    sets: int,
    mode: Mode = AS_PUBLISHED,
    steps: Sequence[int] = (),
    part: str = "",
) -> Crawls:
    """Run the oracle and each strategy on each graph from each seed set; `part` is the directory of the tables."""
    crawls = Crawls(mode)
    for graph in graphs:
        subject = graph.subject if mode == AS_PUBLISHED else graph.labels
        if subject is None:
            continue
        plan = bench.plan(
            f"gouriten, {graph.name}", dict.fromkeys([ORACLE, *strategies]), corpus=str(graph.index.path or ""),
            description=graph.description, judge=graph.judge, mode=mode, seeds="random", seed_count=seeds_for(subject),
            seed_sets=sets, budgets=list(steps or graph.steps),
        )  # fmt: skip
        try:
            results = bench.run(plan, _place(graph.name), index=graph.index, subjects=[subject], part=part or mode)
        except InputError as error:
            if mode == AS_PUBLISHED:
                raise
            crawls.left_out.append(f"{graph.name}: not judged by labels: {error}")
            continue
        crawls.results[graph.name] = (graph, results)
    return crawls
