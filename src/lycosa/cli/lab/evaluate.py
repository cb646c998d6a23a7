"""`lycosa lab evaluate`: the thesis's evaluator for any crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from lycosa.cli.parameters import Json, Quiet
from lycosa.cli.printing import listing, output, print_json, right
from lycosa.cli.progress import progress
from lycosa.lab import evaluator
from lycosa.lab.evaluator import Idf
from lycosa.lab.report import write_report


def evaluate(
    crawl: Annotated[
        Path, typer.Argument(metavar="DIR", help="A crawl's directory, an index, a WARC file or a directory of them.")
    ],
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
    ] = 0.75,
    wanted: Annotated[
        str, typer.Option("--class", metavar="NAME", help="Only rows of the table whose second column is this class.")
    ] = "",
    pages: Annotated[
        Path | None,
        typer.Option(
            metavar="PLACE",
            help="Where to find relevant pages that were not crawled: WARC files or a crawl. Nothing is fetched.",
        ),
    ] = None,
    idf: Annotated[
        str,
        typer.Option(
            help="How rare words are: background (statistics of English), pages (counted over the pages at hand; for "
            "other languages), none."
        ),
    ] = "background",
    every: Annotated[
        int, typer.Option(min=0, help="Pages per row of the table. Default: 100, more for long crawls.")
    ] = 0,
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
        done = evaluator.evaluate(
            crawl, relevant, threshold=threshold, wanted=wanted, pages=pages, idf=cast(Idf, idf), tell=tell
        )
    if out is not None:
        write_report(done.findings(every), out, f"lycosa lab evaluate {crawl} --relevant {relevant}")
    if json:
        print_json(done.as_dict(every))
        return
    if quiet:
        return
    rows = (
        (f"{number:,}", f"{found:,}", f"{share:.3f}", f"{average:.3f}")
        for number, found, share, average in done.rows(every)
    )
    titles = ("pages", "relevant", "fraction", "average similarity")
    output().print(listing([right(title) for title in titles], rows, show_edge=True))
    print(done.summary())
    for why, count in done.left_out.items():
        print(f"Left out: {count:,} {why}.")
    for note in done.notes:
        print(f"note: {note}")
    if out is not None:
        print(f"Report: {out}")
