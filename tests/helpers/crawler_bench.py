"""The crawl process of a server, for tests."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lycosa.store.log import NAME, PAGES, SqliteLog
from lycosa.testweb.reply import ServedResponse
from lycosa.testweb.server import Server
from lycosa_server.crawler.process import CrawlProcess
from lycosa_server.people import crawls
from lycosa_server.people.database import Database, Row
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.migrating import migrate
from lycosa_server.settings import Settings

T = TypeVar("T")
DELAY = 0.02


HASH = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g"


class Endless:
    """Web in which every page links to three more on the same host; all are about coral."""

    port = 0

    def __init__(self) -> None:
        self.text = "coral reefs of the world"
        self.slow = 0.0
        self.heard: list[dict[str, str]] = []

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, headers: Any = None, version: int = 0) -> ServedResponse:
        """Return a page; robots.txt is empty."""
        self.heard.append(dict(headers or {}))
        found = re.search(r"/coral-(\d+)$", url)
        if found is None:
            return ServedResponse(404, [], b"")
        number = int(found[1])
        links = "".join(f'<a href="/coral-{3 * number + each}">coral reef {each}</a> ' for each in (1, 2, 3))
        body = f"<html><head><title>Coral {number}</title></head><body><p>{self.text} {number}</p>{links}</body></html>"
        return ServedResponse(200, [("Content-Type", "text/html")], body.encode(), delay=self.slow)


class Bench:
    """Server data with users, a web, and a crawl process that can be restarted."""

    def __init__(self, path: Path, address: str, server: Server, web: Endless, **given: Any) -> None:
        told: dict[str, Any] = {"delay": DELAY, "allow_network": ("127.0.0.0/8",), **given}
        self.settings = Settings(path, address if "://" in address else "", **told)
        self.database = Database(address)
        migrate(self.database)
        self.server, self.web = server, web
        self.process: CrawlProcess | None = None
        self._task: asyncio.Task[None] | None = None

    def interest(self, person: str, name: str = "reefs", host: str = "reef.localhost", **settings: Any) -> str:
        """Create an interest; create its owner if necessary."""
        if self.database.row("SELECT id FROM person WHERE id = :person", person=person) is None:
            row = {"id": person, "name": person, "folded": person, "password": HASH, "role": "member", "created": 0.0}
            self.database.insert("person", row)
        told = {"seeds": [self.server.url(host, "/coral-0")], "judge": "vector", **settings}
        told = InterestSettings("coral reefs", strategy="breadth-first", **told).as_json()
        key = f"{person}-{name}"
        row = {"id": key, "owner": person, "name": name, "settings": told, "created": 0.0, "changed": 0.0}
        self.database.insert("interest", row)
        return key

    def crawl(self, person: str, name: str = "reefs", budget: int = 10_000, **given: Any) -> str:
        """Queue a crawl of a new interest; return its id."""
        interest = self.interest(person, name, **given)
        return str(crawls.create(self.database, time.time(), interest, budget)["id"])

    def row(self, crawl: str) -> Row:
        """Return a crawl's row."""
        return crawls.get(self.database, crawl)

    def collected(self, crawl: str) -> list[str]:
        """Return the pages in a crawl's log."""
        log = SqliteLog(self.settings.crawl_directory(crawl) / NAME, readonly=True)
        try:
            return [node for (node,) in log.rows("url", PAGES)]
        finally:
            log.close()

    def start(self, clock: Callable[[], float] | None = None) -> None:
        self.process = CrawlProcess(self.settings, self.database, clock)
        self._task = asyncio.create_task(self.process.run())

    async def stop(self) -> None:
        """Stop the crawl process gracefully."""
        if self.process is not None and self._task is not None:
            self.process.stop()
            await self._task
            self.process = None

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition; raise if the crawl process fails."""
        for _ in range(6000):
            assert self._task is not None
            if self._task.done():
                await self._task
            if condition():
                return
            await asyncio.sleep(0.02)
        raise AssertionError("it did not happen within two minutes")

    async def until_state(self, crawl: str, state: str) -> Row:
        """Wait until a crawl is in a state."""
        await self.until(lambda: self.row(crawl)["state"] == state)
        return self.row(crawl)


@asynccontextmanager
async def bench_at(path: Path, address: str = "", **given: Any) -> AsyncIterator[Bench]:
    """Open a bench and close it again."""
    web = Endless()
    async with Server(web) as server:  # type: ignore[arg-type]
        bench = Bench(path, address or str(path / "lycosa.sqlite"), server, web, **given)
        try:
            yield bench
        finally:
            await bench.stop()
            bench.database.close()


def on_bench(path: Path, work: Callable[[Bench], Coroutine[Any, Any, None]], address: str = "", **given: Any) -> None:
    """Run a coroutine on a bench."""

    async def doing() -> None:
        async with bench_at(path, address, **given) as bench:
            await work(bench)

    asyncio.run(doing())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll often and log little."""
    monkeypatch.setattr("lycosa_server.crawler.process.TICK_SECONDS", 0.02)
    monkeypatch.setattr("lycosa_server.crawler.process.POLL_SECONDS", 0.02)
    monkeypatch.setattr("lycosa_server.crawler.process.HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr("lycosa_server.crawler.process.SCHEDULE_SECONDS", 0.02)
    monkeypatch.setenv("LYCOSA_LOG", "quiet")


def change_settings(bench: Bench, interest: str, **settings: Any) -> None:
    """Change settings of an interest."""
    row = bench.database.row("SELECT settings FROM interest WHERE id = :interest", interest=interest)
    assert row is not None
    told = json.dumps({**json.loads(row["settings"]), **settings})
    bench.database.run("UPDATE interest SET settings = :told WHERE id = :interest", told=told, interest=interest)


def events_of(bench: Bench, crawl: str, kind: type[T], setting: str = "") -> list[T]:
    """Return a crawl's events of one kind; of settings, those with a name."""
    log = SqliteLog(bench.settings.crawl_directory(crawl) / NAME, readonly=True)
    try:
        events = [event for event in log if isinstance(event, kind)]
    finally:
        log.close()
    return [event for event in events if not setting or getattr(event, "key", "") == setting]
