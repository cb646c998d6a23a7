"""Arguments of `lycosa replay`; tests/replay/test_end_to_end.py runs the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from replay_helpers import record, write


@pytest.mark.parametrize("words", [(), ("a.warc", "--record", "r.jsonl")])
def test_replay_requires_files_or_record(words: tuple[str, ...], command: Command) -> None:
    assert "give WARC files to replay, or a file to record to" in command.complaint("replay", *words)


def test_replay_missing_file_raises(tmp_path: Path, command: Command) -> None:
    assert "does not exist" in command.complaint("replay", tmp_path / "none.warc")


def test_replay_rejects_invalid_date(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path / "a.warc", record("http://a.test/"))
    assert "is not a date or time" in command.complaint("replay", file, "--at", "soon")


def test_replay_rejects_impossible_port(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path / "a.warc", record("http://a.test/"))
    assert "choose another with --port" in command("replay", file, "--port", "99999").err
