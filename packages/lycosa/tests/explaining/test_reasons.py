"""Explanations of position, terms, parents and path; explaining does not change the crawl."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from handmade import FRONT, crawl, html, redirect
from input_errors import raises_input_error
from lycosa.core.protocols import Estimator
from lycosa.core.table import Table
from lycosa.core.types import Label, Priorities, Rows, Seed, Step
from lycosa.explaining import Reasons, Why
from lycosa.explaining.frontier_ranking import explained
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from synthetic_report import page, write

A = "http://a.localhost/"
LINKS = {"a": ["b", "c", "d"], "b": ["c", "e"]}
BETA = {"a": 0.5, "b": 1.0}
ALPHA = {("a", "b"): 0.5, ("a", "c"): 0.25, ("b", "c"): 0.125, ("b", "e"): 1.0}


@dataclass
class Weighed:
    """Estimator that adds half of the best relevance and link relevance of the parents, less .25 after name d."""

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.array([sum(self.explain(int(row), table).values()) for row in rows])

    def explain(self, row: int, table: Table) -> dict[str, float]:
        terms = {
            "parents": 0.5 * float(table.relevance_max[row]),
            "link": 0.5 * float(table.link_relevance_max[row]),
            "late": -0.25 if table.nodes[row] > "d" else 0.0,
        }
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))


def graph() -> GraphSpace:
    return GraphSpace(LINKS, BETA, ALPHA)


def run_crawl(path: Path, strategy: str | Estimator, pages: int) -> Path:
    """Crawl a graph for some pages, one at a time, and return the directory."""
    crawled_site = lycosa.crawl(
        SpaceJudge(), ["a"], space=graph(), strategy=strategy, out=path, budget=pages, concurrency=1
    )
    assert pages == sum(visit.is_page for visit in crawled_site)
    return path


def ask(path: Path, url: str, strategy: Estimator | None = None) -> Why:
    return lycosa.why(path, url, judge=SpaceJudge(), space=graph(), strategy=strategy)


def digest(path: Path) -> str:
    """Return names, contents and modification times of all files in a directory."""
    answers = [
        (str(file.relative_to(path)), file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(path.rglob("*"))
        if file.is_file()
    ]
    return hashlib.sha256(repr(answers).encode()).hexdigest()


def test_why_of_waiting_link_has_terms_and_rank(tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", Weighed(), 2)  # a, then b: .25 + .25 against .25 + .125 and .25
    expected = {
        "c": (2, {"parents": 0.5, "link": 0.125}),  # b is its best parent, a has the better link to it
        "d": (3, {"parents": 0.25}),
        "e": (1, {"parents": 0.5, "link": 0.5, "late": -0.25}),
    }
    for node, (rank, terms) in expected.items():
        why = ask(path, node, Weighed())
        (view,) = why.views
        assert ("waits", rank, 3) == (why.state, view.rank, view.waiting)
        assert (terms, sum(terms.values())) == (view.terms, view.priority)
    with Reasons(path, judge=SpaceJudge(), space=graph(), strategy=Weighed()) as reasons:
        assert ["e", "c"] == [why.node for why in reasons.best(2)]
        assert "the crawl's budget of 2 pages is spent" in reasons.best(1)[0].note


def test_why_lists_parents_and_path(tmp_path: Path) -> None:
    why = ask(run_crawl(tmp_path / "crawl", Weighed(), 2), "c", Weighed())
    assert [("b", 1.0, 0.125), ("a", 0.5, 0.25)] == [
        (found.node, found.relevance, found.link_relevance) for found in why.parents
    ]
    assert (2, ["a", "c"]) == (why.parent_count, [stop.node for stop in why.path])


def test_why_of_fetched_page_has_terms_at_pick(tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", Weighed(), 4)  # a, b, e (.75), c (.625)
    why = ask(path, "b", Weighed())
    assert why.fetched is not None
    assert ("fetched", [], 2, 0.5) == (why.state, why.views, why.fetched.pick, why.fetched.priority)
    assert {"parents": 0.25, "link": 0.25} == why.fetched.terms
    assert (1.0, True) == (why.fetched.relevance, why.fetched.is_relevant)
    last = ask(path, "c", Weighed()).fetched
    assert last is not None
    assert (0.0, False, {"parents": 0.5, "link": 0.125}) == (last.relevance, last.is_relevant, last.terms)
    first = ask(path, "a", Weighed()).fetched
    assert first is not None
    assert (math.inf, {}) == (first.priority, first.terms)


def test_why_of_fetched_page_needs_no_strategy(tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", Weighed(), 3)
    fetched = lycosa.why(path, "e", judge=SpaceJudge(), space=graph()).fetched
    assert fetched is not None
    assert (0.75, {"parents": 0.5, "link": 0.5, "late": -0.25}) == (fetched.priority, fetched.terms)


def test_why_of_fetched_page_reads_its_path_from_the_log(tmp_path: Path) -> None:
    why = ask(run_crawl(tmp_path / "crawl", Weighed(), 4), "e", Weighed())
    assert ["a", "b", "e"] == [stop.node for stop in why.path]
    assert ([("b", 1.0, 1.0)], 1) == (
        [(found.node, found.relevance, found.link_relevance) for found in why.parents],
        why.parent_count,
    )


@pytest.mark.parametrize(
    ("strategy", "explains"),
    [("best-first", False), ("lr_fl", True), ("breadth-first", True), ("best-first,ties=random", False)],
)
def test_best_lists_next_picks(strategy: str, explains: bool, tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", strategy, 2)
    with Reasons(path, judge=SpaceJudge(), space=graph()) as reasons:
        best = reasons.best()
        assert [(place, explains, explains) for place in (1, 2, 3)] == [
            (view.rank, view.explains, bool(view.terms)) for why in best if (view := why.view)
        ]
    resumed = lycosa.resume(path, topic=SpaceJudge(), space=graph(), budget=3)
    assert [best[0].node] == [visit.node for visit in resumed]


def test_why_bandit_has_view_per_arm(tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", "mab_epsilon,arms=fl_deg+fl_n,epsilon=0", 2)
    views = {view.arm: view for view in ask(path, "c").views}
    assert (np.log1p(2), 1) == (views["fl_deg"].priority, views["fl_deg"].rank)  # two parents
    assert (np.log1p(0.5 + 1.0), 1) == (views["fl_n"].priority, views["fl_n"].rank)
    assert 1.0 == views["fl_deg"].reward  # its one page was b
    assert ["fl_deg", "fl_n"] == list(views)


def test_why_link_found_in_batch_is_unranked(tmp_path: Path) -> None:
    why = ask(run_crawl(tmp_path / "crawl", "best-first,batch=3", 2), "e")
    assert "unranked" == why.state
    assert math.isnan(why.views[0].priority)


def test_why_changes_nothing(tmp_path: Path) -> None:
    path = run_crawl(tmp_path / "crawl", "best-first", 2)
    before = digest(path)
    with Reasons(path, judge=SpaceJudge(), space=graph()) as reasons:
        reasons.best()
        for node in "abcde":
            reasons.why(node)
    assert before == digest(path)
    holding = Directory.open(path)  # as a running crawl does
    try:
        assert "waits" == ask(path, "e").state
    finally:
        holding.close()


def test_why_works_inside_running_event_loop(tmp_path: Path) -> None:
    path, answers = tmp_path / "crawl", []

    async def run() -> None:
        crawled_site = lycosa.crawl(SpaceJudge(), ["a"], space=graph(), strategy="best-first", out=path, concurrency=1)
        async for visit in crawled_site:
            if visit.node in ("a", "b"):
                answers.append(ask(path, "b").state)

    asyncio.run(run())
    assert ["waits", "fetched"] == answers


def test_why_as_dict_of_seed_has_no_priority(tmp_path: Path) -> None:
    why = ask(run_crawl(tmp_path / "crawl", "best-first", 1), "a")
    data: dict[str, Any] = json.loads(json.dumps(why.as_dict(), allow_nan=False))
    assert (None, "fetched") == (data["fetched"]["priority"], data["state"])


@pytest.fixture(scope="module")
def crawled_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl a front page that links to four pages: one, old (redirects to new), gone, and one on another host."""
    path = tmp_path_factory.mktemp("made") / "crawl"
    pages: Mapping[str, Any] = {
        FRONT: html(
            "Front",
            "Begin",
            (A + "old", "moved"),
            (A + "gone", "dead"),
            (A + "one", "first"),
            ("http://b.test/", "out"),
        ),
        A + "one": html("One", "coral", (A + "deep", "deeper words")),
        A + "old": redirect(A + "new"),
        A + "new": html("New", "reef", (A + "deep", "other words")),
    }
    crawl(path, pages, budget=2, hosts=["a.localhost"], concurrency=1)
    return path


