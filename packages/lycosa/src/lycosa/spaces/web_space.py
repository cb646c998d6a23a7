"""The web as a space: robots.txt first, politeness, one request per visit, and pages with links.

The host key is a host with its port. Before the first page of an origin its robots.txt is fetched as a prerequisite: a
recorded visit, so that a resumed crawl knows the rules without another request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lycosa.core.engine import MAX_SOURCES
from lycosa.core.errors import FetchError
from lycosa.core.files import CrashMarker
from lycosa.core.options import Options
from lycosa.core.protocols import Clock, Space
from lycosa.core.state import State, StateMismatch, TextLines
from lycosa.core.types import UNSENT, Exchange, Links, Outcome, Page, Task, Visit
from lycosa.drawing.formats import printable
from lycosa.spaces.stage import BUSY, REDIRECTS, Resources, Stage, as_visit
from lycosa.web.browser_protocols import Renderer
from lycosa.web.credentials import Credentials
from lycosa.web.dates import parse_retry_after
from lycosa.web.documents import kinds
from lycosa.web.fetch import Response, Transport
from lycosa.web.guard import DnsCache
from lycosa.web.html import HTML, ParsedPage, detect_language_code, read_body
from lycosa.web.inflate import BadEncoding, inflate, source_of
from lycosa.web.optouts import MAX_FILE_BYTES as MOST_OF_POLICY
from lycosa.web.optouts import Policies, RobotsSignals, parse_x_robots_tag
from lycosa.web.parse_process import JOBS, LARGE_BODY, Unreadable, WorkerPool, read_in_worker
from lycosa.web.politeness import Politeness
from lycosa.web.robots import MAX_BYTES, RobotsRules, product, verdict
from lycosa.web.signing import Signer
from lycosa.web.sources import MAX_SOURCE_BYTES
from lycosa.web.sources.source import Source
from lycosa.web.urls import Scope, canonical, check_seed, is_http, origin, parse, resolve, resolve_routes
from lycosa.web.urls import host_key as url_host_key
from lycosa.web.walls import MAX_WALL_TEXT, SCANNED_BYTES, Wall, detect_wall

TEXT = frozenset({"text/plain"})
ROBOTS_KEEP = 24 * 3600.0
ROBOTS_HOPS = 5

MAX_SITEMAPS = 20  # sitemaps read per robots.txt
BACKOFF = (5.0, 30.0, 180.0)  # seconds before the second, third, fourth attempt at a node
GIVE_UP = 10  # consecutive failures of a host before it is paused for hours
GIVEN_UP = (3600.0, 6 * 3600.0, 24 * 3600.0)  # seconds of pause after repeated failures of a host
# Outcomes that are failures of the host, not of the page.
FAILURES = frozenset({"broken", "busy", "unreachable", "timeout", "slow", "challenge", "limited"})
# The same for robots.txt; the last step is repeated. No page of the host is fetched until robots.txt can be read.
ROBOTS_BACKOFF = (5.0, 30.0, 3600.0, 6 * 3600.0, ROBOTS_KEEP)
POISON = "the crawl crashed twice while parsing or judging this page: archived, but skipped"


class _TooLarge(Exception):
    pass


@dataclass(slots=True)
class _Robots:
    rules: RobotsRules | None = None
    until: float = 0.0  # with rules: their expiry; without: time of the next attempt
    attempts: int = 0
    next_hop: str = ""
    hops: int = 0
    signals: RobotsSignals | None = None  # declared permissions for the use of pages


class WebSpace(Space):
    has_addresses = has_traps = has_versions = True
    mark: CrashMarker

    def __init__(
        self,
        transport: Transport,
        politeness: Politeness,
        clock: Clock,
        names: DnsCache | None = None,
        *,
        user_agent: str = "Lycosa",
        accept: Iterable[str] = (),
        languages: Iterable[str] = (),
        inflated: int = 10_000_000,
        largest: int = 0,
        attempts: int = 3,
        follow_nofollow: bool = False,
        probe_after: int = 0,
        sitemaps: bool = False,
        whole_text: bool = False,
        readers: int = 0,
        documents: str = kinds.NONE,
        signer: Signer | None = None,
        respect: str = "",
        credentials: Credentials | None = None,
    ) -> None:
        self.walls = True  # detect bot challenges, log-in pages and the like, served instead of pages
        self.signer = signer  # signs requests
        self.transport = transport
        self.meter = getattr(transport, "meter", None)
        self.politeness = politeness
        self.clock = clock
        self.names = names
        self.mark = CrashMarker()
        self.agent = product(user_agent)
        self.policies = Policies(respect, self.agent)  # publishers' rules for the use of their pages
        self.documents = kinds.parse_kinds(documents)  # kinds of documents that are fetched and parsed
        self.wanted = HTML | TEXT | kinds.types_of(self.documents) | frozenset(accept)
        self.languages = frozenset(code.lower().split("-")[0] for code in languages)
        self.inflated = inflated
        self.largest = largest  # maximum bytes of a recorded page; 0: no limit
        self.attempts = attempts
        self.follow_nofollow = follow_nofollow
        self.whole_text = whole_text  # treat the whole text of pages as their main part
        self.probe_after = probe_after  # pages of an origin before it is probed with a URL that cannot exist; 0: never
        document_types = [f"{name};q=0.7" for name, kind in kinds.REGISTERED.items() if kind in self.documents]
        self.headers = {
            "User-Agent": user_agent,
            "Accept": ",".join(["text/html,application/xhtml+xml", *document_types, "text/plain;q=0.8,*/*;q=0.1"]),
            "Accept-Encoding": "gzip, deflate, br, zstd",
        }
        if self.languages:
            self.headers["Accept-Language"] = ", ".join(sorted(self.languages))
        self._request_tail = "".join(f"{key}: {value}\r\n" for key, value in self.headers.items()) + "\r\n"
        self.credentials = credentials or Credentials()
        self.renderer: Renderer | None = None
        self.resources = Resources(self)
        self.stage = Stage(clock, self.resources.fetch, self._read, inflated)
        self.ahead: dict[str, RobotsRules] = {}  # rules by origin, read for a page that is not recorded yet
        self._robots: dict[str, _Robots] = {}
        self._fetching_robots: set[str] = set()
        self.sitemaps = sitemaps  # read the sitemaps named in robots.txt
        self._pages: Counter[str] = Counter()
        self._probed: set[str] = set()
        self._probing: set[str] = set()  # origins with a probe in flight or not yet recorded
        self._failures: Counter[str] = Counter()  # failures per host since its last success
        self.pool = WorkerPool(readers) if readers else None  # processes that parse pages; None: this one
        self._turns: dict[int, asyncio.Future[None]] = {}  # responses being parsed, in order of arrival
        self._ruled: list[str] = []  # origins in the order in which their robots.txt arrived
        self._held: dict[str, tuple[float, str]] = {}  # paused hosts: until when, and why
        self._delays: dict[str, float] = {}  # delays requested by hosts

    @property
    def notes(self) -> list[str]:
        return [] if self.renderer is None else self.renderer.notes

    def scope(self, options: Options) -> Scope:
        return Scope.of(options)

    def node(self, text: str) -> str | None:
        """Return the canonical form of a URL as typed; with its fragment route if a browser can use it."""
        node = check_seed(text)
        if node is not None and self.renderer is not None and ("#/" in text or "#!" in text):
            return resolve_routes(node, [text.strip()[text.strip().index("#") :]])[0]
        return node

    def host_key(self, node: str) -> str:
        """Return the host with its port; empty for nodes that are not on the web (a file of URLs)."""
        return url_host_key(node) if is_http(node) else ""

    @property
    def at_once(self) -> int:  # type: ignore[override]
        """Concurrent requests per host; one if there is a delay between requests."""
        return 1 if self.politeness.delay else self.politeness.at_once

    def ready(self, host_key: str) -> tuple[float, str]:
        if host_key in self._fetching_robots:
            return float("inf"), "robots.txt"
        address = self.names.first_cached(_name(host_key)) if self.names is not None else ""
        return self.politeness.ready(host_key, address)

    def expect(self, host_keys: Iterable[str]) -> None:
        if self.names is not None:
            for host_key in host_keys:
                self.names.prefetch(_name(host_key))

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        """Return the task to do before a node (robots.txt, then a probe for soft 404s), a refusal, or None."""
        base = origin(node)
        known = self._robots.get(base)
        if rules := self.rules(base):
            if rules.allowed(node.partition("#")[0]):
                return self.policies.prerequisite(node, rules, self._signals(base)) or self._probe(node, base, rules)
            return "denied", f"{base}/robots.txt does not allow it"
        if known is not None and known.next_hop:
            return Task(known.next_hop, "robots", origin=node, hops=known.hops, attempt=known.attempts + 1)
        return Task(base + "/robots.txt", "robots", origin=node, attempt=known.attempts + 1 if known else 1)

    def _signals(self, base: str) -> RobotsSignals | None:
        known = self._robots.get(base)
        return None if known is None else known.signals

    def rules(self, base: str) -> RobotsRules | None:
        known = self._robots.get(base)
        if known is not None and known.rules is not None and self.clock() < known.until:
            return known.rules
        return self.ahead.get(base)

    def closed(self, base: str) -> str:
        known = self._robots.get(base)
        shut = known is not None and known.rules is None and not known.next_hop and self.clock() < known.until
        return f"{base}/robots.txt can't be read" if shut else ""

    def hold(self, now: float) -> float:
        return self.stage.hold()

    def is_fetching_robots(self, host_key: str) -> bool:
        return host_key in self._fetching_robots

    def release(self, host_key: str) -> None:
        """Unlock a host after its robots.txt was fetched for a page, even without success."""
        self._fetching_robots.discard(host_key)

    def _probe(self, node: str, base: str, rules: RobotsRules) -> Task | None:
        """Return a task for a URL in the same folder that cannot exist, once per origin, to detect soft 404s."""
        if not self.probe_after or self._pages[base] < self.probe_after:
            return None
        if base in self._probed or base in self._probing:
            return None
        folder, _, name = node.partition("#")[0].partition("?")[0].rpartition("/")
        _, dot, ending = name.rpartition(".")
        token = hashlib.sha256(base.encode()).hexdigest()[:12]
        url = f"{folder if len(folder) > len(base) else base}/no-such-page-{token}{dot}{ending if dot else ''}"
        return Task(url, "probe", origin=node) if rules.allowed(url) else None

    def visit(self, task: Task) -> Awaitable[Page]:
        """Send one request. Bookkeeping happens before the first await, so that the host is busy at once."""
        host_key = self.host_key(task.node)
        if task.kind == "robots" and (shared := self.politeness.shared_robots(task.node)) is not None:
            self._fetching_robots.add(self.host_key(task.origin))
            return self._shared_robots_page(*shared)
        address = self.names.first_cached(_name(host_key)) if self.names is not None else ""
        self.politeness.begin(host_key, task.node, address)
        if self.signer is not None:
            task = replace(task, conditions=(*task.conditions, *self.signer.headers(task.node, self.clock())))
        if task.kind in ("robots", "policy"):
            self._fetching_robots.add(self.host_key(task.origin))
        elif task.kind == "probe":
            self._probing.add(origin(task.node))
        return self._visit(task)

    async def _visit(self, task: Task) -> Page:
        host_key, started, ended = self.host_key(task.node), self.clock(), 0.0
        of_any_type = task.kind in ("robots", "sitemap", "search", "policy", "asset")
        wanted = frozenset[str]() if of_any_type else self.wanted
        if wanted and kinds.kind_by_extension(task.node) in self.documents:  # servers declare such files inconsistently
            wanted = wanted | kinds.GENERIC_TYPES
        try:
            await self.politeness.wait_for_address(await self.transport.address(task.node), task.node)
            started = self.clock()
            url = task.node.partition("#")[0]  # the fragment is used by the browser only
            fields = {**self.headers, **dict(task.conditions), **self.credentials.fields(url)}
            response = await self.transport.fetch(url, fields, wanted)
            ended = self.clock()  # parsing time is not counted as the host's
            page = await (self._page(task, response) if self.pool is None else self._in_turn(task, response))
        except FetchError as error:
            page = Page(error.outcome, address=error.address, note=str(error))
            if error.again:
                self._pause_host(task, page, 0.0)
        except asyncio.CancelledError:  # the next run has to fetch it again
            self._fetching_robots.discard(self.host_key(task.origin))
            if task.kind == "probe":
                self._probing.discard(origin(task.node))
            raise
        finally:
            ended = ended or self.clock()
            self.politeness.end(host_key, ended - started, task.node)
        page.started, page.ended = started, ended
        if self.renderer is not None and task.kind in ("page", "revisit") and not self.mark.is_suspect(task.node):
            await self.stage.render(task, page, self.renderer)
        if page.outcome in FAILURES and task.kind != "robots":  # robots.txt has its own backoff
            self._give_up(host_key, page)
        page.title, page.note = printable(page.title), printable(page.note)
        if task.kind == "robots":
            with self.mark.on(task.node):
                self._finish_robots(task, page)
        return page

    async def _shared_robots_page(self, body: bytes, at: float) -> Page:
        """Return a page with the robots.txt that another crawl has fetched; it is recorded like our own."""
        page = Page("ok", started=at, ended=at, size=len(body), note="known from another crawl")
        self._rule(page, body)
        return page

    async def _in_turn(self, task: Task, response: Response) -> Page:
        """Parse a response in a worker process; return pages in the order in which their responses arrived."""
        turns, key = self._turns, id(task)
        turn = turns[key] = asyncio.get_running_loop().create_future()
        try:
            page = await self._page(task, response)
            if key in turns and next(iter(turns)) != key:
                await turn
        finally:
            self._step_aside(task)
        return page

    def _step_aside(self, task: Task) -> None:
        """Let later responses pass this one."""
        self._turns.pop(id(task), None)
        first = next(iter(self._turns.values()), None)
        if first is not None and not first.done():
            first.set_result(None)

    async def _page(self, task: Task, response: Response) -> Page:
        fields = response.fields
        page = Page(
            "ok",
            status=response.status,
            address=response.address,
            size=len(response.body),
            etag=_validator(fields.get("etag", "")),
            modified=_validator(fields.get("last-modified", "")),
            exchange=self._exchange(task, response),
        )
        if response.truncated:
            page.flags.append(f"truncated:{response.truncated}")
        if not 200 <= response.status < 300:
            self._without_content(task, response, page)
        elif task.follows and response.truncated in ("disconnect", "time"):  # incomplete, so not a new version
            page.outcome = "timeout" if response.truncated == "time" else "unreachable"
            page.note = "the response was cut off"
            self._pause_host(task, page, 0.0)
        elif response.truncated == "unwanted":
            page.outcome, page.exchange = "unwanted", None
            page.note = fields.get("content-type", "")[:100]
        elif task.kind in ("page", "probe", "example", "revisit"):
            await self._read(task, response, page)
        elif task.kind == "sitemap":
            await self._read_source(task, response, page)
        elif task.kind == "policy":
            with suppress(BadEncoding):
                page.data["body"], _ = inflate(response.body, fields.get("content-encoding", ""), MOST_OF_POLICY)
        return page

    def _without_content(self, task: Task, response: Response, page: Page) -> None:
        if response.status == 304:
            conditional = any(name.startswith("If-") for name, _ in task.conditions)
            page.outcome = "unchanged" if conditional else "invalid"
            page.note = "" if conditional else "status 304 for a request without a condition"
        elif response.status in REDIRECTS:
            self._redirect(task, response, page)
        elif task.kind in ("page", "revisit") and (wall := self._wall_of_failure(task, response)) is not None:
            self._stop_at(wall, task, response, page)
        elif response.status in BUSY:
            page.outcome = "busy"
            self._pause_host(task, page, parse_retry_after(response.fields.get("retry-after", ""), self.clock()))
        else:
            page.outcome = "gone" if 300 <= response.status < 500 else "broken"

    def _wall_of_failure(self, task: Task, response: Response) -> Wall | None:
        """Return the wall in an unsuccessful response, if any: most challenges use status 403 or 503."""
        if not self.walls or response.status not in {401, 402, 403, 405, 428, 429, 503}:  # statuses of walls
            return None
        document, body = ParsedPage(), b""
        with suppress(BadEncoding):
            body, _ = inflate(response.body, response.fields.get("content-encoding", ""), SCANNED_BYTES)
        with self.mark.on(task.node):
            if len(body) < SCANNED_BYTES and not self.mark.is_suspect(task.node):
                document = read_body(body, task.node, response.fields.get("content-type", ""), self.agent)
        return detect_wall(task.node, response.status, response.fields, body, document)

    def _is_walled(self, task: Task, response: Response, page: Page, document: ParsedPage) -> bool:
        """Return True if a page is a wall, and set its outcome; short pages are checked more closely."""
        if not self.walls or task.kind not in ("page", "revisit"):
            return False
        body = b""
        if len(document.marked) <= 2 * MAX_WALL_TEXT:
            with suppress(BadEncoding):  # reported when the page is read
                body, _ = inflate(response.body, response.fields.get("content-encoding", ""), SCANNED_BYTES)
        wall = detect_wall(task.node, response.status, response.fields, body, document)
        if wall is not None:
            page.title = document.title
            self._stop_at(wall, task, response, page)
        return wall is not None

    def _stop_at(self, wall: Wall, task: Task, response: Response, page: Page) -> None:
        """Record a wall instead of the page: the body is dropped, and the host is paused."""
        page.outcome, page.exchange, page.links = wall, None, Links()
        self._pause_host(task, page, parse_retry_after(response.fields.get("retry-after", ""), self.clock()))
        if wall in ("login", "consent"):
            page.retry_at = 0.0  # permanent, so retries are pointless

    def _pause_host(self, task: Task, page: Page, delay: float) -> None:
        """Pause a host that cannot respond now; the node is retried unless its attempts are used up."""
        until = self.clock() + max(delay, _step(BACKOFF, task.attempt))
        page.data["rest"] = until
        if task.attempt < self.attempts:
            page.retry_at = until

    def _give_up(self, host_key: str, page: Page) -> None:
        beyond = self._failures[host_key] + 1 - GIVE_UP
        if beyond >= 0:
            until = self.clock() + _step(GIVEN_UP, beyond + 1)
            page.data["rest"] = max(page.data.get("rest", 0.0), until)

    def _redirect(self, task: Task, response: Response, page: Page) -> None:
        location = _latin(response.fields.get("location", ""))
        target = resolve(task.node, [location])[0]
        if task.kind == "asset" and target is not None:  # pages refer to assets by unnormalised URLs
            target = (parse(location, task.node) or target).partition("#")[0]
        if target is None or not location:
            page.outcome, page.note = "invalid", "redirect without a valid target"
        else:
            page.kind, page.outcome, page.links = "redirect", "redirect", Links.to(target)

    async def _read(self, task: Task, response: Response, page: Page) -> None:
        """Inflate and parse the body, and follow its robots directives."""
        fields = response.fields
        document = await self._open(task, response, page, "page", self.inflated, self.agent)
        if document is None or self._is_walled(task, response, page, document):
            return
        page.flags += document.flags
        page.note = _remark(document)
        directives = document.directives | parse_x_robots_tag(fields.get("x-robots-tag", ""), self.agent)
        if not self.policies.record_opt_outs(task.node, fields, directives, self._signals(origin(task.node)), page):
            self._fill(task, response, page, document, directives)

    def _fill(
        self, task: Task, response: Response, page: Page, document: ParsedPage, directives: frozenset[str]
    ) -> None:
        fields = response.fields
        (document.without_main_part() if self.whole_text else document).fill(page)
        if page.exchange is not None:
            page.source = partial(source_of, page.exchange, self.inflated)
        page.language = document.language or fields.get("content-language", "").lower()[:20]
        page.guessed = not page.language
        page.language = page.language or detect_language_code(page.text[:1000])
        declared = {code.strip().split("-")[0] for code in page.language.split(",")}
        if self.languages and page.language and not declared & self.languages:
            page.flags.append("language")
        for directive in ("noindex", "noarchive"):
            if directive in directives:
                page.flags.append(directive)
        if document.canonical and document.canonical != task.node:
            page.data["canonical"] = document.canonical
        if not self.follow_nofollow:
            if "nofollow" in directives:
                page.flags.append("nofollow")
                page.links = Links()
            elif any("nofollow" in rel.split() for rel in page.links.rels if rel):
                page.flags.append("nofollow-links")
                page.links = page.links.select(
                    [at for at, rel in enumerate(page.links.rels) if "nofollow" not in rel.split()]
                )

    async def _open(self, task: Task, response: Response, page: Page, job: str, max_bytes: int, *more: str) -> Any:
        """Inflate and parse a body here or in a worker; if that fails, set the page's outcome and return None."""
        if self.mark.is_poison(task.node):
            page.outcome, page.note = "unreadable", POISON
            return None
        suspect = self.mark.is_suspect(task.node)
        try:
            read = await self._pooled(task, response, max_bytes, *more) if job == "page" and not suspect else None
            result, whole = read or await self._unpooled(task, response, job, max_bytes, *more)
        except _TooLarge:
            page.outcome, page.exchange, page.note = "unwanted", None, f"more than {self.largest:,} bytes"
            return None
        except (BadEncoding, Unreadable) as error:
            page.outcome = "invalid" if isinstance(error, BadEncoding) else "unreadable"
            page.note = str(error)
            return None
        if job == "page" and result.error:
            page.outcome, page.note = "unreadable", result.error
            return None
        if suspect:
            page.data["apart"] = True
        if not whole and job == "page" and "truncated" not in " ".join(page.flags):
            page.flags.append("truncated:inflated")
        return result

    async def _pooled(self, task: Task, response: Response, max_bytes: int, *more: str) -> tuple[Any, bool] | None:
        """Parse in a process of the pool; return None without a pool, or for large bodies."""
        if self.pool is None or len(response.body) > LARGE_BODY:
            return None
        encoding, kind = (response.fields.get(name, "") for name in ("content-encoding", "content-type"))
        try:
            given = (response.body, encoding, max_bytes, LARGE_BODY, task.node, kind, *more)
            parsed = await self.pool.run_in_thread(partial(self.pool.run, "response", *given, retry=True))
        except OSError:  # no process available
            return None
        if parsed.error:
            raise BadEncoding(parsed.error)
        self._check_size(parsed.size, parsed.whole and not response.truncated)
        return None if parsed.document is None else (parsed.document, parsed.whole)

    async def _unpooled(self, task: Task, response: Response, job: str, max_bytes: int, *more: str) -> tuple[Any, bool]:
        fields, suspect = response.fields, self.mark.is_suspect(task.node)
        with self.mark.on(task.node):
            body, whole = inflate(response.body, fields.get("content-encoding", ""), max_bytes)
            if job == "page":
                self._check_size(len(body), whole and not response.truncated)
            kind = fields.get("content-type", "")
            given = (body, task.node, kind, *more)
            apart = suspect or (job == "page" and bool(kinds.kind_of(body, task.node, kind)))
            if not apart and len(body) <= LARGE_BODY:
                return JOBS[job].read(*given), whole
        self._step_aside(task)
        return await read_in_worker(job, *given, in_worker=apart), whole

    def _check_size(self, size: int, whole: bool) -> None:
        if 0 < self.largest < size or (0 < self.largest and not whole):
            raise _TooLarge

    async def _read_source(self, task: Task, response: Response, page: Page) -> None:
        """Parse a sitemap, a feed or a list of URLs; anything else is parsed as a page."""
        kind = response.fields.get("content-type", "")
        source = await self._open(task, response, page, "source", MAX_SOURCE_BYTES + 1)
        if page.outcome != "ok":
            return
        if source is not None:
            page.kind = "sitemap"
            _fill(page, source)
        elif kind.partition(";")[0].strip().lower() in self.wanted | {""}:
            await self._read(task, response, page)
        else:
            page.outcome, page.note = "unwanted", kind[:100]

    def _exchange(self, task: Task, response: Response) -> Exchange:
        path = task.node[len(origin(task.node)) :].partition("#")[0] or "/"
        conditions = "".join(f"{k}: {v}\r\n" for k, v in task.conditions)
        headers = response.headers
        if self.credentials.fields(task.node):  # cookies set for a logged-in user are as secret as the ones sent
            headers = [field for field in headers if field[0].lower() != b"set-cookie"]
        request = f"GET {path} HTTP/1.1\r\nHost: {self.host_key(task.node)}\r\n{conditions}{self._request_tail}"
        sent, digest = request.encode("utf-8", "replace"), hashlib.sha256(response.body).digest()
        return Exchange(sent, response.status_line, headers, response.body, digest, response.truncated)

    def _finish_robots(self, task: Task, page: Page) -> None:
        """Record the meaning of a robots.txt response in the page, where `learn` reads it."""
        hops = task.hops
        if page.kind == "redirect" and hops < ROBOTS_HOPS:
            page.data = {"next": page.links.urls[0], "hops": hops + 1}
            return
        status = page.status or None
        if page.status in REDIRECTS:
            status = 404  # a broken or endless redirect: treated as missing
        body = b""
        if self.mark.is_poison(task.node):
            status = None
        if verdict(status) == "parse" and page.exchange is not None:
            try:
                body, _ = inflate(page.exchange.body, page.exchange.header("content-encoding"), MAX_BYTES + 1)
            except BadEncoding:
                status = None
            if page.exchange.truncated in ("disconnect", "time"):
                status = None  # the missing part may contain a disallow rule
        if page.outcome == "refused" and not hops:
            status = 404  # the address guard will refuse every page of this host anyway
        decision = verdict(status)
        if decision == "forbid":
            page.note = page.note or f"can't be read ({page.status or page.outcome}): the host is paused until it can"
            attempt = max(task.attempt, 3) if page.outcome == "unknown-host" else task.attempt
            page.retry_at = max(page.data.get("rest", 0.0), self.clock() + _step(ROBOTS_BACKOFF, attempt))
        else:
            self._rule(page, body)
            if not hops and task.node == f"{origin(task.origin)}/robots.txt":
                self.politeness.share_robots(task.node, body, page.ended)

    def _rule(self, page: Page, body: bytes) -> None:
        page.data = {"body": body}
        if self.sitemaps:
            named = (canonical(url) for url in RobotsRules.parse(body, self.agent).sitemaps[:MAX_SITEMAPS])
            page.data["sources"] = [url for url in named if url is not None]

    def learn(self, visit: Visit) -> None:
        """Update the state with a visit, live or replayed: robots rules, Retry-After and failures."""
        if visit.kind == "robots":
            self._learn_robots(visit)
            return
        self._learn_rendered(visit)
        if visit.kind == "policy":
            self.policies.learn(visit)
            self._fetching_robots.discard(self.host_key(visit.origin))
        elif visit.kind == "probe":
            self._probed.add(origin(visit.node))
            self._probing.discard(origin(visit.node))
        elif visit.is_page:
            self._pages[origin(visit.node)] += 1
            self.stage.arrived += 1
        host_key = self.host_key(visit.node)
        if visit.outcome in FAILURES:
            self._failures[host_key] += 1
        elif host_key in self._failures and visit.outcome not in UNSENT:
            del self._failures[host_key]
        if "rest" in visit.data:
            why: str = "asked to come back later" if visit.outcome == "busy" else visit.outcome
            if self._failures[host_key] >= GIVE_UP:
                why = f"{self._failures[host_key]} failures in a row, the last: {visit.outcome}"
            self._hold(host_key, visit.data["rest"], why)

    def _learn_rendered(self, visit: Visit) -> None:
        for rule in visit.data.get("robots", ()):
            self._learn_robots(as_visit(rule))
            self.ahead.pop(origin(rule["origin"]), None)
        for host_key, until in visit.data.get("rests", {}).items():
            self._hold(host_key, until, "asked to come back later")
        if self.renderer is not None:
            self.renderer.learn(visit)

    def _hold(self, host_key: str, until: float, why: str) -> None:
        self.politeness.hold(host_key, until, why)
        if until > self._held.get(host_key, (0.0, ""))[0]:
            self._held[host_key] = until, why

    def _learn_robots(self, visit: Visit) -> None:
        base, host_key = origin(visit.origin), self.host_key(visit.origin)
        self._ruled.append(base)
        self._fetching_robots.discard(host_key)  # only now, so that no second request is sent in between
        known = self._robots.setdefault(base, _Robots())
        if "next" in visit.data:
            known.next_hop, known.hops, known.rules = visit.data["next"], visit.data["hops"], None
            return
        known.next_hop, known.hops = "", 0
        if "body" not in visit.data:
            again = visit.retry_at or visit.ended + ROBOTS_BACKOFF[-1]
            known.rules, known.attempts, known.until = None, visit.attempt, again
            self._hold(host_key, again, f"robots.txt can't be read ({visit.outcome})")
            return
        body = visit.data["body"]
        known.rules = RobotsRules.parse(body, self.agent)
        known.signals = RobotsSignals(body, self.agent) if b"content-" in body.lower() else None
        known.attempts, known.until = 0, visit.ended + ROBOTS_KEEP
        if known.rules.crawl_delay:
            self._obey(host_key, known.rules.crawl_delay)

    def _obey(self, host_key: str, delay: float) -> None:
        self.politeness.apply_crawl_delay(host_key, delay)
        self._delays[host_key] = max(delay, self._delays.get(host_key, 0.0))

    def state(self) -> State:
        return {
            "robots": TextLines(self._ruled, self._robots_line),
            "pages": dict(self._pages),
            "probed": sorted(self._probed),
            "failures": dict(self._failures),
            "delays": dict(self._delays),
            "held": {host_key: list(held) for host_key, held in self._held.items()},
            "policies": self.policies.state(),
            "renderer": None if self.renderer is None else self.renderer.state(),
        }

    def _robots_line(self, base: str) -> str:
        known = self._robots[base]
        rules = None if known.rules is None else known.rules.state()
        signals = None if known.signals is None else known.signals.state()
        return json.dumps([base, rules, known.until, known.attempts, known.next_hop, known.hops, signals])

    def restore(self, state: State) -> None:
        for line in state["robots"]:
            base, rules, until, attempts, hop, hops, signals = json.loads(line)
            self._ruled.append(base)
            restored = None if signals is None else RobotsSignals.of(signals)
            known = None if rules is None else RobotsRules.of(rules)
            self._robots[base] = _Robots(known, until, attempts, hop, hops, restored)
        for host_key, delay in state["delays"].items():
            self._obey(host_key, delay)
        self._pages, self._failures = Counter(state["pages"]), Counter(state["failures"])
        self._probed = set(state["probed"])
        self.policies.restore(state["policies"])
        for host_key, (until, why) in state["held"].items():
            self._hold(host_key, until, why)
        if self.renderer is not None:
            if state["renderer"] is None:
                raise StateMismatch("it has no rendering statistics")
            self.renderer.restore(state["renderer"])

    def resumed(self) -> None:
        """Assume that an earlier run has just sent a request to every host."""
        self.politeness.resumed_at = self.clock()

    async def close(self) -> None:
        try:
            if self.renderer is not None:
                await self.renderer.close()
            await self.transport.close()
        finally:
            self.politeness.close()
            if self.pool is not None:
                self.pool.close()


