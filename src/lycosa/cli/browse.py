"""`lycosa train browse`: learn from a browsing record which pages lead to relevant ones, and say what was learned."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import Json, Language, Quiet, network_options, network_parameters, with_more
from lycosa.cli.printing import listing, output, print_json, right, tell_rest
from lycosa.cli.progress import progress
from lycosa.core.spec import spell
from lycosa.training.browse import Browsed, train_browse
from lycosa.training.looking import fetched, recorded

NAMES = {"kmeans": "K-Means (strategy hmm)", "xmeans": "X-Means (strategy hmm-xmeans)"}

MOST_ROWS = 20  # clusters that are listed; --json has all


@with_more(network_parameters(), at=12)
def browse(
    record: Annotated[
        Path,
        typer.Argument(
            metavar="RECORD",
            help="A file with one visited page per line as JSON (url, relevant, referrer), a browser's history "
            "(Firefox's places.sqlite, Chromium's History), or a crawl's directory.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="File to write the model to.")],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Which pages are relevant: an address, a tab, and yes or no, one per line."),
    ] = None,
    unlabelled: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Pages without a label: path (they count on the way to relevant ones, but are no example of anything) "
            "or no (they are irrelevant).",
        ),
    ] = "path",
    positives_only: Annotated[
        bool,
        typer.Option(
            "--positives-only", help="Learn what relevant pages are like only; all others are one background."
        ),
    ] = False,
    states: Annotated[
        int, typer.Option(help="Distances to tell apart: 4 are relevant, one step away, two, and farther.")
    ] = 4,
    clusters: Annotated[int, typer.Option(help="Clusters of K-Means, that of the relevant pages included.")] = 5,
    gap: Annotated[
        float, typer.Option(help="Minutes of rest after which a new path begins, in a record without referrers.")
    ] = 30.0,
    most: Annotated[int, typer.Option(help="Training pages at most; of more, some by chance.")] = 3000,
    pages: Annotated[
        Path | None,
        typer.Option(
            metavar="PLACE",
            help="Where the pages are: a WARC file, a directory of them, or a crawl's. Default: in the record, or the "
            "web.",
        ),
    ] = None,
    random_seed: Annotated[int, typer.Option(help="Where clusters start: another number, others.")] = 0,
    language: Language = "en",
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Learn from recorded browsing, for --strategy hmm."""
    options = network_options(**network)
    with progress(quiet or json) as tell:
        done = train_browse(
            record,
            out,
            recorded(pages) if pages else fetched(options),
            tell=tell,
            labels=labels,
            unlabelled=unlabelled,
            positives_only=positives_only,
            states=states,
            clusters=clusters,
            gap=gap,
            most=most,
            language=language,
            seed=random_seed,
        )
    if json:
        print_json(_facts(done))
    elif not quiet:
        report(done)


def _facts(done: Browsed) -> dict[str, Any]:
    browsing = done.browsing
    return {
        "file": done.out,
        "pages": len(browsing),
        "relevant": int(browsing.relevant.sum()),
        "terms": len(browsing.terms),
        "steps": len(browsing.steps),
        "states": np.bincount(browsing.state, minlength=browsing.states).tolist(),
        "transitions": done.transitions.tolist(),
        "clusters": done.clusters,
        "left_out": done.left_out,
        "notes": done.notes,
    }


def report(done: Browsed) -> None:
    console, browsing = output(), done.browsing
    good = int(browsing.relevant.sum())
    console.print(
        f"[bold]{escape(one_line(str(done.out)))}[/]: {len(browsing):,} pages, {good:,} of them relevant, "
        f"{len(browsing.steps):,} steps between them, {len(browsing.terms):,} terms"
    )
    _states(console, done)
    for name, title in NAMES.items():
        _clusters(console, title, done.clusters[name])
    tell_rest(done.left_out, done.notes)
    strategy = shlex.quote(spell("hmm", {"file": str(done.out)}))
    print(f"Crawl with it: lycosa crawl --strategy {strategy} --seed URL")


def _states(console: Console, done: Browsed) -> None:
    """How many pages are how far away, and where their visitors went next."""
    states, moves = done.browsing.states, done.transitions
    counts = np.bincount(done.browsing.state, minlength=states)
    names = ["relevant", *(f"{n} step{'s' if n > 1 else ''} away" for n in range(1, states - 1)), "farther, or no path"]
    columns = [right("state"), Column("pages", overflow="fold"), right("")]
    columns += [right(f"to {n}", no_wrap=True) for n in range(states)]
    rows = []
    for n in range(states):
        total = int(moves[n].sum())
        shares = [f"{count / total:.2f}" if total else "-" for count in moves[n].tolist()]
        rows.append([str(n), names[n], f"{counts[n]:,}", *shares])
    console.print("[bold]how far pages are from a relevant one, and where their visitors went next[/]")
    console.print(listing(columns, rows))


def _clusters(console: Console, title: str, clusters: list[dict[str, Any]]) -> None:
    ranked = sorted(clusters, key=lambda cluster: (-cluster["relevant"], cluster["cluster"] < 0, -cluster["pages"]))
    rows = [
        (
            "none" if cluster["cluster"] < 0 else str(cluster["cluster"]),
            f"{cluster['pages']:,}",
            f"{cluster['relevant']:,}",
            " ".join(cluster["words"]) or "-",
        )
        for cluster in ranked[:MOST_ROWS]
    ]
    columns = [right("cluster"), right("pages"), right("relevant"), Column("typical words (stems)", overflow="fold")]
    console.print(f"[bold]clusters by {title}[/]")
    console.print(listing(columns, rows))
    if len(clusters) > MOST_ROWS:
        console.print(f"and {len(clusters) - MOST_ROWS} more: --json lists all")
