"""`lycosa crawl`, `resume` and `show` as typed by users: output, errors, files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lycosa
import tiny_wordnet
from commands import Command
from lycosa.store.log import Lock
from lycosa.testweb import Server, Web, serve

TOPIC = "marine biology/coral reefs"
LOCAL = ("--allow-network", "127.0.0.0/8", "--delay", "0")
SEED = ("--seed", "http://a.test/")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(slowness=0.01)) as running:
        yield running


def crawl_words(server: Server, out: Path, *more: str, topic: str = "coral reef bleaching") -> list[str]:
    seeds = [word for seed in server.web.seeds(TOPIC) for word in ("--seed", seed)]
    words = [topic] if topic else []
    return ["crawl", *words, "--out", str(out), "--per-host", "4", "--quiet", *LOCAL, *seeds, *more]


@pytest.fixture(scope="module")
def crawled(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a small crawl, read-only for tests."""
    out = tmp_path_factory.mktemp("crawled") / "crawl"
    options = {"budget": 5, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}
    assert list(lycosa.crawl("coral reef", server.web.seeds(TOPIC), out=out, **options))
    return out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["reefs", *SEED, "--strategy", "worst-first"], "there is no strategy 'worst-first': did you mean best-first"),
        (["reefs", "--seeds", "nowhere.txt"], "cannot read the seeds in"),
        (["reefs", "--seeds", "empty.txt"], "contains no seeds"),
        (["reefs", *SEED, "--budget", "0"], "--budget is 0: it must be 1 or more"),
        (["reefs", *SEED, "--concurrency", "0"], "--concurrency is 0"),
        (["reefs", *SEED, "--delay", "-1"], "--delay is -1.0"),
        (["reefs"], "no seed"),
        (["reefs", "--seed", "not a url"], "'not a url' is not a web address"),
        (["reefs", "--seed", "mailto:someone@a.test"], "is not a web address"),
        (["", *SEED], "no topic"),
        ([" ", *SEED], "the topic is empty"),
        (["the of and", "--judge", "vector", *SEED], "no words to search for"),
        ([*SEED], "no topic"),
        (["reefs", "--regex", "coral", *SEED], "more than one topic"),
        (["--regex", "(", *SEED], "not a regular expression"),
        (["--terms", "nowhere.tsv", *SEED], "cannot read the terms"),
        (["--example", "nowhere.html", *SEED], "cannot read the example"),
        (["reefs", *SEED, "--allow-network", "localhost"], "--allow-network"),
        (["reefs", *SEED, "--include", "["], "not a regular expression"),
        (["reefs", *SEED, "--host", "b.test"], "every seed is out of scope"),
        (["reefs", *SEED, "--config", "nowhere.toml"], "cannot read nowhere.toml"),
        (["reefs", *SEED, "--config", "bad.toml"], "unknown option 'budgte'"),
        (["reefs", *SEED, "--user-agent", "Lycosa\nX: y"], "one line of plain ASCII"),
        (["reefs", *SEED, "--out", ""], "--out is empty"),
        (["reefs", *SEED, "--out", "empty.txt/x"], "choose another directory with --out"),
    ],
)
def test_input_errors_are_one_line_with_remedy(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("# nothing here\n")
    Path("bad.toml").write_text("budgte = 3\n")
    assert told in command.complaint("crawl", *words)
    assert {"empty.txt", "bad.toml"} == {path.name for path in tmp_path.rglob("*")}


def test_crawl_in_locked_directory_fails(server: Server, crawled: Path, tmp_path: Path, command: Command) -> None:
    assert f"lycosa resume {crawled}" in command.complaint(*crawl_words(server, crawled, "--budget", "5"))
    lock = Lock(crawled)
    try:
        assert "in use by a running crawl" in command.complaint("resume", crawled)
        assert command.json("show", crawled)["running"] is True
    finally:
        lock.release()
    for name in ("show", "resume"):
        assert "contains no crawl" in command.complaint(name, tmp_path)


def test_request_budget_appears_in_summary(server: Server, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "crawl"
    words = [word for word in crawl_words(server, out, "--max-requests", "25") if word != "--quiet"]
    told = " ".join(command.out(*words).split())
    spent = re.search(r"25 requests: (\d+ pages?, [^.]*\d+ robots\.txt[^.]*)\. Ended", told)
    assert spent is not None, told
    assert "Ended: request budget spent. " in told
    assert f"lycosa resume {out} --max-requests 50" in told
    shown = " ".join(command.out("show", out).split())
    assert f"by 25 requests: {spent[1]} " in shown
    assert "--max-requests 50" in shown


def test_crawl_resume_and_show_agree(server: Server, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "crawl"
    command.out(*crawl_words(server, out, "--budget", "20"))
    resumed = command.json("resume", out, "--budget", "40")
    assert resumed["pages"] == 40
    shown = command.json("show", out)
    assert (shown["pages"], shown["relevant"]) == (40, resumed["relevant"])
    assert shown["ending"] == "page budget spent"
    assert shown["curve"][-1] == {"pages": 40, "relevant": shown["relevant"]}
    text = command.out("show", out)
    assert "40 pages of 40" in text
    assert "best pages" in text


def test_command_line_options_override_config_file(server: Server, tmp_path: Path, command: Command) -> None:
    config, out = tmp_path / "mine.toml", tmp_path / "crawl"
    config.write_text('budget = 1000\nstrategy = "breadth-first"\nhost_budget = 2\n')
    command.out(*crawl_words(server, out, "--budget", "8", "--config", str(config)))
    kept = (out / "crawl.toml").read_text()
    assert "\nbudget = 8\n" in kept
    assert '\nstrategy = "breadth-first"\n' in kept
    assert max(host["pages"] for host in command.json("show", out)["hosts"]) <= 2


def test_language_limits_relevant_pages(server: Server, tmp_path: Path, command: Command) -> None:
    command.out(*crawl_words(server, tmp_path / "crawl", "--budget", "20", "--language", "fi"))
    shown = command.json("show", tmp_path / "crawl")
    assert (shown["pages"], shown["relevant"]) == (20, 0)


MINE = """
import numpy as np
from lycosa.core.types import Judgement
class Mine:
    threshold = 0.5
    def judge(self, page, reading):
        alphas = np.array(['coral' in anchor.lower() for anchor in page.links.anchors], float)
        return Judgement(float('coral' in page.text.lower()), alphas)
    def learn(self, visit):
        pass
"""


@pytest.mark.paper("batsakis-input")
@pytest.mark.parametrize("kind", ["example page", "regex", "judge"])
def test_crawl_runs_with_every_kind_of_judge(
    kind: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    topic = {
        "example page": ["--example", next(iter(server.web.relevant(TOPIC)))],
        "regex": ["--regex", r"coral reef|bleaching"],
        "judge": ["--judge", "mine:Mine"],
    }[kind]
    command.out(*crawl_words(server, tmp_path / "crawl", "--budget", "20", *topic, topic=""))
    resumed = command.json("resume", tmp_path / "crawl", "--budget", "30")
    assert resumed["pages"] == 30
    assert resumed["relevant"] > 0


def test_pruned_links_are_reported(server: Server, tmp_path: Path, command: Command) -> None:
    words = ["crawl", "no such words", "--seed", next(server.web.urls()), *LOCAL, "--out", str(tmp_path / "c")]
    told = command.out(*words, "--judge", "word-frequency", "--strategy", "personalised")
    assert "Ended: nothing left to fetch." in told
    assert re.search(r"Pruned by personalised: \d+ URLs", told)
    assert "--strategy personalised,levels=1 goes further through pages without the" in told


def test_ontology_path_is_absolute(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    tiny_wordnet.write(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    words = ["dog", "--judge", "ehrig", "--ontology", "tiny", "--seed", next(server.web.urls()), *LOCAL]
    command.out("crawl", *words, "--budget", "2", "--out", "dogs", "--quiet")
    monkeypatch.chdir("/")
    command.out("resume", tmp_path / "dogs", "--budget", "3", "--quiet")


LOADED = """
import sys
from lycosa.cli import main

def run(*words):
    sys.argv = ["lycosa", *words]
    try: main()
    except SystemExit: pass

run("--help")
print("commands:", sorted(name for name in sys.modules if name.startswith("lycosa.cli.")))
run("crawl", "--help")
heavy = ("numpy", "aiohttp", "turbohtml", "rich", "fastapi", "uvicorn", "psycopg", "argon2", "lycosa.crawling")
print("heavy:", [name for name in heavy if name in sys.modules])
run("serve", "--help")
print("database:", [name for name in ("sqlalchemy", "alembic") if name in sys.modules])
run("list", "--json")
print("loaded:", [name for name in sys.modules if name.startswith("lycosa.strategies.")])
"""


def test_help_does_not_import_heavy_packages() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}
    )
    lines = done.stdout.split("\n")
    assert "commands: ['lycosa.cli.commands', 'lycosa.cli.main']" in lines
    assert "heavy: []" in lines
    assert "database: []" in lines
    assert "loaded: []" in lines


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(("--budget", "7.5"), "integer"), (("--budget", "x"), "integer"), (("--delay", "x"), "number")],
)
def test_invalid_numbers_are_rejected(words: tuple[str, ...], complaint: str, command: Command) -> None:
    done = command("crawl", "coral", *SEED, *words)
    assert 2 == done.code
    assert complaint in done.err


def test_closed_output_pipe_ends_quietly(crawled: Path) -> None:
    line = f"set -o pipefail; {sys.executable} -m lycosa export {crawled} --all --quiet | head -c 100"
    done = subprocess.run(["bash", "-c", line], capture_output=True)
    assert (0, b"", 100) == (done.returncode, done.stderr, len(done.stdout))


def test_interrupt_stops_cleanly(server: Server, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "crawl"
    words = crawl_words(server, out, "--budget", "3000", "--concurrency", "4")
    before = len(server.log)
    process = subprocess.Popen([sys.executable, "-m", "lycosa", *words], stderr=subprocess.PIPE)
    while len(server.log) < before + 40 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, b"")
    assert command.json("show", out)["ending"] == "stopped"


@pytest.mark.parametrize("port", [-1, 99999])
def test_demo_serve_rejects_invalid_port(port: int, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)  # otherwise the server would run for ever
    said = command("demo", "--serve", "--pages", 20, "--hosts", 2, "--port", port)
    assert said == (
        2,
        "",
        f"lycosa: cannot serve on port {port}: the port number is out of range; choose another with --port\n",
    )
