"""Read a crawl's log and find the figures of the report.

Three passes, each streaming: the log's columns (which pages there are), its events (links, hosts, failures), and then
single visits by their number (the pages that are shown). A million pages are never in memory at once.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import fields
from heapq import nsmallest
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.asking import questions
from lycosa.collection.best import best_of
from lycosa.collection.estimate import estimate
from lycosa.collection.reading import Collection
from lycosa.collection.report import charts
from lycosa.collection.report.cards import Cards, topic_marks
from lycosa.collection.report.causes import EXPECTED, FINE, KINDS
from lycosa.collection.report.figures import Copies, Host, Report
from lycosa.collection.report.freshness import Looks
from lycosa.collection.report.ledger import Ledger
from lycosa.collection.report.linkgraph import LinkGraph
from lycosa.collection.weakness import weakness
from lycosa.core.budget import EXHAUSTED, REFRESHED, spending
from lycosa.core.options import Options, default_of, flag_of
from lycosa.core.types import Held, Setting, Visit
from lycosa.drawing import hostmap
from lycosa.store.running import is_running
from lycosa.version import __version__
from lycosa.web.robots import product

BEST = 50
"""Finds that are shown."""

PATHS = 12
"""Finds to which the ways are drawn: more can't be taken in."""

CARDS = 300
"""Pages listed in the order in which they were fetched."""

HOSTS = 60
"""Hosts in the table."""

MAPPED = 100
"""Hosts that a map may choose from."""

COPIES = 10
LANGUAGES = 12


def gather(collection: Collection) -> Report:
    """All figures of a crawl, also while it runs: what is recorded after this began is left out."""
    options, log = collection.options, collection.log
    report = Report(
        str(collection.path),
        options.subject,
        options.strategy,
        collection.threshold,
        options.budget,
        worded=bool(options.topic),
        running=is_running(collection.path),
        archived=options.archive,
        traps=options.traps,
        version=__version__,
        made=time.time(),
    )
    last = next((int(seq) for (seq,) in log.rows("MAX(seq)", order="1") if seq is not None), 0)
    graph = LinkGraph(log, last, collection.threshold)
    ledger = Ledger(product(options.user_agent or "Lycosa"))
    looks = Looks()
    times = _read(collection, graph, ledger, looks, last)
    order, depth = graph.breadth_first()
    pages = np.flatnonzero(graph.is_page)
    cards = Cards(collection, graph, depth, topic_marks(options, _learned(collection)))

    report.pages, report.finds = len(pages), int(graph.find.sum())
    report.estimate = estimate(
        graph.worth[pages[~graph.copy[pages]]], collection.threshold, len(pages), collection.probability
    )
    if not report.estimate.sure:
        report.unsure = questions(collection)
    report.warning = weakness(collection, len(pages))
    report.requests, report.size, report.recovered = ledger.spent.total(), ledger.size, ledger.recovered
    report.spent = spending(ledger.spent)
    report.scoreless = int((graph.worth[pages] == 0).sum())
    _tell_time(report, ledger, collection)
    report.curve = charts.harvest(graph.find[pages], graph.find[order])
    report.scores = charts.scores(graph.worth[pages], graph.copy[pages], report.threshold)
    report.pace = charts.pace(times, graph.find[pages], [(start, end) for start, end in ledger.crawls])
    best = _best(collection, graph, last)
    report.best = [cards.card(vertex, excerpt=place < PATHS) for place, vertex in enumerate(best)]
    report.freshness = looks.tell(collection, last)
    if report.freshness is not None:
        for card in report.best:
            cards.tell_since(card)
    report.branches = cards.tree(best[:PATHS])
    report.cards = [cards.card(int(vertex)) for vertex in pages[:CARDS]]
    _tell_hosts(report, ledger, graph, best[:PATHS])
    _tell_rest(report, ledger, graph, cards)
    report.options = _options(options)
    report.steps = _steps(report)
    return report


def _read(collection: Collection, graph: LinkGraph, ledger: Ledger, looks: Looks, last: int) -> NDArray[np.float64]:
    """The pass over all events; returns when each page came."""
    times, vertex, count = array("d"), 0, len(graph)
    for seq, event in collection.log.numbered("kind NOT IN ('seed', 'label', 'lesson') AND seq <= ?", given=(last,)):
        if isinstance(event, Setting):
            ledger.setting(event)
        elif isinstance(event, Visit):
            ours = vertex < count and graph.seq[vertex] == seq
            number = ledger.visit(event, bool(ours and graph.find[vertex]))
            if ours:
                graph.host[vertex] = number
                graph.add_links(vertex, event.links.urls)
                vertex += 1
            looks.visit(event)
            if event.kind == "revisit":
                graph.add_later(seq, event.node, event.links.urls)
            if event.is_page:
                times.append(event.ended)
    return np.array(times, np.float64)


def _learned(collection: Collection) -> list[str]:
    """The weightiest terms of a topic that was learned from examples or read from a file."""
    learned = collection.log.setting("learned", {})
    return sorted(learned, key=lambda term: (-learned[term], term))[:12]


def _best(collection: Collection, graph: LinkGraph, last: int) -> list[int]:
    """The best of the relevant pages; where there are none, the pages that came closest."""
    line = collection.threshold if graph.find.any() else 0.0
    best = best_of(collection.log, BEST, at_least=line, last=last, first_versions=True)
    return [int(np.searchsorted(graph.seq, seq)) for seq, _ in best]


