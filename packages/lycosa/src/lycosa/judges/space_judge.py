"""Relevance provided by the space: scores of a graph, or the records that a search form returned."""

from __future__ import annotations

import numpy as np

from lycosa.core.state import State
from lycosa.core.types import Judgement, Page, Visit


class SpaceJudge:
    """Judge that takes beta and alpha from the page data of the space (keys `"beta"` and `"alpha"`).

    Used for graphs with true scores and for search forms, where the relevance of a keyword is the number of records
    that it returned, and that of a new keyword its occurrences in them.

    >>> SpaceJudge().judge(Page("ok", data={"beta": 12.0, "alpha": [3.0]}), None).relevance
    12.0

    Paper: Gouriten, Maniu, Senellart 2014, 2.2.
    """

    exact = True  # relevance is given, not estimated

    def __init__(self, threshold: float = 1e-9) -> None:
        self.threshold = threshold

    def judge(self, page: Page, reading: object) -> Judgement:
        return Judgement(page.data.get("beta", 0.0), np.array(page.data.get("alpha", ()), np.float32))

    def learn(self, visit: Visit) -> None:
        pass

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass
