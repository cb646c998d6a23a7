"""`lycosa lab paper: the experiments of five papers, and our own`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.progress import progress
from lycosa.drawing.formats import many
from lycosa.lab.papers import PAPERS, QUICK
from lycosa.lab.report.page import tally
from lycosa.lab.report.publishing import Paper, command, publish, write_front
from lycosa.lab.report.storing import dumped, plain

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
    with progress(quiet or json) as tell:
        made = publish(names, out, corpus=corpus, workers=workers, tell=tell, **wanted)
    front = write_front(made, out, command(ALL, out, corpus, **wanted), quick=quick) if name == ALL else None
    if json:
        _print_json(made, out, front)
    else:
        _print(made, out, front, quiet=quiet)
        if quick and not quiet:
            print(QUICK)
    if any(paper.failure for paper in made):
        raise typer.Exit(2)


def _print_json(made: list[Paper], out: Path, front: Path | None) -> None:
    told = [
        {
            "paper": paper.key,
            "failure": paper.failure or None,
            "page": str(out / paper.href) if paper.findings else None,
            "verdicts": paper.verdicts if paper.findings else None,
            "claims": [asdict(claim) for claim in paper.findings.claims] if paper.findings else [],
        }
        for paper in made
    ]
    print(dumped(plain({"papers": told, "page": str(front) if front else None})), end="")


def _print(made: list[Paper], out: Path, front: Path | None, *, quiet: bool) -> None:
    for paper in made:
        if paper.failure:
            print(f"lycosa: {paper.key} failed: {one_line(paper.failure)}", file=sys.stderr)
        elif not quiet:
            claims = paper.findings.claims if paper.findings else []
            fare = f"of {many(len(claims), 'claim')} {tally(claims)}" if claims else "no claims"
            print(f"{paper.key}: {fare}; {out / paper.href}")
    if not quiet and (front or any(paper.findings for paper in made)):
        page = front or out / next(paper.href for paper in made if paper.findings)
        print(f"{page}: open it in a browser, {page.resolve().as_uri()}")
