"""`lycosa refresh` and `lycosa watch`: revisit due pages and report changes."""

from __future__ import annotations

import asyncio
import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import starmap
from typing import Annotated, Any

from rich.text import Text

from lycosa import crawling
from lycosa.cli.changes import magnitude
from lycosa.cli.commands import optional, with_more
from lycosa.cli.crawl_runner import ProgressDisplay, until_stopped
from lycosa.cli.parameters import Dir, Json, MaxTime, Quiet, crawl_options
from lycosa.cli.printing import COLOURS, LabelledText, Part, print_json, print_notes, print_result, show
from lycosa.cli.progress_bar import StatusLine
from lycosa.core.durations import format_duration
from lycosa.core.options import Options, default_of
from lycosa.core.protocols import NEVER
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.crawling.assembly import refresher_of
from lycosa.drawing.formats import many
from lycosa.revisit.change import Change, change_of
from lycosa.revisit.ledger import day_and_time, plain_line

SETTINGS = {
    "now": Annotated[list[str] | None, "PATTERN", "Revisit matching URLs first, due or not; repeatable. Not saved."],
    "requests": Annotated[int | None, "N", "Maximum number of requests in this run."],
    "max_time": MaxTime,
}
OPTIONS = [*starmap(optional, SETTINGS.items()), *crawl_options(of_refresh=True)]


@with_more(OPTIONS)
def refresh(
    directory: Dir,
    *,
    everything: Annotated[bool, "--all", "Revisit every watched page, due or not."] = False,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Revisit the pages that are due and report changes.

    Unchanged pages cost very little, because hosts send a page only if it has changed. The schedule decides which pages
    are due; --all revisits every page. Settings are saved in the directory. 'lycosa watch' does this continuously.
    """
    _run(crawling.refresh(directory, everything=everything, **_chosen(options)), quiet=quiet, json=json)


@with_more(OPTIONS)
def watch(directory: Dir, *, quiet: Quiet = False, json: Json = False, **options: Any) -> None:
    """Keep a crawl fresh: revisit pages until Ctrl-C.

    Stays within a budget of requests per hour. When restarted, even after a crash, it continues where it was. Changes
    are announced by feeds (changes.atom in the directory), and by messages to --notify.
    """
    _run(crawling.watch(directory, **_chosen(options)), quiet=quiet, json=json)


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    """Return the given options; an empty value resets an earlier setting."""
    chosen = {name: value for name, value in given.items() if value is not None and value != []}
    for name, value in chosen.items():
        if value in ("", [""]):
            chosen[name] = [] if value == [""] else default_of(Options.__dataclass_fields__[name])
    return chosen


def _run(crawl: Crawl, *, quiet: bool, json: bool) -> None:
    progress = RefreshProgress(crawl, quiet=quiet, json=json)
    try:
        asyncio.run(until_stopped(crawl, progress))
    finally:
        progress.notes()
    progress.farewell()


class RefreshProgress(ProgressDisplay):
    """Shows each change when it is detected, and a status line."""

    def __init__(self, crawl: Crawl, *, quiet: bool, json: bool) -> None:
        super().__init__(StatusLine(30.0))
        self.crawl, self.quiet, self.json = crawl, quiet, json
        self.revisits = self.unchanged = self.cosmetic = 0
        self.irrelevant = 0  # pages that are new but not relevant
        self.found: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._notes = 0  # notes printed so far

    def print_line(self, text: str) -> None:
        if not self.quiet:
            super().print_line(text)

    def update(self, visit: Visit) -> None:
        change = change_of(visit)
        if visit.follows:
            self.revisits += 1
            self.unchanged += visit.outcome == "unchanged"
            if change is None and visit.outcome not in ("ok", "unchanged", "redirect"):
                self.failed[visit.outcome] += 1
        self.irrelevant += visit.is_page and change is None and visit.arm != "moved"
        if change is not None:
            self.cosmetic += not change.matters
            self.found[change.what] += change.matters
            if self.json:
                print_json({"url": visit.node, "at": visit.started, "title": visit.title, **change.as_data()})
            elif change.matters and not self.quiet:
                self.line.clear()
                show(_change(visit, change))
        self.draw()

    def draw(self) -> None:
        if not (self.quiet or self.json):
            self.notes()
            self.line.show(self._headline)

    def _headline(self) -> str:
        engine = self.crawl.engine
        if engine is None:
            return "reading the log"
        line = f"{self.revisits} revisits, {self.unchanged} unchanged, {sum(self.found.values())} changed"
        line += f", {self.irrelevant:,} new but not relevant" if self.irrelevant else ""
        if engine.in_flight:
            return f"{line}; {len(engine.in_flight)} in flight"
        now = engine.clock()
        until = max(engine.scheduler.next_due(now), engine.picker.pace.next(now))
        return f"{line}; next in {format_duration(max(1.0, until - now))}" if now < until < NEVER else line

    def notes(self) -> None:
        if not self.quiet and self.crawl.notes[self._notes :]:
            self.line.clear()
            print_notes(self.crawl.notes[self._notes :])
            self._notes = len(self.crawl.notes)

    def farewell(self) -> None:
        engine = self.crawl.engine
        if engine is not None and refresher_of(engine.scheduler) is not None:
            facts = {name: getattr(self, name) for name in ("revisits", "unchanged", "cosmetic", "failed")}
            facts |= {"ending": engine.ending, "changes": self.found}
            print_result(facts, self.summary_lines(), json=self.json and not self.quiet, quiet=self.quiet)

    def summary_lines(self) -> Iterator[Part]:
        engine, name, options = self.crawl.engine, shlex.quote(str(self.crawl.path)), self.crawl.options
        assert engine is not None
        found = ", ".join(f"{count} {what}" for what, count in self.found.most_common() if count) or "nothing new"
        rest = [f"{self.unchanged} unchanged"] if self.unchanged else []
        rest += [f"{self.cosmetic} only cosmetic"] if self.cosmetic else []
        rest += [f"{self.irrelevant:,} new but not relevant"] if self.irrelevant else []
        rest += [f"{count} {outcome}" for outcome, count in self.failed.most_common()]
        also = f"; {', '.join(rest)}" if rest else ""
        yield f"{many(self.revisits, 'revisit')}: {found}{also}. Ended: {engine.ending or 'stopped'}."
        if not self.revisits:
            scheduler = refresher_of(engine.scheduler)
            assert scheduler is not None
            due = scheduler.soonest(engine.clock())
            when = f"on {day_and_time(due)}" if due < NEVER else "never"
            limits = f"schedule {options.schedule}, {options.per_hour:g} requests an hour"
            yield f"{len(scheduler.watched)} pages are watched; the next is due {when} ({limits})."
            yield f"Revisit all of them now with:  lycosa refresh {name} --all"
        elif sum(self.found.values()):
            yield f"See what changed with:  lycosa changes {name}, lycosa changes {name} URL"


def _change(visit: Visit, change: Change) -> Iterator[Part]:
    how = magnitude(change) or plain_line("; ".join(change.says), 60)
    if change.what == "new":
        how = f"relevance {visit.relevance_now:.2f}"
    first = Text(f"{change.what:<9}", COLOURS[change.what])
    yield LabelledText(first, Text(f"{how}  " if how else "") + Text(plain_line(visit.title) or visit.node, "bold"))
    if visit.title:
        yield LabelledText(" " * 9, Text(visit.node, "dim"))
