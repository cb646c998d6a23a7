"""`lycosa train browse`, from a browsing record to a crawl."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import lycosa
from commands import Command, run
from lycosa.testweb import Server, Web, serve
from lycosa.text.browsing import Browsing
from lycosa.training.simulated_browsing import sessions
from lycosa.web.html import extract

TOPIC = "marine biology/coral reefs"
LOCAL = ("--delay", "0", "--allow-network", "127.0.0.0/8")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Serve the embedded web."""
    with serve(Web(seed=7, pages=240, hosts=8, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def made(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a browsing record with labels but without content, a crawl of its pages, and a trained model."""
    place = tmp_path_factory.mktemp("browsing")
    web = server.web
    every, good = list(web.urls()), set(web.relevant(TOPIC))

    def links(url: str) -> list[str]:
        return [link for link in extract(web.response(url).body, url).links.urls if link in known]

    known = set(every)
    starts = Random(1).sample([url for url in every if url not in good], 25)
    with open(place / "record.jsonl", "w") as file:
        for walk in sessions(links, good.__contains__, starts):
            for look in walk:
                line = {"url": look.url, "referrer": look.referrer, "relevant": look.url in good}
                file.write(json.dumps(line) + "\n")
    pages = lycosa.crawl(
        "coral reef", every, out=place / "crawl", strategy="breadth-first", judge="vector", budget=len(every),
        delay=0.0, per_host=8, allow_network=["127.0.0.0/8"],
    )  # fmt: skip
    assert len(every) == sum(visit.is_page for visit in pages)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        words = ("train", "browse", "record.jsonl", "--pages", "crawl", "--out", "my.browsing", "--quiet")
        assert 0 == run(patch, *words)
    return place


@pytest.fixture
def here(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use this directory and a terminal of 80 columns."""
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "80")
    return made


def test_train_browse_prints_report(here: Path, command: Command) -> None:
    words = ("train", "browse", "record.jsonl", "--pages", "crawl", "--out", "a, b.browsing")
    told = command.out(*words).splitlines()
    browsing = Browsing.load(here / "a, b.browsing")
    assert told[0].startswith(f"a, b.browsing: {len(browsing)} pages, {browsing.relevant.sum()} of them relevant, ")
    assert any(line.split()[:2] == ["0", "relevant"] for line in told)
    assert any("clusters by K-Means (strategy hmm)" in line for line in told)
    assert any("clusters by X-Means (strategy hmm-xmeans)" in line for line in told)
    assert any("coral" in line for line in told)
    assert r"Crawl with it: lycosa crawl --strategy 'hmm,file=a\, b.browsing' --seed URL" == told[-1]
    assert max(map(len, told[:-1])) <= 80, "but a command stays in one piece"
    (here / "a, b.browsing").unlink()


def test_train_browse_removes_control_characters(tmp_path: Path, command: Command) -> None:
    record = tmp_path / "a\x1b[31mb.jsonl"
    said = [("reef", True), ("coral reef", True), ("cars", False), ("engines", False)]
    lines = [
        json.dumps({"url": f"http://a/{n}", "text": text, "relevant": good}) for n, (text, good) in enumerate(said)
    ]
    record.write_text("\n".join([*lines, "{broken", ""]))
    told = command.out("train", "browse", record, "--out", tmp_path / "my.browsing")
    assert "a [31mb.jsonl: broken line" in told
    assert "\x1b" not in told


def test_train_browse_prints_json_of_fetched_pages(here: Path, command: Command) -> None:
    told = command.json("train", "browse", "record.jsonl", "--out", "fetched.browsing", *LOCAL)
    browsing = Browsing.load(here / "fetched.browsing")
    assert browsing.digest == Browsing.load(here / "my.browsing").digest
    assert (len(browsing), int(browsing.relevant.sum())) == (told["pages"], told["relevant"])
    assert (len(browsing), len(browsing.steps)) == (sum(told["states"]), sum(map(sum, told["transitions"])))
    assert 5 == len(told["clusters"]["kmeans"])
    assert told["relevant"] == told["clusters"]["kmeans"][-1]["relevant"]


def test_train_browse_quiet_replaces_file(here: Path, command: Command) -> None:
    words = ("train", "browse", "record.jsonl", "--pages", "crawl", "--out", "again.browsing", "--quiet")
    for more in ((), ("--positives-only", "--states", "3")):
        assert (0, "", "") == command(*words, *more)
    assert 3 == Browsing.load(here / "again.browsing").states


def test_train_browse_reads_pages_of_crawl(here: Path, command: Command) -> None:
    told = command.json("train", "browse", "crawl", "--out", "crawl.browsing")
    assert 240 == told["pages"]
    assert told["steps"] > 1000


@pytest.mark.parametrize("more", [(), ("--positives-only",)])
def test_crawl_runs_with_browsing_strategies(
    here: Path, server: Server, tmp_path: Path, more: tuple[str, ...], command: Command
) -> None:
    command.out("train", "browse", "record.jsonl", "--pages", "crawl", "--out", tmp_path / "m", "--quiet", *more)
    seeds = [word for url in server.web.seeds(TOPIC) for word in ("--seed", url)]
    for strategy in ("hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph"):
        words = ("crawl", "coral reef", "--strategy", f"{strategy},file={tmp_path / 'm'}", "--out", tmp_path / strategy)
        command.out(*words, *seeds, *LOCAL, "--budget", "6", "--quiet")


TRAIN = ("train", "browse", "record.jsonl", "--pages", "crawl", "--out", "new.browsing")


def but(place: str, value: str) -> tuple[str, ...]:
    """Return the command with one value replaced."""
    return tuple(value if word == place else word for word in TRAIN)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (but("record.jsonl", "nowhere"), "nowhere does not exist: give a browsing record"),
        (but("record.jsonl", "empty"), "empty is not a crawl: give a browsing record"),
        (but("record.jsonl", "pipe"), "the record pipe is a pipe or a device: save it as a file first"),
        (but("record.jsonl", "broken.jsonl"), "broken.jsonl has no visits (all of its 2 lines are broken"),
        (but("crawl", "nowhere"), "nowhere does not exist"),
        (but("new.browsing", "record.jsonl"), "record.jsonl exists and is not a browsing model: choose another"),
        (but("new.browsing", "no/new.browsing"), "the directory no does not exist: create it, or choose another --out"),
        ((*TRAIN, "--states", "1"), "--states is 1: it must be 2 to 100"),
        ((*TRAIN, "--clusters", "1"), "--clusters is 1: it must be 2 to 1,000"),
        ((*TRAIN, "--unlabelled", "maybe"), "--unlabelled is maybe: it must be path"),
        ((*TRAIN, "--delay", "-1"), "--delay is -1.0: it must be 0 or more"),
    ],
)  # fmt: skip
def test_train_browse_errors_are_one_line(here: Path, words: tuple[str, ...], told: str, command: Command) -> None:
    (here / "empty").mkdir(exist_ok=True)
    if not (here / "pipe").exists():
        os.mkfifo(here / "pipe")
    (here / "broken.jsonl").write_text("{\n}\n")
    assert told in command.complaint(*words, "--quiet")
    assert not (here / "new.browsing").exists()
