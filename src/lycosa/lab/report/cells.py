"""Cells of tables as text: for people, for LaTeX, for spreadsheets."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from lycosa.drawing.formats import clean
from lycosa.lab.findings import AS_PUBLISHED, Mode, Table

NOTHING = "–"
BADGE = "as published: judged by the guide itself"
"""What is said of every table and picture whose judge is the guide."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "–": "--", "—": "---", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$",
    "…": r"\ldots{}", "|": r"\textbar{}", '"': "''",
}  # fmt: skip


def shown(cell: Any, digits: int = 3) -> str:
    """A cell as people read it.

    >>> shown(-0.004, 1)
    '0.0'
    >>> [shown(cell) for cell in (None, 1234, 0.5, 0.00004, float("nan"), -0.0001, "0.5 (0.4 to 0.6)")]
    ['–', '1,234', '0.500', '4.0e-05', '–', '-1.0e-04', '0.5 (0.4 to 0.6)']
    """
    if cell is None:
        return NOTHING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return f"{int(cell):,}"
    if isinstance(cell, Real):
        value = float(cell)
        if math.isnan(value):
            return NOTHING
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        text = f"{value:,.{digits}f}"
        if value and not text.strip("-0.,"):  # a p-value, say; with few digits, nothing worth telling
            return f"{value:.1e}" if digits >= 3 else text.lstrip("-")
        return text
    return str(cell)


def numeric(cell: Any) -> bool:
    """Whether a cell is a number, and none that stands for yes or no."""
    return isinstance(cell, Real) and not isinstance(cell, bool)


def in_figures(table: Table) -> list[bool]:
    """Of each column whether it holds figures, and so stands at the right: a number or nothing in each row.

    >>> in_figures(Table("t", "T", ["name", "n"], [["a", 1], ["b", None]]))
    [False, True]
    """
    return [
        any(numeric(row[at]) for row in table.rows if at < len(row))
        and all(at >= len(row) or row[at] is None or numeric(row[at]) for row in table.rows)
        for at in range(len(table.columns))
    ]


def badge(mode: Mode) -> str:
    """What is said beside a title, if its mode asks for it."""
    return BADGE if mode == AS_PUBLISHED else ""


def filled(row: Sequence[Any], columns: int) -> list[Any]:
    """A row of as many cells as there are columns."""
    return [*row[:columns], *[None] * (columns - len(row))]


def escaped(text: str) -> str:
    r"""Text for LaTeX.

    >>> escaped(r"50 % of a_b & \input{x}")
    '50 \\% of a\\_b \\& \\textbackslash{}input\\{x\\}'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in " ".join(clean(text).split()))


def as_tex(table: Table) -> str:
    """A table for LaTeX, with the rules of booktabs."""
    right = in_figures(table)
    title = f"{table.title} [{BADGE}]" if badge(table.mode) else table.title
    label = re.sub(r"[^A-Za-z0-9:.-]+", "-", table.key)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(title)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if figures else 'l' for figures in right)}}}",
        r"\toprule",
        " & ".join(escaped(column) for column in table.columns) + r" \\",
        r"\midrule",
        *(
            " & ".join(_tex_cell(cell, table.digits) for cell in filled(row, len(table.columns))) + r" \\"
            for row in table.rows
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if table.note:
        lines.append(rf"\par\smallskip\footnotesize {escaped(table.note)}")
    return "\n".join([*lines, r"\end{table}", ""])


def _tex_cell(cell: Any, digits: int) -> str:
    text = escaped(shown(cell, digits).replace("∞", "inf"))
    if numeric(cell) and text.startswith("-") and text != "--":
        return f"$-${text[1:]}"
    # A bracket at the start of a row would be taken for the argument of the \\ before it.
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def as_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows for spreadsheets: numbers as they are, nothing as nothing, no text that could be taken for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_csv_cell(column) for column in columns])
    writer.writerows([_csv_cell(cell) for cell in filled(row, len(columns))] for row in rows)
    return text.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else clean(cell)
    if isinstance(cell, Real) and not isinstance(cell, Integral):
        return "" if math.isnan(float(cell)) else repr(float(cell))
    return cell
