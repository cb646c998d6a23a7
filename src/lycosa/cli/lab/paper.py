"""`lycosa lab paper: the experiments of five papers, and our own`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import print_json
from lycosa.cli.progress import progress
from lycosa.drawing.formats import many
from lycosa.lab.findings import Findings, plain
from lycosa.lab.papers import PAPERS, QUICK
from lycosa.lab.report import PAGE, VERDICTS, tally
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
    if json:
        print_json({"papers": [_as_dict(key, found, out) for key, found in made.items()], "page": front}, indent=1)
    else:
        _print(made, out, front, quiet=quiet)
        if quick and not quiet:
            print(QUICK)
    if any(isinstance(found, str) for found in made.values()):
        raise typer.Exit(2)


def _as_dict(key: str, found: Findings | str, out: Path) -> dict[str, Any]:
    if isinstance(found, str):
        return {"paper": key, "failure": found, "page": None, "verdicts": None, "claims": []}
    count = Counter(claim.verdict for claim in found.claims)
    return {
        "paper": key, "failure": None, "page": out / key / PAGE, "verdicts": {one: count[one] for one in VERDICTS},
        "claims": [plain(asdict(claim)) for claim in found.claims],
    }  # fmt: skip


def _print(made: dict[str, Findings | str], out: Path, front: Path | None, *, quiet: bool) -> None:
    pages = [front] if front else []
    for key, found in made.items():
        if isinstance(found, str):
            print(f"lycosa: {key} failed: {one_line(found)}", file=sys.stderr)
            continue
        pages.append(out / key / PAGE)
        if not quiet:
            claims = found.claims
            fare = f"of {many(len(claims), 'claim')} {tally(claims)}" if claims else "no claims"
            print(f"{key}: {fare}; {pages[-1]}")
    if pages and not quiet:
        print(f"{pages[0]}: open it in a browser, {pages[0].resolve().as_uri()}")
