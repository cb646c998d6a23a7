"""Table 1: the graphs. Keywords on the corpus, as the paper's on Wikipedia; and graphs made up like its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lycosa.core.errors import InputError
from lycosa.lab.corpora.generated import generate
from lycosa.lab.findings import AS_PUBLISHED, Cell, Table
from lycosa.lab.guides import Guide
from lycosa.lab.guiding import guide_for
from lycosa.lab.index import Index
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.published import SIZES, STEPS
from lycosa.lab.subjects import Subject, subjects_of

CORPUS, GENERATED = "corpus", "generated"

QUICK_STEPS = (30, 100, 300)
QUICK_NODES, NODES = 20_000, 200_000
"""Of graphs made up: where it has to be quick, and else. The paper's have 2.2 million."""
SEEDS = 50
EMPTY = {"and", "the", "for", "from", "with", "general", "other", "others", "misc"}
"""Words of a class's name that say nothing."""


@dataclass
class Dataset:
    """A graph with scores of nodes and links, and what a crawl of it is hunting: the scores themselves."""

    name: str
    group: str
    index: Index
    guide: Guide
    subject: Subject
    """Its truth is beta of the guide."""
    labels: Subject | None = None
    """The same with the labels of the corpus as truth, where it has them."""
    told: str = "score"
    judge: str = ""
    steps: tuple[int, ...] = field(default=())

    @property
    def seeds(self) -> int:
        """Seeds of a crawl that hunts the scores."""
        return seeds_for(self.subject)


def all_datasets(bench: Bench, remarks: list[str]) -> list[Dataset]:
    """All graphs of an experiment: those of the corpus first."""
    found = list(_of_corpus(bench, remarks))
    found += _generated(bench)
    return found


def seeds_for(subject: Subject) -> int:
    """The paper's fifty; fewer where that would be more than a tenth of all that is worth something.

    >>> seeds_for(Subject("few", np.ones(80, np.float32))), seeds_for(Subject("many", np.ones(900, np.float32)))
    (8, 50)
    """
    return max(1, min(SEEDS, int(np.count_nonzero(subject.truth)) // 10))


def steps_for(index: Index, quick: bool) -> tuple[int, ...]:
    """The paper's steps, as far as a third of the nodes; beyond it any crawl comes to have them all."""
    fitting = [step for step in (QUICK_STEPS if quick else STEPS) if step <= len(index) // 3]
    return tuple(fitting) or (max(1, len(index) // 3),)


def keyword(name: str) -> str:
    """What someone would look for who wants a class: the words of its name.

    >>> keyword("Science/Physics/General_Physics"), keyword("medieval history/guilds and trade")
    ('physics', 'guilds trade')
    """
    for part in reversed(name.split("/")):
        words = re.findall(r"[^\W\d_]{3,}", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", part))
        if told := " ".join(word for word in map(str.lower, words) if word not in EMPTY):
            return told
    return name


def _of_corpus(bench: Bench, remarks: list[str]) -> Iterable[Dataset]:
    index = bench.index
    steps = steps_for(index, bench.quick)
    if not index.has_text:
        subject = subjects_of(index)[0]
        yield Dataset("CORPUS", CORPUS, index, Guide.given(index), subject, steps=steps)
        return
    wanted = 2 if bench.quick else 5
    made: list[str] = []
    for hunted in subjects_of(index, count=4 * wanted, least=20, most=0, random_seed=bench.random_seed):
        if len(made) == wanted:
            break
        words = keyword(hunted.name)
        if words in made:
            continue
        labels = Subject(words, hunted.truth, words, truth_by=hunted.truth_by)  # nothing was learned from any page
        place = bench.out / "graphs" / "".join(letter if letter.isalnum() else "-" for letter in words)
        guide = guide_for(index, labels, "words", "keyword", (), place, bench.tell)
        share = float(np.count_nonzero(guide.beta)) / len(index)
        if not max(0.005, 40 / len(index)) <= share <= 0.6:
            remarks.append(f"Left out: the keyword {words!r}, which {100 * share:.1f} % of the pages have.")
            continue
        made.append(words)
        subject = replace(labels, truth=np.asarray(guide.beta, np.float32), truth_by="keyword")
        yield Dataset(words.upper(), CORPUS, index, guide, subject, labels, "words", "keyword", steps)
    if not made:
        raise InputError(
            "no keyword made of the names of classes is on .5 % to 60 % of the pages: the experiments of Gouriten et "
            "al. need classes whose names are words of their pages, or a graph with scores"
        )


def _generated(bench: Bench) -> list[Dataset]:
    found = []
    for like in ("bretagne", "france"):
        nodes = QUICK_NODES if bench.quick else None if bench.large else NODES
        index = _kept(bench.out / f"{like}-{nodes or 'large'}-{bench.random_seed}.index", like, nodes, bench)
        subject = subjects_of(index)[0]
        name = f"like {like.upper()}"
        found.append(
            Dataset(
                name, GENERATED, index, Guide.given(index), replace(subject, name=name),
                steps=steps_for(index, bench.quick),
            )
        )  # fmt: skip
    return found


def _kept(path: Path, like: str, nodes: int | None, bench: Bench) -> Index:
    """A graph that was made before, or made now."""
    if path.exists():
        return Index.open(path)
    return generate(path, like, nodes=nodes, random_seed=bench.random_seed, tell=bench.tell)


def table_1(graphs: list[Dataset]) -> Table:
    """Sizes of what was crawled here, and of what the paper crawled."""
    rows: list[list[Cell]] = []
    for graph in graphs:
        n, e = len(graph.index), len(graph.index.child)
        rows.append(
            [
                graph.name, "here", n, 100 * np.count_nonzero(graph.guide.beta) / n, e,
                100 * np.count_nonzero(graph.guide.alpha) / max(1, e),
            ]
        )  # fmt: skip
    rows += [
        [name, "paper", round(1e6 * nodes), shared, round(1e6 * edges), promising]
        for name, (nodes, shared, edges, promising) in SIZES.items()
    ]
    return Table(
        "gouriten-table-1",
        "Table 1: sizes of the graphs",
        ("graph", "here or paper", "nodes", "non-zero nodes (%)", "edges", "non-zero edges (%)"),
        rows,
        AS_PUBLISHED,
        digits=1,
        note="Graphs in capitals: scores are log(1 + occurrences) of these words, in the page and in 100 characters "
        "around a link. Graphs like the paper's are made up: their sizes and shares are as there, nothing else is.",
    )
