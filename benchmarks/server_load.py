"""Load test: twenty people with twenty concurrent crawls on one server; latencies, fairness and politeness.

    python benchmarks/server_load.py [--people 20] [--seconds 60] [--database postgresql://...]

Starts the embedded web (which records every request), `lycosa serve`, and for each person an interest, a crawl and a
browser: one stream of live events, and a typical request every half second. Printed are the API's latencies as the
browsers measure them, the distribution of pages over people, and, as seen by the hosts, the shortest pause between two
requests and the maximum concurrency. Everything runs on the same cores, including the browsers and the embedded web, so
the latencies are those of a fully loaded machine.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from lycosa.testweb import Web, serve
from lycosa.testweb.server import gaps, max_in_flight
from lycosa_server.people import accounts, tokens
from lycosa_server.people.credentials import Passwords
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate

SCOPES = frozenset({"read", "feedback", "write", "run", "account"})
PAUSE = 0.5
TOPICS = 4
"""Number of topics: few, so that several people compete for the same hosts."""

DELAY = 1.0


def free_port() -> int:
    """Return an unused port."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def enrol(address: str, people: int) -> list[str]:
    """Create accounts; return a token for each."""
    database = Database(address)
    migrate(database)
    cheap, now, created = Passwords(time_cost=1, memory_cost=8, parallelism=1), time.time(), []
    for number in range(people):
        _, code = accounts.invite(database, now, "member")
        person = accounts.accept(database, now, cheap, code, f"person {number}", "a long enough password")
        created.append(tokens.create(database, now, person["id"], "load", SCOPES, None)[1])
    database.close()
    return created


