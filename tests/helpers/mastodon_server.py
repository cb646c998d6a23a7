"""A server for Mastodon's API on loopback, with generated networks of accounts."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

TOPICS = {
    "jazz": "jazz saxophone trumpet improvisation bebop swing quartet trombone chord rhythm solo standards",
    "garden": "garden tomato compost seedling mulch pruning roses lawn weeds harvest greenhouse soil",
    "chess": "chess opening endgame gambit knight bishop checkmate tournament rating pawn queen rook",
    "cycling": "cycling bicycle pedal helmet gravel commute saddle brakes tyre chain touring climb",
    "astronomy": "telescope galaxy nebula comet eclipse orbit planet supernova observatory lens meteor moon",
    "baking": "bread sourdough flour oven yeast crust dough pastry butter loaf baker rye",
}
FILLER = (
    "today again morning friend people really thing week house street coffee photo reading letter train window story "
    "evening question answer minute number place water winter summer paper shop city country family talk walk work"
).split()
QUERY = "jazz saxophone trumpet improvisation"


@dataclass
class Account:
    """Account; `more` extends its JSON, `refuses` is the status code of responses about it."""

    id: str
    acct: str
    topic: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    refuses: int = 0


@dataclass(frozen=True)
class Request:
    """Path, time (monotonic) and credentials of a request."""

    path: str
    started: float
    ended: float
    authorization: str
    status: int


class Network:
    """Network of accounts by id."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self._written = 1000

    def join(self, name: str, topic: str = "", refuses: int = 0, **more: Any) -> Account:
        """Create an account."""
        account = Account(str(len(self.accounts) + 1), name, topic, more, refuses=refuses)
        self.accounts[account.id] = account
        return account

    def write(self, author: Account, content: str, *mentions: Account, **more: Any) -> dict[str, Any]:
        """Create a status; the newest is first."""
        self._written += 1
        status = {
            "id": str(self._written),
            "visibility": "public",
            "language": "en",
            "spoiler_text": "",
            "content": f"<p>{content}</p>",
            "mentions": [
                {"id": each.id, "username": each.acct.partition("@")[0], "acct": each.acct, "url": f"https://x/@{each.acct}"}
                for each in mentions
            ],
            "reblog": None,
            "in_reply_to_id": None,
            **more,
        }  # fmt: skip
        author.statuses.insert(0, {**status, "account": author.id})
        return status

    def describe(self, account: Account) -> dict[str, Any]:
        """Return an account as JSON of the API."""
        return {
            "id": account.id,
            "username": account.acct.partition("@")[0],
            "acct": account.acct,
            "display_name": account.acct.partition("@")[0].title(),
            "url": f"https://social.example/@{account.acct}",
            "note": "<p>hello</p>",
            "bot": False,
            "discoverable": True,
            "indexable": True,
            "noindex": False,
            "moved": None,
            **account.more,
        }

    def whole(self, status: dict[str, Any]) -> dict[str, Any]:
        """Return a status as JSON of the API, including its author and the status it boosts."""
        told = {**status, "account": self.describe(self.accounts[status["account"]])}
        if isinstance(status.get("reblog"), dict):
            told["reblog"] = self.whole(status["reblog"])
        return told


def generated(seed: int, people: int = 300, statuses: int = 12) -> Network:
    """Return accounts that write mostly about one of six subjects and mostly mention others of the same subject."""
    chance, network = random.Random(seed), Network()
    names = list(TOPICS)
    for number in range(people):
        network.join(f"{names[number % len(names)]}{number}", names[number % len(names)])
    crowd = list(network.accounts.values())
    for author in crowd:
        alike = [each for each in crowd if each.topic == author.topic and each is not author]
        for _ in range(statuses):
            topic = author.topic if chance.random() < 0.6 else chance.choice(names)
            mentioned = []
            if chance.random() < 0.4:
                mentioned = [chance.choice(alike if chance.random() < 0.5 else crowd)]
                if chance.random() < 0.5:
                    topic = mentioned[0].topic
            words = chance.choices(TOPICS[topic].split(), k=2) + chance.choices(FILLER, k=8)
            chance.shuffle(words)
            network.write(author, " ".join(words + [f"@{each.acct}" for each in mentioned]), *mentioned)
    return network


