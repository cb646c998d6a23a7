"""Access to proxies by the same user, by other users, and with passwords."""

from __future__ import annotations

import asyncio
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lycosa.replay import peers
from lycosa.replay.proxy import ReplayProxy
from lycosa.replay.proxy_pages import how_to
from replay_helpers import (
    CLIENT,
    NOBODY,
    ask,
    ask_secure,
    basic,
    http_answer,
    record,
    recording,
    replaying,
    rest,
    serving,
    write,
)

A = "http://a.example/"
ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.255.255.254", "::ffff:127.0.0.1", "::ffff:127.0.0.3")

needs_linux = pytest.mark.skipif(not peers.users_are_known(), reason="this system does not say whose connections are")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


def answer_to(port: int, address: str, user: int, target: str = A, *, own_port: int = 0) -> bytes:
    """Return the response to a client with this address and user id; 0 is the user that runs the tests."""
    sent = f"GET {target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"
    command = [sys.executable, "-c", CLIENT, address, str(port), str(own_port), str(user), sent]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[ReplayProxy]:
    path = write(tmp_path / "a.warc.gz", record(A, http_answer(b"<p>front")), record("https://s.example/"))
    with serving(tmp_path / "home", path) as running:
        yield running


@pytest.fixture
def unknown_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Simulate a system that does not list owners of connections, such as macOS."""
    monkeypatch.setattr(peers, "TABLES", tmp_path / "nowhere")


@needs_linux
@pytest.mark.parametrize("address", ADDRESSES)
def test_replay_serves_own_user(proxy: ReplayProxy, address: str) -> None:
    assert answer_to(proxy.port, address, 0).endswith(b"<p>front")


@needs_linux
@needs_root
@pytest.mark.parametrize("address", ADDRESSES)
def test_replay_refuses_other_user(proxy: ReplayProxy, address: str) -> None:
    for target in (A, "/", "/ca.pem", "https://s.example/"):
        received = answer_to(proxy.port, address, NOBODY, target)
        assert received.startswith(b"HTTP/1.1 403 ")
        assert received.endswith(b"\r\n\r\nThis proxy serves only the user who started it: start one of your own.\n")
    assert proxy.tally["strangers"] == 4


@needs_linux
@needs_root
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.2"])
def test_replay_refuses_other_user_on_own_port(proxy: ReplayProxy, address: str) -> None:
    with socket.create_connection(("127.0.0.1", proxy.port)) as ours:
        port = ours.getsockname()[1]
        if address == "127.0.0.1":
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closes with a reset
            ours.close()
        assert answer_to(proxy.port, address, NOBODY, own_port=port).startswith(b"HTTP/1.1 403 ")


@needs_linux
@needs_root
def test_replay_command_reports_refused_users(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record(A))
    with replaying(tmp_path, path) as (process, address):
        answer_to(int(address.rpartition(":")[2]), "127.0.0.2", NOBODY)
        process.send_signal(signal.SIGTERM)
        assert "note: refused 1 request of other users of this machine" in rest(process)[1].splitlines()


@needs_linux
@needs_root
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_live_proxy_refuses_other_user(tmp_path: Path, address: str) -> None:
    with recording(tmp_path) as proxy:
        proxy.recorder.visit("http://a.example/?secret=1", "", "<title>Private</title>")
        shown = ask(proxy, "/").body
        assert b"secret=1" in shown
        assert b"Private" in shown
        assert proxy.token.encode() in shown
        for target in ("/", proxy.server + "/", f"/label/{proxy.token}/0/yes", A):
            received = answer_to(proxy.port, address, NOBODY, target)
            assert received.startswith(b"HTTP/1.1 403 ")
            assert b"secret" not in received
            assert proxy.token.encode() not in received
        assert proxy.tally["passed"] == 0


class Accepted(asyncio.BaseTransport):
    """Accepted connection, as described by asyncio."""

    def __init__(self, accepted: socket.socket) -> None:
        self.ends = {"peername": accepted.getpeername(), "sockname": accepted.getsockname()}

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.ends[name]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Return the client and server ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        with client, accepted:
            yield client, accepted


@needs_linux
def test_is_own_user_is_false_for_closed_socket(pair: tuple[socket.socket, socket.socket]) -> None:
    client, accepted = pair
    assert peers.is_own_user(Accepted(accepted))
    client.shutdown(socket.SHUT_WR)
    assert peers.is_own_user(Accepted(accepted))
    client.close()
    assert not peers.is_own_user(Accepted(accepted))


@needs_linux
def test_is_own_user_is_true_for_root(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000_000)
    assert peers.is_own_user(Accepted(pair[1])) == (os.getuid() == 0)


def test_is_own_user_is_false_without_row(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends = [peers._table_format(socket.inet_aton(host), port) for host, port in Accepted(pair[1]).ends.values()]
    other = peers._table_format(socket.inet_aton("127.0.0.2"), Accepted(pair[1]).ends["peername"][1])
    rest = f"01 0:0 0:0 0 {os.getuid()} 0 77"
    for rows in ("", f"0: {other} {ends[1]} {rest}", f"0: {ends[0]} {other} {rest}", f"0: {ends[1]} {ends[0]} {rest}"):
        (tmp_path / "tcp").write_text(f"  sl  local_address\n{rows}\n")
        monkeypatch.setattr(peers, "TABLES", tmp_path)
        assert not peers.is_own_user(Accepted(pair[1]))
    (tmp_path / "tcp").write_text(f"  sl  local_address\n0: {ends[0]} {ends[1]} {rest}\n")
    assert peers.is_own_user(Accepted(pair[1]))


@pytest.mark.usefixtures("unknown_users")
def test_replay_requires_password_if_users_unknown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record(A, http_answer(b"<p>front")), record("https://s.example/"))
    with serving(tmp_path / "home", path) as proxy:
        assert proxy.address == f"http://lycosa:{proxy.password}@127.0.0.1:{proxy.port}"
        wrong = ["", "Basic", "Basic !", basic("lycosa:"), basic(f"other:{proxy.password}"), f"Bearer {proxy.password}"]
        for given in (*wrong, basic(proxy.login + "x"), basic(proxy.login) + "\u00e9"):
            refused = ask(proxy, A, headers={"Proxy-Authorization": given, "Authorization": basic(proxy.login)})
            assert (407, 'Basic realm="Lycosa"') == (refused.status, refused.headers["proxy-authenticate"])
            refused = ask(proxy, "/", headers={"Authorization": given, "Proxy-Authorization": basic(proxy.login)})
            assert (401, 'Basic realm="Lycosa"') == (refused.status, refused.headers["www-authenticate"])
        with pytest.raises(OSError, match="407"):
            ask_secure(proxy, "s.example", "/")
        assert b"<p>front" == ask(proxy, A, headers={"Proxy-Authorization": basic(proxy.login)}).body
        assert b"A recorded web" in ask(proxy, "/", headers={"Authorization": basic(proxy.login)}).body
        client = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
        client.set_tunnel("a.example", 80, {"Proxy-Authorization": basic(proxy.login)})
        client.request("GET", "/")
        assert b"<p>front" == client.getresponse().read()
        client.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
@pytest.mark.usefixtures("unknown_users")
def test_how_to_command_includes_password(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record(A, http_answer(b"<p>front")))
    with serving(tmp_path / "home", path) as proxy:
        command = how_to(proxy, A)["curl"]
        assert b"<p>front" == subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True).stdout
