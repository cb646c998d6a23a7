"""The thesis's evaluator: how many of a crawl's pages are like pages that are known to be relevant, and how much.

Paper: Batsakis 2007, section 4.2: "It receives as input the positive pages set (50 relevant pages on every topic in our
experiment) and the 1000 evaluated pages downloaded by the crawler." As written there:

- a page is a vector of stems without stop words, weighed by eq. 1, tf * log(N / N_j), with N and N_j from statistics of
  English (3.2.1; there a search engine's, here those that Lycosa comes with)
- its similarity is the *maximum* of its cosines with the relevant pages, not the mean, and not that with their centroid
- it is relevant if that is *greater* than .75; counted, and as a share of all pages downloaded
- the average similarity is the mean of the maxima over all pages downloaded

All pages of the index of a crawl count, seeds too, as nothing is said of them; a page that is itself among the relevant
ones has similarity 1, one without words 0. N_j of a word that the statistics don't know is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.lab.findings import Curve, Figure, Findings, Table
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, found, harvest
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.web.urls import canonical

THRESHOLD = 0.75


@dataclass
class Evaluation:
    """The similarity of each page, in the order of the crawl."""

    crawl: str
    similarities: Floats
    relevant: int  # relevant pages compared with
    threshold: float = THRESHOLD
    missing: int = 0  # relevant pages that were not crawled

    def checkpoints(self) -> list[int]:
        """Return 100, 200 ... and the last page; farther apart where that would be more than some twenty.

        >>> Evaluation("", np.zeros(250), 1).checkpoints(), Evaluation("", np.zeros(0), 1).checkpoints()
        ([100, 200, 250], [])
        """
        pages = len(self.similarities)
        apart = (size * 10**power for power in count() for size in (100, 200, 500))
        every = next(size for size in apart if pages <= 20 * size)
        return [*range(every, pages, every), pages] if pages else []

    def rows(self) -> list[tuple[int, int, float, float]]:
        """Return pages, relevant ones, their share and the average similarity at each checkpoint."""
        budgets, hits = self.checkpoints(), self.similarities > self.threshold
        columns = found(hits, budgets).astype(int), harvest(hits, budgets), harvest(self.similarities, budgets)
        return list(zip(budgets, *(column.tolist() for column in columns), strict=True))

    def findings(self) -> Findings:
        rows = self.rows()
        pages, relevant, share, average = rows[-1]
        columns = ("pages", "relevant", "fraction", "average similarity")
        x, hits, _, similar = ([float(value) for value in values] for values in zip(*rows, strict=True))
        return Findings(
            "evaluation", f"Evaluation of {self.crawl}",
            [
                Table("evaluation-table", "Harvest ratio and average similarity", columns, rows),
                Figure("evaluation-harvest", "Harvest ratio", "pages", "relevant pages", [Curve(self.crawl, x, hits)]),
                Figure(
                    "evaluation-similarity", "Average similarity", "pages", "average similarity",
                    [Curve(self.crawl, x, similar)],
                ),
            ],
            summary=f"Of {pages:,} pages {relevant:,} ({share:.1%}) are more similar than {self.threshold:g} to one of "
            f"{self.relevant:,} relevant pages; the average similarity is {average:.3f}.",
            configuration={"crawl": self.crawl, "threshold": self.threshold},
            remarks=[f"left out: {self.missing:,} relevant pages that were not crawled"] if self.missing else [],
        )  # fmt: skip


def evaluate(
    crawl: Index,
    relevant: Index | Sequence[str],
    *,
    threshold: float = THRESHOLD,
    background: Background | None = None,
    tell: Tell = silent,
) -> Evaluation:
    """Compare the pages of a crawl with relevant ones: those of another index, or the crawl's own at some addresses."""
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold is {threshold:g}: it is a cosine, from 0 to below 1")
    missing = 0
    some: Index | list[int]
    if isinstance(relevant, Index):
        some = relevant
    else:
        urls = {canonical(url) for url in relevant}
        some = [crawl.number_of[url] for url in urls if url in crawl.number_of]
        missing = len(urls) - len(some)
    if not len(some):
        raise InputError(f"none of the relevant pages was crawled ({missing} addresses): name others")
    similarities = nearest_in(crawl, some, background, tell)
    return Evaluation(str(crawl.facts.get("source", "")), similarities, len(some), threshold, missing)


