"""Detectors: hand-computed values, a table of page pairs, and properties of any two pages."""

from __future__ import annotations

import gzip
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.revisit.change import Verdict
from lycosa.revisit.detectors import (
    DEFAULT,
    DETECTORS,
    checksum,
    detector,
    difference,
    judge_change,
    levels_apart,
    parse_detectors,
    share_of_others,
)
from lycosa.revisit.snapshot import MainBlocks, Snapshot
from lycosa.web.tree import parse_tree

URL = "http://reefs.test/page"


def page(markup: str, content_type: str = "text/html; charset=utf-8", **told: float) -> Snapshot:
    return Snapshot.of(URL, markup.encode(), content_type, **told)  # type: ignore[arg-type]


def article(
    *,
    title: str = "Reefs of the south",
    head: str = "",
    nav: str = "",
    stamp: str = "Updated 3 May 2024",
    first: str = "Coral reefs are home to a quarter of all fish in the sea.",
    second: str = "Warm water makes them bleach, and most of them die of it.",
    table: str = "<tr><th>Harbour<td>4.31 m<tr><th>Lagoon<td>2.07 m",
    more: str = "",
    extra: str = "",
    foot: str = "12 views",
) -> Snapshot:
    """Return an article with some parts replaced."""
    return page(
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body><nav><ul><li><a href=/>Home</a>"
        f"<li><a href=/about>About</a>{nav}</ul></nav><div id=content><h1>{title}</h1><p class=byline>{stamp}</p>"
        f"<p>{first}</p><p>{second}</p><table>{table}</table>"
        f"<ul><li><a href=/a1>Divers count the fish of the lagoon</a>{more}</ul></div>{extra}"
        f"<footer><p>{foot}</p></footer></body></html>"
    )


BASE = article()

COSMETIC = {
    "date": article(stamp="Updated 4 June 2025"),
    "age": page("<p>Coral.<p>Posted 3 minutes ago"),
    "counter": article(foot="13 views"),
    "counter in the text": article(extra="<p>1,204 likes</p>"),
    "copyright year": article(foot="12 views © 2025"),
    "ad block": article(extra='<div class="ad-slot"><p>Buy our shoes, they are the best shoes</p></div>'),
    "nav item": article(nav="<li><a href=/contact>Contact us</a>"),
    "attributes": article(extra='<p lang="en" id="x"></p>'),
    "comment": article(extra="<!-- served by host 12 -->"),
    "whitespace": article(first="Coral reefs are home  to a\n quarter of all fish in the sea."),
    "nonce": article(head='<script nonce="8fa2">x=1</script>'),
    "csrf token": article(extra='<form><input type=hidden name=csrf value="77ab12"></form>'),
    "hidden text": article(extra="<p hidden>Nobody reads that here</p>"),
    "ids of elements": article(stamp="<span id=u1723>Updated 3 May 2024</span>"),
    "session shown": article(extra="<p>Session id: a8f7d6e5c4b3a291</p>"),
    "time of making": article(foot="Page generated in 0.0231 seconds"),
    "tracking pixel": article(extra='<img src="/t.gif?12" width=1 height=1>'),
}

REAL = {
    "sentence": ("text", article(second="Warm water makes them bleach, and most die of it. Some of them come back.")),
    "one word": ("text", article(first="Coral reefs are home to a third of all fish in the sea.")),
    "number in a table": ("text", article(table="<tr><th>Harbour<td>4.32 m<tr><th>Lagoon<td>2.07 m")),
    "number in prose": ("text", article(first="Coral reefs are home to 4,000 kinds of fish in the sea.")),
    "title": ("text", article(title="Reefs of the north")),
    "new row": ("text", article(table="<tr><th>Harbour<td>4.31 m<tr><th>Lagoon<td>2.07 m<tr><th>Bay<td>1 m")),
    "article link": ("link", article(more="<li><a href=/a2>Storm breaks the oldest reef in two</a>")),
    "paragraph moved": (
        "structure",
        article(
            first="Warm water makes them bleach, and most of them die of it.",
            second="Coral reefs are home to a quarter of all fish in the sea.",
        ),
    ),
    "wrapped": ("structure", article(first="<b>Coral reefs are home to a quarter of all fish in the sea.</b>")),
    "picture": ("structure", article(extra="<p><img src=/reef.jpg></p>")),
    "link": ("link", page(BASE.source.replace("href=/a1", "href=/a7"))),
}


