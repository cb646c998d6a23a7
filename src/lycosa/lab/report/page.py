"""The page of a report: findings into HTML that loads nothing from anywhere.

Names of corpora, classes and strategies were written by strangers: everything that the templates print is escaped, and
the page's own policy lets no script run but its own.
"""

from __future__ import annotations

import csv
import io
import math
import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from typing import Any

from lycosa.drawing.formats import clean, clip
from lycosa.drawing.pages import digest, environment, source
from lycosa.drawing.svg import style
from lycosa.lab.findings import AS_PUBLISHED, Claim, Curve, Figure, Findings, Mode, Table
from lycosa.lab.report.storing import plain
from lycosa.version import __version__

# A class, and a sign for those who see no colours.
VERDICTS = {"holds": ("holds", "✓"), "does not hold": ("fails", "✗"), "cannot be tested here": ("open", "?")}

INTERVAL = re.compile(r"–|-?[\d.,]+( \([^()]*\))?")  # a number, and in brackets its interval

SAMPLES = 6  # values of a curve written out below it

WARNING = "WARNING: "  # such remarks stand at the head of the page, too


@dataclass
class Shown:
    """One part of the findings with what the page needs of it."""

    part: Table | Figure
    name: str  # unique in the report, fit for a file and an anchor
    is_figure = False

    @property
    def badge(self) -> str:
        """What is said where the guide is the judge."""
        return badge(self.part.mode)


@dataclass
class ShownTable(Shown):
    """A table."""

    part: Table

    @property
    def right(self) -> list[bool]:
        """Of each column whether it holds figures."""
        return in_figures(self.part)

    @property
    def intervals(self) -> list[bool]:
        """Of each column whether its texts are numbers with their intervals, which are not to be broken."""
        return [
            all(INTERVAL.fullmatch(row[at]) for row in self.rows) and bool(self.rows)
            for at in range(len(self.part.columns))
        ]

    @property
    def rows(self) -> list[list[str]]:
        """The cells, as text."""
        return [
            [shown(cell, self.part.digits) for cell in filled(row, len(self.part.columns))] for row in self.part.rows
        ]


@dataclass
class ShownFigure(Shown):
    part: Figure
    is_figure = True

    @property
    def coinciding(self) -> str:
        """Which curves can't be seen because others lie on them, in a sentence; empty if there are none."""
        if self.part.bars:
            return ""
        alike: dict[tuple[tuple[float, ...], ...], list[str]] = {}
        for curve in self.part.curves:
            if len(curve.y):
                alike.setdefault((tuple(curve.x), tuple(curve.y)), []).append(curve.label)
        groups = [" and ".join(labels) for labels in alike.values() if len(labels) > 1]
        return f"The same curve: {'; '.join(groups)}." if groups else ""

    @property
    def described(self) -> str:
        """The figure in a sentence, for those who do not see it."""
        kind = "Bars" if self.part.bars else "Curves"
        names = ", ".join(curve.label for curve in self.part.curves)
        return clip(f"{kind} of {self.part.y_label} by {self.part.x_label}: {names}.", 600)

    @property
    def values(self) -> tuple[list[str], list[tuple[str, list[str]]]]:
        """Some of the figure's values: the places, and of each curve its label and what it has there."""
        curves = self.part.curves
        if self.part.bars:
            places = [str(tick) for tick in self.part.ticks] or [f"{x:g}" for x in (curves[0].x if curves else ())]
            return places, [(curve.label, [_y(curve, at) for at in range(len(places))]) for curve in curves]
        longest = max((curve.x for curve in curves), key=len, default=())
        if not len(longest):
            return [], []
        chosen = [longest[at] for at in sorted({round((len(longest) - 1) * n / (SAMPLES - 1)) for n in range(SAMPLES)})]
        rows = []
        for curve in curves:
            at_x = {x: at for at, x in enumerate(curve.x)}
            rows.append((curve.label, [_y(curve, at_x.get(x, -1)) for x in chosen]))
        return [f"{x:,g}" for x in chosen], rows


def _y(curve: Curve, at: int) -> str:
    if not 0 <= at < len(curve.y):
        return shown(None)
    text = shown(curve.y[at])
    if at < len(curve.low) and at < len(curve.high):
        return f"{text} ({shown(curve.low[at])} to {shown(curve.high[at])})"
    return text


