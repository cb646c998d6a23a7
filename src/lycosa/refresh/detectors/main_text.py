"""The words of the main part: what is left without navigation, advertisements, dates and counters (mainpart.py).

Texts that differ in these only are the same. Where bodies differ and this one sees nothing, the change is cosmetic.
Blocks that only changed places are a change of structure; words that only links say, one of links. The magnitude is the
share of words that differ: see `mainpart.difference`.
"""

from __future__ import annotations

from lycosa.refresh.change import Verdict
from lycosa.refresh.mainpart import difference
from lycosa.refresh.snapshot import Snapshot


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Whether the pages say the same.

    >>> def page(text): return Snapshot.of("http://a.test/", text.encode(), "text/html")
    >>> compare(page("<p>Ten reefs died.<p>3 views"), page("<p>Ten reefs died.<p>4 views")).changed
    False
    >>> compare(page("<p>Ten reefs died.<p>3 views"), page("<p>Two reefs died.<p>4 views"))
    Verdict(changed=True, kind='text', magnitude=0.3333333333333333, says='1 word removed, 1 added, of 3')
    """
    if not old.is_read or not new.is_read:
        return None
    found = difference(old.main, new.main)
    if not found:
        return Verdict(False)
    most = max(len(old.main.words), len(new.main.words))
    if found.moved:
        told = "the same blocks" if found.reordered else "the same words"
        return Verdict(True, found.kind, found.share, f"{told} in another order")
    says = f"{found.lost:,} word{'s' * (found.lost != 1)} removed, {found.gained:,} added, of {most:,}"
    return Verdict(True, found.kind, found.share, says + (", all within links" if found.linked else ""))
