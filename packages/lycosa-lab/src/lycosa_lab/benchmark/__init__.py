"""The benchmark: scent, its rivals and user strategies on frozen topics of several corpora.

One experiment per corpus and setting (the topic description and the place of the seeds), run by the same runner as
those of a paper. All entrants get the same trials, budgets and judge (that of `lycosa crawl`); hidden labels decide
which pages are relevant. A cell is a corpus, a setting and a budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np

from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.judges import DEFAULT
from lycosa.version import __version__
from lycosa_lab.benchmark.corpora import AvailableCorpus
from lycosa_lab.benchmark.entrants import SCENT, is_rival, kind
from lycosa_lab.comparison import CrawlComparison, Measure
from lycosa_lab.confidence import Interval, PairedDifference, corrected, paired
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import Experiment
from lycosa_lab.findings import Cell as TableCell
from lycosa_lab.findings import Findings, ReportFigure, ReportTable, Ruling, claim_of, combine_rulings, plain
from lycosa_lab.measures import Floats, polite
from lycosa_lab.papers import Bench
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.subjects import HuntSubject, subjects_of
from lycosa_lab.trial_strategies import ORACLE, label

SEEDS, EXAMPLES = 3, 20
CRAWLS = 12  # minimum crawls of an entrant per cell, because the first 100 pages depend much on the seeds
POINTS = 25
NOTE = (
    "Share: relevant pages found over those of an oracle that knows the whole graph and looks ahead, near the "
    "optimum. Means over topics (and over draws of seeds, where a topic has several), with 95 % intervals (bootstrap "
    "over topics); differences are paired, on the same topics and seeds. The greedy oracle takes the best known "
    "page, and can be beaten."
)


class BenchmarkSetting(NamedTuple):
    description: str
    seeds: str

    @property
    def title(self) -> str:
        """
        >>> BenchmarkSetting("words", "on-topic").title, BenchmarkSetting("examples", "cold").title
        ('words, 3 seeds', '20 examples, cold seeds')
        """
        given = "words" if self.description == "words" else f"{EXAMPLES} examples"
        return f"{given}, {SEEDS} seeds" if self.seeds == "on-topic" else f"{given}, {self.seeds} seeds"


@dataclass(frozen=True)
class BenchmarkSize:
    """Amount of work: topics, seed draws, settings and budgets."""

    subject_count: int = 0  # topics per corpus; 0: the corpus's default, -1: all
    seed_sets: int = 0  # sets of seeds per topic; 0: enough for CRAWLS per cell
    seeds: tuple[str, ...] = ("on-topic", "off-topic")
    description: tuple[str, ...] = ("words", "examples")
    budgets: tuple[int, ...] = (100, 500, 1000)
    judge: str = DEFAULT
    quick: bool = False

    @property
    def settings(self) -> list[BenchmarkSetting]:
        return [BenchmarkSetting(description, seeds) for description in self.description for seeds in self.seeds]

    def budgets_for(self, pages: int) -> list[int]:
        """Return the budgets up to a third of a corpus; larger ones no longer separate strategies.

        >>> BenchmarkSize().budgets_for(2000), BenchmarkSize().budgets_for(90)
        ([100, 500], [30])
        """
        return [budget for budget in self.budgets if budget <= pages // 3] or [max(1, pages // 3)]

    def draws_for(self, topics: int) -> int:
        """Return the number of seed draws per topic.

        >>> [BenchmarkSize().draws_for(topics) for topics in (3, 10, 30)], BenchmarkSize(seed_sets=2).draws_for(3)
        ([4, 2, 1], 2)
        """
        return self.seed_sets or -(-CRAWLS // max(1, topics))


USUAL = BenchmarkSize()
QUICK = BenchmarkSize(2, seed_sets=1, budgets=(20, 50), seeds=("off-topic",), quick=True)
FULL = BenchmarkSize(-1, seeds=("on-topic", "off-topic", "cold"), budgets=(100, 500, 1000, 5000))


class BenchmarkCell(NamedTuple):
    corpus: str
    setting: BenchmarkSetting
    budget: int

    def __str__(self) -> str:
        return f"{self.corpus}, {self.setting.title}, {self.budget:,} pages"


def _column(column: str, title: str = "", digits: int = 1, highest: float = math.inf) -> Measure:
    return Measure(
        title or column,
        lambda one, results, budgets: results.figures(one, budgets)[column].astype(np.float64), digits, highest,
    )  # fmt: skip


def _milliseconds(one: Trial, results: ExperimentResults, budgets: Sequence[int]) -> Floats:
    return np.full(len(budgets), 1000.0 * one.trace.seconds / max(1, len(one.trace.nodes)))


def _polite(one: Trial, results: ExperimentResults, budgets: Sequence[int]) -> Floats:
    times, last = polite(results.index.hosts[one.trace.nodes]), len(one.trace.nodes)
    return np.array([times[min(last, one.trace.seeds + budget) - 1] for budget in budgets])


# Entrants are compared by their share of the look-ahead oracle: the greedy oracle may find only 1 or 2 pages, and a few
# such trials would dominate the mean.
SHARE, GREEDY = _column("ahead", "share", 3, 1.0), _column("relative", "of the greedy oracle's", 3)
POLITE = Measure("polite s", _polite, 1, math.inf)
COLUMNS = (GREEDY, _column("area", digits=3), *map(_column, ("found", "fetched", "sites")), POLITE)
CPU = Measure("cpu", _milliseconds, maximum=math.inf)


@dataclass
class BenchmarkRun:
    available: list[AvailableCorpus]
    size: BenchmarkSize
    entrants: list[str]
    cells: dict[BenchmarkCell, CrawlComparison] = field(default_factory=dict)
    figures: list[ReportFigure] = field(default_factory=list)
    topics_used: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def corpora(self) -> dict[str, int]:
        """Return the largest budget of each corpus."""
        return {cell.corpus: cell.budget for cell in sorted(self.cells, key=lambda cell: cell.budget)}

    def pooled(self, budget: int, corpus: str = "") -> CrawlComparison:
        return CrawlComparison.pooled(
            [of for cell, of in self.cells.items() if cell.budget == budget and corpus in ("", cell.corpus)]
        )


def mean(crawls: CrawlComparison, entrant: str, measure: Measure) -> TableCell:
    known: TableCell = plain(crawls.mean(entrant, measure)) if entrant in crawls.crawlers else None
    return known


def benchmark(
    bench: Bench, available: Sequence[AvailableCorpus], size: BenchmarkSize, entrants: Sequence[str]
) -> BenchmarkRun:
    run = BenchmarkRun(list(available), size, list(entrants))
    for place in available:
        wanted = len(place.topics) if size.subject_count < 0 else size.subject_count or place.usual
        topics = run.topics_used[place.name] = place.topics[:wanted]
        if len(topics) < wanted:
            run.remarks.append(f"{place.name}: only {len(topics)} of {wanted} topics: the corpus has no more.")
        done: dict[BenchmarkSetting, ExperimentResults] = {}
        for setting in size.settings:
            title = f"{place.name}, {setting.title}"
            plan = Experiment(
                f"benchmark, {title}", str(place.index.path or ""), list(entrants), description=setting.description,
                judge=size.judge, seeds=setting.seeds, hops=1, seed_count=SEEDS,
                seed_sets=size.draws_for(len(topics)), budgets=size.budgets_for(len(place.index)),
            )  # fmt: skip
            subjects = described_subjects(place.index, topics, setting.description)
            where = f"{place.name}/{setting.description}"  # settings with the same judgements share a directory
            try:
                results = bench.run(plan, where, index=place.index, subjects=subjects, title=title)
            except InputError as error:
                run.remarks.append(f"Left out: {title}: {error}")
                continue
            done[setting] = results
            lines = [line for line in results.remarks if line.startswith(("Left out", "Failed", "Forfeited"))]
            run.remarks += [f"{title}: {line}" for line in lines]
        _add_cells(run, place, done)
    if not run.cells:
        raise InputError("nothing-to-do", f"no benchmark crawl could run. {' '.join(run.remarks)}")
    return run


def described_subjects(index: CorpusIndex, topics: Sequence[str], description: str) -> list[HuntSubject]:
    """Return subjects described by words, or by examples only, as the name of a topic would serve as a query."""
    if description == "words":
        return subjects_of(index, topics)
    return [replace(subject, words="") for subject in subjects_of(index, topics, examples=EXAMPLES)]


def _add_cells(run: BenchmarkRun, place: AvailableCorpus, done: Mapping[BenchmarkSetting, ExperimentResults]) -> None:
    labels = {text: label(text) for text in run.entrants}
    for setting, results in done.items():
        for budget in results.experiment.budgets:
            crawls = CrawlComparison.of(labels, [results], [budget], [SHARE, *COLUMNS, CPU])
            topics = [f"{place.name}: {topic}" for topic in crawls.topics]
            run.cells[BenchmarkCell(place.name, setting, budget)] = replace(crawls, topics=topics)
    if done:
        steps = _steps(run.size.budgets_for(len(place.index))[-1])
        rest = {text: name for text, name in labels.items() if text != ORACLE}
        crawls = CrawlComparison.pooled(
            [CrawlComparison.of(rest, [results], steps, [SHARE]) for results in done.values()]
        )
        run.figures.append(
            crawls.figure(
                f"benchmark-figure-{place.name}", f"Share on {place.name}", "share", SHARE,
                note="Share of the look-ahead oracle's result, in trials where that is above 0.",
            )
        )  # fmt: skip


def _steps(budget: int) -> list[int]:
    return sorted({max(1, round(budget * (step / POINTS) ** 2)) for step in range(1, POINTS + 1)} | {min(10, budget)})


@dataclass(frozen=True)
class CellComparison:
    """A cell with the results of scent and of its best rival, picked with hindsight."""

    cell: BenchmarkCell
    scent: Interval
    best: str
    rival: Interval
    ahead: PairedDifference
    topics: int
    greedy: TableCell  # scent's share of the greedy oracle's score
    ruling: Ruling  # ruling on the claim that the rival is not better


def compare_cells(run: BenchmarkRun) -> list[CellComparison]:
    """Return the comparisons of all cells that have a rival, with p corrected for their number."""
    known = {cell: one for cell, crawls in run.cells.items() if (one := _compare_cell(cell, crawls)) is not None}
    ahead = corrected({cell: one.ahead for cell, one in known.items()})
    return [replace(one, ahead=ahead[cell]) for cell, one in known.items()]


def _compare_cell(cell: BenchmarkCell, crawls: CrawlComparison) -> CellComparison | None:
    shares = {text: of[:, -1] for text, of in crawls.values[SHARE].items() if np.isfinite(of).any()}
    rivals = [text for text in shares if is_rival(text)]
    if not rivals or SCENT not in shares:
        return None
    best = max(rivals, key=lambda text: crawls.mean(text, SHARE))
    return CellComparison(
        cell, crawls.interval(SCENT, SHARE), best, crawls.interval(best, SHARE),
        paired(shares[SCENT], shares[best], groups=crawls.topics), crawls.count, mean(crawls, SCENT, GREEDY),
        crawls.compared(best, SCENT, SHARE, "not better", f"share on {cell}"),
    )  # fmt: skip


def table_cells(known: Sequence[CellComparison]) -> ReportTable:
    return ReportTable.of(
        "benchmark-cells", "Scent and the best of its rivals, cell by cell",
        {
            "corpus": lambda one: one.cell.corpus,
            "description, seeds": lambda one: one.cell.setting.title,
            "pages": lambda one: one.cell.budget,
            "scent": lambda one: str(one.scent),
            "best rival": lambda one: label(one.best),
            "its share": lambda one: str(one.rival),
            "difference": lambda one: str(one.ahead),
            "scent of the greedy oracle's": lambda one: one.greedy,
            "topics": lambda one: one.topics,
        },
        [(one,) for one in known],
        note=f"{NOTE} The best rival is picked with hindsight in each row, in the rival's favour. p: sign flips of "
        "topics, two-sided, corrected for the number of rows (Holm); fewer than six topics can't give p below .05.",
    )  # fmt: skip


def table_all(run: BenchmarkRun, budget: int) -> ReportTable:
    crawls = run.pooled(budget)
    shares = {text: of[:, -1] for text, of in crawls.values[SHARE].items() if np.isfinite(of).any()}
    tested = [text for text in shares if kind(text) != "oracle" and SCENT in shares and text != SCENT]
    differences = corrected({text: paired(shares[text], shares[SCENT], groups=crawls.topics) for text in tested})
    rows: list[list[TableCell]] = [
        [
            label(text), kind(text), str(crawls.interval(text, SHARE)),
            *(mean(crawls, text, measure) for measure in COLUMNS), str(differences.get(text, "")),
            int(np.isfinite(shares[text]).sum()),
        ]
        for text in sorted(shares, key=lambda text: -crawls.mean(text, SHARE))
    ]  # fmt: skip
    return ReportTable(
        f"benchmark-{budget}", f"All entrants after {budget:,} pages",
        ["entrant", "kind", "share", *(measure.name for measure in COLUMNS), f"less {SCENT}", "trials"], rows,
        note=f"{NOTE} p: sign flips of topics, corrected for the number of entrants (Holm). Sites: hosts with a "
        "relevant page, where a corpus has several. Polite: seconds if each host is asked once a second, in the order "
        "of the crawl.",
    )  # fmt: skip


def table_cpu(run: BenchmarkRun) -> ReportTable:
    columns = {name: run.pooled(budget, name) for name, budget in run.corpora.items()}
    return ReportTable(
        "benchmark-cpu", "Milliseconds of CPU a step", ["entrant", *columns],
        [[label(text), *(mean(crawls, text, CPU) for crawls in columns.values())] for text in run.entrants],
        timed=True,
        note="CPU time to pick and learn a page, without the judge; for programs all of it, including the start. Times "
        "depend on the machine and its load.",
    )  # fmt: skip


def table_corpus(run: BenchmarkRun, corpus: str) -> ReportTable:
    columns = {f"{cell.setting.title}, {cell.budget:,}": of for cell, of in run.cells.items() if cell.corpus == corpus}
    return ReportTable(
        f"benchmark-{corpus}", f"All entrants on {corpus}: share of the optimum, as far as it is known",
        ["entrant", *columns],
        [[label(text), *(mean(crawls, text, SHARE) for crawls in columns.values())] for text in run.entrants],
        note=NOTE,
    )  # fmt: skip


@claim_of(
    "docs/benchmark.md",
    "Scent is ahead of the best of its rivals, picked with hindsight, or level: in no cell is it clearly behind",
)
def nowhere_behind(known: Sequence[CellComparison]) -> Ruling:
    verdict, evidence = combine_rulings(one.ruling for one in known)
    behind, above = sum(one.ahead.high < 0 for one in known), sum(one.ahead.low > 0 for one in known)
    return Ruling(
        verdict,
        f"Of {many(len(known), 'cell')}: ahead in the mean in {sum(one.ahead.mean >= 0 for one in known)}, with the "
        f"whole interval above 0 in {above}, with the whole interval below 0 in {behind}.\n{evidence}",
    )


def findings(
    bench: Bench, available: Sequence[AvailableCorpus], size: BenchmarkSize, entrants: Sequence[str], half: str
) -> Findings:
    """Run the benchmark and return its tables, figures, claim and the facts needed to repeat it."""
    run = benchmark(bench, available, size, entrants)
    known = compare_cells(run)
    parts: list[ReportTable | ReportFigure] = [table_cells(known)] if known else []
    parts += [table_all(run, budget) for budget in sorted({cell.budget for cell in run.cells})]
    parts += [*(table_corpus(run, name) for name in run.corpora), *run.figures, table_cpu(run)]
    last = (run.pooled(budget, name) for name, budget in run.corpora.items())
    crawls = sum(int(np.isfinite(of).sum()) for every in last for of in every.values[CPU].values())
    claims = [nowhere_behind(known)] if known else []
    topics = sum(map(len, run.topics_used.values()))
    return Findings(
        "benchmark", "Benchmark of focused crawlers", parts, claims,
        f"{many(len(run.entrants) - 1, 'entrant')} beside the oracle, {many(topics, 'topic')} of the {half} half "
        f"of {', '.join(run.corpora)}, {many(len(run.size.settings), 'setting')}: {crawls:,} crawls. "
        f"All are guided by the judge {run.size.judge}; labels that no entrant sees say what was found.",
        {"version": __version__, "half": half, "size": asdict(run.size), "entrants": list(run.entrants)},
        {place.name: place.facts(run.topics_used[place.name]) for place in run.available},
        list(dict.fromkeys(run.remarks)),
    )  # fmt: skip
