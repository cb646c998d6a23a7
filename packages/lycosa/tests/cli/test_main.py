"""`lycosa`: commands, errors and exit codes."""

from __future__ import annotations

import pytest

from commands import Command
from lycosa.cli.main import EXITS, RootCommands, main
from lycosa.core.errors import NothingFetched, StoreError


def test_version_is_that_of_package(command: Command) -> None:
    assert command.out("--version").startswith("Lycosa ")


def test_help_lists_every_built_in_command(command: Command) -> None:
    text = command.out("--help")
    assert [] == [name for name in RootCommands.built_in if f"\n  {name} " not in text]


def test_unknown_command_suggests_similar_ones(command: Command) -> None:
    result = command("crwl")
    assert 2 == result.code
    assert "crawl" in result.err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (StoreError("the log is gone"), 2, "lycosa: the log is gone\n"),
        (NothingFetched("no page"), 1, "lycosa: no page\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_become_one_line_and_exit_code(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setitem(main.__globals__, "app", fail)
    with pytest.raises(SystemExit) as caught:
        main()
    assert code == caught.value.code
    assert code in EXITS
    assert message == capsys.readouterr().err


def test_bugs_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(main.__globals__, "app", fail)
    with pytest.raises(ZeroDivisionError):
        main()
