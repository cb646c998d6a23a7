"""HTML of changed pages."""

from dataclasses import replace

import pytest

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.change_history import COSMETICS, Block, ChangingPage, State
from lycosa.testweb.change_page import ChangedPageWriter, Cosmetics
from lycosa.testweb.page_html import Composer, TrapLink
from lycosa.testweb.site_graph import SiteGraph

GRAPH = SiteGraph(1, 300, 12)
PAGE = ChangingPage(100, 0, GRAPH.topic(100))


@pytest.fixture(scope="module")
def writer() -> ChangedPageWriter:
    book = AddressBook(GRAPH, 0)
    return ChangedPageWriter(book, Composer(book))


def html_of(writer: ChangedPageWriter, state: State, cosmetic: Cosmetics | None = None) -> str:
    sheet = writer.take_apart(PAGE.page, [])
    cosmetic = cosmetic or Cosmetics((), False, "", 0, 0, (), writer.book.url(PAGE.page))
    return writer.html(PAGE, state, sheet, cosmetic)


def first_state(writer: ChangedPageWriter) -> State:
    count = len(writer.take_apart(PAGE.page, []).body)
    return State(PAGE.topic, tuple(Block(0, number, PAGE.topic) for number in range(count)), count)


def test_html_of_unchanged_page_is_original(writer: ChangedPageWriter) -> None:
    original = writer.composer.html(PAGE.page)
    assert html_of(writer, first_state(writer)).replace("\N{COPYRIGHT SIGN} ", "").split() == (
        original.replace("<body>", '<body id="top" class="page" dir="ltr" data-theme="light" data-version="2">').split()
    )


def test_html_writes_new_paragraph_title_and_table(writer: ChangedPageWriter) -> None:
    state = first_state(writer)
    new = Block(3, 0, PAGE.topic)
    html = html_of(writer, replace(state, blocks=(new, *state.blocks[1:]), title="New & old", table=(1, 2, 3, 4)))
    assert f"<p>{writer.paragraph(PAGE, 3, 0, PAGE.topic)}</p>" in html
    assert "<h1>New &amp; old</h1>" in html
    assert html.count("<tr>") == 5


def test_html_layout_wraps_but_keeps_words(writer: ChangedPageWriter) -> None:
    state = first_state(writer)
    layouts = [html_of(writer, replace(state, layout=number)) for number in range(5)]
    assert len(set(layouts)) == 5
    assert layouts[3].count("<div>") + layouts[3].count("<section>") == 2


def test_html_cosmetics_stay_outside_main(writer: ChangedPageWriter) -> None:
    cosmetic = Cosmetics(COSMETICS, False, "2024-01-01", 1234, 2, (5,), writer.book.url(PAGE.page), "/feed.xml")
    head, main, foot = (html_of(writer, first_state(writer), cosmetic).replace("</main>", "<main>")).split("<main>")
    assert "csrf-token" in head
    assert "Also today" in head
    assert "/feed.xml" in head
    assert "1,234 views. Updated 2 minutes ago." in foot
    assert "views" not in main


def test_new_page_links_back_to_parent(writer: ChangedPageWriter) -> None:
    born = ChangingPage(PAGE.page, 4, PAGE.topic)
    parts = writer.newborn(born, writer.take_apart(PAGE.page, []), 3)
    assert len(parts.body) == 3
    assert writer.book.url(PAGE.page) in parts.related[0]
    assert "canonical" not in parts.more
    assert writer.new_path(born).endswith(f"/new-{PAGE.page}-4.html")


def test_take_apart_keeps_asides(writer: ChangedPageWriter) -> None:
    assert "/trap" in writer.take_apart(PAGE.page, [TrapLink("/trap", "a trap")]).foot
