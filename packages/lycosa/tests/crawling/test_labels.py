"""Labels on a crawl: the judge hears them when it goes on, and everyone tells the same numbers."""

from contextlib import closing
from pathlib import Path

import pytest

import lycosa
from learning_judge import Learning
from lycosa.cli.judge_command import keep_labels
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.summary import summarise
from lycosa.core.protocols import Judge, Space
from lycosa.core.types import Label, Links, ModelUpdate, Page, Task, Visit
from lycosa.crawling import Crawl
from lycosa.judges.vector_judge import VectorJudge
from lycosa.store.log import NAME, SqliteLog, append_labels, current_labels

REEF, TRAIN = "polyp colony lagoon", "timetable platform engine"


class Tiny(Space):
    """Two pages that a judge of coral likes equally, one of reefs and one of trains; behind each lie three more."""

    def __init__(self) -> None:
        self.pages = {"start": ("welcome", ["reef", "train"])}
        for name, text in (("reef", REEF), ("train", TRAIN)):
            below = [f"{name}-{n}" for n in range(3)]
            self.pages[name] = (f"coral {text}", below)
            self.pages |= {child: (f"coral {text} {child}", []) for child in below}

    async def visit(self, task: Task) -> Page:
        """What is written down."""
        text, links = self.pages[task.node]
        return Page("ok", marked=text, links=Links.to(*links, anchors=[f"about {link[:3]}" for link in links]))


def judge(kind: str) -> Judge:
    """One that learns, or one that does not."""
    return Learning("coral") if kind == "learns" else VectorJudge("coral")


def begun(out: Path, kind: str, pages: int = 9) -> Crawl:
    """A crawl of some pages."""
    crawl = lycosa.crawl(judge(kind), ["start"], space=Tiny(), out=out, strategy="breadth-first", budget=pages)
    list(crawl)
    return crawl


def label(out: Path, labels: dict[str, bool | None], by: str = "1") -> int:
    """Say yes and no, or take it back."""
    with closing(SqliteLog(out / NAME)) as log:
        return len(append_labels(log, [Label(node, relevant, 1.0, by) for node, relevant in labels.items()]))


def resumed(out: Path, kind: str, budget: int = 9) -> Crawl:
    """Go on."""
    crawl = lycosa.resume(out, topic=judge(kind), space=Tiny(), budget=budget)
    list(crawl)
    return crawl


def counts(out: Path, crawl: Crawl) -> set[int]:
    """Relevant pages, as everyone tells them."""
    assert crawl.engine is not None
    with CrawlDirectory(out) as collection:
        pages = len(list(collection.relevant()))
    return {crawl.engine.tally.relevant, summarise(out).relevant, pages}


@pytest.mark.parametrize("kind", ["learns", "does not"])
def test_what_it_has_counts_anew(tmp_path: Path, kind: str) -> None:
    """A no takes a page out, and with a judge that learns those like it; the log keeps what was said then."""
    crawl = begun(tmp_path, kind)
    assert {8} == counts(tmp_path, crawl)
    label(tmp_path, {"train": False})
    crawl = resumed(tmp_path, kind)
    assert {4 if kind == "learns" else 7} == counts(tmp_path, crawl)
    assert 1 == crawl.model_updates
    log = SqliteLog(tmp_path / NAME, readonly=True)
    train = next(event for event in log if isinstance(event, Visit) and event.node == "train")
    log.close()
    assert train.worth < judge(kind).threshold <= train.relevance


@pytest.mark.parametrize("kind", ["learns", "does not"])
def test_labels_can_be_taken_back(tmp_path: Path, kind: str) -> None:
    """Then everything is as it was."""
    begun(tmp_path, kind)
    label(tmp_path, {"train": False, "start": True})
    resumed(tmp_path, kind)
    label(tmp_path, {"train": None, "start": None}, "2")
    crawl = resumed(tmp_path, kind)
    assert ({8}, 0) == (counts(tmp_path, crawl), crawl.model_updates)


