"""Certificates for recorded hosts."""

import os
import ssl
import stat
from pathlib import Path

import pytest

from lycosa.core.errors import StoreError
from lycosa.replay import certificates as module
from lycosa.replay.certificates import Authority


def handshake(authority: Authority, host: str, trusted: Path | None = None, asked: str = "") -> dict[str, object]:
    """Return a host's certificate as a client receives it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=str(trusted or authority.path))
    client = context.wrap_bio(to_client, to_server, server_hostname=(asked or host).strip("[]"))
    server = authority.context(host).wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return dict(client.getpeercert() or {})


@pytest.mark.parametrize("host", ["a.example", "127.0.0.1", "[::1]", "under_score.example", "x" * 63 + ".example"])
def test_context_is_accepted_by_trusting_client(tmp_path: Path, host: str) -> None:
    assert handshake(Authority(tmp_path), host)


def test_context_is_rejected_for_other_host(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(Authority(tmp_path), "a.example", asked="b.example")


def test_context_is_rejected_with_other_authority(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(Authority(tmp_path / "a"), "a.example", Authority(tmp_path / "b").path)


def test_authority_is_kept_between_runs(tmp_path: Path) -> None:
    first, second = Authority(tmp_path), Authority(tmp_path)
    assert (first.pin, first.public) == (second.pin, second.public)
    assert first.public == first.path.read_bytes()
    assert handshake(second, "a.example", first.path)


def test_authority_files_have_owner_permissions(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        authority = Authority(tmp_path / "home")
    finally:
        os.umask(old)
    for file in (tmp_path / "home").iterdir():
        assert 0o600 == stat.S_IMODE(file.stat().st_mode), file
    assert b"PRIVATE" not in authority.path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"garbage", b"-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n"])
def test_authority_replaces_damaged_key(tmp_path: Path, content: bytes) -> None:
    before = Authority(tmp_path).pin
    (tmp_path / "replay-ca.key").write_bytes(content)
    after = Authority(tmp_path)
    assert before != after.pin
    assert handshake(after, "a.example")


def test_authority_replaces_expiring_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(module, "YEARS", 0)
        with pytest.raises(AssertionError):  # a new certificate that is already too old
            Authority(tmp_path)
    assert handshake(Authority(tmp_path), "a.example")


def test_authority_rewrites_deleted_certificate(tmp_path: Path) -> None:
    public = Authority(tmp_path).public
    (tmp_path / "replay-ca.pem").unlink()
    assert public == Authority(tmp_path).path.read_bytes()


def test_authority_raises_for_unwritable_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write a certificate to"):
        Authority(tmp_path / "file")


def test_context_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HOSTS", 2)
    authority = Authority(tmp_path)
    a = authority.context("a.example")
    authority.context("b.example")
    assert a is authority.context("a.example")
    authority.context("c.example")
    assert a is authority.context("a.example")
    assert 2 == authority.context.cache_info().currsize
