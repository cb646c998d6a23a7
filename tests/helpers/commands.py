"""Commands in this process, for the tests of the command line."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import pytest

from lycosa.cli import main


def run(monkeypatch: pytest.MonkeyPatch, *words: str, width: int = 0) -> int:
    """Run a command as wide as told; its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", *words])
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "")  # else the program would be called as pytest is
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Command:
    """`lycosa`, called as a function: the fixture `command`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str], *words: object) -> None:
        self.monkeypatch, self.capture, self.words = monkeypatch, capture, words

    def of(self, *words: object) -> Command:
        """The same for commands that begin with these words."""
        return Command(self.monkeypatch, self.capture, *words)

    def __call__(self, *words: object, width: int = 0) -> Said:
        """Run a command, as wide as told."""
        self.capture.readouterr()
        code = run(self.monkeypatch, *map(str, (*self.words, *words)), width=width)
        return Said(code, *self.capture.readouterr())

    def out(self, *words: object, width: int = 0) -> str:
        """What a command that succeeds prints."""
        said = self(*words, width=width)
        assert 0 == said.code, said.err
        return said.out

    def json(self, *words: object) -> Any:
        """What it says to programs: one value and nothing else."""
        return json.loads(self.out(*words, "--json"))

    def complaint(self, *words: object) -> str:
        """The one line of a command that refuses what it is given, with exit code 2 and no output."""
        said = self(*words)
        assert (2, "", 1) == (said.code, said.out, said.err.count("\n")), said
        assert said.err.startswith("lycosa: ")
        return said.err
