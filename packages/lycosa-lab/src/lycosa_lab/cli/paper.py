"""`lycosa lab paper`: the experiments of five papers, and our own on freshness."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.cli.commands import one_line, with_more
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import Part, print_result
from lycosa.cli.progress_bar import show_progress
from lycosa.drawing.formats import many
from lycosa_lab.cli.run import settings
from lycosa_lab.papers import PAPERS, QUICK
from lycosa_lab.report import PAGE, tally
from lycosa_lab.report.publishing import publish

ALL = "all"


@with_more(settings("subject_count", "random_seed"))
def paper(
    name: Annotated[str, "PAPER", "otie, batsakis, personalized, gouriten or rules; all; freshness."],
    *,
    corpus: Annotated[
        Path | None, "DIR", "An index of 'lycosa lab index'. Default: the embedded web, 3,000 pages."
    ] = None,
    quick: Annotated[bool, "Minutes only: too small for reliable verdicts."] = False,
    large: Annotated[bool, "Add crawls of 100,000 steps on 2.2 million nodes (gouriten)."] = False,
    out: Annotated[Path, "-o", "DIR", "Directory for reports and their data."] = Path("papers"),
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
    **flags: Any,
) -> None:
    """Repeat a paper's experiments and check its claims.

    On your own corpus, or on the embedded web, a generated web of 3,000 pages with known labels. --topics is for otie,
    batsakis and personalized: 10 by default, 6 with --quick.

    Each paper gets a page with all its tables and figures: DIR/PAPER/index.html. The same command continues where it
    stopped.
    """
    names = list(PAPERS) if name == ALL else [name]
    wanted = {"topics": flags["subject_count"] or 0, "random_seed": flags["random_seed"] or 0}
    again = shlex.join(["lycosa", *sys.argv[1:]])
    with show_progress(quiet or json) as progress:
        reports = publish(
            names, out, again, corpus=corpus, quick=quick, large=large, workers=workers, progress=progress, **wanted
        )
    pages = {key: out / key / PAGE for key, found in reports.items() if not isinstance(found, str)}
    facts, lines = dict[str, Any](), list[Part]()
    for key, found in reports.items():
        if isinstance(found, str):
            facts[key] = {"failure": found}
            if not json:
                print(f"lycosa: {key} failed: {one_line(found)}", file=sys.stderr)
            continue
        facts[key] = {"page": pages[key], "claims": found.claims}
        fare = f"of {many(len(found.claims), 'claim')} {tally(found.claims)}" if found.claims else "no claims"
        lines.append(f"{key}: {fare}; {pages[key]}")
    if pages:
        page = next(iter(pages.values()))
        lines += [f"{page}: open it in a browser, {page.resolve().as_uri()}", *([QUICK] if quick else [])]
    print_result({"papers": facts}, lines, json=json, quiet=quiet)
    if len(pages) < len(reports):
        raise typer.Exit(2)
