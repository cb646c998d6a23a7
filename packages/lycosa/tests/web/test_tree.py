"""The document tree: shape, levels, XML and hostile pages."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from types import FrameType
from typing import Any
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.tree import parse_tree, to_xml
from tables import each

SHAPES = [
    ("<p>a<p>b", "html body p a p b", "1 2 3 3 3 3"),
    ("<title>t</title>x", "html head title t body x", "1 2 3 3 2 2"),
    ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "html body ul li a li b ul li c li d", "1 2 3 4 4 4 4 5 6 6 4 4"),
    ("<table><tr><td>a<td>b<tr><td>c</table>d", "html body table tr td a td b tr td c d", "1 2 3 4 5 5 5 5 4 5 5 2"),
    ("<dl><dt>a<dd>b<dt>c</dl>", "html body dl dt a dd b dt c", "1 2 3 4 4 4 4 4 4"),
    ("<br>a<img>b", "html body br a img b", "1 2 3 2 3 2"),
    ("<svg><path/><path/></svg>a", "html body svg path path a", "1 2 3 4 4 2"),
    ("<p>a<table><tr><td></p>b</table>", "html body p a table tr td b", "1 2 3 3 3 4 5 5"),
    ("a</p></b></body></html>b", "html body a b", "1 2 2 2"),
    ("<script>if (a<b) x</script><p>c", "html head script if (a<b) x body p c", None),
    ("<div/>a", "html body div a", "1 2 3 3"),
    ("", "html", "1"),
]


@pytest.mark.paper("personalized-tree")
@each(SHAPES)
def test_parse_tree_returns_nodes_and_levels(markup: str, names: str, levels: str | None) -> None:
    tree = parse_tree(markup)
    assert names == " ".join(name or text for name, text in zip(tree.names, tree.texts, strict=True))
    if levels is not None:
        assert [int(level) for level in levels.split()] == tree.levels


def test_by_level_returns_texts_and_elements() -> None:
    tree = parse_tree("<div> <p>one  two</p><script>x</script><p>three <b>four</b> five</p></div>")
    levels = tree.by_level()
    assert [["html"], ["body"], ["div"], ["p", "script", "p"], ["b"]] == [level.elements for level in levels]
    assert [[], [], [], ["one two", "three", "five"], ["four"]] == [level.texts for level in levels]


def test_parse_tree_keeps_first_of_duplicate_attributes() -> None:
    assert {"a": "1", "b": "3"} == parse_tree("<p a=1 a=2 b=3>").attributes[2]


def test_to_xml_replaces_invalid_names_and_characters() -> None:
    tree = parse_tree("<p xml:lang=en xmlns=u @x=1 _x=2 1='\"&<'>a\x0bb\ufffe&#13;]]></p><o:p>c</o:p><a<b>")
    root = ElementTree.fromstring(to_xml(tree))
    paragraph = root[0][0]
    assert {"xml_lang": "en", "_xmlns": "u", "_x": "1", "_1": '"&<'} == paragraph.attrib
    assert "a\ufffdb\ufffd\r]]>" == paragraph.text
    assert ["p", "o_p", "a_b"] == [element.tag for element in root[0]]


@pytest.mark.paper("personalized-xml")
@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="<>/='\" pabuli:!-&;#x0\x00\x0c\x1f\ud800\uffffé", max_size=60))
def test_to_xml_is_well_formed(markup: str) -> None:
    tree = parse_tree(markup.encode("utf-8", "replace").decode())
    root = ElementTree.fromstring(to_xml(tree))
    assert sum(map(bool, tree.names)) == sum(1 for _ in root.iter())


def test_to_xml_accepts_deep_pages() -> None:
    tree = parse_tree("<div>" * 50_000 + "x")
    starts = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal starts
        starts += 1

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.Parse(to_xml(tree), True)
    assert 50_002 == starts
    assert 50_002 == len(tree.by_level())


@each(
    ["<div>", "<p>x", "<b><i><u>", "<b><i><u><p>x</b>", "<font a><p>x", "<table><td>", "<div></p></span>", "<ul><li>"]
)
def test_parse_tree_takes_linear_time(markup: str) -> None:
    def work(times: int) -> int:
        source, lines = markup * times, 0

        def count(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal lines
            lines += event == "line"
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            tree = parse_tree(source)
            levels = tree.by_level()
        finally:
            sys.settrace(before)
        assert len(levels) <= len(tree) <= source.count("<") + source.count("x") + 2
        return lines

    assert work(800) < 10 * work(100)
