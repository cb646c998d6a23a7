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
    """Let a client meet a host; returns the host's certificate as the client sees it."""
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
def test_a_client_that_trusts_it_accepts_every_host(tmp_path: Path, host: str) -> None:
    """Names, addresses and long names get certificates that a client checks and accepts."""
    assert handshake(Authority(tmp_path), host)


def test_a_certificate_is_for_its_host_alone(tmp_path: Path) -> None:
    """A client that wants another host refuses."""
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(Authority(tmp_path), "a.example", asked="b.example")


def test_others_do_not_trust_it(tmp_path: Path) -> None:
    """A client with another authority refuses."""
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(Authority(tmp_path / "a"), "a.example", Authority(tmp_path / "b").path)


def test_it_is_made_once(tmp_path: Path) -> None:
    """The next run has the same authority: what was trusted stays so."""
    first, second = Authority(tmp_path), Authority(tmp_path)
    assert (first.pin, first.public) == (second.pin, second.public)
    assert first.public == first.path.read_bytes()
    assert handshake(second, "a.example", first.path)


def test_nobody_else_may_read_the_key(tmp_path: Path) -> None:
    """Its files are for the user alone, and the one to hand out holds no key."""
    old = os.umask(0)
    try:
        authority = Authority(tmp_path / "home")
    finally:
        os.umask(old)
    for file in (tmp_path / "home").iterdir():
        assert 0o600 == stat.S_IMODE(file.stat().st_mode), file
    assert b"PRIVATE" not in authority.path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"garbage", b"-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n"])
def test_a_damaged_key_is_replaced(tmp_path: Path, content: bytes) -> None:
    """What can't be read any more is made anew, with a certificate that fits."""
    before = Authority(tmp_path).pin
    (tmp_path / "replay-ca.key").write_bytes(content)
    after = Authority(tmp_path)
    assert before != after.pin
    assert handshake(after, "a.example")


def test_an_old_authority_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is about to expire is not used any more."""
    with monkeypatch.context() as patched:
        patched.setattr(module, "YEARS", 0)
        with pytest.raises(AssertionError):  # made, and found to be too old at once
            Authority(tmp_path)
    assert handshake(Authority(tmp_path), "a.example")


def test_a_lost_certificate_is_written_again(tmp_path: Path) -> None:
    """The file to trust can be deleted: it is made from the key."""
    public = Authority(tmp_path).public
    (tmp_path / "replay-ca.pem").unlink()
    assert public == Authority(tmp_path).path.read_bytes()


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    """Nowhere to keep it is an error that names the place."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot keep a certificate in"):
        Authority(tmp_path / "file")


def test_contexts_are_kept_but_not_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host's certificate is made once while it is in use; those not used for long make room."""
    monkeypatch.setattr(module, "MAX_HOSTS", 2)
    authority = Authority(tmp_path)
    a = authority.context("a.example")
    authority.context("b.example")
    assert a is authority.context("a.example")
    authority.context("c.example")
    assert a is authority.context("a.example")
    assert 2 == authority.context.cache_info().currsize
