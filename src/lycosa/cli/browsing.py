"""`lycosa train browse`: learn from a browsing record which pages lead to relevant ones, and say what was learned."""

from __future__ import annotations

import json as jsonlib
import shlex
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lycosa.cli.manners import one_line, output
from lycosa.cli.training import progress
from lycosa.core.options import Options
from lycosa.core.spec import spell
from lycosa.training.browse import Browsed, train_browse
from lycosa.training.looking import fetched, recorded

NAMES = {"kmeans": "K-Means (strategy hmm)", "xmeans": "X-Means (strategy hmm-xmeans)"}

MOST_ROWS = 20
"""Clusters that are listed; all of them are in --json."""


def run(source: Path, out: Path, pages: Path | None, options: Options, *, quiet: bool, json: bool, **how: Any) -> None:
    """Train, and report."""
    options.check()
    with progress(quiet or json) as tell:
        done = train_browse(source, out, recorded(pages) if pages else fetched(options), tell=tell, **how)
    if json:
        print(jsonlib.dumps(_facts(done)))
    elif not quiet:
        report(done)


def _facts(done: Browsed) -> dict[str, Any]:
    browsing = done.browsing
    return {
        "file": str(done.out),
        "pages": len(browsing),
        "relevant": int(browsing.relevant.sum()),
        "terms": len(browsing.terms),
        "steps": len(browsing.steps),
        "states": np.bincount(browsing.state, minlength=browsing.states).tolist(),
        "transitions": done.transitions.tolist(),
        "clusters": done.clusters,
        "recognised": done.recognised._asdict() if done.recognised else None,
        "left_out": dict(done.left_out),
        "notes": done.notes,
    }


def report(done: Browsed) -> None:
    """What was learned from what, and what to do with it."""
    console, browsing = output(), done.browsing
    good = int(browsing.relevant.sum())
    console.print(
        f"[bold]{escape(one_line(str(done.out)))}[/]: {len(browsing):,} pages, {good:,} of them relevant, "
        f"{len(browsing.steps):,} steps between them, {len(browsing.terms):,} terms",
        highlight=False,
    )
    _states(console, done)
    for name, title in NAMES.items():
        _clusters(console, title, done.clusters[name])
    seen = done.recognised
    if seen:
        console.print(
            f"Left out in turn, {seen.right} of {seen.relevant} relevant pages are recognised by the pages nearest to "
            f"them, and {seen.taken - seen.right} of {seen.pages - seen.relevant} others are taken for relevant.",
            highlight=False,
        )
    left = ", ".join(f"{count:,} {why}" for why, count in done.left_out.most_common())
    if left:
        console.print(f"Left out: {escape(left)}.", highlight=False)
    for note in done.notes:
        console.print(f"note: {escape(one_line(note))}", highlight=False)
    strategy = shlex.quote(spell("hmm", {"file": str(done.out)}))
    print(f"Crawl with it: lycosa crawl TOPIC --strategy {strategy} --seed URL")


def _states(console: Console, done: Browsed) -> None:
    """How many pages are how far away, and where their visitors went next."""
    states, moves = done.browsing.states, done.transitions
    counts = np.bincount(done.browsing.state, minlength=states)
    names = ["relevant", *(f"{n} step{'s' if n > 1 else ''} away" for n in range(1, states - 1)), "farther, or no path"]
    table = Table(box=None, padding=(0, 1), show_edge=False)
    table.add_column("state", justify="right")
    table.add_column("pages", overflow="fold")
    table.add_column("", justify="right")
    for n in range(states):
        table.add_column(f"to {n}", justify="right", no_wrap=True)
    for n in range(states):
        total = int(moves[n].sum())
        shares = [f"{count / total:.2f}" if total else "-" for count in moves[n].tolist()]
        table.add_row(str(n), names[n], f"{counts[n]:,}", *shares)
    console.print("[bold]how far pages are from a relevant one, and where their visitors went next[/]", highlight=False)
    console.print(table)


def _clusters(console: Console, title: str, clusters: list[dict[str, Any]]) -> None:
    table = Table(box=None, padding=(0, 1), show_edge=False)
    for heading in ("cluster", "pages", "relevant"):
        table.add_column(heading, justify="right")
    table.add_column("typical words (stems)", overflow="fold")
    ranked = sorted(clusters, key=lambda cluster: (-cluster["relevant"], cluster["cluster"] < 0, -cluster["pages"]))
    for cluster in ranked[:MOST_ROWS]:
        name = "none" if cluster["cluster"] < 0 else str(cluster["cluster"])
        words = escape(" ".join(cluster["words"])) or "-"
        table.add_row(name, f"{cluster['pages']:,}", f"{cluster['relevant']:,}", words)
    console.print(f"[bold]clusters by {title}[/]", highlight=False)
    console.print(table)
    if len(clusters) > MOST_ROWS:
        console.print(f"and {len(clusters) - MOST_ROWS} more: --json lists all", highlight=False)
