"""`lycosa judge` and `lycosa label`."""

import sys
from pathlib import Path

import pytest

import lycosa
from commands import Command
from lycosa.cli import label_command
from lycosa.collection.summary import summarise
from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Task
from lycosa.store.log import NAME, SqliteLog, current_labels

LEARNS = "learning_judge:Learning"
TEXTS = {
    "start": "welcome",
    **{f"reef{n}": f"coral polyps colony lagoon{n}" for n in range(4)},
    **{f"ring{n}": f"coral jewellery shop gold{n}" for n in range(3)},
    **{f"train{n}": f"rails engine station{n}" for n in range(3)},
}
HOST = "http://a.test/"


class Written(Space):
    """Space of pages given by URL."""

    async def visit(self, task: Task) -> Page:
        """Return the page; the first one links to all others."""
        name = task.node.removeprefix(HOST)
        links = [HOST + other for other in TEXTS if other != "start"] if name == "start" else []
        return Page("ok", 200, title=f"About {name}", marked=TEXTS[name], links=Links.to(*links))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Run a crawl for coral with a learning judge."""
    options = {"judge": LEARNS, "strategy": "breadth-first", "budget": 20, "archive": False}
    list(lycosa.crawl("coral", [f"{HOST}start"], space=Written(), out=tmp_path / "c", **options))
    return tmp_path / "c"


def test_judge_previews_changes(command: Command, crawl: Path) -> None:
    told = command.out("judge", crawl, "rails", "coral", "--threshold", "0.6")
    assert "before: 7 of 11 pages relevant, relevance 0.5 or more\n" in told
    assert "0 of 11 pages relevant, relevance 0.6 or more, by learning_judge:Learning" in told.replace("\n", " ")
    assert "7 pages go out" in told
    assert "1.00 → 0.50  About reef0\n               http://a.test/reef0\n" in told
    assert f"Apply it with:  lycosa judge {crawl} rails coral --threshold 0.6 --keep\n" in told
    assert 7 == summarise(crawl).relevant


def test_judge_keep_saves_new_topic(command: Command, crawl: Path) -> None:
    told = command.json("judge", crawl, "rails", "--keep")
    assert (7, 3, 3, 7, True) == (
        told["before"]["relevant"], told["after"]["relevant"], told["gained_count"], told["lost_count"], told["kept"],
    )  # fmt: skip
    assert 3 == command.json("show", crawl)["relevant"]
    assert 11 == command.json("show", crawl, "--threshold", "0")["relevant"]
    assert 3 == len(command.out("export", crawl, "--quiet").splitlines())
    assert 3 == command.json("search", crawl, "about", "--threshold", "0.5")["pages"]
    assert "The same pages are relevant as before." in command.out("judge", crawl)
    assert "Applied: all commands" in command.out("judge", crawl, "--threshold", "0.4", "--keep")


def test_label_updates_judge_at_once(command: Command, crawl: Path) -> None:
    told = command.out("label", crawl, "--no", f"{HOST}ring0")
    assert told.startswith("1 labelled as irrelevant; now 0 yes, 1 no.\n4 of 11 pages relevant; before: 7 of 11")
    assert 4 == summarise(crawl).relevant
    assert 4 == command.json("judge", crawl)["after"]["relevant"]
    command.out("label", crawl, "--yes", f"{HOST}ring0")
    assert 7 == summarise(crawl).relevant


def test_label_accepts_several_pages(command: Command, crawl: Path) -> None:
    pages = [f"{HOST}{name}" for name in ("reef0", "train0", "reef1", "train1")]
    told = command.out("label", crawl, "--yes", pages[0], "--no", pages[1], "--yes", pages[2], "--no", pages[3])
    assert told.startswith("2 labelled as relevant, 2 labelled as irrelevant; now 2 yes, 2 no.\n")
    log = SqliteLog(crawl / NAME, readonly=True)
    assert current_labels(log) == {pages[0]: True, pages[1]: False, pages[2]: True, pages[3]: False}
    log.close()


def test_label_suggests_pages_without_terminal(command: Command, crawl: Path) -> None:
    command.out("judge", crawl, "coral polyps gold1", "--keep")
    told = command.out("label", crawl)
    assert "Labelling these pages would help most:\n" in told
    assert f"lycosa label {crawl} --yes URL" in told
    asked = command.json("label", crawl)["questions"]
    assert {"url", "title", "relevance_now", "reason"} == set(asked[0])


def test_label_prompts_page_by_page(command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of a judge without probabilities is exact: all questions teach."""
    keys = iter("ynsq")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(label_command, "read_key", lambda: next(keys))
    told = command.out("label", crawl)
    log = SqliteLog(crawl / NAME, readonly=True)
    assert [True, False] == list(current_labels(log).values())
    log.close()
    assert "to count:" not in told
    assert "leave out --count" in command.complaint("label", crawl, "--count")
    assert [] == list(keys)


def test_judge_and_label_errors_are_one_line(command: Command, crawl: Path) -> None:
    assert "judging fetches nothing" in command.complaint("judge", crawl, "--example", "http://elsewhere.test/")
    assert "contains no crawl" in command.complaint("judge", str(crawl / "nowhere"), "x")
