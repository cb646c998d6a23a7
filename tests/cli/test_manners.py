"""How commands behave in terminals of all kinds, in pipes, and when a shell completes them.

Each kind of terminal is one process that runs all commands one after the other; a test looks at one of them.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

import tiny_wordnet
from lycosa.cli.main import app
from lycosa.estimators.rulebook import RuleBook
from lycosa.people.database import Database
from lycosa.people.migrating import migrate
from lycosa.store.search import NAME as SEARCH_INDEX
from lycosa.testing import Server, Web, serve
from lycosa.testing.browsing import browse

TOPIC = "marine biology/coral reefs"
COMMANDS: dict[str, Any] = getattr(typer.main.get_command(app), "commands")  # noqa: B009 - typer's type has no such name

RUN = {
    "show": ["show", "{crawl}"],
    "show --json": ["show", "{crawl}", "--json"],
    "strategies": ["strategies"],
    "strategies one": ["strategies", "otie"],
    "topics": ["topics"],
    "spaces": ["spaces"],
    "spaces one": ["spaces", "social"],
    "wordnet": ["wordnet"],
    "wordnet two": ["wordnet", "dog", "cat"],
    "rules": ["rules", "{rules}", "--target", "Science"],
    "seeds": ["seeds", "{seeds}"],
    "doctor": ["doctor"],
    "search": ["search", "{crawl}", "coral"],
    "page": ["page", "{crawl}", "{seed}"],
    "why": ["why", "{crawl}"],
    "why --json": ["why", "{crawl}", "--json"],
    "why one": ["why", "{crawl}", "{seed}"],
    "report": ["report", "{crawl}", "--out", "{mine}/report.html"],
    "export": ["export", "{crawl}"],
    "train": ["train", "{pages}", "--out", "{mine}/my.model"],
    "train browse": ["train", "browse", "{record}", "--out", "{mine}/browsing.model"],
    "lab index": ["lab", "index", "embedded:pages=300,hosts=8,seed=3", "--out", "{mine}/small.index"],
    "lab run": [
        *("lab", "run", "--corpus", "{mine}/small.index", "--topic", "marine biology/coral reefs", "--budget", "10"),
        *("--strategy", "best-first", "--seed-sets", "1", "--workers", "1", "--out", "{mine}/lab"),
    ],
    "label": ["label", "{crawl}", "{seed}", "--yes"],
    "label ask": ["label", "{crawl}", "--json"],
    "judge": ["judge", "{crawl}", "{query}", "--threshold", "0.2"],
    "mend": ["mend", "{crawl}"],
    "crawl": ["crawl", "{query}", "--seed", "{seed}", "--out", "{mine}/crawl", "--budget", "10", "--delay", "0"],
    "refresh": ["refresh", "{mine}/crawl", "--all"],
    "watch": ["watch", "{mine}/crawl", "--max-time", "0.5"],
    "changes": ["changes", "{mine}/crawl"],
    "diff": ["diff", "{mine}/crawl", "{seed}"],
    "backup": ["backup", "{data}", "{mine}/backup.tar"],
    "restore": ["restore", "{mine}/backup.tar", "{mine}/restored"],
}
"""What is run in every kind of terminal."""

LIKE = {"resume": "crawl", "demo": "crawl", "web": "", "replay": "", "serve": ""}
"""Commands that show what another one shows, or serve until they are stopped and print two lines."""

RUNNER = """
import json, os, sys
os.environ["LYCOSA_WORDNET"] = sys.argv[2]
from lycosa.cli import main, progress, searching
# All is over here before it would be time to tell how far it is.
progress.EVERY = progress.PLAIN_EVERY = 0.01
searching.Telling.PATIENCE = searching.Telling.EVERY = 0.0
for name, words in json.loads(sys.argv[1]).items():
    sys.argv = ["lycosa", *words]
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code or 0
    sys.stdout.flush()
    print(f"\\x1d{name}\\x1d{code}\\x1d", file=sys.stderr, flush=True)
    print(f"\\x1d{name}\\x1d{code}\\x1d", flush=True)
