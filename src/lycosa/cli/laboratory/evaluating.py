"""`lycosa lab evaluate`: the thesis's evaluator for any crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.laboratory.app import lab
from lycosa.cli.parameters import Json, Quiet


@lab.command("evaluate")
def evaluate(
    crawl: Annotated[
        Path, typer.Argument(metavar="DIR", help="A crawl's directory, an index, a WARC file or a directory of them.")
    ],
    relevant: Annotated[
        Path,
        typer.Option(
            metavar="PAGES",
            help="Pages that you know to be relevant: a directory of HTML or text files, or a file with an address a "
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
            help="Where relevant pages are recorded that were not crawled: WARC files or a crawl. Nothing is fetched.",
        ),
    ] = None,
    idf: Annotated[
        str,
        typer.Option(
            help="How rare words are: background (statistics of English), pages (counted over the pages at hand; for "
            "other languages), none."
        ),
    ] = "background",
    every: Annotated[int, typer.Option(min=0, help="Pages from line to line. Default: 100, more for long crawls.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write a report with table and curves there.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Tell how much a crawl is like pages you know to be good.

    A page's similarity is its largest cosine with any of the relevant pages, as in Batsakis 2007, section 4.2.

    For example:  lycosa lab evaluate my-crawl/ --relevant good-pages/
    """
    import json as jsonlib
    from typing import cast

    from lycosa.cli.laboratory.progress import progress
    from lycosa.lab.evaluator import evaluate as run
    from lycosa.lab.resemblance import Idf

    with progress(quiet or json) as tell:
        done = run(crawl, relevant, threshold=threshold, wanted=wanted, pages=pages, idf=cast(Idf, idf), tell=tell)
    if out is not None:
        from lycosa.lab.report import write_report

        write_report(done.findings(every), out, f"lycosa lab evaluate {crawl} --relevant {relevant}")
    if json:
        print(jsonlib.dumps(done.as_dict(every)))
        return
    if quiet:
        return
    from rich.table import Table

    from lycosa.cli.manners import output

    table = Table("pages", "relevant", "fraction", "average similarity", box=None)
    for column in table.columns:
        column.justify = "right"
    for number, found, share, average in done.rows(every):
        table.add_row(f"{number:,}", f"{found:,}", f"{share:.3f}", f"{average:.3f}")
    output().print(table)
    print(done.summary())
    for why, count in done.left_out.items():
        print(f"Left out: {count:,} {why}.")
    for note in done.notes:
        print(f"note: {note}")
    if out is not None:
        print(f"Report: {out}")
