"""Detectors: each compares two versions of a page in a way of its own. `DETECTORS` names them.

A detector is a function `compare(old, new) -> Verdict | None`; None: it has nothing to say, as what it reads is not
there. judging.py makes one change of what several say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from lycosa.core.errors import InputError
from lycosa.core.registry import Entry, Registry
from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot

Compare: TypeAlias = Callable[[Snapshot, Snapshot], Verdict | None]


@dataclass(frozen=True)
class DetectorEntry(Entry):
    """A detector; its module's `compare` is the function."""

    blind: bool = False
    """It cannot tell what differs: where another that can sees only the cosmetic, the change is that."""


BODIES = "the archived bodies"

ENTRIES = {
    "digest": DetectorEntry("digest", "compare", "any byte of the body, by SHA-256", needs=BODIES, blind=True),
    "paper": DetectorEntry(
        "paper", "compare",
        "the sum of the characters divided by the number of distinct ones; cheap, and some changes escape it",
        "Trivedi et al. 2014, III, Change Detection", BODIES, blind=True,
    ),
    "main-text": DetectorEntry(
        "main_text", "compare", "the words of the main part, without navigation, dates and counters", needs=BODIES,
    ),
    "simhash": DetectorEntry(
        "simhash", "compare", "fingerprints of the text that differ in more than 4 of 64 bits: a large change",
        "Charikar 2002; Manku et al. 2007", "the fingerprints, which the log keeps", blind=True,
    ),
    "tree": DetectorEntry(
        "tree", "compare", "the document tree, level by level: which levels changed, elements or texts",
        "Trivedi et al. 2014, II, Change Detection, 2", BODIES,
    ),
    "links": DetectorEntry(
        "links", "compare", "links that came and went, in the main part and in the navigation",
        needs="the links, in the log",
    ),
    "relevance": DetectorEntry(
        "relevance", "compare", "whether the page entered or left the topic", needs="the scores, in the log",
    ),
    "images": DetectorEntry(
        "images", "compare", "pictures that were added, removed or replaced, by digest and by what they show",
        "Trivedi et al. 2014, future work",
        "the pictures, one request each; the extra 'images' to tell a replaced from a re-encoded one",
    ),
}  # fmt: skip
DETECTORS = Registry("detector", __name__, ENTRIES)


def detector(name: str) -> Compare:
    """The detector of that name.

    >>> detector("digest")(Snapshot("a", b"x"), Snapshot("a", b"y")).changed
    True
    """
    if name not in DETECTORS:  # nobody can name one of their own
        raise InputError(f"there is no detector {name!r}: choose from {', '.join(DETECTORS)}")
    compare: Compare = DETECTORS.maker(name)
    return compare