def test_a_page_that_is_labelled_before_it_is_fetched_again_counts_from_then_on(tmp_path: Path) -> None:
    """What a crawl fetches after it has learned is judged by what it has learned."""
    begun(tmp_path, "learns", pages=3)
    label(tmp_path, {"train": False, "reef": True})
    crawl = resumed(tmp_path, "learns")
    log = SqliteLog(tmp_path / NAME, readonly=True)
    relevances = {event.node: event.relevance for event in log if isinstance(event, Visit)}
    log.close()
    assert {4} == counts(tmp_path, crawl)
    assert (1.0, 0.0) == (relevances["reef-1"], relevances["train-1"])


def test_resumed_with_nothing_new_nothing_is_learned(tmp_path: Path) -> None:
    """A lesson is learned once, and read from the log from then on."""
    begun(tmp_path, "learns")
    label(tmp_path, {"train": False})
    for _ in range(3):
        resumed(tmp_path, "learns")
    log = SqliteLog(tmp_path / NAME, readonly=True)
    model_updates = [event for event in log if isinstance(event, ModelUpdate)]
    log.close()
    assert 4 == len(model_updates)  # after four pages, after eight, at the end of the run, and of the label


def test_append_labels_again(tmp_path: Path) -> None:
    """A label that the log has is not written again, and the last one of a page counts."""
    begun(tmp_path, "does not", pages=3)
    said: list[dict[str, bool | None]] = [{"reef": True}, {"reef": True, "train": False}]
    written = [label(tmp_path, labels) for labels in said] + [label(tmp_path, {"reef": None, "train": True}, "2")]
    log = SqliteLog(tmp_path / NAME)
    events = [(event.node, event.relevant) for event in log if isinstance(event, Label)]
    standing = current_labels(log)
    log.close()
    assert ([1, 1, 2], {"train": True}) == (written, standing)
    assert [("reef", True), ("train", False), ("reef", None), ("train", True)] == events


def test_no_note_about_another_judge(tmp_path: Path) -> None:
    """A judge that has learned is no other judge: nobody is told that the pages were judged by another."""
    begun(tmp_path, "learns")
    label(tmp_path, {"reef": True})
    assert [] == resumed(tmp_path, "learns").notes


class Elsewhere(Space):
    """A tree of pages that have nothing to do with the topic."""

    async def visit(self, task: Task) -> Page:
        """A page of its own words, with two links."""
        number = int(task.node)
        words = "steam engine rail signal boiler flour yeast dough oven crust loaf baker".split()
        text = " ".join(f"the {words[(number * 7 + at * (number % 5 + 1)) % len(words)]}" for at in range(55))
        links = [str(2 * number + side) for side in (1, 2)]
        anchors = [words[int(link) % len(words)] for link in links]
        return Page("ok", title=words[number % 12], marked=text, main=text, links=Links.to(*links, anchors=anchors))


def test_a_judge_that_has_met_nothing_to_learn_from_waits_in_the_next_run(tmp_path: Path) -> None:
    """Neither a stop nor a no ends its wait: what is fetched, and what it learns from in the end, is the same as
    without. The no counts on its own page."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    list(lycosa.crawl("coral reef", ["0"], space=Elsewhere(), out=whole, budget=55, concurrency=1))
    list(lycosa.crawl("coral reef", ["0"], space=Elsewhere(), out=parts, budget=12, concurrency=1))
    list(lycosa.resume(parts, space=Elsewhere(), budget=20))
    keep_labels(parts, [("0", False)])
    with closing(SqliteLog(parts / NAME, readonly=True)) as log:
        assert next(log.visits("node = '0'")).worth == 0.0
    list(lycosa.resume(parts, space=Elsewhere(), budget=55))
    told = []
    for out in (whole, parts):
        with closing(SqliteLog(out / NAME, readonly=True)) as log:
            events = [event for event in log if isinstance(event, Visit | ModelUpdate)]
        told.append([event.node if isinstance(event, Visit) else "model_update" for event in events])
    assert told[0] == told[1]
    assert told[0].index("model_update") == 50