class MastodonServer:
    """Server for a network. `answers` overrides the response of a path; `left` counts requests until the limit."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.requests: list[Request] = []
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}
        self.robots = "User-agent: *\nDisallow: /media_proxy/\n"
        self.token = ""
        """Access token that requests must have, if set."""
        self.left = -1
        self.window = 300.0
        self.port = 0
        self._resets = 0.0
        self._budget = -1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def limit(self, requests: int, window: float) -> None:
        """Limit requests per window of seconds; further ones get status 429."""
        self._budget = self.left = requests
        self.window = window

    def asked(self, part: str = "/api/") -> list[str]:
        """Return the requested paths in order."""
        return [request.path for request in self.requests if part in request.path]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        started = time.monotonic()
        response = self._answer(request)
        authorization = request.headers.get("Authorization", "")
        self.requests.append(Request(request.path_qs, started, time.monotonic(), authorization, response.status))
        return response

    def _answer(self, request: web.Request) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(text=self.robots)
        limits: dict[str, str] = {}
        if self._budget >= 0:
            now = time.time()
            if self.left <= 0 and now >= self._resets:
                self.left = self._budget
            self.left -= 1
            if self.left >= 0:
                self._resets = now + self.window
            limits = {
                "X-RateLimit-Limit": str(self._budget),
                "X-RateLimit-Remaining": str(max(0, self.left)),
                "X-RateLimit-Reset": datetime.fromtimestamp(self._resets, UTC).isoformat().replace("+00:00", "Z"),
            }
            if self.left < 0:
                return web.json_response({"error": "Too many requests"}, status=429, headers=limits)
        if request.path in self.answers:
            status, body, headers = self.answers[request.path]
            return web.Response(status=status, body=body, headers={"Content-Type": "application/json", **headers})
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"error": "This method requires an authenticated user"}, status=401)
        response = self._api(request)
        response.headers.update(limits)
        return response

    def _api(self, request: web.Request) -> web.Response:
        network, path = self.network, request.path
        if path == "/api/v1/accounts/lookup":
            acct = request.query.get("acct", "")
            for account in network.accounts.values():
                if account.acct == acct:
                    return web.json_response(network.describe(account))
            return web.json_response({"error": "Record not found"}, status=404)
        if path.startswith("/api/v1/accounts/") and path.endswith("/statuses"):
            found = network.accounts.get(path.split("/")[4])
            if found is None or found.refuses:
                status = found.refuses if found else 404
                return web.json_response({"error": "Record not found" if status != 410 else "Gone"}, status=status)
            hidden = [
                name for name, there in (("exclude_reblogs", "reblog"), ("exclude_replies", "in_reply_to_id"))
                if request.query.get(name) == "true" for name in (there,)
            ]  # fmt: skip
            return self._page(request, [each for each in found.statuses if not any(each.get(name) for name in hidden)])
        if path.startswith("/api/v1/timelines/tag/"):
            return self._page(request, self._with(f"#{path.split('/')[5]}"))
        if path == "/api/v2/search":
            words = request.query.get("q", "")
            people = [network.describe(each) for each in network.accounts.values() if words in each.acct]
            told = [network.whole(status) for status in self._with(words)[:40]]
            return web.json_response({"accounts": people[:40], "statuses": told, "hashtags": []})
        return web.json_response({"error": "Not found"}, status=404)

    def _with(self, words: str) -> list[dict[str, Any]]:
        found = [each for one in self.network.accounts.values() for each in one.statuses if words in each["content"]]
        return sorted(found, key=lambda status: -int(status["id"]))

    def _page(self, request: web.Request, statuses: list[dict[str, Any]]) -> web.Response:
        before = int(request.query.get("max_id", 1 << 60))
        limit = min(40, int(request.query.get("limit", 20)))
        shown = [status for status in statuses if int(status["id"]) < before][:limit]
        headers = {}
        if shown:
            older = f"{self.url}{request.path}?max_id={shown[-1]['id']}"
            headers["Link"] = f'<{older}>; rel="next", <{self.url}{request.path}?min_id={shown[0]["id"]}>; rel="prev"'
        return web.json_response([self.network.whole(status) for status in shown], headers=headers)


@contextmanager
def serving(network: Network) -> Iterator[MastodonServer]:
    """Run a server in a thread until the block ends."""
    server, ready, loop = MastodonServer(network), threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()

    async def main() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", server.handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.port = runner.addresses[0][1]
        ready.set()
        await ended.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
