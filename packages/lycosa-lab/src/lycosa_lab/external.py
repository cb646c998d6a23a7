"""External programs as strategies: they read events on stdin and write the next URL to fetch on stdout.

`program,command=python crawler.py` names one. The protocol, version 1, is one JSON object per line; see
docs/benchmark.md. Seeds are fetched before the first pick. A protocol error ends only the trial of the program. Each
trial starts one process, whose whole process group is killed at the end.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.frontier import Frontier, Ready
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Pick, Step
from lycosa.drawing.formats import clean
from lycosa_lab.simulation import IndexedTable

PROTOCOL = 1

# Seconds for the first response, for each later one, and to exit.
START_TIMEOUT, ANSWER_TIMEOUT, EXIT_TIMEOUT = 30.0, 10.0, 1.0

MAX_LINE_BYTES = 65_536  # maximum length of a response
MAX_TEXT = 20_000  # maximum characters of a page's text in an event

WANTS = ("context", "text")
FORFEITED, GAVE_UP = "forfeited", "gave up"


class ForfeitError(Exception):
    """Raised if a program breaks the protocol; its trial is forfeited."""


class ExternalStrategy:
    """Strategy that requests the next URL from a program. Close it after the crawl."""

    proportional = False
    wants: tuple[str, ...] = ()

    def __init__(
        self,
        command: str,
        words: str | Mapping[str, float] = "",
        example_pages: Sequence[str] = (),
        budget: int = 0,
        seed: int = 0,
    ) -> None:
        try:
            self.command = shlex.split(command)
        except ValueError as error:
            raise InputError("bad-value", f"cannot parse the command {command!r}: {error}") from error
        if not self.command or shutil.which(self.command[0]) is None:
            raise InputError("missing-program", f"{command!r} is not an executable program: give its interpreter too")
        self.words, self.examples, self.budget, self.seed = words, example_pages, budget, seed
        self.ending = ""  # reason, if the program ended its trial
        self.seconds = 0.0  # CPU time, known after close()
        self._program: ProgramProcess | None = None
        self._wanted: set[str] = set()

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        return Frontier(table, ready, host_budget, patience, 0.0)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        frontier.rank(np.array([row], np.int32), np.array([1.0]))

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        if self.ending:
            return
        try:
            self._running_program(table).send(self._page_event(step, table))
        except ForfeitError as error:
            self._forfeit(error)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """Return a seed if any is left, then the program's pick; -1 after it has forfeited or given up."""
        row = frontier.take(now)
        if row >= 0 or self.ending or not frontier.table.open_rows:
            return Pick(row, "")
        try:
            program = self._running_program(frontier.table)
            program.send({"event": "pick", "number": number})
            row = self._picked_row(program.receive(ANSWER_TIMEOUT), frontier.table)
        except ForfeitError as error:
            self._forfeit(error)
        if row < 0:
            return Pick(row, "")
        self.admit(row, frontier.table, frontier)
        return Pick(frontier.take(now), "")

    def close(self) -> None:
        if self._program is not None:
            self.seconds += self._program.close(self.ending or "the crawl is over")
            self._program = None

    def _forfeit(self, error: ForfeitError) -> None:
        self.ending = f"{FORFEITED}: {error}"
        self.close()

    def _running_program(self, table: Table) -> ProgramProcess:
        if self._program is not None:
            return self._program
        program = self._program = ProgramProcess(self.command)
        topic = self.words if isinstance(self.words, str) else " ".join(self.words)
        program.send(
            {
                "event": "start", "protocol": PROTOCOL, "topic": topic, "examples": len(self.examples),
                "budget": self.budget, "random_seed": self.seed,
            }
        )  # fmt: skip
        response = program.receive(START_TIMEOUT)
        if response.get("protocol") != PROTOCOL:
            raise ForfeitError(f"it speaks protocol {quoted(response.get('protocol'))}, not {PROTOCOL}")
        wants = response.get("wants", [])
        if not isinstance(wants, list) or any(want not in WANTS for want in wants):
            raise ForfeitError(f"it wants {quoted(wants)}: choose from {' and '.join(WANTS)}")
        self._wanted = set(wants)
        if isinstance(table, IndexedTable):
            for url in self.examples:
                page = table.index.page(table.index.number_of[url])
                text = {"text": page.text[:MAX_TEXT]} if "text" in self._wanted else {}
                program.send({"event": "example", "url": url, "title": page.title, **text})
        return program

    def _page_event(self, step: Step, table: Table) -> dict[str, Any]:
        visit, links = step.visit, step.visit.links
        rows = [{"url": url, "anchor": anchor} for url, anchor in zip(links.urls, links.anchors, strict=True)]
        if "context" in self._wanted:
            for row, context in zip(rows, links.contexts, strict=True):
                row["context"] = context
        event = {
            "event": "page", "url": visit.node, "seed": bool(table.is_seed[step.row]),
            "relevance": round(float(visit.relevance), 6), "title": visit.title, "links": rows,
        }  # fmt: skip
        if "text" in self._wanted and isinstance(table, IndexedTable):
            event["text"] = table.index.page(int(table.node_at[step.row])).text[:MAX_TEXT]
        return event

    def _picked_row(self, response: dict[str, Any], table: Table) -> int:
        if "pick" not in response:
            raise ForfeitError(f"it returned {quoted(response)} for a pick")
        url, row = response["pick"], -1
        if url is None:
            self.ending = GAVE_UP
            return -1
        if isinstance(url, str) and isinstance(table, IndexedTable):
            node = table.index.number_of.get(url)
            row = -1 if node is None else int(table.row_at[node])
        if row < 0:
            raise ForfeitError(f"it picked {quoted(url)}, which is not a link of a fetched page")
        if table.state[row] != OPEN:
            raise ForfeitError(f"it picked {quoted(url)} a second time")
        return row


