"""`lycosa label`: label pages, by name or one question after the other."""

from __future__ import annotations

import os
import shlex
import sys
import termios
import time
import tty
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

from rich.text import Text

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import LabelledText, Part, page_parts, print_result, require_crawl, show, squeezed
from lycosa.collection import judging
from lycosa.collection.best import Question, counting_questions, questions
from lycosa.collection.counting import draw_frame, is_outdated
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import Estimate
from lycosa.collection.pages import page_at
from lycosa.core.errors import InputError
from lycosa.core.types import Label
from lycosa.store.directory import Directory, is_running
from lycosa.store.log import SqliteLog, current_labels
from lycosa.training.sources import IRRELEVANT, RELEVANT
from lycosa.web.urls import canonical

QUESTIONS = 10  # questions in a list
LARGE_CRAWL, ANSWERS_PER_UPDATE = 5_000, 5  # in crawls above, the judge learns after five answers
YES_NO = {"y": True, "n": False}
KEYS = "y: yes, n: no, s: skip, u: undo the last answer, q: quit"
END_KEYS = ("", "\x03", "\x04")  # end of input, Ctrl-C, Ctrl-D


def label(
    directory: Dir,
    *,
    yes: Annotated[list[str] | None, "URL", "A relevant page that the crawl has fetched; repeatable."] = None,
    no: Annotated[list[str] | None, "URL", "An irrelevant page that the crawl has fetched; repeatable."] = None,
    count: Annotated[bool, "Ask only for pages that help to count. Default: also for those that teach most."] = False,
    json: Json = False,
) -> None:
    """Label pages as relevant or not, so that the judge learns and the relevant pages are counted.

    Without --yes and --no, asks about one page after the other, until you quit: by turns pages whose labels would help
    the judge most, and pages drawn at random, from which the number of relevant pages is estimated. Each answer is
    stored at once. Without a terminal, lists ten such pages. A new label replaces an earlier one. 'lycosa train DIR'
    trains a model on the labels.
    """
    if yes or no:
        require_crawl(directory)
        keep_labels(directory, [*((url, True) for url in yes or ()), *((url, False) for url in no or ())], json=json)
        return
    in_terminal = not json and sys.stdin.isatty() and sys.stdout.isatty() and not is_running(directory)
    if in_terminal or count:
        require_crawl(directory)
        with closing(Directory.open(directory)) as opened, closing(opened.log()) as log:
            _start_counting(opened, log, required=count)
            if in_terminal:
                _Asking(opened, log, only_count=count).run()
                return
    with CrawlDirectory(directory) as collection:
        found = counting_questions(collection, QUESTIONS) if count else questions(collection, QUESTIONS)
    print_result({"questions": found}, _questions(found, directory), json=json)


def _questions(found: Sequence[Question], directory: Path) -> Iterator[Part]:
    if not found:
        yield "The judge is certain about every unlabelled page."
        return
    yield "Labelling these pages would help most:"
    for question in found:
        yield from page_parts(question.relevance_now, question.title, question.url)
        yield LabelledText(" " * 8, Text(f"asked {question.reason}", "dim"))
    name = shlex.quote(str(directory))
    yield f"Label them with: lycosa label {name} --yes URL, or --no URL; both are repeatable"


def _start_counting(opened: Directory, log: SqliteLog, *, required: bool) -> None:
    """Learn labels that an interrupted session left, and draw the pages to count with, unless that was done."""
    labelled, learned = (
        next(log.query(f"SELECT COALESCE(MAX(seq), 0) FROM {table}"))[0]
        for table in ("label", "(SELECT seq FROM model_update UNION SELECT seq FROM setting WHERE name = 'threshold')")
    )
    if labelled > learned:
        judging.learn(opened, log, time.time())
    with CrawlDirectory(opened.path) as collection:
        array = collection.pages_array()
    if not array.probability:
        if required:
            message = "the judge does not return probabilities, so the number of relevant pages is exact"
            raise InputError("unfit-judge", f"{message}: leave out --count")
        return
    pages = array["first"][array.counted], array["relevance_now"][array.counted], array.answers
    if array.frame is None or is_outdated(array.frame, *pages):
        frame = draw_frame(*pages)
        if len(frame.ranked):
            log.append(frame.setting(time.time()))


