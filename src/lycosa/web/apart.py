"""A process that reads what is large or suspicious, and can be ended: the inner side of `reading.py`.

Its memory is limited once, its CPU time anew for each job. What exceeds the first is told as an error, what exceeds the
second ends the process, as a crash would. It ends by itself when nobody is there to ask any more.

A further reader is a line in `JOBS`: its function, and how the result is taken apart and put together again. Messages
are plain data, not pickles: what comes back from a process that reads hostile bytes is not to be run.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any, BinaryIO, NamedTuple

import msgpack

from lycosa.core.types import Links
from lycosa.web.html import Document, read_body
from lycosa.web.sources import Source, read_source

_LINKS = ("urls", "anchors", "contexts", "rels", "positions")


class Job(NamedTuple):
    """A reader: what it is, and how its result travels."""

    read: Callable[..., Any]
    packed: Callable[[Any], Any]
    unpacked: Callable[[Any], Any]


def _pack_document(document: Document) -> dict[str, Any]:
    values = {column.name: getattr(document, column.name) for column in fields(document)}
    return {**values, "links": _pack_links(document.links), "directives": sorted(document.directives)}


def _unpack_document(told: dict[str, Any]) -> Document:
    return Document(**{**told, "links": Links(*told["links"]), "directives": frozenset(told["directives"])})


def _pack_source(source: Source | None) -> dict[str, Any] | None:
    if source is None:
        return None
    values = {column.name: getattr(source, column.name) for column in fields(source) if not column.name.startswith("_")}
    return {**values, "links": _pack_links(source.links), "left_out": dict(source.left_out)}


def _unpack_source(told: dict[str, Any] | None) -> Source | None:
    if told is None:
        return None
    return Source(**{**told, "links": Links(*told["links"]), "left_out": Counter(told["left_out"])})


def _pack_links(links: Links) -> list[list[Any]]:
    return [getattr(links, name) for name in _LINKS]


JOBS = {
    "page": Job(read_body, _pack_document, _unpack_document),
    "source": Job(read_source, _pack_source, _unpack_source),
}


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message: its length, then itself."""
    data = msgpack.packb(message, unicode_errors="surrogatepass")
    stream.write(len(data).to_bytes(8, "big"))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read a message; EOFError if there is none."""
    head = stream.read(8)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == 8 else b""
    if not data or len(data) < int.from_bytes(head, "big"):
        raise EOFError
    return msgpack.unpackb(data, unicode_errors="surrogatepass", strict_map_key=False)


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has, where the system can see to that."""
    try:
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[0])
    except OSError:  # no Linux: limits of address space are not kept there
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def limit_time(seconds: int) -> None:
    """Let this process run for so many seconds of CPU time more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Do jobs until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides when it is over
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    limit_memory(int(sys.argv[1]))
    while True:
        try:
            name, seconds, arguments = receive(asked)
        except EOFError:
            return
        limit_time(seconds)
        try:
            job = JOBS[name]
            message = {"result": job.packed(job.read(*arguments))}
        except MemoryError:
            message = {"memory": True}
        except Exception as error:
            message = {"error": f"{type(error).__name__}: {error}"[:500]}
        try:
            send(answers, message)
        except MemoryError:
            send(answers, {"memory": True})
        except OSError:
            return


if __name__ == "__main__":
    main()
