"""The commands as a person types them: what they print, what they refuse, and what they leave behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny_wordnet
from commands import run
from lycosa.estimators import STRATEGIES
from lycosa.store.log import Lock
from lycosa.testing import Server, Web, serve

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(slowness=0.01)) as running:
        yield running


def crawl_words(server: Server, out: Path, *more: str) -> list[str]:
    web = server.web
    words = ["crawl", web.query(TOPIC), "--out", str(out), "--delay", "0", "--per-host", "4", "--quiet"]
    words += ["--allow-network", "127.0.0.0/8"]
    for seed in web.seeds(TOPIC):
        words += ["--seed", seed]
    return [*words, *more]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["reefs", "--seed", "http://a.test/", "--strategy", "worst-first"],
            "unknown strategy 'worst-first': do you mean best-first or",
        ),
        (["reefs", "--seeds", "nowhere.txt"], "cannot read the seeds in"),
        (["reefs", "--seeds", "empty.txt"], "names no seeds"),
        (["reefs", "--seed", "http://a.test/", "--budget", "0"], "--budget is 0: it has to be 1 or more"),
        (["reefs", "--seed", "http://a.test/", "--concurrency", "0"], "--concurrency is 0"),
        (["reefs", "--seed", "http://a.test/", "--delay", "-1"], "--delay is -1.0"),
        (["reefs"], "no seed"),
        (["reefs", "--seed", "not a url"], "'not a url' is not a web address"),
        (["reefs", "--seed", "mailto:someone@a.test"], "is not a web address"),
        (["", "--seed", "http://a.test/"], "no topic"),
        ([" ", "--seed", "http://a.test/"], "the topic is empty"),
        (["the of and", "--seed", "http://a.test/"], "no words to look for"),
        (["--seed", "http://a.test/"], "no topic"),
        (["reefs", "--regex", "coral", "--seed", "http://a.test/"], "more than one topic"),
        (["--regex", "(", "--seed", "http://a.test/"], "not a regular expression"),
        (["--terms", "nowhere.tsv", "--seed", "http://a.test/"], "cannot read the terms"),
        (["--example", "nowhere.html", "--seed", "http://a.test/"], "cannot read the example"),
        (["reefs", "--seed", "http://a.test/", "--allow-network", "localhost"], "--allow-network"),
        (["reefs", "--seed", "http://a.test/", "--include", "["], "not a regular expression"),
        (["reefs", "--seed", "http://a.test/", "--host", "b.test"], "every seed lies outside the scope"),
        (["reefs", "--seed", "http://a.test/", "--config", "nowhere.toml"], "cannot read nowhere.toml"),
        (["reefs", "--seed", "http://a.test/", "--config", "bad.toml"], "unknown option 'budgte'"),
        (["reefs", "--seed", "http://a.test/", "--user-agent", "Lycosa\nX: y"], "one line of plain ASCII"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What can't work is refused in one line before anything is written or sent."""
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("# nothing here\n")
    Path("bad.toml").write_text("budgte = 3\n")
    before = sorted(tmp_path.rglob("*"))
    assert run(monkeypatch, "crawl", *words) != 0
    printed = capsys.readouterr().err
    assert told in printed
    assert printed.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_unwritable_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A place that can't be written is named, with the way out."""
    (tmp_path / "file").write_text("in the way")
    assert run(monkeypatch, "crawl", "reefs", "--seed", "http://a.test/", "--out", str(tmp_path / "file" / "x")) == 2
    assert "choose another directory with --out" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "in the way"


def test_directory_of_a_running_crawl_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two crawls can't write in one directory; a third command may read it."""
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "5")) == 0
    lock = Lock(out)
    try:
        assert run(monkeypatch, "resume", str(out)) == 2
        assert "in use by a running crawl" in capsys.readouterr().err
        assert run(monkeypatch, "show", str(out), "--json") == 0
        assert json.loads(capsys.readouterr().out)["running"] is True
    finally:
        lock.release()


def test_a_directory_that_holds_a_crawl_is_not_overwritten(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second crawl into the same directory is refused and says how to go on with the first."""
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "5")) == 0
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "5")) == 2
    assert f"lycosa resume {out}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "resume"])
def test_a_directory_without_a_crawl_is_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands on a directory that holds no crawl say so."""
    assert run(monkeypatch, command, str(tmp_path)) == 2
    assert "holds no crawl" in capsys.readouterr().err


def test_a_budget_of_requests_says_what_it_was_spent_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the end of a crawl, by show, and how to go on."""
    out = tmp_path / "crawl"
    words = [word for word in crawl_words(server, out, "--max-requests", "25") if word != "--quiet"]
    assert run(monkeypatch, *words) == 0
    told = " ".join(capsys.readouterr().out.split())
    spent = re.search(r"25 requests: (\d+ pages?, [^.]*\d+ robots\.txt[^.]*)\. Ended", told)
    assert spent is not None, told
    assert "Ended: request budget spent. " in told
    assert f"lycosa resume {out} --max-requests 50" in told
    assert run(monkeypatch, "show", str(out)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"by 25 requests: {spent[1]} " in shown
    assert "--max-requests 50" in shown


def test_crawl_resume_and_show_agree(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crawl, then a resume with a larger budget: show counts what both fetched."""
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "30")) == 0
    assert run(monkeypatch, "resume", str(out), "--budget", "50", "--json") == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["pages"] == 50
    assert run(monkeypatch, "show", str(out), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["pages"], shown["relevant"]) == (50, resumed["relevant"])
    assert shown["ending"] == "page budget spent"
    assert shown["curve"][-1] == {"pages": 50, "relevant": shown["relevant"]}
    assert run(monkeypatch, "show", str(out)) == 0
    text = capsys.readouterr().out
    assert "50 pages of 50" in text
    assert "best pages" in text


