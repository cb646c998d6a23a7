"""The lenient XML scanner."""

from __future__ import annotations

from lycosa.web.sources.markup import attributes, pieces, records, unescape
from tables import each


@each(
    [
        ("a &amp; b &lt;c&gt; &#39;d&#x27; &eacute;", "a & b <c> 'd' é"),
        ("?a=1&copy=2&b", "?a=1&copy=2&b"),
        ("&unknown; &#99999999999;", "&unknown; &#99999999999;"),
    ]
)
def test_unescape_needs_semicolon(text: str, expected: str) -> None:
    assert expected == unescape(text)


def test_attributes_accept_all_quotings() -> None:
    found = attributes(""" a="1>2" B='x&amp;y' c=3 d = "4" e f=''""")
    assert {"a": "1>2", "b": "x&y", "c": "3", "d": "4", "f": ""} == found


@each(
    [
        ("<a/>", [("open", "a", "/"), ("close", "a", "")]),
        ("<a b='>'>", [("open", "a", " b='>'")]),
        ("<a b='x>y", [("open", "a", " b='x"), ("text", "", "y")]),
        ("<![CDATA[<b>&amp;]]>", [("text", "", "<b>&amp;")]),
        ("<!-- <b> --><b>", [("open", "b", "")]),
        ("1 < 2", [("text", "", "1 "), ("text", "", "<"), ("text", "", " 2")]),
        ("<!DOCTYPE a [<!ELEMENT b (c)>]>", [("text", "", "]>")]),
    ]
)
def test_pieces_in_order(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert expected == list(pieces(text))


def test_records_end_unclosed_children() -> None:
    text = "<r><i><t>one<i><t>two</t><x><t>not mine</t></x></i><i><b><t>three</t></i>"
    found = [record.text("t") for record in records(text, {"i"}, {"t"})]
    assert ["one", "two", ""] == found