@contextmanager
def served(data: Path, port: int, people: int, database: str) -> Iterator[None]:
    """Run `lycosa serve`, and wait until it responds."""
    words = ["serve", str(data), "--port", str(port), "--crawls", str(people), "--crawls-per-person", "1"]
    words += ["--delay", str(DELAY), "--allow-network", "127.0.0.0/8"]
    environment = {**os.environ, **({"LYCOSA_DATABASE": database} if database else {})}
    with (data / "serve.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "lycosa", *words], stdout=log, stderr=log, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


async def until_up(session: aiohttp.ClientSession) -> None:
    """Wait until the web server and the crawl process respond."""
    for _ in range(300):
        try:
            async with session.get("/api/v1/health") as response:
                if response.status == 200 and (await response.json())["crawl_process"]:
                    return
        except (aiohttp.ClientError, OSError):
            pass
        await asyncio.sleep(0.1)
    raise SystemExit("the server did not come up: see serve.log in its directory")


class Browser:
    """A person's browser, which creates an interest, starts a crawl, and watches it."""

    def __init__(self, base: str, token: str, topic: str, web: Web, number: int) -> None:
        self.session = aiohttp.ClientSession(base, headers={"Authorization": f"Bearer {token}"})
        self.topic, self.web, self.number = topic, web, number
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.wrong: list[str] = []
        self.events = 0
        self.pages = self.found = 0
        self.crawl = self.interest = ""
        self.first_page = 0.0

    async def call(self, kind: str, method: str, path: str, **given: object) -> dict:
        """Send one request and record its latency."""
        before = time.perf_counter()
        async with self.session.request(method, f"/api/v1{path}", **given) as response:
            body = await response.read()
        self.taken[kind].append(time.perf_counter() - before)
        if response.status >= 400:
            self.wrong.append(f"{kind} {response.status} {body[:200]!r}")
            return {}
        return json.loads(body) if body else {}

    async def begin(self) -> None:
        """Create an interest and start a crawl."""
        settings = {"words": self.web.query(self.topic), "seeds": list(self.web.seeds(self.topic)), "budget": 2000}
        created = await self.call(
            "create", "POST", "/interests", json={"name": f"{self.topic} {self.number}", "settings": settings}
        )
        self.interest = created["id"]
        self.crawl = (await self.call("start", "POST", f"/interests/{self.interest}/crawls", json={}))["id"]

    def count(self, status: dict) -> None:
        """Record the current numbers of pages."""
        if status:
            self.pages, self.found = status["crawl"]["pages"], status["crawl"]["relevant"]

    async def listen(self) -> None:
        """Follow the live events, as the page in a browser does."""
        try:
            async with self.session.get(
                f"/api/v1/crawls/{self.crawl}/events", timeout=aiohttp.ClientTimeout(total=None)
            ) as response:
                async for line in response.content:
                    self.events += line.startswith(b"event: visit")
        except asyncio.CancelledError:
            raise
        except aiohttp.ClientError as error:
            self.wrong.append(f"events: {error}")

    async def browse(self, until: float) -> None:
        """Send the requests of a person who watches: list, live, results, search, a page, a label."""
        crawl, liked = f"/crawls/{self.crawl}", itertools.cycle(["yes", "no", "yes"])
        await asyncio.sleep(PAUSE * self.number / 20)
        for turn in itertools.count():
            if time.perf_counter() > until:
                return
            kind = (
                "list",
                "progress",
                "pages",
                "search",
                "graph",
                "progress",
                "changes",
                "page",
                "feedback",
            )[turn % 9]
            if kind == "list":
                await self.call(kind, "GET", "/interests")
            elif kind == "progress":
                status = await self.call(kind, "GET", f"{crawl}/progress")
                self.count(status)
            elif kind == "pages":
                await self.call(kind, "GET", f"{crawl}/pages")
            elif kind == "search":
                await self.call(kind, "GET", f"{crawl}/search", params={"q": self.web.query(self.topic).split()[0]})
            elif kind == "graph":
                await self.call(kind, "GET", f"{crawl}/graph")
            elif kind == "changes":
                await self.call(kind, "GET", f"/interests/{self.interest}/changes")
            else:
                listed = (await self.call("pages", "GET", f"{crawl}/pages")).get("pages", [])
                if listed and kind == "page":
                    await self.call(kind, "GET", f"{crawl}/page", params={"url": listed[0]["url"]})
                elif listed:
                    body = {"url": listed[turn % len(listed)]["url"], "label": next(liked)}
                    await self.call(kind, "PUT", f"/interests/{self.interest}/feedback", json=body)
            await asyncio.sleep(PAUSE)


async def trial(base: str, given: list[str], web: Web, seconds: float) -> list[Browser]:
    """Run all browsers concurrently."""
    async with aiohttp.ClientSession(base) as session:
        await until_up(session)
    topics = list(web.topics)[:TOPICS]
    browsers = [Browser(base, token, topics[i % len(topics)], web, i) for i, token in enumerate(given)]
    for browser in browsers:
        await browser.begin()
    streams = [asyncio.create_task(browser.listen()) for browser in browsers]
    await asyncio.gather(*(browser.browse(time.perf_counter() + seconds) for browser in browsers))
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    for browser in browsers:
        status = await browser.call("progress", "GET", f"/crawls/{browser.crawl}/progress")
        browser.count(status)
        await browser.session.close()
    return browsers


def percentile(values: list[float], share: float) -> float:
    """Return a percentile in milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_figures(browsers: list[Browser], pauses: dict[str, float], at_once: dict[str, int]) -> None:
    """Print the figures."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for browser in browsers:
        for kind, times in browser.taken.items():
            kinds[kind] += times
    everything = [value for times in kinds.values() for value in times]
    print(f"{'request':<10} {'count':>6} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8}")
    for kind, times in [*sorted(kinds.items()), ("all", everything)]:
        figures = " ".join(f"{percentile(times, share):8.0f}" for share in (0.5, 0.95, 0.99))
        print(f"{kind:<10} {len(times):6d} {figures}")
    pages = [browser.pages for browser in browsers]
    print("\npages per person, by topic (Jain's index, 1: equal):")
    for topic in dict.fromkeys(browser.topic for browser in browsers):
        same = [browser.pages for browser in browsers if browser.topic == topic]
        fairness = sum(same) ** 2 / (len(same) * sum(value * value for value in same)) if any(same) else 0.0
        print(f"  {topic:<40} least {min(same):4d}, most {max(same):4d}, index {fairness:.3f}")
    print(f"found: {sum(browser.found for browser in browsers)} of {sum(pages)} pages; ", end="")
    print(f"live events: {sum(browser.events for browser in browsers)}")
    print(f"hosts requested: {len(pauses)}; shortest pause {min(pauses.values()):.3f} s (delay {DELAY}); ", end="")
    print(f"maximum concurrency {max(at_once.values())}")
    wrong = [line for browser in browsers for line in browser.wrong]
    print(f"error responses: {len(wrong)}", *wrong[:5], sep="\n  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--hosts", type=int, default=120)
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    web = Web(pages=6000, hosts=given.hosts, traps=())
    with tempfile.TemporaryDirectory() as place, serve(web) as world:
        data = Path(place)
        created = enrol(given.database or str(data / "lycosa.sqlite"), given.people)
        port = free_port()
        with served(data, port, given.people, given.database):
            browsers = asyncio.run(trial(f"http://127.0.0.1:{port}", created, web, given.seconds))
        print_figures(browsers, gaps(world.log), max_in_flight(world.log))


if __name__ == "__main__":
    main()
