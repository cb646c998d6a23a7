"""Tests of labels on a crawl: the judge learns them on resume, and all readers count the same."""

from contextlib import closing
from pathlib import Path

import pytest

import lycosa
from learning_judge import Learning
from lycosa.cli.label_command import keep_labels
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.summary import seed_roles, summarise
from lycosa.core.protocols import Judge, Space
from lycosa.core.types import Label, Links, ModelUpdate, Page, Task, Visit
from lycosa.crawling import Crawl
from lycosa.judges.vector_judge import VectorJudge
from lycosa.store.log import NAME, SqliteLog, append_labels, current_labels

REEF, TRAIN = "polyp colony lagoon", "timetable platform engine"


class Tiny(Space):
    """Space of two pages equally relevant to coral, one on reefs and one on trains, with three more behind each."""

    def __init__(self) -> None:
        self.pages = {"start": ("welcome", ["reef", "train"])}
        for name, text in (("reef", REEF), ("train", TRAIN)):
            below = [f"{name}-{n}" for n in range(3)]
            self.pages[name] = (f"coral {text}", below)
            self.pages |= {child: (f"coral {text} {child}", []) for child in below}

    async def visit(self, task: Task) -> Page:
        text, links = self.pages[task.node]
        return Page("ok", marked=text, links=Links.to(*links, anchors=[f"about {link[:3]}" for link in links]))


def judge(kind: str) -> Judge:
    return Learning("coral") if kind == "learns" else VectorJudge("coral")


def begun(out: Path, kind: str, pages: int = 9) -> Crawl:
    crawl = lycosa.crawl(judge(kind), ["start"], space=Tiny(), out=out, strategy="breadth-first", budget=pages)
    list(crawl)
    return crawl


def label(out: Path, labels: dict[str, bool | None], by: str = "1") -> int:
    with closing(SqliteLog(out / NAME)) as log:
        return len(append_labels(log, [Label(node, relevant, 1.0, by) for node, relevant in labels.items()]))


def resumed(out: Path, kind: str, budget: int = 9) -> Crawl:
    crawl = lycosa.resume(out, topic=judge(kind), space=Tiny(), budget=budget)
    list(crawl)
    return crawl


def counts(out: Path, crawl: Crawl) -> set[int]:
    assert crawl.engine is not None
    with CrawlDirectory(out) as collection:
        pages = len(list(collection.relevant()))
    return {crawl.engine.tally.relevant, summarise(out).relevant, pages}


@pytest.mark.parametrize("kind", ["learns", "does not"])
def test_labels_change_number_of_relevant_pages(tmp_path: Path, kind: str) -> None:
    crawl = begun(tmp_path, kind)
    assert {8} == counts(tmp_path, crawl)
    label(tmp_path, {"train": False})
    crawl = resumed(tmp_path, kind)
    assert {4 if kind == "learns" else 7} == counts(tmp_path, crawl)
    assert 1 == crawl.labels_learned_from
    log = SqliteLog(tmp_path / NAME, readonly=True)
    train = next(event for event in log if isinstance(event, Visit) and event.node == "train")
    log.close()
    assert train.relevance_now < judge(kind).threshold <= train.relevance


@pytest.mark.parametrize("kind", ["learns", "does not"])
def test_labels_can_be_withdrawn(tmp_path: Path, kind: str) -> None:
    begun(tmp_path, kind)
    label(tmp_path, {"train": False, "start": True})
    resumed(tmp_path, kind)
    label(tmp_path, {"train": None, "start": None}, "2")
    crawl = resumed(tmp_path, kind)
    assert ({8}, 0) == (counts(tmp_path, crawl), crawl.labels_learned_from)


def test_labels_affect_later_pages(tmp_path: Path) -> None:
    begun(tmp_path, "learns", pages=3)
    label(tmp_path, {"train": False, "reef": True})
    crawl = resumed(tmp_path, "learns")
    log = SqliteLog(tmp_path / NAME, readonly=True)
    relevances = {event.node: event.relevance for event in log if isinstance(event, Visit)}
    log.close()
    assert {4} == counts(tmp_path, crawl)
    assert (1.0, 0.0) == (relevances["reef-1"], relevances["train-1"])


