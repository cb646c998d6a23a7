"""Pictures: what they show, how they changed, and files that want to break the decoder."""

from __future__ import annotations

import struct
import sys
import zlib
from io import BytesIO

import pytest

from lycosa.refresh.detectors import judge_change
from lycosa.refresh.detectors.images import NEAR, alike, images, picture
from lycosa.refresh.snapshot import Picture, Snapshot
from lycosa.text.fingerprint import distance

Image = pytest.importorskip("PIL.Image")


def drawn(seed: int, size: tuple[int, int] = (240, 160)) -> Image.Image:
    """A picture of some blurred blotches."""
    state = seed
    points = bytearray()
    for _ in range(12 * 9):
        state = (state * 1103515245 + 12345) % 2**31
        points.append(state >> 16 & 255)
    return Image.frombytes("L", (12, 9), bytes(points)).resize(size, Image.Resampling.BICUBIC).convert("RGB")


def saved(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    stream = BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def shown(**pictures: bytes) -> Snapshot:
    return Snapshot("http://x.test/", pictures={name: picture(body) for name, body in pictures.items()})


def test_dhash_by_hand() -> None:
    """Nine columns that grow lighter give ones, nine that grow darker zeros."""
    rising = Image.frombytes("L", (9, 8), bytes(range(0, 180, 20)) * 8)
    falling = Image.frombytes("L", (9, 8), bytes(range(180, 0, -20)) * 8)
    step = Image.frombytes("L", (9, 8), bytes([0] * 4 + [200] * 5) * 8)  # one rise, after the fourth column
    assert 2**64 - 1 == picture(saved(rising)).print
    assert 0 == picture(saved(falling)).print
    assert int("00010000" * 8, 2) == picture(saved(step)).print


@pytest.mark.parametrize("seed", range(5))
def test_reencoded_pictures_are_near(seed: int) -> None:
    """Another format, quality or size of one picture stays within the limit, another picture does not."""
    image = drawn(seed)
    original = picture(saved(image))
    again = [
        saved(image, "JPEG", quality=40),
        saved(image, "JPEG", quality=80, progressive=True),
        saved(image, "WEBP", quality=50),
        saved(image, "GIF"),
        saved(image.resize((120, 80))),
        saved(image.convert("L")),
        saved(image.convert("RGBA")),
    ]
    assert all(distance(original.print, picture(body).print) <= NEAR for body in again)
    assert all(picture(body).digest != original.digest and alike(original, picture(body)) for body in again)
    assert not alike(original, picture(saved(drawn(seed + 100))))


def test_kinds() -> None:
    """Replaced, added and removed pictures are structure; re-encoded and moved ones are cosmetic."""
    one, two, three = (saved(drawn(seed)) for seed in (1, 2, 3))
    jpeg = saved(drawn(1), "JPEG")
    cases = {
        "same": (shown(a=one), shown(a=one), (False, "cosmetic", 0.0, "")),
        "replaced": (shown(a=one, b=two), shown(a=three, b=two), (True, "structure", 1 / 2, "1 picture replaced")),
        "re-encoded": (shown(a=one), shown(a=jpeg), (True, "cosmetic", 1.0, "1 picture re-encoded")),
        "moved": (shown(a=one, c=two), shown(b=one, c=two), (True, "cosmetic", 1 / 2, "1 picture moved")),
        "added": (shown(a=one), shown(a=one, b=two, c=three), (True, "structure", 2 / 3, "2 pictures added")),
        "removed": (shown(a=one, b=two), shown(a=one), (True, "structure", 1 / 2, "1 picture removed")),
    }
    for name, (old, new, expected) in cases.items():
        verdict = images(old, new)
        assert verdict is not None
        assert expected == (verdict.changed, verdict.kind, verdict.magnitude, verdict.says), name
    assert images(shown(), shown()) is None


def test_a_picture_that_was_not_fetched_is_not_gone() -> None:
    """As long as the page shows it, a picture that failed to come is not removed."""
    old = Snapshot.of("http://x.test/", b"<img src=a>", pictures={"http://x.test/a": Picture(b"1")})
    new = Snapshot.of("http://x.test/", b"<img src=a><p>x")
    verdict = images(old, new)
    assert verdict is not None
    assert not verdict.changed


def test_pictures_change_under_the_same_page() -> None:
    """A page with the same body has changed if a picture of it has, where pictures are looked at."""
    old = Snapshot("http://x.test/", b"<img src=a>", "text/html", pictures={"http://x.test/a": Picture(b"1")})
    new = Snapshot("http://x.test/", b"<img src=a>", "text/html", pictures={"http://x.test/a": Picture(b"2")})
    assert judge_change(old, new) is None
    change = judge_change(old, new, ["main-text", "images"])
    assert change is not None
    assert ("structure", ["images"], ["1 picture replaced by digest only"]) == (change.kind, change.by, change.says)


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is that large, with little in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(10_000)))
        + chunk(b"IEND", b"")
    )


def test_hostile_pictures_have_no_print() -> None:
    """Bombs, stumps, drawings, flat pictures and noise are known by their digests only, without an exception."""
    whole = saved(drawn(1))
    bodies = [
        b"",
        b"\x00" * 100,
        whole[: len(whole) // 2],
        whole[:20],
        b"<svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>",
        bomb(60_000, 60_000),
        bomb(2_000_000_000, 1),
        bomb(5_000, 5_000),
        bomb(0, 0),
        saved(Image.new("RGB", (50, 50), "white")),
        saved(Image.new("RGBA", (50, 50), (0, 0, 0, 0))),
    ]
    assert [-1] * len(bodies) == [picture(body).print for body in bodies]
    assert len(bodies) == len({picture(body).digest for body in bodies})


def test_animated_pictures_go_by_their_first_frame() -> None:
    """Of an animation the first frame is compared."""
    frames = [drawn(1), drawn(2)]
    moving = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert alike(picture(moving), picture(saved(frames[0])))


def test_without_pillow_digests_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra there is no print, and what differs is said to be known by its digest only."""
    png, jpeg = saved(drawn(1)), saved(drawn(1), "JPEG")
    monkeypatch.setitem(sys.modules, "PIL", None)
    verdict = images(shown(a=png), shown(a=jpeg))
    assert verdict is not None
    assert ("structure", "1 picture replaced by digest only") == (verdict.kind, verdict.says)
