"""`lycosa refresh` and `lycosa watch`: look again at what is due, and say what has become of it."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from lycosa import crawling
from lycosa.cli.hunting import Onlooker, until_stopped
from lycosa.cli.parameters import Dir, Json, Quiet, crawl_options, with_more
from lycosa.cli.printing import COLOURS, output, print_json
from lycosa.cli.progress import StatusLine
from lycosa.core.durations import spoken
from lycosa.core.options import Options, default_of
from lycosa.core.protocols import NEVER
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.crawling.assembly import refresher_of
from lycosa.drawing.formats import many
from lycosa.refresh.change import change_of
from lycosa.refresh.ledger import day_and_time, plain
from lycosa.store.directory import SHARDS, Directory

Now = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Revisit matching addresses first, due or not; repeatable. Not saved."),
]
Requests = Annotated[int | None, typer.Option(metavar="N", help="Maximum number of requests in this run.")]
MaxTime = Annotated[float | None, typer.Option(help="Maximum duration of this run in seconds.")]
Dedupe = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR",
        help="An additional earlier crawl, or CDXJ index, to refer to for content it already has; repeatable.",
    ),
]


@with_more(crawl_options(of_refresh=True), at=8)
def refresh(
    directory: Dir,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Revisit every watched page, due or not.")] = False,
    now: Now = None,
    requests: Requests = None,
    max_time: MaxTime = None,
    dedupe: Dedupe = None,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Revisit the pages that are due and report changes.

    Unchanged pages cost very little, because hosts send a page only if it has changed. The schedule decides which pages
    are due; --all revisits every page. Settings are saved in the directory. 'lycosa watch' does this continuously.
    """
    _join(directory)
    chosen = _chosen(directory, {"now": now, "requests": requests, "max_time": max_time, "dedupe": dedupe, **options})
    _run(crawling.revisit(directory, everything=everything, **chosen), quiet=quiet, json=json)


