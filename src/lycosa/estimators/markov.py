"""A hidden Markov model of browsing, counted from its record; and its values along the ways of a crawl.

Paper items:
    batsakis-pi: `--strategy hmm,file=FILE`. Test: estimators/test_hmm.py::test_pi_is_the_share_of_pages.
    batsakis-a: `--strategy hmm,file=FILE`. Test: estimators/test_hmm.py::test_a_counts_transitions. Departs: a state
        that no step leaves has pi as its row.
    batsakis-b: `--strategy hmm,file=FILE,smoothing=0`. Test: estimators/test_hmm.py::test_b_counts_pages. Departs: .1
        page is added to each cluster unless `smoothing=0`.
    batsakis-eq5: `--strategy hmm,file=FILE,literal=yes`. Test: estimators/test_hmm.py::test_equation_5. Departs: made
        to add up to 1 at each step unless `literal=yes`; the sum runs to states - 1.
    batsakis-eq6: `--strategy hmm,file=FILE`. Test: estimators/test_hmm.py::test_equation_6. Departs: the sum runs to
        states - 1; called Viterbi, it is the forward algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.parents import MaxOrLast


class Chain(NamedTuple):
    """pi, A and B: where one is to begin with, where one goes from there, and what each state looks like.

    pi_i is the share of pages in state i; a_ij that of the steps from i that led to j; b_ic that of the pages in state
    i that are of cluster c, with `smoothing` pages more of each cluster; those whose cluster is not known (-1) are left
    out. From a state that no step leaves, one goes anywhere: its row of A is pi. A state without pages looks like
    anything: its row of B is even.

    >>> chain = Chain.of(np.array([0, 1]), np.array([[1, 0], [1, 1]]), np.array([0, 1]), states=2, clusters=2)
    >>> chain.pi.tolist(), chain.a.tolist(), chain.b.tolist()
    ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    """

    pi: NDArray[np.float64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        state: NDArray[np.intp],
        steps: NDArray[np.intp],
        cluster: NDArray[np.intp],
        states: int,
        clusters: int,
        smoothing: float = 0.0,
    ) -> Self:
        """Count."""
        pi = np.bincount(state, minlength=states) / len(state)
        a = _counted(state[steps[:, 0]], state[steps[:, 1]], (states, states))
        left = a.sum(axis=1, keepdims=True)
        clustered = cluster >= 0
        b = _counted(state[clustered], cluster[clustered], (states, clusters)) + smoothing
        seen = b.sum(axis=1, keepdims=True)
        return cls(
            pi,
            np.where(left > 0, a / np.where(left > 0, left, 1.0), pi),
            np.where(seen > 0, b / np.where(seen > 0, seen, 1.0), 1.0 / clusters),
        )

    def forward(self, before: NDArray[np.float64], cluster: int) -> NDArray[np.float64]:
        """a(L_j, t) = b_jc * sum over i of a(L_i, t - 1) a_ij (eq. 5); without b where no cluster (-1) was seen."""
        onward = self.onward(before)
        return onward if cluster < 0 else self.b[:, cluster] * onward

    def onward(self, now: NDArray[np.float64]) -> NDArray[np.float64]:
        """a(L_j, t + 1) = sum over i of a(L_i, t) a_ij (eq. 6)."""
        following: NDArray[np.float64] = now @ self.a
        return following


def _counted(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.float64]:
    """How often each pair occurs."""
    pairs = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return pairs.reshape(shape).astype(np.float64)


@dataclass
class Trail:
    """Forward values along the ways of a crawl: a page goes on from the parent that gave it its priority.

    A page that nobody linked to is at t = 1, with a(., 0) = pi. `literal` leaves the values as eq. 5 has them: they
    fade with each step. Else they are made to add up to 1 at each, which changes their size but not their proportions.
    The new links of a page that is visited again get what it promises now; ways go on from what it was at first.
    """

    chain: Chain = field(repr=False)
    merge: MaxOrLast = "max"
    literal: bool = False
    now_: NDArray[np.float64] = learned()
    """a(., t) of each page that was visited."""
    giver_: NDArray[np.int32] = column(np.int32)
    """The parent that gave each row its priority, -1 for none."""
    value_: NDArray[np.float64] = column()

    def __post_init__(self) -> None:
        self.now_ = np.zeros((0, len(self.chain.pi)))

    def visit(self, step: Step, table: Table, cluster: int) -> NDArray[np.float64]:
        """a(., t) of a page, seen to be of a cluster (-1: of none that is known)."""
        self._fit(table)
        giver = self.giver_[step.row]
        before = self.now_[giver] if giver >= 0 else self.chain.pi
        now = self.chain.forward(before, cluster)
        if not self.literal:
            if not now.sum() > 0:  # can't be, says the model: then what was seen is not believed
                now = self.chain.onward(before)
            now = now / now.sum()
        if not step.visit.follows or not self.now_[step.row].any():
            self.now_[step.row] = now
        return now

    def tell(self, step: Step, table: Table, value: float | NDArray[np.float64]) -> Rows:
        """A page gives its links what it says of them, where nobody has given more. A redirect hands on what it had."""
        self._fit(table)
        rows, giver = step.children, step.row
        if step.visit.outcome == "redirect":
            value, giver = float(self.value_[step.row]), int(self.giver_[step.row])
            if giver < 0:  # nobody has said anything of the source: a seed
                return rows
        values = np.broadcast_to(np.asarray(value, np.float64), rows.shape)
        taken = (self.giver_[rows] < 0) | (self.merge == "last") | (values > self.value_[rows])
        self.value_[rows[taken]] = values[taken]
        self.giver_[rows[taken]] = giver
        return rows

    def score(self, rows: Rows, table: Table) -> Scores:
        """The priority; 0 for a row nobody has linked to."""
        return fit(self.value_, len(table))[rows]

    def _fit(self, table: Table) -> None:
        self.now_, self.value_ = fit(self.now_, len(table)), fit(self.value_, len(table))
        self.giver_ = fit(self.giver_, len(table), -1)
