"""`lycosa serve`, `backup` and `restore` on the command line: what they refuse, and how they say so."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from commands import Command
from lycosa_server import commands as serving
from lycosa_server.commands import has_crawls
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the shell says."""
    monkeypatch.delenv("LYCOSA_DATABASE", raising=False)


def test_what_cannot_be_served_is_one_line(command: Command, tmp_path: Path) -> None:
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
            complaint = command.complaint("serve", *words)
            assert told in complaint
            assert "hush" not in complaint


def test_without_its_packages_it_says_which(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has installed Lycosa alone is told how to get the rest."""
    monkeypatch.setattr(serving, "NEEDED", ("no_such_package",))
    assert "pip install lycosa-server" in command.complaint("serve", tmp_path)


def test_there_and_back(command: Command, tmp_path: Path) -> None:
    """A backup is written and restored, and both say what they did; a second restore is refused."""
    (tmp_path / "data").mkdir()
    database = Database(tmp_path / "data" / "lycosa.sqlite")
    migrate(database)
    database.close()
    assert "0 people, 0 crawls" in command.out("backup", tmp_path / "data", tmp_path / "b.tar")
    assert 0o600 == (tmp_path / "b.tar").stat().st_mode & 0o777
    assert "lycosa serve" in command.out("restore", tmp_path / "b.tar", tmp_path / "new")
    assert "lycosa: " in command.complaint("restore", tmp_path / "b.tar", tmp_path / "new")


def test_nothing_to_back_up_is_explained(command: Command, tmp_path: Path) -> None:
    """A directory that is no server's, and a file that is no backup."""
    assert "no server data" in command.complaint("backup", tmp_path, tmp_path / "b.tar")
    assert "b.tar" in command.complaint("restore", tmp_path / "b.tar", tmp_path / "new")
    assert [] == list(tmp_path.iterdir())


def test_crawls_without_accounts(tmp_path: Path) -> None:
    """Crawls where the database knows nobody are noticed: someone may have forgotten to name it."""
    assert not has_crawls(tmp_path)
    (tmp_path / "crawls").mkdir()
    (tmp_path / "crawls" / "lock").touch()
    assert not has_crawls(tmp_path)
    (tmp_path / "crawls" / "0e16bdc54ec3166e7205e774").mkdir()
    assert has_crawls(tmp_path)
