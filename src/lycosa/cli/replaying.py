"""`lycosa replay`: serve recorded pages again, as a proxy on this machine."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.replay.certificates import Authority
from lycosa.replay.pages import NOWHERE, how_to
from lycosa.replay.proxy import Proxy
from lycosa.replay.recording import Recording


def run(files: list[Path], port: int, *, quiet: bool, at: str = "") -> None:
    """Serve the files until Ctrl-C. The proxy's address is the first line of the output, also when quiet."""
    # One file stays open for each WARC file, and browsers open many connections.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384)), hard))
    indexing = _Indexing(quiet)
    with Recording(files, at=_moment(at), tell=indexing) as recording:
        indexing.end()
        proxy = Proxy(recording, Authority(), port)
        for note in [] if quiet else recording.notes:
            print(f"note: {note}", file=sys.stderr)
        try:
            asyncio.run(_serve(proxy, quiet, at))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot serve on port {port}: {why}; choose another with --port") from error


async def _serve(proxy: Proxy, quiet: bool, at: str) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with proxy:
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, over.set)
        print(proxy.address, flush=True)
        if not quiet:
            _introduce(proxy, at)
        await over.wait()
    if not quiet:
        _farewell(proxy)


def _introduce(proxy: Proxy, at: str) -> None:
    recording, certificate = proxy.recording, str(proxy.authority.path)
    count, files = len(recording), len(recording.archives)
    print(
        f"is a proxy for {count:,} recorded answer{'s' * (count != 1)} in {files} file{'s' * (files != 1)}"
        f"{f', as of {at}' if at else ''}. Ctrl-C ends it.\n"
        f"What is recorded, and how to look at it: open that address in a browser.\n"
        f"For https, clients have to trust {certificate}\n"
    )
    for name, command in how_to(proxy.address, certificate, proxy.authority.pin, recording.start or NOWHERE):
        print(f"{name + ':':<10} {command}")
    sys.stdout.flush()


def _farewell(proxy: Proxy) -> None:
    tally = proxy.tally
    print(
        f"\nserved {tally['recorded']:,}, not recorded {tally['missing']:,}, damaged {tally['damaged']:,}",
        file=sys.stderr,
    )
    if tally["distrusted"]:
        print(
            f"note: {tally['distrusted']:,} times a client hung up before any https was spoken: "
            f"does it trust {proxy.authority.path}?",
            file=sys.stderr,
        )


def _moment(text: str) -> int | None:
    """A time that the user named, in microseconds since 1970; of a day its end, as that is what it shows."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--at {text}: write a day or a time, as in 2026-03-01 or 2026-03-01T12:00") from error
    day = 86_400_000_000 - 1 if len(text) == len("2026-03-01") else 0
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e6) + day


class _Indexing:
    """Says which file is being read, and on a terminal how far."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._path, self._size = quiet, Path(), 1

    def __call__(self, path: Path, reached: int, captures: int) -> None:
        if self._quiet:
            return
        if path != self._path:
            self.end()
            self._path, self._size = path, max(1, path.stat().st_size)
            print(f"reading {path.name}, {self._size / 1e6:,.1f} MB, for its index: once", file=sys.stderr)
        if sys.stderr.isatty():
            print(f"\r{reached / self._size:4.0%} {captures:,}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._path != Path() and sys.stderr.isatty():
            print("\r" + " " * 30 + "\r", end="", file=sys.stderr, flush=True)
