"""`lycosa replay` and `lycosa browse`: a proxy on this machine that serves recorded pages, or records what you open."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.parameters import AllowNetwork, Quiet, by_the_end, network_options
from lycosa.cli.progress import StatusLine
from lycosa.core.errors import InputError
from lycosa.core.files import allow_many_files
from lycosa.drawing.formats import many
from lycosa.replay.certificates import Authority
from lycosa.replay.live import Recorder, RecordingProxy
from lycosa.replay.pages import NOWHERE, how_to
from lycosa.replay.proxy import LocalProxy, Proxy
from lycosa.replay.recording import Recording
from lycosa.spaces.making import guard_of, wall_clock
from lycosa.web.fetch import HttpTransport, Limits
from lycosa.web.guard import Names
from lycosa.web.politeness import Politeness


def replay(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="WARC files, or directories of them, such as a crawl.")
    ],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8080,
    at: Annotated[
        str, typer.Option(metavar="DATE", help="Show the web as of this date, such as 2026-03-01. Default: the latest.")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Replay recorded pages through an HTTP proxy."""
    allow_many_files()  # one stays open for each WARC file, and browsers open many connections
    indexing = _Indexing(quiet)
    moment = round(by_the_end(at, time.time(), "--at") * 1e6) if at else None
    with Recording(files, at=moment, tell=indexing) as recording:
        indexing.line.clear()
        proxy = Proxy(recording, Authority(), port)
        for note in [] if quiet else recording.notes:
            print(f"note: {note}", file=sys.stderr)
        serve(proxy, quiet, lambda: _introduce(proxy, at), lambda: _farewell(proxy))


def _introduce(proxy: Proxy, at: str) -> None:
    recording, certificate = proxy.recording, str(proxy.authority.path)
    print(
        f"is a proxy for {many(len(recording), 'recorded answer')} in {many(len(recording.archives), 'file')}"
        f"{f', as of {at}' if at else ''}. Ctrl-C ends it.\n"
        f"What is recorded, and how to look at it: open that address in a browser.\n"
        f"For https, clients have to trust {certificate}\n"
    )
    for name, command in how_to(proxy, recording.start or NOWHERE).items():
        print(f"{name + ':':<10} {command}")
    sys.stdout.flush()


def _farewell(proxy: Proxy) -> None:
    tally = proxy.tally
    print(
        f"\nserved {tally['recorded']:,}, not recorded {tally['missing']:,}, damaged {tally['damaged']:,}",
        file=sys.stderr,
    )


class _Indexing:
    """Says which file is being read, and how far."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._path, self._size, self.line = quiet, Path(), 1, StatusLine()

    def __call__(self, path: Path, reached: int, captures: int) -> None:
        if self._quiet:
            return
        if path != self._path:
            self.line.clear()
            self._path, self._size = path, max(1, path.stat().st_size)
            print(f"reading {path.name}, {self._size / 1e6:,.1f} MB, for its index: once", file=sys.stderr)
        self.line.show(lambda: f"{reached / self._size:4.0%} {captures:,}")


def serve(proxy: LocalProxy, quiet: bool, introduce: Callable[[], None], farewell: Callable[[], None]) -> None:
    """Until Ctrl-C or SIGTERM; the first line printed is its address, and the only one if it is to be quiet."""
    if proxy.password and not quiet:
        print("note: clients have to send the name and the password that stand in this address:", file=sys.stderr)
    asyncio.run(_serve(proxy, (lambda: None) if quiet else introduce))
    if quiet:
        return
    farewell()
    if strangers := proxy.tally["strangers"]:
        print(f"note: refused {many(strangers, 'request')} of other users of this machine", file=sys.stderr)
    if distrusted := proxy.tally["distrusted"]:
        print(
            f"note: {distrusted:,} times a client hung up before any https was spoken: "
            f"does it trust {proxy.authority.path}?",
            file=sys.stderr,
        )


async def _serve(proxy: LocalProxy, introduce: Callable[[], None]) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(proxy)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot serve on port {proxy.port}: {why}; choose another with --port") from error
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, over.set)
        print(proxy.address, flush=True)
        introduce()
        await over.wait()


def browse(
    record: Annotated[
        Path,
        typer.Option(
            "--record",
            "-r",
            metavar="FILE",
            help="File for the record, one line of JSON per page. An existing record is continued.",
        ),
    ],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8080,
    allow_network: AllowNetwork = None,
    quiet: Quiet = False,
) -> None:
    """Record your browsing through an HTTP proxy.

    'lycosa train browse FILE' then learns which pages lead to relevant ones.
    """
    allow_many_files()  # browsers open many connections
    guard, clock = guard_of(network_options(allow_network=allow_network)), wall_clock()
    recorder = Recorder(record)
    # A person's own pace is not ours to slow down.
    transport = HttpTransport(clock, guard, Names(clock), Politeness(clock, delay=0.0), Limits(connect_seconds=60.0))
    proxy = RecordingProxy(recorder, transport, Authority(), port)
    serve(proxy, quiet, lambda: _introduce_recorder(proxy), lambda: _sum_up(proxy))


def _introduce_recorder(proxy: RecordingProxy) -> None:
    certificate = str(proxy.authority.path)
    print(
        f"is a proxy that records the pages you open, in {proxy.recorder.path}. Ctrl-C ends it.\n"
        f"Open that address in a browser that goes through it, and say which pages are relevant.\n"
        f"For https, the browser has to trust {certificate}\n\n"
        f"Chromium: {how_to(proxy, NOWHERE)['Chromium']}",
        flush=True,
    )


def _sum_up(proxy: RecordingProxy) -> None:
    tally, recorder = proxy.tally, proxy.recorder
    labels = {each.url: each.relevant for each in recorder.opened if each.relevant is not None}
    relevant = sum(labels.values())
    print(
        f"\n{many(tally['recorded'], 'page')} recorded, {relevant:,} of them said to be relevant, "
        f"{len(labels) - relevant:,} not",
        file=sys.stderr,
    )
    if tally["unwritten"]:
        print(f"note: {many(tally['unwritten'], 'page')} could not be written to {recorder.path}", file=sys.stderr)
    if recorder.opened:
        print(
            f"Learn from it: lycosa train browse {shlex.quote(str(recorder.path))} --out my.browsing", file=sys.stderr
        )
