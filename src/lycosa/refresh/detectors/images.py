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
from hashlib import sha256
from io import BytesIO

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Picture, Snapshot
from lycosa.text.fingerprint import distance

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
