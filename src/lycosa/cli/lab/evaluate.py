"""`lycosa lab evaluate`: the thesis's evaluator for any crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.lab.printing import show
from lycosa.cli.parameters import Json, Quiet
from lycosa.cli.printing import print_json
from lycosa.cli.progress import progress
from lycosa.lab import evaluator
from lycosa.lab.report import write_report


def evaluate(
    crawl: Annotated[Path, typer.Argument(metavar="DIR", help="A crawl's directory, or an index.")],
    relevant: Annotated[
        Path,
        typer.Option(
            metavar="PAGES",
            help="Pages known to be relevant: a directory of HTML or text files, or a file with one address per "
            "line (or in the first column of a table).",
        ),
    ],
    threshold: Annotated[
        float, typer.Option(help="A page is relevant if its similarity to one of them is greater than this.")
    ] = evaluator.THRESHOLD,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Write a report with table and curves to this directory."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure how similar a crawl is to known relevant pages.

    A page's similarity is its largest cosine with any of the relevant pages, as in Batsakis 2007, section 4.2.

    For example:  lycosa lab evaluate my-crawl/ --relevant good-pages/
    """
    with progress(quiet or json) as tell:
        done = evaluator.evaluate(crawl, relevant, threshold=threshold, tell=tell)
    known = done.findings()
    page = write_report(known, out, f"lycosa lab evaluate {crawl} --relevant {relevant}") if out is not None else None
    if json:
        similarities = dict(zip(done.pages, done.similarities.tolist(), strict=True))
        print_json({"report": page, **known.as_dict(), "similarities": similarities})
    elif not quiet:
        show(known)
        if page:
            print(f"The page: {page}")