@pytest.mark.parametrize(
    "typed", [A + "deep", "HTTP://A.LOCALHOST:80/deep#x", "a.localhost/deep", "https://a.localhost/deep"]
)
def test_why_accepts_equivalent_urls(typed: str, crawled_site: Path) -> None:
    why = lycosa.why(crawled_site, typed)
    assert (A + "deep", "waits") == (why.node, why.state)
    assert [("One", "deeper words")] == [(found.title, found.anchor) for found in why.parents]


def test_why_explains_redirect_and_target(crawled_site: Path) -> None:
    why = lycosa.why(crawled_site, A + "old")
    assert why.fetched is not None
    assert "redirect" == why.fetched.outcome
    target = lycosa.why(crawled_site, A + "new")
    assert [(A + "old", "redirect")] == [(found.node, found.kind) for found in target.parents]
    assert [FRONT, A + "new"] == [stop.node for stop in target.path]


def test_why_explains_url_outside_frontier(crawled_site: Path) -> None:
    gone = lycosa.why(crawled_site, A + "gone").fetched
    assert gone is not None
    assert ("gone", False) == (gone.outcome, gone.is_relevant)
    assert "prerequisite" == lycosa.why(crawled_site, A + "robots.txt").state
    outside = lycosa.why(crawled_site, "http://b.test/")
    assert ("out of scope", True) == (outside.state, FRONT in outside.note)


