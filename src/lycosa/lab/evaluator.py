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

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.lab.findings import Curve, Figure, Findings, Table
from lycosa.lab.gathering import pages_of, relevant_of, why
from lycosa.lab.indexing import Account
from lycosa.lab.measures import Floats, average_similarity, harvest_ratio
from lycosa.lab.resemblance import Idf, idf_of, nearest
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary

THRESHOLD = 0.75
EVERY = 100
ROWS = 20
"""Lines of a table, about: longer crawls have checkpoints farther apart."""


@dataclass
class Evaluation:
    """What came of it: the similarity of each page, in the order of the crawl."""

    crawl: str
    pages: list[str]
    similarities: Floats
    relevant: int
    """How many relevant pages they were compared with."""
    threshold: float = THRESHOLD
    idf: str = "background"
    left_out: dict[str, int] = field(default_factory=dict)
    """Relevant pages, and pages of an archive, that could not be used, and why."""
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
            every = next(size for size in apart if pages <= ROWS * size)
        return [*range(every, pages, every), pages] if pages else []

    def rows(self, every: int = 0) -> list[tuple[int, int, float, float]]:
        """At each checkpoint: pages, relevant ones, their share, the average similarity."""
        budgets = self.checkpoints(every)
        found, share = harvest_ratio(self.similarities, budgets, self.threshold)
        average = average_similarity(self.similarities, budgets)
        return list(zip(budgets, found.astype(int).tolist(), share.tolist(), average.tolist(), strict=True))

    def as_dict(self, every: int = 0) -> dict[str, Any]:
        """As plain values, for JSON."""
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
        told = (
            f"{self.relevant:,} relevant pages given; a page counts if its largest cosine is above {self.threshold:g}"
        )
        return Findings(
            "evaluation",
            f"Evaluation of {self.crawl}",
            [
                Table(
                    "evaluation-table", "Harvest ratio and average similarity",
                    ("pages", "relevant", "fraction", "average similarity"), rows, note=told,
                ),
                Figure(
                    "evaluation-harvest", "Harvest ratio", "pages", "relevant pages",
                    [Curve(self.crawl, x, [float(row[1]) for row in rows])], note=told,
                ),
                Figure(
                    "evaluation-similarity", "Average similarity", "pages", "average similarity",
                    [Curve(self.crawl, x, [row[3] for row in rows])], note=told,
                ),
            ],
            summary=self.summary(),
            configuration={"crawl": self.crawl, "threshold": self.threshold, "idf": self.idf},
            remarks=[*(f"left out: {many:,} {reason}" for reason, many in self.left_out.items()), *self.notes],
        )  # fmt: skip

    def summary(self) -> str:
        """In one sentence."""
        pages, found, share, average = self.rows()[-1]
        return (
            f"Of {pages:,} pages {found:,} ({share:.1%}) are more similar than {self.threshold:g} to one of "
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
        raise InputError(f"{crawl} has no pages to evaluate{why(account.left_out)}")
    positive = relevant_of(relevant, fetched, words, account, wanted=wanted, pages=pages, tell=tell)
    bags, given = (Bags.of([(one.ids, one.counts) for one in some]) for some in (fetched, positive))
    weights = idf_of(words.terms, (bags, given), idf, background)
    return Evaluation(
        str(crawl), [one.name for one in fetched], nearest(bags, given, weights, tell), len(positive), threshold, idf,
        {reason: many for reason, many in account.left_out.items() if many}, account.notes,
    )  # fmt: skip
