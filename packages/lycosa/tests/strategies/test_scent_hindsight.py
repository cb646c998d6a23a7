"""Scent after a lesson of its judge: as if it had known from the start what it knows now."""

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
from lycosa.strategies.scent import Scent, trails
from lycosa.strategies.scent.mixing import FOREMOST, Elite
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.vocabulary import Vocabulary

SEED = "http://a.test/"
WORDS = ["coral", "reef", "sea", "train", "rail", "house", "bird", "tern"]


def taught(betas: Mapping[str, float], **options: Any) -> tuple[Scent, Table]:
    """Forty pages of a small random web, with redirects and a copy, each with this beta."""
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
            visit = Visit(node, "page", "ok", pick, relevance=betas.get(node, 0.0), links=links)
            visit.terms, visit.same_as = Terms(words, np.ones(3, np.uint16)), "x" if pick == 13 else ""
            visit.data = {"quality": 0.5} if pick == 17 else {}
        step = table.absorb(visit)
        assert step is not None
        scent.learn(step, table)
    return scent, table


def judged(seed: int) -> dict[str, float]:
    chance = random.Random(seed)
    hosts = [f"http://{host}.test/{word}/{number}" for number in range(8) for host in "ab" for word in WORDS[:4]]
    moved = [f"http://new.test/{pick}" for pick in range(40)]
    return {node: chance.choice((0.0, 0.1, 0.4, 0.9)) for node in (SEED, *hosts, *moved)}


def test_what_links_know_is_summed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are of whole pages, however small: 208 links at once, and some seven at a time, give the same sums."""
    scent, table = taught(judged(1), vectors=False)
    scent.trails_.retell(table.edges)
    at_once = scent.trails_.known.copy()
    scent.trails_.known[:, trails.OUTCOMES] = scent.trails_.known[:, trails.NEIGHBOURS] = -1.0
    monkeypatch.setattr(trails, "BLOCK", 7)
    scent.trails_.retell(table.edges)
    assert np.allclose(at_once, scent.trails_.known, atol=1e-5)
    assert at_once[:, trails.NEIGHBOURS].any()


def test_what_led_to_pages_is_as_if_their_worth_had_been_known() -> None:
    """Groups, places, words and the parents' sums by other betas, then reconsidered: those of the right ones."""
    before, after = judged(1), judged(2)
    scent, table = taught(before, vectors=False)
    known, _ = taught(after, vectors=False)
    pages = np.flatnonzero(scent.trails_.done)
    relevances_now = np.array([after[table.nodes[row]] for row in pages.tolist()])
    changed = scent.reconsider(pages, relevances_now, table)
    assert len(changed) == len(table.rows())
    # Our own reading is brought to the scale of all betas so far, so only with all pages known outcomes are the same.
    known.reconsider(pages, relevances_now, table)
    assert np.allclose(scent.groups_, known.groups_, atol=1e-5)
    assert np.allclose(scent.trails_.known, known.trails_.known, atol=1e-5)
    assert np.allclose(scent.sharpening_.lifts, known.sharpening_.lifts, atol=1e-5)
    assert (scent.relevant_, scent.positives_, scent.pages_) == (known.relevant_, known.positives_, known.pages_)
    assert scent.scale_ == pytest.approx(known.scale_)
    rows = table.rows()
    assert np.allclose(scent.priority(rows, table), known.priority(rows, table), atol=0.02)


def test_the_same_worth_changes_nothing() -> None:
    """Sums that were added up page by page are those that are made at once: no own reading, so betas are outcomes."""
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
    before = plain.trails_.known.copy(), plain.groups_.copy()
    pages = np.flatnonzero(plain.trails_.done)
    plain.reconsider(pages, np.array([0.8, 0.6]), fresh)
    for was, now in zip(before, (plain.trails_.known, plain.groups_), strict=True):
        assert np.allclose(was, now, atol=1e-6)
    # z stands on two pages, .8 and .6; its neighbour y is not fetched, x (moved, .6) is two places away.
    assert plain.trails_.known[fresh.row_of["http://b.test/z"], trails.OUTCOMES] == pytest.approx(1.4)


def test_without_probabilities_nothing_is_reconsidered() -> None:
    scent, table = taught(judged(4), vectors=False)
    scent.probability = False
    before = scent.trails_.known.copy()
    assert [] == scent.reconsider(np.array([0]), np.array([1.0]), table).tolist()
    assert np.array_equal(before, scent.trails_.known)


def test_the_foremost_are_the_best_of_very_many() -> None:
    table, elite = Table(), Elite()
    for number in range(FOREMOST + 100):
        table.add_seed(f"n{number}")
    elite.fit(len(table))
    elite.priority[: len(table)] = np.arange(len(table), dtype=np.float32)
    assert elite.foremost(table).tolist() == list(range(100, FOREMOST + 100))


class Small(Space):
    """Thirty pages, each of which links to the next ones."""

    async def visit(self, task: Task) -> Page:
        number = int(task.node.rpartition("/")[2])
        nodes = [f"http://a.test/{following}" for following in range(number + 1, min(number + 5, 30))]
        words = "coral reef polyp" if number % 3 else "train rail station"
        links = Links.to(*nodes, anchors=[f"{words.split()[n % 3]} {n}" for n in range(len(nodes))])
        return Page("ok", 200, title=words, marked=f"{words} {words} number{number}", links=links)