def test_options_from_a_file_and_the_command_line(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--config gives options, the command line wins, and crawl.toml keeps the outcome."""
    config = tmp_path / "mine.toml"
    config.write_text('budget = 1000\nstrategy = "breadth-first"\nhost_budget = 2\n')
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "8", "--config", str(config))) == 0
    kept = (out / "crawl.toml").read_text()
    assert "\nbudget = 8\n" in kept
    assert '\nstrategy = "breadth-first"\n' in kept
    assert run(monkeypatch, "show", str(out), "--json") == 0
    hosts = json.loads(capsys.readouterr().out)["hosts"]
    assert max(host["pages"] for host in hosts) <= 2


def test_languages_decide_what_counts(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a language that no page is in, pages are fetched but none counts as found."""
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "20", "--language", "fi")) == 0
    assert run(monkeypatch, "show", str(out), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["pages"], shown["relevant"]) == (20, 0)


@pytest.mark.parametrize("kind", ["terms", "example file", "example page", "regex", "judge"])
def test_every_kind_of_topic_hunts(
    kind: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weighted terms, examples, a pattern and a class of one's own all find pages, also after a resume."""
    web, out = server.web, tmp_path / "crawl"
    page = next(iter(web.relevant(TOPIC)))
    (tmp_path / "terms.tsv").write_text("coral\t2\nreef\t2\nbleaching\n# comment\n")
    (tmp_path / "reef.txt").write_text("Coral reefs bleach when the water is warm: bleaching reefs, dying coral.\n" * 3)
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "from lycosa.core.types import Judgement\n"
        "class Mine:\n"
        "    threshold = 0.5\n"
        "    def judge(self, page, reading):\n"
        "        alphas = np.array(['coral' in anchor.lower() for anchor in page.links.anchors], float)\n"
        "        return Judgement(float('coral' in page.text.lower()), alphas)\n"
        "    def learn(self, visit):\n"
        "        pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    topic = {
        "terms": ["--terms", str(tmp_path / "terms.tsv")],
        "example file": ["--example", str(tmp_path / "reef.txt")],
        "example page": ["--example", page],
        "regex": ["--regex", r"coral reef|bleaching"],
        "judge": ["--judge", "mine:Mine"],
    }[kind]
    words = crawl_words(server, out, "--budget", "20")
    words.remove(web.query(TOPIC))
    assert run(monkeypatch, *words, *topic) == 0, capsys.readouterr().err
    assert run(monkeypatch, "resume", str(out), "--budget", "30", "--json") == 0, capsys.readouterr().err
    done = json.loads(capsys.readouterr().out)
    assert done["pages"] == 30
    assert done["relevant"] > 0


def test_what_was_pruned_is_told(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A strategy that leaves addresses out says so, and how many: the crawl ended before its budget."""
    words = ["crawl", "no such words", "--seed", next(server.web.urls()), "--allow-network", "127.0.0.0/8"]
    words += ["--judge", "word-frequency", "--strategy", "personalised", "--delay", "0", "--out", str(tmp_path / "c")]
    assert run(monkeypatch, *words) == 0
    told = capsys.readouterr().out
    assert "Ended: nothing left to fetch." in told
    assert re.search(r"Pruned by personalised: \d+ addresses", told)


def test_strategies_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every strategy that --strategy accepts is listed with a line of its own."""
    assert run(monkeypatch, "strategies", "--json") == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert names == list(STRATEGIES)


def test_help_needs_no_heavy_imports() -> None:
    """`lycosa --help` loads neither numpy nor aiohttp nor the HTML parser: that keeps it under 0.3 s."""
    code = (
        "import sys; sys.argv = ['lycosa', 'crawl', '--help']\n"
        "from lycosa.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('heavy:', [m for m in ('numpy', 'aiohttp', 'turbohtml', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().split("\n")[-1] == "heavy: []"


def test_output_into_a_closed_pipe_is_no_error(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lycosa show DIR | head -1` ends quietly."""
    out = tmp_path / "crawl"
    assert run(monkeypatch, *crawl_words(server, out, "--budget", "5")) == 0
    command = f"{sys.executable} -m lycosa show {out} | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_one_interrupt_stops_cleanly(server: Server, tmp_path: Path) -> None:
    """After SIGINT the crawl ends by itself with what was in flight recorded, and can be resumed."""
    out = tmp_path / "crawl"
    words = crawl_words(server, out, "--budget", "3000", "--concurrency", "4")
    process = subprocess.Popen([sys.executable, "-m", "lycosa", *words], stderr=subprocess.PIPE)
    before, deadline = len(server.log), time.monotonic() + 120
    while len(server.log) < before + 40 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, b"")
    done = subprocess.run(
        [sys.executable, "-m", "lycosa", "show", str(out), "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["ending"] == "stopped"


def test_an_ontology_is_found_from_elsewhere(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WordNet's files are no part of a crawl: it remembers where they are, not how they were named from here."""
    tiny_wordnet.write(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    seed = next(iter(server.web.urls()))
    words = ["dog", "--judge", "ehrig", "--ontology", "tiny", "--seed", seed, "--allow-network", "127.0.0.0/8"]
    assert 0 == run(monkeypatch, "crawl", *words, "--delay", "0", "--budget", "2", "--out", "dogs", "--quiet")
    monkeypatch.chdir("/")
    assert 0 == run(monkeypatch, "resume", str(tmp_path / "dogs"), "--budget", "3", "--quiet")
