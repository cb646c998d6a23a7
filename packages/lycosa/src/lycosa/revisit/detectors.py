"""Detectors: functions that compare two versions of a page, each in its own way. `DETECTORS` names them.

A detector is `(old, new) -> Verdict | None`; None means that its input is missing. `judge_change` combines their
results into one change with a kind and a magnitude.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import zip_longest
from typing import TypeAlias

from lycosa.core.errors import InputError
from lycosa.core.spec import Registry, RegistryEntry
from lycosa.revisit.change import KINDS, Change, Kind, Verdict
from lycosa.revisit.snapshot import MainBlocks, Snapshot, words_of
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS, distance
from lycosa.web.tree import DomLevel

Compare: TypeAlias = Callable[[Snapshot, Snapshot], Verdict | None]


@dataclass(frozen=True)
class DetectorEntry(RegistryEntry):
    """Registry entry of a detector."""

    blind: bool = False  # detects a difference but not its kind; other detectors may reduce it to cosmetic


BODIES = "the archived bodies"

ENTRIES = {
    "digest": DetectorEntry(
        "detectors", "digest", "any changed byte of the body, by SHA-256", needs=BODIES, blind=True,
    ),
    "paper": DetectorEntry(
        "detectors", "paper",
        "the sum of the characters divided by the number of distinct ones; cheap, but misses some changes",
        "Trivedi et al. 2014, III, Change Detection", BODIES, blind=True,
    ),
    "main-text": DetectorEntry(
        "detectors", "main_text", "the words of the main content, without navigation, dates and counters", needs=BODIES,
    ),
    "simhash": DetectorEntry(
        "detectors", "simhash", "fingerprints of the text that differ in more than 4 of 64 bits: a large change",
        "Charikar 2002; Manku et al. 2007", "the fingerprints, which the log keeps", blind=True,
    ),
    "tree": DetectorEntry(
        "detectors", "tree", "the document tree, level by level: which levels changed, in elements or texts",
        "Trivedi et al. 2014, II, Change Detection, 2", BODIES,
    ),
    "links": DetectorEntry(
        "detectors", "links", "added and removed links, in the main content and in the navigation",
        needs="the links, in the log",
    ),
    "relevance": DetectorEntry(
        "detectors", "relevance", "whether the page became relevant or no longer is", needs="the scores, in the log",
    ),
}  # fmt: skip
DETECTORS = Registry("detector", "lycosa.revisit", ENTRIES)

# One detector of each kind; simhash is for pages without an archive, the other detectors are for comparisons.
DEFAULT = ("main-text", "tree", "links", "relevance")


def detector(name: str) -> Compare:
    """Return the detector with a name; raise InputError if there is none."""
    if name not in DETECTORS:  # user-defined detectors are not supported
        raise InputError("unknown-name", f"unknown detector {name!r}: choose from {', '.join(DETECTORS)}")
    compare: Compare = DETECTORS.maker(name)
    return compare


def parse_detectors(text: str | Sequence[str]) -> tuple[str, ...]:
    """Parse names of detectors, separated by commas or spaces, without duplicates.

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
            raise InputError(
                "unknown-name", f"unknown detector {name!r}: choose from {', '.join(DETECTORS)}, or 'default'"
            )
    if not names:
        raise InputError("missing-option", f"no detector given: choose from {', '.join(DETECTORS)}, or 'default'")
    return tuple(dict.fromkeys(names))


