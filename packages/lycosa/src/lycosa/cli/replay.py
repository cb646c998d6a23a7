"""`lycosa replay`: a local proxy that serves recorded pages, or records the pages you open."""

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

from lycosa.cli.parameters import AllowNetwork, Port, Quiet, network_options, parse_end_time
from lycosa.cli.printing import print_notes
from lycosa.cli.progress_bar import StatusLine
from lycosa.core.errors import InputError
from lycosa.core.files import allow_many_files
from lycosa.drawing.formats import many
from lycosa.replay.certificates import Authority
from lycosa.replay.live import Recorder, RecordingProxy
from lycosa.replay.proxy import LocalProxy, ReplayProxy
from lycosa.replay.proxy_pages import NOWHERE, how_to
from lycosa.replay.recording import Recording
from lycosa.spaces.making import guard_of, wall_clock
from lycosa.web.fetch import FetchLimits, HttpTransport
from lycosa.web.guard import DnsCache
from lycosa.web.politeness import Politeness


def replay(
    files: Annotated[list[Path] | None, "FILE", "WARC files, or directories of them, such as a crawl."] = None,
    *,
    record: Annotated[
        Path | None,
        "-r",
        "RECORD",
        "Instead of replaying, record the pages you open, one line of JSON each; an existing record is continued. "
        "'lycosa train browse RECORD' learns from it.",
    ] = None,
    port: Port = 8080,
    at: Annotated[str, "DATE", "Show the web as of this date, such as 2026-03-01. Default: the latest."] = "",
    allow_network: AllowNetwork = None,
    quiet: Quiet = False,
) -> None:
    """Replay recorded pages through an HTTP proxy, or record your browsing."""
    allow_many_files()  # one file per WARC file, and browsers open many connections
    if bool(files) == bool(record):
        raise InputError("missing-option", "give WARC files to replay, or a file to record to with --record")
    if record is not None:
        guard, clock = guard_of(network_options(allow_network=allow_network)), wall_clock()
        # No delays, because a person sets the pace.
        politeness, limits = Politeness(clock, delay=0.0), FetchLimits(connect_seconds=60.0)
        transport = HttpTransport(clock, guard, DnsCache(clock), politeness, limits)
        recorder = RecordingProxy(Recorder(record), transport, Authority(), port)
        serve(recorder, quiet, lambda: _introduce_recorder(recorder), lambda: _print_summary(recorder))
        return
    line, begun = StatusLine(), set[Path]()
    moment = round(parse_end_time(at, time.time(), "--at") * 1e6) if at else None

    def indexing(path: Path, reached: int, captures: int) -> None:
        size = max(1, path.stat().st_size)
        if path not in begun:
            line.clear()
            begun.add(path)
            print(f"reading {path.name}, {size / 1e6:,.1f} MB, to build its index", file=sys.stderr)
        line.show(lambda: f"{reached / size:4.0%} {captures:,}")

    with Recording(files or [], at=moment, progress=(lambda *_: None) if quiet else indexing) as recording:
        line.clear()
        proxy = ReplayProxy(recording, Authority(), port)
        print_notes([] if quiet else recording.notes)
        serve(proxy, quiet, lambda: _introduce(proxy, at), lambda: _farewell(proxy))


def _introduce(proxy: ReplayProxy, at: str) -> None:
    recording, certificate = proxy.recording, str(proxy.authority.path)
    print(
        f"is a proxy for {many(len(recording), 'recorded response')} in {many(len(recording.archives), 'file')}"
        f"{f', as of {at}' if at else ''}. Press Ctrl-C to stop.\n"
        "Open the URL in a browser to see the recorded pages and how to view them.\n"
        f"For https, clients have to trust {certificate}\n"
    )
    for name, command in how_to(proxy, recording.start or NOWHERE).items():
        print(f"{name + ':':<10} {command}")
    sys.stdout.flush()


def _farewell(proxy: ReplayProxy) -> None:
    tally = proxy.tally
    counts = f"served {tally['recorded']:,}, not recorded {tally['missing']:,}, damaged {tally['damaged']:,}"
    print(f"\n{counts}", file=sys.stderr)


def serve(proxy: LocalProxy, quiet: bool, introduce: Callable[[], None], farewell: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM. The first line printed is the URL of the proxy; with `quiet` the only one."""
    if proxy.password and not quiet:
        print("note: clients must send the user name and password in this URL:", file=sys.stderr)
    asyncio.run(_serve(proxy, (lambda: None) if quiet else introduce))
    if quiet:
        return
    farewell()
    strangers, distrusted = proxy.tally["strangers"], proxy.tally["distrusted"]
    aborted = f"{distrusted:,} connections closed before an https request: do clients trust {proxy.authority.path}?"
    print_notes([f"refused {many(strangers, 'request')} of other users of this machine"] if strangers else [])
    print_notes([aborted] if distrusted else [])


async def _serve(proxy: LocalProxy, introduce: Callable[[], None]) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(proxy)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            message = f"cannot serve on port {proxy.port}: {why}; choose another with --port"
            raise InputError("port-unavailable", message) from error
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, over.set)
        print(proxy.address, flush=True)
        introduce()
        await over.wait()


def _introduce_recorder(proxy: RecordingProxy) -> None:
    certificate = str(proxy.authority.path)
    print(
        f"is a proxy that records the pages you open, in {proxy.recorder.path}. Press Ctrl-C to stop.\n"
        f"Open the URL in a browser configured to use the proxy, and mark relevant pages.\n"
        f"For https, the browser has to trust {certificate}\n\n"
        f"Chromium: {how_to(proxy, NOWHERE)['Chromium']}",
        flush=True,
    )


def _print_summary(proxy: RecordingProxy) -> None:
    tally, recorder = proxy.tally, proxy.recorder
    labels = {each.url: each.relevant for each in recorder.opened if each.relevant is not None}
    relevant = sum(labels.values())
    counts = f"{relevant:,} of them marked as relevant, {len(labels) - relevant:,} not"
    print(f"\n{many(tally['recorded'], 'page')} recorded, {counts}", file=sys.stderr)
    if tally["unwritten"]:
        print_notes([f"{many(tally['unwritten'], 'page')} could not be written to {recorder.path}"])
    if recorder.opened:
        learn = f"lycosa train browse {shlex.quote(str(recorder.path))} --out my.browsing"
        print(f"Learn from it: {learn}", file=sys.stderr)
