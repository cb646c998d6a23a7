"""N-best-first: best-first by the handful.

Paper items:
    batsakis-n-best-first: `--strategy n-best-first`. Test: estimators/test_n_best_first.py::test_n_is_the_batch.
        Departs: N is not given; ours is 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.estimators.best_first import BestFirst


@dataclass
class NBestFirst(BestFirst):
    """Take the `n` best links, fetch them all, and only then rank again: best-first that looks up less often.

    The priorities are those of best-first, page * beta(parent) + anchor * alpha(link), merged over parents. What is
    different is when a new priority counts: the frontier is ranked again after every `n` pages (`batch`). With n = 1
    it is best-first. A larger n explores more: a single good page can't pull the whole crawl after it.

    Paper: Batsakis 2007, section 2.3. They leave n open; ours is 8, a parameter.

    >>> NBestFirst(n=32).batch
    32
    """

    n: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise ValueError(f"n={self.n} pages at a time: take 1 or more")

    @property
    def batch(self) -> int:
        """After how many pages the frontier is ranked again."""
        return self.n
