"""`lycosa train` and `lycosa label`, from labelled pages to a crawl for a class."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lycosa
from commands import Command, run
from input_errors import raises_input_error
from lycosa.collection.summary import summarise
from lycosa.core.budget import PAGES_SPENT
from lycosa.core.errors import InputError
from lycosa.core.types import Label
from lycosa.judges.model import TrainedModel
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Server, Web, serve

TOPIC = "marine biology/coral reefs"
LOCAL: dict[str, Any] = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}


def write(root: Path, per_class: int = 8) -> Path:
    """Write two classes of text files."""
    for label, words in (("Sea/Reefs", "coral reef lagoon"), ("Trains", "rail station signal")):
        (root / label).mkdir(parents=True)
        for number in range(per_class):
            (root / label / f"{number}.txt").write_text(f"{words} number{number}x {'again ' * number}")
    return root


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Serve the embedded web."""
    with serve(Web(seed=7, pages=600, hosts=12, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def model(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a taxonomy model on fetched pages of the embedded web."""
    place = tmp_path_factory.mktemp("models")
    lines = [f"{url}\t{server.web.topic(url)}\n" for url in list(server.web.urls())[::3] if server.web.topic(url)]
    (place / "web.tsv").write_text("url\tclass\n" + "".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert 0 == run(patch, "train", "web.tsv", "--delay", "0", "--allow-network", "127.0.0.0/8", "--quiet")
    return place / "web.model"


def test_train_on_fetched_pages_reaches_accuracy(model: Path) -> None:
    trained = TrainedModel.load(model)
    assert TOPIC in trained.classes
    assert trained.facts["quality"]["accuracy"] > 0.8


def test_crawl_for_class_finds_its_pages(server: Server, model: Path) -> None:
    seeds = server.web.seeds(TOPIC)
    crawl = lycosa.crawl(seeds=seeds, model=str(model), targets=["Marine Biology/Coral reefs"], budget=60, **LOCAL)
    pages = [visit for visit in crawl if visit.is_page]
    found = [visit for visit in pages if visit.relevance >= 0.5]
    right = sum(server.web.topic(visit.node) == TOPIC for visit in found)
    assert len(found) >= 10
    assert right / len(found) > 0.7
    assert [TOPIC] == crawl.options.targets
    for visit in found:
        assert all(len(pair) == 2 for pair in visit.data["classes"])
        assert visit.data["classes"][0][1] <= 1.0
    assert any(visit.data["target"] for visit in found)


def test_crawl_copies_its_model(server: Server, model: Path, tmp_path: Path) -> None:
    mine = shutil.copy(model, tmp_path / "mine.model")
    options = {"model": str(mine), "targets": [TOPIC], "budget": 10, **LOCAL}
    first = lycosa.crawl(seeds=server.web.seeds(TOPIC), out=tmp_path / "crawl", **options)
    judges = {visit.judge for visit in first if visit.is_page}
    assert "topic.model" == Directory.read_options(tmp_path / "crawl").model
    Path(mine).unlink()
    (tmp_path / "crawl").rename(tmp_path / "moved")
    resumed = [visit for visit in lycosa.resume(tmp_path / "moved", budget=20) if visit.is_page]
    assert 10 == len(resumed)
    assert judges == {visit.judge for visit in resumed}
    assert model.read_bytes() == (tmp_path / "moved" / "topic.model").read_bytes()


def test_damaged_model_copy_is_reported(server: Server, model: Path, tmp_path: Path) -> None:
    options = {"model": str(model), "targets": [TOPIC], "budget": 3, **LOCAL}
    assert list(lycosa.crawl(seeds=server.web.seeds(TOPIC), out=tmp_path / "crawl", **options))
    (tmp_path / "crawl" / "topic.model").write_bytes(model.read_bytes()[:-9])
    with raises_input_error("bad-file", "damaged or cut"):
        lycosa.resume(tmp_path / "crawl", budget=5)
    (tmp_path / "crawl" / "topic.model").unlink()
    with raises_input_error("missing-file", r"crawl/topic\.model does not exist|cannot read the model"):
        lycosa.resume(tmp_path / "crawl", budget=5)


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        ([], "choose with --target"),
        (["marine biology/coral reef"], "did you mean .*coral reefs"),
        (["No such thing"], "the model has no class 'No such thing'"),
    ],
)
def test_unknown_target_writes_nothing(targets: list[str], told: str, model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        lycosa.crawl(seeds=["http://a.test/"], model=str(model), targets=targets, out=tmp_path / "crawl")
    assert not (tmp_path / "crawl").exists()


def test_train_prints_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    root = write(tmp_path / "pages")
    (root / "Sea" / "Reefs" / "empty.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    told = command.out("train", "pages", width=2_000)
    for line in (
        "pages.model: Naive Bayes, 2 classes, 16 pages",
        "held out, by a model of the others; the one that was written has learned from all 16.",
        "always saying the largest class would be right for 50.0%",
        "precision  recall    F1",
        "Left out: 1 pages without text.",
        "Crawl with it: lycosa crawl --model pages.model --target Sea/Reefs --seed URL",
    ):
        assert line in told
    assert 2 == len(TrainedModel.load(tmp_path / "pages.model").classes)


def test_train_prints_json_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    root = write(tmp_path / "pages")
    out = str(tmp_path / "my.model")
    told = command.json("train", "--kind", "svm", "--out", out, "--held-out", ".5", root)
    assert (out, "svm", 16, {"Sea/Reefs": 8, "Trains": 8}) == tuple(
        told[key] for key in ("model", "kind", "pages", "classes")
    )
    assert 8 == told["quality"]["pages"]
    assert {"name", "pages", "held_out", "precision", "recall", "f1"} == set(told["quality"]["classes"][0])


def test_train_report_of_many_classes_lists_confusions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    for label in "abcdefghij":
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(6):
            (tmp_path / "pages" / label / f"{number}.txt").write_text(f"coral reef word{label}{number}")
    monkeypatch.chdir(tmp_path)
    told = command.out("train", "pages")
    assert "most often mistaken" in told
    assert " taken for " in told


def test_train_help_lists_options(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    told = command.out("train", "--help")
    for word in "SOURCE --out --kind --pages --least --whole-tree --held-out label".split():
        assert word in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "nowhere does not exist"),
        (["pages", "--kind", "oracle"], "unknown --kind oracle; available: nb, nb-plain, svm, nn"),
        (["pages", "--held-out", "2"], "--held-out is 2"),
        (["pages", "--delay", "-1"], "--delay is -1.0"),
        (["pages", "--out", "no/where.model"], "the directory no does not exist"),
        (["pages/Sea"], "all pages are in one class, Reefs"),
        (["t.tsv", "--pages", "nowhere"], "nowhere does not exist: give WARC files"),
    ],
)
def test_train_errors_are_one_line(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "pages")
    Path("t.tsv").write_text("http://a.test/\tSea\n")
    assert told in command.complaint("train", *words)


def options(name: str, values: list[str]) -> list[str]:
    """Return the option, repeated for each value."""
    return [word for value in values for word in (name, value)]


def test_labels_are_logged_and_trained_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    out = tmp_path / "crawl"
    seeds = server.web.seeds(TOPIC)
    pages = [visit.node for visit in lycosa.crawl("coral reef", seeds, out=out, budget=40, **LOCAL) if visit.is_page]
    good = [url for url in pages if server.web.topic(url) == TOPIC][:8]
    bad = [url for url in pages if server.web.topic(url) != TOPIC][:8]
    told = command.out("label", out, *options("--yes", good))
    assert f"{len(good)} labelled as relevant; now {len(good)} yes, 0 no." == told.split("\n")[0]
    command.out("label", out, *options("--no", [*bad, good[0]]))
    told = command.out("label", out, "--yes", good[0] + "#top")
    assert f"Train with them: lycosa train {out}" in told.split("\n")
    assert PAGES_SPENT == summarise(out).ending  # labels do not make a finished crawl look interrupted
    log = SqliteLog(out / NAME, readonly=True)
    assert len(good) + len(bad) + 2 == sum(isinstance(event, Label) for event in log)
    log.close()
    monkeypatch.chdir(tmp_path)
    assert "--target relevant" in command.out("train", "crawl")
    assert ["irrelevant", "relevant"] == TrainedModel.load(Path("crawl.model")).classes
    hunt = lycosa.crawl(seeds=seeds, model="crawl.model", budget=10, **LOCAL)
    assert 10 == sum(visit.is_page for visit in hunt)
    assert ["relevant"] == hunt.options.targets
    assert 20 == sum(visit.is_page for visit in lycosa.resume(out, budget=60))  # labels do not count as pages


def test_label_errors_write_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    out = tmp_path / "crawl"
    seeds = server.web.seeds(TOPIC)
    pages = [visit.node for visit in lycosa.crawl("coral reef", seeds, out=out, budget=3, **LOCAL) if visit.is_page]
    unknown = "http://elsewhere.test/"
    assert f"has not fetched {unknown}" in command.complaint("label", out, "--yes", pages[0], "--yes", unknown)
    assert "contains no crawl" in command.complaint("label", tmp_path / "nowhere", "--yes", pages[0])
    both = ("--yes", pages[0], "--no", pages[1], "--no", pages[0] + "#top")
    assert f"{pages[0]}#top is labelled with both --yes and --no: choose one\n" in command.complaint(
        "label", out, *both
    )
    held = Directory.open(out)
    assert "is in use by a running crawl" in command.complaint("label", out, "--yes", pages[0])
    held.close()
    log = SqliteLog(out / NAME, readonly=True)
    assert not log.labels()
    log.close()


def test_errors_remove_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    complaint = command.complaint("train", "no\n\x1b[31mwhere" + "x" * 100_000)
    assert "\x1b" not in complaint
    assert len(complaint) < 2_100


OWN = """
import numpy as np
from lycosa.core.types import Judgement

class Topic:
    threshold = 0.5
    def judge(self, page, reading):
        raise KeyError("first\\nsecond")
    def learn(self, visit): ...

class Nothing(Topic):
    def judge(self, page, reading): ...

class Estimator:
    def learn(self, step, table): return step.children
    def priority(self, rows, table): return 1 / 0
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--judge", "attackers_own:Topic"], "attackers_own:Topic failed with KeyError: 'first"),
        (["--judge", "attackers_own:Nothing"], "attackers_own:Nothing failed with AttributeError: 'NoneType'"),
        (["coral", "--strategy", "attackers_own:Estimator"], "attackers_own:Estimator failed with ZeroDivisionError"),
    ],
)
def test_errors_of_user_classes_are_reported(
    words: list[str],
    told: str,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
) -> None:
    (tmp_path / "attackers_own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "attackers_own", raising=False)
    options = ["--seed", server.web.seeds(TOPIC)[0], "--allow-network", "127.0.0.0/8", "--delay", "0", "--budget", "3"]
    complaint = command.complaint("crawl", *words, *options, "-q", "--out", tmp_path / "crawl")
    assert told in complaint
    assert f"fix it, then continue with 'lycosa resume {tmp_path / 'crawl'}'" in complaint
    assert ("attackers_own.py, line" in complaint) == ("Nothing" not in told)
