"""Ten simulated people in browsers: they crawl, read, label, share, pause, delete, and try to access others' data."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import httpx2 as httpx
from fastapi import FastAPI

from lycosa_server.app import PREFIX
from lycosa_server.people import accounts
from lycosa_server.people.credentials import Passwords
from soaking.world import HOUR, Report, World

PEOPLE = 10
PASSWORD = "correct horse battery"
CHEAP = Passwords(time_cost=1, memory_cost=8, parallelism=1)
SCOPES = ["read", "feedback", "write", "run", "account"]
MEAN_PAUSE = 6 * HOUR
"""Average time between two actions of a person."""

PERMITTED = frozenset({200, 201, 202, 204, 404, 409, 422, 429, 503, 507})
"""Permitted API responses; 403 only where it is expected, and never 500."""


class Violation(AssertionError):
    """Raised for a violated guarantee that is detected while the test runs."""


class Caller:
    """A client of the application, in simulated time."""

    def __init__(self, app: FastAPI, base: str, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base, headers=headers)

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Send one request; return its status and its content."""
        reply = await self.client.request(method, PREFIX + path, json=body, params=query or None)
        kind = reply.headers.get("content-type", "")
        return reply.status_code, reply.json() if reply.content and kind.startswith("application/json") else None

    async def close(self) -> None:
        await self.client.aclose()


async def sign_up(app: FastAPI, base: str, number: int) -> str:
    """Create an account; return its token."""
    site = app.state.site
    _, code = accounts.invite(site.database, site.clock(), "member")
    visitor = Caller(app, base)
    name = f"Person {number}"
    status, content = await visitor.call(
        "POST", "/invitations/accept", {"code": code, "name": name, "password": PASSWORD}
    )
    assert status == 201, content
    visitor.client.headers["X-CSRF-Token"] = content["csrf"]
    status, created = await visitor.call("POST", "/me/tokens", {"name": "soak", "scopes": SCOPES, "days": None})
    assert status == 201, created
    await visitor.close()
    return str(created["token"])


