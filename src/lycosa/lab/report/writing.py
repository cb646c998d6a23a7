"""Write a report: the directory with all its files. The page comes last, and whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing
from lycosa.drawing.svg import svg
from lycosa.lab.findings import Figure, Findings, Table
from lycosa.lab.report.page import (
    About,
    Section,
    Shown,
    ShownFigure,
    ShownTable,
    as_csv,
    badge,
    filled,
    render_report,
    safe,
)
from lycosa.lab.report.storing import REPORT, TIMES, dumped, stored

PAGE = "index.html"


def need(*packages: str) -> None:
    """Ask for what a report needs before its experiments are run, not after hours of them."""
    for package in packages:
        if find_spec(package) is None:
            raise InputError(f"the lab's reports need {package}: pip install 'lycosa[lab]'")


def write_report(findings: Findings | list[Findings], out: Path, command: str) -> Path:
    """Write the page, pictures and tables of one or several experiments into a directory; where the page is.

    `command` is what makes it again. Files of the same names are replaced one by one, each whole or not at all.
    """
    if (out / PAGE).exists() and not (out / REPORT).exists():
        raise StoreError(f"{out / PAGE} is there already and is of no report: choose another place with --out")
    several = [findings] if isinstance(findings, Findings) else list(findings)
    taken: set[str] = set()
    known: set[str] = set()
    files: dict[str, bytes] = {}
    sections = [
        Section(one, safe(one.key, known), [_part(part, safe(part.key, taken), files) for part in one.parts])
        for one in several
    ]
    about = About(command)
    report, timed = stored(several)
    times = {"made": about.made, "command": command, "versions": dict(about.versions), "parts": timed}
    files |= {REPORT: report.encode(), TIMES: dumped(times).encode(), PAGE: render_report(sections, about).encode()}
    write_files(out, files)
    return out / PAGE


def write_files(out: Path, files: Mapping[str, bytes]) -> None:
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


def _part(part: Table | Figure, name: str, files: dict[str, bytes]) -> Shown:
    """A part as the page shows it; its files join the others."""
    if isinstance(part, Table):
        files[f"tables/{name}.csv"] = _csv(part, part.columns, part.rows)
        return ShownTable(part, name)
    files[f"figures/{name}.svg"] = svg(part, alone=True, badge=badge(part.mode)).encode()
    files[f"figures/{name}.csv"] = _csv(part, ("curve", "x", "y", "low", "high"), _points(part))
    return ShownFigure(part, name)


def _csv(part: Table | Figure, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """With who judged in each row: a file has no title that could say so."""
    width = len(columns)
    return as_csv([*columns, "mode"], [[*filled(row, width), part.mode] for row in rows]).encode()


def _points(figure: Figure) -> list[list[Any]]:
    """All points of a figure, a row each; bars stand over labels."""
    rows = []
    for curve in figure.curves:
        x = [*figure.ticks, *curve.x[len(figure.ticks) :]] if figure.bars else curve.x
        columns = (values[: len(curve.y)] for values in (x, curve.y, curve.low, curve.high))
        rows += [[curve.label, *point] for point in zip_longest(*columns)]
    return rows
