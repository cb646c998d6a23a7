"""The page of HTML: nothing of it is loaded or run, and whatever a stranger wrote stays text."""

from __future__ import annotations

import re

import pytest
from turbohtml import parse

from lycosa.refresh.change import Change
from lycosa.refresh.diff import Comparison, Version, compare, folded, render
from lycosa.refresh.diff.rows import diff
from lycosa.web.html import read_body

URL = "https://a.test/reef?a=1&b=2"
EVIL = "</p><script>alert(1)</script><img src=//evil.test/x onerror=alert(2)>\"'\u202e\x1b&amp;"


def compared(old: str, new: str) -> Comparison:
    first, second = Version(1, 0.0, 10, "Reef", old), Version(3, 86_400.0, 20, "Reefs", new)
    return compare(URL, first, second, versions=4)


def test_words_are_marked_and_labelled() -> None:
    """del and ins, side by side and in one line, each with a label that only screen readers see."""
    page = render(compared("Corals grow slowly.", "Corals grow very slowly."))
    tree = parse(page.encode())
    cells = [tree.select(f".row .{name}") for name in ("old", "new", "inline")]
    assert [1, 1, 1] == [len(found) for found in cells]
    old, new, inline = (" ".join(found[0].text.split()) for found in cells)
    assert "Corals grow slowly." == old
    assert "Corals grow added: very (end of added) slowly." == new == inline


def test_both_versions_and_the_original_are_named() -> None:
    """Their numbers and dates, and a link that tells the page's host nothing."""
    page = render(compared("a", "b"))
    assert "Before, version 1" in page
    assert '<time datetime="1970-01-01T00:00:00+00:00">1 January 1970, 00:00 UTC</time>, 10 bytes' in page
    assert '<time datetime="1970-01-02T00:00:00+00:00">2 January 1970, 00:00 UTC</time>, 20 bytes' in page
    assert 'href="https://a.test/reef?a=1&amp;b=2" rel="noreferrer noopener nofollow"' in page
    assert "versions 1 and 3 of 4" in page


def test_hostile_text_stays_text() -> None:
    """No element, attribute or link comes from the texts, and no character turns them around."""
    first = Version(1, 0.0, 10, EVIL, f"{EVIL}\nkept {EVIL} kept kept kept", ["javascript:alert(3)"])
    second = Version(2, 1e300, 20, EVIL + "x", f"{EVIL} y\nkept {EVIL} kept kept", [f'http://b.test/"{EVIL}'])
    change = Change("changed", "text", 1.0, ["words"], [EVIL])
    page = render(compare(f"javascript:{EVIL}", first, second, change=change))
    tree = parse(page.encode())
    assert [] == tree.select("script,img,iframe,object,form,base,body style")
    assert [] == [name for element in tree.select("*") for name in element.attrs if name.startswith("on")]
    assert [] == [link for link in tree.select("a") if not str(link.attrs["href"]).startswith("http")]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_page_loads_nothing() -> None:
    """Its policy forbids it, and there is nothing to load but a drawing within it."""
    page = render(compared("a", "b"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    tree = parse(page.encode())
    assert ["data:"] == [str(link.attrs["href"])[:5] for link in tree.select("link")]
    assert [] == tree.select("[src]")
    assert "url(" not in page
    assert "@import" not in page


def test_unchanged_stretches_are_folded() -> None:
    """Of 20 lines with a change in the first, two are shown after it and 17 are folded."""
    lines = [f"Line {number}" for number in range(19)]
    page = render(compared("\n".join(["Old", *lines]), "\n".join(["New", *lines])))
    tree = parse(page.encode())
    assert ["17 unchanged lines"] == [fold.text for fold in tree.select("details.fold > summary")]
    assert 17 == len(tree.select("details.fold > p"))
    assert 2 == len(tree.select(".row.same"))


def test_a_long_stretch_within_a_block_is_folded() -> None:
    """Of 100 words that were kept, 20 are shown at either end and 60 are folded, all there to open."""
    words = [f"w{number}" for number in range(100)]
    page = render(compared(" ".join(["old", *words]), " ".join(["new", *words])))
    fold = parse(page.encode()).select(".inline details.inside")
    assert ["60 words unchanged" + " ".join(words[20:80])] == [found.text for found in fold]


def test_one_row_is_not_folded() -> None:
    """A note that one line was left out is no shorter than the line."""
    lines = [f"Line {number}" for number in range(5)]
    rows = diff("\n".join(["a", *lines, "b"]), "\n".join(["x", *lines, "y"])).rows
    assert [(True, 3), (True, 1), (True, 3)] == [(shown, len(part)) for shown, part in folded(rows)]


def test_a_page_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines beyond what a browser can bear are counted, not shown."""
    monkeypatch.setattr("lycosa.refresh.diff.MOST_ROWS", 500)
    many = 500 + 7
    told = compared("", "\n".join(map(str, range(many))))
    assert (many, "7 more lines not shown here") == (
        len(told.diff.rows),
        re.findall(r"\d+ more lines? not shown here", render(told))[0],
    )


def test_it_says_what_differs_beside_the_words() -> None:
    """Title, links, and what was recorded."""
    first = Version(1, 0.0, title="Reef", text="same", links=["http://a.test/1", "http://a.test/2", "http://a.test/1"])
    second = Version(2, 9.0, title="Reefs", text="same", links=["http://a.test/2", "http://a.test/3"])
    told = compare(URL, first, second, change=Change("changed", "link", 0.5, ["links"], ["1 of 3 links is another"]))
    assert (["http://a.test/1"], ["http://a.test/3"]) == (told.links_removed, told.links_added)
    assert told.title_changed
    assert told.differs
    page = render(told)
    assert "The words are the same in both versions." in page
    assert "1 link added" in page
    assert "1 link removed" in page
    assert "changed: link, magnitude 0.5 (links: 1 of 3 links is another)" in page
    assert "A reader sees the same in both versions." in render(compare(URL, first, first))


def test_deep_nesting_does_not_hang_it() -> None:
    """50,000 nested elements around a sentence: the sentence is compared, all the way from bytes to the page."""
    deep = "<div>" * 50_000
    texts = [read_body(f"{deep}Corals grow {how}.".encode(), URL, "text/html").marked for how in ("well", "slowly")]
    told = compared(*texts)
    assert (1, 1) == (told.diff.removed, told.diff.added)
    assert ">slowly.<" in render(told)


def test_a_paragraph_with_very_many_changes_is_cut() -> None:
    """Of a block whose every other word is another, some thousand places are shown, and how many more there are."""
    old = " ".join(f"w{number}" for number in range(20_000))
    new = " ".join(f"w{number}" if number % 2 else f"x{number}" for number in range(20_000))
    page = render(compare("http://a.test/", Version(1, 0.0, text=old), Version(2, 9.0, text=new)))
    assert "places more" in page
    assert page.count("<del>") < 10_000
