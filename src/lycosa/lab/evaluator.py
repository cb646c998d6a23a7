"""The thesis's evaluator: how many of a crawl's pages are like pages that are known to be relevant, and how much.

Paper: Batsakis 2007, section 4.2: "It receives as input the positive pages set (50 relevant pages on every topic in our
experiment) and the 1000 evaluated pages downloaded by the crawler." As written there:

- a page is a vector of stems without stop words, weighed by eq. 1, tf * log(N / N_j), with N and N_j from statistics of
  English (3.2.1; there a search engine's, here those that Lycosa comes with)
- its similarity is the *maximum* of its cosines with the relevant pages, not the mean, and not that with their centroid
- it is relevant if that is *greater* than .75; counted, and as a share of all pages downloaded
- the average similarity is the mean of the maxima over all pages downloaded

All pages count, seeds and copies too, as nothing is said of them; a page that is itself among the relevant ones has
similarity 1, one without words 0. N_j of a word that the statistics don't know is 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.core.types import Visit
from lycosa.lab.corpora.recorded import tree
from lycosa.lab.findings import Curve, Figure, Findings, Table
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, average_similarity, harvest_ratio
from lycosa.store.directory import CONFIG
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account
from lycosa.training.sources import events_of, table_rows
from lycosa.web.urls import canonical, is_http

THRESHOLD = 0.75


@dataclass
class Evaluation:
    """The similarity of each page, in the order of the crawl."""

    crawl: str
    pages: list[str]
    similarities: Floats
    relevant: int  # relevant pages compared with
    threshold: float = THRESHOLD
    account: Account = field(default_factory=Account)

    def checkpoints(self) -> list[int]:
        """Return 100, 200 ... and the last page; farther apart where that would be more than some twenty.

        >>> Evaluation("", [], np.zeros(250), 1).checkpoints(), Evaluation("", [], np.zeros(0), 1).checkpoints()
        ([100, 200, 250], [])
        """
        pages = len(self.similarities)
        apart = (size * 10**power for power in count() for size in (100, 200, 500))
        every = next(size for size in apart if pages <= 20 * size)
        return [*range(every, pages, every), pages] if pages else []

    def rows(self) -> list[tuple[int, int, float, float]]:
        """Return pages, relevant ones, their share and the average similarity at each checkpoint."""
        budgets = self.checkpoints()
        relevant, share = harvest_ratio(self.similarities, budgets, self.threshold)
        average = average_similarity(self.similarities, budgets)
        return list(zip(budgets, relevant.astype(int).tolist(), share.tolist(), average.tolist(), strict=True))

    def findings(self) -> Findings:
        rows = self.rows()
        pages, relevant, share, average = rows[-1]
        x = [float(row[0]) for row in rows]
        return Findings(
            "evaluation",
            f"Evaluation of {self.crawl}",
            [
                Table(
                    "evaluation-table", "Harvest ratio and average similarity",
                    ("pages", "relevant", "fraction", "average similarity"), rows,
                ),
                Figure(
                    "evaluation-harvest", "Harvest ratio", "pages", "relevant pages",
                    [Curve(self.crawl, x, [float(row[1]) for row in rows])],
                ),
                Figure(
                    "evaluation-similarity", "Average similarity", "pages", "average similarity",
                    [Curve(self.crawl, x, [row[3] for row in rows])],
                ),
            ],
            summary=f"Of {pages:,} pages {relevant:,} ({share:.1%}) are more similar than {self.threshold:g} to one of "
            f"{self.relevant:,} relevant pages; the average similarity is {average:.3f}.",
            configuration={"crawl": self.crawl, "threshold": self.threshold},
            remarks=[
                *(f"left out: {many:,} {reason}" for reason, many in self.account.left_out.items() if many),
                *self.account.notes,
            ],
        )  # fmt: skip


def evaluate(
    crawl: Path,
    relevant: Path,
    *,
    threshold: float = THRESHOLD,
    background: Background | None = None,
    tell: Tell = silent,
) -> Evaluation:
    """Compare the pages of a crawl with relevant ones.

    `crawl` is a crawl's directory or an index. `relevant` is a directory of HTML and
    text files, or a file with an address of the crawl a line (or in the first column of a table).
    """
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold is {threshold:g}: it is a cosine, from 0 to below 1")
    account, words = Account(), Vocabulary()
    fetched = list(pages_of(crawl, words, tell))
    if not fetched:
        raise InputError(f"{crawl} has no pages to evaluate")
    positive = relevant_of(relevant, fetched, words, account)
    bags, given = (Bags.of([(one.ids, one.counts) for one in some]) for some in (fetched, positive))
    similarities = nearest(bags, given, idf_of(words.terms, background), tell)
    return Evaluation(str(crawl), [one.name for one in fetched], similarities, len(positive), threshold, account)


# -- pages as bags of words -------------------------------------------------------------------------------------


class Bag(NamedTuple):
    """A page as numbers of stems and how often it has them."""

    name: str
    ids: NDArray[Any]
    counts: NDArray[Any]


def pages_of(crawl: Path, words: Vocabulary, tell: Tell) -> Iterator[Bag]:
    """Yield the pages of a crawl's directory or an index, in their order."""
    if (crawl / CONFIG).is_file():  # its log has the words: there is no need for its archive
        stems: list[str] = []
        number_of = np.zeros(0, np.intp)
        for event in events_of(crawl, stems, tell):
            if isinstance(event, Visit) and event.is_page:
                number_of = np.concatenate([number_of, _numbers(stems[len(number_of) :], words)])
                yield Bag(event.node, number_of[event.terms.ids.astype(np.intp)], event.terms.counts)
        return
    index = Index.open(crawl)
    if not index.has_text:
        raise InputError(f"{crawl} holds a graph without texts: name a crawl, or an index of pages")
    number_of = _numbers(index.stems, words)
    for node in range(len(index)):
        terms = index.terms(node)
        yield Bag(index.names[node], number_of[terms.ids.astype(np.intp)], terms.counts)


