"""The thesis's evaluator: how many of a crawl's pages are like pages that someone has found relevant, and how much.

Paper: Batsakis 2007, section 4.2: "It receives as input the positive pages set (50 relevant pages on every topic in our
experiment) and the 1000 evaluated pages downloaded by the crawler." What it does as written:

- a page is a vector of stems without stop words, weighed by eq. 1, tf * log(N / N_j), with N and N_j from statistics of
  English (3.2.1; there a search engine's, here those that Lycosa comes with, or others)
- its similarity is the *maximum* of its cosines with the relevant pages, not the mean, and not that with their centroid
- it is relevant if that is *greater* than .75; counted, and as a share of all pages downloaded
- the average similarity is the mean of the maxima over all pages downloaded

All pages count, seeds and copies too, as nothing is said of them; and a page that is itself among the relevant ones is
as similar as can be. What is left open: N_j of a word that the statistics don't know is 1. Pages without any words have
similarity 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.core.types import Page, Visit
from lycosa.lab.corpora.recorded import archive, tree
from lycosa.lab.findings import Curve, Figure, Findings, Table
from lycosa.lab.index import FACTS, Index
from lycosa.lab.indexing import Account
from lycosa.lab.measures import Floats, average_similarity, harvest_ratio
from lycosa.store.directory import CONFIG
from lycosa.text.background import Background
from lycosa.text.bags import Bags, idf
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.looking import recorded
from lycosa.training.sources import events_of, table_rows
from lycosa.web.urls import canonical, is_http

THRESHOLD = 0.75
EVERY = 100


@dataclass
class Evaluation:
    """What came of it: the similarity of each page, in the order of the crawl."""

    crawl: str
    pages: list[str]
    similarities: Floats
    relevant: int  # relevant pages compared with
    threshold: float = THRESHOLD
    idf: str = "background"
    left_out: dict[str, int] = field(default_factory=dict)  # reason -> pages that could not be used
    notes: list[str] = field(default_factory=list)

    def checkpoints(self, every: int = 0) -> list[int]:
        """100, 200 ... and the last page; farther apart where that would be more than some twenty.

        >>> import numpy as np
        >>> Evaluation("", [], np.zeros(250), 1).checkpoints(), Evaluation("", [], np.zeros(0), 1).checkpoints()
        ([100, 200, 250], [])
        """
        pages = len(self.similarities)
        if not every:
            apart = (size * 10**power for power in count() for size in (EVERY, 2 * EVERY, 5 * EVERY))
            every = next(size for size in apart if pages <= 20 * size)
        return [*range(every, pages, every), pages] if pages else []

    def rows(self, every: int = 0) -> list[tuple[int, int, float, float]]:
        """At each checkpoint: pages, relevant ones, their share, the average similarity."""
        budgets = self.checkpoints(every)
        relevant, share = harvest_ratio(self.similarities, budgets, self.threshold)
        average = average_similarity(self.similarities, budgets)
        return list(zip(budgets, relevant.astype(int).tolist(), share.tolist(), average.tolist(), strict=True))

    def as_dict(self, every: int = 0) -> dict[str, Any]:
        names = ("pages", "relevant", "fraction", "average_similarity")
        return {
            "crawl": self.crawl,
            "pages": len(self.similarities),
            "relevant_pages_given": self.relevant,
            "threshold": self.threshold,
            "idf": self.idf,
            "checkpoints": [dict(zip(names, row, strict=True)) for row in self.rows(every)],
            "left_out": self.left_out,
            "notes": self.notes,
            "similarities": [
                {"page": page, "similarity": round(value, 6)}
                for page, value in zip(self.pages, self.similarities.tolist(), strict=True)
            ],
        }

    def findings(self, every: int = 0) -> Findings:
        """A table and the two curves, for a report."""
        rows = self.rows(every)
        x = [float(row[0]) for row in rows]
        note = (
            f"{self.relevant:,} relevant pages given; a page counts if its largest cosine is above {self.threshold:g}"
        )
        return Findings(
            "evaluation",
            f"Evaluation of {self.crawl}",
            [
                Table(
                    "evaluation-table", "Harvest ratio and average similarity",
                    ("pages", "relevant", "fraction", "average similarity"), rows, note=note,
                ),
                Figure(
                    "evaluation-harvest", "Harvest ratio", "pages", "relevant pages",
                    [Curve(self.crawl, x, [float(row[1]) for row in rows])], note=note,
                ),
                Figure(
                    "evaluation-similarity", "Average similarity", "pages", "average similarity",
                    [Curve(self.crawl, x, [row[3] for row in rows])], note=note,
                ),
            ],
            summary=self.summary(),
            configuration={"crawl": self.crawl, "threshold": self.threshold, "idf": self.idf},
            remarks=[*(f"left out: {many:,} {reason}" for reason, many in self.left_out.items()), *self.notes],
        )  # fmt: skip

    def summary(self) -> str:
        pages, relevant, share, average = self.rows()[-1]
        return (
            f"Of {pages:,} pages {relevant:,} ({share:.1%}) are more similar than {self.threshold:g} to one of "
            f"{self.relevant:,} relevant pages; the average similarity is {average:.3f}."
        )


def evaluate(
    crawl: Path,
    relevant: Path,
    *,
    threshold: float = THRESHOLD,
    wanted: str = "",
    pages: Path | None = None,
    idf: Idf = "background",
    background: Background | None = None,
    tell: Tell = silent,
) -> Evaluation:
    """Compare the pages of a crawl with relevant ones.

    `crawl` is a crawl's directory, an index, a WARC file or a directory of them. `relevant` is a directory of HTML and
    text files, a file with an address a line, or a table with an address in the first column; with `wanted` only the
    rows whose second column is that class or one below it. Pages of addresses are taken from the crawl, or else from
    `pages` (a WARC file, a directory of them, a crawl's): nothing is fetched.
    """
    if not 0 <= threshold < 1:
        raise InputError(f"--threshold is {threshold:g}: it is a cosine, from 0 to below 1")
    if idf not in ("background", "pages", "none"):
        raise InputError(f"--idf is {idf}: it is background, pages or none")
    account, words = Account(), Vocabulary()
    fetched = list(pages_of(crawl, words, account, tell))
    if not fetched:
        raise InputError(f"{crawl} has no pages to evaluate{account.in_brackets()}")
    positive = relevant_of(relevant, fetched, words, account, wanted=wanted, pages=pages, tell=tell)
    bags, given = (Bags.of([(one.ids, one.counts) for one in some]) for some in (fetched, positive))
    weights = idf_of(words.terms, (bags, given), idf, background)
    return Evaluation(
        str(crawl), [one.name for one in fetched], nearest(bags, given, weights, tell), len(positive), threshold, idf,
        {reason: many for reason, many in account.left_out.items() if many}, account.notes,
    )  # fmt: skip


# -- pages as bags of words -------------------------------------------------------------------------------------


@dataclass
class Bag:
    """A page as numbers of stems and how often it has them."""

    name: str
    ids: NDArray[Any]
    counts: NDArray[Any]

    @classmethod
    def of(cls, name: str, page: Page, words: Vocabulary) -> Bag:
        terms = words.read(page).terms
        return cls(name, terms.ids, terms.counts)


def pages_of(crawl: Path, words: Vocabulary, account: Account, tell: Tell) -> Iterator[Bag]:
    """The pages of a crawl's directory, an index, a WARC file or a directory of them, in their order."""
    if not crawl.exists():
        raise InputError(f"there is no {crawl}: name a crawl's directory, an index, a WARC file or a directory of them")
    if (crawl / CONFIG).is_file():
        yield from _logged(crawl, words, tell)
    elif (crawl / FACTS).is_file():
        yield from _indexed(Index.open(crawl), words)
    else:
        seen: set[str] = set()  # a page that was looked at again is one page still
        for held in archive([crawl], account, lambda url: True, tell):
            if held.page is not None and held.url not in seen:
                seen.add(held.url)
                yield Bag.of(held.url, held.page, words)


def _logged(path: Path, words: Vocabulary, tell: Tell) -> Iterator[Bag]:
    """The pages of a crawl, with the words that its log keeps: there is no need for its archive."""
    stems: list[str] = []
    number_of = np.zeros(0, np.intp)
    for event in events_of(path, stems, tell):
        if isinstance(event, Visit) and event.is_page:
            number_of = np.concatenate([number_of, _numbers(stems[len(number_of) :], words)])
            yield Bag(event.node, number_of[event.terms.ids.astype(np.intp)], event.terms.counts)


def _indexed(index: Index, words: Vocabulary) -> Iterator[Bag]:
    if not index.has_text:
        raise InputError(f"{index.path} holds a graph without texts: name a crawl, or an index of pages")
    number_of = _numbers(index.stems, words)
    for node in range(len(index)):
        terms = index.terms(node)
        yield Bag(index.names[node], number_of[terms.ids.astype(np.intp)], terms.counts)


def _numbers(stems: Sequence[str], words: Vocabulary) -> NDArray[np.intp]:
    """The numbers of stems in a vocabulary, which learns those that it does not know."""
    words.follow([*words.terms, *(stem for stem in dict.fromkeys(stems) if stem not in words.id_of)])
    return np.array([words.id_of[stem] for stem in stems], np.intp)


# -- the relevant pages ------------------------------------------------------------------------------------------


def relevant_of(
    source: Path,
    fetched: list[Bag],
    words: Vocabulary,
    account: Account,
    *,
    wanted: str,
    pages: Path | None,
    tell: Tell,
) -> list[Bag]:
    """The relevant pages that have words; what can't be used is counted."""
    if not source.exists():
        raise InputError(f"there is no {source}: name a directory of pages, or a file with one address per line")
    if source.is_dir():
        pages_below = tree(source, account, lambda url: True)
        relevant: Iterator[Bag] = (Bag.of(held.url, held.page, words) for held in pages_below if held.page is not None)
    else:
        relevant = _addressed(addresses(source, wanted, account), fetched, words, account, pages, tell)
    usable = []
    for one in relevant:
        if len(one.ids):
            usable.append(one)
        else:
            account.left_out["relevant pages without text"] += 1
    if not usable:
        hint = "" if source.is_dir() or pages else "; --pages PLACE names where they are recorded, if not in the crawl"
        raise InputError(f"none of the relevant pages of {source} can be read{account.in_brackets()}{hint}")
    return usable


def addresses(source: Path, wanted: str, account: Account) -> list[str]:
    """The addresses of a file, each once: one a line, or the first column of a table; of a class if one is wanted."""
    urls: dict[str, None] = {}
    others: Counter[str] = Counter()
    for number, columns in enumerate(table_rows(source)):
        written = columns[0].strip()
        if not written or written.startswith("#"):
            continue
        url = canonical(written) if is_http(written) else None
        label = columns[1].strip() if len(columns) > 1 else ""
        if url is None:
            if number or len(columns) == 1:  # else titles
                account.left_out["lines that begin with no address"] += 1
        elif not wanted or label == wanted or label.startswith((f"{wanted}/", f"{wanted}.")):
            urls[url] = None
        else:
            others[label] += 1
    if wanted and not urls:
        there = ", ".join(name for name, _ in others.most_common(5)) or "none"
        raise InputError(f"{source} has no page of class {wanted!r}; there is {there}")
    if not urls:
        raise InputError(f"{source} names no address: write one per line, beginning with http:// or https://")
    return list(urls)


def _addressed(
    urls: Sequence[str], fetched: list[Bag], words: Vocabulary, account: Account, pages: Path | None, tell: Tell
) -> Iterator[Bag]:
    """Their pages: as the crawl has them, else out of `pages`."""
    crawled: Mapping[str, Bag] = {one.name: one for one in reversed(fetched)}
    missing = [url for url in urls if url not in crawled]
    yield from (crawled[url] for url in urls if url in crawled)
    if len(missing) < len(urls):
        account.notes.append(
            f"{len(urls) - len(missing):,} relevant pages are of the crawl itself: each is as similar as can be"
        )
    if pages is None:
        if missing:
            account.left_out["relevant pages that were not crawled"] += len(missing)
            account.notes.append(
                f"{len(missing):,} of {len(urls):,} relevant pages were not crawled and nothing is compared with them: "
                "crawls can be held against each other only with the same relevant pages; --pages PLACE reads them all"
            )
        return
    for url, page in recorded(pages)(missing, account, tell):
        yield Bag.of(url, page, words)


# -- likeness ----------------------------------------------------------------------------------------------

# How like pages are to the nearest of some relevant ones: the largest cosine of tf-idf vectors (Batsakis 2007).

AT_ONCE = 256  # relevant pages compared with all others at a time

Idf = Literal["background", "pages", "none"]


def nearest(pages: Bags, relevant: Bags, idf: NDArray[np.floating], tell: Tell = silent) -> Floats:
    """Of each page the largest cosine with any of the relevant ones; 0 for one that has no words, or none in common.

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


def nearest_in(index: Index, relevant: Sequence[int] | NDArray[np.integer], *, idf: Idf = "background") -> Floats:
    """The same for all pages of an index, the relevant ones given by their numbers: for simulated crawls."""
    if not index.has_text:
        raise InputError("the index holds a graph without texts: similarity is for pages with words")
    start = np.asarray(index.term_start, np.intp)
    pages = Bags(start, np.asarray(index.term, np.intp), np.asarray(index.count, np.float64))
    given = pages.take(np.asarray(relevant, np.intp))
    return nearest(pages, given, idf_of(index.stems, (pages,), idf))


def idf_of(
    stems: Sequence[str], bags: Iterable[Bags], kind: Idf, background: Background | None = None
) -> NDArray[np.float32]:
    """log(N / N_j) of each stem: by statistics of a language, or counted over the pages at hand; or 1 for all."""
    if kind == "none":
        return np.ones(len(stems), np.float32)
    if kind == "background":
        known = background or Background.load()
        return np.array([known.idf(stem) for stem in stems], np.float32)
    bags = list(bags)
    return idf(
        sum((one.document_frequency(len(stems)) for one in bags), np.zeros(len(stems), np.intp)), sum(map(len, bags))
    )


def _unit(bags: Bags, idf: NDArray[np.floating]) -> Floats:
    """Values of each bag, of length 1."""
    values = bags.counts * idf[bags.columns]
    length = np.sqrt(np.bincount(bags.rows(), values * values, len(bags)))
    units: Floats = values / np.where(length > 0, length, 1.0)[bags.rows()]
    return units
