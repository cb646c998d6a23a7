"""Tests of scent after model updates of its judge."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import lycosa
from lycosa.core.composite import steer
from lycosa.core.engine import Engine
from lycosa.core.protocols import Space, Strategy
from lycosa.core.table import Table
from lycosa.core.types import Links, ModelUpdate, Page, Seed, Task, Terms, Visit
from lycosa.judges.probability import Probability
from lycosa.store.log import MemoryLog
from lycosa.strategies.scent import Scent, known_links
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.vocabulary import Vocabulary

SEED = "http://a.test/"
WORDS = ["coral", "reef", "sea", "train", "rail", "house", "bird", "tern"]


def learn_web(relevances: Mapping[str, float], **options: Any) -> tuple[Scent, Table]:
    """Learn from forty pages of a small random web with redirects and a copy, each with its relevance."""
    chance, table = random.Random(7), Table()
    scent = Scent(words="coral reef", probability=True, threshold=0.5, **options)
    table.add_seed(SEED)
    table.stems += WORDS
    nodes = [
        SEED,
        *(f"http://{host}.test/{word}/{number}" for number in range(8) for host in "ab" for word in WORDS[:4]),
    ]
    for pick in range(40):
        node = next(node for node in table.nodes if table.state[table.row_of[node]] == 0)
        targets = list(dict.fromkeys(chance.choices(nodes, k=6)))
        anchors = [" ".join(chance.choices(WORDS, k=2)) for _ in targets]
        words = np.array(sorted(chance.sample(range(len(WORDS)), 3)), np.uint32)
        if pick and pick % 9 == 0:
            visit = Visit(node, "redirect", "redirect", pick, links=Links.to(f"http://new.test/{pick}"))
        else:
            links = Links.to(*targets, anchors=anchors)
            links.link_relevances = np.array([chance.choice((0.0, 0.5)) for _ in targets], np.float32)
            visit = Visit(node, "page", "ok", pick, relevance=relevances.get(node, 0.0), links=links)
            visit.terms, visit.same_as = Terms(words, np.ones(3, np.uint16)), "x" if pick == 13 else ""
            visit.data = {"quality": 0.5} if pick == 17 else {}
        step = table.absorb(visit)
        assert step is not None
        scent.learn(step, table)
    return scent, table


def random_relevances(seed: int) -> dict[str, float]:
    chance = random.Random(seed)
    hosts = [f"http://{host}.test/{word}/{number}" for number in range(8) for host in "ab" for word in WORDS[:4]]
    moved = [f"http://new.test/{pick}" for pick in range(40)]
    return {node: chance.choice((0.0, 0.1, 0.4, 0.9)) for node in (SEED, *hosts, *moved)}


def numbers(scent: Scent) -> Any:
    return scent.links_.columns()["numbers"]


def test_reconsider_equals_learning_with_new_relevances() -> None:
    before, after = random_relevances(1), random_relevances(2)
    scent, table = learn_web(before, vectors=False)
    known, _ = learn_web(after, vectors=False)
    pages = np.flatnonzero(scent.links_.has_outcome)
    relevances_now = np.array([after[table.nodes[row]] for row in pages.tolist()])
    changed = scent.reconsider(pages, relevances_now, table)
    assert len(changed) == len(table.rows())
    # Outcomes are equal only after all pages, as the cosine part is scaled by all relevances so far.
    known.reconsider(pages, relevances_now, table)
    assert np.allclose(scent.groups_.totals, known.groups_.totals, atol=1e-5)
    assert np.allclose(numbers(scent), numbers(known), atol=1e-5)
    assert np.allclose(scent.outcomes_.page_words.totals, known.outcomes_.page_words.totals, atol=1e-5)
    assert (scent.relevant_pages_, scent.positive_pages_, scent.pages_) == (
        known.relevant_pages_,
        known.positive_pages_,
        known.pages_,
    )
    assert scent.typical_outcome_ == pytest.approx(known.typical_outcome_)
    rows = table.rows()
    assert np.allclose(scent.priority(rows, table), known.priority(rows, table), atol=0.02)


def test_reconsider_unchanged_relevance_changes_nothing() -> None:
    plain = Scent(words="", probability=True, threshold=0.5, vectors=False)
    fresh = Table()
    fresh.add_seed(SEED)
    links = Links.to("http://b.test/x", "http://b.test/y", "http://b.test/z", anchors=["sea sea", "sea", "rail"])
    links.link_relevances = np.array([0.5, 0.25, 0.0], np.float32)
    for visit in (
        Visit(SEED, "page", "ok", 1, relevance=0.8, links=links),
        Visit("http://b.test/x", "redirect", "redirect", 2, links=Links.to("http://b.test/moved")),
        Visit("http://b.test/moved", "page", "ok", 3, relevance=0.6, links=Links.to("http://b.test/z")),
    ):
        step = fresh.absorb(visit)
        assert step is not None
        plain.learn(step, fresh)
    before = numbers(plain).copy(), plain.groups_.totals.copy()
    pages = np.flatnonzero(plain.links_.has_outcome)
    plain.reconsider(pages, np.array([0.8, 0.6]), fresh)
    for was, now in zip(before, (numbers(plain), plain.groups_.totals), strict=True):
        assert np.allclose(was, now, atol=1e-6)
    # z is linked from two pages, .8 and .6; neighbour y is not fetched, and x (redirected, .6) is two positions away.
    assert plain.links_.numbers["outcome_sum"][fresh.row_of["http://b.test/z"]] == pytest.approx(1.4)


def test_reconsider_does_nothing_without_probabilities() -> None:
    scent, table = learn_web(random_relevances(4), vectors=False)
    scent.probability = False
    before = scent.links_.numbers.copy()
    assert [] == scent.reconsider(np.array([0]), np.array([1.0]), table).tolist()
    assert np.array_equal(before, scent.links_.numbers)


class ChainOfPages(Space):
    """Space of thirty pages, each linking to the next ones."""

    async def visit(self, task: Task) -> Page:
        number = int(task.node.rpartition("/")[2])
        nodes = [f"http://a.test/{following}" for following in range(number + 1, min(number + 5, 30))]
        words = "coral reef polyp" if number % 3 else "train rail station"
        links = Links.to(*nodes, anchors=[f"{words.split()[n % 3]} {n}" for n in range(len(nodes))])
        return Page("ok", 200, title=words, marked=f"{words} {words} number{number}", links=links)


def engine(log: MemoryLog, strategy: Strategy) -> Engine:
    return Engine(
        ChainOfPages(),
        Probability("coral reef"),
        strategy,
        log,
        clock=clock,
        reader=Vocabulary(),
        judge_name="j",
        concurrency=1,
    )


def scent() -> Scent:
    return Scent(words="coral reef", probability=True, threshold=0.5)


@pytest.mark.parametrize("batch", [1, 4])
def test_model_updates_are_equal_live_and_replayed(batch: int) -> None:
    log = MemoryLog()
    live, again = (engine(made, steer(scent(), batch=batch)) for made in (log, MemoryLog()))
    log.append(Seed("http://a.test/0"))
    live.fold(Seed("http://a.test/0"))

    async def crawl() -> int:
        return len([visit async for visit in live.run() if visit.is_page])

    assert 30 == run_virtual(crawl())
    assert 4 <= sum(isinstance(event, ModelUpdate) for event in log)  # after 10, 15 and 23 pages, and at the end
    again.replay(log)
    one, other = (made.strategy.greedy if batch > 1 else made.strategy for made in (live, again))  # type: ignore[attr-defined]
    assert one.estimator.links_.outcome.tobytes() == other.estimator.links_.outcome.tobytes()
    assert one.estimator.best_.priority.tobytes() == other.estimator.best_.priority.tobytes()
    relevances_now = live.judge.relevances_now()  # type: ignore[attr-defined]
    page = live.table.row_of["http://a.test/1"]
    assert one.estimator.links_.outcome[page] > 0.5 * relevances_now[1] > 0.1


@pytest.mark.parametrize(("judge", "exact"), [("keyword", True), ("vector", False), ("probability", False)])
def test_crawl_sets_exact_and_probability(judge: str, exact: bool) -> None:
    made = lycosa.crawl("coral", ["http://a.test/0"], space=ChainOfPages(), budget=1, judge=judge)

    async def crawl() -> list[Visit]:
        return [visit async for visit in made]

    assert 1 == len(asyncio.run(crawl()))
    assert made.engine is not None
    guide: Any = made.engine.strategy.estimator  # type: ignore[attr-defined]
    assert (exact, judge == "probability") == (guide.exact, guide.probability)


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("http://a.test", 0),
        ("http://a.test/", 0),
        ("http://a.test/fish", 1),
        ("http://a.test/fish/", 1),
        ("http://a.test/fish/trout?x=/y/z", 2),
        ("http://a.test/1/2/3/4/5/6/7/8/9/10", 8),
    ],
)
def test_new_places_term_falls_with_path_names(url: str, names: int) -> None:
    """After an irrelevant page of its host, a new place has (1 / sqrt 2 + 1 / sqrt(1 + n)) / 2 + 1 - names / 8.

    n is the number of pages in its directory: 1 in that of the start page, which has no name in its path.
    """
    table = Table()
    table.add_seed("http://a.test/start")
    scent = Scent(words="coral", vectors=False)
    visit = Visit("http://a.test/start", "page", "ok", pick=1, links=Links.to(url))
    rows = scent.learn(table.absorb(visit), table)
    seen = 0 if names > 1 or url.endswith("fish/") else 1
    curiosity = (1 / math.sqrt(2) + 1 / math.sqrt(1 + seen)) / 2 + 1 - names / 8
    assert scent.contributions(rows, table)["new places"][0] == pytest.approx(0.6 * curiosity, abs=1e-6)


def test_sum_again_in_blocks_equals_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums do not depend on the block size: blocks consist of whole pages, of 208 links or of seven."""
    scent, table = learn_web(random_relevances(1), vectors=False)
    scent.links_.sum_again(table.edges)
    at_once = numbers(scent).copy()
    scent.links_.numbers["outcome_sum"] = scent.links_.numbers["neighbour_sum"] = -1.0
    monkeypatch.setattr(known_links, "BLOCK", 7)
    scent.links_.sum_again(table.edges)
    assert np.allclose(at_once, numbers(scent), atol=1e-5)
    assert scent.links_.numbers["neighbour_sum"].any()
