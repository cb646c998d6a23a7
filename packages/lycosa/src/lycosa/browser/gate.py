"""The browser's only connection to the network: a proxy for each page that is being rendered.

Every request of the browser, including redirects and resources of frames, becomes a request of the crawl or is refused.
The page's own response is known already and served from memory. Only GET requests leave; requests that change data,
keep a connection open or open another page are refused.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from lycosa.browser.trackers import is_tracker
from lycosa.core.errors import FetchError
from lycosa.replay.certificates import Authority
from lycosa.replay.proxy import MAX_BODY_BYTES, Connection, Headers, LocalProxy, Request, new_password
from lycosa.web.browser_protocols import Fetch, RenderedPage
from lycosa.web.fetch import Response
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.urls import parse

NEEDED = frozenset("document iframe frame script style empty worker sharedworker xslt json".split())
# Resources needed for display only.
MEDIA = frozenset({"image", "font", "audio", "video", "track", "manifest", "embed", "object"})
_SHARED = frozenset({"script", "style", "font", "image", "worker"})
_ENDINGS = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico"),
    "font": (".woff", ".woff2", ".ttf", ".otf", ".eot"),
    "video": (".mp4", ".webm", ".m3u8", ".ts", ".mp3", ".ogg", ".m4a", ".wav"),
    "script": (".js", ".mjs"),
}
_NOT_PASSED_ON = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade content-length content-encoding "
    b"alt-svc strict-transport-security report-to nel reporting-endpoints".split()
)
_NOT_SENT = frozenset(
    "host connection keep-alive te trailer transfer-encoding upgrade content-length content-type user-agent "
    "accept-encoding dnt priority upgrade-insecure-requests if-none-match if-modified-since if-range cache-control "
    "pragma service-worker".split()
)


@dataclass(slots=True)
class Reply:
    status: int
    headers: Headers
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """Limits on the requests of a page."""

    resources: str = "needed"
    requests: int = 60
    bytes: int = 10_000_000
    trackers: bool = False

    def takes(self, kind: str) -> bool:
        return kind in NEEDED or (self.resources == "all" and kind in MEDIA)


class Cache:
    """LRU cache of resources shared by pages, keyed by URL and the origin of the requesting page."""

    def __init__(self, max_bytes: int = 64_000_000) -> None:  # bytes of scripts, styles and images
        self.max_bytes, self.size = max_bytes, 0
        self._replies: OrderedDict[tuple[str, str], Reply] = OrderedDict()
        self.locks: dict[tuple[str, str], asyncio.Lock] = {}

    def get(self, key: tuple[str, str]) -> Reply | None:
        reply = self._replies.get(key)
        if reply is not None:
            self._replies.move_to_end(key)
        return reply

    def put(self, key: tuple[str, str], reply: Reply, response: Response) -> None:
        """Store a response unless its headers forbid it or it is too large."""
        directives = response.fields.get("cache-control", "").lower()
        personal = "set-cookie" in response.fields or "cookie" in response.fields.get("vary", "").lower()
        is_forbidden = personal or any(word in directives for word in ("no-store", "private", "no-cache"))
        if response.status != 200 or is_forbidden or len(reply.body) > self.max_bytes // 8:
            return
        self._replies[key] = reply
        self.size += len(reply.body)
        while self.size > self.max_bytes:
            self.size -= len(self._replies.popitem(last=False)[1].body)


class PageSession:
    """State of one page while it is rendered: its response, its requests and the result."""

    def __init__(self, node: str, response: Response, fetch: Fetch, policy: RequestPolicy, cache: Cache) -> None:
        self.node, self.response, self.fetch, self.policy, self.cache = node, response, fetch, policy, cache
        self.url = node.partition("#")[0]
        self.rendered = RenderedPage()
        self.frames: dict[str, bool] = {}  # documents that the browser opens -> True if in a frame
        self.tasks: list[asyncio.Future[None]] = []  # background tasks, such as closing dialogs
        self.loop = asyncio.get_running_loop()
        self.active = 0
        self.last = self.loop.time()
        self._served = 0

    @property
    def quiet(self) -> float:
        """Seconds since the last request or response; 0 while a request is in flight."""
        return 0.0 if self.active else self.loop.time() - self.last

    async def reply(self, request: Request, url: str) -> Reply:
        self.active += 1
        try:
            return await self._reply(request, url)
        finally:
            self.active -= 1
            self.last = self.loop.time()

    async def _reply(self, request: Request, url: str) -> Reply:
        if request.method == "OPTIONS" and "access-control-request-method" in request.headers:
            return _permission(request)
        kind = kind_of(request, url)
        if kind == "document" and url == self.url and self._served < 3:
            self._served += 1
            return to_reply(self.response)
        if kind == "document" and not await self._is_frame(request, url):
            targets = self.rendered.navigations
            if url != self.url and url not in targets and len(targets) < 10:
                targets.append(url)
            return Reply(204, [])  # 204 keeps the browser on the page
        if not self._is_wanted(request, url, kind):
            self.rendered.skipped += 1
            return _refusal("left out")
        return await self._fetched(request, url, kind)

    def _is_wanted(self, request: Request, url: str, kind: str) -> bool:
        if request.method not in ("GET", "HEAD") or "upgrade" in request.headers or "service-worker" in request.headers:
            return False
        if "text/event-stream" in request.headers.get("accept", "") or "prefetch" in request.headers.get("purpose", ""):
            return False
        if "prefetch" in request.headers.get("sec-purpose", "") or not self.policy.takes(kind):
            return False
        return self.policy.trackers or not is_tracker(url)

    async def _is_frame(self, request: Request, url: str) -> bool:
        """Return True for a document in a frame; without fetch metadata, wait 0.4 s for the browser's event."""
        if "sec-fetch-dest" in request.headers:
            return False
        for _ in range(20):
            if url in self.frames:
                return self.frames[url]
            await asyncio.sleep(0.02)
        return False

    async def _fetched(self, request: Request, url: str, kind: str) -> Reply:
        key = (url, request.headers.get("origin", ""))
        if kind not in _SHARED or "range" in request.headers:
            return await self._fetch(request, url, kind, key)
        lock = self.cache.locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                return self.cache.get(key) or await self._fetch(request, url, kind, key)
        finally:
            if not lock.locked():
                self.cache.locks.pop(key, None)

    async def _fetch(self, request: Request, url: str, kind: str, key: tuple[str, str]) -> Reply:
        rendered, policy = self.rendered, self.policy
        if rendered.requests >= policy.requests or rendered.bytes >= policy.bytes:
            rendered.skipped += 1
            return _refusal("over budget")
        headers = {
            "-".join(map(str.capitalize, name.split("-"))): value
            for name, value in request.headers.items()
            if name not in _NOT_SENT and not name.startswith(("sec-", "proxy-"))
        }
        rendered.requests += 1
        try:
            response, resource = await self.fetch(url, headers, rendered)
        except FetchError as error:
            rendered.requests -= error.outcome in ("denied", "refused", "invalid", "busy", "unknown-host")
            rendered.skipped += 1
            return _refusal(error.outcome)
        rendered.bytes += len(response.body)
        if policy.resources != "none":
            rendered.resources.append(resource)
        reply = to_reply(response)
        if kind in _SHARED:
            self.cache.put(key, reply, response)
        return reply


