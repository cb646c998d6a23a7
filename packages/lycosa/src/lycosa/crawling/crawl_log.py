"""`crawl.log`: one line per request in the columns of Heritrix, which archiving tools read.

1.  end of the request           2026-11-17T15:13:36.005Z
2.  status                       200; negative without a response (see `STATUS`)
3.  bytes of the body            12345
4.  URL                          http://example.org/reefs/
5.  discovery path               LLR: links and redirects from a seed; M sitemap, P robots.txt, X probe, E page
                                 asset (those fetched by a browser come before their page)
6.  referring URL                http://example.org/
7.  content type                 text/html
8.  thread                       #001, always
9.  start and duration in ms     20261117151335812+193
10. digest of the body           sha256:...
11. seed                         http://example.org/
12. annotations                  event:123,page,ok; 2t for the second attempt; flags

It is derived from the crawl's own log (crawl.sqlite), and each line names its event. A resumed crawl writes the lines
that a killed run has not written, and cuts off a torn one. A file with other content is renamed to crawl.log.00001.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.parse import quote

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.table import Table
from lycosa.core.types import Visit
from lycosa.spaces.stage import as_visit
from lycosa.store.cdxj import format_date, format_digest
from lycosa.store.log import SqliteLog
from lycosa.web.browser_protocols import LoggedRequest

NAME, NONE = "crawl.log", "none"
# Heritrix's codes for requests without a response, or not sent
STATUS = {
    "unknown-host": -1, "unreachable": -2, "timeout": -4, "slow": -4, "crashed": -5, "invalid": -7, "refused": -5001,
    "denied": -9998,
}  # fmt: skip
MAX_PATH = 50  # maximum letters of a discovery path; of longer ones the last, preceded by the number of omitted letters
MAX_TAIL_BYTES = 65_536  # bytes at the end of the file searched for a known line
_HOPS = {"robots": "P", "probe": "X", "asset": "E", "search": "X", "example": "X"}
_EVENT = re.compile(rb"(?:^|,)event:(\d+)(?:,|$)")


class CrawlLog:
    """Writer of crawl.log while a crawl runs."""

    def __init__(self, options: Options, directory: Path, log: SqliteLog, table: Table) -> None:
        self.path = directory / (options.log_file or NAME)
        self.log, self.table = log, table
        self.note: Callable[[str], None] = lambda text: None  # called if writing failed
        self._file = -1
        self._size = 0
        self._sources: dict[str, str] = {}  # source of each redirect target

    def open(self, progress: ProgressCallback = no_progress) -> None:
        """Open the file, and append the lines that it lacks for events of the crawl's log."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
            known = self._reconcile()
        except OSError as error:
            raise InputError("unwritable-file", f"cannot write --log-file {self.path}: {error.strerror}") from error
        end = self.log.end()
        for seq, visit in self.log.numbered("seq > ?", given=(known,)):
            self._write(seq, visit)
            progress("writing crawl.log", seq - known, end - known)

    def visited(self, visit: Visit, number: int) -> None:
        self._write(number, visit)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            hint = "each crawl needs one of its own"
            raise InputError("conflicting-options", f"another crawl writes --log-file {self.path}: {hint}") from error
        self._size = os.fstat(self._file).st_size

    def _reconcile(self) -> int:
        """Cut off lines unknown to the crawl's log; return the last event written."""
        with open(self.path, "rb") as file:
            file.seek(max(0, self._size - MAX_TAIL_BYTES))
            tail = file.read(MAX_TAIL_BYTES)
        known, behind = self._known(tail)
        if known:
            os.ftruncate(self._file, self._size - len(tail) + behind)
            self._size += behind - len(tail)
        elif b"\n" not in tail and self._size == len(tail):  # no complete line
            os.ftruncate(self._file, 0)
            self._size = 0
        else:  # written by another crawl or program
            self._set_aside()
        return known

    def _known(self, tail: bytes) -> tuple[int, int]:
        """Return the last event in some lines that is in the crawl's log with this URL, and the end of its line."""
        end = tail.rfind(b"\n") + 1
        while end > 0:
            begin = tail.rfind(b"\n", 0, end - 1) + 1
            seq, url = parse_line(tail[begin:end])
            if seq and any(_plain(str(node)) == url for (node,) in self.log.rows("url", "seq = ?", given=(seq,))):
                return seq, end
            end = begin
        return 0, 0

    def _set_aside(self) -> None:
        number = next(number for number in count(1) if not Path(f"{self.path}.{number:05d}").exists())
        self.path.rename(f"{self.path}.{number:05d}")
        self.close()
        self._open()

    def _write(self, seq: int, visit: Visit) -> None:
        if visit.outcome == "redirect" and visit.links.urls:
            self._sources[visit.links.urls[0]] = visit.node
        if self._file < 0:
            return
        # The visit's own line comes last, as it marks the event as written.
        every = [*browser_requests(visit), visit]
        line = b"".join(format_line(seq, one, *self._discovery(one)) for one in every)
        try:
            written = os.write(self._file, line)
            if written < len(line):  # disk full
                os.ftruncate(self._file, self._size)
                raise OSError(28, os.strerror(28))
        except OSError as error:
            self.close()
            self.note(f"can no longer write {self.path} ({error.strerror}): 'lycosa resume' completes it")
        else:
            self._size += written

    def _discovery(self, visit: Visit) -> tuple[str, str, str]:
        table, last = self.table, _HOPS.get(visit.kind, "")
        node = visit.origin if last else visit.node
        row = table.row_of.get(node, -1)
        if row < 0:
            return last, visit.origin, ""
        via, hops, at = visit.origin, [last], row
        if not last:
            via = self._sources.get(node) or (table.nodes[table.parent[row]] if table.parent[row] >= 0 else "")
        for _ in range(1_000):
            hops.append("R" * int(table.hops[at]))
            parent = int(table.parent[at])
            if parent < 0:
                break
            hops.append("M" if table.is_source[parent] else "L")
            at = parent
        path = "".join(reversed(hops))
        if len(path) > MAX_PATH:
            path = f"{len(path) - MAX_PATH}+{path[-MAX_PATH:]}"
        return path, via, table.nodes[at]


