"""`lycosa why`: explain the position of a link in the frontier, why it was fetched, or which links come next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import Annotated

from rich.text import Text

from lycosa.cli.page import title_parts
from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import LabelledText, Part, heading, output, print_result, squeezed, timestamp
from lycosa.cli.progress_bar import show_progress
from lycosa.collection.estimate import describe_threshold
from lycosa.drawing.figure import bar
from lycosa.explaining.answers import Fetched, PathPage, Why
from lycosa.explaining.reasons import Reasons
from lycosa.store.directory import is_running

NO_REASONS = "this strategy does not give reasons"


def why(
    directory: Dir,
    url: Annotated[str, "URL", "A link that the crawl knows. Default: the next ten links."] = "",
    *,
    json: Json = False,
) -> None:
    """Explain why a link was fetched, or what is next. Works while it runs."""
    with Reasons(directory) as reasons:
        running = is_running(directory)
        about = {"directory": reasons.path, "strategy": reasons.collection.options.strategy, "running": running}
        with show_progress(quiet=json) as reasons.progress:
            found = reasons.why(url) if url else None
            best = [] if url else reasons.best(10)
        if found is not None:
            parts = _link(found, reasons.collection.threshold, running=running)
            print_result({**about, **found.as_dict()}, parts, json=json)
            return
        first = reasons.rankings[0]
        facts = {**about, "arm": first.name, "waiting": len(first.waiting), "next": best}
        print_result(facts, _next(reasons, best), json=json)


def _next(reasons: Reasons, best: list[Why]) -> Iterator[Part]:
    if not best:
        yield "no links waiting: every known link that may be fetched has been fetched"
        return
    first = reasons.rankings[0]
    by = f" by {first.name}, the arm with the best pages so far" if len(reasons.rankings) > 1 else ""
    yield Text(f"the next of {len(first.waiting):,} links that wait{by}", "bold")
    explains = any(why.view is not None and why.view.explains for why in best)
    if not explains:
        yield Text(f"{NO_REASONS}: only priorities", "dim")
    for place, why in enumerate(best, 1):
        if why.view is not None:
            yield LabelledText(f"{place:>3}  {format_priority(why.view.priority):>5}  ", Text(why.node, "cyan"))
            yield from [LabelledText(" " * 12, Text(_largest(why.view.terms), "dim"))] if explains else []
    budget, pages = reasons.engine.picker.budget.pages, reasons.engine.tally.pages
    if budget and pages >= budget:
        yield Text(f"the budget of {budget:,} pages is spent", "dim")
        yield f"continue with: lycosa resume {shlex.quote(str(reasons.path))} --budget {2 * pages}"


def _largest(terms: dict[str, float]) -> str:
    """Format the largest terms as a line.

    >>> _largest({"anchor words": .31, "siblings": .224, "depth": -.05, "host": .01})
    'anchor words .31, siblings .22, depth -.05'
    """
    return ", ".join(f"{name} {format_priority(value)}" for name, value in list(terms.items())[:3])


def format_priority(value: float) -> str:
    """Format a priority with two significant digits.

    >>> [format_priority(value) for value in (.314, -.05, 1.5, .0004, math.inf, math.nan)]
    ['.31', '-.05', '1.50', '4e-04', 'first', '-']
    """
    if not math.isfinite(value):
        return "first" if value > 0 else "-"
    if 0 < abs(value) < 0.005 or abs(value) >= 1e5:
        return f"{value:.0e}"
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def _link(why: Why, threshold: float, *, running: bool) -> Iterator[Part]:
    if why.fetched is not None:
        yield from title_parts(why.fetched.title, why.node)
        yield from _fetched(why.fetched, threshold)
    else:
        yield Text(why.node, "bold cyan")
        yield from _waiting(why, running=running)
    if why.parents:
        pages = f"found on {why.parent_count:,} pages" if why.parent_count > 1 else "found on"
        yield from heading(f"{pages}, the most relevant of them" if why.parent_count > len(why.parents) else pages)
    for parent in why.parents:
        kind = {"redirect": "a redirect", "sitemap": "a list of URLs"}.get(parent.kind, "")
        text = squeezed(parent.title) or kind or "a page without a title"
        if anchor := squeezed(parent.anchor):
            text += f': "{anchor}"' + (f" ({format_priority(parent.link_relevance)})" if parent.link_relevance else "")
        yield LabelledText(Text(f"{'' if kind else format_priority(parent.relevance):>5}  ", "bold"), text)
        yield LabelledText(" " * 7, Text(parent.node, "dim"))
    if len(why.path) > 1:
        yield from heading("path from a seed")
        yield from _path(why.path)


def _waiting(why: Why, *, running: bool) -> Iterator[Part]:
    view = why.view
    if view is None:
        yield why.note
        return
    if why.state in ("waits", "held") and len(why.views) == 1:
        priority = "" if math.isinf(view.priority) else f", with a priority of {format_priority(view.priority)}"
        yield f"waits as number {view.rank:,} of {view.waiting:,}{priority}"
    elif why.state in ("waits", "held"):
        yield f"waits; each arm of {len(why.views)} has its own order"
    if why.note:
        yield Text(why.note, "dim")
    if running:
        yield Text("the crawl is running, so this may change at any time", "dim")
    if len(why.views) > 1:
        yield from _arms(why)
    elif not math.isinf(view.priority):
        yield from heading("why")
        if not view.explains:
            yield Text(f"{NO_REASONS}: only its priority and its rank are known", "dim")
            return
        yield from _bars(view.terms)
        total = sum(view.terms.values())
        if _differ(total, view.priority):
            now = f"with what is known now, it would be {format_priority(total)}"
            yield Text(f"{now}: it is ranked again when it gets near the top", "dim")


def _differ(total: float, priority: float) -> bool:
    return math.isfinite(priority) and abs(total - priority) > 0.005 + 0.01 * abs(priority)


def _arms(why: Why) -> Iterator[Part]:
    yield from heading("what each arm says, starting with the one with the best pages")
    width = max(len(view.arm) for view in why.views)
    for view in why.views:
        place = f"number {view.rank:,} of {view.waiting:,}" if view.rank else "not ranked"
        mean = "" if math.isnan(view.reward) else f", mean of its pages {format_priority(view.reward)}"
        name = Text(f"{view.arm:<{width}}  ", "bold")
        yield LabelledText(name, f"{place}, priority {format_priority(view.priority)}{mean}")
        if view.terms:
            yield from _bars(view.terms)
    if not any(view.explains for view in why.views):
        yield Text("none of them gives reasons", "dim")


def _bars(terms: dict[str, float]) -> Iterator[Part]:
    """Yield each term with a bar of proportional length; bars of negative terms have another colour."""
    if not terms:
        yield Text("no term has an effect", "dim")
        return
    columns = output().width
    width = min(max(map(len, terms)), max(8, columns - 22))
    bar_width = max(4, min(30, columns - width - 11))  # columns
    largest = max(map(abs, terms.values()))
    for name, value in terms.items():
        line = Text(f"  {name[:width]:<{width}}  ")
        line.append(bar(abs(value) / largest, bar_width), "green" if value > 0 else "red")
        yield line.append(f" {format_priority(value):>5}")


def _fetched(fetched: Fetched, threshold: float) -> Iterator[Part]:
    first = math.isinf(fetched.priority)
    outcome = f"{fetched.outcome} {fetched.complaint}".strip()
    if fetched.is_page:
        needed = describe_threshold(threshold)
        of = f"relevant ({needed})" if fetched.is_relevant else f"not relevant (needs {needed})"
        has_changed = abs(fetched.first_relevance - fetched.relevance) > 0.005
        then = f"; {format_priority(fetched.first_relevance)} when it was fetched" if has_changed else ""
        outcome = f"{format_priority(fetched.relevance)}, {of}{then}"
    expected = f"{format_priority(fetched.priority)}, by {fetched.arm}"
    yield {
        "fetched": f"{timestamp(fetched.at)} UTC, as number {fetched.pick:,}",
        "expected": "nothing: a seed comes first" if first else expected,
        "turned out": outcome,
        "copy of": fetched.same_as,
    }
    if fetched.judged:
        yield from heading("why it has this priority")
        yield from _bars(fetched.judged)
    if first and not fetched.terms:
        return
    yield from heading("why it was fetched")
    if fetched.terms:
        yield from _bars(fetched.terms)
        total = sum(fetched.terms.values())
        if _differ(total, fetched.priority):
            late = f"with what was known when it was picked, it would be {format_priority(total)}"
            yield Text(f"{late}: its priority was older", "dim")
    else:
        yield Text(f"{NO_REASONS}: its priority was the best among ready hosts", "dim")


def _path(path: list[PathPage]) -> Iterator[Part]:
    for place, stop in enumerate(path):
        text, anchor = squeezed(stop.title), squeezed(stop.anchor)
        if anchor and anchor != text:
            text = f'{text}, by "{anchor}"' if text else f'"{anchor}"'
        last = place == len(path) - 1
        priority = format_priority(stop.relevance) if stop.title or stop.relevance else ""
        yield LabelledText(Text(f"{priority:>5}  ", "bold"), f"{text}: this link" if last and text else text or "-")
        if not last:
            yield LabelledText(" " * 7, Text(stop.node, "dim"))
