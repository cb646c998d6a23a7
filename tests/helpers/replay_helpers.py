"""Helpers for tests of replay: handwritten records, a proxy in a thread, and a plain client."""

import asyncio
import base64
import gzip
import http.client
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lycosa.replay.certificates import Authority
from lycosa.replay.live import Recorder, RecordingProxy
from lycosa.replay.proxy import LocalProxy, ReplayProxy
from lycosa.replay.recording import Recording
from lycosa.spaces.making import wall_clock
from lycosa.web.fetch import HttpTransport
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness

JANUARY, MARCH, JUNE = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"

_numbers = iter(range(10**9))


def http_answer(body: bytes = b"hello", *, status: str = "200 OK", kind: str = "text/html", more: str = "") -> bytes:
    """Return an HTTP message; `more` are header lines that end with CRLF."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}\r\n".encode() + body


def record(
    url: str,
    block: bytes | None = None,
    *,
    kind: str = "response",
    date: str = MARCH,
    more: str = "",
    number: int | None = None,
) -> bytes:
    """Return one uncompressed WARC record."""
    block = http_answer() if block is None else block
    number = next(_numbers) if number is None else number
    return (
        (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number:032x}>\r\n"
            f"WARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n{more}"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )


def write(path: Path, *records: bytes) -> Path:
    """Write a WARC file; compress each record if its name ends in .gz."""
    pack = _gzip if path.suffix == ".gz" else bytes
    path.write_bytes(b"".join(map(pack, records)))
    return path


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@dataclass
class Reply:
    """Response as received by the client."""

    status: int
    headers: dict[str, str]
    body: bytes
    reason: str = ""

    @property
    def mark(self) -> str:
        """Return the header by which the proxy marks its own responses."""
        return self.headers.get("x-lycosa", "")


def basic(login: str) -> str:
    """Return the value of a Basic authorization header."""
    return "Basic " + base64.b64encode(login.encode()).decode()


@contextmanager
def serving(home: Path, *files: Path, **options: Any) -> Iterator[ReplayProxy]:
    """Run a proxy for some files in a thread."""
    with Recording(files, **options) as recording:
        proxy = ReplayProxy(recording, Authority(home))
        with running(proxy):
            yield proxy


@contextmanager
def running(proxy: LocalProxy) -> Iterator[None]:
    """Run a proxy in a thread."""
    loop, stop, started = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def run() -> None:
        async with proxy:
            started.set()
            await stop.wait()

    def work() -> None:
        try:
            loop.run_until_complete(run())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
        assert not thread.is_alive()


def ask(
    proxy: LocalProxy,
    target: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Reply:
    """Send one request to the proxy with an unmodified target."""
    return ask_all(proxy, [(method, target, headers or {}, body)])[0]


def ask_all(proxy: LocalProxy, asked: Sequence[tuple[str, str, dict[str, str], bytes | None]]) -> list[Reply]:
    """Send requests over one connection."""
    client = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
    try:
        return [_exchange(client, *each) for each in asked]
    finally:
        client.close()


def ask_secure(proxy: LocalProxy, host: str, path: str, port: int = 443, authority: Path | None = None) -> Reply:
    """Send one request over TLS through a tunnel, trusting only the proxy's authority."""
    context = ssl.create_default_context(cafile=str(authority or proxy.authority.path))
    client = http.client.HTTPSConnection("127.0.0.1", proxy.port, timeout=60, context=context)
    client.set_tunnel(host, port)
    try:
        return _exchange(client, "GET", path, {}, None)
    finally:
        client.close()


def _exchange(
    client: http.client.HTTPConnection, method: str, target: str, headers: dict[str, str], body: bytes | None
) -> Reply:
    client.putrequest(method, target, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        client.putheader(name, value)
    if body is not None:
        client.putheader("Content-Length", str(len(body)))
    client.endheaders(body)
    answer = client.getresponse()
    received = answer.read()
    return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, received, answer.reason)


def command(home: Path, *arguments: object) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "NO_COLOR": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "lycosa", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@contextmanager
def replaying(home: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command during the block; yield its process and the URL that it prints."""
    process = command(home, "replay", *arguments, "--port", 0)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=60)


def rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the remaining output until the process ends."""
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout.read(), process.stderr.read()


@contextmanager
def recording(folder: Path, networks: tuple[str, ...] = ("127.0.0.0/8",)) -> Iterator[RecordingProxy]:
    """Run a recording proxy."""
    clock = wall_clock()
    transport = HttpTransport(clock, Guard(networks), DnsCache(clock), Politeness(clock, delay=0.0))
    proxy = RecordingProxy(Recorder(folder / "record.jsonl", lambda: 1_800_000_000.0), transport, Authority(folder))
    with running(proxy):
        yield proxy


NOBODY = 65534


CLIENT = """
import os, socket, sys
address, port, own_port, user, sent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
mapped = ":" in address
client = socket.socket(socket.AF_INET6 if mapped else socket.AF_INET)
client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
client.settimeout(30)
client.bind((address, own_port))
client.connect(("::ffff:127.0.0.1" if mapped else "127.0.0.1", port))
client.sendall(sent.encode())
received = b""
while piece := client.recv(65_536):
    received += piece
sys.stdout.buffer.write(received)
"""
