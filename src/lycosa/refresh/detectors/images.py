"""Pictures that were added, removed or replaced. First by digest; then by what they show.

A picture that has another digest but nearly the same perceptual hash (at most NEAR of 64 bits apart) was re-encoded or
resized: cosmetic. So is one that only moved to another address. The others are of kind structure; the magnitude is
the share of pictures that were added, removed or replaced.

The hash (dHash): the picture in grey, shrunk to 9 x 8; each bit says whether a point is darker than its neighbour. It
needs Pillow (`pip install 'lycosa[images]'`); without it only digests are compared, and what differs is said to be
replaced "by digest only". Hostile pictures (truncated, huge, no pictures at all) get no hash, and never an exception.

Paper: Trivedi et al. 2014, future work: changes of images.

Paper items:
    personalized-images: `lycosa refresh --detect images`. Test:
        refresh/test_refresh_detectors_images.py::test_pictures_change_under_the_same_page.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO

from lycosa.core.types import Exchange, Page, Visit
from lycosa.refresh.change import Change, Verdict
from lycosa.refresh.detectors import judge_change
from lycosa.refresh.snapshot import Picture, Snapshot, inflated
from lycosa.refresh.validators import Honesty, Validators, proves
from lycosa.text.fingerprint import distance
from lycosa.web.inflate import decode
from lycosa.web.tree import images as images_in
from lycosa.web.tree import tree_of

NEAR = 6
"""Bits by which two encodings of one picture may differ."""

MOST_PIXELS = 4_000_000
"""Pictures with more are not decoded: 16 MB of memory. JPEG can be decoded in a smaller size: see MOST_SHRUNK."""

MOST_SHRUNK = 50_000_000
"""Pixels of a JPEG, an eighth of which is decoded in each direction."""

FLAT = 8
"""Shades between the darkest and the lightest point below which a picture shows nothing that could be compared."""

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_UNKNOWN = -1


def picture(body: bytes) -> Picture:
    """What is kept of an image to compare it; any bytes will do.

    >>> picture(b"no picture").print
    -1
    """
    return Picture(sha256(body).digest(), _dhash(body))


def _dhash(body: bytes) -> int:
    """64 bits of what a picture shows; -1 where it can't be told."""
    try:
        from PIL import Image
    except ImportError:
        return _UNKNOWN
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(BytesIO(body), formats=FORMATS) as image:
                if image.format == "JPEG" and "progressive" not in image.info:
                    if image.width * image.height > MOST_SHRUNK:
                        return _UNKNOWN
                    image.draft("L", (64, 64))
                if image.width * image.height > MOST_PIXELS:
                    return _UNKNOWN
                clear = image.convert("RGBA").resize((9, 8), Image.Resampling.BOX)
                white = Image.new("RGBA", clear.size, "white")
                grey = Image.alpha_composite(white, clear).convert("L").tobytes()
    except Exception:  # decoders raise whatever they like for what is broken
        return _UNKNOWN
    if max(grey) - min(grey) < FLAT:
        return _UNKNOWN
    bits = 0
    for row in range(8):
        for column in range(8):
            at = 9 * row + column
            bits = bits << 1 | (grey[at] < grey[at + 1])
    return bits


def alike(one: Picture, other: Picture) -> bool:
    """Whether two pictures show the same."""
    if one.digest == other.digest:
        return True
    return min(one.print, other.print) >= 0 and distance(one.print, other.print) <= NEAR


