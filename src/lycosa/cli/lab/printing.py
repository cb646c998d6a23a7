"""Findings in the terminal: the tables of a report as its page has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Column

from lycosa.cli.commands import one_line
from lycosa.cli.printing import listing, output
from lycosa.lab.findings import AS_PUBLISHED, Findings, Table
from lycosa.lab.report import BADGE, in_figures, shown


def show(found: Findings, *keys: str) -> None:
    """Print tables, those with these keys if any are given, then remarks, claims and the summary."""
    for part in found.parts:
        if isinstance(part, Table) and (not keys or part.key in keys):
            show_table(part)
    console = output()
    for remark in found.remarks:
        console.print(f"- {one_line(remark)}", markup=False)
    for claim in found.claims:
        console.print(f"{claim.verdict}: {claim.text}. {' '.join(claim.evidence.split())}", markup=False)
    console.print(found.summary, markup=False)


def show_table(part: Table) -> None:
    columns = [
        Column(escape(title), justify="right" if figures else "left", overflow="fold")
        for title, figures in zip(part.columns, in_figures(part), strict=True)
    ]
    rows = ([one_line(shown(cell, part.digits)) for cell in row] for row in part.rows)
    title = f"{part.title}, {BADGE}" if part.mode == AS_PUBLISHED else part.title
    output().print(listing(columns, rows, title=escape(one_line(title)), show_edge=True, pad_edge=False))


@contextmanager
def kept(out: Path) -> Iterator[None]:
    """Say after Ctrl-C that finished crawls are kept."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"Stopped; finished crawls are kept in {out}. The same command continues.", file=sys.stderr)
        raise typer.Exit(130) from None
