"""Run commands in several kinds of terminals: `python terminals.py TASK.json ANSWER.json`.

One process imports everything once and forks for each terminal.
"""

from __future__ import annotations

import fcntl
import json
import os
import pkgutil
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any

MARK = "\x1d"
LOADED = ("lycosa.cli.", "lycosa_lab.", "lycosa.training.", "lycosa.collection.", "lycosa_server.backup")
HEAVY = ("pyarrow.parquet", "scipy.sparse")
"""Modules that commands import lazily, loaded here once for all forks."""


@dataclass
class Terminal:
    """Terminal, or a file."""

    columns: int = 0
    """Number of columns; 0 for a file instead of a terminal."""
    term: str = "xterm-256color"
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of commands in this terminal."""
        fresh = {key: value for key, value in os.environ.items() if not key.endswith("COLOR") and key != "COLUMNS"}
        return {**fresh, "TERM": self.term, "PYTHONUTF8": "1", "SHELL": "/bin/bash", **self.extra}


@dataclass
class Task:
    """Commands by name for each terminal, and commands whose output is discarded."""

    terminals: dict[str, Terminal]
    commands: dict[str, dict[str, list[str]]]
    unread: dict[str, list[str]]


def run_all(task: Task, place: Path) -> tuple[dict[str, dict[str, str]], dict[str, tuple[int, str]]]:
    """Run all commands; return outputs by terminal and name, and exit codes and errors where output is discarded."""
    (place / "task.json").write_text(json.dumps(asdict(task)))
    command = [sys.executable, __file__, str(place / "task.json"), str(place / "answer.json")]
    subprocess.run(command, check=True, env=Terminal().environment, stdin=subprocess.DEVNULL, timeout=500)
    answer = json.loads((place / "answer.json").read_text())
    unread = {name: (code, text) for name, (code, text) in answer["unread"].items()}
    return answer["told"], unread


def _lycosa(words: list[str]) -> int:
    from lycosa.cli import main

    sys.argv = ["lycosa", *words]
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def _forked(action: Callable[[], int]) -> int:
    """Run an action in a forked process; return its exit code."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = action()
            sys.stdout.flush()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _new_streams() -> None:
    """Replace Python's streams after redirecting file descriptors."""
    buffering = 1 if os.isatty(1) else -1
    sys.stdout, sys.stderr = (open(number, "w", buffering, "utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115


def _run(commands: dict[str, list[str]], environment: dict[str, str]) -> int:
    """Run all commands in turn, with a mark after each in both streams."""
    os.environ.clear()
    os.environ.update(environment)
    _new_streams()
    for name, words in commands.items():
        code = _lycosa(words)
        sys.stdout.flush()
        for stream in (sys.stderr, sys.stdout):
            print(f"{MARK}{name}{MARK}{code}{MARK}", file=stream, flush=True)
    return 0


def _in_terminal(commands: dict[str, list[str]], terminal: Terminal) -> list[str]:
    process, ours = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, terminal.columns, 0, 0))
        os._exit(_run(commands, terminal.environment))
    pieces = []
    try:
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    except OSError:  # Linux reports a closed terminal in this way
        pass
    os.waitpid(process, 0)
    os.close(ours)
    return [b"".join(pieces).decode().replace("\r\n", "\n")]


def _in_files(commands: dict[str, list[str]], terminal: Terminal) -> list[str]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

        def action() -> int:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            return _run(commands, terminal.environment)

        _forked(action)
        return [_whole(out), _whole(err)]


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _unread(words: list[str]) -> tuple[int, str]:
    """Run a command whose output pipe is closed; return its exit code and errors."""
    with tempfile.TemporaryFile() as err:

        def action() -> int:
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, 1)
            os.dup2(err.fileno(), 2)
            _new_streams()
            return _lycosa(words)

        return _forked(action), _whole(err)


def _split(kind: str, texts: list[str], commands: dict[str, list[str]]) -> dict[str, str]:
    """Split the output into commands, stdout and stderr together; all commands must succeed."""
    told = dict.fromkeys(commands, "")
    for text in texts:
        # Name, exit code and text alternate; in a terminal each mark occurs twice, the second time after an empty text.
        parts = text.split(MARK)
        for said, name, code in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            if code != "0":
                sys.exit(f"{name} failed in {kind}: {text[-2000:]}")
            told[name] += said
        if len(parts) <= 3 * len(commands):
            sys.exit(f"{kind} broke off: {text[-2000:]}")
    return told


def _answer(task: dict[str, Any]) -> dict[str, Any]:
    import lycosa

    ours = [module.name for module in pkgutil.walk_packages(lycosa.__path__, "lycosa.")]
    for name in (*HEAVY, *(name for name in ours if name.startswith(LOADED))):
        import_module(name)
    from lycosa.cli import crawl_progress as live
    from lycosa.cli import crawl_runner as hunting
    from lycosa.cli import progress_bar as progress
    from lycosa.cli.search_command import IndexingProgress

    # These commands end before the first progress message would be due.
    hunting.EVERY = live.EVERY = live.PLAIN_EVERY = 0.01
    IndexingProgress.PATIENCE = progress.LIVE_EVERY = 0.0
    told = {}
    for kind, commands in task["commands"].items():
        terminal = Terminal(**task["terminals"][kind])
        texts = (_in_terminal if terminal.columns else _in_files)(commands, terminal)
        told[kind] = _split(kind, texts, commands)
    return {"told": told, "unread": {name: _unread(words) for name, words in task["unread"].items()}}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(_answer(json.loads(Path(sys.argv[1]).read_text()))))
