"""Worker process that parses untrusted bytes; the parent's side is `parse_process.py`.

The address space is limited once, the CPU time for each job. A job that runs out of memory returns an error; one that
runs out of CPU time kills the process, as a crash would. The process exits when its input is closed.

To add a reader, add its function and the decoder of its result to `JOBS`. Messages are plain data, not pickles: nothing
that comes back from a process that reads hostile bytes may be executed.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, BinaryIO, NamedTuple

import msgpack

from lycosa.core.types import Links
from lycosa.web.documents import read_any
from lycosa.web.html import ParsedPage
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.sources import Source, read_source

_COLUMNS = ("urls", "anchors", "contexts", "rels", "positions", "paths")


class WorkerJob(NamedTuple):
    """A reader function and the decoder of its result."""

    read: Callable[..., Any]
    decode: Callable[[Any], Any]


def _encode(value: Any) -> Any:
    if isinstance(value, Links):
        return [getattr(value, name) for name in _COLUMNS]
    if isinstance(value, frozenset):
        return sorted(value)
    return {column.name: getattr(value, column.name) for column in fields(value) if not column.name.startswith("_")}


def _decode_links(data: list[Any]) -> Links:
    return Links(**dict(zip(_COLUMNS, data, strict=True)))


def _decode_page(data: dict[str, Any]) -> ParsedPage:
    return ParsedPage(**{**data, "links": _decode_links(data["links"]), "directives": frozenset(data["directives"])})


def _decode_source(data: dict[str, Any] | None) -> Source | None:
    if data is None:
        return None
    return Source(**{**data, "links": _decode_links(data["links"]), "left_out": Counter(data["left_out"])})


@dataclass(slots=True)
class DecodedResponse:
    """A decompressed and parsed response body."""

    size: int = 0  # bytes, decompressed
    whole: bool = True  # False if cut at the limit
    document: ParsedPage | None = None  # None if too large to be parsed here, or after an error
    error: str = ""  # why decompression failed


def read_response(
    body: bytes, encoding: str, max_bytes: int, max_parsed: int, url: str, content_type: str, agent: str = ""
) -> DecodedResponse:
    """Decompress up to `max_bytes` bytes of a body, and parse it unless it is larger than `max_parsed` bytes."""
    try:
        inflated, whole = inflate(body, encoding, max_bytes)
    except BadEncoding as error:
        return DecodedResponse(error=str(error))
    read = len(inflated) <= max_parsed
    return DecodedResponse(len(inflated), whole, read_any(inflated, url, content_type, agent) if read else None)


def _decode_response(data: dict[str, Any]) -> DecodedResponse:
    document = data["document"]
    return DecodedResponse(**{**data, "document": None if document is None else _decode_page(document)})


JOBS = {
    "page": WorkerJob(read_any, _decode_page),
    "source": WorkerJob(read_source, _decode_source),
    "response": WorkerJob(read_response, _decode_response),
}


def write_message(stream: BinaryIO, message: Any) -> None:
    data: bytes = msgpack.packb(message, default=_encode, unicode_errors="surrogatepass")
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


def read_message(stream: BinaryIO) -> Any:
    """Read one message; raise EOFError when the stream has ended."""
    head = stream.read(8)
    size = int.from_bytes(head, "big") if len(head) == 8 else 0
    data = stream.read(size) if size < 2_000_000_000 else b""
    if not data or len(data) < size:
        raise EOFError
    return msgpack.unpackb(data, unicode_errors="surrogatepass", strict_map_key=False)


def limit_memory(extra: int) -> None:
    """Limit the address space to its current size plus `extra` bytes. Does nothing outside Linux."""
    try:
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[0])
    except OSError:  # not Linux: RLIMIT_AS is not enforced there
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def limit_cpu_time(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, responses = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    limit_memory(int(sys.argv[1]))
    while True:
        try:
            name, seconds, arguments = read_message(requests)
        except EOFError:
            return
        limit_cpu_time(seconds)
        try:
            message: dict[str, Any] = {"result": JOBS[name].read(*arguments)}
        except MemoryError:
            message = {"memory": True}
        except Exception as error:
            message = {"error": f"{type(error).__name__}: {error}"[:500]}
        try:
            write_message(responses, message)
        except MemoryError:
            write_message(responses, {"memory": True})
        except OSError:
            return


if __name__ == "__main__":
    main()
