"""Commands that read: `lycosa show`."""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lycosa.cli.manners import output
from lycosa.collection.summary import Again, Summary, summarise
from lycosa.core.budget import EXHAUSTED, REFRESHED, larger, spending
from lycosa.core.errors import InputError
from lycosa.drawing.terminal import columns
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog

NARROW = 60
"""Below this width there is no room for tables with addresses."""


def show(directory: Path, *, json: bool, threshold: float | None = None) -> None:
    """Summarise a crawl."""
    options = Directory.read_options(directory)
    if not (directory / NAME).exists():
        raise InputError(f"nothing has been crawled in {directory} yet: start with 'lycosa resume {directory}'")
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        log.check()  # what is damaged would be counted as something else
    summary = summarise(directory, threshold=threshold)
    if json:
        print(
            jsonlib.dumps(
                {
                    "directory": str(directory),
                    "topic": options.subject,
                    "strategy": options.strategy,
                    **summary.as_dict(),
                }
            )
        )
        return
    console = output()
    state = "running" if summary.running else f"ended: {summary.ending}" if summary.ending else "interrupted"
    console.print(
        f"[bold]{escape(options.subject)}[/]  {escape(options.strategy)}, {state}",
        highlight=False,
    )
    of = f" of {options.budget}" if summary.pages <= options.budget else ""  # watching has a budget of its own
    console.print(
        f"{summary.estimate.told}, score {summary.asked}: harvest rate [bold]{summary.harvest:.1%}[/]",
        highlight=False,
    )
    spent = f": {spending(summary.spent)}" if summary.requests > summary.pages else ""
    told = f"{counted(summary.pages, 'page')}{of} by {counted(summary.requests, 'request')}{spent}"
    console.print(told, highlight=False)
    if summary.warning:
        console.print(f"[yellow]the topic's words are weak[/]: {escape(summary.warning)}", highlight=False)
    if summary.is_relevant:
        _curve(console, summary)
    if summary.best:
        _finds(console, summary)
    if summary.unsure:
        _unsure(console, summary, directory)
    _happenings(console, summary)
    if summary.again.looks:
        _again(console, summary.again)
    hosts = Counter(summary.hosts)
    told = ", ".join(f"{escape(host)} ({count})" for host, count in hosts.most_common(5))
    if not hosts:
        console.print("no pages yet")
    elif any(hosts):  # nodes of other spaces have none
        many = f"{len(hosts)} hosts[/], most pages from" if len(hosts) > 1 else "1 host[/],"
        console.print(f"[bold]{many} {told}", highlight=False)
    if summary.held:
        console.print(
            f"[bold]{summary.held:,} addresses held back[/] as likely traps, most of them at "
            f"{escape(summary.groups[0].where)} ({escape(summary.groups[0].reason)}); fetch them, too, with --trust",
            highlight=False,
        )
    if summary.ending == REFRESHED and not summary.running:
        print(f"look again with: lycosa refresh {shlex.quote(str(directory))}")
    elif not summary.running and summary.ending != EXHAUSTED:
        more = larger(summary.ending, options.budget, summary.pages, summary.requests)
        print(f"go on with: lycosa resume {shlex.quote(str(directory))}{more}")


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "page"), counted(1200, "request")
    ('1 page', '1,200 requests')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _titled(title: str) -> Table:
    """A table without lines, as wide as the terminal; in a file as wide as it has to be."""
    return Table(
        box=None,
        padding=(0, 1),
        show_edge=False,
        title=title,
        title_justify="left",
        title_style="bold",
        expand=sys.stdout.isatty(),
    )


def _stack(console: Console, title: str, rows: Iterable[tuple[str, str]], indent: int, *, whole: bool) -> None:
    """For a narrow terminal: what a table has in its last column stands below the rest, whole or on one line."""
    console.print(f"[bold]{title}[/]")
    for above, below in rows:
        console.print(escape(above), highlight=False, no_wrap=True, overflow="ellipsis")
        if below and whole:  # an address, to be copied
            console.print(f"[dim]{escape(below)}[/]", highlight=False, soft_wrap=True)
        elif below:
            told = f"{' ' * indent}[dim]{escape(below)}[/]"
            console.print(told, highlight=False, no_wrap=sys.stdout.isatty(), overflow="ellipsis")


