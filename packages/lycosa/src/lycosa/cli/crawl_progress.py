"""Progress and summary of a crawl: a live display in a terminal, plain lines elsewhere."""

from __future__ import annotations

import heapq
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lycosa.cli.crawl_runner import EVERY, ProgressDisplay
from lycosa.cli.printing import Part, is_live_terminal, show
from lycosa.cli.progress_bar import StatusLine
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import WIDE_HINT, Estimate, estimate
from lycosa.collection.pages import RECENT_PAGES, RecentHarvest
from lycosa.collection.summary import seed_roles, weak_topic_warning
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, LEFT_ALONE, format_spending, larger_budget_option
from lycosa.core.engine import Engine
from lycosa.core.spec import parse_spec
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.drawing.formats import many

PLAIN_EVERY = 10.0  # seconds between two lines without a terminal


class CrawlProgress(ProgressDisplay):
    """Display of pages, harvest rate, speed, frontier, best pages, and reasons for waiting."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(StatusLine(PLAIN_EVERY))
        self.crawl, self.console = crawl, self.line.console
        self._live: Live | None = None
        self._begun = self._shown = time.monotonic()
        self._pages_before = -1
        self._best: list[tuple[float, str, str]] = []
        self._recent: list[bool] = []
        self._opening = ""  # progress of the work before the first request
        crawl.request.progress = self._show_task

    def __enter__(self) -> Self:
        if suited := self.crawl.request.suited:
            self.print_line(f"Strategy: {suited}, which suits this space. Choose another with --strategy.")
        if is_live_terminal(self.console):
            self._live = Live(self._picture(), console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, visit: Visit) -> None:
        engine = self.crawl.engine
        assert engine is not None
        if self._pages_before < 0:
            self._pages_before = engine.tally.pages - visit.is_page
        if visit.is_page:
            found = visit.was_relevant(engine.judge.threshold)
            self._recent = [*self._recent[1 - RECENT_PAGES :], found]
            if found:
                self._best = heapq.nlargest(5, [*self._best, (visit.relevance, visit.node, visit.title)])
        self.draw()

    def _show_task(self, message: str, done: int, total: int) -> None:
        spent = time.monotonic() - self._begun
        left = f", about {(total - done) * spent / done:,.0f} s left" if done else ""
        self._opening = f"{message}: {done:,} of {total:,}{left}" if done < total else ""
        self.draw()

    def draw(self) -> None:
        if self._live is None:
            self.line.show(lambda: "  ".join(self._headline()))
        elif time.monotonic() - self._shown >= EVERY:
            self._shown = time.monotonic()
            self._live.update(self._picture(), refresh=True)

    def _headline(self) -> list[str]:
        engine = self.crawl.engine
        if engine is None or self._opening:
            return [self._opening or "starting"]
        tally, seconds = engine.tally, max(0.001, time.monotonic() - self._begun)
        recent = f" ({sum(self._recent)} in the last {RECENT_PAGES})" if len(self._recent) == RECENT_PAGES else ""
        return [
            f"{tally.pages}/{self.crawl.options.budget} pages",
            f"harvest {tally.harvest:.1%}{recent}",
            f"{(tally.pages - max(0, self._pages_before)) / seconds:.1f} pages/s",
            f"{len(engine.in_flight)} in flight",
            f"frontier {engine.table.open_rows:,}",
        ]

    def _picture(self) -> Group:
        engine = self.crawl.engine
        if engine is None or self._opening:
            return Group(Text(self._opening or "starting ..."))
        width, budget, tally = self.console.width, self.crawl.options.budget, engine.tally
        length = max(10, min(40, width - 40))
        filled = round(min(1.0, tally.pages / budget) * length)
        lines = Table.grid(padding=(0, 1), expand=False)
        lines.add_column(style="bold", no_wrap=True)
        lines.add_column(overflow="ellipsis", no_wrap=True, max_width=max(20, width - 12))
        lines.add_row("topic", Text(self.crawl.options.subject or "your topic"))
        bar = Text("━" * filled, "green") + Text("━" * (length - filled), "dim")
        lines.add_row("pages", bar + Text(f" {tally.pages}/{budget}"))
        recent = f"{sum(self._recent)} relevant in the last {len(self._recent)} pages"
        lines.add_row("harvest", f"{tally.harvest:.1%}, {recent}")
        lines.add_row("", "  ".join(self._headline()[2:]))
        if waiting := engine.frontier.waiting():
            reasons = Counter(host_key.why for host_key in waiting).most_common(3)
            hosts = ", ".join(f"{count} for {reason}" for reason, count in reasons)
            lines.add_row("waiting", f"{many(len(waiting), 'host')}: {hosts}")
        for rank, (relevance, url, title) in enumerate(self._best):
            lines.add_row("best" if not rank else "", Text(f"{relevance:.2f} {title or url}  ").append(url, "dim"))
        return Group(lines)

    def farewell(self) -> None:
        if self.crawl.engine is not None:
            show(self.summary_lines(self.crawl.engine))

    def summary_lines(self, engine: Engine) -> Iterator[Part]:
        tally, path = engine.tally, self.crawl.path
        found, recent, roles, warning = self._found(engine), RecentHarvest(), "", ""
        if path is not None and tally.pages:
            with CrawlDirectory(path) as collection:
                array = collection.pages_array()
                found, recent, roles = array.estimate, array.recent, seed_roles(collection).description
                warning = weak_topic_warning(collection, found.pages)
        spent = f": {format_spending(tally.spent)}" if tally.wasted > 0 else ""
        harvest = found.relevant / max(1, found.pages)
        yield f"{found.description}: harvest rate {harvest:.1%}. {many(tally.requests, 'request')}{spent}."
        yield f"Ended: {engine.ending or 'interrupted'}."
        if recent.description:
            yield f"{recent.description[:1].upper()}{recent.description[1:]}."
        if roles:
            yield roles
        if warning:
            yield f"The topic's words are weak: {warning}."
        yield from self._remaining(engine)
        if path is None:
            return
        name = shlex.quote(str(path))
        yield f"See it with:  lycosa show {name}, lycosa report {name}"
        if not found.is_exact:
            yield WIDE_HINT.format(name) if found.is_wide else f"Label the least certain pages:  lycosa label {name}"
        if engine.table.open_rows and engine.ending != EXHAUSTED:
            more = larger_budget_option(engine.ending, self.crawl.options.budget, tally.pages, tally.requests)
            yield f"{'To look further anyway' if recent.is_exhausted else 'Continue with'}: lycosa resume {name}{more}"

    def _found(self, engine: Engine) -> Estimate:
        updates, probability = engine.model_updates, bool(engine.tally.settings.get("probability", False))
        relevances_now = updates.relevances_now()
        return estimate(relevances_now, engine.judge.threshold, engine.tally.pages, probability, updates.count_widths)

    def _remaining(self, engine: Engine) -> Iterator[Part]:
        if engine.ending in (HOSTS_SPENT, LEFT_ALONE) or not engine.tally.pages:
            for host_key in [host_key for host_key in engine.frontier.waiting() if host_key.why][:5]:
                yield f"  {host_key.name} still has links, but is paused: {host_key.why}"
        if pruned := engine.frontier.pruned():
            strategy = parse_spec(self.crawl.options.strategy)[0]
            yield f"Pruned by {strategy}: {pruned:,} URLs without value to it. Other strategies would fetch them."
            if remedy := getattr(getattr(engine.strategy, "estimator", engine.strategy), "remedy", ""):
                yield f"  {remedy}"
        reasons = Counter[str]()
        for group in engine.held_back():
            reasons[group.reason] += group.addresses
        if reasons:
            top = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(3))
            yield f"Held back as likely traps: {reasons.total():,} URLs ({top})."
