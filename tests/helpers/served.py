"""`lycosa serve` in a process of its own, for tests that kill parts of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

API = "/api/v1"


class Served:
    """Server on a free port, which the context manager ends in any case."""

    def __init__(self, data: Path, database: str = "", *options: str, port: int = 0) -> None:
        self.data = data
        environment = {**os.environ, "LYCOSA_DATABASE": database}
        command = [sys.executable, "-m", "lycosa", "serve", str(data), "--port", str(port), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self.told: list[str] = []
        self.logged: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in ((self.process.stdout, self.told), (self.process.stderr, self.logged))
        ]
        for reader in self._readers:
            reader.start()
        self.headers: dict[str, str] = {}

    @staticmethod
    def _read(stream: Any, into: list[str]) -> None:
        for line in stream:
            into.append(line.rstrip("\n"))
        stream.close()

    def __enter__(self) -> Served:
        """Wait until the server responds."""
        wait(lambda: self.match(r"at (http://\S+?)/? ") or self.process.poll() is not None, f"no start: {self.logged}")
        assert self.process.poll() is None, self.logged
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self._readers:
            reader.join(15)

    def match(self, pattern: str) -> str:
        """Return the first match of a pattern in its output."""
        found = re.search(pattern, "\n".join(self.told) + "\n")
        return found[1] if found else ""

    @property
    def url(self) -> str:
        return self.match(r"at (http://\S+?)/? ")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API; raise for an error status."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(f"{self.url}{API}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            cookie = answer.headers.get("Set-Cookie", "").partition(";")[0]
            if cookie:
                self.headers["Cookie"] = cookie
            return json.loads(text) if text else None

    def become_admin(self) -> None:
        """Sign up with the one-time link, then use a token."""
        wait(lambda: self.match(r"join#(\S+)\n"), "no link for the admin")
        given = {"code": self.match(r"join#(\S+)\n"), "name": "root", "password": "correct horse battery"}
        self.headers = {"X-CSRF-Token": self.ask("POST", "/invitations/accept", given)["csrf"], **self.headers}
        made = self.ask(
            "POST", "/me/tokens", {"name": "t", "scopes": ["read", "feedback", "write", "run"], "days": None}
        )
        self.headers = {"Authorization": f"Bearer {made['token']}"}

    def child(self, name: str) -> int:
        """Return the process id of a child, or 0."""
        listed = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout
        for line in listed.splitlines():
            pid, _, arguments = line.strip().partition(" ")
            if arguments.endswith(f"lycosa_server.{name}"):
                return int(pid)
        return 0

    def kill(self, name: str) -> int:
        """Kill a child with SIGKILL; return its process id."""
        pid = self.child(name)
        assert pid, f"no {name} runs: {self.logged}"
        os.kill(pid, signal.SIGKILL)
        return pid


def wait(until: Callable[[], Any], why: str, seconds: float = 120.0) -> Any:
    """Poll until a condition holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = until()
        except (OSError, urllib.error.URLError):
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(why)


def runs(pid: int) -> bool:
    """Return whether a process is alive; zombies are not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