class Slot(LocalProxy):
    """The proxy of one page at a time, protected by a password; refuses all requests while no page is open."""

    def __init__(self, authority: Authority) -> None:
        super().__init__(authority)
        self.password = new_password()  # on every system; cheaper than looking up the user of each connection
        self.session: PageSession | None = None

    def connection(self) -> Connection:
        """Return a connection handler; the tally counts requests as `answered` or, if refused, as `wrong`."""
        return _Gated(self)

    async def close_connections(self) -> None:
        self.session = None
        for connection in list(self.connections):
            await connection.end()

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        await self.close_connections()


class _Gated(Connection):
    proxy: Slot

    def _respond(self, request: Request) -> None:
        session, url = self.proxy.session, parse(request.url(self.tunnel)) or ""
        absolute = bool(self.tunnel) or request.target.startswith(("http://", "https://"))
        if session is None or not absolute or not url or not 0 <= request.body <= MAX_BODY_BYTES:
            self.proxy.tally["wrong"] += 1
            self._refuse(403)
            return
        self.to_skip = request.body
        self.working = asyncio.ensure_future(self._work(session, request, url.partition("#")[0]))

    async def _work(self, session: PageSession, request: Request, url: str) -> None:
        try:
            reply = await session.reply(request, url)
        finally:
            self.working = None
        self.proxy.tally["answered"] += 1
        self._send(request, reply.status, b"", reply.headers, reply.body)
        self._next()


def kind_of(request: Request, url: str) -> str:
    """Return the destination of a request: Sec-Fetch-Dest, or a guess for insecure hosts, which get no such header."""
    if destination := request.headers.get("sec-fetch-dest", ""):
        return destination
    accepts, path = request.headers.get("accept", ""), url.partition("?")[0].lower()
    if accepts.startswith("text/html"):
        return "document"
    for kind, start in (("style", "text/css"), ("image", "image/")):
        if accepts.startswith(start):
            return kind
    if "range" in request.headers:
        return "video"
    return next((kind for kind, endings in _ENDINGS.items() if path.endswith(endings)), "empty")


def to_reply(response: Response) -> Reply:
    """Return a response for the browser: decompressed, without hop-by-hop headers."""
    try:
        body, whole = inflate(response.body, response.fields.get("content-encoding", ""), 10_000_000)  # bytes
    except BadEncoding:
        return _refusal("unreadable")
    if not whole or (response.truncated and response.truncated != "length"):
        return _refusal("cut off")
    headers = [(name, value) for name, value in response.headers if name.lower() not in _NOT_PASSED_ON]
    return Reply(response.status, headers, b"" if response.status in (204, 304) else body)


def _permission(request: Request) -> Reply:
    """Reply to a CORS preflight; the host still decides on the actual request."""
    if request.headers["access-control-request-method"].upper() not in ("GET", "HEAD"):
        return _refusal("left out")
    allowed = [
        ("Access-Control-Allow-Origin", request.headers.get("origin", "*")),
        ("Access-Control-Allow-Methods", "GET, HEAD"),
        ("Access-Control-Allow-Headers", request.headers.get("access-control-request-headers", "*")),
        ("Access-Control-Allow-Credentials", "true"),
    ]
    return Reply(204, [(name.encode(), value.encode("latin-1")) for name, value in allowed])


def _refusal(why: str) -> Reply:
    return Reply(403, [(b"X-Lycosa", why.encode()), (b"Content-Type", b"text/plain")])
