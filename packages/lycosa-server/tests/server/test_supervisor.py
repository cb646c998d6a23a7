"""The supervisor and its child processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa_server.supervisor import DirectoryLock, listen, notify
from served import runs, wait

CHILD = """
import os, signal, sys, time
from lycosa_server.supervisor import stop_with_supervisor
name, place = sys.argv[1:]
def end(*_):
    open(f"{place}/{name}.gentle", "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
stop_with_supervisor()
with open(f"{place}/{name}.started", "a") as started:
    started.write(f"{os.getpid()}\\n")
if os.path.exists(f"{place}/{name}.fails"):
    sys.exit(3)
while True:
    time.sleep(.05)
"""

SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from lycosa_server import supervisor
from lycosa_server.settings import Settings
place = Path(sys.argv[1])
supervisor.STOP_SECONDS = 60.0
async def main():
    commands = {name: (sys.executable, str(place / "child.py"), name, str(place)) for name in ("web", "crawler")}
    held, listening = supervisor.DirectoryLock(place / "data"), supervisor.listen("127.0.0.1", 0)
    await supervisor.Supervisor(Settings(place), listening, held, lambda: None, commands).run()
asyncio.run(main())
"""


class Supervised:
    """Supervisor of children that only sleep."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "child.py").write_text(CHILD)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR, str(place)], stderr=subprocess.PIPE, text=True
        )

    def pids(self, name: str) -> list[int]:
        """Return the process ids of all children of a name that were ever started."""
        path = self.place / f"{name}.started"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def up(self) -> tuple[int, int]:
        wait(lambda: self.pids("web") and self.pids("crawler"), "no children")
        return self.pids("web")[-1], self.pids("crawler")[-1]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    """Start a supervisor, and kill it after the test."""
    made = Supervised(tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.kill()
    made.process.wait()
    assert made.process.stderr is not None
    made.process.stderr.close()


def test_killed_child_is_restarted_alone(supervised: Supervised) -> None:
    web, crawler = supervised.up()
    os.kill(web, signal.SIGKILL)
    wait(lambda: len(supervised.pids("web")) == 2, "it was not started again")
    assert [crawler] == supervised.pids("crawler")
    assert runs(crawler)


def test_restarts_back_off(supervised: Supervised) -> None:
    web, _ = supervised.up()
    (supervised.place / "web.fails").touch()
    os.kill(web, signal.SIGKILL)
    wait(lambda: len(supervised.pids("web")) == 3, "it was not started again")
    supervised.process.terminate()
    logged = supervised.process.communicate()[1]
    assert '"again_in": 0.2' in logged
    assert '"again_in": 0.4' in logged


def test_children_end_with_killed_supervisor(supervised: Supervised) -> None:
    children = supervised.up()
    supervised.process.kill()
    supervised.process.wait()
    wait(lambda: not any(map(runs, children)), "they are still there")
    assert (supervised.place / "web.gentle").exists()
    assert (supervised.place / "crawler.gentle").exists()


def test_sigterm_stops_children_gently(supervised: Supervised) -> None:
    children = supervised.up()
    wait(lambda: supervised.place.joinpath("data", "serving.lock").read_text(), "no lock")
    supervised.process.terminate()
    assert 0 == supervised.process.wait(60)
    assert [False, False] == [runs(child) for child in children]
    assert (supervised.place / "web.gentle").exists()
    assert (supervised.place / "crawler.gentle").exists()


def test_directory_lock_refuses_second_server(supervised: Supervised) -> None:
    supervised.up()
    with raises_input_error("in-use", match=f"process {supervised.process.pid}"):
        DirectoryLock(supervised.place / "data")


def test_directory_lock_reports_unwritable_directories(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises_input_error("cannot-write"):
        DirectoryLock(tmp_path / "file" / "data")


def test_listen_reports_used_and_invalid_ports() -> None:
    with listen("127.0.0.1", 0) as first, raises_input_error("cannot-listen", match="--port"):
        listen("127.0.0.1", first.getsockname()[1])
    for host, port in (("127.0.0.1", 99999), ("203.0.113.7", 0), ("no such host", 0)):
        with raises_input_error("cannot-listen"):
            listen(host, port)


def test_notify_reaches_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notify("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        notify("READY=1")
        systemd.settimeout(60)
        assert b"READY=1" == systemd.recv(100)
