"""`lycosa show`: what a crawl has come to."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column

from lycosa.cli.parameters import Dir, Json, Line
from lycosa.cli.printing import NARROW, crawled, listing, output, print_json, right
from lycosa.drawing.figure import columns
from lycosa.drawing.formats import many
from lycosa.refresh.ledger import day_and_time

if TYPE_CHECKING:  # loaded when the command is run, not when it is asked for help
    from lycosa.collection.summary import Again, Summary
    from lycosa.core.options import Options


def show(directory: Dir, threshold: Line = None, json: Json = False) -> None:
    """Summarise a crawl: harvest, best pages, errors. Works while it runs."""
    from lycosa.collection import shelf
    from lycosa.collection.summary import summarise
    from lycosa.store.log import NAME, SqliteLog

    options = crawled(directory)
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        # What is damaged would be counted as something else. What the view on disk is made of was read by then.
        log.check(shelf.covered(directory, log))
    summary = summarise(directory, threshold=threshold)
    if json:
        about = {"directory": directory, "topic": options.subject, "strategy": options.strategy}
        print_json({**about, **summary.as_dict()})
    else:
        _show(output(), summary, options, directory)


def _show(console: Console, summary: Summary, options: Options, directory: Path) -> None:
    from lycosa.core.budget import EXHAUSTED, REFRESHED, larger, spending

    state = "running" if summary.running else f"ended: {summary.ending}" if summary.ending else "interrupted"
    console.print(f"[bold]{escape(options.subject)}[/]  {escape(options.strategy)}, {state}")
    of = f" of {options.budget}" if summary.pages <= options.budget else ""  # watching has a budget of its own
    sites = f", on {many(summary.sites, 'site')}" if summary.sites else ""
    console.print(f"{summary.estimate.told}, score {summary.asked}: harvest rate [bold]{summary.harvest:.1%}[/]{sites}")
    spent = f": {spending(summary.spent)}" if summary.requests > summary.pages else ""
    console.print(f"{many(summary.pages, 'page')}{of} by {many(summary.requests, 'request')}{spent}")
    if summary.warning:
        console.print(f"[yellow]the topic's words are weak[/]: {escape(summary.warning)}")
    if summary.is_relevant:
        _curve(console, summary)
    _pages(console, "best pages", [(page["score"], page["title"], page["url"]) for page in summary.best])
    unsure = f"least certain pages: label them with 'lycosa label {shlex.quote(str(directory))}'"
    _pages(console, unsure, [(page.worth, page.title, page.url) for page in summary.unsure])
    _happenings(console, summary)
    if summary.again.looks:
        _again(console, summary.again)
    _hosts(console, summary)
    name = shlex.quote(str(directory))
    if summary.ending == REFRESHED and not summary.running:
        print(f"revisit with: lycosa refresh {name}")
    elif not summary.running and summary.ending != EXHAUSTED:
        more = larger(summary.ending, options.budget, summary.pages, summary.requests)
        print(f"continue with: lycosa resume {name}{more}")


def _hosts(console: Console, summary: Summary) -> None:
    """Where the pages are from, and what was held back."""
    hosts = Counter(summary.hosts)
    most = ", ".join(f"{escape(host)} ({count})" for host, count in hosts.most_common(5))
    if not hosts:
        console.print("no pages yet")
    elif any(hosts):  # nodes of other spaces have none
        heading = f"{len(hosts)} hosts[/], most pages from" if len(hosts) > 1 else "1 host[/],"
        console.print(f"[bold]{heading} {most}")
    if summary.held:
        console.print(
            f"[bold]{summary.held:,} addresses held back[/] as likely traps, most of them at "
            f"{escape(summary.groups[0].where)} ({escape(summary.groups[0].reason)}); fetch them with --trust"
        )


def _listed(
    console: Console, title: str, headers: tuple[str, str, str], rows: Sequence[tuple[str, str, str]], *, address: bool
) -> None:
    """A table as wide as the terminal; in a file as wide as it has to be. In a narrow terminal what is in the last
    column stands below the rest: an address whole, to be copied, and other texts on one line.
    """
    console.print(f"[bold]{escape(title)}[/]")
    if console.width >= NARROW:
        short: dict[str, Any] = {"overflow": "ellipsis", "no_wrap": True, "ratio": 1}
        middle = Column(headers[1], **short) if address else Column(headers[1], no_wrap=True, min_width=17)
        columns = [right(headers[0], no_wrap=True, min_width=5), middle, Column(headers[2], style="dim", **short)]
        console.print(listing(columns, rows, expand=sys.stdout.isatty()))
        return
    for first, second, third in rows:
        console.print(escape(f"{first if address else f'{first:>5}'} {second}"), no_wrap=True, overflow="ellipsis")
        if third and address:
            console.print(f"[dim]{escape(third)}[/]", soft_wrap=True)
        elif third:
            console.print(f"{'':6}[dim]{escape(third)}[/]", no_wrap=sys.stdout.isatty(), overflow="ellipsis")


def _pages(console: Console, title: str, pages: Sequence[tuple[float, str, str]]) -> None:
    rows = [(f"{score:.2f}", name or "-", url) for score, name, url in pages]
    if rows:
        _listed(console, title, ("score", "page", "address"), rows, address=True)


def _happenings(console: Console, summary: Summary) -> None:
    rows = [
        (str(count), f"{kind} {outcome}" if kind != outcome else kind, summary.reasons.get((kind, outcome), ""))
        for (kind, outcome), count in summary.outcomes.most_common()
    ]
    _listed(console, "what happened", ("count", "what", "the last of them"), rows, address=False)


def _again(console: Console, again: Again) -> None:
    """What came of looking again: in a line, then how the looks ended."""
    changes = dict(again.changes)
    told = [f"{changes.get('changed', 0):,} changed"]
    told += [f"{changes[name]:,} {name}" for name in ("vanished", "moved", "returned") if changes.get(name)]
    told += [f"{changes['cosmetic']:,} only cosmetic"] if changes.get("cosmetic") else []
    looks = many(again.looks, "revisit")
    console.print(f"[bold]{looks}[/]: {', '.join(told)}; the last {day_and_time(again.last)}")
    rows = [
        (str(count), "another version" if outcome == "ok" else outcome, again.reasons.get(outcome, ""))
        for outcome, count in again.outcomes.most_common()
    ]
    _listed(console, "how they ended", ("count", "what", "the last of them"), rows, address=False)


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
        console.print(f"{label:>5} │[green]{cells}[/]")
    console.print(f"      └{'─' * width}")
    console.print(f"       harvest rate along {summary.pages} pages", style="dim")
