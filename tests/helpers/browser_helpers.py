"""Web space without a crawl, for rendering single pages."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lycosa.browser import chromium
from lycosa.browser.finding import missing_requirements
from lycosa.spaces.web_space import WebSpace
from lycosa.web.fetch import HttpTransport, Response
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness

chromium.START_TIMEOUT = 180.0  # a busy machine may start a browser slowly

needs_browser = pytest.mark.skipif(bool(missing_requirements()), reason=f"no browser here: {missing_requirements()}")


def answer(body: bytes, status: int = 200, more: list[tuple[bytes, bytes]] | None = None) -> Response:
    """Return a response with an HTML body."""
    headers = more or [(b"Content-Type", b"text/html; charset=utf-8")]
    fields = {name.decode().lower(): value.decode() for name, value in headers}
    return Response(status, f"HTTP/1.1 {status} X".encode(), headers, body, "192.0.2.1", fields=fields)


class Staged(HttpTransport):
    """Transport that responds for some hosts itself and fetches all others, within the guard's rules."""

    def __init__(self, hosts: dict[str, Response], allow: tuple[str, ...] = ()) -> None:
        async def lookup(name: str) -> list[str]:
            if name == "rebound.example":
                return ["127.0.0.1"]
            raise OSError("no such name")

        clock = time.time
        super().__init__(clock, Guard(allow), DnsCache(clock, lookup), Politeness(clock, delay=0.0))
        self.hosts, self.asked = hosts, list[str]()

    def _staged(self, url: str) -> Response | None:
        host = url.partition("://")[2].partition("/")[0]
        if host in self.hosts and url not in self.hosts and url.endswith("/robots.txt"):
            return answer(b"", 404)
        return self.hosts.get(url) or self.hosts.get(host)

    async def address(self, url: str) -> str:
        return "" if self._staged(url) is not None else await super().address(url)

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        self.asked.append(url)
        return self._staged(url) or await super().fetch(url, headers, wanted)


def space_of(transport: HttpTransport) -> WebSpace:
    """Return a web space over a transport."""
    return WebSpace(transport, transport.politeness, transport.clock, user_agent="Lycosa/test")


class Canary:
    """Listener on one local port (TCP and UDP, IPv4 and IPv6) that counts connections."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.sockets: list[socket.socket] = []
        self._over = False
        while not self._listens():  # another process holds the port that is free for TCP
            for listening in self.sockets:
                listening.close()
            self.sockets.clear()
        self._threads = [threading.Thread(target=self._listen, args=(one,), daemon=True) for one in self.sockets]

    def _listens(self) -> bool:
        self.port = 0
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                listening = socket.socket(family, kind)
                try:
                    listening.bind((address, self.port))
                except OSError:
                    listening.close()
                    if family == socket.AF_INET:
                        return False
                    continue  # this machine has no IPv6
                self.port = self.port or listening.getsockname()[1]
                listening.settimeout(0.1)
                if kind == socket.SOCK_STREAM:
                    listening.listen(100)
                self.sockets.append(listening)
        return True

    def _listen(self, listening: socket.socket) -> None:
        while not self._over:
            try:
                if listening.type == socket.SOCK_STREAM:
                    connection, peer = listening.accept()
                    with connection:
                        connection.settimeout(5.0)
                        said = connection.recv(2000)
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
                else:
                    said, peer = listening.recvfrom(2000)
                self.heard.append(f"{peer[:2]}: {said[:80]!r}")
            except TimeoutError:
                continue
            except OSError as error:
                self.heard.append(f"a connection: {error}")

    def __enter__(self) -> Canary:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over = True
        for thread in self._threads:
            thread.join()
        for listening in self.sockets:
            listening.close()


def _is_ours(inode: str) -> bool:
    """Return whether a socket belongs to the browser or to this process; other programs are ignored."""
    for held in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # the process or file no longer exists
            if os.readlink(held) == f"socket:[{inode}]":
                process = held.parents[1]
                if process.name == str(os.getpid()) or b"chrom" in (process / "cmdline").read_bytes():
                    return True
    return False


@contextmanager
def watching(addresses: tuple[str, ...]) -> Iterator[list[str]]:
    """Record connections of the browser or of this process to some IPv4 addresses during the block."""
    wanted = {"".join(f"{int(part):02X}" for part in reversed(address.split("."))) for address in addresses}
    seen, over = list[str](), threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for table in ("tcp", "udp"):
                for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    fields = line.split()
                    if fields[2].partition(":")[0] in wanted and fields[9] != "0" and _is_ours(fields[9]):
                        seen.append(line)

    thread = threading.Thread(target=look, daemon=True)
    if Path("/proc/net/tcp").exists():
        thread.start()
    try:
        yield seen
    finally:
        over.set()
        if thread.is_alive():
            thread.join()
