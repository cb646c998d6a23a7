"""Run a crawl in the terminal: for `lycosa crawl`, `resume`, `refresh`, `watch` and `demo`.

Paper items:
    batsakis-figure-7: `lycosa crawl`. Test: cli/test_manners.py::test_progress_where_nothing_can_move. Departs: in the
        terminal; in the dashboard of `lycosa serve`.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import os
import re
import shlex
import signal
import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lycosa.cli.printing import lively, output
from lycosa.collection.estimate import Estimate, estimate
from lycosa.collection.reading import Collection
from lycosa.collection.weakness import weakness
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, LEFT_ALONE, STOPPED, larger, spending
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError, LycosaError, NothingFetched
from lycosa.core.files import allow_many_files
from lycosa.core.options import Options
from lycosa.core.spec import parse
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.drawing.formats import many
from lycosa.spaces.making import with_whole_paths
from lycosa.web.urls import is_http

EVERY = 0.25
"""Seconds between two pictures of a crawl."""


def read_options(given: dict[str, Any], config: Path | None) -> Options:
    """A new crawl's options: the command line's over those of a file."""
    options = Options.load(config) if config is not None else Options()
    given["topic"] = " ".join(given["topic"] or [])
    chosen = {name: value for name, value in given.items() if value not in (None, [], "")}
    options = Options.from_mapping({**vars(options), **chosen}, "command line")
    # A crawl that is resumed from elsewhere must still find its files.
    options.seed_files = [name if is_http(name) else os.path.abspath(name) for name in options.seed_files]
    options = options.with_files({name: os.path.abspath(file) for name, file in options.files().items()})
    options.space = with_whole_paths(options.space)
    for name in ("terms", "proxy_ca", "identity", "ontology", "log_file"):
        if (path := getattr(options, name)) and (name, path) != ("log_file", "none"):
            setattr(options, name, os.path.abspath(path))
    return options


def hunt(crawl: Crawl, *, quiet: bool = False, json: bool = False, farewell: bool = True) -> None:
    """Run a crawl to its end, with progress, and with Ctrl-C as people expect it."""
    # A crawl keeps nearly everything it makes: looking for garbage often is looking in vain (4 % of the time).
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    allow_many_files()  # connections to many hosts stay open for a while
    crawl.together = True
    if os.environ.get("LYCOSA_TELEMETRY"):
        from lycosa.integrations.telemetry import traced

        traced(crawl)
    try:
        asyncio.run(_hunt(crawl, quiet or json, farewell))
    except (LycosaError, OSError):
        raise
    except Exception as error:
        raise _of_own(error, crawl) or error from error
    finally:
        gc.unfreeze()
        if not quiet:
            for note in crawl.notes:
                print(f"note: {note}", file=sys.stderr)
    assert crawl.engine is not None
    if not crawl.engine.tally.pages and (crawl.engine.ending != STOPPED or crawl.lost):
        nowhere = "the seeds returned nothing: try other seeds" if crawl.engine.ending == EXHAUSTED else ""
        why = crawl.lost or crawl.engine.tally.complaint or nowhere or crawl.engine.ending
        raise NothingFetched(f"no page could be fetched. {why}")
    if json:
        from lycosa.cli.printing import print_json

        tally = crawl.engine.tally
        print_json(
            {
                "directory": crawl.path,
                "pages": tally.pages,
                "requests": tally.requests,
                "spent": dict(tally.spent),
                "relevant": tally.relevant,
                "harvest": round(tally.harvest, 4),
                "ending": crawl.engine.ending,
            }
        )


def _of_own(error: Exception, crawl: Crawl) -> InputError | None:
    """What to say of an error that comes from a class of the user's own, or most likely does."""
    own = [spec.partition(",")[0] for spec in (crawl.options.judge, crawl.options.strategy) if ":" in spec]
    if not own:
        return None
    modules = {name.partition(":")[0] for name in own}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_globals["__name__"] in modules]
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame in frames]
    where = f" ({frames[-1].f_code.co_filename}, line {lines[-1]})" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return InputError(
        f"{' or '.join(own)} failed with {what}{where}: lycosa.checks shows what it must do; fix it, then "
        f"continue with 'lycosa resume {crawl.path}'"
    )


async def _hunt(crawl: Crawl, quiet: bool, farewell: bool) -> None:
    if quiet:
        await until_stopped(crawl, None)
        return

    progress = Progress(crawl)
    await until_stopped(crawl, progress)
    if farewell:
        progress.farewell()