@pytest.mark.parametrize("typed", [A + "deeper", "\x00", "\ud800", "nowhere"])
def test_why_unknown_url_suggests_similar(typed: str, crawled_site: Path) -> None:
    with raises_input_error("unknown-name") as caught:
        lycosa.why(crawled_site, typed)
    assert ("deeper" in typed) == (f"similar known URLs: {A}deep" in str(caught.value))


def test_why_reports_host_budget(tmp_path: Path) -> None:
    seeds, links = [Seed("http://a.test/")], ["http://a.test/1", "http://b.test/1"]
    path = write(tmp_path / "crawl", [*seeds, page("http://a.test/", 0.9, links)], host_budget=1)
    with Reasons(path) as reasons:
        assert ["http://b.test/1"] == [why.node for why in reasons.best()]
        why = reasons.why("a.test/1")
        assert ("host budget", 0) == (why.state, why.views[0].rank)


def test_why_reports_pruned_link(tmp_path: Path) -> None:
    events = [Seed("http://a.test/"), page("http://a.test/", 0.0, ["http://a.test/1"])]
    path = write(tmp_path / "crawl", events, strategy="hard-focus,trust_seeds=no")
    why = lycosa.why(path, "http://a.test/1")
    assert ("pruned", 0) == (why.state, why.views[0].rank)


def test_why_reports_held_back_link(tmp_path: Path) -> None:
    monster = "http://a.test/" + "x/" * 40
    events = [Seed("http://a.test/"), page("http://a.test/", 0.9, [monster, "http://a.test/1"])]
    path = write(tmp_path / "crawl", events)
    why = lycosa.why(path, monster)
    assert ("held", 2, 2) == (why.state, why.views[0].rank, why.views[0].waiting)
    assert "likely trap" in why.note


def test_why_reports_pending_retry(tmp_path: Path) -> None:
    failed = page("http://a.test/1", retry_at=2e9, attempt=1)
    failed.outcome = "busy"
    path = write(tmp_path / "crawl", [Seed("http://a.test/"), page("http://a.test/", 0.9, ["http://a.test/1"]), failed])
    why = lycosa.why(path, "http://a.test/1")
    assert ("waits", "tried once without success; will be tried again") == (why.state, why.note)


def test_why_seed_waits_first(tmp_path: Path) -> None:
    events = [Seed("http://a.test/"), page("http://a.test/", 0.9, ["http://a.test/1"]), Seed("http://b.test/")]
    why = lycosa.why(write(tmp_path / "crawl", events), "b.test")
    assert (math.inf, 1, 2) == (why.views[0].priority, why.views[0].rank, why.views[0].waiting)


def test_why_of_empty_log_raises(tmp_path: Path) -> None:
    path = write(tmp_path / "crawl", [])
    for _ in range(2):
        with raises_input_error("nothing-to-do"):
            lycosa.why(path, "http://a.test/")
        log = SqliteLog(path / NAME)
        log.append(Label("http://a.test/", True))  # not crawled either
        log.close()


def test_why_reports_failing_explain() -> None:
    class Broken:
        def explain(self, row: int, table: Table) -> list[str]:
            return ["because"]

    with raises_input_error("bad-plugin", match=r"Broken\.explain.*AttributeError"):
        explained(Broken(), 0, Table())
