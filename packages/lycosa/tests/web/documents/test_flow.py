"""Paragraphs, tables, links and insets of office documents."""

import pytest

from lycosa.web.documents.flow import Flow
from lycosa.web.documents.package import StopReading
from lycosa.web.documents.sheet import MAX_MARKUP


def lines(flow: Flow) -> list[str]:
    return flow.finish().read("http://a.test/").main.split("\n")


def test_rows_become_lines_with_bars() -> None:
    flow = Flow()
    flow.text("Before")
    flow.open_row()
    for cell in ("Reef", "2300 km", ""):
        flow.text(cell)
        flow.end_paragraph()
        flow.end_cell()
    flow.close_row()
    flow.text("After")
    flow.end_paragraph()
    assert ["Before", "Reef | 2300 km", "After"] == lines(flow)


def test_notes_follow_text() -> None:
    flow = Flow()
    flow.text("Coral")
    flow.open_inset()
    flow.text("A note")
    flow.close_inset(note=True)
    flow.open_inset()
    flow.text("in a box")
    flow.close_inset()
    flow.text(" lives.")
    flow.end_paragraph()
    assert ["Coral in a box lives.", "A note"] == lines(flow)


def test_links_and_insets_tolerate_stray_ends() -> None:
    flow = Flow()
    flow.close_link()
    flow.close_inset()
    flow.open_link("/b")
    flow.text("coral")
    flow.close_link()
    flow.text(" reefs")
    flow.end_paragraph()
    page = flow.finish().read("http://a.test/")
    assert (["http://a.test/b"], ["coral"]) == (page.links.urls, page.links.anchors)


def test_text_is_bounded_within_paragraph() -> None:
    flow = Flow()
    flow.text("x" * 2 * (MAX_MARKUP - 1))
    with pytest.raises(StopReading):
        flow.text("xx")
