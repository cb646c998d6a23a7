"""The scheduler: an adapter between Scrapy's engine, which fetches, parses and paces, and ours, which decides the
order.

    Scrapy calls `next_request`      1. pick     from our frontier, among slots that are not full
    Scrapy downloads                 2. visit
    the spider has finished the page 3. judge, 4. learn, 5. rank, 6. record: `Engine.absorb`, as for any page

A request is done when Scrapy has finished its response: callback, items and pipelines. Only then is its visit recorded,
with the requests it produced. Requests in flight of a killed run are repeated by the next one. Requests without a page
(start requests, those of errbacks and extensions) are recorded at once.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it ships no types
from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.http import Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred

from lycosa.core import blas_threads as threads
from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError, LycosaError
from lycosa.core.frontier import PRUNED
from lycosa.core.options import Options
from lycosa.core.table import MAX_HOPS, OPEN
from lycosa.core.types import Page, Seed, Task, Visit
from lycosa.crawling.assembly import assemble
from lycosa.crawling.crawl_files import CrawlFiles, SnapshotWriter
from lycosa.crawling.request import CrawlRequest as CrawlRequest
from lycosa.judges.factory import TOPIC_OPTIONS
from lycosa.store.directory import CONFIG, Directory
from lycosa_scrapy.answers import Flight, page_of
from lycosa_scrapy.requests import NotStorable, RequestSerializer, node_of
from lycosa_scrapy.space import NAME, RELEVANCE, REQUESTS, Form, Priorities, ScrapySpace, Waiting, request_data, slot_of

logger = logging.getLogger(__name__)
MAX_WAIT_SECONDS = 1.0
# seconds that a page may spend in the spider or its items in pipelines before other requests use its slot
PIPELINE_SECONDS = 0.05
_SCHEDULERS: WeakKeyDictionary[Crawler, Scheduler] = WeakKeyDictionary()


def of_crawler(crawler: Crawler) -> Scheduler | None:
    return _SCHEDULERS.get(crawler)


class Scheduler(BaseScheduler):
    """Focused, crash-safe scheduler; the package lists its settings."""

    engine: Engine
    forms: RequestSerializer
    priorities: Priorities

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.space = ScrapySpace()
        self.space.busy = self._is_busy
        self.flights: dict[Request, Flight] = {}
        self.filter = _filter(crawler)
        self._expected: dict[Request, tuple[Flight, str]] = {}
        self._has_listeners_for_drops = False  # whether receivers of the signal of dropped requests exist
        self._pending_nodes: set[str] = set()  # nodes of new requests of pages in flight
        self._in_memory: dict[str, Request] = {}
        self._starts: Counter[str] = Counter()
        self._started: frozenset[str] = frozenset()  # nodes of start requests in earlier runs
        self._downloading: Counter[str] = Counter()
        self._files: CrawlFiles | None = None
        self._snapshots: SnapshotWriter | None = None
        self._has_failed = False
        self._spider_judges = False
        self._garbage = gc.get_threshold()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Scheduler:
        named = [load_object(name) for name, at in crawler.settings.getwithbase("SPIDER_MIDDLEWARES").items() if at]
        from lycosa_scrapy.relevance import Relevance  # imported here because it imports this module

        if Relevance not in named:
            raise InputError(
                "bad-settings",
                'missing spider middleware: add "lycosa_scrapy.relevance.Relevance": 20 to SPIDER_MIDDLEWARES',
            )
        scheduler = _SCHEDULERS[crawler] = cls(crawler)
        crawler.signals.connect(scheduler._reached, signals.request_reached_downloader)
        return scheduler

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Restore the frontier from the log."""
        self.forms = RequestSerializer(spider)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._open(spider))
            opened = None
        else:
            opened = deferred_from_coro(self._open(spider))
        return opened

    async def _open(self, spider: Spider) -> None:
        request = self._request()
        files = self._files = CrawlFiles(request)
        threads.limit_threads()
        assembly = await assemble(request, files)
        await assembly.replay_log()
        engine = self.engine = assembly.engine
        assert isinstance(engine.trap_filter, Priorities)
        self.priorities = engine.trap_filter
        # Scrapy limits the number and concurrency of requests
        engine.picker.budget, engine.picker.concurrency = Budget(), sys.maxsize
        engine.picker.begin(engine.clock(), full=lambda: None)
        self._spider_judges = request.options.judge == "given"
        self._has_listeners_for_drops = any(
            map(self._has_listeners, (signals.request_scheduled, signals.request_dropped))
        )
        table = engine.table
        self._started = frozenset(table.nodes[row] for row in table.is_seed[: len(table)].nonzero()[0].tolist())
        if request.path is not None:
            # most CPU time of the process is Scrapy's
            self._snapshots = SnapshotWriter(request, files, engine, share=0.005)
        gc.freeze()  # nearly all objects of a crawl stay, so frequent garbage collection is wasted
        gc.set_threshold(50_000, 20, 50)
        if self.filter is not None:
            opened = self.filter.open()
            if opened is not None:
                await opened
        for note in request.notes:
            logger.info("%s", note, extra={"spider": spider})
        unstored = sum(not waiting.form.packed for waiting in self.space.waiting.values())
        if len(table):
            logger.info(
                "Resuming crawl (%d requests waiting, %d of them could not be kept)", table.open_rows, unstored,
                extra={"spider": spider},
            )  # fmt: skip

    def _request(self) -> CrawlRequest:
        """Return the crawl request from the settings, or from the directory of an earlier run."""
        settings = self.crawler.settings
        job = job_dir(settings)
        out = settings.get("LYCOSA_DIR") or (str(Path(job) / "lycosa") if job else None)
        given_options: dict[str, Any] = {"archive": False, **settings.getdict("LYCOSA_OPTIONS"), "space": NAME}
        for name in ("topic", "strategy"):
            if value := settings.get(f"LYCOSA_{name.upper()}"):
                given_options[name] = value
        if (pages := settings.getint("CLOSESPIDER_PAGECOUNT")) and "budget" not in given_options:
            given_options["budget"] = pages
        if given_options["archive"]:
            raise InputError(
                "bad-settings",
                "LYCOSA_OPTIONS: responses are not archived, because Scrapy stores them: leave out 'archive'",
            )
        options = Options.from_mapping(given_options, "LYCOSA_OPTIONS")
        if not options.judge and not any(getattr(options, name) for name in TOPIC_OPTIONS):
            options.judge, options.threshold = "given", options.threshold or 0.5
        path = Path(out) if out else None
        resuming = path is not None and (path / CONFIG).exists()
        if resuming and path is not None and not options.judge:
            options.judge = Directory.read_options(path).judge  # the earlier run's judge
        return CrawlRequest(options, path, space=self.space, resuming=resuming)

    def _has_listeners(self, signal: object) -> bool:
        """Return whether a signal has receivers other than Scrapy's own (its offsite middleware)."""
        receivers = dispatcher.liveReceivers(dispatcher.getAllReceivers(self.crawler, signal))
        return any(not str(getattr(receiver, "__module__", "")).startswith("scrapy.") for receiver in receivers)

    def close(self, reason: str) -> None:
        """Record finished requests and the end of the run; waiting ones are in the log."""
        files, self._files = self._files, None
        if files is None:
            return
        try:
            self._settle()
            if not self._has_failed:
                self.engine.ending = reason
                self.engine.conclude()
                if self._snapshots is not None:
                    self._snapshots.write()
        except LycosaError as error:
            self._fail(error)
        finally:
            files.close()
            threads.restore_threads()
            gc.unfreeze()
            gc.set_threshold(*self._garbage)
            if self.filter is not None:
                self.filter.close(reason)

    def has_pending_requests(self) -> bool:
        """Return whether any waiting request will be returned by `next_request`."""
        self._settle()
        if self._has_failed:
            return False
        table, frontier = self.engine.table, self.engine.frontier
        return table.open_rows - len(frontier.taken) - frontier.pruned() > 0

    def next_request(self) -> Request | None:
        """Return the most promising request whose slot is not full."""
        self._settle()
        engine = self.engine
        if self._has_failed or self._files is None or self._is_full(engine.clock()):
            return None
        while (task := self._urgent() or engine.picker.next(engine.clock())) is not None:
            engine.picker.start(task)
            request = self._make(task)
            if request is not None:
                host_key = self.space.host_key(task.node)
                self._downloading[host_key] += 1
                self.flights[request] = Flight(request, task, host_key, engine.clock())
                self._count("scheduler/dequeued")
                return request
        return None

    def _is_full(self, now: float) -> bool:
        """Return whether to wait for the results of downloaded pages before the next pick.

        Scrapy would fill the slots at once. Slow callbacks are not waited for.
        """
        limit = self.crawler.engine.downloader.total_concurrency
        if not 0 < limit <= len(self.flights):
            return False
        return limit <= sum(flight.downloading or now < flight.waits_until for flight in self.flights.values())

    def parsed(self, flight: Flight) -> None:
        """Note that the spider has finished a page, so its slot is free although pipelines may take longer."""
        flight.waits_until = self.engine.clock() + PIPELINE_SECONDS
        if flight.items:
            call_later(1.2 * PIPELINE_SECONDS, self._wake_scrapy)

    def _wake_scrapy(self) -> None:
        slot = getattr(self.crawler.engine, "_slot", None)
        if slot is not None:
            slot.nextcall.schedule()

    def enqueue_request(self, request: Request) -> bool:
        """Take a request; one produced by a page waits until the spider has finished the page."""
        flight, node = self._expected.pop(request, None) or (None, "")
        if self._has_failed or self._files is None:
            return False
        if flight is None and (replaced := self._replaced(request)) is not None:
            return self._replace(replaced, request)
        node = node or node_of(request)
        seen = self._is_known(node) if self.filter is None else self.filter.request_seen(request)
        if flight is None and request.meta.get("is_start_request"):
            node, seen = self._start(node)
        elif not request.dont_filter and seen:
            if flight is not None:
                flight.links.setdefault(node, request)  # one more link to a known node
            self._count("dupefilter/filtered")
            return False
        elif self._is_known(node):
            node, seen = self._repeated_name(node), False
        if seen:
            return False
        if flight is None:
            self._admit(node, request)
        else:
            flight.links[node] = request
            self._pending_nodes.add(node)
        self._count("scheduler/enqueued")
        return True

    def _is_known(self, node: str) -> bool:
        return node in self.engine.table.row_of or node in self._pending_nodes

    def _repeated_name(self, node: str) -> str:
        number = 1
        while self._is_known(name := f"{node}#again-{number}"):
            number += 1
        return name

    def _start(self, node: str) -> tuple[str, bool]:
        """Return the node of a start request, and whether an earlier run has started with it."""
        self._starts[node] += 1
        if self._starts[node] > 1:
            node = f"{node}#again-{self._starts[node] - 1}"
        if node in self._started:
            return node, True
        return (self._repeated_name(node) if self._is_known(node) else node), False

    def _count(self, name: str, number: int = 1) -> None:
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(name, number)

    def _admit(self, node: str, request: Request) -> None:
        form = self._form(node, request, request.priority)
        seed = Seed(node, self.engine.clock(), data={REQUESTS: request_data([(node, form, _spelled(node, request))])})
        try:
            self.engine.log.append(seed)
            self.engine.fold(seed)
        except LycosaError as error:
            self._fail(error)

    def _form(self, node: str, request: Request, priority: int) -> Form:
        slot = str(request.meta.get("download_slot") or "")
        slot = "" if slot == slot_of(request.url) else slot
        try:
            return Form(priority, slot, self.forms.keep(request))
        except NotStorable as error:
            self._in_memory[node] = request
            if len(self._in_memory) == 1:
                logger.warning(
                    "%s cannot be stored and waits in memory only: %s (further ones are only counted)", request, error
                )
            self._count("scheduler/unserializable")
            return Form(priority, slot, b"")

    def _make(self, task: Task) -> Request | None:
        """Return the request of a task; None after recording a failure, if an earlier run could not store it."""
        waiting = self.space.waiting.get(task.node) or Waiting(Form(0, "", b""), "")
        if (request := self._in_memory.pop(task.node, None)) is not None:
            request.meta.pop(RELEVANCE, None)
            return request
        try:
            if not waiting.form.packed:
                raise NotStorable("it could not be stored, and was kept in memory by an earlier run")
            return self.forms.make(waiting.form.packed, waiting.url or task.node)
        except (NotStorable, TypeError, ValueError) as error:
            logger.warning("the request for %s is lost: %s", task.node, error)
            self._count("scheduler/lost")
            self._absorb(task, Page("crashed", note=f"its request could not be kept: {error}"[:300]))
            return None

    def _urgent(self) -> Task | None:
        """Pick the best available row with the highest request priority above 0."""
        frontier, table = self.engine.frontier, self.engine.table
        for priority in sorted(self.priorities.high, reverse=True):
            rows = [
                row
                for row in self.priorities.high[priority]
                if row not in frontier.taken
                and table.state[row] == OPEN
                and frontier.priority[row] > PRUNED
                and not self._is_busy(table.hosts[table.host[row]])
            ]
            if rows:
                row = max(rows, key=lambda row: (frontier.priority[row], -row))
                frontier.take_this(row, self.engine.clock())
                number, attempt = self.engine.tally.picks + 1, int(table.attempts[row]) + 1
                expected = float(frontier.priority[row])
                return Task(table.nodes[row], row=row, pick=number, priority=expected, attempt=attempt)
        return None

    def _is_busy(self, host_key: str) -> bool:
        """Return whether a slot is full: at its concurrency, or, with a delay, with one request queued."""
        downloader, sent = self.crawler.engine.downloader, self._downloading[host_key]
        slot = downloader.slots.get(host_key)
        if slot is not None:
            return sent >= slot.concurrency or (slot.delay > 0 and len(slot.queue) > 0)
        own = downloader.per_slot_settings.get(host_key, {})
        limit = int(own.get("concurrency", downloader.ip_concurrency or downloader.domain_concurrency))
        pauses = float(own.get("delay", self.crawler.settings.getfloat("DOWNLOAD_DELAY"))) > 0
        return sent >= (1 if pauses else limit)

    def flight_of(self, response: Response) -> Flight | None:
        """Return the state of the request of a response."""
        request = response.request
        if request is None:
            return None
        flight = self.flights.get(request)
        if flight is None:  # a middleware or download handler has replaced the request
            flight = next((one for one in self.flights.values() if one.request.url == request.url), None)
        return flight

    def expect(self, request: Request, flight: Flight) -> bool:
        """Register a request produced by a page, to be enqueued next; return False if it is dropped as known."""
        if self.drops(request, flight):
            return False
        self._expected[request] = flight, node_of(request)
        flight.produced.append(request)
        return True

    def drops(self, request: Request, flight: Flight) -> bool:
        """Return whether to drop a request of a page as known; it counts as one more link to its node."""
        if self.filter is not None or self._has_listeners_for_drops or request.dont_filter:
            return False
        if known := self._is_known(node := node_of(request)):
            flight.links.setdefault(node, request)
            flight.filtered += 1
        return known

    def _reached(self, request: Request) -> None:
        if (flight := self.flights.get(request)) is not None:
            flight.reached = True

    def _replaced(self, request: Request) -> Flight | None:
        """Return the request in flight that this one replaces, by a redirect or a retry."""
        hops = request.meta.get("redirect_urls") or ()
        urls = [hops[-1]] if hops else [request.url] if "retry_times" in request.meta else []
        for flight in self.flights.values():
            if flight.request.url in urls and flight.response is None and flight.other is None:
                return flight
        return None

    def _replace(self, flight: Flight, request: Request) -> bool:
        """Replace a request in flight; the new one inherits its priority."""
        node, own = node_of(request), flight.task.node
        if node == own.partition("#again-")[0]:
            if not request.dont_filter and "retry_times" not in request.meta:
                return False  # a redirect to itself, which Scrapy's filter drops, too
            node = own
        elif self._is_known(node):
            if not request.dont_filter:
                flight.other = node, request
                return False
            node = self._repeated_name(node)
        if node != own and self.engine.table.hops[flight.task.row] >= MAX_HOPS:
            self._admit(node, request)  # more hops than our limit for redirects, but within Scrapy's
            return True
        flight.other = node, request
        flight.links[node] = request
        self._pending_nodes.add(node)
        self._count("scheduler/enqueued")
        return True

    def _settle(self) -> None:
        engine = self.crawler.engine
        if not self.flights or engine is None or self._has_failed:
            return
        downloading, scraping = engine.downloader.active, engine.scraper.slot.active if engine.scraper.slot else ()
        for request, flight in list(self.flights.items()):
            if request in downloading:
                continue
            if flight.downloading:
                flight.downloading, flight.waits_until = False, self.engine.clock() + MAX_WAIT_SECONDS
                self._downloading[flight.host_key] -= 1
                self.engine.frontier.wake(flight.host_key)
            if request not in scraping:
                del self.flights[request]
                if not self._finish(flight):
                    return

    def _finish(self, flight: Flight) -> bool:
        """Run steps 3 to 6 for one request; return whether it could be recorded."""
        table, new_requests = self.engine.table, []
        for request in flight.produced:  # other components, such as the offsite middleware, may have dropped some
            self._expected.pop(request, None)
        if flight.filtered:
            self._count("dupefilter/filtered", flight.filtered)
        own = self.space.waiting.get(flight.task.node)
        for node, request in flight.links.items():
            self._pending_nodes.discard(node)
            if flight.other is not None and own is not None:
                new_requests.append((node, self._form(node, request, own.form.priority), _spelled(node, request)))
            elif node not in table.row_of:
                new_requests.append((node, self._form(node, request, request.priority), _spelled(node, request)))
        return self._absorb(flight.task, page_of(flight, new_requests, self.engine.clock(), self._spider_judges))

    def _absorb(self, task: Task, page: Page) -> bool:
        engine = self.engine
        try:
            visit: Visit = engine.absorb(task, page)
        except LycosaError as error:
            self._fail(error)
            return False
        engine.picker.finish(task)
        engine.frontier.wake(self.space.host_key(task.node))
        if visit.is_page:
            self._count("lycosa/pages")
            if visit.was_relevant(engine.judge.threshold):
                self._count("lycosa/relevant")
        if self._snapshots is not None:
            self._snapshots.visited(visit)
        return True

    def _fail(self, error: LycosaError) -> None:
        """Stop handing out requests and close the spider, because the log cannot be written."""
        if self._has_failed:
            return
        self._has_failed = True
        logger.error("%s", error)
        if self.crawler.engine is not None and self._files is not None:
            deferred_from_coro(self.crawler.engine.close_spider_async(reason="lycosa_error"))


def _spelled(node: str, request: Request) -> str:
    return "" if request.url == node else request.url


def _filter(crawler: Crawler) -> BaseDupeFilter | None:
    """Return the project's own duplicate filter; None for Scrapy's, which the frontier replaces."""
    settings = crawler.settings
    usual = all(settings.getpriority(name) in (None, 0) for name in ("DUPEFILTER_CLASS", "REQUEST_FINGERPRINTER_CLASS"))
    return None if usual else build_from_crawler(load_object(settings["DUPEFILTER_CLASS"]), crawler)
