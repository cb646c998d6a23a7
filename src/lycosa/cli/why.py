"""`lycosa why`: why a link waits where it does or was fetched, and what comes next."""

from __future__ import annotations

import math
import shlex
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import (
    NARROW,
    UNCUT,
    heading,
    listing,
    output,
    pairs,
    print_json,
    right,
    squeezed,
    timestamp,
    wrapped,
)
from lycosa.cli.progress import progress
from lycosa.collection.estimate import at_least
from lycosa.collection.words import clean
from lycosa.explaining.answers import Fetched, Parent, Stop, Why
from lycosa.explaining.reasons import Reasons
from lycosa.explaining.standing import View
from lycosa.store.directory import is_running

ENDS = 5  # pages at either end of a long way
NO_REASONS = "this strategy does not give reasons"


def why(
    directory: Dir,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="A link that the crawl knows. Default: the next ten links.")
    ] = "",
    fold: Annotated[
        bool,
        typer.Option("--fold", help="Of a large crawl, too, what the score of a fetched page was made of: minutes."),
    ] = False,
    json: Json = False,
) -> None:
    """Explain why a link was fetched, or what is next. Works while it runs."""
    with Reasons(directory) as reasons:
        reasons.fold = fold
        running, console = is_running(directory), output()
        about = {"directory": reasons.path, "strategy": reasons.collection.options.strategy, "running": running}
        with progress(quiet=json) as reasons.tell:
            found = reasons.why(url) if url else None
            best = [] if url else reasons.best(10)  # links that are listed where none is named
        if found is not None:
            if json:
                print_json({**about, **found.as_dict()})
            else:
                _show(console, found, reasons.collection.threshold, running=running)
            return
        if json:
            first = reasons.rankings[0]
            print_json({**about, "arm": first.name, "waiting": len(first.waiting), "next": best})
        else:
            _show_next(console, reasons, best)


# -- what comes next -------------------------------------------------------------------------------------------


def _show_next(console: Console, reasons: Reasons, best: list[Why]) -> None:
    first = reasons.rankings[0]
    arms = len(reasons.rankings) > 1
    by = f" by {first.name}, the arm with the best pages so far" if arms else ""
    if not best:
        console.print("no links waiting: every known link that may be fetched has been fetched")
        return
    _line(console, f"the next of {len(first.waiting):,} links that wait{by}", "bold")
    explains = any(why.view is not None and why.view.explains for why in best)
    if not explains:
        _line(console, f"{NO_REASONS}: only scores", "dim")
    rows = [(why.view.score, why.view.terms, clean(why.node)) for why in best if why.view is not None]
    if console.width < NARROW:
        for place, (score, terms, node) in enumerate(rows, 1):
            _line(console, f"{place:>2}  {number(score)}  {terms_line(terms, 2)}".rstrip(), "", 8)
            console.print(Text(node, "dim"), soft_wrap=True)
    else:
        columns = [right("", no_wrap=True, min_width=2), right("score", no_wrap=True, min_width=5)]
        columns += [Column("mostly", no_wrap=True, overflow="ellipsis", ratio=2)] if explains else []
        columns += [Column("link", style="dim", no_wrap=True, overflow="ellipsis", ratio=3)]
        cells = [
            (str(place), number(score), *([terms_line(terms)] if explains else []), node)
            for place, (score, terms, node) in enumerate(rows, 1)
        ]
        console.print(listing(columns, cells, expand=console.width < UNCUT))
    engine = reasons.engine
    budget = engine.picker.budget.pages
    if budget and engine.tally.pages >= budget:
        _line(console, f"the budget of {budget:,} pages is spent", "dim")
        print(f"continue with: lycosa resume {shlex.quote(str(reasons.path))} --budget {2 * engine.tally.pages}")


def terms_line(terms: dict[str, float], most: int = 3) -> str:
    """The largest terms in a line.

    >>> terms_line({"anchor words": .31, "siblings": .224, "depth": -.05, "host": .01})
    'anchor words .31, siblings .22, depth -.05'
    """
    return ", ".join(f"{clean(name)} {number(value)}" for name, value in list(terms.items())[:most])


def number(value: float) -> str:
    """A score with two digits that say something, and no more zeros than it needs.

    >>> number(.314), number(-.05), number(1.5), number(.0004), number(math.inf), number(math.nan)
    ('.31', '-.05', '1.50', '4e-04', 'first', '-')
    """
    if not math.isfinite(value):
        return "first" if value > 0 else "-"
    if 0 < abs(value) < 0.005 or abs(value) >= 1e5:
        return f"{value:.0e}"
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


# -- one link --------------------------------------------------------------------------------------------------


def _show(console: Console, why: Why, threshold: float, *, running: bool) -> None:
    if why.fetched is not None:
        _show_fetched(console, why, why.fetched, threshold)
    else:
        console.print(Text(clean(why.node), "bold cyan"), soft_wrap=True)
        _show_waiting(console, why, running=running)
    if why.parents:
        many = f"found on {why.parent_count:,} pages" if why.parent_count > 1 else "found on"
        left = why.parent_count - len(why.parents)
        heading(console, f"{many}, the most relevant of them" if left > 0 else many)
        for parent in why.parents:
            _show_parent(console, parent)
    if len(why.way) > 1:
        heading(console, "path from a seed")
        _show_way(console, why.way)


def _show_waiting(console: Console, why: Why, *, running: bool) -> None:
    view = why.view
    if view is None:
        _line(console, why.note)
        return
    if why.state in ("waits", "held") and len(why.views) == 1:
        score = "" if math.isinf(view.score) else f", with a score of {number(view.score)}"
        _line(console, f"waits as number {view.rank:,} of {view.waiting:,}{score}")
    elif why.state in ("waits", "held"):
        _line(console, f"waits; each arm of {len(why.views)} has its own order")
    if why.note:
        _line(console, why.note, "dim")
    if running:
        _line(console, "the crawl is running, so this may change at any time", "dim")
    if len(why.views) > 1:
        _show_arms(console, why)
    elif not math.isinf(view.score):
        _show_reasons(console, view)


