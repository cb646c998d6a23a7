"""Labelled pages as bags of words: the training data of classifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.types import Page, Terms, Visit
from lycosa.judges.taxonomy import common_spellings
from lycosa.text.bags import Bags
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS, distance
from lycosa.text.vocabulary import Vocabulary

MAX_TERMS = 50_000  # maximum number of terms of a model; the most frequent ones are kept
MIN_PAGES_PER_TERM = 2  # minimum number of pages that a term occurs on
_BLOCKS = NEAR_DUPLICATE_BITS + 1


@dataclass(slots=True)
class TrainingPage:
    label: str
    name: str  # URL or file
    terms: Terms
    simhash: int


@dataclass
class Account:
    """Counts of dropped pages by reason, and notes for the user."""

    left_out: Counter[str] = field(default_factory=Counter, kw_only=True)
    notes: list[str] = field(default_factory=list, kw_only=True)

    def why(self) -> str:
        """Return the main reasons for dropped pages and the first note; empty if nothing was dropped."""
        left = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.most_common(3))
        return f"{left}; {self.notes[0]}" if left and self.notes else left

    def in_brackets(self) -> str:
        return f" ({self.why()})" if self.why() else ""


@dataclass
class Corpus(Account):
    """Labelled pages, and counts of dropped ones.

    >>> corpus = Corpus()
    >>> corpus.add("Sea", "a.txt", Page("ok", marked="coral coral reef")), corpus.add("Sea", "b.txt", Page("ok"))
    (True, False)
    >>> corpus.left_out
    Counter({'pages without text': 1})
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    pages: list[TrainingPage] = field(default_factory=list)

    def add(self, label: str, name: str, page: Page) -> bool:
        """Add a page; return false if it has no words."""
        reading = self.vocabulary.read(page)
        return self._keep(TrainingPage(label, name, reading.terms, reading.simhash))

    def add_visit(self, label: str, visit: Visit, stems: Sequence[str]) -> bool:
        """Add a page from a crawl log, given by term ids into `stems`."""
        words = self.vocabulary
        numbers = []
        for stem in (stems[number] for number in visit.terms.ids.tolist()):
            if stem not in words.id_of:
                words.id_of[stem] = len(words.terms)
                words.terms.append(stem)
            numbers.append(words.id_of[stem])
        ids = np.array(numbers, np.uint32)
        order = np.argsort(ids)
        terms = Terms(ids[order], visit.terms.counts.astype(np.uint16)[order])
        return self._keep(TrainingPage(label, visit.node, terms, visit.simhash))

    def _keep(self, page: TrainingPage) -> bool:
        page.terms.new = []
        if not len(page.terms.ids):
            self.left_out["pages without text"] += 1
            return False
        self.pages.append(page)
        return True

    def spell(self) -> None:
        counts = Counter(page.label for page in self.pages)
        best = common_spellings(counts)
        changed = sorted(path for path in counts if best[path] != path)
        if changed:
            more = f", and {len(changed) - 1} more paths are unified in spelling" if changed[1:] else ""
            self.notes.append(f"{changed[0]} is treated as {best[changed[0]]}{more}")
        for page in self.pages:
            page.label = best[page.label]

    def terms_of(self, rows: NDArray[np.intp]) -> list[int]:
        """Return the most frequent terms of some pages, as sorted ids of the vocabulary."""
        frequency = np.zeros(len(self.vocabulary.terms), np.intp)
        for row in rows.tolist():
            frequency[self.pages[row].terms.ids] += 1
        common = np.flatnonzero(frequency >= MIN_PAGES_PER_TERM)
        if not len(common):  # a few pages that share no word
            common = np.flatnonzero(frequency)
        most = common[np.argsort(-frequency[common], kind="stable")][:MAX_TERMS]
        terms: list[int] = np.sort(most).tolist()
        return terms

    def bags(self, rows: NDArray[np.intp], terms: Sequence[int]) -> Bags:
        column = np.full(len(self.vocabulary.terms), -1, np.intp)
        column[list(terms)] = np.arange(len(terms))
        pairs = []
        for row in rows.tolist():
            bag = self.pages[row].terms
            columns = column[bag.ids]
            pairs.append((columns[columns >= 0], bag.counts[columns >= 0].astype(np.float64)))
        return Bags.of(pairs)

    def groups(self) -> NDArray[np.intp]:
        """Return a group number for each page, shared with its exact and near copies (transitively)."""
        leader = list(range(len(self.pages)))

        def find(row: int) -> int:
            while leader[row] != row:
                leader[row] = leader[leader[row]]
                row = leader[row]
            return row

        exact: dict[int, int] = {}
        blocks: dict[tuple[int, int], list[int]] = {}
        for row, page in enumerate(self.pages):
            same = xxhash.xxh3_64_intdigest(page.terms.ids.tobytes() + page.terms.counts.tobytes())
            first = exact.setdefault(same, row)
            leader[row] = find(first)
            # with fewer distinct words, only exact copies count
            if first != row or len(page.terms.ids) < 30:
                continue
            # fingerprints that differ in 4 bits agree in one of five blocks
            for block in range(_BLOCKS):
                bits = 64 // _BLOCKS + 1
                others = blocks.setdefault((block, page.simhash >> block * bits & (1 << bits) - 1), [])
                for other in others:
                    if distance(page.simhash, self.pages[other].simhash) <= NEAR_DUPLICATE_BITS:
                        leader[find(row)] = find(other)
                others.append(row)
        return np.array([find(row) for row in range(len(self.pages))], np.intp)
