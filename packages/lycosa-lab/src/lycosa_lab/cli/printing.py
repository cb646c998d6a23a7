"""Report tables in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Column

from lycosa.cli.commands import one_line
from lycosa.cli.printing import Part, listing, squeezed
from lycosa_lab.findings import AS_PUBLISHED, Findings, ReportTable
from lycosa_lab.report import BADGE, format_cell, numeric_columns


def printed_parts(found: Findings, *keys: str) -> Iterator[Part]:
    yield from (_table(part) for part in found.parts if isinstance(part, ReportTable) and part.key in keys)
    yield from (f"- {one_line(remark)}" for remark in found.remarks)
    yield from (f"{claim.verdict}: {claim.text}. {squeezed(claim.evidence)}" for claim in found.claims)
    yield found.summary


def _table(part: ReportTable) -> Part:
    columns = [
        Column(escape(title), justify="right" if figures else "left", overflow="fold")
        for title, figures in zip(part.columns, numeric_columns(part), strict=True)
    ]
    rows = ([one_line(format_cell(cell, part.digits)) for cell in row] for row in part.rows)
    title = f"{part.title}, {BADGE}" if part.mode == AS_PUBLISHED else part.title
    return listing(columns, rows, title=escape(one_line(title)), show_edge=True, pad_edge=False)


@contextmanager
def report_interrupt(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(f"Stopped; finished crawls are kept in {out}. The same command continues.", file=sys.stderr)
        raise typer.Exit(130) from None
