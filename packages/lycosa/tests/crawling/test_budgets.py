"""Tests of budgets on webs of dead links, redirects and broken hosts."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import gather
from lycosa.collection.summary import summarise
from lycosa.core.budget import LEFT_ALONE, REQUESTS_SPENT, requests_for
from lycosa.crawling import crawl as make_crawl
from lycosa.spaces.web_space import GIVE_UP
from lycosa.testweb.simulation import clock
from scripted_web import GONE, ROBOTS, Says, Script, Told, crawl, html, run

START = "http://start.test/"
MANY = 400

REDIRECTS = [f"http://maze.test/{number}" for number in range(MANY)]
DEAD = [f"http://grave.test/{number}" for number in range(MANY)]
ZIPS = [f"http://files.test/{number}.zip" for number in range(MANY)]
HOSTS = [f"http://h{number}.test/" for number in range(MANY)]
CASES: dict[str, tuple[list[str], dict[str, Says], str]] = {
    "redirects": (REDIRECTS, {url: Says(b"", 301, more={"Location": url + "/x"}) for url in REDIRECTS}, "redirects"),
    "dead links": (DEAD, dict.fromkeys(DEAD, GONE), "dead links"),
    "zip files": (ZIPS, {url: Says(b"PK", type="application/zip") for url in ZIPS}, "unwanted types"),
    "broken robots.txt": (HOSTS, {f"{url}robots.txt": Says(b"", 500) for url in HOSTS}, "robots.txt"),
}
"""(links of a page, their responses, the expected purposes of the requests)"""


def _script(links: list[str], said: dict[str, Says]) -> Script:
    answers = {START: html(links=links), START + "robots.txt": ROBOTS}
    pages = {url: [answer if isinstance(answer, Says) else Says(answer)] for url, answer in answers.items()}
    return Script({**pages, **{url: [answer] for url, answer in said.items()}})


def _crawl(path: Path, script: Script, **options: Any) -> Told:
    return crawl(path, script, [START], **{"strategy": "scent", "concurrency": 16, "archive": False, **options})


@pytest.mark.parametrize("case", CASES)
def test_request_budget_is_kept_and_reported(tmp_path: Path, case: str) -> None:
    links, said, waste = CASES[case]
    script = _script(links, said)
    result = _crawl(tmp_path / "crawl", script, budget=10)
    assert result.crawl.engine is not None
    tally = result.crawl.engine.tally
    assert (REQUESTS_SPENT, requests_for(10)) == (result.crawl.engine.ending, len(script.requests))
    assert len(script.requests) == tally.requests == tally.spent.total()
    assert waste == tally.spent.most_common(1)[0][0]
    summary = summarise(tmp_path / "crawl")
    assert tally.spent == summary.spent
    with CrawlDirectory(tmp_path / "crawl") as collection:
        report = gather(collection)
    assert (len(script.requests), " --max-requests 400") == (report.requests, report.budget_option)
    assert f"{tally.spent[waste]:,} {waste}" in report.spent


@pytest.mark.parametrize("concurrency", [1, 16])
def test_request_budget_is_exact_after_resume(tmp_path: Path, concurrency: int) -> None:
    links, said, _ = CASES["dead links"]
    script = _script(links, said)
    out, options = tmp_path / "crawl", {"max_requests": 37, "concurrency": concurrency, "budget": 10}
    assert 37 == len(_crawl(out, script, **options).visits) == len(script.requests)
    again = run(lambda: lycosa.resume(out, space=script.space(), clock=clock), start=100.0)
    assert again.crawl.engine is not None
    assert ([], REQUESTS_SPENT) == (again.visits, again.crawl.engine.ending)
    more = run(lambda: lycosa.resume(out, space=script.space(), clock=clock, max_requests=50), start=200.0)
    assert 13 == len(more.visits)
    assert 50 == len(script.requests)


def test_ordinary_crawl_stays_within_default_budget(tmp_path: Path) -> None:
    pages = {url: Says(html(links=[after])) for url, after in pairwise(HOSTS[:40])}
    result = _crawl(tmp_path / "crawl", _script([HOSTS[0]], pages), budget=30)
    assert result.crawl.engine is not None
    assert (30, 60) == (result.crawl.engine.tally.pages, result.crawl.engine.tally.requests)


@pytest.mark.parametrize(
    ("said", "outcome"), [(Says(fails="timeout"), "timeout"), (Says(b"", 500), "broken"), (Says(b"", 503), "busy")]
)
def test_failing_host_is_given_up(tmp_path: Path, said: Says, outcome: str) -> None:
    bad = [f"http://bad.test/{number}" for number in range(200)]
    good = [f"http://good.test/{number}" for number in range(30)]
    pages = {**dict.fromkeys(bad, said), **dict.fromkeys(good, Says())}
    script = _script([*bad, *good], pages)
    result = _crawl(tmp_path / "crawl", script, budget=100)
    asked = Counter(url.split("/")[2] for _, url, _ in script.requests)
    assert {"bad.test": 1 + GIVE_UP, "good.test": 1 + 30, "start.test": 2} == asked  # robots.txt, then pages
    engine = result.crawl.engine
    assert engine is not None
    assert LEFT_ALONE == engine.ending
    assert [f"{GIVE_UP} failures in a row, the last: {outcome}"] == [
        host_key.why for host_key in engine.frontier.waiting()
    ]


def test_unreliable_host_is_not_given_up(tmp_path: Path) -> None:
    links = [f"http://moody.test/{number}" for number in range(60)]
    pages = {url: Says() if number % 8 == 7 else Says(b"", 500) for number, url in enumerate(links)}
    script = _script(links, pages)
    _crawl(tmp_path / "crawl", script, budget=100, strategy="breadth-first", concurrency=1)
    assert set(links) <= {url for _, url, _ in script.requests}


def test_resumed_crawl_remembers_failures(tmp_path: Path) -> None:
    bad = [f"http://bad.test/{number}" for number in range(40)]
    script = _script(bad, dict.fromkeys(bad, Says(b"", 500)))
    out = tmp_path / "crawl"
    ended = _crawl(out, script, budget=100).ended
    before = len(script.requests)
    for hours, asked in ((0.5, 0), (1.1, 1), (5.0, 1), (7.2, 2)):
        run(lambda: lycosa.resume(out, space=script.space(), clock=clock), start=ended - clock() + 3600 * hours)
        assert before + asked == len(script.requests), hours


def test_negative_request_budget_is_refused() -> None:
    with raises_input_error("out-of-range", "--max-requests is -1"):
        make_crawl("coral", [START], max_requests=-1)