def engine(log: MemoryLog, strategy: Strategy) -> Engine:
    return Engine(
        Small(),
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
def test_lessons_are_heard_live_and_replayed(batch: int) -> None:
    """What a crawl has learned from its lessons, an engine that folds its log has learned, too: to the last bit."""
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
    assert one.estimator.trails_.outcome.tobytes() == other.estimator.trails_.outcome.tobytes()
    assert one.estimator.elite_.priority.tobytes() == other.estimator.elite_.priority.tobytes()
    relevances_now = live.topic.relevances_now()  # type: ignore[attr-defined]
    page = live.table.row_of["http://a.test/1"]
    assert one.estimator.trails_.outcome[page] > 0.5 * relevances_now[1] > 0.25


@pytest.mark.parametrize(("judge", "exact"), [("keyword", True), ("vector", False), ("probability", False)])
def test_a_crawl_tells_scent_whether_its_judge_is_exact(judge: str, exact: bool) -> None:
    made = lycosa.crawl("coral", ["http://a.test/0"], space=Small(), budget=1, judge=judge)

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
def test_upwards_by_hand(url: str, names: int) -> None:
    """On a host of which one page was seen, without a find: (1 / sqrt 2 + 1 / sqrt(1 + n)) / 2 + 1 - names / 8.

    n is 1 in the directory of the start page, which has no name in its path.
    """
    table = Table()
    table.add_seed("http://a.test/start")
    scent = Scent(words="coral", vectors=False)
    visit = Visit("http://a.test/start", "page", "ok", pick=1, links=Links.to(url))
    rows = scent.learn(table.absorb(visit), table)
    seen = 0 if names > 1 or url.endswith("fish/") else 1
    curiosity = (1 / math.sqrt(2) + 1 / math.sqrt(1 + seen)) / 2 + 1 - names / 8
    assert scent.terms(rows, table)["new places"][0] == pytest.approx(0.6 * curiosity, abs=1e-6)


def test_while_nothing_was_found_every_second_page_is_the_oldest_link() -> None:
    """After four pages, six, ...: it leads by a little, and says so. With a find it has no turn any more."""
    scent, table = Scent(vectors=False, threshold=0.5), Table()
    for name in "abcdefg":
        table.add_seed(f"http://{name}.test/")
    turns = []
    for name, beta in zip("abcdefg", (0.0, 0.4, 0.0, 0.0, 0.9, 0.0, 0.0), strict=True):
        links = Links.to(f"http://deep.test/1/2/3/{name}", anchors=["coral"])
        scent.learn(
            table.absorb(Visit(f"http://{name}.test/", "page", "ok", pick=1, relevance=beta, links=links)), table
        )
        rows = table.rows()
        turns.append(scent.turn_)
        said = np.sum(list(scent.terms(rows, table).values()), axis=0)
        if scent.turn_ >= 0:
            assert rows[0] == scent.turn_ == rows[scent.priority(rows, table).argmax()]
            assert scent.explain(scent.turn_, table)["turn of the oldest"] == scent.lead_
            assert said[0] == pytest.approx(scent.priority(rows, table)[0], abs=0.01)
        else:
            assert not any(name.startswith("turn") for name in scent.explain(int(rows[0]), table))
    assert [-1, -1, -1, 4, -1, -1, -1] == turns


TURNS = dict.fromkeys((8, 9, 10, 11, 20), "x") | dict.fromkeys((12, 13), "y")


@pytest.mark.parametrize(("judge", "turns"), [({"probability": True}, TURNS), ({}, {}), ({"exact": True}, {})])
def test_while_finds_are_doubtful_every_fourth_page_goes_by_the_topic(
    judge: dict[str, Any], turns: dict[int, str]
) -> None:
    """One find of more than six pages, three of more than eighteen: the anchor decides, and nothing that was learned.

    Every page is on a host whose pages are good, by what was learned; only two links with the topic's word are not. As
    they are not fetched, a turn lasts until it is the other one's, or finds are no longer doubtful.
    """
    scent, table = Scent(vectors=False, threshold=0.5, **judge), Table()
    table.add_seed("http://good.test/")
    links = Links.to(
        *(f"http://good.test/{number}" for number in range(40)), "http://poor.test/x", "http://poor.test/y"
    )
    links.link_relevances[-2:] = 0.5, 0.2
    had = {}
    for number, beta in enumerate((0.9, *[0.0] * 11, 0.9, 0.9, *[0.0] * 6)):
        node = "http://good.test/" + (str(number) if number else "")
        visit = Visit(node, "page", "ok", 1, relevance=beta, links=Links.to() if number else links)
        scent.learn(table.absorb(visit), table)
        if scent.turn_ >= 0:
            rows = table.rows()
            assert scent.turn_ == rows[scent.priority(rows, table).argmax()]
            told = scent.explain(scent.turn_, table)
            ordered = [abs(told[name]) for name in told if name != "any link"]
            assert told["turn by topic"] == scent.lead_
            assert ordered == sorted(ordered, reverse=True)
            had[scent.pages_] = table.nodes[scent.turn_].removeprefix("http://poor.test/")
    assert turns == had


def test_a_link_that_cannot_be_fetched_keeps_nobody_from_a_turn() -> None:
    """Its host rests, or it is in flight: it keeps its turn until the next one, which is another link's."""
    scent, table = Scent(vectors=False, threshold=0.5), Table()
    for number in range(12):
        table.add_seed(f"http://{number}.test/")
    turns = []
    for number in range(11, 3, -1):  # the oldest ones stay open
        scent.learn(table.absorb(Visit(f"http://{number}.test/", "page", "ok", 1)), table)
        turns.append(scent.turn_)
    assert [-1, -1, -1, 0, 0, 1, 1, 2] == turns