class Onlooker(ABC):
    """Who shows how a crawl goes."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *error: object) -> None: ...

    @abstractmethod
    def say(self, text: str) -> None:
        """A line of its own."""

    @abstractmethod
    def update(self, visit: Visit) -> None:
        """Take in a visit."""

    @abstractmethod
    def draw(self) -> None:
        """Show how it stands, if it is time."""

    async def tick(self) -> None:
        """Draw also while nothing arrives: people want to know what it waits for."""
        while True:
            await asyncio.sleep(EVERY)
            self.draw()


async def until_stopped(crawl: Crawl, progress: Onlooker | None) -> None:
    """Run a crawl to its end, or until Ctrl-C; a second one stops it at once."""
    interrupts = 0

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            # Everything recorded is safe by design; what is in flight will be fetched again.
            if progress is not None:
                progress.__exit__(None, None, None)
            sys.stderr.write(f"\nstopped immediately; continue with: lycosa {crawl.command} {crawl.path}\n")
            os._exit(130)
        if progress is not None:
            progress.say("stopping when the requests in flight are done (Ctrl-C again to stop immediately)")
        crawl.stop()
        # From now on without the loop's help: it may be busy with a page that takes long.
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *_: interrupt())

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, interrupt)
    if progress is None:
        async for _ in crawl:
            pass
        return
    with progress:
        ticking = asyncio.ensure_future(progress.tick())
        try:
            async for visit in crawl:
                progress.update(visit)
        finally:
            ticking.cancel()


def free_name(options: Options) -> Path:
    """crawls/ and a name made from the topic, with a number if that is taken."""
    told = options.topic or options.regex or " ".join(options.targets)
    told = told or Path(options.terms or options.model or (options.examples or ["crawl"])[0]).stem
    slug = re.sub(r"[^a-z0-9]+", "-", told.lower()).strip("-")[:50] or "crawl"
    path, number = Path("crawls") / slug, 1
    while path.exists():
        number += 1
        path = Path("crawls") / f"{slug}-{number}"
    return path


# -- progress ----------------------------------------------------------------------------------------------

# Progress of a crawl: live in a terminal; plain lines where the output is no terminal.

PLAIN_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class Progress(Onlooker):
    """Pages, harvest rate, speed, frontier, best finds, and what it waits for."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl
        self.console = Console(stderr=True, highlight=False)
        self._live: Live | None = None
        self._begun = self._shown = time.monotonic()
        self._pages_before = -1
        self._best: list[tuple[float, str, str]] = []
        self._recent: list[bool] = []
        self._opening = ""
        """What is done before the first request, and how far that is."""
        crawl.request.tell = self._tell

    def __enter__(self) -> Self:
        if suited := self.crawl.request.suited:
            self.say(f"Strategy: {suited}, which suits this space. Choose another with --strategy.")
        if lively(self.console):
            self._live = Live(self._picture(), console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, visit: Visit) -> None:
        """Take in a visit; draw if it is time."""
        engine = self.crawl.engine
        assert engine is not None
        if self._pages_before < 0:
            self._pages_before = engine.tally.pages - visit.is_page
        if visit.is_page:
            found = visit.is_find(engine.topic.threshold)
            self._recent.append(found)
            del self._recent[:-100]
            if found:
                heapq.heappush(self._best, (visit.beta, visit.node, visit.title))
                if len(self._best) > 5:
                    heapq.heappop(self._best)
        self.draw()

    def _tell(self, what: str, done: int, total: int) -> None:
        """What was crawled before is being read."""
        spent = time.monotonic() - self._begun
        left = f", about {(total - done) * spent / done:,.0f} s left" if done else ""
        self._opening = f"{what}: {done:,} of {total:,}{left}" if done < total else ""
        self.draw()

    def draw(self) -> None:
        now = time.monotonic()
        if self._live is not None and now - self._shown >= EVERY:
            self._shown = now
            self._live.update(self._picture(), refresh=True)
        elif self._live is None and now - self._shown >= PLAIN_EVERY:
            self._shown = now
            print(self._headline(), file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        self.console.print(text)

    def farewell(self) -> None:
        """What came of it, and what to do next."""
        engine, path = self.crawl.engine, self.crawl.path
        if engine is None:
            return
        tally, console = engine.tally, output()
        requests = many(tally.requests, "request")
        spent = f": {spending(tally.spent)}" if tally.wasted > 0 else ""
        console.print(f"{self._estimate().told}: harvest rate {tally.harvest:.1%}. {requests}{spent}.")
        print(f"Ended: {engine.ending or 'interrupted'}.")
        if path is not None and tally.pages:
            with Collection(path) as collection:
                warning = weakness(collection, tally.pages)
            if warning:
                console.print(f"The topic's words are weak: {warning}.", markup=False)
        self._what_is_left(engine, console)
        if path is not None:
            name = shlex.quote(str(path))
            print(f"See it with:  lycosa show {name}, lycosa report {name}")
            if not self._estimate().sure:
                print(f"Label the least certain pages:  lycosa label {name}")
            if engine.table.open_rows and engine.ending != EXHAUSTED:
                more = larger(engine.ending, self.crawl.options.budget, tally.pages, tally.requests)
                print(f"Continue with: lycosa resume {name}{more}")

    def _what_is_left(self, engine: Engine, console: Console) -> None:
        """Addresses that were known and not fetched: those that wait, were pruned, or are held back."""
        if engine.ending in (HOSTS_SPENT, LEFT_ALONE) or not engine.tally.pages:
            for lane in engine.frontier.waiting()[:5]:
                print(f"  {lane.name} still has links, but waits: {lane.why}")
        pruned = engine.frontier.pruned()
        if pruned:
            strategy = parse(self.crawl.options.strategy)[0]
            print(
                f"Pruned by {strategy}: {pruned:,} addresses it considers useless. Other strategies would fetch them."
            )
            guide = getattr(engine.strategy, "estimator", engine.strategy)
            if remedy := getattr(guide, "remedy", ""):
                print(f"  {remedy}")
        held = engine.held_back()
        if held:
            reasons = Counter[str]()
            for group in held:
                reasons[group.reason] += group.addresses
            told = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(3))
            console.print(f"Held back as likely traps: {reasons.total():,} addresses ({told}).")

    def _estimate(self) -> Estimate:
        engine = self.crawl.engine
        assert engine is not None
        probability = bool(engine.tally.settings.get("probability", False))
        return estimate(engine.lessons.worths(), engine.topic.threshold, engine.tally.pages, probability)

    def _headline(self) -> str:
        engine = self.crawl.engine
        if engine is None or self._opening:
            return self._opening or "starting"
        tally, seconds = engine.tally, max(0.001, time.monotonic() - self._begun)
        here = tally.pages - max(0, self._pages_before)
        return (
            f"{tally.pages}/{self.crawl.options.budget} pages  harvest {tally.harvest:.1%}  "
            f"{here / seconds:.1f} pages/s  {len(engine.in_flight)} in flight  frontier {engine.table.open_rows:,}"
        )

    def _picture(self) -> Group:
        engine = self.crawl.engine
        if engine is None or self._opening:
            return Group(Text(self._opening or "starting ..."))
        width = self.console.width
        budget, tally = self.crawl.options.budget, engine.tally
        filled = round(min(1.0, tally.pages / budget) * max(10, min(40, width - 40)))
        bar = Text("━" * filled, "green") + Text("━" * (max(10, min(40, width - 40)) - filled), "dim")
        recent = sum(self._recent) / len(self._recent) if self._recent else 0.0
        lines = Table.grid(padding=(0, 1), expand=False)
        lines.add_column(style="bold", no_wrap=True)
        lines.add_column(overflow="ellipsis", no_wrap=True, max_width=max(20, width - 12))
        lines.add_row("hunting", Text(self.crawl.options.subject or "your topic"))
        lines.add_row("pages", bar + Text(f" {tally.pages}/{budget}"))
        lines.add_row("harvest", f"{tally.harvest:.1%}, lately {recent:.0%}")
        lines.add_row("", self._headline().split("  ", 2)[2])
        waiting = engine.frontier.waiting()
        if waiting:
            why = Counter(lane.why for lane in waiting).most_common(3)
            told = ", ".join(f"{count} for {reason}" for reason, count in why)
            lines.add_row("waiting", f"{many(len(waiting), 'host')}: {told}")
        for rank, (beta, url, title) in enumerate(sorted(self._best, reverse=True)):
            lines.add_row("best" if not rank else "", Text(f"{beta:.2f} {title or url}  ").append(url, "dim"))
        return Group(lines)
