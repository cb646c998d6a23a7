"""Charts of block characters, for terminals: text only, whoever prints it gives it colours."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = " ▁▂▃▄▅▆▇█"
EIGHTHS = "▏▎▍▌▋▊▉"


def columns(shares: Sequence[float], height: int) -> list[str]:
    """Shares from 0 to 1 as columns of so many lines, the uppermost first.

    >>> columns([0, 0.5, 0.75, 1], 2)
    ['  ▄█', ' ███']
    """
    return [
        "".join(BLOCKS[max(0, min(8, round((share * height - level) * 8)))] for share in shares)
        for level in reversed(range(height))
    ]


def bar(share: float, width: int = 4) -> str:
    """A share as a bar of so many places; what is more than nothing shows.

    >>> bar(0.0), bar(0.3), bar(1.0)
    ('    ', '█▎  ', '████')
    """
    eighths = max(0, min(8 * width, round(8 * width * share)))
    if share > 0:
        eighths = max(1, eighths)
    full, part = divmod(eighths, 8)
    return f"{'█' * full}{EIGHTHS[part - 1] if part else ''}".ljust(width)
