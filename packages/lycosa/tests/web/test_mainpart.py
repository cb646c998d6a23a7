"""The main part of a page, and hostile pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lycosa.core.types import Page
from lycosa.web.html import extract, read_body
from tables import each

PROSE = "Coral reefs are built by colonies of polyps that need warm and shallow water, and light for their algae."
MORE = "Where the water stays too warm for weeks, the polyps lose their algae, and the whole reef turns white."


def main(page: str) -> str:
    return extract(page.encode(), "http://a.test/", "utf-8").main


FURNITURE = {
    "nav": "<nav><a href=/a>Home</a> <a href=/b>Shop</a> {}</nav>",
    "footer": "<footer>{}</footer>",
    "aside": "<aside><p>{}</p></aside>",
    "role": "<div role=navigation>{}</div>",
    "sidebar": "<div class='left sidebar'>{}</div>",
    "share bar": "<ul class=share-buttons><li>{}</ul>",
    "cookie note": "<div id=cookie-banner><p>{}</p></div>",
    "comments": "<section class=comments><p>{}</p></section>",
    "camel": "<div id=relatedArticles>{}</div>",
    "hidden": "<div style='display: none'>{}</div>",
    "related": "<div class=related-posts><h3>{}</h3></div>",
    "form": "<div class=search-form><form>{}</form></div>",
}


@each(FURNITURE)
def test_main_part_excludes_named_boilerplate(name: str) -> None:
    for body in (f"{FURNITURE[name].format('Zebra')}<h1>Reefs</h1><p>{PROSE}<p>{MORE}",
                 f"<h1>Reefs</h1><p>{PROSE}</p><p>{MORE}</p>{FURNITURE[name].format('Zebra')}"):  # fmt: skip
        document = extract(body.encode(), "http://a.test/")
        assert document.main == f"Reefs\n{PROSE}\n{MORE}"
        assert "Zebra" in document.text


def test_main_part_keeps_lists_tables_and_code() -> None:
    page = (
        f"<h1>Reefs</h1><p>{PROSE}<ul><li>atolls<li>fringing reefs</ul><table><tr><th>reef<th>km</tr>"
        "<tr><td>Great Barrier<td>2300</tr></table><pre>reef = 1\nprint(reef)</pre>"
    )
    assert main(page) == f"Reefs\n{PROSE}\natolls\nfringing reefs\nreef km\nGreat Barrier 2300\nreef = 1\nprint(reef)"


def test_main_part_is_smallest_element_with_most_prose() -> None:
    offer = "<p>Try our great magazine for three months, at half of the price.</p>"
    page = f"<div>{offer}</div><a href=/>Reefs</a><article><p>{PROSE}<p>{MORE}</article>"
    assert main(page) == f"{PROSE}\n{MORE}"


def test_main_part_has_headings_and_lead() -> None:
    document = extract(
        f"<title>T</title><nav><h2>Menu</h2></nav><h1>Reefs</h1><p>{PROSE}<h2>Where</h2><p>{MORE}".encode(),
        "http://a.test/",
    )
    assert document.headings == "Reefs\nWhere"
    assert document.lead == f"{PROSE}\n{MORE}"
    page = document.fill(Page("ok"))
    assert (page.main, page.headings, page.lead) == (document.main, document.headings, document.lead)


def test_main_part_of_directory_keeps_list() -> None:
    links = "".join(f"<li><a href=/{n}>Reef {n}</a>" for n in range(50))
    assert main(f"<nav><a href=/>Home</a></nav><ul>{links}</ul>").startswith("Reef 0\nReef 1\n")
    assert main(f"<nav><ul>{links}</ul></nav>").startswith("Reef 0\nReef 1\n")


WRAPPED = [
    "<div class=comments>{}</div>",
    "<div class=sidebar>{}</div>",
    "<aside>{}</aside>",
    "<nav>{}</nav>",
    "<div hidden>{}</div>",
    "<div class='widget'><article>{}</article></div>",
]


@each(WRAPPED)
def test_main_part_of_page_with_text_is_never_empty(wrap: str) -> None:
    assert PROSE in main(wrap.format(f"<p>{PROSE}</p><p>{MORE}</p>"))
    assert main(wrap.format("word")) == "word"


def test_main_part_is_empty_without_markup() -> None:
    assert read_body(b"Reefs", "http://a.test/", "text/plain").main == ""
    assert extract(b"", "http://a.test/").main == ""


def test_mark_turns_rows_into_lines() -> None:
    wide = extract(
        b"<table><tr><td>" + b"w " * 25_000 + b"<td>q</tr>" + b"<tr><td>y<td>z</tr>" * 5_000, "http://h/", "utf-8"
    )
    assert len(wide.marked) < 100_000
    assert "\ny z" in wide.marked


HOSTILE = {
    "nested": b"<div>" * 200_000 + b"x",
    "nested furniture": b"<nav class=menu>" * 30_000 + b"x",
    "nested places": b"<div class=content><article>" * 20_000 + b"x",
    "classes": b"".join(b"<div class='a%d side-bar%d'>x</div>" % (n, n) for n in range(20_000)),
    "long class": b"<div class='" + b"share-" * 100_000 + b"'>x</div>",
    "cells": b"<table>" + b"<tr><td>y<td>z</tr>" * 30_000,
    "nested tables": b"<table><tr><td>" * 20_000 + b"x",
    "marks": b"\x03F\x03\x03E" * 50_000 + b"x",
    "marks as entities": b"&#3;F&#3;E" * 30_000 + b"x",
    "lines": b"x<br>" * 100_000,
    "headings": b"<h1>x" * 30_000,
    "pieces of a line": b"<p>" + b"<span class=share>y</span>zzzzzzzzzzzzzzzzzzzzzzzzzzzzz" * 10_000,
    "data": b"<script type='application/ld+json'>" + b"[" * 90_000 + b"</script>x",
}


@each(HOSTILE)
def test_main_part_of_hostile_pages_is_bounded(name: str) -> None:
    document = extract(HOSTILE[name], "http://h/", "utf-8")
    assert len(document.main) <= len(HOSTILE[name])
    assert bool(document.main) is bool(document.text.strip())


@given(st.text(st.sampled_from("\x01\x02\x03FNCBATHDE\n <>/abc"), max_size=200))
def test_main_part_ignores_marker_characters_of_page(text: str) -> None:
    document = extract(f"<p>coral</p><nav>{text}</nav>".encode(), "http://h/", "utf-8")
    assert not set(document.main) & set("\x01\x02\x03")
    assert "\x03" not in document.marked


def test_main_part_keeps_table_after_paragraph() -> None:
    rows = "".join(f"<tr><td>Reef {n}<td>{n * 7} km</tr>" for n in range(100))
    assert "Reef 99 693 km" in main(f"<div><p>{PROSE}</p><p>{MORE}</p></div><div><table>{rows}</table></div>")


def test_main_part_includes_lead_before_place() -> None:
    body = f"<div class=entry-content><p>{PROSE}</p><p>{MORE}</p></div>"
    text = main(f"<a href=/>Home</a><h1>Reefs</h1><p>A short history of reefs, from the first polyps on.</p>{body}")
    assert text.startswith("Reefs\nA short history")


def test_main_part_joins_lines_around_removed_parts() -> None:
    assert f"Coral lives. {PROSE}" in main(f"<p>Coral <span class=share>Tweet</span>lives. {PROSE}</p><p>{MORE}</p>")


def test_without_main_part_content_is_all_text() -> None:
    document = extract(f"<nav>Home</nav><h1>Reefs</h1><p>{PROSE}".encode(), "http://a.test/")
    assert document.content == document.main
    whole = document.without_main_part()
    assert (whole.main, whole.headings, whole.lead, whole.content) == ("", "", "", whole.text)
    assert "Home" in whole.content


def test_main_part_keeps_article_header() -> None:
    lead = "A short history of reefs, from the first polyps on."
    header = f"<header><h1>Reefs</h1><p>{lead}</p></header>"
    page = f"<header>Our paper</header><main><article>{header}<p>{PROSE}</p><p>{MORE}</p></article></main>"
    assert main(page) == f"Reefs\n{lead}\n{PROSE}\n{MORE}"
