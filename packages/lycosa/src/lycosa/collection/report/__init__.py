"""`lycosa report`: a crawl as one self-contained HTML page.

`gather` reads the figures from the crawl's view, and single visits for the pages shown; `render` formats them.

Titles, anchors and URLs are untrusted. All output is escaped and stripped of characters that could hide or rearrange
text; only web URLs become links; the page's content security policy allows no script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from heapq import nsmallest
from itertools import islice
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from lycosa.collection.best import best_pages
from lycosa.collection.causes import EXPECTED, KINDS, SUCCESSFUL
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.report import figures
from lycosa.collection.report.cards import MAX_TITLE_LENGTH, Cards, topic_highlights
from lycosa.collection.report.figures import Freshness, ReportFigures
from lycosa.collection.tally import CHANGE_KINDS
from lycosa.collection.view import CrawlView
from lycosa.core.budget import EXHAUSTED, NOTHING_DUE, format_spending
from lycosa.core.options import DEFAULT_STRATEGY, Options, default_of, flag_of
from lycosa.drawing.formats import score
from lycosa.drawing.templates import environment
from lycosa.revisit.ledger import ChangeFilter, changes
from lycosa.store.log import PAGES
from lycosa.version import __version__

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
    options = collection.options
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
    report.read(collection, 10)
    view = collection.view()
    tally, relevant = view.tally, view.relevant(collection.threshold)
    pages = np.flatnonzero(view.column("crawled"))
    relevances_now, copies = view.column("first_relevance")[pages], view.column("first_copy")[pages]
    order, depth = view.breadth_first()
    order = order[view.column("crawled")[order]]
    cards = Cards(collection, depth, topic_highlights(options, _learned(collection)))

    report.requests, report.size, report.recovered = tally.spent.total(), tally.size, tally.recovered
    report.spent = format_spending(tally.spent)
    report.zero_count = int((relevances_now == 0).sum())
    report.runs = len(tally.crawls)
    report.started = tally.crawls[0][0] if tally.crawls else 0.0
    report.seconds = sum((end - start for start, end in tally.crawls), 0.0)
    report.curve = figures.harvest_chart(relevant[pages], relevant[order])
    report.relevance_chart = figures.relevance_histogram(relevances_now, copies, report.threshold)
    report.time_chart = figures.pages_over_time(view.column("ended")[pages], relevant[pages], tally.crawls)
    best = _best(collection, view, bool(report.relevant))
    report.best = [cards.card(vertex, excerpt=place < MAX_PATHS) for place, vertex in enumerate(best)]
    report.freshness = _freshness(collection)
    if report.freshness is not None:
        for card in report.best:
            cards.set_current_state(card)
    report.branches = cards.tree(best[:MAX_PATHS])
    report.cards = [cards.card(int(vertex)) for vertex in pages[:MAX_CARDS]]
    hosts = view.hosts(collection.threshold)
    report.host_count = sum(host.pages > 0 for host in hosts)
    report.hosts = nsmallest(
        MAX_HOSTS, hosts, key=lambda host: (-host.pages, -host.relevant, -host.requests, host.name)
    )
    _add_totals(report, collection, cards)
    report.options = _options(options)
    report.steps = list(_steps(report))
    return report


def _learned(collection: CrawlDirectory) -> list[str]:
    """Return the most important terms of a topic learned from examples or read from a file."""
    learned = collection.log.setting("learned", {})
    return sorted(learned, key=lambda term: (-learned[term], term))[:12]


def _best(collection: CrawlDirectory, view: CrawlView, any_relevant: bool) -> list[int]:
    min_relevance = collection.threshold if any_relevant else 0.0
    best = best_pages(collection, MAX_BEST, at_least=min_relevance, first_versions=True)
    return [int(np.searchsorted(view.column("first"), seq)) for seq, _ in best]


def _add_totals(report: ReportFigures, collection: CrawlDirectory, cards: Cards) -> None:
    view, tally = collection.view(), collection.view().tally
    report.causes = sorted(tally.causes.values(), key=lambda cause: (-cause.count, cause.name))
    for kind, meaning in KINDS.items():
        ended = {key: number for key, number in tally.kinds.items() if key[0] == kind}
        successful = sum(number for key, number in ended.items() if key[1] in SUCCESSFUL or key in EXPECTED)
        if ended:
            report.kinds.append((meaning, sum(ended.values()), sum(ended.values()) - successful))
    relevant = view.relevant_by_language(collection.threshold)
    report.languages = [(code, count, relevant[code]) for code, count in tally.languages.most_common(12)]
    report.remarks = sorted(tally.flags.values(), key=lambda remark: (-remark.count, remark.name))
    report.copy_count = int(view.column("first_copy")[view.column("crawled")].sum())
    copied = collection.log.rows(
        "same, COUNT(*), MIN(seq)",
        f"{PAGES} AND same != '' AND seq <= ? GROUP BY same",
        "COUNT(*) DESC, MIN(seq) LIMIT 10",
        (view.seq,),
    )
    for node, count, example in list(copied):
        original = view.page(node)
        if original is not None:
            card = cards.card(original.number)
            report.copies.append((card.node, card.title, count, cards.read(example).node))


def _freshness(collection: CrawlDirectory) -> Freshness | None:
    """Return statistics of revisits, or None if there were none."""
    view = collection.view()
    revisits = view.tally.revisits
    if not revisits.count:
        return None
    fresh = Freshness(
        revisits.count,
        revisits.last,
        by_kind=[(kind, revisits.by_kind[kind]) for kind in CHANGE_KINDS if revisits.by_kind[kind]],
    )
    fresh.returned, fresh.new = revisits.by_kind["returned"], revisits.new
    fresh.chart = figures.changes_over_time(
        np.array(revisits.times), np.array(revisits.kinds, np.int64), CHANGE_KINDS, revisits.first, revisits.last
    )
    fresh.latest = list(islice(changes(collection.log, upto=view.seq, newest_first=True, wanted=_WANTED), 30))
    gone = [(view.nodes[vertex], fate) for vertex, fate in view.fates.items() if fate.state != "stands"]
    fresh.gone_count = len(gone)
    for node, fate in sorted(gone, key=lambda item: -item[1].since)[:30]:
        fresh.gone.append((node, _title(collection, node), fate.state, fate.since, fate.target))
    for node, times in revisits.change_counts.most_common(10):
        page = view.page(node)
        if page is not None and page.fate is not None:
            title = _title(collection, node)
            fresh.change_counts.append((node, title, times, page.fate.revisits, page.fate.changed))
    return fresh


def _title(collection: CrawlDirectory, node: str) -> str:
    version = collection.versions.last(node)
    return version.title[:MAX_TITLE_LENGTH] if version is not None else ""


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
        yield f"lycosa resume {name}{report.budget_option}", "Continue where the crawl stopped."
    if report.archived and report.pages:
        yield f"lycosa search {name} WORDS", "Search the text of the pages."
    if report.relevant:
        yield f"lycosa export {name} --out pages.csv", "Export all relevant pages as a table, corpus or web archive."
    if report.freshness is not None:
        yield f"lycosa changes {name}", "List what has changed, and how."
    if report.pages:
        yield f"lycosa page {name} URL", "Show one page: its text, its links, and why it was fetched."
