"""Changes as an Atom feed."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest

from lycosa.revisit.change import Change
from lycosa.revisit.feeds import NAMESPACE, atom
from lycosa.revisit.ledger import LoggedChange
from made_changes import MOVED, REEF, START, text

IN = {"a": NAMESPACE}
CRAWL = "urn:uuid:11111111-1111-5111-8111-111111111111"
TOLD = LoggedChange(
    7, "urn:uuid:22222222-2222-5222-8222-222222222222", REEF, START, "Coral reefs", 0.5, text(), follows=START - 60
)


def entries(*changes: LoggedChange, **more: str) -> tuple[Tree.Element, list[Tree.Element]]:
    feed = Tree.fromstring(atom(changes, crawl=CRAWL, title="coral reefs", **more))  # type: ignore[arg-type]
    return feed, feed.findall("a:entry", IN)


def test_atom_has_required_elements() -> None:
    feed, [entry] = entries(TOLD, address="https://me.example/changes.atom")
    assert f"{{{NAMESPACE}}}feed" == feed.tag
    assert [CRAWL, "Changes: coral reefs", "2023-11-14T22:13:20Z", "Lycosa"] == [
        feed.findtext(path, namespaces=IN) for path in ("a:id", "a:title", "a:updated", "a:author/a:name")
    ]
    assert [("self", "https://me.example/changes.atom")] == [
        (link.get("rel"), link.get("href")) for link in feed.findall("a:link", IN)
    ]
    assert [TOLD.id, "Coral reefs (text changed, 25 %)", "2023-11-14T22:13:20Z"] == [
        entry.findtext(path, namespaces=IN) for path in ("a:id", "a:title", "a:updated")
    ]
    assert [("alternate", REEF)] == [(link.get("rel"), link.get("href")) for link in entry.findall("a:link", IN)]
    assert ["changed", "text"] == [category.get("term") for category in entry.findall("a:category", IN)]
    summary = entry.find("a:summary", IN)
    assert summary is not None
    assert ("text", "Text changed, 25 %.\nmain-text: 12 of 48 words are others\n"
            "The version before is of 2023-11-14 22:12 UTC.") == (summary.get("type"), summary.text)  # fmt: skip


def test_atom_summary_is_that_of_callback() -> None:
    feed = Tree.fromstring(atom([TOLD], crawl=CRAWL, title="", says=lambda told: f"+ bleached <b> {told.seq}"))
    assert "+ bleached <b> 7" == feed.findtext("a:entry/a:summary", namespaces=IN)


def test_atom_updated_is_newest_entry() -> None:
    feed, _ = entries(TOLD, replace(TOLD, at=START + 60))
    assert "2023-11-14T22:14:20Z" == feed.findtext("a:updated", namespaces=IN)
    empty = Tree.fromstring(atom([], crawl=CRAWL, title="", at=START))
    assert "2023-11-14T22:13:20Z" == empty.findtext("a:updated", namespaces=IN)


@pytest.mark.parametrize("code", [0, 1, 8, 0x0B, 0x1B, 0x7F, 0x85, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0x202E])
def test_atom_removes_invalid_characters_from_titles(code: int) -> None:
    _, [entry] = entries(replace(TOLD, title=f"a{chr(code)}b"))
    assert "a b (text changed, 25 %)" == entry.findtext("a:title", namespaces=IN)


def test_atom_escapes_markup() -> None:
    nasty = "]]></title><script>alert('&amp;')</script>"
    _, [entry] = entries(replace(TOLD, title=nasty, change=Change("changed", "text", 1.0, ["x"], [nasty])))
    assert f"{nasty} (text changed, 100 %)" == entry.findtext("a:title", namespaces=IN)
    assert f"x: {nasty}" in (entry.findtext("a:summary", namespaces=IN) or "")
    assert [] == entry.findall(".//script")


def test_atom_entry_of_moved_page_links_to_target() -> None:
    _, [entry] = entries(replace(TOLD, change=MOVED))
    assert [("alternate", REEF), ("related", MOVED.target)] == [
        (link.get("rel"), link.get("href")) for link in entry.findall("a:link", IN)
    ]
    assert ["moved"] == [category.get("term") for category in entry.findall("a:category", IN)]


def test_atom_entry_without_url_has_content() -> None:
    _, [entry] = entries(replace(TOLD, url="@reef@social.example", title=""))
    assert [] == entry.findall("a:link", IN)
    assert None is entry.find("a:summary", IN)
    assert "@reef@social.example (text changed, 25 %)" == entry.findtext("a:title", namespaces=IN)
    assert (entry.findtext("a:content", namespaces=IN) or "").startswith("Text changed")
