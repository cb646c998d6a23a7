"""All pages alike."""

from __future__ import annotations

import numpy as np

from lycosa.core.durations import seconds
from lycosa.core.types import Rows
from lycosa.refresh.histories import Histories
from lycosa.refresh.rates import Floats
from lycosa.refresh.schedules.schedule import LEAST, MOST, Schedule


class Fixed(Schedule):
    """Every page after the same time: `every`, or by default as often as the budget allows.

    Not as bad as it looks: for pages equally relevant it beats visits in proportion to the rate of change, whatever
    the rates are.

    Paper: Cho, Garcia-Molina 2003, "Effective page refresh policies for web crawlers", the uniform policy.

    >>> histories = Histories(); page = histories.add(1000.0)
    >>> Fixed(every="1h").due(histories).tolist(), Fixed(per_second=1 / 7200).due(histories).tolist()
    ([4600.0], [8200.0])
    """

    def __init__(
        self, per_second: float = 0.0, every: float | str = "", least: float | str = LEAST, most: float | str = MOST
    ) -> None:
        super().__init__(per_second, least, most)
        self.every = seconds(every, "every") if every else 0.0
        self.spending = not self.every

    def intervals(self, histories: Histories, rows: Rows, everything: bool) -> Floats:
        """The same for all."""
        return np.full(len(rows), self.every or max(self.least, self.share(histories)))