class _Asking:
    """Questions and answers in a terminal. Each answer is stored at once; the judge learns now and then."""

    def __init__(self, opened: Directory, log: SqliteLog, *, only_count: bool) -> None:
        from lycosa.collection.report.cards import learned_terms, topic_highlights  # templates take long to load

        self.opened, self.log, self.only_count = opened, log, only_count
        self.name = shlex.quote(str(opened.path))
        self.marks = topic_highlights(opened.options, learned_terms(log))
        self.asked_again: list[Question] = []  # after an undo
        self.teaching: list[Question] = []  # until the judge learns again
        self.asked: set[str] = set()
        self.turn = self.unlearned = 0
        (pages,) = next(log.query("SELECT COUNT(*) FROM page"))
        self.answers_per_update = ANSWERS_PER_UPDATE if pages > LARGE_CRAWL else 1

    def run(self) -> None:
        show([f"Is this page relevant?  {KEYS}"])
        try:
            while (question := self._next()) is not None and self._ask(question):
                pass
            if question is None:
                show(["Every page that would help is labelled."])
        except KeyboardInterrupt:
            print()
        finally:
            self._learn()
        given = current_labels(self.log)
        yes = sum(given.values())
        show([f"{yes} yes, {len(given) - yes} no: {_count(self.opened.path).description}"])
        if given:
            show([f"See it with:  lycosa show {self.name}"])

    def _next(self) -> Question | None:
        if self.asked_again:
            return self.asked_again.pop()
        with CrawlDirectory(self.opened.path) as collection:
            counting = counting_questions(collection, 1)
            if counting and (self.only_count or self.turn % 2 == 0):
                return counting[0]
            if not self.only_count and not self.teaching:
                self.teaching = questions(collection, QUESTIONS, self.asked)
        while self.teaching:
            if (question := self.teaching.pop(0)).url not in self.asked:
                return question
        return counting[0] if counting else None

    def _ask(self, question: Question) -> bool:
        """Ask until there is an answer; return False to quit."""
        show(self._described(question))
        while True:
            print("  y/n/s/u/q? ", end="", flush=True)
            key = read_key()
            if key in YES_NO:
                self._keep(question.url, YES_NO[key])
                show([f"{'yes' if YES_NO[key] else 'no'}. {self._known()}"])
            elif key == "s":
                self._keep(question.url, None)
                show(["skipped"])
            elif key == "u":
                if not self._undo(question):
                    show(["there is no answer to undo"])
                    continue
            elif key in ("q", *END_KEYS):
                show(["quit"])
                return False
            else:
                show([f"unknown key. {KEYS}"])
                continue
            return True

    def _described(self, question: Question) -> Iterator[Part]:
        from lycosa.collection.report.cards import read_excerpt

        yield ""
        yield Text(squeezed(question.title) or "-", "bold")
        with CrawlDirectory(self.opened.path) as collection:
            page = page_at(collection.log, question.url)
            excerpt = None if page is None else read_excerpt(collection, page.seq, self.marks)
        if excerpt is not None and excerpt.text:
            text = Text(excerpt.text)
            for begin, end in excerpt.spans:
                text.stylize("bold yellow", begin, end)
            yield LabelledText("  ", text)
        yield LabelledText("  ", Text(question.url, "cyan"))
        yield LabelledText("  ", Text(f"asked {question.reason}; relevance {question.relevance_now:.2f}", "dim"))

    def _keep(self, url: str, relevant: bool | None) -> None:
        self.log.append(Label(url, relevant, time.time()))
        self.asked.add(url)
        self.turn += 1
        self.unlearned += 1
        if self.unlearned >= self.answers_per_update:
            self._learn()

    def _undo(self, question: Question) -> bool:
        """Withdraw the last label of the log, and ask for that page again before the present one."""
        given = current_labels(self.log)
        if not given:
            return False
        url = next(reversed(given))
        self._keep(url, None)
        page = page_at(self.log, url)
        self.asked_again.append(question)
        if page is not None:
            self.asked_again.append(
                Question(url, page.title, page.relevance_now, "again, as you took your answer back")
            )
        show([f"undone: {url}"])
        return True

    def _learn(self) -> None:
        if self.unlearned:
            judging.learn(self.opened, self.log, time.time())
            self.teaching, self.unlearned = [], 0

    def _known(self) -> str:
        found = _count(self.opened.path)
        return f"{found.relevant if found.is_exact else f'{found.low:,} to {found.high:,}'} relevant"


def _count(directory: Path) -> Estimate:
    with CrawlDirectory(directory) as collection:
        return collection.pages_array().estimate


def read_key() -> str:
    """Return the next key in lower case, without waiting for Enter if the terminal allows that; "" at the end."""
    try:
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
    except (OSError, ValueError, termios.error):
        line = sys.stdin.readline()
        return line.strip().lower() or ("\n" if line else "")
    try:
        tty.setcbreak(number, termios.TCSADRAIN)
        typed = os.read(number, 1)  # one byte, so that answers typed ahead are not lost
        if typed > b"\x7e" or typed == b"\x1b":  # the first byte of a key with several
            termios.tcflush(number, termios.TCIFLUSH)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
    print(flush=True)
    return typed.decode("latin-1").lower()


def keep_labels(directory: Path, labels: Iterable[tuple[str, bool]], *, json: bool = False) -> None:
    """Record labels of pages, let the judge learn from them, and print the new counts."""
    opened = Directory.open(directory)
    try:
        with closing(opened.log()) as log:
            nodes: dict[str, bool] = {}
            for url, relevant in labels:
                if nodes.setdefault(_known(directory, log, url), relevant) != relevant:
                    raise InputError("conflicting-options", f"{url} is labelled with both --yes and --no: choose one")
            now, before = time.time(), _count(directory)
            with log.batch():
                for node, relevant in nodes.items():
                    log.append(Label(node, relevant, now))
                judging.learn(opened, log, now)
            given, after = current_labels(log), _count(directory)
    finally:
        opened.close()
    good, bad = sum(given.values()), len(given) - sum(given.values())
    counts = {RELEVANT: sum(nodes.values()), IRRELEVANT: len(nodes) - sum(nodes.values())}
    kinds = ", ".join(f"{count} labelled as {kind}" for kind, count in counts.items() if count)
    change = f"{after.description}; before: {before.description}."
    parts: list[Part] = [f"{kinds}; now {good} yes, {bad} no.", change]
    if good >= 3 and bad >= 3:
        parts.append(f"Train with them: lycosa train {shlex.quote(str(directory))}")
    facts = {"labelled": nodes, "yes": good, "no": bad, "before": before, "after": after}
    print_result(facts, parts, json=json)


def _known(directory: Path, log: SqliteLog, url: str) -> str:
    node = canonical(url) or url
    visits = list(log.visits("url = ?", given=(node,)))
    if any(visit.is_page for visit in visits):
        return node
    for visit in visits:
        if visit.target:
            raise InputError("page-redirects", f"{node} redirects to {visit.target}: label that page")
    if visits:
        raise InputError("unknown-page", f"{node} could not be fetched ({visits[-1].outcome}): label another page")
    raise InputError("unknown-page", f"the crawl has not fetched {node}: see 'lycosa show {directory}'")
