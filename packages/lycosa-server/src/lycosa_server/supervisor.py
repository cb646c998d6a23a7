"""`lycosa serve`: the process that holds the port and the lock, and keeps the web and crawl processes running.

It does nothing else, so that little can fail in it. A child that exits is restarted, with exponential backoff. Children
end with the supervisor, even after kill -9: they hold a pipe that closes then.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from lycosa.core.errors import InputError
from lycosa_server.logs import log
from lycosa_server.settings import Settings

MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.2, 10.0
STOP_SECONDS = 20.0  # seconds that children have to shut down
# File descriptor of the listening socket. It outlives the web process: restarts refuse no connections.
SOCKET = "LYCOSA_SOCKET"
NOTICES = "LYCOSA_NOTICES"  # file descriptor of a socket pair: the web process writes, the crawl process reads
LIFELINE = "LYCOSA_LIFELINE"  # file descriptor of a pipe that closes when the supervisor is gone, even if killed


class DirectoryLock:
    """Exclusive lock on a data directory, inherited by the children: released when the last of them has ended."""

    def __init__(self, data: Path) -> None:
        try:
            data.mkdir(0o700, parents=True, exist_ok=True)  # crawls are private
            self.file: IO[str] = open(data / "serving.lock", "a+")  # noqa: SIM115 - open as long as the lock is held
        except OSError as error:
            raise InputError("cannot-write", f"cannot write to {data}: {error.strerror}; make it writable") from error
        until = time.monotonic() + STOP_SECONDS
        while True:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                self.file.seek(0)
                holder = self.file.read().strip()
            if _is_running(int(holder or 0)) or time.monotonic() > until:
                self.file.close()
                raise InputError("in-use", f"{data} is in use by another lycosa serve (process {holder or 'unknown'})")
            time.sleep(0.1)  # the other supervisor was killed, and its children are about to end
        self.file.truncate(0)
        self.file.write(f"{os.getpid()}\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return pid > 0 and not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except ProcessLookupError:
        return False
    except OSError:  # the process exists but belongs to another user
        return True


def listen(host: str, port: int) -> socket.socket:
    try:
        if not 0 <= port <= 65535:
            raise OverflowError("the port number is out of range")
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = found[0] == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(found[4], family=found[0], backlog=512, dualstack_ipv6=both)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError("cannot-listen", f"cannot listen on {host} port {port}: {why}; change --port") from error


COMMANDS = {name: (sys.executable, "-m", f"lycosa_server.{name}") for name in ("web", "crawler")}


class Supervisor:
    def __init__(
        self,
        settings: Settings,
        listening: socket.socket,
        lock: DirectoryLock,
        ready: Callable[[], None],
        commands: Mapping[str, Sequence[str]] = COMMANDS,
    ) -> None:
        self.settings = settings
        self._commands = commands
        self._listening = listening
        self._lock = lock
        self._ready = ready
        self._stopping = asyncio.Event()
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._notices: dict[str, socket.socket] = {}

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(name, self._on_signal)
        reading, writing = os.pipe()  # never written to: children only wait for our end to close
        # Both ends stay open here, so notices sent while the crawl process restarts are kept for it.
        self._notices = dict(zip(("web", "crawler"), socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM), strict=True))
        try:
            keeping = [asyncio.create_task(self._keep(name, reading)) for name in self._commands]
            answering = asyncio.create_task(self._report_ready())
            await self._stopping.wait()
            notify("STOPPING=1")
            answering.cancel()
            for child in self._children.values():
                _signal(child, signal.SIGTERM)
            _, unfinished = await asyncio.wait(keeping, timeout=STOP_SECONDS)
            if unfinished:
                self._kill()
                await asyncio.wait(unfinished)
        finally:
            self._kill()
            os.close(writing)
            os.close(reading)
            for end in self._notices.values():
                end.close()

    def _on_signal(self) -> None:
        if self._stopping.is_set():
            self._kill()
        self._stopping.set()

    def _kill(self) -> None:
        for child in self._children.values():
            _signal(child, signal.SIGKILL)

    async def _keep(self, name: str, lifeline: int) -> None:
        pause = MIN_BACKOFF_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            child = await self._start(name, lifeline)
            code = await child.wait()
            if self._stopping.is_set():
                return
            pause = MIN_BACKOFF_SECONDS if time.monotonic() - began > 30.0 else pause  # long uptime resets the backoff
            log("child ended", "warning", process=name, code=code, again_in=pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(2 * pause, MAX_BACKOFF_SECONDS)

    async def _start(self, name: str, lifeline: int) -> asyncio.subprocess.Process:
        notices = self._notices[name].fileno()
        passed = [lifeline, notices, self._lock.file.fileno()]
        environment = {**os.environ, **self.settings.environment(), LIFELINE: str(lifeline), NOTICES: str(notices)}
        environment.pop("NOTIFY_SOCKET", None)
        environment.pop("LYCOSA_DATABASE", None)
        if name == "web":
            passed.append(self._listening.fileno())
            environment[SOCKET] = str(self._listening.fileno())
        self._children[name] = child = await asyncio.create_subprocess_exec(
            *self._commands[name],
            stdin=asyncio.subprocess.DEVNULL,
            env=environment,
            pass_fds=passed,
            start_new_session=True,  # so that Ctrl-C reaches only the supervisor, which stops them gently
        )
        if self._stopping.is_set():
            _signal(child, signal.SIGTERM)
        return child

    async def _report_ready(self) -> None:
        """Notify systemd and call `ready` once requests are answered, not only when the port is open."""
        while True:
            with suppress(OSError, EOFError, asyncio.TimeoutError):
                if await asyncio.wait_for(_responds(self._listening), 30):
                    break
            await asyncio.sleep(0.2)
        notify("READY=1")
        self._ready()


async def _responds(listening: socket.socket) -> bool:
    host, port = listening.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    reader, writer = await asyncio.open_connection(here, port)
    try:
        writer.write(b"GET /api/v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n")
        await writer.drain()
        return (await reader.readline()).startswith(b"HTTP/1.")
    finally:
        writer.close()


def _signal(child: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        child.send_signal(number)


def notify(state: str) -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.connect("\0" + address[1:] if address.startswith("@") else address)
        systemd.send(state.encode())


def notice_socket() -> socket.socket | None:
    number = os.environ.pop(NOTICES, "")
    if not number:
        return None
    inherited = socket.socket(fileno=int(number))
    inherited.set_inheritable(False)
    inherited.setblocking(False)
    return inherited


def stop_with_supervisor() -> None:
    """Stop this process when its supervisor ends: with SIGTERM, and by force 15 seconds later."""
    if LIFELINE not in os.environ:
        return  # started by hand
    pipe = int(os.environ.pop(LIFELINE))
    os.set_inheritable(pipe, False)

    def watch() -> None:
        while os.read(pipe, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(15.0)
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
