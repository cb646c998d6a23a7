"""A person's word against a judge's number."""

from __future__ import annotations

import math


def settled(worth: float, relevant: bool | None, threshold: float) -> float:
    """A score, where somebody has said what the page is: that is the last word on which side of the threshold it lies.

    >>> settled(.05, True, .1), settled(.05, None, .1), settled(.4, True, .1), settled(.4, False, .1) < .1
    (0.1, 0.05, 0.4, True)
    """
    if relevant is None:
        return worth
    return max(worth, threshold) if relevant else min(worth, math.nextafter(threshold, -math.inf))
