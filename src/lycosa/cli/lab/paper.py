"""`lycosa lab paper: the experiments of five papers, and our own`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import print_json
from lycosa.cli.progress import progress
from lycosa.drawing.formats import many
from lycosa.lab.findings import plain
from lycosa.lab.papers import PAPERS, QUICK
from lycosa.lab.report import PAGE, tally
from lycosa.lab.report.publishing import publish, write_front

ALL = "all"


def paper(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="otie, batsakis, personalized, gouriten or rules; or all. Lycosa's own: freshness.",
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="An index of 'lycosa lab index'. Default: the embedded web, 3,000 pages."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Smaller budgets, fewer topics and repetitions: takes minutes, but too small for reliable verdicts.",
        ),
    ] = False,
    topics: Annotated[
        int,
        typer.Option(
            min=0,
            help="Topics to compare on in otie, batsakis and personalized; 0 for the default: 10, or 6 with --quick.",
        ),
    ] = 0,
    large: Annotated[
        bool,
        typer.Option(
            "--large",
            help="Include crawls of 100,000 steps with the cheap estimators, on 2.2 million nodes (gouriten).",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Directory for reports and their data.")
    ] = Path("papers"),
    random_seed: Annotated[int, typer.Option(help="Random seed for topics and seeds.")] = 0,
    workers: Workers = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat a paper's experiments and check its claims.

    On your own corpus, or on the embedded web, a generated web of 3,000 pages with known labels.

    Each paper gets a page with all its tables and figures: DIR/PAPER/index.html. The same command continues where it
    stopped.
    """
    names = list(PAPERS) if name == ALL else [name]
    wanted = {"quick": quick, "large": large, "topics": topics, "random_seed": random_seed}
    again = shlex.join(["lycosa", *sys.argv[1:]])
    with progress(quiet or json) as tell:
        made = publish(names, out, again, corpus=corpus, workers=workers, tell=tell, **wanted)
    front = write_front(made, out, again, quick=quick) if name == ALL else None
    pages = {key: out / key / PAGE for key, found in made.items() if not isinstance(found, str)}
    if json:
        known = [
            {
                "paper": key,
                "failure": found if isinstance(found, str) else None,
                "page": pages.get(key),
                "claims": [] if isinstance(found, str) else plain(list(map(asdict, found.claims))),
            }
            for key, found in made.items()
        ]
        print_json({"papers": known, "page": front}, indent=1)
    for key, found in made.items():
        if isinstance(found, str) and not json:
            print(f"lycosa: {key} failed: {one_line(found)}", file=sys.stderr)
        elif not isinstance(found, str) and not quiet and not json:
            fare = f"of {many(len(found.claims), 'claim')} {tally(found.claims)}" if found.claims else "no claims"
            print(f"{key}: {fare}; {pages[key]}")
    if pages and not quiet and not json:
        page = front or next(iter(pages.values()))
        print(f"{page}: open it in a browser, {page.resolve().as_uri()}" + f"\n{QUICK}" * quick)
    if len(pages) < len(made):
        raise typer.Exit(2)
