"""A line between pages that count and pages that don't, in words."""

from __future__ import annotations

NOTHING = 1e-6
"""A threshold below this means: anything but 0."""


def at_least(threshold: float) -> str:
    """A threshold in words.

    >>> at_least(0.1), at_least(1e-9)
    ('0.1 or more', 'above 0')
    """
    return "above 0" if 0 < threshold < NOTHING else f"{threshold:g} or more"