class Person:
    """A person whose actions are drawn from the seed; acknowledgements are recorded in the journal."""

    def __init__(
        self,
        number: int,
        token: str,
        app: FastAPI,
        base: str,
        world: World,
        random: Random,
        report: Report,
        load: float,
    ) -> None:
        self.number, self.world, self.random, self.report, self.load = number, world, random, report, load
        self.me = Caller(app, base, token)
        self.others: list[str] = []
        """Interests of others known from the journal."""

    async def live(self) -> None:
        """Act until cancelled."""
        while True:
            await asyncio.sleep(self.random.expovariate(1 / MEAN_PAUSE))
            try:
                await self.act()
            except httpx.HTTPError as error:
                self.report(["broken", f"person {self.number}: {type(error).__name__}: {error}"])

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Send one request; report an unexpected response."""
        status, content = await self.me.call(method, path, body, **query)
        self.report(["api", status])
        if status not in PERMITTED:
            self.report(["broken", f"person {self.number}: {method} {path} {body}: {status} {content}"])
        return status, content

    async def act(self) -> None:
        """Do one random action."""
        status, interests = await self.call("GET", "/interests")
        if status != 200:
            return
        mine = [interest for interest in interests if interest["mode"] == "own"]
        if len(mine) < 2 and (not mine or self.random.random() < 0.2):
            await self.create_interest()
            return
        interest = self.random.choice(mine)
        crawl = interest["crawl"]
        if crawl is None:
            await self.call("POST", f"/interests/{interest['id']}/crawls", {})
            return
        await self.random.choice(
            (self.view, self.view, self.label_page, self.label_page, self.control, self.change, self.share, self.search,
             self.probe, self.delete)
        )(interest, crawl)  # fmt: skip

    async def create_interest(self) -> None:
        """Create an interest and start its crawl."""
        topic = self.random.choice(self.world.topics)
        settings = {
            "words": self.world.query(topic),
            "seeds": self.world.seeds(topic, 2),
            "budget": max(5, int(self.load * self.random.randrange(10, 60))),
        }
        revisit_every = self.random.choice(("", "12h", "1d", "1d", "2d"))
        name = f"{topic} {self.random.randrange(1000)}"
        status, created = await self.call(
            "POST", "/interests", {"name": name, "settings": settings, "revisit_every": revisit_every}
        )
        if status == 201:
            self.report(["interest", created["id"], self.number])
            await self.call("POST", f"/interests/{created['id']}/crawls", {})

    async def view(self, interest: Any, crawl: Any) -> None:
        """View pages, changes, and one page in the reader."""
        status, content = await self.call("GET", f"/crawls/{crawl['id']}/pages", limit=10)
        await self.call("GET", f"/interests/{interest['id']}/changes")
        if status == 200 and content["pages"]:
            url = self.random.choice(content["pages"])["url"]
            await self.call("GET", f"/crawls/{crawl['id']}/page", url=url)
            await self.call("GET", f"/crawls/{crawl['id']}/reader", url=url)

    async def label_page(self, interest: Any, crawl: Any) -> None:
        """Label a page. An acknowledged label must never be lost."""
        status, content = await self.call("GET", f"/crawls/{crawl['id']}/pages", limit=20, relevant=False)
        if status != 200 or not content["pages"]:
            return
        url = self.random.choice(content["pages"])["url"]
        label = self.random.choice(("yes", "no"))
        self.report(["labelling", interest["id"], url, label])
        status, _ = await self.call("PUT", f"/interests/{interest['id']}/feedback", {"url": url, "label": label})
        if status == 200:
            self.report(["labelled", interest["id"], url, label])

    async def control(self, interest: Any, crawl: Any) -> None:
        """Pause, resume, extend, refresh or restart the crawl."""
        action = self.random.choice(("pause", "resume", "resume", "stop", "refresh", "more", "again"))
        if action == "more":
            await self.call("POST", f"/crawls/{crawl['id']}/more", {"pages": self.random.randrange(1, 20)})
        elif action == "again":
            await self.call("POST", f"/interests/{interest['id']}/crawls", {})
        else:
            await self.call("POST", f"/crawls/{crawl['id']}/{action}")

    async def change(self, interest: Any, crawl: Any) -> None:
        """Change the threshold or the revisit interval."""
        if self.random.random() < 0.5:
            await self.call(
                "PATCH", f"/interests/{interest['id']}", {"threshold": round(self.random.uniform(0.2, 0.8), 2)}
            )
        else:
            await self.call(
                "PATCH", f"/interests/{interest['id']}", {"revisit_every": self.random.choice(("", "12h", "1d"))}
            )

    async def share(self, interest: Any, crawl: Any) -> None:
        """Share the interest, and export the person's own data."""
        other = f"Person {self.random.randrange(PEOPLE)}"
        await self.call("PUT", f"/interests/{interest['id']}/shares", {"name": other, "mode": "read"})

    async def search(self, interest: Any, crawl: Any) -> None:
        """Search for a word of the topic."""
        words = interest["settings"]["words"].split() or ["coral"]
        await self.call("GET", f"/crawls/{crawl['id']}/search", q=self.random.choice(words))

    async def probe(self, interest: Any, crawl: Any) -> None:
        """Try to access another person's data, which must be neither visible nor changeable."""
        for other in self.random.sample(self.others, min(3, len(self.others))):
            status, content = await self.me.call("DELETE", f"/interests/{other}")
            self.report(["api", status])
            if status not in (403, 404, 429, 503, 507):
                self.report(["broken", f"person {self.number} could delete {other}: {status} {content}"])

    async def delete(self, interest: Any, crawl: Any) -> None:
        """Occasionally delete an interest."""
        if self.random.random() < 0.2:
            self.report(["deleting", interest["id"]])
            await self.call("DELETE", f"/interests/{interest['id']}")
