"""Write a report: the directory with all its files. The page comes last, and whole."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lycosa.core.errors import StoreError
from lycosa.core.files import replacing
from lycosa.drawing.pictures import pictures
from lycosa.lab.findings import Figure, Findings, Table
from lycosa.lab.report.cells import as_csv, as_tex, filled
from lycosa.lab.report.page import About, Section, Shown, render, safe
from lycosa.lab.report.storing import REPORT, TIMES, dumped, stored
from lycosa.version import __version__

PAGE = "index.html"


def write_report(findings: Findings | list[Findings], out: Path, command: str) -> Path:
    """Write the page, pictures and tables of one or several experiments into a directory; where the page is.

    `command` is what makes it again. Files of the same names are replaced one by one, each whole or not at all.
    """
    if (out / PAGE).exists() and not (out / REPORT).exists():
        raise StoreError(f"{out / PAGE} is there already and is of no report: choose another place with --out")
    several = [findings] if isinstance(findings, Findings) else list(findings)
    taken: set[str] = set()
    known: set[str] = set()
    files: dict[Path, bytes] = {}
    sections = [_section(one, safe(one.key, known), taken, files) for one in several]
    about = About(datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"), command, versions())
    report, timed = stored(several)
    files[Path(REPORT)] = report.encode()
    files[Path(TIMES)] = dumped(
        {"made": about.made, "command": command, "versions": dict(about.versions), "parts": timed}
    ).encode()
    page = out / PAGE
    files[Path(PAGE)] = render(sections, about).encode()
    write_files(out, files)
    return page


def write_files(out: Path, files: Mapping[Path, bytes]) -> None:
    """Write files into a directory, in order, each whole or not at all."""
    try:
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            with replacing(out / name) as file:
                file.write(content)
    except OSError as error:
        raise StoreError(
            f"cannot write the report {error.filename or out}: {error.strerror}; choose another place with --out"
        ) from error


def versions() -> dict[str, str]:
    """With what it was made. The name of the machine is nobody's business."""
    found = {"lycosa": __version__, "python": platform.python_version()}
    for package in ("numpy", "scikit-learn", "matplotlib", "plotly"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found | {"platform": f"{platform.system()} {platform.machine()}"}


def _section(one: Findings, name: str, taken: set[str], files: dict[Path, bytes]) -> Section:
    parts = []
    for part in one.parts:
        shown = Shown(part, safe(part.key, taken))
        if isinstance(part, Figure):
            drawn = pictures(part, shown.badge)
            shown.svg = drawn["svg"]
            for form, content in drawn.items():
                files[Path("figures") / f"{shown.name}.{form}"] = content
            files[Path("figures") / f"{shown.name}.csv"] = _csv(part, *_points(part))
        else:
            assert isinstance(part, Table)
            files[Path("tables") / f"{shown.name}.tex"] = as_tex(part).encode()
            files[Path("tables") / f"{shown.name}.csv"] = _csv(part, part.columns, part.rows)
        parts.append(shown)
    return Section(one, name, parts)


def _csv(part: Table | Figure, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """With who judged in each row: a file has no title that could say so."""
    width = len(columns)
    return as_csv([*columns, "mode"], [[*filled(row, width), part.mode] for row in rows]).encode()


def _points(figure: Figure) -> tuple[Sequence[str], list[list[str | float | None]]]:
    """All points of a figure, a row each."""
    rows: list[list[str | float | None]] = []
    for curve in figure.curves:
        for at, y in enumerate(curve.y):
            x: str | float | None
            x = (
                figure.ticks[at]
                if figure.bars and at < len(figure.ticks)
                else curve.x[at]
                if at < len(curve.x)
                else None
            )
            low = curve.low[at] if at < len(curve.low) else None
            rows.append([curve.label, x, y, low, curve.high[at] if at < len(curve.high) else None])
    return ("curve", "x", "y", "low", "high"), rows