"""

ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[^\[])")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Terminal:
    """Where commands are run."""

    columns: int = 0
    """0: no terminal, but a pipe."""
    term: str = "xterm-256color"
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        fresh = {key: value for key, value in os.environ.items() if not key.endswith("COLOR") and key != "COLUMNS"}
        return {**fresh, "TERM": self.term, "PYTHONUTF8": "1", "SHELL": "/bin/bash", **dict(self.extra)}


KINDS = {
    "pipe": Terminal(),
    "forced pipe": Terminal(extra=(("FORCE_COLOR", "1"),)),
    "colours": Terminal(100),
    "no colours": Terminal(100, extra=(("NO_COLOR", "1"),)),
    "dumb": Terminal(100, "dumb"),
    "narrow": Terminal(40),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(slowness=0.01), record=False) as running:
        yield running


@pytest.fixture(scope="module")
def told(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What each command wrote in each kind of terminal."""
    home = tmp_path_factory.mktemp("manners")
    words = {
        "crawl": str(home / "crawl"),
        "seeds": str(home / "marks.html"),
        "pages": str(home / "pages"),
        "rules": str(home / "rules.tsv"),
        "record": str(home / "record.jsonl"),
        "query": server.web.query(TOPIC),
        "seed": server.web.seeds(TOPIC)[0],
        "data": str(home / "data"),
    }
    (home / "data").mkdir()
    accounts = Database.open(home / "data" / "lycosa.sqlite")
    migrate(accounts)
    accounts.close()
    (home / "marks.html").write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>"
        + "".join(f"<DT><A HREF='https://a.example/{n}/{'reef' * 20}'>Reef {n} {'coral ' * 20}</A>" for n in range(9))
    )
    for label in ("a", "b", "c", "a rather long name of a class with many words"):
        (home / "pages" / label).mkdir(parents=True)
        for number in range(9):  # nothing to tell them apart by: some are mistaken
            (home / "pages" / label / f"{number}.txt").write_text(f"coral reef {label} {number}x {'fish ' * number}")
    book = RuleBook()
    for source, to in ((f"Science/{'a long name ' * 6}", "Science/A"), ("Art", "Science/A"), ("Art", "Art")):
        book.add(source, to)
    book.save(home / "rules.tsv")
    (home / "record.jsonl").write_text("\n".join(browse(Web(pages=300, hosts=20, traps=()), TOPIC, 9)))
    wordnet = tiny_wordnet.write(home / "wordnet")
    (home / "crawl.toml").write_text('allow_network = ["127.0.0.0/8"]\nmax_time = 30.0\n')
    config = ["--config", str(home / "crawl.toml")]
    seeds = [word for seed in server.web.seeds(TOPIC) for word in ("--seed", seed)]
    first = ["crawl", words["query"], *seeds, "--out", words["crawl"], "--budget", "60", "--delay", "0", *config]
    _run(KINDS["pipe"], {"first": first}, wordnet)
    found: dict[str, dict[str, str]] = {}
    for kind, terminal in KINDS.items():
        mine = home / kind.replace(" ", "-")
        mine.mkdir()
        (home / "crawl" / SEARCH_INDEX).unlink(missing_ok=True)  # each builds it anew, and tells how far it is
        commands = {
            name: [part.format(**words, mine=mine) for part in parts] + (config if name == "crawl" else [])
            for name, parts in RUN.items()
        }
        found[kind] = _run(terminal, commands, wordnet)
    return found


def _run(terminal: Terminal, commands: dict[str, list[str]], wordnet: Path = Path()) -> dict[str, str]:
    """Run commands in one process; what each wrote, stdout and stderr together. All have to succeed."""
    command = [sys.executable, "-c", RUNNER, json.dumps(commands), str(wordnet)]
    if terminal.columns:
        output = [_in_terminal(command, terminal)]
    else:
        done = subprocess.run(command, capture_output=True, env=terminal.environment, timeout=100)
        output = [done.stdout.decode(), done.stderr.decode()]
    found = dict.fromkeys(commands, "")
    for text in output:
        # name, code and text come in turns; in a terminal each mark comes twice, the second time after nothing
        parts = text.split("\x1d")
        for said, name, code in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            assert code == "0", f"{name} failed: {text[-2000:]}"
            found[name] += said
        assert len(parts) > 3 * len(commands), text[-2000:]
    return found