def images(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Which pictures are others.

    >>> old = Snapshot("a", pictures={"p": Picture(b"1", 0b0011), "q": Picture(b"2", 0)})
    >>> new = Snapshot("a", pictures={"p": Picture(b"3", 0b0111), "q": Picture(b"4", 2**64 - 1)})
    >>> images(old, new)
    Verdict(changed=True, kind='structure', magnitude=0.5, says='1 picture replaced, 1 re-encoded')
    """
    if not old.pictures and not new.pictures:
        return None
    replaced = encoded = blind = 0
    for address in old.pictures.keys() & new.pictures.keys():
        before, after = old.pictures[address], new.pictures[address]
        if before.digest == after.digest:
            continue
        if alike(before, after):
            encoded += 1
        else:
            replaced += 1
            blind += min(before.print, after.print) < 0
    gone = _gone(old, new)
    came = _gone(new, old)
    moved = 0
    for address in list(gone):
        twin = next((other for other in came if alike(old.pictures[address], new.pictures[other])), None)
        if twin is not None:
            moved += 1
            gone.remove(address)
            came.remove(twin)
    total = len(old.pictures.keys() | new.pictures.keys()) - moved
    counts = [
        (replaced, "replaced" + (" by digest only" if blind else "")),
        (len(came), "added"),
        (len(gone), "removed"),
        (encoded, "re-encoded"),
        (moved, "moved"),
    ]
    says = ", ".join(f"{n} {way}" for n, way in counts if n)
    says = says.replace(" ", " picture " if says.startswith("1 ") else " pictures ", 1)
    if others := replaced + len(came) + len(gone):
        return Verdict(True, "structure", others / total, says)
    return Verdict(bool(encoded or moved), "cosmetic", (encoded + moved) / total, says)


def _gone(old: Snapshot, new: Snapshot) -> list[str]:
    """Pictures of the one that the other does not show; one that was not fetched is not gone."""
    shown = set(new.images) if new.is_html else set()
    return [address for address in old.pictures if address not in new.pictures and address not in shown]


MOST = 16
"""Pictures of one page that are looked at."""


@dataclass(slots=True)
class _Known:
    """A picture as it was last seen."""

    picture: Picture
    follows: float
    validators: Validators = field(default_factory=Validators)
    looks: int = 0


class Gallery:
    """Which pictures are to be looked at, and what they were. A fold over the log."""

    def __init__(self) -> None:
        self._shown: dict[str, list[str]] = {}
        self._known: dict[str, _Known] = {}
        self._pending: dict[str, str] = {}  # a picture, and the page that shows it

    def due(self, in_flight: set[str]) -> Iterator[tuple[str, str, float]]:
        """Pictures to look at, each with its page and when it was last fetched."""
        for node, origin in self._pending.items():
            if node not in in_flight:
                known = self._known.get(node)
                yield node, origin, known.follows if known is not None else 0.0

    def conditions(self, node: str, honesty: Honesty) -> tuple[tuple[str, str], ...]:
        """What to ask the picture's host."""
        known = self._known.get(node)
        return () if known is None or proves(node, known.looks, honesty) else known.validators.conditions(honesty)

    def knows(self, node: str) -> bool:
        """Whether it is known which pictures a page shows."""
        return node in self._shown

    def note(self, visit: Visit, exchange: Exchange | None) -> None:
        """Before a look at a page is recorded: say in it which pictures the page shows."""
        if exchange is not None:
            shown = images_in(tree_of(decode(inflated(exchange))), visit.node)
            visit.data = {**visit.data, "images": shown[:MOST]}

    def is_same(self, visit: Visit) -> bool:
        """Whether the bytes are those that were there."""
        known = self._known.get(visit.node)
        return known is not None and known.picture.digest == visit.digest

    def compare(self, visit: Visit, page: Page) -> Change | None:
        """Before a picture's visit is recorded: keep what it shows, and say whether it shows something else."""
        if visit.outcome != "ok" or page.exchange is None:
            return None
        now = picture(page.exchange.body)
        visit.data = {**visit.data, "print": now.print}
        known = self._known.get(visit.node)
        if known is None:
            return None
        old, new = (Snapshot(visit.origin, pictures={visit.node: seen}) for seen in (known.picture, now))
        return judge_change(old, new, ("images",))

    def learn(self, visit: Visit) -> None:
        """See a recorded visit."""
        if visit.kind == "image":
            self._pending.pop(visit.node, None)
            self._seen(visit)
        elif "images" in visit.data:
            self._shown[visit.node] = visit.data["images"]
        elif visit.is_version:  # of a run that did not look at pictures
            self._shown.pop(visit.node, None)
        if visit.is_version or (visit.kind == "revisit" and visit.outcome == "unchanged"):
            for node in self._shown.get(visit.node, ()):
                self._pending[node] = visit.node

    def _seen(self, visit: Visit) -> None:
        known = self._known.get(visit.node)
        if visit.outcome == "ok":
            picture = Picture(visit.digest, visit.data.get("print", -1))
            known = self._known[visit.node] = _Known(picture, visit.started, looks=known.looks if known else -1)
        if known is not None and visit.outcome in ("ok", "unchanged"):
            known.looks += 1
            if visit.status != 304:
                known.validators = Validators(visit.etag, visit.modified)