def source_page(source: Source, now: float) -> Page:
    page = Page("ok", kind="sitemap", started=now, ended=now)
    _fill(page, source)
    return page


def _fill(page: Page, source: Source) -> None:
    page.title, page.marked = source.title or source.form, source.marked
    page.links, page.note = source.links, source.note
    page.data["sources"] = source.nested[:MAX_SOURCES]
    page.data["form"] = source.form
    if any(source.modified):
        page.data["modified"] = source.modified


def _remark(document: ParsedPage) -> str:
    pages = document.about.get("pages", "")
    of = f" of {pages} page{'s' if pages != '1' else ''}" if pages else ""
    if kinds.SCANNED in document.flags:
        return f"a scan{of}: images without text"
    if kinds.TEXTLESS in document.flags:
        return f"a document{of} without text"
    return ""


def _validator(value: str) -> str:
    return value if len(value) <= 200 and value.isprintable() else ""


def _latin(value: str) -> str:
    """Decode a header with raw bytes beyond ASCII as UTF-8 if possible."""
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return value.encode("utf-8", "replace").decode()


def _step(steps: tuple[float, ...], attempt: int) -> float:
    return steps[min(attempt, len(steps)) - 1]


def _name(host_key: str) -> str:
    return host_key if host_key.endswith("]") else host_key.rpartition(":")[0] or host_key
