"""`lycosa identity`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from commands import Command


def test_identity_new_writes_private_key(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "me.identity"
    text = command.out("identity", file, "--new", "https://bot.example")
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert "https://bot.example/.well-known/http-message-signatures-directory" in text
    assert f"--identity {file}" in text


def test_identity_prints_public_key_only(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "me.identity"
    command.out("identity", file, "--new", "https://bot.example")
    (key,) = json.loads(command.out("identity", file))["keys"]
    assert ("OKP", "Ed25519") == (key["kty"], key["crv"])
    assert "d" not in key  # the private part


def test_identity_does_not_replace_key(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "me.identity"
    command.out("identity", file, "--new", "https://bot.example")
    before = file.read_bytes()
    command.complaint("identity", file, "--new", "https://other.example")
    assert before == file.read_bytes()
