"""Detectors: each compares two versions of a page in a way of its own. `DETECTORS` names them.

A detector is a function `(old, new) -> Verdict | None`; None: it has nothing to say, as what it reads is not there.
`judge_change` makes one change of what several say, with a kind and a magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from lycosa.core.errors import InputError
from lycosa.core.registry import Entry, Registry
from lycosa.refresh.change import KINDS, Change, Verdict
from lycosa.refresh.snapshot import Snapshot

Compare: TypeAlias = Callable[[Snapshot, Snapshot], Verdict | None]


@dataclass(frozen=True)
class DetectorEntry(Entry):
    """A detector, and whether it can see."""

    blind: bool = False
    """It cannot tell what differs: where another that can sees only the cosmetic, the change is that."""


BODIES = "the archived bodies"

ENTRIES = {
    "digest": DetectorEntry("text", "digest", "any changed byte of the body, by SHA-256", needs=BODIES, blind=True),
    "paper": DetectorEntry(
        "text", "paper",
        "the sum of the characters divided by the number of distinct ones; cheap, but misses some changes",
        "Trivedi et al. 2014, III, Change Detection", BODIES, blind=True,
    ),
    "main-text": DetectorEntry(
        "text", "main_text", "the words of the main content, without navigation, dates and counters", needs=BODIES,
    ),
    "simhash": DetectorEntry(
        "text", "simhash", "fingerprints of the text that differ in more than 4 of 64 bits: a large change",
        "Charikar 2002; Manku et al. 2007", "the fingerprints, which the log keeps", blind=True,
    ),
    "tree": DetectorEntry(
        "text", "tree", "the document tree, level by level: which levels changed, in elements or texts",
        "Trivedi et al. 2014, II, Change Detection, 2", BODIES,
    ),
    "links": DetectorEntry(
        "text", "links", "added and removed links, in the main content and in the navigation",
        needs="the links, in the log",
    ),
    "relevance": DetectorEntry(
        "text", "relevance", "whether the page became relevant or no longer is", needs="the scores, in the log",
    ),
    "images": DetectorEntry(
        "images", "images", "added, removed or replaced pictures, by digest and by what they show",
        "Trivedi et al. 2014, future work",
        "the pictures, one request each; the extra 'images' to tell a replaced from a re-encoded one",
    ),
}  # fmt: skip
DETECTORS = Registry("detector", __name__, ENTRIES)

DEFAULT = ("main-text", "tree", "links", "relevance")
"""Each sees a kind of its own. The others are for what is not archived (simhash), for pictures, and for comparison."""

_READING = ("main-text", "tree")
_ELSEWHERE = frozenset({"relevance", "links", "images"})
"""Detectors that look at something beside the page's own words."""


def detector(name: str) -> Compare:
    """The detector of that name.

    >>> detector("digest")(Snapshot("a", b"x"), Snapshot("a", b"y")).changed
    True
    """
    if name not in DETECTORS:  # nobody can name one of their own
        raise InputError(f"there is no detector {name!r}: choose from {', '.join(DETECTORS)}")
    compare: Compare = DETECTORS.maker(name)
    return compare


def parse_detectors(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names of detectors, as a list or with commas or blanks between them; each once.

    >>> parse_detectors("digest, tree"), parse_detectors(["links"]), parse_detectors("default") == DEFAULT
    (('digest', 'tree'), ('links',), True)
    """
    given = text.replace(",", " ").split() if isinstance(text, str) else [part.strip() for part in text]
    names: list[str] = []
    for name in given:
        if name == "default":
            names.extend(DEFAULT)
        elif name in DETECTORS:
            names.append(name)
        else:
            raise InputError(f"there is no detector {name!r}: choose from {', '.join(DETECTORS)}, or 'default'")
    if not names:
        raise InputError(f"no detector is named: choose from {', '.join(DETECTORS)}, or 'default'")
    return tuple(dict.fromkeys(names))


def judge_change(old: Snapshot, new: Snapshot, detectors: Sequence[str] = DEFAULT) -> Change | None:
    """What has become of a page; None for the same body (and the same pictures, where these are looked at).

    The kind is the gravest that a detector sees, by the order of `KINDS`; the magnitude is the largest among those
    that see it. A detector that can't tell what differs (those that are `blind`: digest, paper, simhash) counts as
    cosmetic where one that reads the text (main-text, tree) saw nothing else. Bodies that differ without any detector
    seeing it: cosmetic, magnitude 0. Bodies that differ and that none of them can read (not text, not HTML): another
    text.

    >>> old = Snapshot.of("http://a.test/", b"<p>Coral reefs<footer>3 May</footer>", "text/html")
    >>> new = Snapshot.of("http://a.test/", b"<p>Coral reefs<footer>4 May</footer>", "text/html")
    >>> change = judge_change(old, new)
    >>> change.kind, change.by, change.says
    ('cosmetic', ['tree'], ['level 3: text, none of it in the main part'])
    """
    same = bool(old.body) and old.body == new.body
    names = [name for name in detectors if name == "images"] if same else list(detectors)
    verdicts = {name: verdict for name in names if (verdict := detector(name)(old, new)) is not None}
    seen = {name: verdict for name, verdict in verdicts.items() if verdict.changed}
    if not seen:
        return _unseen(old, new, detectors, verdicts)
    reading = [verdicts[name] for name in _READING if name in verdicts]
    if reading and all(not verdict.changed or verdict.kind == "cosmetic" for verdict in reading):
        # Nor does a score that crossed the threshold as the navigation changed make a page enter the topic.
        for name in [name for name in seen if DETECTORS[name].blind or name == "relevance"]:
            seen[name] = replace(seen[name], kind="cosmetic")
    seen = dict(sorted(seen.items(), key=lambda said: KINDS.index(said[1].kind)))  # the gravest is said first
    kind = next(iter(seen.values())).kind
    magnitude = max(verdict.magnitude for verdict in seen.values() if verdict.kind == kind)
    return Change("changed", kind, magnitude, list(seen), [verdict.says for verdict in seen.values()])


def _unseen(old: Snapshot, new: Snapshot, detectors: Sequence[str], verdicts: Container[str]) -> Change | None:
    """What to say of bodies that differ where no detector saw it."""
    if not old.body or not new.body or old.body == new.body:
        return None
    readers = [name for name in detectors if name not in _ELSEWHERE]
    if readers and not any(name in verdicts for name in readers):
        return Change("changed", "text", 1.0, ["digest"], ["another body, which no detector can read"])
    return Change("changed")
