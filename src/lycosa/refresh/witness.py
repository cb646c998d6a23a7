"""What has become of a page: said in the visit, before it is recorded, by who knows what the page was."""

from __future__ import annotations

from lycosa.core.types import Links, Page, Terms, Visit
from lycosa.refresh import asking
from lycosa.refresh.change import PERMANENT, Change
from lycosa.refresh.comparing import Comparison
from lycosa.refresh.memory import Memory
from lycosa.refresh.pictures import Gallery

VANISHED = 0.5
"""Share of a page's words that are others at least, when it has become one that says that there is nothing. Some hosts
answer to everything with much the same page, and some pages are about pages that are not found: these did not vanish.
"""


class Witness:
    """Holds what came against what is remembered (memory.py), and against what is archived (comparing.py)."""

    def __init__(self, memory: Memory, comparison: Comparison) -> None:
        self.memory, self.comparison = memory, comparison

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Whether a revisit brought what is there already."""
        watched = self.memory.watched.get(visit.node)
        if visit.kind == "revisit":
            return watched is not None and not watched.fate and self._is_as_before(visit, page)
        if visit.kind == "image":
            return self.memory.gallery is not None and self.memory.gallery.is_same(visit)
        return watched is not None and bool(visit.digest) and watched.digest == visit.digest

    def _is_as_before(self, visit: Visit, page: Page) -> bool:
        before = self.comparison.versions.last(visit.node)
        return before is not None and self.comparison.is_same(before, visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        """Say in the visit what has become of the page."""
        change = self._change(visit, page)
        known = self.memory.watched.get(visit.node)
        if visit.kind == "image" and self.memory.gallery is not None:
            change = self.memory.gallery.compare(visit, page)
        elif visit.kind == "revisit" and visit.outcome in ("ok", "unchanged") and known is not None and not known.fate:
            odd = asking.remark(known.validators, visit, change is not None and change.matters)
            visit.note = "; ".join(filter(None, (visit.note, odd)))
        if self.memory.gallery is not None:
            self._note_pictures(self.memory.gallery, visit, page)
        if change is not None:
            visit.data = {**visit.data, "change": change.as_data()}

    def _note_pictures(self, gallery: Gallery, visit: Visit, page: Page) -> None:
        """Which pictures a page shows; of one that has not changed since nobody looked at pictures, too."""
        if visit.is_version:
            gallery.note(visit, page.exchange)
        elif visit.kind == "revisit" and visit.outcome == "unchanged" and not gallery.knows(visit.node):
            before = self.comparison.versions.last(visit.node)
            gallery.note(visit, self.comparison.versions.exchange(before) if before is not None else None)

    def _change(self, visit: Visit, page: Page) -> Change | None:
        if visit.is_page:
            # What moved is told as moved: where it is now it is no news.
            return Change("new") if visit.is_find(self.memory.threshold) and visit.arm != "moved" else None
        known = self.memory.watched.get(visit.node)
        if visit.kind != "revisit" or known is None:
            return None
        if visit.outcome == "ok" and "soft-404" in visit.flags and not known.fate:
            before = self.comparison.versions.last(visit.node)
            if before is not None and self.comparison.share(before, visit, page) < VANISHED:  # it was always like that
                visit.flags.remove("soft-404")
                visit.beta = before.worth
        if visit.outcome == "ok" and "soft-404" in visit.flags:
            visit.outcome, visit.note = "gone", "says that there is nothing, under status 200"
            visit.links, visit.beta, visit.terms = Links(), 0.0, Terms(new=visit.terms.new)
        if visit.outcome in ("gone", "unwanted"):
            told = visit.note or f"status {visit.status}"
            if visit.outcome == "unwanted":
                told = f"now {visit.note or 'of another type'}, which is not read"
            return Change("vanished", magnitude=1.0, says=[told]) if known.fate != "vanished" else None
        if visit.outcome == "redirect":
            target = visit.links.urls[0]
            how = "for good" if visit.status in PERMANENT else "for now"
            moved = Change("moved", magnitude=1.0, says=[f"{how}, to {target}"], target=target)
            return moved if (known.fate, known.target) != ("moved", target) else None
        if visit.outcome != "ok":
            return None
        if known.fate:
            how = "as it was" if self._is_as_before(visit, page) else "with other content"
            return Change("returned", magnitude=1.0, says=[how])
        return self._difference(visit, page)

    def _difference(self, visit: Visit, page: Page) -> Change | None:
        before = self.comparison.versions.last(visit.node)
        return self.comparison.change(before, visit, page) if before is not None else None