@pytest.mark.parametrize("name", COSMETIC)
def test_judge_change_recognises_cosmetic_changes(name: str) -> None:
    old = page("<p>Coral.<p>Posted 2 hours ago") if name == "age" else BASE
    if name == "attributes":
        old = article(extra='<p id="x" lang="en"></p>')
    if name == "ids of elements":
        old = article(stamp="<span id=u1500>Updated 3 May 2024</span>")
    if name in ("counter in the text", "session shown"):
        old = article(
            extra={"counter in the text": "<p>977 likes</p>"}.get(name, "<p>Session id: 0123456789abcdef</p>")
        )
    change = judge_change(old, COSMETIC[name])
    assert change is not None
    assert ("changed", "cosmetic") == (change.what, change.kind), change
    everything = judge_change(old, COSMETIC[name], tuple(DETECTORS))
    assert everything is not None
    assert "cosmetic" == everything.kind, everything
    assert "digest" in everything.by


@pytest.mark.parametrize("name", REAL)
def test_judge_change_recognises_real_changes(name: str) -> None:
    kind, new = REAL[name]
    change = judge_change(BASE, new)
    assert change is not None
    assert kind == change.kind, change
    assert 0 < change.magnitude <= 1
    assert len(change.by) == len(change.says)


WATCHERS = [  # (changed part, kind reported by main-text, tree and links; None means unchanged)
    ("stamp", "Updated 4 June 2025", None, "cosmetic", None),
    ("foot", "13 views", None, "cosmetic", None),
    ("nav", "<li><a href=/c>Contact</a>", None, "cosmetic", "cosmetic"),
    ("first", "Coral reefs are gone.", "text", "text", None),
    ("more", "<li><a href=/a2>Storm breaks the oldest reef</a>", "link", "link", "link"),
    ("title", "Reefs of the north", "text", "text", None),
    ("head", "<meta name=a>", None, "cosmetic", None),
]


@pytest.mark.parametrize(("part", "value", "text", "tree", "links"), WATCHERS)
def test_detectors_report_only_their_kind(part: str, value: str, text: str, tree: str, links: str) -> None:
    new = article(**{part: value})
    said = {name: detector(name)(BASE, new) for name in ("main-text", "tree", "links")}
    kinds = {name: verdict.kind if verdict and verdict.changed else None for name, verdict in said.items()}
    assert {"main-text": text, "tree": tree, "links": links} == kinds


PROSE = "<p>" + "Coral reefs are home to a quarter of all fish in the sea. " * 8
LISTED = [
    ("<main>{0}<h2>Related pages</h2><ul><li><a href=/a>Fish</a>{1}</ul></main>", "link"),
    ("<article>{0}<ul><li><a href=/a>Fish</a>{1}</ul></article>", "link"),
    ("<main>{0}<ul class=related><li><a href=/a>Fish</a>{1}</ul></main>", "cosmetic"),
    ("<main>{0}<aside><ul><li><a href=/a>Fish</a>{1}</ul></aside></main>", "cosmetic"),
    ("<aside><article>{0}</article><article><a href=/a>Fish</a>{1}</article></aside>{0}", "cosmetic"),
    ("<div>{0}<ul><li><a href=/a>Fish</a>{1}</ul></div>", "cosmetic"),
]


@pytest.mark.parametrize(("markup", "kind"), LISTED)
def test_judge_change_of_link_lists_depends_on_place(markup: str, kind: str) -> None:
    old, new = page(markup.format(PROSE, "")), page(markup.format(PROSE, "<li><a href=/b>Crabs</a>"))
    change = judge_change(old, new)
    assert change is not None
    assert kind == change.kind, change


def test_judge_change_other_charset_is_cosmetic() -> None:
    markup = "<meta charset={0}><title>Récifs</title><p>Les récifs sont blanchis déjà.<p>Été 1998 : 12 espèces."
    old = Snapshot.of(URL, markup.format("iso-8859-1").encode("latin-1"), "text/html")
    new = Snapshot.of(URL, markup.format("utf-8").encode(), "text/html")
    header = Snapshot.of(URL, markup.format("x").encode("latin-1"), "text/html; charset=ISO-8859-1")
    for other in (new, header):
        change = judge_change(old, other, (*DEFAULT, "digest", "simhash"))
        assert change is not None
        assert "cosmetic" == change.kind, change


