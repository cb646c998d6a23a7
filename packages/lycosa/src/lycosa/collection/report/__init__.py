"""`lycosa report`: a crawl as one self-contained HTML page.

`gather` reads the figures from the crawl's log; `render` formats them.

Titles, anchors and URLs are untrusted. All output is escaped and stripped of characters that could hide or rearrange
text; only web URLs become links; the page's content security policy allows no script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from heapq import nsmallest
from itertools import islice
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from lycosa.collection import counts
from lycosa.collection.best import best_pages
from lycosa.collection.causes import KINDS
from lycosa.collection.counts import CHANGE_KINDS, Outcome, RevisitCounts
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.pages import page_at, select_pages
from lycosa.collection.report import figures
from lycosa.collection.report.cards import Cards, learned_terms, topic_highlights
from lycosa.collection.report.figures import Freshness, ReportFigures
from lycosa.core.budget import EXHAUSTED, NOTHING_DUE, format_spending
from lycosa.core.options import DEFAULT_STRATEGY, Options, default_of, flag_of
from lycosa.drawing.formats import score
from lycosa.drawing.templates import environment
from lycosa.revisit.ledger import ChangeFilter, changes
from lycosa.store.log import SqliteLog
from lycosa.version import __version__
from lycosa.web.robots import product

MAX_BEST, MAX_CARDS, MAX_HOSTS = 50, 300, 60  # maximum rows of the lists
MAX_PATHS = 12  # number of relevant pages whose paths are drawn

_WANTED = ChangeFilter(what=("changed", "vanished", "moved", "returned"))


@cache
def _templates() -> Environment:
    return environment("lycosa.collection.report", threshold_text)


def render(report: ReportFigures) -> str:
    templates = _templates()
    script = templates.get_template("page.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return templates.get_template("report.html").render(report=report, script=Markup(script), digest=f"sha256-{digest}")


def threshold_text(threshold: float) -> str:
    """Format a threshold for the report, with two decimal places.

    >>> threshold_text(0.1), threshold_text(1e-9)
    ('0.10 or more', 'above 0')
    """
    text = describe_threshold(threshold)
    return f"{score(threshold)} or more" if text.endswith("more") else text


def gather(collection: CrawlDirectory) -> ReportFigures:
    """Return all figures of a crawl. Events recorded after the start of this call are ignored."""
    with collection.log.batch():  # all queries see the same state of the log
        return _gather(collection)


def _gather(collection: CrawlDirectory) -> ReportFigures:
    options, log = collection.options, collection.log
    report = ReportFigures(
        directory=str(collection.path),
        subject=options.subject,
        strategy=options.strategy,
        budget=options.budget,
        has_topic_words=bool(options.topic),
        archived=options.archive,
        traps=options.traps,
        version=__version__,
        created=time.time(),
    )
    array, runs, visits = collection.pages_array("depth", "first_ended"), counts.runs(log), counts.visits(log)
    report.read(collection, 10)
    cards = Cards(collection, topic_highlights(options, learned_terms(log)))

    report.requests, report.size, report.recovered = visits.spent.total(), visits.size, counts.recovered(log)
    report.spent = format_spending(visits.spent)
    report.zero_count = int((array["relevance_now"] == 0).sum())
    report.runs = len(runs)
    report.started = runs[0][0] if runs else 0.0
    report.seconds = sum((end - start for start, end in runs), 0.0)
    report.curve = figures.harvest_chart(array.relevant, array["depth"])
    report.relevance_chart = figures.relevance_histogram(array["relevance_now"], array["copy"], report.threshold)
    report.time_chart = figures.pages_over_time(array["first_ended"], array.relevant, runs)
    best = best_pages(collection, MAX_BEST, at_least=collection.threshold if report.relevant else 0.0)
    report.best = [cards.card(page, excerpt=place < MAX_PATHS) for place, page in enumerate(best)]
    report.branches = cards.tree([page.url for page in best[:MAX_PATHS]])
    report.cards = [cards.card(page) for page in select_pages(log, order=f"page.first LIMIT {MAX_CARDS}")]
    hosts = counts.hosts(log, collection.threshold, product(options.user_agent or "Lycosa"))
    report.hosts = nsmallest(
        MAX_HOSTS, hosts, key=lambda host: (-host.pages, -host.relevant, -host.requests, host.name)
    )
    report.causes, report.remarks = counts.causes(log), counts.remarks(log)
    report.kinds = list(_kinds(visits.outcomes))
    report.languages = counts.languages(log, collection.threshold)[:12]
    report.copy_count, report.copies = int(array["copy"].sum()), list(_copies(log))
    report.freshness = _freshness(log, visits.revisits)
    report.options = _options(options)
    report.steps = list(_steps(report))
    return report


def _kinds(outcomes: list[Outcome]) -> Iterator[tuple[str, int, int]]:
    """Yield kinds of requests with their numbers of requests and of failures."""
    for kind, meaning in KINDS.items():
        ended = [each for each in outcomes if each.kind == kind]
        if ended:
            yield meaning, sum(each.count for each in ended), sum(each.count for each in ended if each.is_failure)


def _copies(log: SqliteLog) -> Iterator[tuple[str, str, int, str]]:
    for url, count, example in counts.copies(log):
        if (original := page_at(log, url)) is not None:
            yield url, original.title, count, example


def _freshness(log: SqliteLog, revisits: RevisitCounts) -> Freshness | None:
    """Return statistics of revisits, or None if there were none."""
    if not revisits.count:
        return None
    recorded = list(counts.recorded_changes(log))
    by_kind = Counter(change.kind for change in recorded)
    fresh = Freshness(revisits.count, revisits.last, [(kind, by_kind[kind]) for kind in CHANGE_KINDS if by_kind[kind]])
    fresh.returned, fresh.new = by_kind["returned"], revisits.new
    drawn = [(change.at, CHANGE_KINDS.index(change.kind)) for change in recorded if change.kind in CHANGE_KINDS]
    times, kinds = np.array(drawn, float).reshape(-1, 2).T
    fresh.chart = figures.changes_over_time(times, kinds.astype(int), CHANGE_KINDS, revisits.first, revisits.last)
    fresh.latest = list(islice(changes(log, newest_first=True, wanted=_WANTED), 30))
    fresh.gone_count = next(log.query("SELECT COUNT(*) FROM page WHERE state != 'stands'"))[0]
    for page in select_pages(log, "page.state != 'stands'", "page.since DESC LIMIT 30"):
        fresh.gone.append((page.url, page.title, page.state, page.since, page.moved_to))
    changed = Counter(change.url for change in recorded if change.what == "changed" and change.matters)
    for url, times_changed in changed.most_common(10):
        if (page_changed := page_at(log, url)) is not None:
            row = page_changed.title, times_changed, page_changed.revisits, page_changed.changed
            fresh.change_counts.append((url, *row))
    return fresh


def _options(options: Options) -> list[tuple[str, str, str]]:
    """Return name, value and help of each option that differs from its default."""
    differing = []
    for item in fields(options):
        value = getattr(options, item.name)
        if value != (DEFAULT_STRATEGY if item.name == "strategy" else default_of(item)):
            name = "TOPIC" if item.name == "topic" else flag_of(item.name)
            differing.append((name, _format_value(value), item.metadata["help"]))
    return differing


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value[:20]) + (f" and {len(value) - 20} more" if len(value) > 20 else "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _steps(report: ReportFigures) -> Iterator[tuple[str, str]]:
    """Yield commands for the next steps, each with a description."""
    name = report.quoted_directory
    if report.running:
        yield f"lycosa show {name}", "Show the progress of the running crawl. This report is not updated."
    elif report.ending == NOTHING_DUE:
        yield f"lycosa refresh {name}", "Revisit the pages that are due."
    elif report.ending != EXHAUSTED:
        further = "Look further, though the topic looks exhausted."
        what = further if report.recent.is_exhausted else "Continue where the crawl stopped."
        yield f"lycosa resume {name}{report.budget_option}", what
    if report.archived and report.pages:
        yield f"lycosa search {name} WORDS", "Search the text of the pages."
    if report.relevant:
        yield f"lycosa export {name} --out pages.csv", "Export all relevant pages as a table, corpus or web archive."
    if report.freshness is not None:
        yield f"lycosa changes {name}", "List what has changed, and how."
    if report.pages:
        yield f"lycosa page {name} URL", "Show one page: its text, its links, and why it was fetched."