def _numbers(stems: Sequence[str], words: Vocabulary) -> NDArray[np.intp]:
    """Return the numbers of stems in a vocabulary, which learns those that it does not know."""
    words.follow([*words.terms, *(stem for stem in dict.fromkeys(stems) if stem not in words.id_of)])
    return np.array([words.id_of[stem] for stem in stems], np.intp)


# -- the relevant pages ------------------------------------------------------------------------------------------


def relevant_of(source: Path, fetched: list[Bag], words: Vocabulary, account: Account) -> list[Bag]:
    """Return the relevant pages that have words; what can't be used is counted."""
    if not source.exists():
        raise InputError(f"there is no {source}: name a directory of pages, or a file with one address per line")
    if source.is_dir():
        held = [(one.url, words.read(one.page).terms) for one in tree(source, account, lambda url: True) if one.page]
        relevant = [Bag(url, terms.ids, terms.counts) for url, terms in held]
    else:
        relevant = _addressed(source, fetched, account)
    usable = [one for one in relevant if len(one.ids)]
    if len(usable) < len(relevant):
        account.left_out["relevant pages without text"] += len(relevant) - len(usable)
    if not usable:
        raise InputError(f"none of the relevant pages of {source} can be read{account.in_brackets()}")
    return usable


def _addressed(source: Path, fetched: list[Bag], account: Account) -> list[Bag]:
    """Return the pages of a file's addresses, as the crawl has them."""
    written = [columns[0].strip() for columns in table_rows(source)]
    named = [canonical(text) for text in written if is_http(text)]
    urls = list(dict.fromkeys(url for url in named if url is not None))
    if not urls:
        raise InputError(f"{source} names no address: write one per line, beginning with http:// or https://")
    if len(named) < len(written):
        account.left_out["lines that begin with no address"] += len(written) - len(named)
    crawled = {one.name: one for one in reversed(fetched)}
    if missing := sum(url not in crawled for url in urls):
        account.left_out["relevant pages that were not crawled"] += missing
        account.notes.append("crawls can be held against each other only with the same relevant pages: in a directory")
    if missing < len(urls):
        account.notes.append(
            f"{len(urls) - missing:,} relevant pages are of the crawl itself: each is as similar as can be"
        )
    return [crawled[url] for url in urls if url in crawled]


# -- likeness ----------------------------------------------------------------------------------------------

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


def nearest_in(index: Index, relevant: Sequence[int] | NDArray[np.integer]) -> Floats:
    """Return the same for all pages of an index, the relevant ones given by their numbers: for simulated crawls."""
    if not index.has_text:
        raise InputError("the index holds a graph without texts: similarity is for pages with words")
    start = np.asarray(index.term_start, np.intp)
    pages = Bags(start, np.asarray(index.term, np.intp), np.asarray(index.count, np.float64))
    return nearest(pages, pages.take(np.asarray(relevant, np.intp)), idf_of(index.stems))


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
