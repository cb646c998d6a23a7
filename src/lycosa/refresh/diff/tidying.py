"""Make the words of a changed block readable: the shortest diff is not always the one that a person would write."""

from __future__ import annotations

from dataclasses import dataclass, field

ISLAND = 2
"""Words that two large changes may have between them without being told apart."""

FACTOR = 3
"""How many times as long those changes are."""

SLIDE = 8
"""Words that a change is moved by at most."""


@dataclass(slots=True)
class Part:
    """Words that were kept, and what was removed and added behind them."""

    kept: list[str]
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """How much differs."""
        return max(len(self.removed), len(self.added))


def tidy(parts: list[Part]) -> list[Part]:
    """Slide changes to where they read best, then drop islands.

    >>> told = tidy([Part(["coral"], [], ["bleach", "and", "coral"]), Part(["reefs"])])
    >>> [(part.kept, part.added) for part in told]
    [([], ['coral', 'bleach', 'and']), (['coral', 'reefs'], [])]
    """
    return _without_islands(_slid(parts))


def _slid(parts: list[Part]) -> list[Part]:
    """`coral [bleach and coral] reefs` is `[coral bleach and] coral reefs`: fewer pieces, the same words."""
    for at in range(len(parts) - 2, -1, -1):
        part, following = parts[at], parts[at + 1]
        length = len(part.kept)
        if not 0 < length <= SLIDE or not following.kept:
            continue
        for alone, other in ((part.added, part.removed), (part.removed, part.added)):
            if not other and len(alone) > length and alone[-length:] == part.kept:
                alone[:] = part.kept + alone[:-length]
                following.kept = part.kept + following.kept
                part.kept = []
                break
    return _merged(parts)


def _without_islands(parts: list[Part]) -> list[Part]:
    """A word or two between large changes is there by chance (`of the`): it changed with the rest."""
    told: list[Part] = []
    for part in parts:
        length = len(part.kept)
        if told and 0 < length <= ISLAND and FACTOR * length <= min(told[-1].weight, part.weight):
            told[-1].removed += part.kept
            told[-1].added += part.kept
            part.kept = []
        if told and not part.kept:
            told[-1].removed += part.removed
            told[-1].added += part.added
        else:
            told.append(part)
    return told


def _merged(parts: list[Part]) -> list[Part]:
    """Changes with nothing between them are one."""
    told: list[Part] = []
    for part in parts:
        if told and not part.kept:
            told[-1].removed += part.removed
            told[-1].added += part.added
        else:
            told.append(part)
    return told