def judge_change(old: Snapshot, new: Snapshot, detectors: Sequence[str] = DEFAULT) -> Change | None:
    """Return the change between two versions; None for equal bodies.

    The kind is the first in the order of `KINDS` that any detector reports; the magnitude is the largest among
    detectors of that kind. A `blind` detector (digest, paper, simhash) counts as cosmetic if a detector that reads the
    text (main-text, tree) saw no other change. Different bodies without any detected change are cosmetic with magnitude
    0. Different bodies that no detector can read (neither text nor HTML) are a change of text.
    """
    if old.body and old.body == new.body:
        return None
    verdicts = {name: verdict for name in detectors if (verdict := detector(name)(old, new)) is not None}
    seen = {name: verdict for name, verdict in verdicts.items() if verdict.changed}
    if not seen:
        return _unseen(old, new, detectors, verdicts)
    reading = [verdicts[name] for name in ("main-text", "tree") if name in verdicts]
    if reading and all(not verdict.changed or verdict.kind == "cosmetic" for verdict in reading):
        # A relevance that crosses the threshold because of the navigation is not a topic change either.
        for name in [name for name in seen if DETECTORS[name].blind or name == "relevance"]:
            seen[name] = replace(seen[name], kind="cosmetic")
    seen = dict(sorted(seen.items(), key=lambda item: KINDS.index(item[1].kind)))  # most important kind first
    kind = next(iter(seen.values())).kind
    magnitude = max(verdict.magnitude for verdict in seen.values() if verdict.kind == kind)
    return Change("changed", kind, magnitude, list(seen), [verdict.says for verdict in seen.values()])


def _unseen(old: Snapshot, new: Snapshot, detectors: Sequence[str], verdicts: Container[str]) -> Change | None:
    """Return the change of bodies that differ without any detector reporting it."""
    if not old.body or not new.body:
        return None
    readers = [name for name in detectors if name not in ("relevance", "links")]
    if readers and not any(name in verdicts for name in readers):
        return Change("changed", "text", 1.0, ["digest"], ["another body, which no detector can read"])
    return Change("changed")


