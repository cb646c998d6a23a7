"""A crawl that is resumed with labels: what it has is judged again, and what it fetches next is another."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import lycosa
from lycosa.core.protocols import Space
from lycosa.core.types import Label, Links, Page, Task, Visit
from lycosa.crawling import Crawl
from lycosa.store.labels import labels_in, set_labels
from lycosa.store.log import NAME, SqliteLog

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


def begun(out: Path, pages: int = 3) -> list[str]:
    """A crawl of the first three pages: the start, reefs and trains."""
    seeds = ["start", "reef", "train"]
    crawl = lycosa.crawl("coral", seeds, space=Tiny(), out=out, strategy="best-first", budget=pages, concurrency=1)
    return [visit.node for visit in crawl]


def label(out: Path, labels: dict[str, bool]) -> int:
    """Say yes and no."""
    log = SqliteLog(out / NAME)
    try:
        return set_labels(log, labels, 1.0)
    finally:
        log.close()


def resumed(out: Path, budget: int = 6, **options: object) -> tuple[list[Visit], Crawl]:
    """Go on; what was fetched then."""
    crawl = lycosa.resume(out, space=Tiny(), budget=budget, **{"learn_labels": True, **options})
    return list(crawl), crawl


def beta(crawl: Crawl, node: str) -> float:
    """What the page counts for its links."""
    assert crawl.engine is not None
    table = crawl.engine.table
    return float(table.beta_max[table.row_of[f"{node}-0"]])


def betas(crawl: Crawl) -> tuple[list[str], list[float]]:
    """What every page is worth to those behind it."""
    assert crawl.engine is not None
    table = crawl.engine.table
    return table.nodes, table.beta_sum[: len(table.nodes)].tolist()


def names(visits: Iterable[Visit]) -> list[str]:
    """Which pages they are."""
    return [visit.node for visit in visits]


@pytest.mark.parametrize("liked", ["reef", "train"])
def test_the_frontier_is_ranked_again(tmp_path: Path, liked: str) -> None:
    """Links on a page like those that were liked are followed before links on others, once the crawl goes on."""
    assert ["start", "reef", "train"] == begun(tmp_path / "a")
    other = "train" if liked == "reef" else "reef"
    label(tmp_path / "a", {liked: True, other: False})
    assert [f"{liked}-{n}" for n in range(3)] == names(resumed(tmp_path / "a")[0])


def test_without_the_option_labels_are_only_kept(tmp_path: Path) -> None:
    """A crawl that is not told to learn from labels goes on as if there were none."""
    begun(tmp_path / "a")
    begun(tmp_path / "b")
    label(tmp_path / "a", {"train": True, "reef": False})
    kept = resumed(tmp_path / "a", learn_labels=False)[0]
    assert names(resumed(tmp_path / "b", learn_labels=False)[0]) == names(kept)
    assert ["reef-0", "reef-1", "reef-2"] == names(kept)


def test_what_it_has_counts_anew(tmp_path: Path) -> None:
    """Pages found are counted by what the judge says now; the log keeps what it said then."""
    begun(tmp_path / "a")
    before = lycosa.resume(tmp_path / "a", space=Tiny(), budget=3)
    list(before)
    label(tmp_path / "a", {"train": False})
    _, crawl = resumed(tmp_path / "a", budget=3)
    assert beta(crawl, "train") < beta(before, "train")
    assert beta(crawl, "reef") > beta(crawl, "train")
    assert before.engine is not None
    assert crawl.engine is not None
    assert (2, 1) == (before.engine.tally.relevant, crawl.engine.tally.relevant)
    assert 1 == crawl.lessons
    log = SqliteLog(tmp_path / "a" / NAME, readonly=True)
    logged = {event.node: event.beta for event in log if isinstance(event, Visit)}
    log.close()
    assert beta(before, "train") == logged["train"]


def test_the_same_log_the_same_judge(tmp_path: Path) -> None:
    """Resumed twice with nothing new, a crawl judges and ranks everything as it did."""
    begun(tmp_path / "a")
    label(tmp_path / "a", {"train": True, "reef": False})
    resumed(tmp_path / "a", budget=5)
    states = []
    for _ in range(2):
        crawl = resumed(tmp_path / "a", budget=5)[1]
        assert crawl.engine is not None
        states.append((betas(crawl), crawl.engine.tally.relevant, crawl.engine.frontier.head(9)))
    assert states[0] == states[1]


def test_labels_can_be_taken_back(tmp_path: Path) -> None:
    """What was fetched under a label that no longer stands is judged as if it had never been given."""
    begun(tmp_path / "a")
    begun(tmp_path / "b", pages=5)
    label(tmp_path / "a", {"reef": True})
    resumed(tmp_path / "a", budget=5)
    label(tmp_path / "a", {})
    taught, untaught = resumed(tmp_path / "a", budget=5)[1], resumed(tmp_path / "b", budget=5)[1]
    assert betas(untaught) == betas(taught)
    assert 0 == taught.lessons


def test_only_news_are_written(tmp_path: Path) -> None:
    """Labels that stand already are not written again, and the last word on a page counts."""
    begun(tmp_path / "a")
    counts = [label(tmp_path / "a", said) for said in ({"reef": True}, {"reef": True, "train": False}, {"train": True})]
    log = SqliteLog(tmp_path / "a" / NAME)
    written = [(event.node, event.relevant) for event in log if isinstance(event, Label)]
    standing = labels_in(log)
    log.close()
    assert ([1, 1, 2], {"train": True}) == (counts, standing)
    assert [("reef", True), ("train", False), ("reef", None), ("train", True)] == written


def test_no_note_about_another_judge(tmp_path: Path) -> None:
    """A judge that has learned is no other judge: nobody is told that the pages were judged by another."""
    begun(tmp_path / "a")
    label(tmp_path / "a", {"reef": True})
    assert [] == resumed(tmp_path / "a")[1].notes
    assert [] == resumed(tmp_path / "a", budget=7)[1].notes