def _tell_time(report: Report, ledger: Ledger, collection: Collection) -> None:
    runs = ledger.crawls
    report.runs = len(runs)
    if runs:
        report.began, report.ended = runs[0][0], max(end for _, end in runs)
        report.seconds = sum(end - start for start, end in runs)
    end = collection.log.setting("end", {})
    event = collection.log.last()
    if isinstance(event, Setting) and event.key == "end":
        report.ending = str(end.get("reason", ""))
    report.held = [Held(**group) for group in end.get("groups", ())]
    report.held_addresses = int(end.get("held", 0))
    report.held_then = not report.ending


def _tell_hosts(report: Report, ledger: Ledger, graph: LinkGraph, best: Sequence[int]) -> None:
    """The table of hosts, and the map."""
    hosts = list(ledger.hosts.values())  # by number: in the order in which they were met
    report.host_count = sum(host.pages > 0 for host in hosts)
    report.hosts = nsmallest(HOSTS, hosts, key=_importance)
    seeds = {int(graph.host[vertex]) for vertex in graph.seeds}
    trails = {way for vertex in best for way in pairwise(graph.host[graph.trail(vertex)].tolist()) if way[0] != way[1]}
    largest = nsmallest(MAPPED, range(len(hosts)), key=lambda number: _importance(hosts[number]))
    first = nsmallest(MAPPED // 4, seeds, key=lambda number: _importance(hosts[number]))
    needed = [*[number for way in sorted(trails) for number in way], *first]
    shown = sorted([number for number in dict.fromkeys([*needed, *largest]) if hosts[number].pages][:MAPPED])
    place = {number: position for position, number in enumerate(shown)}
    dots = [
        hostmap.Dot(hosts[number].name, hosts[number].pages, hosts[number].finds, number in seeds) for number in shown
    ]
    ways = _ways(graph, place, len(hosts))
    trails = {(place[a], place[b]) for a, b in trails if (place.get(a, -1), place.get(b, -1)) in ways}
    maps = (hostmap.draw(dots, ways, trails, canvas) for canvas in (hostmap.WIDE, hostmap.NARROW))
    report.maps = [drawn for drawn in maps if drawn is not None]


def _ways(graph: LinkGraph, place: dict[int, int], count: int) -> dict[tuple[int, int], int]:
    """How many pages were first seen on one host and lie on another, for the hosts that have a place."""
    children = np.flatnonzero(graph.is_page & (graph.parent >= 0))
    position = np.full(count + 1, -1)
    position[list(place)] = list(place.values())
    start, end = position[graph.host[graph.parent[children]]], position[graph.host[children]]
    across = (start >= 0) & (end >= 0) & (start != end)
    pairs, counts = np.unique(start[across] * len(place) + end[across], return_counts=True)
    found = zip(pairs.tolist(), counts.tolist(), strict=True)
    return {divmod(pair, len(place)): number for pair, number in found}


def _importance(host: Host) -> tuple[int, int, int, str]:
    return -host.pages, -host.finds, -host.requests, host.name


def _tell_rest(report: Report, ledger: Ledger, graph: LinkGraph, cards: Cards) -> None:
    report.causes = sorted(ledger.causes.values(), key=lambda cause: (-cause.count, cause.name))
    for kind, meaning in KINDS.items():
        ended = {key: number for key, number in ledger.kinds.items() if key[0] == kind}
        good = sum(number for key, number in ended.items() if key[1] in FINE or key in EXPECTED)
        if ended:
            report.kinds.append((meaning, sum(ended.values()), sum(ended.values()) - good))
    report.languages = [
        (code, count, ledger.found_languages[code]) for code, count in ledger.languages.most_common(LANGUAGES)
    ]
    report.remarks = sorted(ledger.flags.values(), key=lambda remark: (-remark.count, remark.name))
    report.copied = int(graph.copy[graph.is_page].sum())
    for vertex, count, example in graph.most_copied(COPIES):
        original = cards.card(vertex)
        report.copies.append(Copies(original.node, original.title, count, cards.visit(example).node))


def _options(options: Options) -> list[tuple[str, str, str]]:
    """What differs from the defaults: the option, its value, what it means."""
    found = []
    for item in fields(options):
        value = getattr(options, item.name)
        if value != default_of(item):
            found.append((flag_of(item.name) if item.name != "topic" else "TOPIC", _told(value), item.metadata["help"]))
    return found


def _told(value: Any) -> str:
    """An option's value as one would write it."""
    if isinstance(value, list):
        return ", ".join(value[:20]) + (f" and {len(value) - 20} more" if len(value) > 20 else "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _steps(report: Report) -> list[tuple[str, str]]:
    """What to do next, as command lines."""
    name = report.place
    steps = []
    if report.running:
        steps.append(
            (
                f"lycosa show {name}",
                "It is still running: see how far it has come. This page does not change by itself.",
            )
        )
    elif report.ending == REFRESHED:
        steps.append((f"lycosa refresh {name}", "Look again at what is due by then."))
    elif report.ending != EXHAUSTED:
        steps.append((f"lycosa resume {name}{report.more}", "Go on where it stopped."))
    if report.archived and report.pages:
        steps.append((f"lycosa search {name} WORDS", "Search the text of the pages."))
    if report.finds:
        steps.append(
            (
                f"lycosa export {name} --out finds.csv",
                "All finds as a table, or as a graph, a corpus, a web archive.",
            )
        )
    if report.freshness is not None:
        steps.append((f"lycosa changes {name}", "What has changed, and how."))
    if report.pages:
        steps.append((f"lycosa page {name} URL", "One page: its text, its links, and why it was fetched."))
    return steps
