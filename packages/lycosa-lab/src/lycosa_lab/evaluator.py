"""The evaluator of the thesis: similarity of a crawl's pages to pages known to be relevant.

Paper: Batsakis 2007, section 4.2: "It receives as input the positive pages set (50 relevant pages on every topic in our
experiment) and the 1000 evaluated pages downloaded by the crawler." As written there:

- a page is a vector of stems without stop words, weighed by eq. 1, tf * log(N / N_j), with N and N_j from statistics of
  English (3.2.1; there a search engine's, here those that Lycosa comes with)
- its similarity is the *maximum* of its cosines with the relevant pages
- it is relevant if that is *greater* than .75; reported as a count and a share of all downloaded pages
- the average similarity is the mean of the maxima over all downloaded pages

All pages of a crawl count, including seeds, which the paper does not mention. A page among the relevant ones has
similarity 1, one without words 0. N_j of an unknown word is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.web.urls import canonical
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Curve, Findings, ReportFigure, ReportTable, plain
from lycosa_lab.measures import Floats, found, harvest, steps_to

THRESHOLD = 0.75


def evaluate(
    crawl: CorpusIndex,
    relevant: CorpusIndex | Sequence[str],
    *,
    threshold: float = THRESHOLD,
    background: Background | None = None,
    progress: ProgressCallback = no_progress,
) -> Findings:
    """Compare the pages of a crawl with relevant pages: all of another index, or the crawl's own at some URLs."""
    if not 0 <= threshold < 1:
        raise InputError("out-of-range", f"'threshold' is {threshold:g}: it must be at least 0 and below 1")
    urls = set() if isinstance(relevant, CorpusIndex) else {canonical(url) for url in relevant}
    nodes = [crawl.number_of[url] for url in urls if url in crawl.number_of]
    some, missing = relevant if isinstance(relevant, CorpusIndex) else nodes, len(urls) - len(nodes)
    if not len(some):
        raise InputError("unknown-page", f"none of {missing} relevant pages was crawled: choose other pages")
    return evaluation_findings(max_similarities_in(crawl, some, background, progress), len(some), threshold, missing)


def evaluation_findings(
    similarities: Floats, relevant: int, threshold: float = THRESHOLD, missing: int = 0
) -> Findings:
    budgets, hits = steps_to(len(similarities), 20).tolist(), similarities > threshold
    counts, shares, means = found(hits, budgets), harvest(hits, budgets), harvest(similarities, budgets)
    titles = {"pages": budgets, "relevant": counts.astype(int), "fraction": shares, "average similarity": means}
    rows = [[plain(cell) for cell in row] for row in zip(*titles.values(), strict=True)]
    return Findings(
        "evaluation", "Evaluation of a crawl",
        [
            ReportTable("evaluation-table", "Harvest ratio and average similarity", list(titles), rows),
            *(
                ReportFigure(f"evaluation-{key}", title, "pages", title.lower(), [Curve("crawl", budgets, of.tolist())])
                for key, title, of in (("harvest", "Relevant pages", counts),
                                       ("similarity", "Average similarity", means))
            ),
        ],
        summary=f"Of {len(hits):,} pages {hits.sum():,} ({hits.mean():.1%}) are more similar than {threshold:g} to one "
        f"of {relevant:,} relevant pages; the average similarity is {similarities.mean():.3f}.",
        remarks=[f"left out: {missing:,} relevant pages that were not crawled"] if missing else [],
    )  # fmt: skip


AT_ONCE = 256  # relevant pages compared with all others at once


def max_similarities(
    pages: Bags, relevant: Bags, idf: NDArray[np.floating], progress: ProgressCallback = no_progress
) -> Floats:
    """Return the largest tf-idf cosine of each page with any of the relevant ones; 0 without common words.

        max over r of  sum_j w_dj w_rj / (|w_d| |w_r|),   w_ij = f_ij / max f_i * idf_j

    max f_i cancels out, so it is omitted.
    """
    own, wanted = _unit(pages, idf), _unit(relevant, idf)
    terms = np.unique(relevant.columns)
    place = np.full(1 + max(pages.columns.max(initial=0), relevant.columns.max(initial=0)), -1, np.intp)
    place[terms] = np.arange(len(terms))
    common = place[pages.columns] >= 0  # other words contribute only to the length of a page
    starts = np.concatenate([[0], np.cumsum(common)])[pages.starts].astype(np.intp)
    shared = Bags(starts, place[pages.columns[common]], np.ones(int(common.sum())))
    owners, best = relevant.rows(), np.zeros(len(pages))
    for first in range(0, len(relevant), AT_ONCE):
        last = min(first + AT_ONCE, len(relevant))
        here = slice(relevant.starts[first], relevant.starts[last])
        dense = np.zeros((len(terms), last - first), np.float32)
        dense[place[relevant.columns[here]], owners[here] - first] = wanted[here]
        best = np.maximum(best, shared.times(own[common], dense).max(axis=1, initial=0.0))
        progress("comparing pages", last, len(relevant))
    return np.minimum(best.round(7), 1.0)  # in single precision identical pages must give exactly 1


def max_similarities_in(
    index: CorpusIndex,
    relevant: CorpusIndex | Sequence[int] | NDArray[np.integer],
    background: Background | None = None,
    progress: ProgressCallback = no_progress,
) -> Floats:
    """Return `max_similarities` of all pages of an index with pages of another index, or with its own node numbers."""
    pages, stems = _bags(index), list(index.stems)
    if isinstance(relevant, CorpusIndex):
        number = {stem: place for place, stem in enumerate(stems)}
        columns = np.array([number.setdefault(stem, len(number)) for stem in relevant.stems], np.intp)
        other = _bags(relevant)
        wanted, stems = Bags(other.starts, columns[other.columns], other.counts), list(number)
    else:
        wanted = pages.take(np.asarray(relevant, np.intp))
    if not len(wanted.columns):
        raise InputError("no-text", "none of the relevant pages has words: choose other pages")
    known = background or Background.load()
    return max_similarities(pages, wanted, np.array([known.idf(stem) for stem in stems], np.float32), progress)


def _bags(index: CorpusIndex) -> Bags:
    if not index.has_text:
        raise InputError("no-text", "the index is a graph without text: similarity needs words")
    starts, terms = (np.asarray(index.columns[name], np.intp) for name in ("term_start", "term"))
    return Bags(starts, terms, np.asarray(index.columns["count"], np.float64))


def _unit(bags: Bags, idf: NDArray[np.floating]) -> Floats:
    values = bags.counts * idf[bags.columns]
    length = np.sqrt(np.bincount(bags.rows(), values * values, len(bags)))
    units: Floats = values / np.where(length > 0, length, 1.0)[bags.rows()]
    return units
