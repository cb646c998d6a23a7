"""Commands run in this process, for tests of the command line."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import pytest

from lycosa.cli import main


def run(monkeypatch: pytest.MonkeyPatch, *words: str, width: int = 0) -> int:
    """Run a command in a terminal of some width; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", *words])
    # Otherwise the program name in messages would be pytest's.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "")
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


class Said(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


class Command:
    """Callable that runs `lycosa`, for the fixture `command`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str], *words: object) -> None:
        self.monkeypatch, self.capture, self.words = monkeypatch, capture, words

    def of(self, *words: object) -> Command:
        """Return a command that starts with these words."""
        return Command(self.monkeypatch, self.capture, *words)

    def __call__(self, *words: object, width: int = 0) -> Said:
        """Run a command in a terminal of some width."""
        self.capture.readouterr()
        code = run(self.monkeypatch, *map(str, (*self.words, *words)), width=width)
        return Said(code, *self.capture.readouterr())

    def out(self, *words: object, width: int = 0) -> str:
        """Return the output of a command that must succeed."""
        said = self(*words, width=width)
        assert 0 == said.code, said.err
        return said.out

    def json(self, *words: object) -> Any:
        """Return the JSON output of a command."""
        return json.loads(self.out(*words, "--json"))

    def complaint(self, *words: object) -> str:
        """Return the one-line error of a command that must exit with code 2 and no output."""
        said = self(*words)
        assert (2, "", 1) == (said.code, said.out, said.err.count("\n")), said
        assert said.err.startswith("lycosa: ")
        return said.err
