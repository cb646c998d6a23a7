"""Reports: findings as index.html, a self-contained page without scripts, and as report.json."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write
from lycosa.drawing.formats import clip
from lycosa.drawing.templates import environment
from lycosa.version import __version__
from lycosa_lab.findings import (
    AS_PUBLISHED,
    FAILS,
    HOLDS,
    UNTESTED,
    Claim,
    Findings,
    ReportFigure,
    ReportTable,
    Verdict,
    plain,
)

PAGE, REPORT = "index.html", "report.json"
WARNING = "WARNING: "  # remarks with this prefix are shown at the top of the page
BADGE = "as published: judged by the crawler's own judge"  # label of tables and figures

# CSS class and symbol of each verdict, so that colour is not the only cue.
VERDICTS: dict[Verdict, tuple[str, str]] = {HOLDS: ("holds", "✓"), FAILS: ("fails", "✗"), UNTESTED: ("open", "?")}


def require_packages(*packages: str) -> None:
    """Raise InputError for missing packages before experiments run for hours."""
    for package in packages:
        if find_spec(package) is None:
            raise InputError("missing-package", f"the lab's reports need {package}: pip install lycosa-lab")


def write_report(findings: Findings, out: Path, command: str) -> Path:
    """Write findings into a directory, each file atomically; return the page. `command` is shown to repeat the run."""
    if (out / PAGE).exists() and not (out / REPORT).exists():
        raise StoreError(f"{out / PAGE} already exists and is not a report: choose another place with --out")
    facts = {
        "made": datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"), "command": command, "versions": _versions(),
    }  # fmt: skip
    known = json.dumps(plain({**facts, **findings.as_dict()}), indent=1, allow_nan=False)
    templates = environment("lycosa_lab.report", format_cell, numeric_columns, tally, setting_texts, alt_text)
    page = templates.get_template("report.html").render(
        {"AS_PUBLISHED": AS_PUBLISHED, "BADGE": BADGE, "VERDICTS": VERDICTS, "WARNING": WARNING},
        found=findings, **facts,
    )  # fmt: skip
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in ((REPORT, known + "\n"), (PAGE, page)):
            with atomic_write(out / name) as file:
                file.write(text.encode())
    except OSError as error:
        raise StoreError(
            f"cannot write the report {error.filename or out}: {error.strerror}; choose another place with --out"
        ) from error
    return out / PAGE


def _versions() -> dict[str, str]:
    known = {"lycosa": __version__, "python": platform.python_version()}
    for package in ("numpy", "scikit-learn"):
        with suppress(PackageNotFoundError):
            known[package] = version(package)
    return known | {"platform": f"{platform.system()} {platform.machine()}"}


def tally(claims: Iterable[Claim]) -> str:
    count = Counter(claim.verdict for claim in claims)
    several: dict[Verdict, str] = {HOLDS: "hold", FAILS: "do not hold", UNTESTED: UNTESTED}
    return ", ".join(f"{count[one]} {one if count[one] == 1 else many}" for one, many in several.items() if count[one])


def setting_texts(values: Any) -> list[tuple[str, str]]:
    """Return settings as pairs of name and text.

    >>> setting_texts({"a": {"b": 1}, "c": [1, 2], "d": None, "e": "it"})
    [('a', '{"b": 1}'), ('c', '1, 2'), ('d', '–'), ('e', 'it')]
    """

    def text(value: Any) -> str:
        return value if isinstance(value, str) else format_cell(None) if value is None else json.dumps(value)

    return [
        (name, ", ".join(map(text, value)) if isinstance(value, list) else text(value))
        for name, value in plain(values).items()
    ]


def alt_text(figure: ReportFigure) -> str:
    names = ", ".join(curve.label for curve in figure.curves)
    return clip(f"Curves of {figure.y_label} by {figure.x_label}: {names}.", 600)


def format_cell(cell: Any, digits: int = 3) -> str:
    """Format a cell of a table.

    >>> [format_cell(cell) for cell in (None, True, 1234, 0.5, 0.00004, float("nan"), -0.0001, "0.5 (0.4 to 0.6)")]
    ['–', 'yes', '1,234', '0.500', '4.0e-05', '–', '-1.0e-04', '0.5 (0.4 to 0.6)']
    >>> format_cell(-0.004, 1)
    '0.0'
    """
    cell = cell.item() if hasattr(cell, "item") else cell
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if cell is None or cell != cell:
        return "–"
    if isinstance(cell, int):
        return f"{cell:,}"
    if not isinstance(cell, float):
        return str(cell)
    if math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    text = f"{cell:,.{digits}f}"
    if cell and not text.strip("-0.,"):  # for example a small p-value; with few digits it is rounded to 0
        return f"{cell:.1e}" if digits >= 3 else text.lstrip("-")
    return text


def numeric_columns(table: ReportTable) -> list[bool]:
    """Return for each column whether it has only numbers and empty cells, so that it is right-aligned.

    >>> numeric_columns(ReportTable("t", "T", ["name", "n"], [["a", 1], ["b", None]]))
    [False, True]
    """
    kinds = [{type(plain(row[at])) for row in table.rows} for at in range(len(table.columns))]
    return [bool(kind & {int, float}) and kind <= {int, float, type(None)} for kind in kinds]