@with_more(crawl_options(of_refresh=True), at=7)
def watch(
    directory: Dir,
    *,
    now: Now = None,
    requests: Requests = None,
    max_time: MaxTime = None,
    dedupe: Dedupe = None,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Keep a crawl fresh: revisit pages until Ctrl-C.

    Stays within a budget of requests per hour. When restarted, even after a crash, it continues where it was. Changes
    are announced by feeds (changes.atom in the directory), and by messages to --notify.
    """
    _join(directory)
    chosen = _chosen(directory, {"now": now, "requests": requests, "max_time": max_time, "dedupe": dedupe, **options})
    _run(crawling.watch(directory, **chosen), quiet=quiet, json=json)


def _join(directory: Path) -> None:
    """What shards of a cluster have recorded is one crawl's from here on."""
    if any(directory.glob(f"{SHARDS}*")):  # also what was broken off while they were shared out
        from lycosa.cluster.splitting import join

        join(directory)


def _chosen(directory: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What was said; an empty value takes back what an earlier run was told. Earlier crawls join those so far."""
    chosen = {name: value for name, value in given.items() if value is not None and value != []}
    for name, value in chosen.items():
        if name == "dedupe":
            named = [os.path.abspath(one) if one else "" for one in value]
            chosen[name] = [*Directory.read_options(directory).dedupe, *named]
        elif value in ("", [""]):
            chosen[name] = [] if value == [""] else default_of(Options.__dataclass_fields__[name])
    return chosen


def _run(crawl: Crawl, *, quiet: bool, json: bool) -> None:
    told = Telling(crawl, quiet=quiet, json=json)
    try:
        asyncio.run(until_stopped(crawl, told))
    finally:
        told.notes()
    told.farewell()


class Telling(Onlooker):
    """What is said while it runs: each change as it is found, and a line that says how far it is."""

    def __init__(self, crawl: Crawl, *, quiet: bool, json: bool) -> None:
        self.crawl, self.quiet, self.json = crawl, quiet, json
        self.line = StatusLine(30.0)  # seconds between two lines where there is no terminal
        self.output = output()
        self.looks = 0
        self.unchanged = 0
        self.found: Counter[str] = Counter()
        self.cosmetic = 0
        self.aside = 0  # new pages off the topic
        self.failed: Counter[str] = Counter()
        self._told_notes = 0

    def __exit__(self, *error: object) -> None:
        self.line.clear()

    def say(self, text: str) -> None:
        if not self.quiet:
            self.line.clear()
            self.line.console.print(text)

    def update(self, visit: Visit) -> None:
        """Take in a visit; tell what has become of its page."""
        change = change_of(visit)
        if visit.follows:
            self.looks += 1
            self.unchanged += visit.outcome == "unchanged"
            if change is None and visit.outcome not in ("ok", "unchanged", "redirect"):
                self.failed[visit.outcome] += 1
        self.aside += visit.is_page and change is None and visit.arm != "moved"
        if change is not None:
            self.cosmetic += not change.matters
            self.found[change.what] += change.matters
            if self.json:
                told = {"url": visit.node, "at": visit.started, "title": visit.title, **change.as_data()}
                print_json(told)
            elif change.matters and not self.quiet:
                self.line.clear()
                self._tell(visit, change.what, _how(visit))
        self.draw()

    def _tell(self, visit: Visit, what: str, how: str) -> None:
        line = Text().append(f"{what:<9}", COLOURS[what])
        line.append(f"{how}  " if how else "", "")
        line.append(plain(visit.title) or plain(visit.node), "bold")
        self.output.print(line, soft_wrap=False)
        if visit.title:
            self.output.print(Text(f"{'':9}{plain(visit.node)}", "dim"), overflow="fold")

    def draw(self) -> None:
        if self.quiet or self.json:
            return
        self.notes()
        self.line.show(self._headline)

    def _headline(self) -> str:
        engine = self.crawl.engine
        if engine is None:
            return "reading the log"
        told = f"{self.looks} looks, {self.unchanged} unchanged, {sum(self.found.values())} with news"
        told += f", {self.aside:,} new but not relevant" if self.aside else ""
        if engine.in_flight:
            return f"{told}; {len(engine.in_flight)} under way"
        now = engine.clock()
        until = max(engine.keeper.next_due(now), engine.picker.pace.next(now))
        return f"{told}; next in {spoken(max(1.0, until - now))}" if now < until < NEVER else told

    def notes(self) -> None:
        """What else a person should know."""
        if self.quiet:
            return
        for note in self.crawl.notes[self._told_notes :]:
            self.line.clear()
            print(f"note: {note}", file=sys.stderr)
        self._told_notes = len(self.crawl.notes)

    def farewell(self) -> None:
        """What came of it, and what to do next."""
        engine, name = self.crawl.engine, shlex.quote(str(self.crawl.path))
        keeper = None if engine is None else refresher_of(engine.keeper)
        if engine is None or self.quiet or keeper is None:
            return
        options = self.crawl.options
        if self.json:
            told: dict[str, Any] = {"looks": self.looks, "unchanged": self.unchanged, "cosmetic": self.cosmetic}
            told |= {"ending": engine.ending, "changes": self.found, "failed": self.failed}
            print_json(told)
            return
        found = ", ".join(f"{count} {what}" for what, count in self.found.most_common() if count) or "nothing new"
        rest = [f"{self.unchanged} unchanged"] if self.unchanged else []
        rest += [f"{self.cosmetic} only cosmetic"] if self.cosmetic else []
        rest += [f"{self.aside:,} new but not relevant"] if self.aside else []
        rest += [f"{count} {outcome}" for outcome, count in self.failed.most_common()]
        also = f"; {', '.join(rest)}" if rest else ""
        self.output.print(f"{many(self.looks, 'look')}: {found}{also}. Ended: {engine.ending or 'stopped'}.")
        if not self.looks:
            due = keeper.soonest(engine.clock())
            when = f"on {day_and_time(due)}" if due < NEVER else "never"
            self.output.print(
                f"{len(keeper.watched)} pages are watched; the next is due {when} "
                f"(schedule {options.schedule}, {options.per_hour:g} requests an hour).",
                highlight=False,
            )
            self.output.print(f"Revisit all of them now with:  lycosa refresh {name} --all")
        elif sum(self.found.values()):
            self.output.print(f"See what changed with:  lycosa changes {name}, lycosa diff {name} URL")


def _how(visit: Visit) -> str:
    """A change in a word or two."""
    change = change_of(visit)
    assert change is not None
    if change.what == "changed":
        return f"{change.kind} {max(1, round(100 * change.magnitude))} %"
    if change.what == "new":
        return f"score {visit.worth:.2f}"
    return plain("; ".join(change.says), 60)
