"""`lycosa lab compare: what two reports have in common`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.laboratory.app import lab
from lycosa.cli.parameters import Json


@lab.command("compare")
def compare_reports(
    a: Annotated[Path, typer.Argument(metavar="A", help="The directory of a report.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The directory of another, of the same experiment.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write a page with all differences here.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare two reports: numbers, verdicts, curves.

    Numbers that differ and verdicts that changed are listed; with --out curves are laid over each other. Times are
    not compared. You are warned where the corpora are not the same.
    """
    from lycosa.lab.report import compare, write_report
    from lycosa.lab.report.storing import dumped, plain

    found = compare(a, b)
    page = write_report(found, out, command(a, b, out)) if out else None
    if json:
        print(dumped(plain({**found.as_dict(), "page": str(page) if page else None})), end="")
        return
    from lycosa.cli.manners import one_line, output
    from lycosa.lab.findings import Table
    from lycosa.lab.report.page import WARNING

    console = output()
    for remark in sorted(found.remarks, key=lambda remark: not remark.startswith(WARNING)):
        warning = remark.startswith(WARNING)
        console.print(one_line(remark), style="bold red" if warning else None, markup=False, highlight=False)
    console.print(found.summary, markup=False, highlight=False)
    for part in found.parts:
        if isinstance(part, Table) and (part.key in ("compare-parts", "compare-claims") and part.rows):
            draw(part)
    if page:
        print(f"{page}: open it in a browser, {page.resolve().as_uri()}")


def command(a: Path, b: Path, out: Path | None) -> str:
    """The command as it was typed."""
    import shlex

    return shlex.join(["lycosa", "lab", "compare", str(a), str(b), *(["--out", str(out)] if out else [])])


def draw(part: object) -> None:
    """Print a table of the findings."""
    from rich.markup import escape
    from rich.table import Table as Drawn

    from lycosa.cli.manners import one_line, output
    from lycosa.lab.findings import Table
    from lycosa.lab.report.cells import filled, in_figures, shown

    assert isinstance(part, Table)
    table = Drawn(title=escape(one_line(part.title)), title_justify="left", box=None, pad_edge=False)
    for title, right in zip(part.columns, in_figures(part), strict=True):
        table.add_column(escape(title), justify="right" if right else "left", overflow="fold")
    for row in part.rows:
        table.add_row(*(escape(one_line(shown(cell, part.digits))) for cell in filled(row, len(part.columns))))
    output().print(table)
