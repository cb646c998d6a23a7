"""Run a crawl in the terminal, for `lycosa crawl`, `resume`, `refresh`, `watch` and `demo`."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import sys
import traceback
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

from lycosa.cli.printing import print_json, print_notes
from lycosa.cli.progress_bar import StatusLine
from lycosa.core.budget import EXHAUSTED, STOPPED
from lycosa.core.errors import InputError, LycosaError, NothingFetched
from lycosa.core.files import allow_many_files
from lycosa.core.options import Options
from lycosa.core.spec import parse_spec
from lycosa.crawling import Crawl
from lycosa.judges import JUDGES
from lycosa.spaces.making import with_absolute_paths
from lycosa.strategies import STRATEGIES
from lycosa.web.urls import is_http

EVERY = 0.25  # seconds between two updates of the display


def read_options(given: dict[str, Any], config: Path | None) -> Options:
    """Return a new crawl's options: those of the command line override those of a file."""
    options = Options.load(config) if config is not None else Options()
    given["topic"] = " ".join(given["topic"] or [])
    chosen = {name: value for name, value in given.items() if value not in (None, [], "")}
    options = Options.from_mapping({**vars(options), **chosen}, "command line")
    # A crawl that is resumed from another directory must still find its files.
    options.seed_files = [name if is_http(name) else os.path.abspath(name) for name in options.seed_files]
    options = options.with_files({name: os.path.abspath(file) for name, file in options.files().items()})
    options.space = with_absolute_paths(options.space)
    for name in ("terms", "proxy_ca", "identity", "ontology", "log_file"):
        if (path := getattr(options, name)) and (name, path) != ("log_file", "none"):
            setattr(options, name, os.path.abspath(path))
    return options


def run_crawl(crawl: Crawl, *, quiet: bool = False, json: bool = False, farewell: bool = True) -> None:
    """Run a crawl to its end, with progress; Ctrl-C stops it."""
    # A crawl keeps nearly all objects it creates, so frequent garbage collection is wasted (4 % of the time).
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    allow_many_files()  # connections to many hosts stay open for a while
    crawl.batch_arrivals = True
    if os.environ.get("LYCOSA_TELEMETRY"):
        from lycosa.telemetry import traced

        traced(crawl)
    progress = None
    if not (quiet or json):
        from lycosa.cli.crawl_progress import CrawlProgress  # the import takes a tenth of a second

        progress = CrawlProgress(crawl)
    try:
        asyncio.run(until_stopped(crawl, progress))
        if progress is not None and farewell:
            progress.farewell()
    except (LycosaError, OSError):
        raise
    except Exception as error:
        raise _own_class_error(error, crawl) or error from error
    finally:
        gc.unfreeze()
        print_notes([] if quiet else crawl.notes)
    assert crawl.engine is not None
    tally, ending = crawl.engine.tally, crawl.engine.ending
    if not tally.pages and (ending != STOPPED or crawl.failure):
        nowhere = "the seeds returned nothing: try other seeds" if ending == EXHAUSTED else ""
        raise NothingFetched(f"no page could be fetched. {crawl.failure or tally.complaint or nowhere or ending}")
    if json:
        counts = {name: getattr(tally, name) for name in ("pages", "requests", "spent", "relevant")}
        print_json({"directory": crawl.path, **counts, "harvest": round(tally.harvest, 4), "ending": ending})


def _own_class_error(error: Exception, crawl: Crawl) -> InputError | None:
    """Return a message for an error that comes, or probably comes, from a user's own class."""
    kinds = ((JUDGES, crawl.options.judge), (STRATEGIES, crawl.options.strategy))
    makers = {name: kind.maker(name) for kind, text in kinds if (name := parse_spec(text)[0]) and name not in kind}
    if not makers:
        return None
    modules = {maker.__module__ for maker in makers.values()}
    walk = traceback.walk_tb(error.__traceback__)
    lines = [(frame.f_code.co_filename, line) for frame, line in walk if frame.f_globals["__name__"] in modules]
    where = f" ({lines[-1][0]}, line {lines[-1][1]})" if lines else ""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    advice = f"see lycosa.checks for its interface; fix it, then continue with 'lycosa resume {crawl.path}'"
    return InputError("own-class-failed", f"{' or '.join(makers)} failed with {text}{where}: {advice}")


class ProgressDisplay(ABC):
    """Shows the progress of a crawl in a line on stderr."""

    def __init__(self, line: StatusLine) -> None:
        self.line = line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.line.clear()

    def print_line(self, text: str) -> None:
        self.line.clear()
        self.line.console.print(text)

    @abstractmethod
    def update(self, visit: Any) -> None:
        """Process an item that the crawl yields."""

    @abstractmethod
    def draw(self) -> None:
        """Update the display if it is due."""

    async def tick(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            self.draw()


async def until_stopped(crawl: Any, progress: ProgressDisplay | None) -> None:
    """Run a crawl to its end or until Ctrl-C; a second Ctrl-C ends it immediately."""
    interrupts = 0

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            if progress is not None:
                progress.__exit__(None, None, None)
            command = getattr(crawl, "command", "resume")
            sys.stderr.write(f"\nstopped immediately; continue with: lycosa {command} {crawl.path}\n")
            os._exit(130)
        if progress is not None:
            progress.print_line("stopping after the requests in flight (Ctrl-C again to stop immediately)")
        crawl.stop()
        # Later signals are handled without the event loop, which may be busy with a slow page.
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
    """Return crawls/NAME with a name derived from the topic, and a number if that directory exists."""
    subject = options.topic or options.regex or " ".join(options.targets)
    subject = subject or Path(options.terms or options.model or (options.examples or ["crawl"])[0]).stem
    slug = re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-")[:50] or "crawl"
    path, number = Path("crawls") / slug, 1
    while path.exists():
        number += 1
        path = Path("crawls") / f"{slug}-{number}"
    return path
