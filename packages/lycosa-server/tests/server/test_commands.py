"""The commands `lycosa serve`, `backup` and `restore`, and their error messages."""

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
    monkeypatch.delenv("LYCOSA_DATABASE", raising=False)


def test_serve_errors_are_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, message in (
            ([tmp_path / "a", "--port", port], "--port"),
            ([tmp_path / "file" / "b"], "cannot write to"),
            ([tmp_path / "c", "--port", 0, "--database", "postgresql://me:hush@127.0.0.1:1/x"], "cannot reach"),
            ([tmp_path / "d", "--port", 0, "--database", "mysql://x"], "postgresql://"),
            ([tmp_path / "e", "--allow-network", "everything"], "192.168.0.0/16"),
            ([tmp_path / "f", "--url", "lycosa.example"], "--url"),
            ([tmp_path / "g", "--delay", "nan"], "--delay"),
        ):
            complaint = command.complaint("serve", *words)
            assert message in complaint
            assert "hush" not in complaint


def test_serve_names_missing_packages(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "NEEDED", ("no_such_package",))
    assert "pip install lycosa-server" in command.complaint("serve", tmp_path)


def test_backup_and_restore_report_counts(command: Command, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    database = Database(tmp_path / "data" / "lycosa.sqlite")
    migrate(database)
    database.close()
    assert "0 people, 0 crawls" in command.out("backup", tmp_path / "data", tmp_path / "b.tar")
    assert 0o600 == (tmp_path / "b.tar").stat().st_mode & 0o777
    assert "lycosa serve" in command.out("restore", tmp_path / "b.tar", tmp_path / "new")
    assert "lycosa: " in command.complaint("restore", tmp_path / "b.tar", tmp_path / "new")


def test_backup_and_restore_refuse_other_files(command: Command, tmp_path: Path) -> None:
    assert "no server data" in command.complaint("backup", tmp_path, tmp_path / "b.tar")
    assert "b.tar" in command.complaint("restore", tmp_path / "b.tar", tmp_path / "new")
    assert [] == list(tmp_path.iterdir())


def test_has_crawls_ignores_lock_files(tmp_path: Path) -> None:
    assert not has_crawls(tmp_path)
    (tmp_path / "crawls").mkdir()
    (tmp_path / "crawls" / "lock").touch()
    assert not has_crawls(tmp_path)
    (tmp_path / "crawls" / "0e16bdc54ec3166e7205e774").mkdir()
    assert has_crawls(tmp_path)
