"""Batsakis 2007: breadth-first and best-first, crawlers that know WordNet, crawlers that learn from browsing.

Figures 12 and 13 compare the classic crawlers, 14 and 15 the semantic ones with best-first, 16 and 17 those that learn:
each by the number of relevant pages and by average similarity. A page is relevant to the thesis if its cosine with one
of up to fifty relevant pages is above .75. That is not the guide, but it is of the guide's kind, and it is no label;
so figures by it are marked as published, and beside each stands one by labels, which decide about claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lycosa.core.errors import InputError
from lycosa.lab.evaluator import THRESHOLD
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, Cell, Figure, Findings, Table
from lycosa.lab.papers import Bench
from lycosa.lab.papers.batsakis.claims import CLASSIC, CRAWLERS, LEARNING, SEMANTIC, Judgements, claims_of
from lycosa.lab.papers.batsakis.judging import Evaluator
from lycosa.lab.papers.weighing import Measured, corpus_of, grid, how_weighed, summary_table
from lycosa.lab.running import Results, run
from lycosa.text.wordnet import find_wordnet

WORDNET = ("ehrig", "ssrm,idf=background", "synset-expansion,idf=background")

GROUPS: Sequence[tuple[int, str, Mapping[str, str]]] = (
    (12, "classic crawlers", CLASSIC),
    (14, "semantic crawlers", SEMANTIC),
    (16, "HMM and hybrid crawlers", LEARNING),
)
"""The first of the two figures of each group, what it shows, and the curves in it."""

PICTURE = "The thesis gives this figure as a picture only, its text has no numbers to hold ours against."


def findings(bench: Bench) -> Findings:
    """Figures 12 to 17, a table of their ends, how good the evaluator is, and what is to be said of the thesis."""
    if not bench.index.has_text:
        raise InputError("the thesis compares crawlers that read pages: this corpus is a graph without text")
    words, browsing = _experiments(bench)
    remarks = []
    if not _has_wordnet():
        words.strategies = [name for name in words.strategies if name not in WORDNET]
        remarks.append(
            "Left out: Ehrig, SSRM and synset expansion, for want of WordNet ('lycosa wordnet --fetch' gets it)."
        )
    evaluator = Evaluator(bench.index, bench.random_seed)
    parts: list[Table | Figure] = []
    judged: dict[str, Judgements] = {}
    for plan, groups in ((words, GROUPS[:2]), (browsing, GROUPS[2:])):
        results = run(plan, bench.out / plan.name, index=bench.index, workers=bench.workers, tell=bench.tell)
        remarks += [f"{plan.name}: {remark}" for remark in results.remarks]
        for number, title, labels in groups:
            made = _judgements(results, list(labels), grid(plan.budget), evaluator)
            judged[title] = made
            parts += _figures(number, title, labels, made)
    parts.append(_ends(judged, CRAWLERS))
    parts.append(evaluator.table())
    topics = len(set(judged["classic crawlers"].labels.groups))
    decided = claims_of(judged["classic crawlers"], judged["semantic crawlers"], judged["HMM and hybrid crawlers"])
    return Findings(
        "batsakis",
        "Batsakis 2007: classic, semantic and learning crawlers",
        parts,
        decided,
        f"Crawls of {words.budget:,} pages each from one page that is two links or more from every relevant one, for "
        f"{topics} topics of the corpus (the thesis: 1,000 pages, six topics, four for learning). Labels "
        "decide about claims.",
        {"words": words.as_dict(), "browsing": browsing.as_dict(), "threshold": THRESHOLD, "quick": bench.quick},
        corpus_of(bench.index),
        how_weighed(topics) + remarks,
    )


def _experiments(bench: Bench) -> tuple[Experiment, Experiment]:
    """What is told in words, and what learns from browsing: two experiments, since the thesis compares neither with the
    other, and pages that were browsed count for no one.
    """
    size = (
        {"subject_count": 3, "seed_sets": 1, "budgets": [150], "least": 30}
        if bench.quick
        else {"subject_count": 10, "seed_sets": 3, "budgets": [1000], "least": 40}
    )
    common = {
        "corpus": str(bench.index.path or ""),
        "told": "words",
        "judge": "vector,idf=background",
        "seeds": "off-topic",
        "hops": 2,
        "seed_count": 1,
        "random_seed": bench.random_seed,
        **size,
    }
    words = Experiment(name="batsakis-words", strategies=list(dict.fromkeys([*CLASSIC, *SEMANTIC])), **common)  # type: ignore[arg-type]
    return words, Experiment(name="batsakis-browsing", strategies=list(LEARNING), **common)  # type: ignore[arg-type]


def _has_wordnet() -> bool:
    try:
        find_wordnet()
    except InputError:
        return False
    return True


def _judgements(results: Results, names: Sequence[str], budgets: Sequence[int], evaluator: Evaluator) -> Judgements:
    return Judgements(
        Measured.of(results, names, budgets, evaluator.counts(budgets)),
        Measured.of(results, names, budgets, evaluator.averages(budgets)),
        Measured.of(results, names, budgets, evaluator.labels(budgets)),
    )


def _figures(number: int, title: str, labels: Mapping[str, str], made: Judgements) -> list[Figure]:
    kept = {name: label for name, label in labels.items() if name in made.labels}
    return [
        made.counts.figure(
            f"batsakis-figure-{number}", f"Figure {number}: harvest ratio, {title}",
            f"pages with a similarity above {THRESHOLD}", kept, AS_PUBLISHED, PICTURE,
        ),
        made.labels.figure(
            f"batsakis-figure-{number}-labels", f"Figure {number} by labels: {title}", "relevant pages", kept,
        ),
        made.similar.figure(
            f"batsakis-figure-{number + 1}", f"Figure {number + 1}: average similarity, {title}", "average similarity",
            kept, AS_PUBLISHED, f"{PICTURE} By labels the mean of a page is its harvest: figure {number} by labels.",
        ),
    ]  # fmt: skip


def _ends(judged: Mapping[str, Judgements], labels: Mapping[str, str]) -> Table:
    """All crawlers at the end of their crawls."""
    titles = [f"similarity above {THRESHOLD}", "average similarity", "relevant by labels"]
    rows: list[list[Cell]] = []
    for group, made in judged.items():
        measured = dict(zip(titles, (made.counts, made.similar, made.labels), strict=True))
        rows += [[group, *row] for row in summary_table("", "", measured, labels, counts=(titles[0], titles[2])).rows]
    return Table(
        "batsakis-ends", "All crawlers at the end", ["figure of", "crawler", *titles], rows, AS_PUBLISHED,
        note="Pages and their mean, with 95 % intervals (bootstrap over topics and seed sets). The first two numbers "
        "are the thesis's evaluator's, the last is independent. Classic and semantic crawlers are told words, HMM and "
        "hybrids were trained on browsing: the thesis compares these groups not, and neither does this table.",
    )  # fmt: skip
