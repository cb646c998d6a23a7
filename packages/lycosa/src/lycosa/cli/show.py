"""`lycosa show`: summarise a crawl."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from lycosa.cli.parameters import Dir, Json, Threshold
from lycosa.cli.printing import LabelledText, Part, output, page_parts, print_result, require_crawl
from lycosa.drawing.figure import columns
from lycosa.drawing.formats import many
from lycosa.revisit.ledger import day_and_time

if TYPE_CHECKING:  # imported only when the command runs
    from lycosa.collection.counts import RevisitCounts
    from lycosa.collection.summary import Summary
    from lycosa.core.options import Options


def show(directory: Dir, *, threshold: Threshold = None, json: Json = False) -> None:
    """Summarise a crawl: harvest, best pages, errors. Works while it runs."""
    from lycosa.collection.summary import summarise

    options = require_crawl(directory)
    summary = summarise(directory, threshold=threshold)
    about = {"directory": directory, "topic": options.subject, "strategy": options.strategy}
    print_result({**about, **summary.as_dict()}, _parts(summary, options, directory), json=json)


def _parts(summary: Summary, options: Options, directory: Path) -> Iterator[Part]:
    from lycosa.collection.estimate import WIDE_HINT
    from lycosa.core.budget import format_spending

    name = shlex.quote(str(directory))
    state = "running" if summary.running else f"ended: {summary.ending}" if summary.ending else "interrupted"
    yield Text.assemble((options.subject, "bold"), f"  {options.strategy}, {state}")
    of = f" of {options.budget}" if summary.pages <= options.budget else ""  # a watch has its own budget
    sites = f", on {many(summary.sites, 'site')}" if summary.sites else ""
    harvest = (f"{summary.harvest:.1%}", "bold")
    yield Text.assemble(f"{summary.estimate.description}, relevance {summary.criterion}: harvest rate ", harvest, sites)
    spent = f": {format_spending(summary.spent)}" if summary.requests > summary.pages else ""
    yield f"{many(summary.pages, 'page')}{of} by {many(summary.requests, 'request')}{spent}"
    if summary.recent.description:
        yield summary.recent.description
    if roles := summary.seeds.description:
        yield roles
    if summary.estimate.is_wide:
        yield WIDE_HINT.format(name)
    if summary.warning:
        yield Text.assemble(("the topic's words are weak", "yellow"), f": {summary.warning}")
    if summary.pages:
        yield from _curve(summary)
    yield from [Text("best pages", "bold")] if summary.best else []
    for best in summary.best:
        yield from page_parts(best["relevance"], best["title"], best["url"])
    unsure = f"least certain pages: label them with 'lycosa label {name}'"
    yield from [Text(unsure, "bold")] if summary.unsure else []
    for page in summary.unsure:
        yield from page_parts(page.relevance_now, page.title, page.url)
    yield Text("outcomes, with the last reason", "bold")
    yield from _counted(
        (each.count, f"{each.kind} {each.outcome}" if each.kind != each.outcome else each.kind, each.last)
        for each in summary.outcomes
    )
    if summary.revisits.count:
        yield from _again(summary.revisits)
    yield from _hosts(summary)
    yield from _next_step(summary, options, name)


def _next_step(summary: Summary, options: Options, name: str) -> Iterator[Part]:
    from lycosa.core.budget import EXHAUSTED, NOTHING_DUE, larger_budget_option

    if summary.ending == NOTHING_DUE and not summary.running:
        yield f"revisit with: lycosa refresh {name}"
    elif not summary.running and summary.ending != EXHAUSTED:
        more = larger_budget_option(summary.ending, options.budget, summary.pages, summary.requests)
        what = "to look further anyway" if summary.recent.is_exhausted else "continue with"
        yield f"{what}: lycosa resume {name}{more}"


def _hosts(summary: Summary) -> Iterator[Part]:
    top = ", ".join(f"{host} ({count})" for host, count in summary.pages_by_host.most_common(5))
    if not summary.pages_by_host:
        yield "no pages yet"
    elif any(summary.pages_by_host):  # nodes of other spaces have no host
        count = len(summary.pages_by_host)
        title, rest = (f"{count} hosts", ", most pages from ") if count > 1 else ("1 host", ", ")
        yield Text.assemble((title, "bold"), rest, top)
    if summary.held:
        most_at = f"{summary.groups[0].where} ({summary.groups[0].reason})"
        rest = f" as likely traps, most of them at {most_at}; fetch them with --trust"
        yield Text.assemble((f"{summary.held:,} URLs held back", "bold"), rest)


def _counted(rows: Iterable[tuple[int, str, str]]) -> Iterator[Part]:
    for count, what, reason in rows:
        yield f"{count:>6}  {what}"
        lines = re.split(r" (?=https?://)", reason) if reason else []  # URLs get their own line
        yield from (LabelledText(" " * 8, Text(line, "dim")) for line in lines)


def _again(again: RevisitCounts) -> Iterator[Part]:
    changes = dict(again.changes)
    kinds = [f"{changes.get('changed', 0):,} changed"]
    kinds += [f"{changes[name]:,} {name}" for name in ("vanished", "moved", "returned") if changes.get(name)]
    kinds += [f"{changes['cosmetic']:,} only cosmetic"] if changes.get("cosmetic") else []
    line = f": {', '.join(kinds)}; the last {day_and_time(again.last)}"
    yield Text.assemble((many(again.count, "revisit"), "bold"), line)
    yield from _counted(
        (count, "another version" if outcome == "ok" else outcome, again.reasons.get(outcome, ""))
        for outcome, count in again.outcomes.most_common()
    )


def _curve(summary: Summary) -> Iterator[Part]:
    height, width = 6, max(10, min(60, output().width - 12, summary.pages))
    for level, cells in enumerate(columns(summary.harvest_rates(width), height)):
        label = "100 %" if level == 0 else "  0 %" if level == height - 1 else ""
        yield Text(f"{label:>5} │").append(cells, "green")
    yield f"      └{'─' * width}"
    yield Text(f"       harvest rate along {summary.pages:,} pages", "dim")