def browser_requests(visit: Visit) -> list[Visit]:
    """Return the requests of a browser for a page as visits, robots.txt first."""
    rules = [as_visit(rule) for rule in visit.data.get("robots", ())]
    fields: list[Visit] = [rule for rule in rules if rule.status or rule.outcome != "ok"]
    for given in visit.data.get("render", {}).get("resources", ()):
        one = LoggedRequest(*given)
        fields.append(
            Visit(
                one.url, "asset", one.outcome, 0, origin=visit.node, started=one.started, ended=one.ended,
                status=one.status, size=one.size, digest=bytes.fromhex(one.digest), data={"type": one.type},
                flags=["browser"],
            )
        )  # fmt: skip
    return fields


def format_line(seq: int, visit: Visit, path: str, via: str, seed: str) -> bytes:
    began = f"{_compact(visit.started)}+{_duration(visit)}" if visit.status else "-"
    digest = format_digest(visit.digest) if visit.digest else "-"
    url, via, seed = (_plain(text) or "-" for text in (visit.node, via, seed))
    return (
        f"{_iso(visit.ended)} {_status(visit):>5} {visit.size if visit.status else '-':>10} {url} {path or '-'} {via} "
        f"{_type(visit) or 'unknown'} #001 {began} {digest} {seed} {','.join(_annotations(seq, visit))}\n"
    ).encode("utf-8", "replace")


def parse_line(line: bytes) -> tuple[int, str]:
    """Return event number and URL of a line; the number is 0 if another program wrote the line."""
    try:
        columns = line.split()
        match = _EVENT.search(columns[11])
        return (int(match[1]), columns[3].decode()) if match and line.endswith(b"\n") else (0, "")
    except (ValueError, IndexError):
        return 0, ""


def _status(visit: Visit) -> int:
    return visit.status or STATUS.get(visit.outcome, 0)


def _type(visit: Visit) -> str:
    kind = visit.data.get("type") or (visit.note if visit.outcome == "unwanted" else "")
    return kind if isinstance(kind, str) and re.fullmatch(r"[\w.+*-]+/[\w.+*-]+", kind, re.ASCII) else ""


def _annotations(seq: int, visit: Visit) -> list[str]:
    fields = [f"event:{seq}", visit.kind, visit.outcome]
    if visit.attempt > 1:
        fields.append(f"{visit.attempt}t")
    if visit.same_as:
        fields.append("duplicate:content")
    return fields + [re.sub(r"[\s,]+", "-", flag) for flag in visit.flags]


def _plain(text: str) -> str:
    if text.isprintable() and " " not in text:
        return text
    return quote(text, safe="!#$%&'()*+,/:;=?@[]~", errors="replace")


def _iso(at: float) -> str:
    day = _compact(at)
    return f"{day[:4]}-{day[4:6]}-{day[6:8]}T{day[8:10]}:{day[10:12]}:{day[12:14]}.{day[14:]}Z"


def _compact(at: float) -> str:
    micros = round(at * 1e6)
    return f"{format_date(micros // 1_000_000)}{micros % 1_000_000 // 1000:03d}"


def _duration(visit: Visit) -> int:
    return max(0, round((visit.ended - visit.started) * 1000))
