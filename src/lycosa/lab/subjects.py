"""What is hunted in a corpus: which nodes are truly relevant, and what a crawler is told of it. Two different things."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass
class Subject:
    """One thing to hunt for. No strategy and no guide ever sees `truth`; the oracle excepted, which is a yardstick.

    Whatever a guide or a strategy is trained with (examples, a model, browsing, rules) comes from pages that are marked
    as `seen`: those cost nothing of a budget and count as no find, for all strategies alike.
    """

    name: str
    truth: NDArray[np.float32]
    """Of each node of the corpus how relevant it is; for classes 1 or 0."""
    words: str = ""
    """A query, as a person would type it."""
    examples: tuple[int, ...] = ()
    """Nodes that a person would point at."""
    seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Nodes that something was learned from; empty: none."""
    truth_by: str = "labels"
    """Who says what is relevant: labels, scores of the graph, or the name of an independent model."""
    model: Path | None = None
    """A classifier of the corpus' classes (`lycosa train`), trained on seen pages only."""
    targets: tuple[str, ...] = ()
    """The classes of the model that are wanted."""
    browsing: Path | None = None
    """What `lycosa train browse` makes of simulated browsing that ends at relevant pages."""
    rules: Path | None = None
    """Rules between classes (`lycosa train rules`), learned from seen pages."""

    def counted(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of the nodes that count: all but the seen ones, in their order."""
        return nodes[~self.seen[nodes]] if len(self.seen) else nodes