def digest(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Compare the SHA-256 of the inflated bodies, so a different compression is no change.

    It detects every change, including counters, but not its size: the magnitude is always 1.

    >>> digest(Snapshot("a", b"coral"), Snapshot("a", b"reefs")).says
    'sha256 f39fd907, now b4eba69b'
    """
    if not old.body or not new.body:
        return None
    before, after = sha256(old.body).hexdigest(), sha256(new.body).hexdigest()
    if before == after:
        return Verdict(False)
    return Verdict(True, "text", 1.0, f"sha256 {before[:8]}, now {after[:8]}")


def paper(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Compare the paper's checksum: the sum of all code points of the source over the number of distinct characters.

        Checksum(P) = ASCIISumOfPageContent / DistinctCharacterCount

    It is 0 for an empty page and the same for any permutation of the characters, so it misses many changes. Kept for
    comparison with the paper; `digest` replaces it. Fractions make equality exact. The source is decoded first ("ASCII"
    is read as code points), so another charset for the same characters is no change. The magnitude is the difference of
    the checksums relative to the larger one.

    Paper: Trivedi et al. 2014, III, Change Detection.

    >>> round(paper(Snapshot("a", b"ab"), Snapshot("a", b"aa")).magnitude, 3)  # 97.5 and 194
    0.497
    """
    if not old.body or not new.body:
        return None
    before, after = checksum(old.source), checksum(new.source)
    if before == after:
        return Verdict(False)
    apart = float(abs(before - after) / max(before, after))
    return Verdict(True, "text", apart, f"checksum {float(before):.2f}, now {float(after):.2f}")


def checksum(text: str) -> Fraction:
    """Return the paper's checksum of a page's source."""
    counts = Counter(text)
    return Fraction(sum(ord(letter) * n for letter, n in counts.items()), len(counts) or 1)


def simhash(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Compare fingerprints of the text (text/fingerprint.py): similar pages differ in few of 64 bits.

    Up to NEAR bits are the effect of a new date or sentence; more is a changed text. The log stores the fingerprints,
    so no archive is needed; small changes go undetected. Unrelated texts differ in 32 bits on average, so the magnitude
    is min(1, distance / 32).
    """
    if old.simhash and new.simhash:
        before, after = old.simhash, new.simhash
    # one formula for both, because a stored fingerprint may be based on the stems of another language
    elif old.text and new.text:
        before, after = old.text_print, new.text_print
    else:
        before, after = old.simhash or old.text_print, new.simhash or new.text_print
        if not before or not after:
            return None
    apart = distance(before, after)
    says = f"{apart} of 64 bits of the fingerprint" if apart else ""
    return Verdict(
        apart > NEAR_DUPLICATE_BITS, "text" if apart > NEAR_DUPLICATE_BITS else "cosmetic", min(1.0, apart / 32), says
    )


def relevance(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Report whether the relevance crossed the threshold; the magnitude is the absolute difference, at most 1."""
    was, now = old.relevance >= old.threshold, new.relevance >= new.threshold
    if was == now:
        return Verdict(False)
    says = f"{'entered' if now else 'left'} the topic: {old.relevance:.3g}, now {new.relevance:.3g}"
    return Verdict(True, "topic", min(1.0, abs(old.relevance - new.relevance)), says)


def main_text(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Compare the words of the main part, without navigation, advertisements, dates and counters (snapshot.py).

    Bodies that differ only in those are a cosmetic change. Blocks that only changed places are a change of structure;
    words that occur only in links are a change of links. The magnitude is the share of words that differ: see
    `difference`.
    """
    if not old.is_read or not new.is_read:
        return None
    apart = difference(old.main, new.main)
    if not apart:
        return Verdict(False)
    longest = max(len(old.main.words), len(new.main.words))
    if apart.moved:
        same = "the same blocks" if apart.reordered else "the same words"
        return Verdict(True, apart.kind, apart.share, f"{same} in another order")
    says = f"{apart.removed:,} word{'s' * (apart.removed != 1)} removed, {apart.added:,} added, of {longest:,}"
    return Verdict(True, apart.kind, apart.share, says + (", all within links" if apart.linked else ""))


def links(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Report added and removed links; those outside the main part are cosmetic.

    The magnitude is (added + removed) / (all links of both versions), over the links of the main part if any of these
    changed, else over all. A link that the other version has anywhere on the page was neither added nor removed.
    Session ids and tracking parameters are not part of a URL (web/urls.py).
    """
    known = [(snapshot.body or snapshot.links or snapshot.text) for snapshot in (old, new)]
    if not all(known):
        return None
    before, after = set(old.links), set(new.links)
    if old.is_html != new.is_html and old.body and new.body:  # the file type changed: no links to compare
        return Verdict(False)
    main_before, main_after = set(old.main_links), set(new.main_links)
    added, removed = main_after - before - main_before, main_before - after - main_after
    if added or removed:
        share = (len(added) + len(removed)) / len(main_before | main_after)
        return Verdict(True, "link", share, _format_counts(len(added), len(removed)))
    added, removed = after - before, before - after
    if not added and not removed:
        return Verdict(False)
    share = (len(added) + len(removed)) / len(before | after)
    return Verdict(True, "cosmetic", share, _format_counts(len(added), len(removed)) + ", in the navigation")


def _format_counts(added: int, removed: int) -> str:
    parts = [f"{n} {'link' if n == 1 else 'links'} {way}" for n, way in ((added, "added"), (removed, "removed")) if n]
    return ", ".join([parts[0], *(part.replace("links ", "").replace("link ", "") for part in parts[1:])])


@dataclass(slots=True, frozen=True)
class Difference:
    """Difference of two main parts, counted in words."""

    removed: int = 0
    added: int = 0
    moved: bool = False
    share: float = 0.0
    reordered: bool = False  # the same blocks in another order
    linked: bool = False  # only links differ

    @property
    def kind(self) -> Kind:
        return "structure" if self.reordered else "link" if self.linked else "text"

    def __bool__(self) -> bool:
        return self.share > 0


def difference(old: MainBlocks, new: MainBlocks) -> Difference:
    """Return the difference of two main parts.

    share = (max(removed, added) - common) / max(words of old, words of new), over words of blocks that only one has;
    where these have the same words, the share of adjacent word pairs that differ. A block that is outside the main part
    of the other version is not removed: only its surroundings were classified differently.
    """
    before, after = old.words, new.words
    if before == after:
        return Difference()
    longest = max(len(before), len(after), 1)
    removed = Counter(words_of(_only(old.blocks, new)))
    added = Counter(words_of(_only(new.blocks, old)))
    if not removed and not added:  # the same blocks, perhaps in another order
        there, here = set(new.blocks), set(old.blocks)
        before = words_of(block for block in old.blocks if block in there)
        after = words_of(block for block in new.blocks if block in here)
        share = share_of_others(before, after)
        return Difference(moved=True, share=share, reordered=True) if before != after else Difference()
    common = (removed & added).total()
    others = max(removed.total(), added.total()) - common
    if not others:
        return Difference(moved=True, share=max(share_of_others(before, after), 1 / longest))
    linked = bool(old.unlinked or new.unlinked) and words_of(old.unlinked) == words_of(new.unlinked)
    return Difference(removed.total() - common, added.total() - common, share=others / longest, linked=linked)


def _only(blocks: list[str], other: MainBlocks) -> list[str]:
    elsewhere = set(other.furniture)
    have = Counter(other.blocks)
    only: list[str] = []
    for block in blocks:
        if have[block]:
            have[block] -= 1
        elif block not in elsewhere:
            only.append(block)
    return only


def share_of_others(old: list[str], new: list[str]) -> float:
    """Return the share of differing items of two sequences, or of adjacent pairs if only the order differs.

    It is 0 only for equal sequences; linear time.
    """
    if old == new:
        return 0.0
    if not old or not new:
        return 1.0
    longest = max(len(old), len(new))
    others = longest - (Counter(old) & Counter(new)).total()
    if others:
        return others / longest
    pairs = [Counter(zip(["", *items], [*items, ""], strict=True)) for items in (old, new)]
    return max(longest + 1 - (pairs[0] & pairs[1]).total(), 1) / (longest + 1)


def tree(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Compare the document trees level by level.

    A level has changed in structure if its sequence of tags differs, in text if the texts of its elements differ. The
    magnitude is the share of differing elements of the main part, summed over the levels; if none differs, that of its
    words (`difference`), so a rebuilt menu does not hide a changed word.

    Paper: Trivedi et al. 2014, II, Change Detection, 2. Our addition is the kind: where the main part (snapshot.py) has
    the same elements and words, the change is cosmetic; where only links were added or removed, it is a change of
    links.
    """
    if not old.is_html or not new.is_html:
        return None
    structure, text, kinds = levels_apart(old.tree.by_level(), new.tree.by_level())
    if not kinds:
        return Verdict(False)
    says = _named(kinds)
    main = [side.tree.by_level(inside=side.main.inside) for side in (old, new)]
    of_main = levels_apart(*main)[0]
    words = difference(old.main, new.main)
    kind: Kind
    if of_main:
        apart = levels_apart(*(side.tree.by_level(inside=side.main.plain) for side in (old, new)))[0]
        kind, magnitude = "link" if words.linked and not apart else "structure", of_main
    elif words:
        kind, magnitude = words.kind, words.share
    else:
        return Verdict(True, "cosmetic", structure or text, says + ", none of it in the main part")
    return Verdict(True, kind, magnitude, says)


def levels_apart(old: list[DomLevel], new: list[DomLevel]) -> tuple[float, float, dict[int, str]]:
    """Return the share of differing elements, the share of differing texts, and the kind of change by level."""
    elements = texts = 0
    other_elements = other_texts = 0.0
    kinds: dict[int, str] = {}
    for number, (before, after) in enumerate(zip_longest(old, new, fillvalue=DomLevel()), 1):
        longest = max(len(before.elements), len(after.elements))
        longest_texts = max(len(before.texts), len(after.texts))
        elements += longest
        texts += longest_texts
        way = []
        if before.elements != after.elements:
            other_elements += longest * share_of_others(before.elements, after.elements)
            way.append("structure")
        if before.texts != after.texts:
            other_texts += longest_texts * share_of_others(before.texts, after.texts)
            way.append("text")
        if way:
            kinds[number] = " and ".join(way)
    return min(1.0, other_elements / (elements or 1)), min(1.0, other_texts / (texts or 1)), kinds


def _named(kinds: dict[int, str], limit: int = 6) -> str:
    """Describe changed levels; consecutive levels of one kind are joined."""
    runs: list[tuple[int, int, str]] = []
    for level, way in kinds.items():
        if runs and runs[-1][1] == level - 1 and runs[-1][2] == way:
            runs[-1] = (runs[-1][0], level, way)
        else:
            runs.append((level, level, way))
    names = [f"level{f's {a}-{b}' if b > a else f' {a}'}: {way}" for a, b, way in runs[:limit]]
    return "; ".join(names) + (f"; and {len(runs) - limit} more" if len(runs) > limit else "")