def test_model_update_is_recorded_once(tmp_path: Path) -> None:
    begun(tmp_path, "learns")
    label(tmp_path, {"train": False})
    for _ in range(3):
        resumed(tmp_path, "learns")
    log = SqliteLog(tmp_path / NAME, readonly=True)
    model_updates = [event for event in log if isinstance(event, ModelUpdate)]
    log.close()
    assert 4 == len(model_updates)  # after four pages, after eight, at the end of the run, and for the label


def test_append_labels_skips_known_ones(tmp_path: Path) -> None:
    begun(tmp_path, "does not", pages=3)
    said: list[dict[str, bool | None]] = [{"reef": True}, {"reef": True, "train": False}]
    written = [label(tmp_path, labels) for labels in said] + [label(tmp_path, {"reef": None, "train": True}, "2")]
    log = SqliteLog(tmp_path / NAME)
    events = [(event.node, event.relevant) for event in log if isinstance(event, Label)]
    standing = current_labels(log)
    log.close()
    assert ([1, 1, 2], {"train": True}) == (written, standing)
    assert [("reef", True), ("train", False), ("reef", None), ("train", True)] == events


def test_learned_judge_is_not_reported_as_changed(tmp_path: Path) -> None:
    begun(tmp_path, "learns")
    label(tmp_path, {"reef": True})
    assert [] == resumed(tmp_path, "learns").notes


class Elsewhere(Space):
    """Space of a tree of pages unrelated to the topic."""

    async def visit(self, task: Task) -> Page:
        number = int(task.node)
        words = "steam engine rail signal boiler flour yeast dough oven crust loaf baker".split()
        text = " ".join(f"the {words[(number * 7 + at * (number % 5 + 1)) % len(words)]}" for at in range(55))
        links = [str(2 * number + side) for side in (1, 2)]
        anchors = [words[int(link) % len(words)] for link in links]
        return Page("ok", title=words[number % 12], marked=text, main=text, links=Links.to(*links, anchors=anchors))


def test_judge_without_update_is_still_untrained_after_resume(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    list(lycosa.crawl("coral reef", portals=["0"], space=Elsewhere(), out=whole, budget=55, concurrency=1))
    list(lycosa.crawl("coral reef", portals=["0"], space=Elsewhere(), out=parts, budget=12, concurrency=1))
    list(lycosa.resume(parts, space=Elsewhere(), budget=20))
    keep_labels(parts, [("0", False)])
    with closing(SqliteLog(parts / NAME, readonly=True)) as log:
        assert next(log.visits("url = '0'")).relevance_now == 0.0
    list(lycosa.resume(parts, space=Elsewhere(), budget=55))
    results = []
    for out in (whole, parts):
        with closing(SqliteLog(out / NAME, readonly=True)) as log:
            events = [event for event in log if isinstance(event, Visit | ModelUpdate)]
        results.append([event.node if isinstance(event, Visit) else "model_update" for event in events])
    assert results[0] == results[1]
    assert results[0].index("model_update") == 50


@pytest.mark.parametrize(("count", "examples"), [(2, 2), (21, 0)])
def test_seeds_of_long_list_are_no_examples(tmp_path: Path, count: int, examples: int) -> None:
    seeds = [str(number) for number in range(count)]
    list(lycosa.crawl("coral reef", seeds, space=Elsewhere(), out=tmp_path / "c", budget=count, concurrency=1))
    with CrawlDirectory(tmp_path / "c") as collection:
        roles = seed_roles(collection)
    assert (examples, count - examples) == (roles.examples, len(roles.portals))


def test_portals_do_not_make_list_of_seeds_long(tmp_path: Path) -> None:
    portals = [str(number) for number in range(1, 30)]
    list(lycosa.crawl("coral reef", ["0"], portals=portals, space=Elsewhere(), out=tmp_path / "c", budget=5))
    with CrawlDirectory(tmp_path / "c") as collection:
        assert 1 == seed_roles(collection).examples


def test_portals_are_no_examples(tmp_path: Path) -> None:
    crawl = lycosa.crawl("coral reef", ["0"], portals=["1"], space=Elsewhere(), out=tmp_path / "c", budget=2)
    list(crawl)
    with CrawlDirectory(tmp_path / "c") as collection:
        assert (1, ["1"]) == (seed_roles(collection).examples, seed_roles(collection).portals)
