"""Detectors: each compares two versions of a page in a way of its own. `DETECTORS` names them.

A detector is a function `compare(old, new) -> Verdict | None`; None: it has nothing to say, as what it reads is not
there. judging.py makes one change of what several say.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, TypeAlias

from lycosa.core.errors import InputError
from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot

Compare: TypeAlias = Callable[[Snapshot, Snapshot], Verdict | None]


class Entry(NamedTuple):
    """A detector by name: `lycosa.refresh.detectors.MODULE:compare`."""

    module: str
    summary: str
    needs: str = "the archived bodies"
    paper: str = ""
    blind: bool = False
    """It cannot tell what differs: where another that can sees only the cosmetic, the change is that."""


DETECTORS: dict[str, Entry] = {
    "digest": Entry("digest", "any byte of the body, by SHA-256", blind=True),
    "paper": Entry(
        "paper",
        "the sum of the characters divided by the number of distinct ones; cheap, and some changes escape it",
        paper="Trivedi et al. 2014, III, Change Detection",
        blind=True,
    ),
    "main-text": Entry("main_text", "the words of the main part, without navigation, dates and counters"),
    "simhash": Entry(
        "simhash",
        "fingerprints of the text that differ in more than 4 of 64 bits: a large change",
        "the fingerprints, which the log keeps",
        "Charikar 2002; Manku et al. 2007",
        blind=True,
    ),
    "tree": Entry(
        "tree",
        "the document tree, level by level: which levels changed, elements or texts",
        paper="Trivedi et al. 2014, II, Change Detection, 2",
    ),
    "links": Entry(
        "links", "links that came and went, in the main part and in the navigation", "the links, in the log"
    ),
    "relevance": Entry("relevance", "whether the page entered or left the topic", "the scores, in the log"),
    "images": Entry(
        "images",
        "pictures that were added, removed or replaced, by digest and by what they show",
        "the pictures, one request each; the extra 'images' to tell a replaced from a re-encoded one",
        "Trivedi et al. 2014, future work",
    ),
}


def detector(name: str) -> Compare:
    """The detector of that name.

    >>> detector("digest")(Snapshot("a", b"x"), Snapshot("a", b"y")).changed
    True
    """
    entry = DETECTORS.get(name)
    if entry is None:
        raise InputError(f"there is no detector {name!r}: choose from {', '.join(DETECTORS)}")
    compare: Compare = import_module(f"{__name__}.{entry.module}").compare
    return compare