def _finds(console: Console, summary: Summary) -> None:
    """The pages with the highest scores."""
    if console.width < NARROW:
        rows = ((f"{find['score']:.2f} {find['title'] or '-'}", find["url"]) for find in summary.best)
        _stack(console, "best pages", rows, 0, whole=True)
        return
    table = _titled("best pages")
    table.add_column("score", justify="right", no_wrap=True, min_width=5)
    table.add_column("page", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("address", style="dim", overflow="ellipsis", no_wrap=True, ratio=1)
    for find in summary.best:
        table.add_row(f"{find['score']:.2f}", escape(find["title"] or "-"), escape(find["url"]))
    console.print(table)


def _unsure(console: Console, summary: Summary, directory: Path) -> None:
    """The pages that it is least sure of."""
    title = f"unsure of these: say yes or no with 'lycosa label {shlex.quote(str(directory))}'"
    if console.width < NARROW:
        rows = ((f"{page.worth:.2f} {page.title or '-'}", page.url) for page in summary.unsure)
        _stack(console, title, rows, 0, whole=True)
        return
    console.print(f"[bold]{escape(title)}[/]", highlight=False)
    table = _titled("")
    table.title = None
    table.add_column("score", justify="right", no_wrap=True, min_width=5)
    table.add_column("page", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("address", style="dim", overflow="ellipsis", no_wrap=True, ratio=1)
    for page in summary.unsure:
        table.add_row(f"{page.worth:.2f}", escape(page.title or "-"), escape(page.url))
    console.print(table)


def _happenings(console: Console, summary: Summary) -> None:
    """How often each kind of visit ended how, and why the last failure of each did."""
    rows = [
        (count, f"{kind} {outcome}" if kind != outcome else kind, summary.reasons.get((kind, outcome), ""))
        for (kind, outcome), count in summary.outcomes.most_common()
    ]
    _counted(console, "what happened", rows)


def _counted(console: Console, title: str, rows: list[tuple[int, str, str]]) -> None:
    """How often what, and what the last of them said."""
    if console.width < NARROW:
        _stack(console, title, ((f"{count:>5} {told}", why) for count, told, why in rows), 6, whole=False)
        return
    table = _titled(title)
    table.add_column("count", justify="right", no_wrap=True, min_width=5)
    table.add_column("what", no_wrap=True, min_width=17)
    table.add_column("the last of them", style="dim", overflow="ellipsis", no_wrap=True, ratio=1)
    for count, told, why in rows:
        table.add_row(str(count), told, escape(why))
    console.print(table)


def _again(console: Console, again: Again) -> None:
    """What came of looking again: in a line, then how the looks ended."""
    changes = dict(again.changes)
    told = [f"{changes.get('changed', 0):,} changed"]
    told += [f"{changes[name]:,} {name}" for name in ("vanished", "moved", "returned") if changes.get(name)]
    told += [f"{changes['cosmetic']:,} only in looks"] if changes.get("cosmetic") else []
    last = datetime.fromtimestamp(again.last, UTC)
    looks = "1 look" if again.looks == 1 else f"{again.looks:,} looks"
    console.print(
        f"[bold]{looks} again[/]: {', '.join(told)}; last look {last:%Y-%m-%d %H:%M} UTC",
        highlight=False,
    )
    rows = [
        (count, "another version" if outcome == "ok" else outcome, again.reasons.get(outcome, ""))
        for outcome, count in again.outcomes.most_common()
    ]
    _counted(console, "how they ended", rows)


def _curve(console: Console, summary: Summary) -> None:
    """Harvest rate over the crawl, a column for each slice of pages."""
    width = max(10, min(60, console.width - 12, len(summary.is_relevant)))
    height = 6
    hits = summary.is_relevant
    rates = []
    for column in range(width):
        part = hits[column * len(hits) // width : (column + 1) * len(hits) // width] or [False]
        rates.append(sum(part) / len(part))
    for level, cells in enumerate(columns(rates, height)):
        label = "100 %" if level == 0 else "  0 %" if level == height - 1 else ""
        console.print(f"{label:>5} │[green]{cells}[/]", highlight=False)
    console.print(f"      └{'─' * width}", highlight=False)
    console.print(f"       harvest rate along {summary.pages} pages", style="dim", highlight=False)