def quoted(value: Any) -> str:
    """Return a value written by a program, shortened and without control characters."""
    try:
        text = clean(value if isinstance(value, str) else json.dumps(value))
    except RecursionError:  # json.loads accepts deeper nesting than json.dumps
        text = "something too deep"
    return repr(text if len(text) <= 120 else f"{text[:120]}...")


class ProgramProcess:
    """A running program with line-based pipes and a timeout per line."""

    def __init__(self, command: Sequence[str]) -> None:
        self._spent = _children()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True, bufsize=0,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise InputError("cannot-start", f"cannot start {quoted(shlex.join(command))}: {error}") from error
        self._guard = subprocess.Popen(  # kills the group when this process ends, even by a kill: its stdin closes
            ["sh", "-c", 'read -r _; kill -s KILL -- "-$0"', str(self._process.pid)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._in, self._out, self._err = (pipe.fileno() if pipe is not None else -1 for pipe in pipes)
        for number in (self._in, self._out, self._err):
            os.set_blocking(number, False)
        self._received, self._stderr_tail = b"", b""

    def send(self, event: Mapping[str, Any]) -> None:
        left = memoryview(_line(event))
        until = monotonic() + ANSWER_TIMEOUT
        while left:
            self._wait(self._in, selectors.EVENT_WRITE, until, "it does not read its input")
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError:
                raise ForfeitError(self._exit_reason("input")) from None

    def receive(self, seconds: float) -> dict[str, Any]:
        until = monotonic() + seconds
        while b"\n" not in self._received and len(self._received) <= MAX_LINE_BYTES:
            self._wait(self._out, selectors.EVENT_READ, until, f"it did not answer within {seconds:g} seconds")
            try:
                more = os.read(self._out, MAX_LINE_BYTES)
            except BlockingIOError:
                continue
            if not more:
                raise ForfeitError(self._exit_reason("output"))
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        if len(line) > MAX_LINE_BYTES:
            raise ForfeitError(f"it wrote a line of more than {MAX_LINE_BYTES:,} bytes")
        try:
            response = json.loads(line)
        except (ValueError, RecursionError):
            raise ForfeitError(f"it wrote {quoted(line.decode('utf-8', 'replace'))}, which is not JSON") from None
        if not isinstance(response, dict):
            raise ForfeitError(f"it wrote {quoted(response)}, which is not a JSON object")
        return response

    def _wait(self, number: int, event: int, until: float, why: str) -> None:
        """Wait until a pipe is ready, meanwhile keeping the end of stderr."""
        with selectors.DefaultSelector() as ready:
            ready.register(number, event)
            if self._err >= 0:
                ready.register(self._err, selectors.EVENT_READ)
            while True:
                ready_fds = [key.fd for key, _ in ready.select(max(0.0, until - monotonic()))]
                if self._err in ready_fds and not self._read_stderr():
                    ready.unregister(self._err)
                    self._err = -1
                if number in ready_fds:
                    return
                if monotonic() >= until:
                    raise ForfeitError(why)

    def _read_stderr(self) -> bool:
        try:
            more = os.read(self._err, MAX_LINE_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._stderr_tail = (self._stderr_tail + more)[-MAX_LINE_BYTES:]
        return bool(more)

    def _exit_reason(self, closed: str) -> str:
        ended = self._wait_for_exit()
        if self._err >= 0:
            self._read_stderr()
        lines = self._stderr_tail.decode("utf-8", "replace").strip().splitlines()
        detail = f": {quoted(lines[-1])}" if lines else ""
        if ended is None:
            return f"it closed its {closed}{detail}"
        how = "ended with exit code" if ended.si_code == os.CLD_EXITED else "was killed by signal"
        return f"it {how} {ended.si_status}{detail}"

    def _wait_for_exit(self) -> os.waitid_result | None:
        """Wait briefly for the program to exit. It is not reaped, so that its process group id stays reserved."""
        until = monotonic() + EXIT_TIMEOUT
        while True:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is not None or monotonic() >= until:
                return ended
            sleep(0.002)

    def close(self, reason: str) -> float:
        """Kill the program and its process group; return the CPU seconds it used."""
        process = self._process
        with suppress(OSError):  # skipped if it would block
            os.write(self._in, _line({"event": "end", "reason": reason}))
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        self._wait_for_exit()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        self._guard.kill()  # killed before the group id can be reused
        self._guard.wait()
        process.wait()
        for pipe in (process.stdout, process.stderr, self._guard.stdin):
            if pipe is not None:
                pipe.close()
        return _children() - self._spent


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
