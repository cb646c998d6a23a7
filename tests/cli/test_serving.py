"""`lycosa serve`, `backup` and `restore` on the command line: what they refuse, and how they say so."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lycosa.cli import main, serving
from lycosa.cli.serving import orphaned
from lycosa.people.database import Database
from lycosa.people.migrating import migrate


@pytest.fixture
def lycosa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run a command; its exit code, and what it wrote."""
    monkeypatch.delenv("LYCOSA_DATABASE", raising=False)

    def run(*words: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["lycosa", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
        told = capsys.readouterr()
        return code, told.out + told.err

    return run


def test_what_cannot_be_served_is_one_line(lycosa: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """A port in use, a place that can't be written, a database that is away, nonsense: each is told in one line."""
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, told in (
            ([tmp_path / "a", "--port", port], "--port"),
            ([tmp_path / "file" / "b"], "cannot write in"),
            ([tmp_path / "c", "--port", 0, "--database", "postgresql://me:hush@127.0.0.1:1/x"], "does not answer"),
            ([tmp_path / "d", "--port", 0, "--database", "mysql://x"], "postgresql://"),
            ([tmp_path / "e", "--allow-network", "everything"], "192.168.0.0/16"),
            ([tmp_path / "f", "--url", "lycosa.example"], "--url"),
            ([tmp_path / "g", "--delay", "nan"], "--delay"),
        ):
            code, text = lycosa("serve", *words)
            assert (2, 1, True) == (code, text.count("\n"), told in text), text
            assert "hush" not in text


def test_without_its_packages_it_says_which(
    lycosa: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has installed Lycosa alone is told how to get the rest."""
    monkeypatch.setattr(serving, "NEEDED", ("no_such_package",))
    code, text = lycosa("serve", tmp_path)
    assert (2, True) == (code, "lycosa[server]" in text)


def test_there_and_back(lycosa: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """A backup is written and restored, and both say what they did; a second restore is refused."""
    (tmp_path / "data").mkdir()
    database = Database.open(tmp_path / "data" / "lycosa.sqlite")
    migrate(database)
    database.close()
    code, text = lycosa("backup", tmp_path / "data", tmp_path / "b.tar")
    assert (0, True) == (code, "0 people, 0 crawls" in text), text
    assert 0o600 == (tmp_path / "b.tar").stat().st_mode & 0o777
    code, text = lycosa("restore", tmp_path / "b.tar", tmp_path / "new")
    assert (0, True) == (code, "lycosa serve" in text), text
    assert 2 == lycosa("restore", tmp_path / "b.tar", tmp_path / "new")[0]


def test_nothing_to_back_up_is_explained(lycosa: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """A directory that is no server's, and a file that is no backup."""
    assert (2, True) == (lambda told: (told[0], "no server's data" in told[1]))(
        lycosa("backup", tmp_path, tmp_path / "b.tar")
    )
    assert 2 == lycosa("restore", tmp_path / "b.tar", tmp_path / "new")[0]
    assert [] == list(tmp_path.iterdir())


def test_help_is_quick() -> None:
    """The commands are there before anything heavy is loaded."""
    script = "import sys, lycosa.cli.main; print({'fastapi', 'uvicorn', 'psycopg', 'argon2'} & set(sys.modules))"
    assert "set()\n" == subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout


def test_crawls_without_accounts(tmp_path: Path) -> None:
    """Crawls where the database knows nobody are noticed: someone may have forgotten to name it."""
    assert not orphaned(tmp_path)
    (tmp_path / "crawls").mkdir()
    (tmp_path / "crawls" / "lock").touch()
    assert not orphaned(tmp_path)
    (tmp_path / "crawls" / "0e16bdc54ec3166e7205e774").mkdir()
    assert orphaned(tmp_path)
