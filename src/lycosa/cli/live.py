"""Progress of a crawl: live in a terminal; plain lines where the output is no terminal."""

from __future__ import annotations

import heapq
import shlex
import sys
import time
from collections import Counter
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lycosa.cli.hunting import EVERY, Onlooker
from lycosa.cli.printing import lively, output
from lycosa.collection.estimate import Estimate, estimate
from lycosa.collection.reading import Collection
from lycosa.collection.summary import weakness
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, LEFT_ALONE, larger, spending
from lycosa.core.engine import Engine
from lycosa.core.spec import parse
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.drawing.formats import many

PLAIN_EVERY = 10.0  # seconds between two lines where there is no terminal


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
        self._opening = ""  # work before the first request, and its progress
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
            for lane in [lane for lane in engine.frontier.waiting() if lane.why][:5]:
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
