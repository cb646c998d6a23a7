"""The map of hosts: nothing covers anything, nothing leaves the canvas, the same crawl gives the same picture."""

from __future__ import annotations

import itertools

import pytest

from lycosa.drawing.hostmap import LETTER, LINE, NARROW, WIDE, Canvas, Dot, HostMap, draw


def star(count: int) -> tuple[list[Dot], dict[tuple[int, int], int]]:
    """Hosts of many sizes, linked from the first and in a chain."""
    dots = [Dot(f"{'long-' * (i % 4)}host-{i}.example", 1 + i * i % 97, i % 3, seed=not i) for i in range(count)]
    ways = {(0, i): i for i in range(1, count)} | {(i, i + 1): 1 for i in range(1, count - 1)}
    return dots, ways


def drawn(count: int, canvas: Canvas) -> HostMap:
    dots, ways = star(count)
    found = draw(dots, ways, {(0, 5)} if count > 5 else set(), canvas)
    assert found is not None
    return found


def boxes(dot: Dot) -> list[tuple[float, float, float, float]]:
    wide, low = LETTER * len(dot.label) / 2, dot.y + dot.reach
    circle = (dot.x - dot.reach, dot.y - dot.reach, dot.x + dot.reach, low)
    return [circle, (dot.x - wide, low + 1, dot.x + wide, low + LINE)] if dot.label else [circle]


@pytest.mark.parametrize("canvas", [WIDE, NARROW], ids=lambda canvas: canvas.name)
@pytest.mark.parametrize("count", [3, 5, 8, 30, 200])
def test_nothing_leaves_the_canvas_and_no_label_is_covered(canvas: Canvas, count: int) -> None:
    """Circles and labels lie on the canvas; no label meets another host's label or circle."""
    found = drawn(count, canvas)
    assert min(count, canvas.hosts) == len(found.dots)
    for dot in found.dots:
        for left, top, right, bottom in boxes(dot):
            assert 0 <= left <= right <= found.canvas.width
            assert 0 <= top <= bottom <= found.canvas.height
    for a, b in itertools.permutations(found.dots, 2):
        for mine, theirs in itertools.product(boxes(a)[1:], boxes(b)):
            assert mine[0] >= theirs[2] or theirs[0] >= mine[2] or mine[1] >= theirs[3] or theirs[1] >= mine[3]


@pytest.mark.parametrize("canvas", [WIDE, NARROW], ids=lambda canvas: canvas.name)
def test_most_hosts_have_their_name(canvas: Canvas) -> None:
    """On a full map at least seven of ten hosts are named, and no circle covers another."""
    dots = drawn(200, canvas).dots
    assert sum(bool(dot.label) for dot in dots) >= 0.7 * len(dots)
    for a, b in itertools.combinations(dots, 2):
        assert (a.x - b.x) ** 2 + (a.y - b.y) ** 2 >= (a.radius + b.radius) ** 2


def test_the_same_crawl_gives_the_same_map() -> None:
    """There is no chance in it."""
    assert drawn(30, WIDE) == drawn(30, WIDE)


def test_what_is_on_the_way_is_shown() -> None:
    """Seeds and hosts on the way to the best finds are on the map, however small."""
    dots = [Dot(f"host-{i}.example", 1000 - i, 0) for i in range(500)]
    dots[400].seed = True
    found = draw(dots, {(400, 450): 1}, {(400, 450)}, NARROW)
    assert found is not None
    assert {"host-400.example", "host-450.example"} <= {dot.name for dot in found.dots}
    assert [("host-400.example to host-450.example: 1", True)] == [(link.told, link.strong) for link in found.links]


def test_each_host_keeps_its_strongest_link() -> None:
    """Where there are too many links, each host keeps the one by which most of its pages were found."""
    dots = [Dot(f"host-{i}.example", 5, 0) for i in range(20)]
    ways = {(a, b): 2 + (a == 0) for a in range(20) for b in range(20) if a != b and b != 7} | {(3, 7): 1}
    found = draw(dots, ways, set(), NARROW)
    assert found is not None
    assert NARROW.links == len(found.links)
    assert "host-3.example to host-7.example: 1" in {link.told for link in found.links}


def test_shades() -> None:
    """No finds is a shade of its own; every find counts."""
    assert [0, 1, 1, 3, 5] == [Dot("h", 100, finds).shade for finds in (0, 1, 20, 50, 100)]


def test_few_hosts_are_no_map() -> None:
    """A crawl of one or two hosts, or of no web at all, has no map."""
    assert draw([Dot("", 5, 5)], {}, set(), WIDE) is None
    assert draw([], {}, set(), WIDE) is None
    assert draw([Dot("a.test", 5, 5), Dot("b.test", 5, 5)], {(0, 1): 1}, set(), WIDE) is None
