"""`lycosa train rules`, from a model to a crawl."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lycosa
from commands import Command, run
from lycosa.core.types import Visit
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb import Server, Web, serve
from lycosa.training.page_loading import recorded_pages
from lycosa.training.train_model import train

SUBJECT, TOPIC = "marine biology", "marine biology/coral reefs"
LOCAL = ("--delay", "0", "--allow-network", "127.0.0.0/8")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Serve the embedded web."""
    with serve(Web(seed=7, pages=200, hosts=6, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def made(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl of the whole web, a table of topics, a model, and rules between its classes."""
    place = tmp_path_factory.mktemp("made")
    options: dict[str, Any] = {"delay": 0.0, "per_host": 8, "allow_network": ["127.0.0.0/8"], "budget": 200}
    seeds = list(server.web.urls())
    crawl = lycosa.crawl("coral reef", seeds, out=place / "crawl", strategy="breadth-first", **options)
    assert 200 == sum(visit.is_page for visit in crawl)
    known = [(url, topic) for url in seeds if (topic := server.web.topic(url))]
    (place / "pages.tsv").write_text("url\tclass\n" + "".join(f"{url}\t{topic}\n" for url, topic in known))
    train([str(place / "pages.tsv")], place / "topics.model", recorded_pages(place / "crawl"), held_out=0.0, least=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        words = ["train", "rules", "pages.tsv", "--model", "topics.model", "--pages", "crawl", "--out", "rules.tsv"]
        assert 0 == run(patch, *words, "--quiet")
    return place


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a copy of the directory and a terminal of 80 columns."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "here"


def everything(place: Path) -> dict[str, int]:
    """Return every file with its size."""
    return {str(path.relative_to(place)): path.stat().st_size for path in place.rglob("*") if path.is_file()}


def test_train_rules_from_table_prints_next_commands(here: Path, command: Command) -> None:
    words = ("train", "rules", "pages.tsv", "--model", "topics.model", "--out", "my rules.tsv")
    told = command.out(*words, "--pages", "crawl").splitlines()
    book = RuleBook.load(here / "my rules.tsv")
    assert told[0].startswith(f"my rules.tsv: {len(book)} rules between {len(book.classes)} classes, from ")
    assert any(line.startswith("Look at them: lycosa train rules 'my rules.tsv' --target ") for line in told)
    assert told[-1].startswith("Crawl with them: lycosa crawl --model topics.model --target ")
    assert "--strategy rules,file='my rules.tsv' --seed URL" in told[-1]
    assert book == RuleBook.load(here / "rules.tsv")


def test_train_rules_from_crawl_writes_rules_only(here: Path, command: Command) -> None:
    before = everything(here)
    told = command.json("train", "rules", "crawl", "--model", "topics.model", "--out", "r.tsv")
    assert told["rules"] == len(RuleBook.load(here / "r.tsv"))
    assert told["pages"] > 100
    assert before == {name: size for name, size in everything(here).items() if name != "r.tsv"}


def test_train_rules_from_fetched_pages_equals_recorded_ones(here: Path, command: Command) -> None:
    words = ("train", "rules", "pages.tsv", "--model", "topics.model", "--out", "fetched.tsv", *LOCAL, "--quiet")
    assert (0, "", "") == command(*words)
    assert RuleBook.load(here / "rules.tsv") == RuleBook.load(here / "fetched.tsv")


def test_train_rules_replaces_rules(here: Path, command: Command) -> None:
    words = ("train", "rules", "pages.tsv", "--model", "topics.model", "--pages", "crawl", "--out", "rules.tsv")
    before = RuleBook.load(here / "rules.tsv")
    command.out(*words, "--links", "2", "--quiet")
    assert 0 < len(RuleBook.load(here / "rules.tsv")) < len(before)


def test_train_rules_adds_walked_cases(here: Path, command: Command) -> None:
    words = ("train", "rules", "pages.tsv", "--model", "topics.model", "--pages", "crawl", "--quiet")
    command.out(*words, "--walk", 40, "--out", "walked.tsv")
    command.out(*words, "--walk", 40, "--add", "rules.tsv", "--out", "both.tsv")
    one, other, both = (
        {(rule.source, rule.to): rule.cases for rule in RuleBook.load(here / name)}
        for name in ("rules.tsv", "walked.tsv", "both.tsv")
    )
    assert 40 == pytest.approx(sum(other.values()))
    assert {pair: pytest.approx(one.get(pair, 0) + other.get(pair, 0), rel=1e-6) for pair in {*one, *other}} == both
    assert 2 == command(*words, "--add", "nowhere.tsv", "--out", "x.tsv").code


def test_show_rules_lists_likeliest_classes_for_target(here: Path, command: Command) -> None:
    lines = command.out("train", "rules", "rules.tsv", "--target", TOPIC, "--limit", "5").splitlines()
    assert [f"How likely pages lead to {TOPIC} within 2 links or fewer:", "pages of"] == [lines[0], lines.pop(1)[:8]]
    chances = [float(line.rpartition(" ")[2]) for line in lines[1:6]]
    assert sorted(chances, reverse=True) == chances
    assert lines[6].startswith("and ")
    assert max(map(len, lines)) <= 80
    chances = RuleBook.load(here / "rules.tsv").chain({TOPIC}, depth=2)
    assert chances == command.json("train", "rules", "rules.tsv", "--target", TOPIC)


def test_show_rules_lists_rules_up_to_limit(here: Path, command: Command) -> None:
    lines = command.out("train", "rules", "rules.tsv", "--limit", "3").splitlines()
    assert ["from", "to", "probability", "cases"] == lines[0].split()
    assert max(map(len, lines)) <= 80
    book = RuleBook.load(here / "rules.tsv")
    assert f"and {len(book) - 3:,} more: --limit 0 lists all" == lines[-1]
    told = command.json("train", "rules", "rules.tsv")
    assert {(rule.source, rule.to): rule.cases for rule in book} == {(r["source"], r["to"]): r["cases"] for r in told}


def test_show_rules_prints_matrix(command: Command, tmp_path: Path) -> None:
    book = RuleBook()
    for source, to, cases in (("A/x", "A/y", 3), ("A/y", "B", 1), ("B", "A/x", 1)):
        book.add(source, to, cases)
    book.save(tmp_path / "r.tsv")
    rows = command.out("train", "rules", tmp_path / "r.tsv", "--matrix", "--level", 1, width=80).splitlines()[2:]
    assert [["1", "A", ".75", ".25"], ["2", "B", "1.00", "·"]] == [row.split() for row in rows]
    assert 3 == len(command.out("train", "rules", tmp_path / "r.tsv", "--matrix", width=80).splitlines()[2:])
    told = command.json("train", "rules", tmp_path / "r.tsv", "--matrix")
    assert ({"A/x": 0.0, "A/y": 1.0, "B": 0.0}, {"A/x", "A/y", "B"}) == (told["A/x"], set(told))
    for number in range(20):
        book.add("B", f"A/{number}")
    book.save(tmp_path / "r.tsv")
    assert ["A", "B"] == list(command.json("train", "rules", tmp_path / "r.tsv", "--matrix"))
    assert 2 == command("train", "rules", tmp_path / "r.tsv", "--matrix", "--level", -1).code


def test_show_matrix_of_too_many_classes_fails(command: Command, tmp_path: Path) -> None:
    book = RuleBook()
    for number in range(200):
        book.add(f"A{number}", f"A{number + 1}", 1)
    book.save(tmp_path / "r.tsv")
    refused = command("train", "rules", tmp_path / "r.tsv", "--matrix")
    assert (2, True) == (refused.code, "201 classes at this level, and a matrix shows at most 200" in refused.err)
    assert 200 == len(command.json("train", "rules", tmp_path / "r.tsv", "--matrix"))
    assert 2 == command("train", "rules", "x.tsv", "--model", "m", "--out", "r", "--walk", -1).code


def test_show_rules_prints_markup_in_names(command: Command, tmp_path: Path) -> None:
    book = RuleBook()
    book.add("[bold]A[/bold]", "[red]B", 3)
    book.save(tmp_path / "r.tsv")
    assert "[bold]A[/bold]" in command.out("train", "rules", tmp_path / "r.tsv")
    assert "lead to [red]B within 2 links" in command.out("train", "rules", tmp_path / "r.tsv", "--target", "[red]B")


def test_show_rules_reports_unlinked_class(command: Command, tmp_path: Path) -> None:
    book = RuleBook()
    book.add("A", "B", 3)
    book.save(tmp_path / "r.tsv")
    told = command.out("train", "rules", tmp_path / "r.tsv", "--target", "A")
    assert "No rule leads to A: a crawl for it uses soft focus only.\n" == told


@pytest.mark.parametrize("target", ["Marine Biology/CORAL Reefs", SUBJECT])
def test_crawl_with_rules_resumes_from_copied_files(here: Path, server: Server, target: str, command: Command) -> None:
    seeds = [word for url in server.web.seeds(TOPIC) for word in ("--seed", url)]
    words = ("--model", "topics.model", "--target", target, "--strategy", "rules,file=rules.tsv,refine=yes")
    command.out("crawl", *words, *seeds, "--out", "by, rules", *LOCAL, "--budget", "15", "--quiet")
    (here / "topics.model").unlink()
    (here / "rules.tsv").unlink()
    assert (0, "", "") == command("resume", "by, rules", "--budget", "25", "--quiet")
    assert "rules,file=strategy.tsv,refine=yes" == Directory.read_options(here / "by, rules").strategy
    log = SqliteLog(here / "by, rules" / NAME, readonly=True)
    assert 25 == sum(isinstance(event, Visit) and event.is_page for event in log)
    log.close()


TRAIN = ("train", "rules", "pages.tsv", "--model", "topics.model", "--pages", "crawl", "--out", "new.tsv")


def but(*changes: str, words: tuple[str, ...] = TRAIN) -> tuple[str, ...]:
    """Return the command with some arguments replaced, given as old, new, old, new, and so on."""
    changed = list(words)
    for place, value in zip(changes[::2], changes[1::2], strict=True):
        changed[changed.index(place)] = value
    return tuple(changed)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (but("pages.tsv", "nowhere.tsv"), "nowhere.tsv does not exist: give a table"),
        (but("pages.tsv", "empty"), "empty is not a crawl: give a crawl, or a table"),
        (but("pages.tsv", "strange.tsv"), "learned from strange.tsv: no page has both links and a class"),
        (but("pages.tsv", "lost.tsv"), "no page has both links and a class of the model (1 not in crawl)"),
        (but("pages.tsv", "topics.model"), "has no URL with a class"),
        (but("crawl", "nowhere"), "nowhere does not exist"),
        (but("crawl", "empty"), "no WARC files in empty"),
        (but("topics.model", "nowhere.model"), "cannot read the model nowhere.model: No such file"),
        (but("topics.model", "rules.tsv"), "rules.tsv is not a model"),
        (but("topics.model", "torn.model"), "torn.model is damaged or cut short"),
        (but("new.tsv", "nowhere/new.tsv"), "the directory nowhere does not exist: create it"),
        (but("new.tsv", "empty"), "--out empty is a directory: give a file"),
        (but("new.tsv", "pages.tsv"), "pages.tsv exists and contains no rules: choose another"),
        (but("new.tsv", "topics.model"), "topics.model exists and contains no rules"),
        ((*TRAIN, "--links", "-1"), "--links is -1: it must be 0 or more"),
        ((*TRAIN, "--delay", "-1"), "--delay is -1.0: it must be 0 or more"),
        ((*TRAIN, "--column", "topic"), "pages.tsv has no column 'topic'; available: class"),
        (("train", "rules", "nowhere.tsv"), "cannot read the rules in nowhere.tsv: No such file"),
        (("train", "rules", "pages.tsv"), "pages.tsv contains no rules: its first line should be"),
        (("train", "rules", "topics.model"), "topics.model"),
        (("train", "rules", "empty"), "cannot read the rules in empty: "),
        (("train", "rules", "rules.tsv", "--target", "football"), "no rule has the class football"),
        (("train", "rules", "rules.tsv", "--target", TOPIC, "--depth", "9"), "--depth is 9: it must be 1 to 5"),
        (("train", "rules", "rules.tsv", "--limit", "-3"), "--limit is -3: it must be 0 (all) or more"),
    ],
)  # fmt: skip
def test_train_rules_errors_are_one_line(here: Path, words: tuple[str, ...], told: str, command: Command) -> None:
    (here / "empty").mkdir()
    (here / "strange.tsv").write_text("http://a.test/\tFootball\n")
    (here / "lost.tsv").write_text(f"http://a.test/\t{TOPIC}\n")
    (here / "torn.model").write_bytes((here / "topics.model").read_bytes()[:-7])
    before = everything(here)
    assert told in command.complaint(*words, "--quiet")
    assert before == everything(here)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("coral reef", "--strategy", "rules,file=rules.tsv"), "needs to know the classes of pages: give it --model"),
        (("--model", "topics.model", "--target", TOPIC, "--strategy", "rules"), "rules need a file: train them with"),
        (("--model", "topics.model", "--target", TOPIC, "--strategy", "rules,file=no.tsv"), "no.tsv: No such file"),
        (("--model", "topics.model", "--target", "football", "--strategy", "rules,file=rules.tsv"), "football"),
        (("--model", "topics.model", "--strategy", "rules,file=rules.tsv"), "choose with --target"),
        (("--model", "topics.model", "--target", TOPIC, "--strategy", "rules,file=rules.tsv,depth=6"), "'depth' is 6"),
        (("--model", "topics.model", "--target", TOPIC, "--strategy", "rules,file=other.tsv"), "no rule has the class"),
    ],
)  # fmt: skip
def test_crawl_with_rules_errors_are_one_line(here: Path, words: tuple[str, ...], told: str, command: Command) -> None:
    book = RuleBook()
    book.add("A", "B", 3)
    book.save(here / "other.tsv")
    before = everything(here)
    assert told in command.complaint("crawl", *words, "--seed", "http://a.test/", "--out", "new crawl", "--quiet")
    assert before == everything(here)
    assert not (here / "new crawl").exists()


def test_train_rules_reports_unreachable_pages(here: Path, command: Command) -> None:
    (here / "private.tsv").write_text(f"http://127.0.0.1:9/\t{TOPIC}\n")
    words = ("train", "rules", "private.tsv", "--model", "topics.model", "--out", "new.tsv", "--delay", "0", "--quiet")
    complaint = command.complaint(*words)
    assert "(1 can't be fetched; " in complaint
    assert "http://127.0.0.1:9/" in complaint
    assert not (here / "new.tsv").exists()
