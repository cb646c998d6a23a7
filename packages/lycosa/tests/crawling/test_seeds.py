"""Tests of seeds from search engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.spaces.graph import GraphSpace
from lycosa.testweb.simulation import clock
from scripted_web import GONE, PAGE, Says, Script, crawl, html, run

ENGINE = "http://find.test"
ASKED = f"{ENGINE}/search?q=coral+reef"
FOUND = [f"http://reef.test/{name}" for name in ("one", "two", "three")]
NONSENSE = "zq"


def script(**answers: Says) -> Script:
    """Return result pages of the engine, and three pages that it lists."""
    pages: dict[str, Any] = {url: [Says(html())] for url in [*FOUND, PAGE]}
    return Script(pages | {f"{ENGINE}{path}": [said] for path, said in answers.items()})


def as_json(*urls: str) -> Says:
    return Says(json.dumps({"results": [{"url": url, "title": "x"} for url in urls]}), type="application/json")


@pytest.mark.paper("batsakis-search-seeds")
def test_first_results_are_seeds(tmp_path: Path) -> None:
    web = script(**{"/search?q=coral+reef": as_json(*FOUND)})
    result = crawl(tmp_path / "c", web, (), search=[f"{ENGINE}/search?q={{}}"], search_results=2)
    assert FOUND[:2] == [visit.node for visit in result.visits if visit.is_page]
    assert [f"{ENGINE}/robots.txt", ASKED] == [url for _, url, _ in web.requests[:2]]
    assert web.requests[1][0] - web.requests[0][0] >= 0.1  # the delay applies to every host
    assert "2 seeds from http://find.test/search?q={}" in result.crawl.notes


def test_engine_is_queried_once(tmp_path: Path) -> None:
    web = script(**{"/search?q=coral+reef": as_json(*FOUND), "/other?q=coral+reef": as_json(PAGE)})
    first = crawl(tmp_path / "c", web, (), search=[f"{ENGINE}/search?q={{}}"], budget=1)
    assert first.crawl.engine is not None
    assert {f"{ENGINE}/search?q={{}}": FOUND} == first.crawl.engine.tally.settings["searched"]
    more = {"search": [f"{ENGINE}/search?q={{}}", f"{ENGINE}/other?q={{}}"], "budget": 10}
    result = run(lambda: lycosa.resume(tmp_path / "c", space=web.space(), clock=clock, **more), start=3600.0)
    assert {*FOUND[1:], PAGE} == {visit.node for visit in result.visits if visit.is_page}
    asked = len(web.requests)
    run(lambda: lycosa.resume(tmp_path / "c", space=web.space(), clock=clock, budget=20), start=7200.0)
    assert ([], 1) == (web.requests[asked:], sum(url == ASKED for _, url, _ in web.requests))


def test_results_in_html_are_read(tmp_path: Path) -> None:
    bar = [f"{ENGINE}/about", "http://ads.test/"]
    web = script(**{"/search?q=coral+reef": Says(html(links=[*bar, *FOUND]))})
    web.missing = Says(html(links=bar))  # other queries
    web.pages["http://reef.test/robots.txt"] = [GONE]
    result = crawl(tmp_path / "c", web, (), search=[f"{ENGINE}/search?q={{}}"], budget=3)
    assert FOUND == [visit.node for visit in result.visits if visit.is_page]
    nonsense = [url for _, url, _ in web.requests if url.startswith(f"{ENGINE}/search?q={NONSENSE}")]
    assert 1 == len(nonsense)

    web.pages[f"{ENGINE}/robots.txt"] = [Says("User-agent: *\nDisallow: /search\n", type="text/plain")]
    with raises_input_error("fetch-refused", r"cannot use the search .*robots\.txt does not allow it"):
        crawl(tmp_path / "d", web, (), search=[f"{ENGINE}/search?q={{}}"])
    assert not (tmp_path / "d").exists()


def test_query_words_are_escaped(tmp_path: Path) -> None:
    web = script(**{"/search?q=reefs+%26+atolls%231": as_json(*FOUND)})
    made = {"topic": "reefs & atolls#1", "search": [f"{ENGINE}/search?q={{}}"], "budget": 3}
    result = run(lambda: lycosa.crawl(space=web.space(), clock=clock, out=tmp_path / "c", **made))
    assert FOUND == [visit.node for visit in result.visits if visit.is_page]


def test_saved_query_needs_no_words(tmp_path: Path) -> None:
    web = script(**{"/found?q=corals": as_json(*FOUND, "http://elsewhere.test/")})
    made = {
        "regex": "coral",
        "search": [f"{ENGINE}/found?q=corals"],
        "hosts": ["reef.test"],
        "strategy": "breadth-first",
    }
    result = run(lambda: lycosa.crawl(space=web.space(), clock=clock, out=tmp_path / "c", **made))
    assert FOUND == [visit.node for visit in result.visits if visit.is_page]
    assert "3 seeds from http://find.test/found?q=corals, 1 results out of scope" in result.crawl.notes


@pytest.mark.parametrize(("options", "message"), [
    ({"search": ["find.test/?q={}"], "regex": "coral", "topic": ""}, "needs a query: give a topic in words"),
    ({"search": ["ftp://find.test/?q={}"]}, "is not a web address: write {}"),
    ({"search": [f"{ENGINE}/nowhere?q={{}}"]}, "cannot fetch the search http://find.test/nowhere.*404"),
    ({"search": [f"{ENGINE}/empty?q={{}}"]}, "gave no results: try other words"),
    ({"search": [f"{ENGINE}/?q={{}}"], "search_results": 0}, "search_results is 0"),
    ({"search": [f"{ENGINE}/?q={{}}"], "space": GraphSpace({"a": []})}, "search finds web pages"),
])  # fmt: skip
def test_invalid_search_is_refused_early(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    web = script(**{"/empty?q=coral+reef": as_json()})
    given = {"topic": "coral reef", "clock": clock, "out": tmp_path / "c", **options}
    with pytest.raises(InputError, match=message):
        run(lambda: lycosa.crawl(**({"space": web.space()} | given)))
    assert not (tmp_path / "c").exists()