def _show_reasons(console: Console, view: View) -> None:
    heading(console, "why")
    if not view.explains:
        _line(console, f"{NO_REASONS}: its score and its place are all that is known", "dim")
        return
    _bars(console, view.terms)
    total = sum(view.terms.values())
    if math.isfinite(view.score) and abs(total - view.score) > 0.005 + 0.01 * abs(view.score):
        now = f"with what is known now, it would be {number(total)}: it is ranked again when it gets near the top"
        _line(console, now, "dim")


def _show_arms(console: Console, why: Why) -> None:
    heading(console, "what each arm says, starting with the one with the best pages")
    width = max(len(view.arm) for view in why.views)
    for view in why.views:
        place = f"number {view.rank:,} of {view.waiting:,}" if view.rank else "not ranked"
        mean = "" if math.isnan(view.reward) else f", mean of its pages {number(view.reward)}"
        line = f"{place}, score {number(view.score)}{mean}"
        wrapped(console, Text(line), Text(f"{clean(view.arm):<{width}}  ", "bold"), UNCUT)
        if view.terms:
            _bars(console, view.terms)
    if not any(view.explains for view in why.views):
        _line(console, "none of them gives reasons", "dim")


def _bars(console: Console, terms: dict[str, float]) -> None:
    """Each term with a bar as long as it contributes; what speaks against the link in another colour."""
    if not terms:
        _line(console, "nothing speaks for or against it", "dim")
        return
    names = {name: clean(name) for name in terms}
    width = min(max(map(len, names.values())), max(8, console.width - 22))
    room = max(4, min(30, console.width - width - 11))  # characters
    largest = max(map(abs, terms.values()))
    for name, value in terms.items():
        bar = "█" * max(1, round(room * abs(value) / largest))
        line = Text(f"  {names[name][:width]:<{width}}  ").append(f"{bar:<{room}}", "green" if value > 0 else "red")
        console.print(line.append(f" {number(value):>5}"), soft_wrap=True)


def _show_fetched(console: Console, why: Why, fetched: Fetched, threshold: float) -> None:
    console.print(Text(squeezed(fetched.title) or clean(why.node), "bold"))
    console.print(Text(clean(why.node), "cyan"), soft_wrap=True)
    first = math.isinf(fetched.expected)
    came = f"{fetched.outcome} {fetched.complaint}".strip()
    if fetched.is_page:
        of = f"relevant ({at_least(threshold)})" if fetched.found else f"not relevant (needs {at_least(threshold)})"
        then = f"; {number(fetched.logged)} when it was fetched" if abs(fetched.logged - fetched.beta) > 0.005 else ""
        came = f"{number(fetched.beta)}, {of}{then}"
    rows = {
        "fetched": f"{timestamp(fetched.at)} UTC, as number {fetched.pick:,}",
        "expected": "nothing: a seed comes first" if first else f"{number(fetched.expected)}, by {fetched.arm}",
        "turned out": came,
        "copy of": fetched.same_as,
    }
    pairs(console, rows)
    if fetched.judged:
        heading(console, "why it has this score")
        _bars(console, fetched.judged)
    if fetched.unfolded:
        told = f"explaining its score means reading {fetched.unfolded:,} events again, which takes minutes: add --fold"
        heading(console, "why it was fetched")
        _line(console, told, "dim")
    elif fetched.terms:
        heading(console, "why it was fetched")
        _bars(console, fetched.terms)
        if abs(fetched.reckoned - fetched.expected) > 0.005 + 0.01 * abs(fetched.expected):
            told = f"recomputed from the log, where it adds up to {number(fetched.reckoned)}"
            _line(console, told, "dim")
    elif not first:
        heading(console, "why it was fetched")
        _line(console, f"{NO_REASONS}: its score was the best of those whose hosts were ready", "dim")


def _show_parent(console: Console, parent: Parent) -> None:
    kind = {"redirect": "a redirect", "sitemap": "a source of addresses"}.get(parent.kind, "")
    score = number(parent.beta) if not kind else ""
    told = squeezed(parent.title) or kind or "a page without a title"
    anchor = squeezed(parent.anchor)
    if anchor:
        told += f': "{anchor}"' + (f" ({number(parent.alpha)})" if parent.alpha else "")
    wrapped(console, Text(told), Text(f"{score:>5}  ", "bold"))
    console.print(Text("       ").append(clean(parent.node), "dim"), soft_wrap=True)


def _show_way(console: Console, way: list[Stop]) -> None:
    left = len(way) - 2 * ENDS
    for place, stop in enumerate(way):
        if left > 1 and ENDS <= place < len(way) - ENDS:
            if place == ENDS:
                _line(console, f"       {left:,} more pages", "dim")
            continue
        score = number(stop.beta) if stop.title or stop.beta else ""
        told = squeezed(stop.title)
        anchor = squeezed(stop.anchor)
        if anchor and anchor != told:
            told = f'{told}, by "{anchor}"' if told else f'"{anchor}"'
        last = place == len(way) - 1
        wrapped(console, Text(f"{told}: this link" if last and told else told or "-"), Text(f"{score:>5}  ", "bold"))
        if not last:
            console.print(Text("       ").append(clean(stop.node), "dim"), soft_wrap=True)


def _line(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    width = max(20, min(console.width - 1, UNCUT))
    lines = Text(text, style).wrap(console, width - indent)
    for place, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * indent if place else "") + line, soft_wrap=True)
