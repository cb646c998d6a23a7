"""`lycosa replay`: serve recorded pages again, as a proxy on this machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.moments import by_the_end
from lycosa.cli.parameters import Quiet
from lycosa.cli.progress import StatusLine
from lycosa.cli.proxying import serve
from lycosa.core.files import allow_many_files
from lycosa.drawing.formats import many
from lycosa.replay.certificates import Authority
from lycosa.replay.pages import NOWHERE, how_to
from lycosa.replay.proxy import Proxy
from lycosa.replay.recording import Recording


def replay(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="WARC files, or directories of them (a crawl's, too).")
    ],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8080,
    at: Annotated[
        str, typer.Option(metavar="DATE", help="Show the web as of this day, as in 2026-03-01. Default: the newest.")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Serve recorded pages again, as an HTTP proxy: a browser or any crawler walks the web as it was then."""
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
    for name, command in how_to(proxy.address, certificate, proxy.authority.pin, recording.start or NOWHERE):
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