def _in_terminal(command: list[str], terminal: Terminal) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, terminal.columns, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=terminal.environment, start_new_session=True
    )
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    except OSError:  # how Linux says that the other end is closed
        pass
    process.wait(timeout=100)
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def test_every_command_is_looked_at() -> None:
    """A new command gets a place in the table above."""
    assert set(COMMANDS) == {words[0] for words in RUN.values()} | LIKE.keys()


@pytest.mark.parametrize("name", RUN)
def test_a_pipe_gets_no_escapes(name: str, told: dict[str, dict[str, str]]) -> None:
    """What goes into a file or a pipe is text."""
    assert told["pipe"][name].strip()
    assert "\x1b" not in told["pipe"][name]


@pytest.mark.parametrize("name", RUN)
def test_forced_colours_move_nothing(name: str, told: dict[str, dict[str, str]]) -> None:
    """FORCE_COLOR brings colours into a pipe, but no cursor movements: a log file has no cursor."""
    escapes = {escape for escape in ESCAPE.findall(told["forced pipe"][name]) if not STYLE.fullmatch(escape)}
    assert set() == escapes


def test_there_are_colours_to_do_without(told: dict[str, dict[str, str]]) -> None:
    """In a terminal that can, `show` and the progress of a crawl are coloured: the next test proves something."""
    assert COLOUR.search(told["colours"]["show"])
    assert COLOUR.search(told["colours"]["crawl"])
    assert COLOUR.search(told["forced pipe"]["show"])


def test_progress_where_nothing_can_move(told: dict[str, dict[str, str]]) -> None:
    """A crawl in a pipe or a dumb terminal tells how it goes in plain lines."""
    for kind in ("pipe", "forced pipe", "dumb"):
        assert re.search(r"^\d+/10 pages  harvest [\d.]+%", told[kind]["crawl"], re.MULTILINE), kind


@pytest.mark.parametrize("name", RUN)
def test_no_color(name: str, told: dict[str, dict[str, str]]) -> None:
    """With NO_COLOR nothing is coloured, also in a terminal."""
    assert told["no colours"][name].strip()
    assert [] == COLOUR.findall(told["no colours"][name])


@pytest.mark.parametrize("name", RUN)
def test_a_dumb_terminal_gets_text(name: str, told: dict[str, dict[str, str]]) -> None:
    """TERM=dumb: no colours, no cursor movements."""
    assert told["dumb"][name].strip()
    assert "\x1b" not in told["dumb"][name]


@pytest.mark.parametrize("name", RUN)
def test_a_narrow_terminal_is_not_overrun(name: str, told: dict[str, dict[str, str]]) -> None:
    """At 40 columns only what has to stay in one piece (addresses, commands, paths, data) is longer than a line."""
    for line in ESCAPE.sub("\n", STYLE.sub("", told["narrow"][name])).split("\n"):
        in_one_piece = "://" in line or "lycosa " in line or "/" in line or line.startswith("{")
        assert len(line) <= 40 or in_one_piece, line


@pytest.mark.parametrize("name", ["show", "seeds"])
def test_nothing_is_cut_in_a_pipe(name: str, told: dict[str, dict[str, str]]) -> None:
    """A file has no right edge: addresses and titles come whole."""
    assert "…" in told["colours"][name]
    assert "…" not in told["pipe"][name]


@pytest.mark.parametrize("name", ["show", "show --json", "strategies", "search", "--help", "--version", "crawl --help"])
def test_a_reader_that_has_gone_is_no_error(name: str, told: dict[str, dict[str, str]], server: Server) -> None:
    """`lycosa show DIR | head`: writing into a pipe that nobody reads ends quietly, and as a success."""
    home = re.search(r"lycosa resume (\S+)", told["pipe"]["show"])
    assert home
    words = [part.format(crawl=home[1]) for part in RUN.get(name, name.split())]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "lycosa", *words], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (0, b"") == (done.returncode, done.stderr)


@pytest.fixture(scope="module")
def helps() -> dict[int, dict[str, str]]:
    """The help of every command, by the width of the terminal."""
    commands = {name: [name, "--help"] for name in COMMANDS} | {"lycosa": ["--help"]}
    return {width: _run(Terminal(extra=(("COLUMNS", str(width)),)), commands) for width in (40, 100)}


