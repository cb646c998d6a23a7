"""Subjects of simulated crawls: a topic's ground truth, and its descriptions for judges and strategies."""

from __future__ import annotations

import difflib
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.judges.taxonomy import DEFAULT_TARGETS
from lycosa.text.keywords import keywords
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.record import NEGATIVE_LABELS
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import AS_PUBLISHED, EXAMPLES

if TYPE_CHECKING:
    from lycosa_lab.judgements import Judgements

MAX_DISTINCTIVE_WORDS = 4  # words of example pages added to a class name to form a query
MAX_LISTED = 12  # maximum number of classes listed in a message
SCORE = "score"


@dataclass
class HuntSubject:
    """A topic with its ground truth, which only the oracle may read.

    All training data of judges and strategies (examples, model, browsing, rules) comes from pages marked as `seen`:
    these use no budget and never count, for any strategy.
    """

    name: str
    truth: NDArray[np.float32]  # relevance of each node; for classes 1 or 0
    words: str = ""  # query
    examples: tuple[int, ...] = ()  # nodes of example pages
    seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))  # used for training
    truth_by: str = "labels"  # source of the truth: labels, scores of the graph, or an independent model
    model: Path | None = None  # classifier of all classes (`lycosa train`), trained on seen pages only
    targets: tuple[str, ...] = ()  # relevant classes of the model
    browsing: Path | None = None  # simulated browsing that ends at relevant pages, as from `lycosa train browse`
    rules: Path | None = None  # rules between classes (`lycosa train rules`), learned from seen pages
    notes: list[str] = field(default_factory=list)  # remarks shown with the results
    lacking: dict[str, str] = field(default_factory=dict)  # reason by name of training data that could not be prepared

    @property
    def unseen(self) -> NDArray[np.bool_]:
        return ~self.seen if len(self.seen) else np.ones(len(self.truth), np.bool_)

    def counted(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        return nodes[~self.seen[nodes]] if len(self.seen) else nodes

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def subjects_of(
    index: CorpusIndex,
    names: Sequence[str] = (),
    *,
    count: int = 0,
    least: int = 20,
    max_pages: int = 0,
    random_seed: int = 0,
    examples: int = EXAMPLES,
    progress: ProgressCallback = no_progress,
) -> list[HuntSubject]:
    """Return the named classes and branches of a corpus as subjects, or `count` random ones (0: all).

    Random ones have `least` to `max_pages` pages (0: a fifth of the corpus). Labels decide on relevance; unlabelled
    pages are irrelevant. A graph with scores and no classes has one subject, its scores. Each class has up to
    `examples` example pages, at most a quarter of it.
    """
    if not index.classes:
        return [_of_scores(index, names)]
    chosen = [_spelt_class(index, name) for name in names] or _random_classes(
        index, count, least, max_pages, random_seed
    )
    subjects = []
    missing = len(index) - int(np.count_nonzero(labelled(index)))
    for number, name in enumerate(chosen, 1):
        progress("choosing topics", number, len(chosen))
        subject = HuntSubject(name, index.of_class(name).astype(np.float32))
        if missing > len(index) // 2:
            subject.note(f"{missing:,} of {len(index):,} pages have no class, and count as irrelevant: label more")
        subjects.append(_with_examples(index, subject, random_seed, examples))
    return subjects


def as_published(subject: HuntSubject, guide: Judgements) -> HuntSubject:
    """Return the subject with the guide's judgements as its truth, as in some of the papers."""
    return replace(subject, truth=np.asarray(guide.relevance, np.float32), truth_by=AS_PUBLISHED)


def labelled(index: CorpusIndex) -> NDArray[np.bool_]:
    if not len(index.class_start):
        return np.zeros(len(index), np.bool_)
    has_class: NDArray[np.bool_] = np.diff(index.class_start) > 0
    return has_class


def seeded_random(random_seed: int, *names: object) -> np.random.Generator:
    """Return a random generator seeded by a number and names, the same in every process."""
    return np.random.default_rng([random_seed, *(zlib.crc32(str(name).encode()) for name in names)])


def _of_scores(index: CorpusIndex, names: Sequence[str]) -> HuntSubject:
    if not len(index.score):
        raise InputError("no-labels", "the corpus has no labels: add a table with --labels, or use 'lycosa label'")
    wrong = [name for name in names if name != SCORE]
    if wrong:
        raise InputError("unknown-name", f"unknown subject {wrong[0]!r}: the only subject of a graph is {SCORE!r}")
    truth = np.asarray(index.score, np.float32)
    if not (truth > 0).any():
        raise InputError("nothing-to-do", "no node of the graph has a score above 0")
    seen = np.zeros(len(index), np.bool_)
    return HuntSubject(SCORE, truth, seen=seen, truth_by="scores of the graph")


def _spelt_class(index: CorpusIndex, name: str) -> str:
    branches = index.branches()
    spelt = {branch.casefold(): branch for branch in branches}
    known = spelt.get(name.strip("/ ").casefold())
    if known is None:
        near = difflib.get_close_matches(name.casefold(), spelt, 4, 0.5)
        near += [folded for folded in spelt if folded.rpartition("/")[2] == name.casefold() and folded not in near]
        hint = " or ".join(spelt[each] for each in near) if near else ""
        raise InputError(
            "unknown-name",
            f"the corpus has no class {name!r}: {f'did you mean {hint}?' if hint else f'it has {_listed(branches)}'}",
        )
    if not index.of_class(known).any():
        raise InputError("nothing-to-do", f"class {known} has no pages: choose another of {_listed(branches)}")
    return known


def _random_classes(index: CorpusIndex, count: int, least: int, max_pages: int, random_seed: int) -> list[str]:
    sizes = index.sizes()
    wanted = {name: size for name, size in sizes.items() if name.casefold() not in NEGATIVE_LABELS}
    highest = max_pages or max(len(index) // 5, 1)
    fitting = [name for name, size in wanted.items() if least <= size <= highest]
    if not fitting and not max_pages and wanted:  # the corpus has a single topic, or yes/no labels
        fitting = [name for name, size in wanted.items() if least <= size < len(index)]
    if not fitting:
        largest = ", ".join(f"{name} ({size:,})" for name, size in Counter(sizes).most_common(MAX_LISTED))
        raise InputError("too-few-pages", f"no class has {least:,} to {highest:,} pages: choose one of {largest}")
    if count and count < len(fitting):
        order = seeded_random(random_seed, "subjects").permutation(len(fitting))[:count]
        fitting = [fitting[place] for place in order.tolist()]
    return sorted(fitting)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def _with_examples(index: CorpusIndex, subject: HuntSubject, random_seed: int, examples: int = EXAMPLES) -> HuntSubject:
    """Choose examples, mark them as seen, and build a query from the name and their distinctive words."""
    member = index.of_class(subject.name)
    worded = np.diff(index.term_start) > 0 if len(index.term_start) else np.ones(len(index), np.bool_)
    nodes = np.flatnonzero(member & worded)
    number = min(examples, max(1, int(member.sum()) // 4), len(nodes))
    chosen = np.sort(seeded_random(random_seed, "examples", subject.name).permutation(nodes)[:number])
    subject.examples = tuple(chosen.tolist())
    subject.seen = np.zeros(len(index), np.bool_)
    subject.seen[chosen] = True
    subject.words = _embedded_query(index, subject.name) or " ".join(
        dict.fromkeys([*_name_words(subject.name), *distinctive_words(index, subject.examples, subject.name)])
    )
    return subject


def _embedded_query(index: CorpusIndex, name: str) -> str:
    if not str(index.facts.get("source", "")).startswith("embedded"):
        return ""
    from lycosa.testweb.prose import TOPICS, query

    return query(TOPICS.index(name)) if name in TOPICS else ""


def _name_words(name: str) -> list[str]:
    last = name.rpartition("/")[2]
    if last.casefold() in DEFAULT_TARGETS:  # a yes/no label does not describe a topic
        return []
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", last)
    return [word.lower() for word in re.findall(r"[^\W_]+", apart)]


def distinctive_words(index: CorpusIndex, nodes: Sequence[int], name: str = "") -> list[str]:
    """Return distinctive words of some pages in their most frequent spelling, without those of the name.

    Words are ranked by the mean of the pages' unit vectors (1 + log tf) times log((N + 1) / (N_j + .5)) + 1.
    """
    if not index.has_text or not nodes:
        return []
    frequency = np.bincount(index.term, minlength=len(index.stems))
    idf = np.log((len(index) + 1) / (frequency + 0.5)) + 1.0
    weight = np.zeros(len(index.stems))
    written: dict[str, Counter[str]] = {}
    reader = Vocabulary()
    for node in nodes:
        terms = index.terms(node)
        vector = 1.0 + np.log(terms.counts)
        weight[terms.ids] += vector / (np.sqrt(vector @ vector) or 1.0)
        page = index.page(node)
        language = reader.read(page).language
        for word in keywords(f"{page.title} {page.text}", language):
            for stem in stems(word, language)[:1]:
                written.setdefault(stem, Counter())[word] += 1
    named = set(stems(" ".join(_name_words(name))))
    words: list[str] = []
    for term in np.argsort(-weight * idf, kind="stable").tolist():
        stem = index.stems[term]
        if len(words) == MAX_DISTINCTIVE_WORDS or not weight[term]:
            break
        if stem in written and stem not in named:
            words.append(min(written[stem].items(), key=lambda pair: (-pair[1], pair[0]))[0])
    return words