AT_ONCE = 256  # relevant pages compared with all others at a time


def nearest(pages: Bags, relevant: Bags, idf: NDArray[np.floating], tell: Tell = silent) -> Floats:
    """Return the largest cosine of each page with any of the relevant ones, by tf-idf; 0 for one without common words.

        max over r of  sum_j w_dj w_rj / (|w_d| |w_r|),   w_ij = f_ij / max f_i * idf_j

    max f_i is the same in numerator and denominator, so it is left out.

    >>> pages, relevant = Bags.of([([0, 1], [3, 4]), ([2], [1])]), Bags.of([([0], [1]), ([1], [7])])
    >>> nearest(pages, relevant, np.ones(3)).tolist()       # 3/5 with one, 4/5 with the other
    [0.8, 0.0]
    """
    own, wanted = _unit(pages, idf), _unit(relevant, idf)
    terms = np.unique(relevant.columns)
    place = np.full(1 + max(pages.columns.max(initial=0), relevant.columns.max(initial=0)), -1, np.intp)
    place[terms] = np.arange(len(terms))
    common = place[pages.columns] >= 0  # what no relevant page has says nothing but how long a page is
    starts = np.concatenate([[0], np.cumsum(common)])[pages.starts].astype(np.intp)
    shared = Bags(starts, place[pages.columns[common]], np.ones(int(common.sum())))
    owners, best = relevant.rows(), np.zeros(len(pages))
    for first in range(0, len(relevant), AT_ONCE):
        last = min(first + AT_ONCE, len(relevant))
        here = slice(relevant.starts[first], relevant.starts[last])
        dense = np.zeros((len(terms), last - first), np.float32)
        dense[place[relevant.columns[here]], owners[here] - first] = wanted[here]
        best = np.maximum(best, shared.times(own[common], dense).max(axis=1, initial=0.0))
        tell("comparing pages", last, len(relevant))
    return np.minimum(best.round(7), 1.0)  # single precision: what a page has in common with itself is 1


def nearest_in(
    index: Index,
    relevant: Index | Sequence[int] | NDArray[np.integer],
    background: Background | None = None,
    tell: Tell = silent,
) -> Floats:
    """Return the same for all pages of an index; the relevant ones are another index, or given by their numbers."""
    pages, stems = _bags(index), list(index.stems)
    if isinstance(relevant, Index):
        number = {stem: place for place, stem in enumerate(stems)}
        columns = np.array([number.setdefault(stem, len(number)) for stem in relevant.stems], np.intp)
        other = _bags(relevant)
        wanted, stems = Bags(other.starts, columns[other.columns], other.counts), list(number)
    else:
        wanted = pages.take(np.asarray(relevant, np.intp))
    if not len(wanted.columns):
        raise InputError("none of the relevant pages has words: name others")
    return nearest(pages, wanted, idf_of(stems, background), tell)


def _bags(index: Index) -> Bags:
    if not index.has_text:
        raise InputError("the index holds a graph without texts: similarity is for pages with words")
    starts, terms = (np.asarray(index.columns[name], np.intp) for name in ("term_start", "term"))
    return Bags(starts, terms, np.asarray(index.columns["count"], np.float64))


def idf_of(stems: Sequence[str], background: Background | None = None) -> NDArray[np.float32]:
    """Return log(N / N_j) of each stem, by statistics of English."""
    known = background or Background.load()
    return np.array([known.idf(stem) for stem in stems], np.float32)


def _unit(bags: Bags, idf: NDArray[np.floating]) -> Floats:
    """Return the values of all bags, each of length 1."""
    values = bags.counts * idf[bags.columns]
    length = np.sqrt(np.bincount(bags.rows(), values * values, len(bags)))
    units: Floats = values / np.where(length > 0, length, 1.0)[bags.rows()]
    return units
