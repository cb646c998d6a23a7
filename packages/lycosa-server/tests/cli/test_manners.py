"""Output of commands in terminals, pipes and shell completion.

Each kind of terminal is one process that runs all commands in turn; the tests check their outputs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from browsed_web import browse
from commands import Command
from lycosa.cli.main import app
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb import Web, serve
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate
from terminals import Task, Terminal, run_all

TOPIC = "marine biology/coral reefs"
LYCOSA: Any = typer.main.get_command(app)
COMMANDS = {name: LYCOSA.load(name) for name in LYCOSA.list_commands(None)}

RUN = {
    "crawl": ["crawl", "{query}", "--seed", "{seed}", "--out", "{mine}/crawl", "--budget", "10", *("--delay", "0")],
    "show": ["show", "{crawl}"],
    "show --json": ["show", "{crawl}", "--json"],
    "list": ["list"],
    "list strategies": ["list", "strategies"],
    "list one": ["list", "strategies", "otie"],
    "list a space": ["list", "social"],
    "train rules": ["train", "rules", "{rules}", "--target", "Science"],
    "train rules --matrix": ["train", "rules", "{rules}", "--matrix", "--level", "1"],
    "train taxonomy": ["train", "taxonomy", "{topics}"],
    "doctor": ["doctor"],
    "plugins": ["plugins"],
    "search": ["search", "{crawl}", "coral"],
    "page": ["page", "{crawl}", "{seed}"],
    "why": ["why", "{crawl}"],
    "why --json": ["why", "{crawl}", "--json"],
    "why one": ["why", "{crawl}", "{seed}"],
    "report": ["report", "{crawl}", "--out", "{mine}/report.html"],
    "export": ["export", "{crawl}"],
    "train": ["train", "{pages}", "--out", "{mine}/my.model"],
    "train browse": ["train", "browse", "{record}", "--out", "{mine}/browsing.model"],
    "lab index": ["lab", "index", "embedded:pages=200,hosts=8,seed=3", "--out", "{mine}/small.index"],
    "lab run": [
        *("lab", "run", "--corpus", "{mine}/small.index", "--topic", "marine biology/coral reefs", "--budget", "10"),
        *("--strategy", "best-first", "--seed-sets", "1", "--workers", "1", "--out", "{mine}/lab"),
    ],
    "label": ["label", "{crawl}", "--yes", "{seed}"],
    "label ask": ["label", "{crawl}", "--json"],
    "judge": ["judge", "{crawl}", "{query}", "--threshold", "0.2"],
    "sql": ["sql", "{crawl}"],
    "check": ["check", "{mine}/crawl"],
    "identity": ["identity", "{mine}/identity", "--new", "https://example.org/"],
    "refresh": ["refresh", "{mine}/crawl", "--all"],
    "watch": ["watch", "{mine}/crawl", "--max-time", "0.2"],
    "changes": ["changes", "{mine}/crawl"],
    "changes of a page": ["changes", "{mine}/crawl", "{seed}"],
    "backup": ["backup", "{data}", "{mine}/backup.tar"],
    "restore": ["restore", "{mine}/backup.tar", "{mine}/restored"],
}
"""Commands to run."""

LIKE = {"resume": "crawl", "demo": "crawl", "replay": "", "serve": "", "mcp": ""}
"""Commands that print the output of another command, or that serve until they are stopped."""

UNREAD = ("show", "show --json", "list strategies", "search", "export {crawl} --quiet", "--help", "--version")

ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[^\[])")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
STYLE = re.compile(r"\x1b\[[0-9;]*m")

KINDS = {
    "pipe": Terminal(),
    "forced pipe": Terminal(extra={"FORCE_COLOR": "1"}),
    "colours": Terminal(100),
    "dumb": Terminal(100, "dumb"),
    "narrow": Terminal(40, extra={"NO_COLOR": "1"}),
}
COLOURED = ("crawl", "show")
"""Commands whose colours are checked."""

MOVING = (*COLOURED, "search", "train", "lab index", "lab run", "watch")
ONLY = {"colours": COLOURED, "forced pipe": MOVING, "dumb": COLOURED}
"""Terminals in which only some commands are run: those with colours, or with progress."""

Told = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Told, dict[str, tuple[int, str]]]:
    """Return the output of each command in each kind of terminal, and exit codes when the output is not read."""
    home = tmp_path_factory.mktemp("manners")
    (home / "data").mkdir()
    accounts = Database(home / "data" / "lycosa.sqlite")
    migrate(accounts)
    accounts.close()
    for label in ("a", "b", "c", "a rather long name of a class with many words"):
        (home / "pages" / label).mkdir(parents=True)
        for number in range(9):  # without distinctive words, so that some are judged wrongly
            (home / "pages" / label / f"{number}.txt").write_text(f"coral reef {label} {number}x {'fish ' * number}")
    book = RuleBook()
    for source, to in ((f"Science/{'a long name ' * 6}", "Science/A"), ("Art", "Science/A"), ("Art", "Art")):
        book.add(source, to)
    book.save(home / "rules.tsv")
    (home / "topics.tsv").write_text(
        "".join(f"https://a.example/{n}\tArt/{'a long name ' * 6}/{n}\nhttps://b.example/{n}\tB\n" for n in range(9))
    )
    (home / "record.jsonl").write_text("\n".join(browse(Web(pages=300, hosts=20, traps=()), TOPIC, 9)))
    (home / "crawl.toml").write_text('allow_network = ["127.0.0.0/8"]\nmax_time = 30.0\n')
    config = ["--config", str(home / "crawl.toml")]
    with serve(Web(slowness=0.01), record=False) as server:
        words = {
            "crawl": str(home / "crawl"),
            "pages": str(home / "pages"),
            "rules": str(home / "rules.tsv"),
            "topics": str(home / "topics.tsv"),
            "record": str(home / "record.jsonl"),
            "query": server.web.query(TOPIC),
            "seed": server.web.seeds(TOPIC)[0],
            "data": str(home / "data"),
        }
        seeds = [word for seed in server.web.seeds(TOPIC) for word in ("--seed", seed)]
        first = ["crawl", words["query"], *seeds, "--out", words["crawl"], "--budget", "60", "--delay", "0", *config]
        commands = {"before": {"first": first}}
        for kind in KINDS:
            mine = home / kind.replace(" ", "-")
            mine.mkdir()
            commands[kind] = {
                name: [part.format(**words, mine=mine) for part in parts] + (config if name == "crawl" else [])
                for name, parts in RUN.items()
                if name in ONLY.get(kind, RUN)
            }
        unread = {name: [part.format(**words) for part in RUN.get(name, name.split())] for name in UNREAD}
        return run_all(Task({"before": Terminal(), **KINDS}, commands, unread), home)


@pytest.fixture(scope="module")
def told(everything: tuple[Told, dict[str, tuple[int, str]]]) -> Told:
    return everything[0]


def test_run_covers_every_command() -> None:
    assert set(COMMANDS) == {words[0] for words in RUN.values()} | LIKE.keys()


def test_pipes_and_dumb_terminals_get_plain_text(told: Told) -> None:
    for kind in ("pipe", "dumb"):
        for name, text in told[kind].items():
            assert text.strip(), name
            assert "\x1b" not in text, name
    assert set(RUN) == set(told["pipe"])


def test_force_color_never_moves_cursor(told: Told) -> None:
    for name, text in told["forced pipe"].items():
        escapes = ESCAPE.findall(text)
        assert [] == [escape for escape in escapes if not STYLE.fullmatch(escape)], name


def test_terminals_get_colours(told: Told) -> None:
    assert COLOUR.search(told["colours"]["show"])
    assert COLOUR.search(told["colours"]["crawl"])
    assert COLOUR.search(told["forced pipe"]["show"])


def test_no_color_removes_colours(told: Told) -> None:
    for name in RUN:
        assert told["narrow"][name].strip(), name
        assert [] == COLOUR.findall(told["narrow"][name]), name


@pytest.mark.paper("batsakis-figure-7")
def test_progress_without_cursor_is_plain_lines(told: Told) -> None:
    for kind in ("pipe", "forced pipe", "dumb"):
        assert re.search(r"^\d+/10 pages  harvest [\d.]+%", told[kind]["crawl"], re.MULTILINE), kind


def test_narrow_terminal_wraps_lines(told: Told) -> None:
    """URLs, commands, paths and data, which may exceed 40 columns because they cannot be wrapped."""
    for name in RUN:
        for line in ESCAPE.sub("\n", STYLE.sub("", told["narrow"][name])).split("\n"):
            in_one_piece = "://" in line or "lycosa " in line or "/" in line or line.startswith("{")
            assert len(line.rstrip("\r")) <= 40 or in_one_piece, (name, line)


def test_pipe_output_is_never_shortened(told: Told) -> None:
    assert "…" not in told["pipe"]["show"]


def test_closed_pipe_is_no_error(everything: tuple[Told, dict[str, tuple[int, str]]]) -> None:
    assert dict.fromkeys(UNREAD, (0, "")) == everything[1]


def test_help_fits_width(command: Command) -> None:
    for name in (*COMMANDS, ""):
        text = {width: command.out(*name.split(), "--help", width=width) for width in (40, 100)}
        for width in text:
            assert "Usage: " in text[width]
            assert [] == [line for line in text[width].split("\n") if len(line) > width]
            for parameter in COMMANDS[name].params if name in COMMANDS and name != "crawl" else ():
                assert parameter.opts[-1] in text[width] or parameter.metavar in text[width]
        narrow, wide = (set(re.split(r"[\s-]+", text[width].replace("...", " "))) for width in (40, 100))
        assert set() == narrow - wide


def test_bash_completion_script_completes_commands(tmp_path: Path) -> None:
    script = (
        'eval "$(lycosa --show-completion)"\nCOMP_WORDS=(lycosa s)\nCOMP_CWORD=1\n_lycosa_completion lycosa\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\ncomplete -p lycosa'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = ["bash", "-c", script]
    done = subprocess.run(shell, capture_output=True, text=True, env={**os.environ, "PATH": path}, cwd=tmp_path)
    assert "" == done.stderr
    *offered, spec = done.stdout.strip().split("\n")
    assert "complete -o default -F _lycosa_completion lycosa" == spec
    assert {"show", "search", "serve", "sql"} == set(offered)


@pytest.mark.parametrize(
    ("shell", "asked", "answer", "code"),
    [
        ("bash", {"COMP_WORDS": "lycosa crawl reefs --allow", "COMP_CWORD": "3"}, "--allow-network\n", 0),
        ("bash", {"COMP_WORDS": "lycosa show ", "COMP_CWORD": "2"}, "", 0),
        ("bash", {"COMP_WORDS": "lycosa crawl reefs --seeds ", "COMP_CWORD": "4"}, "", 0),
        ("bash", {"COMP_WORDS": "lycosa crawl --strategy bread", "COMP_CWORD": "3"}, "breadth-first\n", 0),
        ("bash", {"COMP_WORDS": "lycosa export --format par", "COMP_CWORD": "3"}, "parquet\n", 0),
        ("bash", {"COMP_WORDS": "lycosa list judges prob", "COMP_CWORD": "3"}, "probability\n", 0),
        ("bash", {"COMP_WORDS": "lycosa list s", "COMP_CWORD": "2"}, "strategies\nspaces\n", 0),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "lycosa doc"}, '"doctor":"Check the installation', 0),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "lycosa show "}, "_files", 0),
        ("fish", {"_TYPER_COMPLETE_ARGS": "lycosa doc", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "doctor\tCheck", 0),
        ("fish", {"_TYPER_COMPLETE_ARGS": "lycosa show ", "_TYPER_COMPLETE_FISH_ACTION": "is-args"}, "", 1),
    ],
)
def test_completion_returns_matching_words(
    shell: str, asked: dict[str, str], answer: str, code: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"_LYCOSA_COMPLETE": f"complete_{shell}", **asked}.items():
        monkeypatch.setenv(name, value)
    said = command()
    assert (code, "") == (said.code, said.err)
    assert answer == said.out.rstrip("\n") + "\n" if answer.endswith("\n") else answer in said.out


def test_completion_scripts_name_command(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for shell, mark in (("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --command")):
        monkeypatch.setenv("_LYCOSA_COMPLETE", f"source_{shell}")
        script = command.out()
        assert mark in script
        assert f"_LYCOSA_COMPLETE=complete_{shell}" in script
