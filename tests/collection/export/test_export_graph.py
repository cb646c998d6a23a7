"""GraphML: valid whatever titles contain, and links through redirects lead where those lead."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import networkx
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_crawl import crawled

from lycosa.collection.export import export
from lycosa.collection.export.cleaning import clean, line


def test_links_are_edges(tmp_path: Path) -> None:
    """Of several links the most promising counts; one to the page itself or to a stranger does not."""
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        crawl.page(
            "a", links=[("b", "first", 0.25), ("b", "best", 0.75), ("b", "late", 0.5), ("a", "", 1), ("x", "", 1)]
        )
        crawl.page("b", links=[("c", "", 0.5), ("c", "worded", 0.5)])
        crawl.page("c", beta=0.1, links=[("a", "back", 0.5)])
    export(tmp_path / "crawl", tmp_path / "g.graphml")
    export(tmp_path / "crawl", tmp_path / "all.graphml", everything=True)
    graph = networkx.read_graphml(tmp_path / "g.graphml")
    names = dict(graph.nodes(data="url"))
    assert [("a", "b", {"anchor": "best", "alpha": 0.75})] == [
        (names[a], names[b], about) for a, b, about in graph.edges(data=True)
    ]
    graph = networkx.read_graphml(tmp_path / "all.graphml")
    names = dict(graph.nodes(data="url"))
    assert {("a", "b", "best"), ("b", "c", "worded"), ("c", "a", "back")} == {
        (names[a], names[b], anchor) for a, b, anchor in graph.edges(data="anchor")
    }
    assert {"a": True, "b": True, "c": False} == {
        about["url"]: about["relevant"] for _, about in graph.nodes(data=True)
    }


def test_a_link_to_a_redirect_is_an_edge_to_its_target(tmp_path: Path) -> None:
    """Redirects are followed over several hops, not into circles, and not past a page that is exported itself."""
    with crawled(tmp_path / "crawl", archive=False) as crawl:
        links = [(name, name, 0.5) for name in ("r1", "round1", "nowhere", "b")]
        crawl.page("a", links=links)
        for source, target in [("r1", "r2"), ("r2", "r3"), ("r3", "c"), ("round1", "round2"), ("round2", "round1")]:
            crawl.redirect(source, target)
        crawl.redirect("nowhere", "gone")
        crawl.redirect("b", "c")
        crawl.page("b")
        crawl.page("c")
        crawl.redirect("self", "d")
        crawl.page("d", links=[("self", "", 0.5)])
    export(tmp_path / "crawl", tmp_path / "g.graphml")
    graph = networkx.read_graphml(tmp_path / "g.graphml")
    names = dict(graph.nodes(data="url"))
    assert {("a", "c", "r1"), ("a", "b", "b")} == {(names[a], names[b], x) for a, b, x in graph.edges(data="anchor")}


@settings(max_examples=10, deadline=None)
@given(texts=st.lists(st.text(st.characters(), max_size=30), min_size=1, max_size=5))
def test_any_text_gives_valid_xml(tmp_path: Path, texts: list[str]) -> None:
    """Whatever pages are called, the graph parses, and says what `line` makes of their titles."""
    path = tmp_path / f"crawl{len(list(tmp_path.iterdir()))}"
    with crawled(path, archive=False) as crawl:
        for i, text in enumerate(texts):
            crawl.page(f"n{i}", title=text, links=[(f"n{(i + 1) % len(texts)}", text, 0.5)])
    export(path, path / "g.graphml")
    found = ElementTree.parse(path / "g.graphml")
    space = "{http://graphml.graphdrawing.org/xmlns}"
    titles = [node.findtext(f"{space}data[@key='title']", "") for node in found.iter(f"{space}node")]
    assert [line(text) for text in texts] == titles


@given(st.text(st.characters()))
def test_clean_text_is_valid_everywhere(text: str) -> None:
    """Cleaned text can be encoded, has no control characters but tabs and newlines, and is clean already."""
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned == clean(cleaned)
    assert not [c for c in cleaned if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 or c in "\ufffe\uffff"]
