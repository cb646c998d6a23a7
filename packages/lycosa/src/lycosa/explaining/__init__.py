"""Why a crawl fetches what it fetches: `lycosa.why(directory, url)`, `lycosa why`.

The log is folded as for `resume`, so what is told is what the crawl itself goes by; nothing is written or sent.
"""

from __future__ import annotations

from pathlib import Path

from lycosa.core.protocols import Estimator, Judge, Space, Strategy
from lycosa.explaining.answers import Fetched, Parent, PathPage, Why
from lycosa.explaining.reasons import Reasons
from lycosa.explaining.standing import View

__all__ = ["Fetched", "Parent", "Reasons", "PathPage", "View", "Why", "why"]


def why(
    directory: str | Path,
    url: str,
    *,
    judge: Judge | None = None,
    strategy: Estimator | Strategy | None = None,
    space: Space | None = None,
) -> Why:
    """Why a link of the crawl in a directory waits where it does, or was fetched, and what the score is made of.

    The crawl may be running, interrupted or over; it stays as it is. One made with objects of your own needs them
    again. For several links, or those that come next, `lycosa.explaining.Reasons` reads the log only once.
    """
    with Reasons(directory, judge=judge, strategy=strategy, space=space) as reasons:
        return reasons.why(url)
