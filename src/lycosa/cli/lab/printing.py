"""What experiments have found, in the terminal: the tables of a report as the page has them."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Column
from rich.table import Table as Drawn

from lycosa.cli.commands import one_line
from lycosa.cli.printing import listing
from lycosa.lab.findings import Table
from lycosa.lab.report.page import filled, in_figures, shown


def drawn(part: Table) -> Drawn:
    """Return a table for the terminal."""
    columns = [
        Column(escape(title), justify="right" if figures else "left", overflow="fold")
        for title, figures in zip(part.columns, in_figures(part), strict=True)
    ]
    rows = ([one_line(shown(cell, part.digits)) for cell in filled(row, len(columns))] for row in part.rows)
    return listing(columns, rows, title=escape(one_line(part.title)), show_edge=True, pad_edge=False)