@pytest.mark.parametrize("name", [*COMMANDS, "lycosa"])
@pytest.mark.parametrize("width", [40, 100])
def test_help_fits(name: str, width: int, helps: dict[int, dict[str, str]]) -> None:
    """No line of help is longer than the terminal is wide, and all of it is there."""
    text = helps[width][name]
    assert "Usage: " in text
    assert [] == [line for line in text.split("\n") if len(line) > width]
    for parameter in COMMANDS[name].params if name in COMMANDS else ():
        assert parameter.opts[-1] in text or parameter.metavar in text


@pytest.mark.parametrize("name", [*COMMANDS, "lycosa"])
def test_help_cuts_no_word(name: str, helps: dict[int, dict[str, str]]) -> None:
    """Every word of a narrow help is a word of the wide one, or a part between hyphens."""
    narrow, wide = (set(re.split(r"[\s-]+", helps[width][name].replace("...", " "))) for width in (40, 100))
    assert set() == narrow - wide


# -- completion --------------------------------------------------------------------------------------------------


def complete(line: str, tmp_path: Path) -> list[str]:
    """What bash offers at the end of a line, by the script that --show-completion gives."""
    script = (
        'eval "$(_LYCOSA_COMPLETE=source_bash lycosa)"\n'
        f"COMP_WORDS=({line})\n"
        + ('COMP_WORDS+=("")\n' if line.endswith(" ") else "")
        + "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        "_lycosa_completion lycosa\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
        "complete -p lycosa"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=_with_lycosa(), cwd=tmp_path)
    assert "" == done.stderr
    *offered, spec = done.stdout.strip().split("\n")
    assert "complete -o default -F _lycosa_completion lycosa" == spec  # `default`: files, where nothing is offered
    return [word for word in offered if word]


def _with_lycosa(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("lycosa s", {"show", "search", "seeds", "serve", "spaces", "strategies"}),
        ("lycosa crawl reefs --allow", {"--allow-network"}),
        ("lycosa show ", set()),
        ("lycosa crawl reefs --seeds ", set()),
    ],
)
def test_bash_completes(line: str, offered: set[str], tmp_path: Path) -> None:
    """Commands and options are offered; where a file or directory is wanted, bash offers those."""
    assert offered == set(complete(line, tmp_path))


@pytest.mark.parametrize(
    ("shell", "more", "answer", "code"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "lycosa doc"}, '"doctor":"Say what is installed', 0),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "lycosa show "}, "_files", 0),
        ("fish", {"_TYPER_COMPLETE_ARGS": "lycosa doc", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "doctor\tSay", 0),
        ("fish", {"_TYPER_COMPLETE_ARGS": "lycosa show ", "_TYPER_COMPLETE_FISH_ACTION": "is-args"}, "", 1),
    ],
)
def test_zsh_and_fish_complete(shell: str, more: dict[str, str], answer: str, code: int) -> None:
    """The answers that their scripts wait for: commands with a word on each, files where nothing else is wanted."""
    done = subprocess.run(
        ["lycosa"], env=_with_lycosa(_LYCOSA_COMPLETE=f"complete_{shell}", **more), capture_output=True, text=True
    )
    assert (code, "") == (done.returncode, done.stderr)
    assert answer in done.stdout


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --command")]
)
def test_scripts_for_every_shell(shell: str, mark: str) -> None:
    """Each shell has its script, which calls us by name."""
    env = _with_lycosa(_LYCOSA_COMPLETE=f"source_{shell}")
    done = subprocess.run(["lycosa"], env=env, capture_output=True, text=True, check=True)
    assert mark in done.stdout
    assert f"_LYCOSA_COMPLETE=complete_{shell}" in done.stdout


def test_show_completion_knows_its_shell() -> None:
    """--show-completion gives the script of the shell that it is called from."""
    command = ["bash", "-c", "lycosa --show-completion; true"]
    done = subprocess.run(command, env=_with_lycosa(), capture_output=True, text=True, check=True)
    assert "complete -o default -F _lycosa_completion lycosa" in done.stdout
