"""What has become of a page: said in the visit, before it is recorded, by who knows what the page was.

Paper items:
    personalized-recrawl-changed: `lycosa refresh`. Test:
        refresh/test_refresh_detectors.py::test_the_same_body_is_no_change.
"""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.core.types import Exchange, Links, Page, Terms, Visit
from lycosa.refresh.change import PERMANENT, Change
from lycosa.refresh.detectors import judge_change
from lycosa.refresh.detectors.images import Gallery
from lycosa.refresh.detectors.text import difference
from lycosa.refresh.memory import Memory, Watched
from lycosa.refresh.snapshot import Snapshot, inflated
from lycosa.refresh.validators import CUT, remark
from lycosa.store.versions import Versions
from lycosa.web.decoding import charset_of, decode
from lycosa.web.reading import read_again

VANISHED = 0.5
"""Share of a page's words that are others at least, when it has become one that says that there is nothing. Some hosts
answer to everything with much the same page, and some pages are about pages that are not found: these did not vanish.
"""


class Witness:
    """Holds what came against what is remembered (memory.py), and, where digests differ, against what is archived."""

    def __init__(self, memory: Memory, versions: Versions, detectors: Sequence[str]) -> None:
        self.memory, self.versions, self.detectors = memory, versions, tuple(detectors)

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Whether a revisit brought what is there already."""
        watched = self.memory.watched.get(visit.node)
        if visit.kind == "revisit":
            return watched is not None and not watched.fate and self._is_as_before(visit, page)
        if visit.kind == "image":
            return self.memory.gallery is not None and self.memory.gallery.is_same(visit)
        return watched is not None and bool(visit.digest) and watched.digest == visit.digest

    def _is_as_before(self, visit: Visit, page: Page) -> bool:
        before = self.versions.last(visit.node)
        return before is not None and self._is_same(before, visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        """Say in the visit what has become of the page."""
        change = self._change(visit, page)
        known = self.memory.watched.get(visit.node)
        if visit.kind == "image" and self.memory.gallery is not None:
            change = self.memory.gallery.compare(visit, page)
        elif visit.kind == "revisit" and visit.outcome in ("ok", "unchanged") and known is not None and not known.fate:
            odd = remark(known.validators, visit, change is not None and change.matters)
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
            before = self.versions.last(visit.node)
            gallery.note(visit, self.versions.exchange(before) if before is not None else None)

    def _change(self, visit: Visit, page: Page) -> Change | None:
        if visit.is_page:
            # What moved is told as moved: where it is now it is no news.
            return Change("new") if visit.is_find(self.memory.threshold) and visit.arm != "moved" else None
        known = self.memory.watched.get(visit.node)
        if visit.kind != "revisit" or known is None:
            return None
        if visit.outcome == "ok" and "soft-404" in visit.flags:
            self._doubt(known, visit, page)
        if visit.outcome in ("gone", "unwanted"):
            why = visit.note or f"status {visit.status}"
            if visit.outcome == "unwanted":
                why = f"now {visit.note or 'of another type'}, which is not read"
            return Change("vanished", magnitude=1.0, says=[why]) if known.fate != "vanished" else None
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
        before = self.versions.last(visit.node)
        return self._difference(before, visit, page) if before is not None else None

    def _doubt(self, known: Watched, visit: Visit, page: Page) -> None:
        """A page that says that there is nothing is gone, unless it was always like that."""
        before = self.versions.last(visit.node) if not known.fate else None
        if before is not None and self._share(before, visit, page) < VANISHED:
            visit.flags.remove("soft-404")
            visit.beta = before.worth
        else:
            visit.outcome, visit.note = "gone", "says that there is nothing, under status 200"
            visit.links, visit.beta, visit.terms = Links(), 0.0, Terms(new=visit.terms.new)

    # -- two versions ------------------------------------------------------------------------------------------

    def _is_same(self, before: Visit, visit: Visit, page: Page) -> bool:
        """Whether the content is the very same: the same bytes, however they were packed, to be read the same way."""
        if page.exchange is None or not before.digest or _directives(before) != _directives(visit):
            return False
        kept = self.versions.exchange(before)
        if visit.digest != before.digest:
            if kept is None or not (_coding(kept) or _coding(page.exchange)):
                return False
            if inflated(kept) != inflated(page.exchange):
                return False
        return kept is None or _reads_the_same(inflated(kept), _kind(kept), _kind(page.exchange))

    def _difference(self, before: Visit, visit: Visit, page: Page) -> Change | None:
        """In what way a version differs from the one before it; None if in none that any detector could see."""
        old, new = self._kept(before), self._come(visit, page)
        if not before.place.file:  # nothing archived: what the log knows has to do
            new.body = b""
        elif old.body == new.body and old.content_type != new.content_type:
            _tell_apart(old, new)
        change = judge_change(old, new, self.detectors)
        if change is None and old.body and not new.body and before.place.file:
            change = Change("changed", "text", 1.0, ["digest"], ["an empty body"])
        if set(before.flags) & CUT:  # who knows what the rest of it was
            change = Change("changed", by=["digest"], says=["the version before was cut short"])
        if said := _directives(visit) ^ _directives(before):
            directives = [f"{'now' if flag in visit.flags else 'no longer'} {flag}" for flag in sorted(said)]
            change = change or Change("changed")
            change.by, change.says = [*change.by, "robots"], [*change.says, ", ".join(directives)]
        return change

    def _share(self, before: Visit, visit: Visit, page: Page) -> float:
        """The share of words that differ between the main parts of two versions."""
        return difference(self._kept(before).main, self._come(visit, page).main).share

    def _kept(self, before: Visit) -> Snapshot:
        """The version that the archive holds; what the log knows of it where it holds none."""
        version = self._version(before, self.versions.exchange(before), before.title, "", before.links.urls)
        if version.body:
            document = read_again(version.body, before.node, version.content_type, apart="apart" in before.data)
            version.title, version.text, version.links = document.title, document.text, document.links.urls
        return version

    def _come(self, visit: Visit, page: Page) -> Snapshot:
        """The version that came."""
        return self._version(visit, page.exchange, visit.title, page.text, visit.links.urls)

    def _version(self, visit: Visit, exchange: Exchange | None, title: str, text: str, links: list[str]) -> Snapshot:
        body, kind = (inflated(exchange), _kind(exchange)) if exchange is not None else (b"", "")
        simhash, worth = visit.simhash, visit.worth
        return Snapshot(visit.node, body, kind, title, text, links, simhash, worth, self.memory.threshold)


def _directives(visit: Visit) -> set[str]:
    """What a page asks of robots; a header may say so, with the body as it was."""
    return set(visit.flags) & {"noindex", "noarchive", "nofollow"}


def _reads_the_same(body: bytes, old: str, new: str) -> bool:
    """Whether a body says the same under both content types: other charsets may mean other words."""
    if old == new:
        return True
    types = [kind.partition(";")[0].strip() for kind in (old, new)]
    return types[0] == types[1] and decode(body, charset_of(old)) == decode(body, charset_of(new))


def _tell_apart(old: Snapshot, new: Snapshot) -> None:
    """The same bytes that are to be read in another way: as each is read, so that detectors see a difference."""
    for version in (old, new):
        version.body = version.source.encode("utf-8", "replace")
        version.content_type = f"{version.content_type.partition(';')[0].strip()}; charset=utf-8"
        del version.source
    if old.body == new.body:  # another type altogether
        new.body += b"\n"


def _coding(exchange: Exchange) -> str:
    return exchange.header("content-encoding").strip().lower()


def _kind(exchange: Exchange) -> str:
    return exchange.header("content-type").strip().lower()
