"""`lycosa show`: what a crawl has come to."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Column
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, Line
from lycosa.cli.printing import NARROW, UNCUT, Beside, Part, crawled, give, listing, output, right
from lycosa.drawing.figure import columns
from lycosa.drawing.formats import many
from lycosa.refresh.ledger import day_and_time

if TYPE_CHECKING:  # loaded when the command is run, not when it is asked for help
    from lycosa.collection.summary import Again, Summary
    from lycosa.core.options import Options


def show(directory: Dir, *, threshold: Line = None, json: Json = False) -> None:
    """Summarise a crawl: harvest, best pages, errors. Works while it runs."""
    from lycosa.collection import shelf
    from lycosa.collection.summary import summarise
    from lycosa.store.log import NAME, SqliteLog

    options = crawled(directory)
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        # Damaged events would be counted as something else. What the view on disk is made of was read by then.
        log.check(shelf.covered(directory, log))
    summary = summarise(directory, threshold=threshold)
    about = {"directory": directory, "topic": options.subject, "strategy": options.strategy}
    give({**about, **summary.as_dict()}, _parts(summary, options, directory), json=json)


def _parts(summary: Summary, options: Options, directory: Path) -> Iterator[Part]:
    from lycosa.core.budget import EXHAUSTED, REFRESHED, larger, spending

    name = shlex.quote(str(directory))
    state = "running" if summary.running else f"ended: {summary.ending}" if summary.ending else "interrupted"
    yield Text(options.subject, "bold") + Text(f"  {options.strategy}, {state}", "default")
    of = f" of {options.budget}" if summary.pages <= options.budget else ""  # watching has a budget of its own
    sites = f", on {many(summary.sites, 'site')}" if summary.sites else ""
    harvest = (f"{summary.harvest:.1%}", "bold")
    yield Text.assemble(f"{summary.estimate.told}, score {summary.asked}: harvest rate ", harvest, sites)
    spent = f": {spending(summary.spent)}" if summary.requests > summary.pages else ""
    yield f"{many(summary.pages, 'page')}{of} by {many(summary.requests, 'request')}{spent}"
    if summary.warning:
        yield Text.assemble(("the topic's words are weak", "yellow"), f": {summary.warning}")
    if summary.is_relevant:
        yield from _curve(summary)
    yield from _pages("best pages", [(page["score"], page["title"], page["url"]) for page in summary.best])
    unsure = f"least certain pages: label them with 'lycosa label {name}'"
    yield from _pages(unsure, [(page.worth, page.title, page.url) for page in summary.unsure])
    rows = [
        (str(count), f"{kind} {outcome}" if kind != outcome else kind, summary.reasons.get((kind, outcome), ""))
        for (kind, outcome), count in summary.outcomes.most_common()
    ]
    yield from _listed("what happened", ("count", "what", "the last of them"), rows, address=False)
    if summary.again.looks:
        yield from _again(summary.again)
    yield from _hosts(summary)
    if summary.ending == REFRESHED and not summary.running:
        yield f"revisit with: lycosa refresh {name}"
    elif not summary.running and summary.ending != EXHAUSTED:
        more = larger(summary.ending, options.budget, summary.pages, summary.requests)
        yield f"continue with: lycosa resume {name}{more}"


def _hosts(summary: Summary) -> Iterator[Part]:
    """Yield where the pages are from, and what was held back."""
    hosts = Counter(summary.hosts)
    most = ", ".join(f"{host} ({count})" for host, count in hosts.most_common(5))
    if not hosts:
        yield "no pages yet"
    elif any(hosts):  # nodes of other spaces have none
        title, rest = (f"{len(hosts)} hosts", ", most pages from ") if len(hosts) > 1 else ("1 host", ", ")
        yield Text.assemble((title, "bold"), rest, most)
    if summary.held:
        most_at = f"{summary.groups[0].where} ({summary.groups[0].reason})"
        rest = f" as likely traps, most of them at {most_at}; fetch them with --trust"
        yield Text.assemble((f"{summary.held:,} addresses held back", "bold"), rest)


def _listed(
    title: str, headers: tuple[str, str, str], rows: Sequence[tuple[str, str, str]], *, address: bool
) -> Iterator[Part]:
    """Yield a table. In a narrow terminal the last column stands below the rest, an address whole, to be copied."""
    yield Text(title, "bold")
    if output().width >= NARROW:
        short: dict[str, Any] = {"overflow": "ellipsis", "no_wrap": True, "ratio": 1}
        middle = Column(headers[1], **short) if address else Column(headers[1], no_wrap=True, min_width=17)
        all_columns = [right(headers[0], no_wrap=True, min_width=5), middle, Column(headers[2], style="dim", **short)]
        yield listing(all_columns, rows, expand=output().width < UNCUT)
        return
    for first, second, third in rows:
        yield Beside(f"{first if address else f'{first:>5}'} ", second)
        yield Beside("" if address else " " * 6, Text(third, "dim"))


def _pages(title: str, pages: Sequence[tuple[float, str, str]]) -> Iterator[Part]:
    rows = [(f"{score:.2f}", name or "-", url) for score, name, url in pages]
    if rows:
        yield from _listed(title, ("score", "page", "address"), rows, address=True)


def _again(again: Again) -> Iterator[Part]:
    """Yield what came of revisits: in a line, then how they ended."""
    changes = dict(again.changes)
    kinds = [f"{changes.get('changed', 0):,} changed"]
    kinds += [f"{changes[name]:,} {name}" for name in ("vanished", "moved", "returned") if changes.get(name)]
    kinds += [f"{changes['cosmetic']:,} only cosmetic"] if changes.get("cosmetic") else []
    line = f": {', '.join(kinds)}; the last {day_and_time(again.last)}"
    yield Text(many(again.looks, "revisit"), "bold") + Text(line, "default")
    rows = [
        (str(count), "another version" if outcome == "ok" else outcome, again.reasons.get(outcome, ""))
        for outcome, count in again.outcomes.most_common()
    ]
    yield from _listed("how they ended", ("count", "what", "the last of them"), rows, address=False)


def _curve(summary: Summary) -> Iterator[Part]:
    """Yield the harvest rate over the crawl, a column for each slice of pages."""
    hits, height = summary.is_relevant, 6
    width = max(10, min(60, output().width - 12, len(hits)))
    slices = (hits[at * len(hits) // width : (at + 1) * len(hits) // width] or [False] for at in range(width))
    for level, cells in enumerate(columns([sum(part) / len(part) for part in slices], height)):
        label = "100 %" if level == 0 else "  0 %" if level == height - 1 else ""
        yield Text(f"{label:>5} │").append(cells, "green")
    yield f"      └{'─' * width}"
    yield Text(f"       harvest rate along {summary.pages} pages", "dim")
