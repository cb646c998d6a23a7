"""The judge that asks the space: scores that a graph has, records that a search form returned."""

from __future__ import annotations

import numpy as np

from lycosa.core.state import State
from lycosa.core.types import Judgement, Page, Visit


class SpaceJudge:
    """beta and alpha are what the space says of a node and its links (`data["relevance"]`, `data["alpha"]` of the page).

    For spaces that know what their nodes are worth: a graph with true scores, or a search form, where a keyword is
    worth the records it returned and promises as much as it occurs in them.

    >>> SpaceJudge().judge(Page("ok", data={"relevance": 12.0, "alpha": [3.0]}), None).relevance
    12.0

    Paper: Gouriten, Maniu, Senellart 2014, 2.2.
    """

    exact = True  # it never guesses

    def __init__(self, threshold: float = 1e-9) -> None:
        self.threshold = threshold

    def judge(self, page: Page, reading: object) -> Judgement:
        return Judgement(page.data.get("beta", 0.0), np.array(page.data.get("alpha", ()), np.float32))

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""

    def state(self) -> State:
        """Nothing is learned."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""
