"""`lycosa browse`: record your browsing, for 'lycosa train browse' to learn from."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.parameters import AllowNetwork, Quiet, network_options
from lycosa.cli.proxying import serve
from lycosa.core.files import allow_many_files
from lycosa.drawing.formats import many
from lycosa.replay.certificates import Authority
from lycosa.replay.live import Recorder, RecordingProxy
from lycosa.replay.pages import NOWHERE, how_to
from lycosa.spaces.making import guard_of, wall_clock
from lycosa.web.dns import Names
from lycosa.web.fetch import HttpTransport, Limits
from lycosa.web.politeness import Politeness

SILENCE = 60.0
"""Seconds that a host may take for the next bytes: a person gives up sooner."""


def browse(
    record: Annotated[
        Path,
        typer.Option(
            "--record",
            "-r",
            metavar="FILE",
            help="Where to write it, a line of JSON a page. A record that is there is continued.",
        ),
    ],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8080,
    allow_network: AllowNetwork = None,
    quiet: Quiet = False,
) -> None:
    """Record your browsing, as an HTTP proxy: the pages you open, from where, and which you say are relevant.

    'lycosa train browse FILE' then learns which pages lead to relevant ones.
    """
    allow_many_files()  # browsers open many connections
    guard, clock = guard_of(network_options(allow_network=allow_network)), wall_clock()
    recorder = Recorder(record)
    # A person's own pace is not ours to slow down.
    transport = HttpTransport(clock, guard, Names(clock), Politeness(clock, delay=0.0), Limits(connect_seconds=SILENCE))
    proxy = RecordingProxy(recorder, transport, Authority(), port)
    serve(proxy, quiet, lambda: _introduce(proxy), lambda: _farewell(proxy))


def _introduce(proxy: RecordingProxy) -> None:
    certificate = str(proxy.authority.path)
    (_, chromium), *_ = how_to(proxy.address, certificate, proxy.authority.pin, NOWHERE)
    print(
        f"is a proxy that records the pages you open, in {proxy.recorder.path}. Ctrl-C ends it.\n"
        f"Open that address in a browser that goes through it, and say which pages are relevant.\n"
        f"For https, the browser has to trust {certificate}\n\n"
        f"Chromium: {chromium}",
        flush=True,
    )


def _farewell(proxy: RecordingProxy) -> None:
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