def test_judge_change_ignores_session_ids_in_links() -> None:
    old, new = (page(f"<p>All about <a href='/b;jsessionid={n}'>the coral reefs</a> here.") for n in ("A1B2", "C3D4"))
    change = judge_change(old, new)
    assert change is not None
    assert ("cosmetic", 0.0, []) == (change.kind, change.magnitude, change.by)


@pytest.mark.paper("personalized-recrawl-changed")
def test_judge_change_equal_bodies() -> None:
    assert judge_change(page("<p>a", relevance=1.0, threshold=0.5), page("<p>a", relevance=0.0, threshold=0.5)) is None


def test_digest_ignores_compression() -> None:
    body = gzip.decompress(gzip.compress(b"<p>Coral"))
    assert Verdict(False) == detector("digest")(Snapshot(URL, body), Snapshot(URL, b"<p>Coral"))


def test_judge_change_unreadable_body_is_text() -> None:
    change = judge_change(*(Snapshot.of(URL, b"%PDF" + end, "application/pdf") for end in (b"1", b"2")))
    assert change is not None
    assert ("text", 1.0) == (change.kind, change.magnitude)


def test_detectors_without_bodies_use_log() -> None:
    old = Snapshot(URL, links=["http://a.test/"], simhash=0b1, relevance=0.9, threshold=0.5)
    new = Snapshot(URL, links=["http://b.test/"], simhash=0b1, relevance=0.2, threshold=0.5)
    said = {name: detector(name)(old, new) for name in DETECTORS}
    assert {"simhash", "links", "relevance"} == {name for name, verdict in said.items() if verdict is not None}
    change = judge_change(old, new)
    assert change is not None
    assert ("topic", ["relevance", "links"]) == (change.kind, change.by)
    assert 0.9 - 0.2 == pytest.approx(change.magnitude)
    assert judge_change(old, old) is None


def test_judge_change_most_important_kind_sets_magnitude() -> None:
    old = page("<p>Coral reefs", relevance=0.6, threshold=0.5)
    new = page("<p>Stock prices", relevance=0.4, threshold=0.5)
    change = judge_change(old, new)
    assert change is not None
    assert ("topic", ["relevance", "main-text", "tree"]) == (change.kind, change.by)
    assert 0.6 - 0.4 == pytest.approx(change.magnitude)


def test_judge_change_of_undetected_difference_is_cosmetic() -> None:
    new = article(foot="13 views")
    alone = judge_change(BASE, new, ["digest"])
    both = judge_change(BASE, new, ["digest", "main-text"])
    assert alone is not None
    assert both is not None
    assert (("text", 1.0), ("cosmetic", ["digest"])) == ((alone.kind, alone.magnitude), (both.kind, both.by))


@pytest.mark.paper("personalized-checksum")
def test_checksum_by_hand() -> None:
    assert Fraction(0) == checksum("")
    assert Fraction(97 + 98 + 99, 3) == checksum("abc")
    assert Fraction(2 * 97 + 98, 2) == checksum("aab")
    assert Fraction(0x20AC + 48, 2) == checksum("€0")


def test_checksum_collision_is_not_detected() -> None:
    old, new = page("<p>Reefs will not die. Fish will."), page("<p>Reefs will die. Fish will not.")
    assert Verdict(False) == detector("paper")(old, new)
    assert detector("digest")(old, new).changed  # type: ignore[union-attr]
    assert detector("main-text")(old, new).changed  # type: ignore[union-attr]


def test_share_of_others_by_hand() -> None:
    assert 0.0 == share_of_others(["a", "b"], ["a", "b"])
    assert 1.0 == share_of_others(["a"], ["b"])
    assert 1 / 3 == share_of_others(["a", "b"], ["a", "b", "b"])
    # The pairs (,a) (a,b) (b,c) (c,) and (,b) (b,a) (a,c) (c,) have one of four in common.
    assert 3 / 4 == share_of_others(["a", "b", "c"], ["b", "a", "c"])


