"""Do counts of a search string put relevant pages first? All pages, ranked by each of the paper's measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Links
from lycosa.lab.certainty import interval
from lycosa.lab.findings import Cell, Claim, Table
from lycosa.lab.index import Index
from lycosa.lab.papers.weighing import Comparison, Measure, Measured
from lycosa.lab.subjects import Subject, chance
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics.query import Query
from lycosa.topics.weighted_content import WeightedContent
from lycosa.topics.word_frequency import WordFrequency

CHANCE = "by chance"
BEST = 10


def search_string(subject: Subject) -> str:
    """One string that a user would search for: the first word of the query that is not in the name of the class.

    Pages may carry the names of their classes (Wikipedia for Schools prints them on every article), and to look for
    these would be to look at the label. Where the query has no other word, it is the name.

    >>> search_string(Subject("Sea/Coral_reefs", np.zeros(1, np.float32), "coral reefs polyp bleaching"))
    'polyp'
    """
    name = subject.name.rpartition("/")[2].replace("_", " ").lower()
    others = [word for word in subject.words.split() if word.lower().rstrip("s") not in name]
    return others[0] if others else name


def measures_of(subject: Subject) -> dict[str, Any]:
    """The paper's measures of relevance, and the vector space of the other papers beside them."""
    string = search_string(subject)
    return {
        "word frequency": WordFrequency(string),
        "lines with the string": WordFrequency(string, count="lines", match="anywhere"),
        "weighted content, title 2": WeightedContent(subject.words),
        "weighted content, title 1": WeightedContent(subject.words, title=1.0),
        "vector space, tf-idf": Query(subject.words, idf="background"),
    }


AVERAGE = Measure("average precision", lambda *_: np.zeros(0))
"""What pages are ranked by has no crawl to be read off."""


@dataclass
class Ranked:
    """Average precision, and the precision of the first ten, of each measure on each subject."""

    average: dict[str, list[float]]
    first: dict[str, list[float]]


def average_precision(scores: NDArray[np.float64], true: NDArray[np.bool_], order: NDArray[np.intp]) -> float:
    """The mean, over relevant pages, of the precision down to each; equal scores stand in the given order.

    >>> average_precision(np.array([3., 2, 1]), np.array([True, False, True]), np.arange(3))    # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    hits = true[order][np.argsort(-scores[order], kind="stable")]
    places = np.flatnonzero(hits) + 1
    return float(np.mean(np.arange(1, 1 + len(places)) / places)) if len(places) else 0.0


def ranked(index: Index, subjects: Sequence[Subject], others: int, random_seed: int) -> Ranked:
    """Rank the relevant pages of each subject among up to `others` pages that are not (0: all); seen ones left out."""
    judges = {subject.name: measures_of(subject) for subject in subjects}
    chosen = {subject.name: _pages(subject, others, random_seed) for subject in subjects}
    said: dict[str, dict[str, dict[int, float]]] = {
        name: {measure: {} for measure in known} for name, known in judges.items()
    }
    reader = Vocabulary()
    for node in sorted(set().union(*(nodes.tolist() for nodes in chosen.values()))):
        page = index.page(node)
        page.links = Links()  # only the page is judged
        reading = reader.read(page)
        for name, nodes in chosen.items():
            place = np.searchsorted(nodes, node)
            if place < len(nodes) and nodes[place] == node:
                for measure, judge in judges[name].items():
                    said[name][measure][node] = judge.judge(page, reading).beta
    found = Ranked({}, {})
    for subject in subjects:
        nodes = chosen[subject.name]
        true = subject.truth[nodes] > 0
        order = chance(random_seed, "ties", subject.name).permutation(len(nodes))
        for measure, values in said[subject.name].items():
            scores = np.array([values[node] for node in nodes.tolist()], np.float64)
            first = true[order][np.argsort(-scores[order], kind="stable")][:BEST]
            found.average.setdefault(measure, []).append(average_precision(scores, true, order))
            found.first.setdefault(measure, []).append(float(first.mean()))
        found.average.setdefault(CHANCE, []).append(average_precision(np.zeros(len(nodes)), true, order))
        found.first.setdefault(CHANCE, []).append(float(true.mean()))
    return found


def _pages(subject: Subject, others: int, random_seed: int) -> NDArray[np.int64]:
    free = ~subject.seen if len(subject.seen) else np.ones(len(subject.truth), np.bool_)
    relevant, rest = np.flatnonzero(free & (subject.truth > 0)), np.flatnonzero(free & ~(subject.truth > 0))
    if others:
        rest = chance(random_seed, "others", subject.name).permutation(rest)[:others]
    return np.sort(np.concatenate([relevant, rest]))


def table_of(found: Ranked, strings: Sequence[str]) -> Table:
    """All measures, the best first."""
    rows: list[list[Cell]] = []
    for measure in sorted(found.average, key=lambda name: -float(np.mean(found.average[name]))):
        mean, low, high, _ = interval(found.average[measure])
        sure = f" ({low:.3f} to {high:.3f})" if np.isfinite(low) else ""
        rows.append([measure, f"{mean:.3f}{sure}", float(np.mean(found.first[measure]))])
    return Table(
        "personalized-ranking", "Ranking by the paper's measures of relevance",
        ["measure", "average precision", f"of the first {BEST} relevant"], rows,
        note=f"By labels, over {len(strings)} topics (95 % interval over topics), pages that words were taken from "
        f"left out, equal scores in random order. The paper has no numbers. Search strings: {', '.join(strings)}.",
    )  # fmt: skip


def claims_of(found: Ranked) -> list[Claim]:
    """What the paper says of relevance."""
    values = {measure: np.array(numbers)[:, None] for measure, numbers in found.average.items()}
    topics = [str(number) for number in range(len(found.average[CHANCE]))]
    ranks = Comparison("Trivedi et al. 2014", {CHANCE: "a random order"}, {AVERAGE: Measured([0], topics, values)})
    return [
        ranks.claim(
            "The number of times a search string is on a page says how relevant the page is.",
            "III, Relevance Calculation", [("word frequency", CHANCE)], [AVERAGE],
            more=[ranks.difference((TITLES[0], "word frequency"), [AVERAGE])],
        ),
        ranks.claim(
            "Words of the title should weigh more than those of the text.", "II, Relevance Calculation, 1)",
            [TITLES], [AVERAGE],
        ),
    ]  # fmt: skip


TITLES = ("weighted content, title 2", "weighted content, title 1")
