"""URL depth: addresses near the root of their site come first.

Paper items:
    batsakis-url-depth: `--strategy url-depth`. Test: estimators/test_url_depth.py::test_fewer_slashes_come_first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step

_UNKNOWN = -1


@dataclass
class UrlDepth:
    """The score is minus the number of slashes in the path of the address: `http://a/` before `http://a/b/c`.

    Query and fragment are no part of the path. A node that isn't a URL is all path. The target of a redirect takes the
    place of its source, with its number of slashes; one that was known already keeps the fewer of the two.

    Paper: Batsakis 2007, section 2.2; Cho, Garcia-Molina, Page 1998 (location metric).

    >>> slashes("https://example.org/reefs/red-sea/?page=a/b"), slashes("https://example.org"), slashes("reefs/red")
    (3, 0, 1)
    """

    slashes_: NDArray[np.int32] = column(np.int32)

    def learn(self, step: Step, table: Table) -> Rows:
        """Count the slashes of new rows once, so that scoring is an array access."""
        self.slashes_ = fit(self.slashes_, len(table), _UNKNOWN)
        slashes_before = self.slashes_[step.children]
        if step.visit.outcome == "redirect":
            source = self._counted(np.array([step.row], np.int32), table)
            self.slashes_[step.children] = np.where(
                slashes_before == _UNKNOWN, source, np.minimum(slashes_before, source)
            )
        else:
            self.slashes_[step.children] = self._counted(step.children, table)
        return step.children

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The slashes of its address."""
        return {"slashes in its address": float(self.score(np.array([row], np.int32), table)[0])}

    def score(self, rows: Rows, table: Table) -> Scores:
        """Fewest slashes first."""
        return -self._counted(rows, table).astype(float)

    def _counted(self, rows: Rows, table: Table) -> NDArray[np.int32]:
        counts = fit(self.slashes_, len(table), _UNKNOWN)[rows]
        new = np.flatnonzero(counts == _UNKNOWN)
        counts[new] = [slashes(table.nodes[row]) for row in rows[new].tolist()]
        return counts


def slashes(node: str) -> int:
    """The number of slashes in the path of an address."""
    path = node.partition("#")[0].partition("?")[0]
    scheme, separator, rest = path.partition("://")
    if separator and "/" not in scheme:
        path = rest  # what comes before its first slash is the host
    return path.count("/")
