"""Invariants that must hold at the end. Each check yields descriptions of its failures."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from warcio.exceptions import ArchiveLoadFailed

from crawl_helpers import check_kept, check_warcs, state_of
from lycosa import crawling
from lycosa.collection.summary import summarise
from lycosa.core.types import Visit
from lycosa.store.log import NAME, SqliteLog, current_labels
from lycosa.testweb.simulation import EPOCH, clock
from lycosa.web.urls import host_key
from lycosa_server.crawler.running import count_pages
from lycosa_server.people import feedback
from lycosa_server.people.database import Database
from soaking.journal import Journal, Request
from soaking.stretch import DELAY, InlineLoop, Place
from soaking.world import DAY, HOUR, World

MAX_CLOCK_DIFFERENCE = 12 * HOUR
"""Maximum difference between two readings of a clock, which is set at most six hours forward or back."""

TOLERANCE = 0.002
"""Tolerance in seconds for times that were written to a log."""

HANDLES, THREADS = 120, 4
MEMORY = 700_000_000


class Checks:
    """All checks of a soak test."""

    def __init__(self, place: Place, world: World, journal: Journal) -> None:
        self.place, self.world, self.journal = place, world, journal
        self.counts: Counter[str] = Counter()
        """Number of items checked by each check, because a check of nothing proves nothing."""
        self.visits: dict[str, list[Visit]] = {}
        for crawl, directory in self.directories().items():
            with closing(SqliteLog(directory / NAME, readonly=True)) as log:
                self.visits[crawl] = [event for event in log if isinstance(event, Visit)]

    def directories(self) -> dict[str, Path]:
        """Return the directories of all crawls with a log, by name."""
        found = {path.name: path for path in sorted((self.place.root / "server" / "crawls").iterdir()) if path.is_dir()}
        return {name: path for name, path in {**found, "watch": self.place.watched}.items() if (path / NAME).exists()}

    def run(self, replayed: int = 0) -> dict[str, list[str]]:
        """Run all checks and return their failures by name. `replayed` logs are replayed twice, which takes long."""
        self._replayed = replayed
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "no errors while running": self.while_running,
            "no page recorded twice": self.unique_pages,
            "every response recorded once, nothing else": self.responses_recorded,
            "delays kept": self.delays_kept,
            "robots.txt obeyed": self.robots_obeyed,
            "every record readable, with the bytes that were sent": self.archive_complete,
            "the log restores the same frontier": self.replays_agree,
            "show, the database and the log agree": self.counts_agree,
            "acknowledged changes kept": self.labels_kept,
            "interests separate": self.interests_separate,
            "no files left behind": self.no_leftovers,
            "memory, handles and threads bounded": self.resources_bounded,
        }
        if not replayed:
            del checks["the log restores the same frontier"]
        return {name: list(check()) for name, check in checks.items()}

    def while_running(self) -> Iterator[str]:
        """Errors reported by the processes themselves."""
        self.counts["API responses"] = sum(self.journal.responses.values())
        yield from self.journal.broken
        for crawl, visits in self.visits.items():
            yield from (f"{crawl}: {visit.node}: {visit.note}" for visit in visits if visit.outcome == "crashed")

    def unique_pages(self) -> Iterator[str]:
        """A page is recorded once per crawl; later fetches are revisits."""
        for crawl, visits in self.visits.items():
            seen = Counter(visit.node for visit in visits if visit.is_page)
            self.counts["pages"] += len(seen)
            yield from (f"{crawl}: {node} {times} times" for node, times in seen.items() if times > 1)

    def responses_recorded(self) -> Iterator[str]:
        """Each response has its visit, with its time and digest, and each visit has a response.

        Except for responses at the moment of a kill or a full disk, and those of deleted crawls.
        """
        known: dict[tuple[str, str], list[tuple[float, Visit]]] = defaultdict(list)
        for crawl, visits in self.visits.items():
            for visit in visits:
                known[crawl, visit.node].append((visit.started, visit))
        for found in known.values():
            found.sort(key=lambda pair: pair[0])
        matched: set[int] = set()
        # A killed process and its successor, whose clock was set back, may both request a page at the same time, if the
        # log schedules it. The visit belongs to the one that could record it.
        for request in sorted(self.journal.requests, key=lambda one: bool(self._excuse(one))):
            if request.crawl not in self.visits:
                self.counts["requests of deleted crawls"] += 1
                continue
            self.counts["requests"] += 1
            started = EPOCH + request.sent + request.plan.offset
            near = known[request.crawl, request.url]
            at = bisect_left(near, started - TOLERANCE, key=lambda pair: pair[0])
            candidates = [visit for time, visit in near[at : at + 3] if abs(time - started) <= TOLERANCE]
            candidates = [
                visit
                for visit in candidates
                if id(visit) not in matched and request.done >= 0 and visit.status == max(0, request.status)
            ]
            if not candidates:
                if excuse := self._excuse(request):
                    self.counts[excuse] += 1
                else:
                    yield f"{request.crawl}: {request.url}: {request.status} at {request.done:.3f} is not in the log"
                continue
            visit = candidates[0]
            matched.add(id(visit))
            self.counts["requests recorded"] += 1
            if visit.digest and visit.digest.hex() != request.digest:
                yield f"{request.crawl}: {request.url}: not the bytes that were sent"
        for crawl, visits in self.visits.items():
            for visit in visits:
                if visit.status and id(visit) not in matched:
                    yield f"{crawl}: {visit.node} {visit.outcome} at {visit.started - EPOCH:.3f}: without a response"

    def _excuse(self, request: Request) -> str:
        """Return the reason why a response may be missing: its process was killed, stopped, or could not write."""
        plan, full = request.plan, request.plan.full
        if request.done < 0 or request.status < 0 or request.done >= plan.ended - TOLERANCE:
            return "requests in flight at an end"
        return "responses during a full disk" if full and full.start <= request.done <= full.end + 60.0 else ""

    def delays_kept(self) -> Iterator[str]:
        """Requests to a host keep the delay after the previous response, and the host's own crawl delay.

        The first request of a process cannot know the crawl delay yet.
        """
        by_host: dict[tuple[str, str], list[Request]] = defaultdict(list)
        for request in self.journal.requests:
            by_host[request.plan.party, host_key(request.url)].append(request)
        for (party, host), requests in by_host.items():
            requests.sort(key=lambda request: request.sent)
            for before, after in pairwise(requests):
                end = before.done if before.done >= 0 else before.plan.ended
                wanted = DELAY if before.plan is not after.plan else max(DELAY, self._crawl_delay(host, before))
                self.counts["delays"] += 1
                if after.sent - end < wanted - TOLERANCE:
                    yield f"{party}: {after.url} at {after.sent:.3f}: {after.sent - end:.3f} s after {before.url}"

    def _crawl_delay(self, host: str, before: Request) -> float:
        """Return the crawl delay in robots.txt; 0 before it was first read."""
        return 0.0 if before.url.endswith("/robots.txt") else self.world.delay(host)

    def robots_obeyed(self) -> Iterator[str]:
        """No requested URL was forbidden by robots.txt for as long as its rules are cached."""
        for request in self.journal.requests:
            if request.url.endswith("/robots.txt"):
                continue
            now = EPOCH + request.sent
            self.counts["requests under rules"] += 1
            if not self.world.allowed(request.url, now, now - DAY - MAX_CLOCK_DIFFERENCE):
                yield f"{request.url} at {request.sent:.0f}: forbidden for more than a day"

    def archive_complete(self) -> Iterator[str]:
        """Every visit's record is at its place in the archive, with the right digests, and every file is complete."""
        for crawl, directory in self.directories().items():
            try:
                with closing(SqliteLog(directory / NAME, readonly=True)) as log:
                    self.counts["records"] += check_kept(directory, list(log))
                self.counts["archive files"] += check_warcs(directory)
            except (AssertionError, ArchiveLoadFailed, zlib.error) as error:
                yield f"{crawl}: {error!r}"

    def replays_agree(self) -> Iterator[str]:
        """Opening a crawl twice restores the identical state."""
        for crawl, directory in [*self.directories().items()][-self._replayed :]:
            first, second = self._state(directory), self._state(directory)
            self.counts["crawls replayed twice"] += 1
            for name in first:
                if first[name] != second[name]:
                    yield f"{crawl}: {name} differs"

    def _state(self, directory: Path) -> dict[str, Any]:
        async def opened() -> dict[str, Any]:
            crawl = crawling.resume(directory, clock=clock)
            try:
                return state_of(await crawl.open())
            finally:
                await crawl.close()

        end = max(plan.ended for plan in self.journal.plans)
        with asyncio.Runner(loop_factory=lambda: InlineLoop(end + 2 * MAX_CLOCK_DIFFERENCE)) as runner:
            return runner.run(opened())

    def counts_agree(self) -> Iterator[str]:
        """`show`, the API's rows and the log agree."""
        with closing(Database(self.place.settings.database_address)) as database:
            rows = {row["id"]: row for row in database.rows("SELECT * FROM crawl")}
        for crawl, directory in self.directories().items():
            with closing(SqliteLog(directory / NAME, readonly=True)) as log:
                pages, found = next(log.query("SELECT COUNT(*), COALESCE(SUM(relevant), 0) FROM pages"))
            summary = summarise(directory)
            self.counts["crawls counted"] += 1
            if (summary.pages, summary.relevant) != (pages, found):
                yield f"{crawl}: show says {summary.pages}, {summary.relevant}, the log {pages}, {found}"
            row = rows.get(crawl)
            if row is not None and row["state"] not in ("running", "queued") and not row["judging"]:
                self.counts["rows of crawls"] += 1
                if (recorded_counts := (row["pages"], row["relevant"])) != (now := count_pages(directory, row)):
                    yield f"{crawl}, {row['state']}: its row says {recorded_counts}, its log {now}"

    def labels_kept(self) -> Iterator[str]:
        """Acknowledged labels are in the database."""
        with closing(Database(self.place.settings.database_address)) as database:
            there = {row["id"] for row in database.rows("SELECT id FROM interest")}
            for (interest, url), labels in self.journal.labels.items():
                if interest not in there:
                    if interest not in self.journal.deleted:
                        yield f"the interest {interest} is gone"
                    continue
                kept = feedback.labels_of(database, interest).get(url)
                self.counts["labels"] += 1
                if {None: "", True: "yes", False: "no"}[kept] not in labels:
                    yield f"{interest} {url}: {kept}, but {labels[0]!r} was acknowledged"
            for interest in self.journal.interests:
                if interest not in there:
                    yield f"the interest {interest} is gone"

    def interests_separate(self) -> Iterator[str]:
        """A crawl has only seeds and labels of its own interest."""
        with closing(Database(self.place.settings.database_address)) as database:
            for row in database.rows(
                "SELECT c.id, c.interest, i.settings FROM crawl c JOIN interest i ON i.id = c.interest"
            ):
                directory = self.place.settings.crawl_directory(row["id"])
                if not (directory / NAME).exists():
                    continue
                with closing(SqliteLog(directory / NAME, readonly=True)) as log:
                    labels = current_labels(log)
                    seeds = {seed.node for seed in log.seeds()}
                self.counts["crawls with an owner"] += 1
                own = {url for interest, url in self.journal.labels if interest == row["interest"]}
                if foreign := labels.keys() - own:
                    yield f"{row['id']}: labels of other interests: {sorted(foreign)[:3]}"
                if any(seed not in row["settings"] and "sitemap" not in seed and "feed" not in seed for seed in seeds):
                    yield f"{row['id']}: seeds of other interests"

    def no_leftovers(self) -> Iterator[str]:
        """There are no temporary files, no directories of deleted crawls, and no missing directories."""
        with closing(Database(self.place.settings.database_address)) as database:
            rows = {row["id"] for row in database.rows("SELECT id FROM crawl")}
        crawls = self.place.root / "server" / "crawls"
        for path in crawls.iterdir():
            if path.is_dir() and path.name not in rows:
                yield f"{path.name}: directory without a crawl"
        for path in self.place.root.rglob("*"):
            self.counts["files"] += path.is_file()
            inside = path.parent.name == "tmp" and path.parent.parent == self.place.root
            if inside or path.suffix in (".new", ".tmp", ".part") or path.name.startswith("."):
                yield f"left behind: {path.relative_to(self.place.root)}"
        logs = [*crawls.glob("*/crawl.sqlite"), self.place.watched / NAME]
        for path in [*logs, self.place.root / "server/lycosa.sqlite"]:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database_file:
                result = database_file.execute("PRAGMA integrity_check").fetchone()[0]
                if result != "ok":
                    yield f"{path}: {result}"

    def resources_bounded(self) -> Iterator[str]:
        """The resources of a process do not grow over time."""
        for sample in self.journal.samples:
            self.counts["samples"] += 1
            if sample.handles > HANDLES or sample.threads > THREADS or sample.memory > MEMORY:
                yield f"{sample}"
