"""Work that takes a while, in a process of its own: it is told by its standard input what to do, knows no database, is
nice to the crawls, ends with who started it, and says what came of it by its standard output.

The crawl process takes such jobs from a table of the database, one at a time (`run_queued`).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar

from lycosa.core.errors import InputError, LycosaError
from lycosa.people.database import Database, Row
from lycosa.server.logs import log
from lycosa.server.settings import Settings, without_place

EVERY = 1.0
"""Seconds between two looks at the queue, and at whether what runs is still wanted."""

TIDY = 3_600.0
"""Seconds between two looks at what earlier jobs have left behind."""

RUNNING = {"comparison": "running", "model": "training"}
"""What the state of a job is called while it is done, by its table."""


class Job:
    """A kind of job. The child is `python -m` with the module that the class is in."""

    table: ClassVar[str]
    """Where they wait."""
    name: ClassVar[str]
    """In the log, and of the directory where the child writes: it may be killed, and nothing is to stay there."""
    longest: ClassVar[float]
    """Seconds that one may take."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings, self.database = settings, database
        self.place = settings.data / self.name

    def gather(self, row: Row) -> dict[str, Any]:
        """What the child is told."""
        raise NotImplementedError

    def end(self, row: Row, task: dict[str, Any], result: dict[str, Any] | None, reason: str) -> None:
        """Keep what came of it: a result, or the reason why there is none."""
        raise NotImplementedError

    def tidy(self) -> None:
        """Remove what is of no use any more."""

    async def run_queued(self) -> None:
        """Do what is queued, until cancelled. While the database is away, wait."""
        started, tidied = False, -TIDY
        while True:
            try:
                if time.monotonic() > tidied + TIDY:
                    await asyncio.to_thread(self.tidy)
                    tidied = time.monotonic()
                if not started:
                    await asyncio.to_thread(shutil.rmtree, self.place, ignore_errors=True)
                    await asyncio.to_thread(requeue, self.database, self.table)
                    started = True
                row = await asyncio.to_thread(take, self.database, self.table)
                if row is not None:
                    await self.do(row)
                    continue
            except LycosaError as error:
                log(f"{self.name} waits", "warning", why=str(error))
                started = False  # how the last one ended may not have been written
            await asyncio.sleep(EVERY)

    async def do(self, row: Row) -> None:
        """One job, whatever becomes of it."""
        log(f"{self.name} started", job=row["id"])
        task: dict[str, Any] = {}
        try:
            task = await asyncio.to_thread(self.gather, row)
            answer = await ask(type(self).__module__, task, partial(self._deleted, row["id"]), self.longest)
            await asyncio.to_thread(self.end, row, task, *answer)
            reason = answer[1]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError) as error:  # out of a backup, say
            reason = without_place(self.settings, str(error))
            await asyncio.to_thread(self.end, row, task, None, reason)
        finally:
            shutil.rmtree(self.place, ignore_errors=True)
        log(f"{self.name} ended", job=row["id"], reason=reason)

    async def _deleted(self, job: str) -> bool:
        try:
            return await asyncio.to_thread(self.database.get, self.table, job) is None
        except LycosaError:
            return False


def requeue(database: Database, table: str) -> None:
    """What was under way when an earlier process died is to be done again."""
    database.run(f"UPDATE {table} SET state = 'queued' WHERE state = ?", RUNNING[table])


def take(database: Database, table: str) -> Row | None:
    """The one that has waited longest, under way from now on; None if none waits."""
    row = database.row(f"SELECT id FROM {table} WHERE state = 'queued' ORDER BY created, id LIMIT 1")
    start = f"UPDATE {table} SET state = ? WHERE id = ? AND state = 'queued'"
    if row is None or not database.run(start, RUNNING[table], row["id"]):
        return None
    return database.get(table, row["id"])


async def ask(
    module: str, task: dict[str, Any], deleted: Callable[[], Awaitable[bool]], longest: float
) -> tuple[dict[str, Any] | None, str]:
    """Have it done, unless nobody wants it any more or it takes too long: the result, or why there is none."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 26,
        start_new_session=True,
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(task).encode() + b"\n")
        reading = asyncio.create_task(child.stdout.read())
        until = time.monotonic() + longest
        while not (await asyncio.wait({reading}, timeout=EVERY))[0]:
            if time.monotonic() > until or await deleted():
                child.kill()
        return _answer(await reading, longest if time.monotonic() > until else 0.0)
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


def _answer(output: bytes, late: float) -> tuple[dict[str, Any] | None, str]:
    try:
        said = json.loads(output)
        return said.get("result"), str(said.get("reason", ""))
    except ValueError:
        return None, f"it took more than {late / 60:.0f} minutes" if late else "it ended without a result: see the log"


def serve(work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """In the child: read what to do, write what came of it."""
    task = json.loads(sys.stdin.readline())

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)  # who wanted it is gone

    threading.Thread(target=watch, daemon=True).start()
    os.nice(10)
    said: dict[str, Any]
    try:
        said = {"result": work(task)}
    except LycosaError as error:
        said = {"reason": str(error)}
    print(json.dumps(said), flush=True)
    os._exit(0)
