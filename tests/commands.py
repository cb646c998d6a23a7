"""Commands in this process, for the tests of the command line."""

from __future__ import annotations

import sys

import pytest

from lycosa.cli import main


def run(monkeypatch: pytest.MonkeyPatch, *words: str, width: int = 0) -> int:
    """Run a command as wide as told; its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", *words])
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0
