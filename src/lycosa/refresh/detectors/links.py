"""Links that came and went. Those of the main part matter; new ones in the navigation are cosmetic.

The magnitude is (added + removed) / (all links of both versions), over the links of the main part if any of these
changed, else over all. A link that the other version has anywhere on the page was neither added nor removed. Session
ids and tracking parameters are no part of an address (web/urls.py).
"""

from __future__ import annotations

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Which links are others.

    >>> compare(Snapshot("a", links=["b", "c"]), Snapshot("a", links=["c", "d"]))
    Verdict(changed=True, kind='link', magnitude=0.6666666666666666, says='1 link added, 1 removed')
    """
    known = [(snapshot.body or snapshot.links or snapshot.text) for snapshot in (old, new)]
    if not all(known):
        return None
    before, after = set(old.links), set(new.links)
    if old.is_html != new.is_html and old.body and new.body:  # one kind of file became another: no links to compare
        return Verdict(False)
    main_before, main_after = set(old.main_links), set(new.main_links)
    added, removed = main_after - before - main_before, main_before - after - main_after
    if added or removed:
        share = (len(added) + len(removed)) / len(main_before | main_after)
        return Verdict(True, "link", share, _told(len(added), len(removed)))
    added, removed = after - before, before - after
    if not added and not removed:
        return Verdict(False)
    share = (len(added) + len(removed)) / len(before | after)
    return Verdict(True, "cosmetic", share, _told(len(added), len(removed)) + ", in the navigation")


def _told(added: int, removed: int) -> str:
    parts = [f"{n} {'link' if n == 1 else 'links'} {way}" for n, way in ((added, "added"), (removed, "removed")) if n]
    return ", ".join([parts[0], *(part.replace("links ", "").replace("link ", "") for part in parts[1:])])
