"""Results of search engines in JSON, feeds and HTML pages."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.sources.results import MAX_RESULTS, boilerplate_links, is_html_response, parse_results

HERE = "https://find.example/search?q=reefs"
A, B = "https://a.example/reef", "https://b.example/coral"


@pytest.mark.parametrize("answer", [
    {"results": [{"url": A, "title": "Reef"}, {"url": B, "title": "Coral"}]},
    {"query": {"took": 3, "hits": {"hits": [{"link": A, "name": "Reef"}, {"link": B, "name": "Coral"}]}}},
    [{"href": A, "title": "Reef"}, {"href": B, "title": " Coral\n"}, {"href": "javascript:x"}, {"href": A}],
])  # fmt: skip
def test_parse_results_reads_json(answer: object) -> None:
    assert {A: "Reef", B: "Coral"} == parse_results(json.dumps(answer).encode(), HERE, "application/json")


def test_parse_results_reads_feed() -> None:
    items = f"<item><title>Reef</title><link>{A}</link></item><item><title>Coral</title><link>{B}</link></item>"
    rss = f"<rss><channel><link>https://find.example/</link>{items}</channel></rss>".encode()
    assert {A: "Reef", B: "Coral"} == parse_results(rss, HERE, "text/xml")
    assert not is_html_response(rss, "text/html")


def test_parse_results_excludes_boilerplate_links() -> None:
    bar = '<a href="/about">About</a><a href="https://help.example/">Help</a><a href="/search?q=reefs&page=2">Next</a>'
    page = (
        f'{bar}<a href="/l?to=https%3A%2F%2Fa.example%2Freef&x=1">Reef</a><a href="{B}">Coral</a><a href="/own">Own</a>'
    )
    furniture = boilerplate_links(bar.encode(), "https://find.example/search?q=zq1", "text/html")
    assert {"https://find.example/about", "https://help.example/"} == furniture
    found = parse_results(page.encode(), HERE, "text/html", furniture)
    assert {A: "Reef", B: "Coral", "https://find.example/own": "Own"} == found


@settings(max_examples=50, deadline=None)
@given(body=st.binary(max_size=300) | st.text(alphabet='{}[]",:<>aurl/', max_size=200).map(str.encode))
def test_parse_results_never_raises(body: bytes) -> None:
    assert len(parse_results(body, HERE, "text/html")) <= MAX_RESULTS


def test_parse_results_is_bounded() -> None:
    assert {} == parse_results(b"[" * 100_000, HERE, "application/json")
    many = json.dumps([{"url": f"https://a.example/{number}"} for number in range(3 * MAX_RESULTS)]).encode()
    assert MAX_RESULTS == len(parse_results(many, HERE, "application/json"))