def test_main_text_magnitude_by_hand() -> None:
    old = MainBlocks(["one two three four five", "six seven eight nine ten"])
    new = MainBlocks(["one two three four five", "six seven eight nine eleven twelve thirteen"])
    found = difference(old, new)
    assert (1, 3, False) == (found.removed, found.added, found.moved)
    assert 3 / 12 == found.share


def test_difference_ignores_blocks_that_become_furniture() -> None:
    assert not difference(MainBlocks(["a b", "c d"]), MainBlocks(["a b"], furniture=["c d"]))


@pytest.mark.paper("personalized-levels")
def test_levels_apart_by_hand() -> None:
    old = parse_tree("<div><p>one<p>two</div>").by_level()  # html, body, div, p p: 5 elements, 2 texts
    new = parse_tree("<div><p>one<ul><li>two</ul></div>").by_level()  # html, body, div, p ul, li
    # Structure: level 4 has p p against p ul, 1 of 2; level 5 has nothing against li, 1 of 1; in all 2 of 1 + 1 + 1 + 2
    # + 1. Texts: level 4 has one two against one, 1 of 2; level 5 has 1 of 1; in all 2 of 3.
    assert (2 / 6, 2 / 3, {4: "structure and text", 5: "structure and text"}) == levels_apart(old, new)


def test_tree_magnitude_ignores_rebuilt_menu() -> None:
    flat, deep = "".join(f"<a href=/{n}>Go {n}</a>" for n in "abcdefghij"), "<ul><li><b>Home</b><li><b>Fish</b></ul>"
    text = "<main><p>Ten reefs of the coast died {} this year, and none came back.</main>"  # 13 words
    old, new = page(f"<nav>{flat}</nav>" + text.format("early")), page(f"<nav>{deep}</nav>" + text.format("late"))
    change = judge_change(old, new)
    assert change is not None
    assert ("text", ["main-text", "tree"]) == (change.kind, change.by[:2])
    assert 1 / 13 == pytest.approx(change.magnitude)


def test_tree_describes_levels() -> None:
    old = page("<main><p>a</p><div><b>x<i>y</i></b></div></main>")
    new = page("<main><h2>a</h2><div><b>v<i>w</i></b></div></main>")
    verdict = detector("tree")(old, new)
    assert verdict is not None
    assert ("structure", "level 4: structure; levels 5-6: text") == (verdict.kind, verdict.says)


def test_simhash_reports_more_than_four_bits() -> None:
    """Fingerprints that differ in at most four bits are similar; the magnitude is bits / 32."""
    near = detector("simhash")(Snapshot(URL, simhash=1 << 40), Snapshot(URL, simhash=1 << 40 | 0b1111))
    far = detector("simhash")(Snapshot(URL, simhash=1 << 40), Snapshot(URL, simhash=1 << 40 | 0b11111))
    assert near is not None
    assert far is not None
    assert (False, True, 5 / 32) == (near.changed, far.changed, far.magnitude)


def test_simhash_is_computed_from_text_if_missing() -> None:
    words = (
        "coral reef fish lagoon tide harbour sponge algae plankton turtle shark diver boat island storm wave".split()
    )
    old = Snapshot(URL, text=" ".join(words), simhash=12345)
    assert Verdict(False) == detector("simhash")(old, Snapshot(URL, text=" ".join(reversed(words))))
    other = Snapshot(URL, text="stock market prices fell sharply on monday after weak earnings of large banks")
    assert detector("simhash")(old, other).changed  # type: ignore[union-attr]
    assert detector("simhash")(old, Snapshot(URL)) is None


def test_links_by_hand() -> None:
    """The magnitude is the share of links added or removed: one added, one removed, two kept give 2 of 4."""
    old = Snapshot(URL, links=["a", "b", "c"])
    new = Snapshot(URL, links=["a", "b", "d"])
    assert Verdict(True, "link", 2 / 4, "1 link added, 1 removed") == detector("links")(old, new)


def test_relevance_by_hand() -> None:
    """Relevance changes only if it crosses the threshold; the magnitude is at most 1."""
    out, edge, far = (Snapshot(URL, relevance=relevance, threshold=0.5) for relevance in (0.4, 0.5, 7.0))
    assert Verdict(False) == detector("relevance")(edge, far)
    verdict = detector("relevance")(out, far)
    assert verdict is not None
    assert ("topic", 1.0, "entered the topic: 0.4, now 7") == (verdict.kind, verdict.magnitude, verdict.says)


