"""The document trees, level by level: on which levels the elements are others, on which the texts.

A level has changed in structure if its sequence of tags is another, in text if the texts of its elements are. The
magnitude is the share of elements of the main part that differ, summed over the levels; if none does, that of its words
(`text.difference`): a menu that was built anew makes nothing of one other word.

Paper: Trivedi et al. 2014, II, Change Detection, 2. Ours is in what the change amounts to: where the levels of the main
part (snapshot.py) have the same elements and its words are the same, only furniture, dates or counters differ, and the
kind is cosmetic; and where nothing but links came or went, it is a change of links.

Paper items:
    personalized-levels: `lycosa refresh --detect tree`, `POST /interests`. Test:
        refresh/test_refresh_detectors.py::test_tree_levels_by_hand. Departs: texts of each level, too; where only
        furniture differs it is cosmetic.
"""

from __future__ import annotations

from itertools import zip_longest

from lycosa.refresh.change import Kind, Verdict
from lycosa.refresh.detectors.text import difference, share_of_others
from lycosa.refresh.snapshot import Snapshot
from lycosa.web.tree import Level


def tree(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Which levels differ, and how much.

    >>> def page(text): return Snapshot.of("http://a.test/", text.encode(), "text/html")
    >>> tree(page("<p>Coral<p>Reefs"), page("<p>Coral<ul><li>Reefs</ul>"))
    Verdict(changed=True, kind='structure', magnitude=0.4, says='levels 3-4: structure and text')
    """
    if not old.is_html or not new.is_html:
        return None
    structure, text, ways = levels_apart(old.tree.by_level(), new.tree.by_level())
    if not ways:
        return Verdict(False)
    says = _named(ways)
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


def levels_apart(old: list[Level], new: list[Level]) -> tuple[float, float, dict[int, str]]:
    """The share of elements that differ, that of texts, and for each level that changed in what way."""
    elements = texts = 0
    other_elements = other_texts = 0.0
    ways: dict[int, str] = {}
    for number, (before, after) in enumerate(zip_longest(old, new, fillvalue=_EMPTY), 1):
        most, most_texts = max(len(before.elements), len(after.elements)), max(len(before.texts), len(after.texts))
        elements += most
        texts += most_texts
        way = []
        if before.elements != after.elements:
            other_elements += most * share_of_others(before.elements, after.elements)
            way.append("structure")
        if before.texts != after.texts:
            other_texts += most_texts * share_of_others(before.texts, after.texts)
            way.append("text")
        if way:
            ways[number] = " and ".join(way)
    return min(1.0, other_elements / (elements or 1)), min(1.0, other_texts / (texts or 1)), ways


_EMPTY = Level()


def _named(ways: dict[int, str], most: int = 6) -> str:
    """Levels in a row that changed in the same way are named together.

    >>> _named({4: "structure", 5: "text", 6: "text"})
    'level 4: structure; levels 5-6: text'
    """
    runs: list[tuple[int, int, str]] = []
    for level, way in ways.items():
        if runs and runs[-1][1] == level - 1 and runs[-1][2] == way:
            runs[-1] = (runs[-1][0], level, way)
        else:
            runs.append((level, level, way))
    names = [f"level{f's {a}-{b}' if b > a else f' {a}'}: {way}" for a, b, way in runs[:most]]
    return "; ".join(names) + (f"; and {len(runs) - most} more" if len(runs) > most else "")
