"""`lycosa lab compare: what two reports have in common`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.lab.printing import drawn
from lycosa.cli.parameters import Json
from lycosa.cli.printing import output
from lycosa.lab import report
from lycosa.lab.findings import Table
from lycosa.lab.report.page import WARNING
from lycosa.lab.report.storing import dumped, plain


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The directory of a report.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The directory of another report of the same experiment.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write a page with all differences to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare two reports: numbers, verdicts, curves.

    Lists numbers that differ and verdicts that changed; with --out, curves are overlaid. Timings are not compared.
    Warns if the corpora differ.
    """
    found = report.compare(a, b)
    command = shlex.join(["lycosa", "lab", "compare", str(a), str(b), *(["--out", str(out)] if out else [])])
    page = report.write_report(found, out, command) if out else None
    if json:
        print(dumped(plain({**found.as_dict(), "page": str(page) if page else None})), end="")
        return
    console = output()
    for remark in sorted(found.remarks, key=lambda remark: not remark.startswith(WARNING)):
        console.print(one_line(remark), style="bold red" if remark.startswith(WARNING) else None, markup=False)
    console.print(found.summary, markup=False)
    for part in found.parts:
        if isinstance(part, Table) and part.key in ("compare-parts", "compare-claims") and part.rows:
            console.print(drawn(part))
    if page:
        print(f"{page}: open it in a browser, {page.resolve().as_uri()}")
