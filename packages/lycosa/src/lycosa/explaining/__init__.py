"""Explain the frontier of a crawl: `lycosa.why(directory, url)` and `lycosa why`.

The log is replayed as for `resume`, so explanations use the crawl's own state; nothing is written or sent.
"""

from __future__ import annotations

from pathlib import Path

from lycosa.core.protocols import Estimator, Judge, Space, Strategy
from lycosa.explaining.answers import Fetched, Parent, PathPage, Why
from lycosa.explaining.frontier_ranking import View
from lycosa.explaining.reasons import Reasons

__all__ = ["Fetched", "Parent", "PathPage", "Reasons", "View", "Why", "why"]


def why(
    directory: str | Path,
    url: str,
    *,
    judge: Judge | None = None,
    strategy: Estimator | Strategy | None = None,
    space: Space | None = None,
) -> Why:
    """Explain why a link was fetched or is still waiting, and how its priority is composed.

    The crawl may be running, interrupted or finished, and is not changed. Pass the objects that the crawl was created
    with, if any. For several links, or the next ones to be fetched, use `lycosa.explaining.Reasons`, which reads the
    log once.
    """
    with Reasons(directory, judge=judge, strategy=strategy, space=space) as reasons:
        return reasons.why(url)
