"""Comparisons of two versions: title, links, and folded rows."""

from __future__ import annotations

from lycosa.revisit.change import Change
from lycosa.revisit.diff import Version, compare, folded
from lycosa.revisit.diff.aligned_rows import diff
from lycosa.web.html import read_body

URL = "https://a.test/reef?a=1&b=2"


def test_folded_keeps_single_rows() -> None:
    lines = [f"Line {number}" for number in range(5)]
    rows = diff("\n".join(["a", *lines, "b"]), "\n".join(["x", *lines, "y"])).rows
    assert [(True, 3), (True, 1), (True, 3)] == [(shown, len(part)) for shown, part in folded(rows)]


def test_compare_returns_title_links_and_change() -> None:
    first = Version(1, 0.0, title="Reef", text="same", links=["http://a.test/1", "http://a.test/2", "http://a.test/1"])
    second = Version(2, 9.0, title="Reefs", text="same", links=["http://a.test/2", "http://a.test/3"])
    told = compare(URL, first, second, change=Change("changed", "link", 0.5, ["links"], ["1 of 3 links is another"]))
    assert (["http://a.test/1"], ["http://a.test/3"]) == (told.links_removed, told.links_added)
    assert told.title_changed
    assert told.differs
    assert "changed: link, magnitude 0.5 (links: 1 of 3 links is another)" == told.says
    assert not compare(URL, first, first).differs


def test_compare_accepts_50000_nested_elements() -> None:
    deep = "<div>" * 50_000
    texts = [read_body(f"{deep}Corals grow {how}.".encode(), URL, "text/html").marked for how in ("well", "slowly")]
    told = compare(URL, Version(1, 0.0, text=texts[0]), Version(2, 9.0, text=texts[1]))
    assert (1, 1) == (told.diff.removed, told.diff.added)