@dataclass
class Section:
    """One experiment on the page."""

    findings: Findings
    name: str
    parts: Sequence[Shown]

    @property
    def claims(self) -> list[tuple[Claim, str, str]]:
        """Each claim with its class and its sign."""
        return [(claim, *VERDICTS.get(claim.verdict, ("open", "?"))) for claim in self.findings.claims]

    @property
    def grouped(self) -> list[tuple[str, list[tuple[Claim, str, str]]]]:
        """Many claims by their verdicts; empty where there are few."""
        if len(self.claims) <= 12:
            return []
        groups = [(verdict, [one for one in self.claims if one[0].verdict == verdict]) for verdict in VERDICTS]
        return [(tally([claim for claim, _, _ in members]), members) for _, members in groups if members]

    @property
    def tally(self) -> str:
        """How the claims fare, in words."""
        return tally(self.findings.claims)

    @property
    def configuration(self) -> list[tuple[str, str]]:
        """The configuration, flat."""
        return flat(plain(self.findings.configuration))

    @property
    def corpus(self) -> list[tuple[str, str]]:
        """The facts of the corpus, flat."""
        return flat(plain(self.findings.corpus))


@dataclass
class About:
    """What is told at the end of the page: when, with what, how to do it again."""

    command: str
    made: str = field(default_factory=lambda: datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"))
    versions: Mapping[str, str] = field(default_factory=lambda: versions())


def versions() -> dict[str, str]:
    """With what it was made. The name of the machine is nobody's business."""
    known = {"lycosa": __version__, "python": platform.python_version()}
    for package in ("numpy", "scikit-learn"):
        with suppress(PackageNotFoundError):
            known[package] = version(package)
    return known | {"platform": f"{platform.system()} {platform.machine()}"}


def render(template: str, title: str, about: About, **values: Any) -> str:
    """A whole page, of whatever template, with all that it needs in it."""
    templates = environment("lycosa.lab.report")
    script = source(templates, "page.js")
    return templates.get_template(template).render(
        title=title,
        about=about,
        style=style() + source(templates, "style.css"),
        script=script,
        digest=digest(script),
        **values,
    )


def render_report(sections: Sequence[Section], about: About) -> str:
    """The page of one or several experiments."""
    remarks = [remark for one in sections for remark in one.findings.remarks]
    return render(
        "report.html",
        sections[0].findings.title if len(sections) == 1 else "Findings of the lab",
        about,
        sections=sections,
        long=160,
        warnings=[remark.removeprefix(WARNING) for remark in remarks if remark.startswith(WARNING)],
    )


def tally(claims: Sequence[Claim]) -> str:
    """How claims fare, in words.

    >>> tally([Claim("a", "", "holds", ""), Claim("b", "", "cannot be tested here", "")])
    '1 holds, 1 cannot be tested here'
    """
    count = Counter(claim.verdict for claim in claims)
    words = {
        "holds": "hold" if count["holds"] != 1 else "holds",
        "does not hold": "do not hold" if count["does not hold"] != 1 else "does not hold",
        "cannot be tested here": "cannot be tested here",
    }
    return ", ".join(f"{count[verdict]} {phrase}" for verdict, phrase in words.items() if count[verdict])  # type: ignore[index]


def flat(values: Any, before: str = "") -> list[tuple[str, str]]:
    """Nested values as names and texts.

    >>> flat({"a": {"b": 1, "c": [1, 2]}, "d": None, "e": True})
    [('a.b', '1'), ('a.c', '1, 2'), ('d', '–'), ('e', 'yes')]
    """
    if isinstance(values, dict):
        return [line for name, held in values.items() for line in flat(held, f"{before}.{name}" if before else name)]
    if isinstance(values, list):
        if any(isinstance(held, dict | list) for held in values):
            return [line for at, held in enumerate(values, 1) for line in flat(held, f"{before}.{at}")]
        return [(before, ", ".join(_value(held) for held in values) or shown(None))]
    return [(before, _value(values))]


def _value(value: Any) -> str:
    """A value of the configuration: exactly, not rounded."""
    exact = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if exact else shown(value) or shown(None)


def safe(key: str, taken: set[str]) -> str:
    """A key as the name of a file and an anchor that no other part has.

    >>> taken = set()
    >>> safe("table 7", taken), safe("table/7", taken), safe("../..", taken)
    ('table-7', 'table-7-2', 'part')
    """
    name = wanted = re.sub(r"[^A-Za-z0-9_.-]+", "-", key).strip("-.")[:80] or "part"
    number = 1
    while name.lower() in taken:
        number += 1
        name = f"{wanted}-{number}"
    taken.add(name.lower())
    return name


# -- cells of tables ---------------------------------------------------------------------------------------

# Cells of tables as text: for people, for spreadsheets.

NOTHING = "–"
BADGE = "as published: judged by the guide itself"  # of tables and pictures


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