def test_parse_detectors_rejects_unknown_name() -> None:
    assert ("tree", "digest") == parse_detectors("tree, digest tree")
    for wrong in ("md5", ["tree", "md5"]):
        with raises_input_error("unknown-name", "unknown detector 'md5'"):
            parse_detectors(wrong)
    with raises_input_error("missing-option", "no detector given"):
        parse_detectors(" ,")
    with raises_input_error("unknown-name", "unknown detector 'md5'"):
        detector("md5")


def test_main_text_keeps_short_links_of_directory() -> None:
    old = page("<title>Fish</title><ul>" + "".join(f"<li><a href=/{n}>Fish {n}</a>" for n in "abcdefghij") + "</ul>")
    new = page(old.source.replace("</ul>", "<li><a href=/k>Fish k</a></ul>"))
    change = judge_change(old, new)
    assert change is not None
    assert ("link", True) == (change.kind, "links" in change.by)


def test_snapshot_of_page_with_aside_only_has_its_text() -> None:
    assert ["Coral lives."] == page("<aside><p>Coral lives.</aside>").main.blocks


HOSTILE = {
    "nested": "<div>" * 5_000 + "x",
    "siblings": "<p>x" * 5_000,
    "misnested": "<b><i><u>" * 3_000,
    "formatting": "".join(f"<font a{n}><p>x" for n in range(5_000)),
    "digits": "<p>" + "1" * 200_000,
    "dots": "<p>" + "1." * 100_000,
    "cells": "<table><tr>" + "<td>3 May 2024 updated 12 views" * 1_000,
    "classes": "".join(f"<p class='{'has-' * 200}nav'>x" for _ in range(300)),
    "surrogates": "<p>\udcff&#0;&#x1f;" * 1000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_detectors_report_changes_of_hostile_pages(name: str) -> None:
    body = HOSTILE[name].encode("utf-8", "surrogatepass")
    old, new = (Snapshot(URL, body + end, "text/html") for end in (b"", b"<p>Coral reefs"))
    for detect in ("main-text", "tree", "paper", "digest"):
        verdict = detector(detect)(old, new)
        assert verdict is not None
        assert verdict.changed
        assert 0 <= verdict.magnitude <= 1


PIECES = [
    *"<p> </p> <b> </b> <nav> <table> <tr> <td> <li> <ul> </ul> </a> </div> <footer> <h1> <main> <article>".split(),
    *"coral reef fish 12 views 3 May 2024 updated | \u00a9 \u0661\u0662".split(),
    *("<a href=/x>", "<a href=/y>", "<div class=ad>", "<img src=a.png>"),
]
MARKUP = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(MARKUP, MARKUP)
def test_detectors_are_reflexive_symmetric_and_bounded(one: str, other: str) -> None:
    old, new = page(one), page(other)
    for name in DETECTORS:
        compare = detector(name)
        same, there, back = compare(old, page(one)), compare(old, new), compare(new, old)
        assert same is None or not same.changed, name
        assert (there is None) == (back is None), name
        if there is not None and back is not None:
            assert 0 <= there.magnitude <= 1
            assert (there.changed, there.kind) == (back.changed, back.kind), name
            assert there.magnitude == pytest.approx(back.magnitude), name
    change = judge_change(old, new)
    assert (change is None) == (old.body == new.body or not old.body or not new.body)


def test_judge_change_by_navigation_is_cosmetic() -> None:
    body = "<nav>{}</nav><main><p>Corals grow slowly in warm and shallow seas, and storms break them.</main>"
    old = page(body.format("Home"), relevance=0.11, threshold=0.1)
    new = page(body.format("Home Reefs"), relevance=0.09, threshold=0.1)
    change = judge_change(old, new)
    assert change is not None
    assert "cosmetic" == change.kind


def test_judge_change_links_and_relevance_ignore_text() -> None:
    old, new = page("<main><p>Corals grow."), page("<main><p>Corals die.")
    for name in ("links", "relevance"):
        change = judge_change(old, new, (name,))
        assert change is not None
        assert "cosmetic" == change.kind
