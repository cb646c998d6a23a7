"""HTML of changed pages."""

from dataclasses import replace

import pytest

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.change_history import COSMETICS, Block, ChangingPage, State
from lycosa.testweb.change_page import Dress, Press
from lycosa.testweb.page_html import Composer, TrapLink
from lycosa.testweb.site_graph import SiteGraph

GRAPH = SiteGraph(1, 300, 12)
PAGE = ChangingPage(100, 0, GRAPH.topic(100))


@pytest.fixture(scope="module")
def press() -> Press:
    book = AddressBook(GRAPH, 0)
    return Press(book, Composer(book))


def printed(press: Press, state: State, dress: Dress | None = None) -> str:
    sheet = press.take_apart(PAGE.page, [])
    dress = dress or Dress((), False, "", 0, 0, (), press.book.url(PAGE.page))
    return press.print(PAGE, state, sheet, dress)


def first_state(press: Press) -> State:
    count = len(press.take_apart(PAGE.page, []).body)
    return State(PAGE.topic, tuple(Block(0, number, PAGE.topic) for number in range(count)), count)


def test_print_of_unchanged_page_is_original(press: Press) -> None:
    original = press.composer.html(PAGE.page)
    assert printed(press, first_state(press)).replace("\N{COPYRIGHT SIGN} ", "").split() == (
        original.replace("<body>", '<body id="top" class="page" dir="ltr" data-theme="light" data-version="2">').split()
    )


def test_print_writes_new_paragraph_title_and_table(press: Press) -> None:
    state = first_state(press)
    new = Block(3, 0, PAGE.topic)
    html = printed(press, replace(state, blocks=(new, *state.blocks[1:]), title="New & old", table=(1, 2, 3, 4)))
    assert f"<p>{press.paragraph(PAGE, 3, 0, PAGE.topic)}</p>" in html
    assert "<h1>New &amp; old</h1>" in html
    assert html.count("<tr>") == 5


def test_print_layout_wraps_but_keeps_words(press: Press) -> None:
    state = first_state(press)
    layouts = [printed(press, replace(state, layout=number)) for number in range(5)]
    assert len(set(layouts)) == 5
    assert layouts[3].count("<div>") + layouts[3].count("<section>") == 2


def test_print_cosmetics_stay_outside_main(press: Press) -> None:
    dress = Dress(COSMETICS, False, "2024-01-01", 1234, 2, (5,), press.book.url(PAGE.page), "/feed.xml")
    head, main, foot = (printed(press, first_state(press), dress).replace("</main>", "<main>")).split("<main>")
    assert "csrf-token" in head
    assert "Also today" in head
    assert "/feed.xml" in head
    assert "1,234 views. Updated 2 minutes ago." in foot
    assert "views" not in main


def test_new_page_links_back_to_parent(press: Press) -> None:
    born = ChangingPage(PAGE.page, 4, PAGE.topic)
    parts = press.newborn(born, press.take_apart(PAGE.page, []), 3)
    assert len(parts.body) == 3
    assert press.book.url(PAGE.page) in parts.related[0]
    assert "canonical" not in parts.more
    assert press.new_path(born).endswith(f"/new-{PAGE.page}-4.html")


def test_take_apart_keeps_asides(press: Press) -> None:
    assert "/trap" in press.take_apart(PAGE.page, [TrapLink("/trap", "a trap")]).foot
