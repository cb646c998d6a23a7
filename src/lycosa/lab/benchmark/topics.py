"""Which topics are hunted: a rule that deals all of a corpus into two halves, and checksums that say what it gave."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence

from lycosa.core.errors import InputError
from lycosa.lab.index import Index
from lycosa.lab.papers.scent.choosing import DEVELOPMENT, LARGEST, MOST, REPORT, half_of, within
from lycosa.training.record import NO

LEAST = 25
"""Pages of a topic."""


def dealt(index: Index, half: str) -> list[str]:
    """The topics of a half, in an order that has nothing to do with them; none is within another one.

    Those with LEAST to MOST pages come first, then larger ones, up to a third of the corpus, that hold none of these.
    """
    sizes = {name: size for name, size in index.sizes().items() if name.casefold() not in NO and half_of(name) == half}
    order = sorted(sizes, key=lambda name: (zlib.crc32(name[::-1].encode()), name))
    fitting = [name for name in order if LEAST <= sizes[name] <= MOST]
    larger = [name for name in order if MOST < sizes[name] <= LARGEST * len(index)]
    chosen: list[str] = []
    for name in [*fitting, *larger]:
        if not any(within(name, other) or within(other, name) for other in chosen):
            chosen.append(name)
    return chosen


def checksum(names: Sequence[str]) -> str:
    """Of a list of names, whatever their order.

    >>> checksum(["b", "a"]) == checksum(["a", "b"]), checksum(["a"]) == checksum(["a", "b"]), len(checksum([]))
    (True, False, 16)
    """
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]


def frozen(index: Index, half: str, name: str, pinned: str) -> list[str]:
    """The topics of a half, which have to be those that were dealt when the benchmark was made."""
    names = dealt(index, half)
    if not names:
        raise InputError(f"no class of the {half} half of {name} has {LEAST} pages or more: take another corpus")
    if pinned and checksum(names) != pinned:
        raise InputError(
            f"the topics of {name}, {half} half, are not those of the benchmark: their checksum is {checksum(names)}, "
            f"it was {pinned}. Its pages or labels are others: to hunt there all the same, name its index with --corpus"
        )
    return names


__all__ = ["DEVELOPMENT", "LEAST", "REPORT", "checksum", "dealt", "frozen"]
