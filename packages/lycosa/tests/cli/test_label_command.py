"""`lycosa label` in a terminal, and without one."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import lycosa
from commands import Command
from lycosa.cli import label_command
from lycosa.collection.best import counting_questions
from lycosa.collection.counting import FRAME, Frame
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.types import Label
from lycosa.store.log import NAME, SqliteLog, current_labels
from lycosa.testweb import Web, serve

Ask = Callable[..., str]
"""Press keys in `lycosa label`; return its output."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crawls") / "crawl"
    with serve(Web(seed=7, pages=200, hosts=6, traps=()), record=False) as server:
        seeds = [next(iter(server.web.urls()))]
        list(lycosa.crawl("coral reef", seeds, out=out, budget=40, delay=0, allow_network="127.0.0.0/8"))
    return out


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


@pytest.fixture
def ask(command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def ask(keys: str, *options: str) -> str:
        pressed = iter(keys)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr(label_command, "read_key", lambda: next(pressed))
        told = command.out("label", crawl, *options)
        assert not list(pressed)
        return re.sub(r"\x1b\[[0-9;]*m", "", told)  # without colours

    return ask


def labels(crawl: Path) -> list[Label]:
    with closing(SqliteLog(crawl / NAME, readonly=True)) as log:
        return log.labels()


def current(crawl: Path) -> dict[str, bool]:
    with closing(SqliteLog(crawl / NAME, readonly=True)) as log:
        return current_labels(log)


def test_label_asks_until_quit(ask: Ask, crawl: Path) -> None:
    told = ask("ynq")
    assert [True, False] == list(current(crawl).values())
    assert "to count: drawn at random from ranks " in told
    assert "to teach the judge: near 0.5" in told
    assert 2 == len(re.findall(r"(?:yes|no)\. \d+ to \d+ relevant\n", told))
    assert "1 yes, 1 no: about " in told
    with CrawlDirectory(crawl) as collection:  # the judge has learned at the end
        array = collection.pages_array()
        assert {0.0, 1.0} <= set(array["relevance_now"].tolist())


def test_label_shows_title_excerpt_and_url(ask: Ask, crawl: Path) -> None:
    told = ask("q")
    with CrawlDirectory(crawl) as collection:
        question = counting_questions(collection, 1)[0]
        assert f"\n{question.title}\n" in told
        assert f"  {question.url}\n  asked {question.reason}; relevance {question.relevance_now:.2f}\n" in told
    excerpt = told.partition(question.title)[2].partition(question.url)[0]
    assert len(excerpt.split()) > 10


def test_label_refuses_other_keys(ask: Ask, crawl: Path) -> None:
    told = ask("x\n1yq")
    assert 3 == told.count(f"unknown key. {label_command.KEYS}\n")
    assert 1 == len(current(crawl))


def test_label_skip_asks_for_another_page(ask: Ask, crawl: Path) -> None:
    ask("sssyq", "--count")
    given = labels(crawl)
    assert [None, None, None, True] == [label.relevant for label in given]
    assert 4 == len({label.node for label in given})
    ask("nq", "--count")
    assert labels(crawl)[-1].node not in {label.node for label in given}


def test_label_undo_asks_again(ask: Ask, crawl: Path) -> None:
    told = ask("uynuuynyq")
    assert "there is no answer to undo\n" in told
    first, second, *_ = (label.node for label in labels(crawl))
    assert [(first, True), (second, False)] == list(current(crawl).items())[:2]
    assert 3 == len(current(crawl))
    assert 2 == told.count("undone: ")
    assert "asked again, as you took your answer back" in told


def test_label_undo_works_after_restart(ask: Ask, crawl: Path) -> None:
    ask("ynq")
    first, second = current(crawl)
    told = ask("unq")
    assert f"undone: {second}\n" in told
    assert {first: True, second: False} == current(crawl)
    ask("uq")
    assert {first: True} == current(crawl)


def test_label_count_asks_only_for_sample(ask: Ask, crawl: Path) -> None:
    told = ask("yynnnnnq", "--count")
    assert "to teach the judge" not in told
    assert 8 == told.count("to count: drawn at random")
    with CrawlDirectory(crawl) as collection:
        array = collection.pages_array()
        estimate = array.estimate
    assert f"{estimate.low:,} to {estimate.high:,} relevant\n" in told
    assert estimate.description in told


def test_same_answers_in_another_order_give_same_count(ask: Ask, crawl: Path) -> None:
    ask("yynynnnnnnq", "--count")
    given = current(crawl)
    estimates = []
    with CrawlDirectory(crawl) as collection:
        estimates.append(collection.pages_array().estimate)
    with closing(SqliteLog(crawl / NAME)) as log:
        for url in given:
            log.append(Label(url, None, 1.0))
        for url, relevant in reversed(given.items()):
            log.append(Label(url, relevant, 2.0))
    with CrawlDirectory(crawl) as collection:
        estimates.append(collection.pages_array().estimate)
    assert estimates[0] == estimates[1]


def test_everything_shows_count_of_sample(ask: Ask, crawl: Path, command: Command) -> None:
    ask("yyynnnnnnnq", "--count")
    with CrawlDirectory(crawl) as collection:
        estimate = collection.pages_array().estimate
    assert estimate.description in command.out("show", crawl)
    shown = command.json("show", crawl)
    assert (estimate.expected, estimate.low, estimate.high) == (shown["expected"], shown["low"], shown["high"])


def test_label_ranks_pages_again_after_crawl_grew(ask: Ask, crawl: Path) -> None:
    ask("nnq", "--count")
    with CrawlDirectory(crawl) as collection:
        whole = collection.pages_array().frame
    assert whole is not None
    with closing(SqliteLog(crawl / NAME)) as log:
        log.append(Frame(whole.ranked[:-1], 1.0).setting(1.0))  # as if one page was fetched since
    ask("q", "--count")
    with closing(SqliteLog(crawl / NAME)) as log:
        assert len(whole.ranked) - 1 == len(log.setting(FRAME, {})["ranked"])
        log.append(Frame(whole.ranked[:20], 1.0).setting(2.0))
    ask("q", "--count")
    with closing(SqliteLog(crawl / NAME)) as log:
        assert len(whole.ranked) - 2 == len(log.setting(FRAME, {})["ranked"])  # without the labelled pages


def test_label_learns_what_interrupted_session_left(ask: Ask, crawl: Path) -> None:
    with closing(SqliteLog(crawl / NAME)) as log:
        (url,) = next(log.query("SELECT url FROM visit WHERE kind = 'page' AND outcome = 'ok' ORDER BY seq DESC"))
        log.append(Label(url, True, 1.0))
    ask("q")
    with closing(SqliteLog(crawl / NAME, readonly=True)) as log:
        assert 1.0 == next(log.visits("url = ? AND kind = 'page'", given=(url,))).relevance_now


def test_label_until_all_pages_are_labelled(ask: Ask, crawl: Path) -> None:
    ask("q", "--count")
    with CrawlDirectory(crawl) as collection:
        drawn = collection.pages_array().frame
    assert drawn is not None
    told = ask("n" * len(drawn.ranked), "--count")
    assert "Every page that would help is labelled.\n" in told


def test_label_count_without_terminal_lists_sample(command: Command, crawl: Path) -> None:
    asked = command.json("label", crawl, "--count")["questions"]
    assert 10 == len(asked)
    assert all(question["reason"].startswith("to count: ") for question in asked)
    command.out("label", crawl, "--no", asked[0]["url"])
    assert asked[0]["url"] not in {question["url"] for question in command.json("label", crawl, "--count")["questions"]}


PROMPT = "y/n/s/u/q? "


class InTerminal:
    """`lycosa label` in a pseudo-terminal."""

    def __init__(self, crawl: Path) -> None:
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execv(sys.executable, [sys.executable, "-m", "lycosa", "label", str(crawl)])
        self.told = ""

    def wait_for(self, text: str, times: int = 1) -> None:
        while self.told.count(text) < times:
            self.told += os.read(self.terminal, 65536).decode()

    def press(self, key: str) -> None:
        os.write(self.terminal, key.encode())

    def end(self) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        os.close(self.terminal)
        return code


def test_label_takes_single_keys_and_survives_kill(crawl: Path) -> None:
    first = InTerminal(crawl)
    first.wait_for(PROMPT)
    first.press("\x1b[A")  # an arrow
    first.wait_for("unknown key", 1)
    first.wait_for(PROMPT, 2)
    first.press("y")
    first.wait_for(PROMPT, 3)
    os.kill(first.process, signal.SIGKILL)
    assert -signal.SIGKILL == first.end()
    assert [True] == list(current(crawl).values())
    (url,) = current(crawl)
    second = InTerminal(crawl)
    second.wait_for(PROMPT)
    second.press("u")
    second.wait_for(f"undone: {url}")
    second.wait_for(PROMPT, 2)
    second.press("nq")  # typed ahead
    second.wait_for("0 yes, 1 no: ")
    assert 0 == second.end()
    assert {url: False} == current(crawl)
