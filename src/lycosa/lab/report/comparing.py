"""Two reports side by side: what both have, where their numbers differ and by how much, which verdicts changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lycosa.drawing.formats import many
from lycosa.lab.findings import INDEPENDENT, Cell, Curve, Figure, Findings, Mode, Table
from lycosa.lab.report.page import flat, numeric, shown
from lycosa.lab.report.storing import load, plain

MOST = 500
"""Cells of a table that are listed; those that differ most come first when there are more."""

NEAR_NOTHING = 0.01
"""Share of the largest value of its column below which a number is too near 0 to be divided by."""


def compare(a: Path, b: Path) -> Findings:
    """What differs between the reports of two directories. Parts with times in them are not compared."""
    pairs, alone = _matched(load(Path(a)), load(Path(b)))
    seen = Seen(alone=alone)
    settings: list[list[Cell]] = []
    facts: list[list[Cell]] = []
    for one, other in pairs:
        settings += _unequal(one.configuration, other.configuration)
        facts += _unequal(one.corpus, other.corpus)
        seen.claims_of(one, other)
        seen.parts_of(one, other)
    note = (
        "Numbers of tables, points of curves. In the last column each difference is held against the largest value of "
        "its column or figure, in A or B."
    )
    tables = [
        ("parts", "What both have", OVERVIEW, seen.overview, note),
        ("claims", "Claims", ["claim", "A", "B", "changed"], seen.claims, ""),
        ("configuration", "Configuration: what differs", ["name", "A", "B"], settings, ""),
        ("corpus", "Corpora: what differs", ["name", "A", "B"], facts, ""),
    ]
    return Findings(
        "compare", f"{_name(a)} (A) against {_name(b)} (B)",
        [
            *(
                Table(f"compare-{key}", title, columns, rows, note=about)
                for key, title, columns, rows, about in tables
                if rows or key == "parts"
            ),
            *seen.details,
        ],
        summary=seen.summary() if pairs else "The two reports have no experiment in common.",
        configuration={"a": str(a), "b": str(b)},
        corpus={"A": pairs[0][0].corpus, "B": pairs[0][1].corpus} if len(pairs) == 1 else {},
        remarks=[*_corpora(pairs), *seen.warnings, *seen.alone],
    )  # fmt: skip


OVERVIEW = ["part", "compared", "differ", "largest difference", "in % of the largest value"]


def _name(path: Path) -> str:
    """The directory of a report, or the experiment's that it lies in: those are all called report."""
    whole = Path(path).resolve()
    return (whole.parent.name if whole.name == "report" else whole.name) or str(path)


def _matched(a: list[Findings], b: list[Findings]) -> tuple[list[tuple[Findings, Findings]], list[str]]:
    """Experiments of the same key; one of each, whatever their keys, are matched, too."""
    if len(a) == len(b) == 1:
        return [(a[0], b[0])], []
    of = {one.key: one for one in b}
    pairs = [(one, of[one.key]) for one in a if one.key in of]
    keys = {one.key for one, _ in pairs}
    alone = [
        f"Only {name} has {one.title}." for name, own in (("A", a), ("B", b)) for one in own if one.key not in keys
    ]
    return pairs, alone


def _unequal(one: Any, other: Any) -> list[list[Cell]]:
    a, b = dict(flat(plain(one))), dict(flat(plain(other)))
    return [[name, a.get(name), b.get(name)] for name in dict.fromkeys([*a, *b]) if a.get(name) != b.get(name)]


def _corpora(pairs: Sequence[tuple[Findings, Findings]]) -> list[str]:
    """A warning where the corpora are not the same, or are not known to be."""
    unknown = False
    for one, other in pairs:
        a, b = ({name: mark for name, mark in flat(plain(of.corpus)) if "fingerprint" in name} for of in (one, other))
        if a != b:
            return [
                f"WARNING: the corpora differ ({', '.join(a.values()) or 'unknown'} in A, "
                f"{', '.join(b.values()) or 'unknown'} in B): what differs below may come from the pages alone."
            ]
        unknown |= not a
    warning = "WARNING: the reports do not say which corpus they were made on; it may not be the same."
    return [warning] if unknown else []


@dataclass
class Seen:
    """What was compared so far, and what came of it."""

    alone: list[str]
    """What only one of the two has."""
    warnings: list[str] = field(default_factory=list)
    overview: list[list[Cell]] = field(default_factory=list)
    claims: list[list[Cell]] = field(default_factory=list)
    details: list[Table | Figure] = field(default_factory=list)
    tables: int = 0
    figures: int = 0
    both: int = 0
    """Claims that both have."""
    changed: int = 0
    """Verdicts that changed."""
    values: int = 0
    differing: int = 0
    shares: list[float] = field(default_factory=list)
    """Differences, in per cent of the largest value of the column or figure."""
    where: str = ""
    """The title of the part that has the largest."""

    def claims_of(self, one: Findings, other: Findings) -> None:
        """Compare all verdicts of two experiments; those that changed come first."""
        of = {(claim.source, claim.text): claim for claim in other.claims}
        rows: list[list[Cell]] = []
        for claim in one.claims:
            twin = of.pop((claim.source, claim.text), None)
            changed = twin is not None and twin.verdict != claim.verdict
            self.both += twin is not None
            self.changed += changed
            rows.append([claim.text, claim.verdict, twin.verdict if twin else None, "changed" if changed else None])
        rows += [[claim.text, None, claim.verdict, None] for claim in of.values()]
        self.claims += sorted(rows, key=lambda row: row[3] is None)

    def parts_of(self, one: Findings, other: Findings) -> None:
        """Compare all tables and figures of two experiments."""
        of = {(type(part), part.key): part for part in other.parts if not part.timed}
        for part in one.parts:
            if part.timed:
                continue
            twin = of.pop((type(part), part.key), None)
            if twin is None:
                self.alone.append(f"Only A has {part.title} ({part.key}).")
            else:
                self._part(part, twin)
        self.alone += [f"Only B has {part.title} ({part.key})." for part in of.values()]

    def _part(self, part: Table | Figure, twin: Table | Figure) -> None:
        if part.mode != twin.mode:
            self.warnings.append(f"WARNING: {part.title} ({part.key}) is {part.mode} in A and {twin.mode} in B.")
        mode = twin.mode if part.mode == INDEPENDENT else part.mode  # as published if either is
        distance = Distance()
        if isinstance(part, Table) and isinstance(twin, Table):
            self.tables += 1
            table = tables_apart(part, twin, mode, distance, self.alone)
            self.details += [table] if table.rows else []
        elif isinstance(part, Figure) and isinstance(twin, Figure):
            self.figures += 1
            self.details += figures_apart(part, twin, mode, distance)
        self.values += distance.compared
        self.differing += distance.differing
        share = max(distance.shares, default=None)
        if share is not None and share > max(self.shares, default=0.0):
            self.where = part.title
        self.shares += distance.shares
        self.overview.append([part.title, distance.compared, distance.differing, distance.largest, share])

    def summary(self) -> str:
        """What came out, in a paragraph."""
        text = (
            f"Both have {many(self.tables, 'table')}, {many(self.figures, 'figure')} and {many(self.both, 'claim')}. "
            f"{self.differing:,} of {many(self.values, 'value')} differ"
        )
        if self.shares:
            text += (
                f": half of them by at most {median(self.shares):.1f} % of the largest value beside them, all by at "
                f"most {max(self.shares):.1f} % ({self.where})"
            )
        return f"{text}. " + (f"{many(self.changed, 'verdict')} changed." if self.changed else "No verdict changed.")


# -- how far two tables or two figures are apart: cell by cell, point by point ---------------------------------------


@dataclass
class Distance:
    """How far numbers of two parts are from each other."""

    compared: int = 0
    differing: int = 0
    largest: float | None = None
    shares: list[float] = field(default_factory=list)
    """Differences in per cent of the largest value that each is to be seen beside: of its column or figure."""

    def see(self, one: Any, other: Any, scale: float) -> tuple[float | None, float | None]:
        """Count two cells; the difference (B - A), and in per cent of A unless that is next to nothing."""
        self.compared += 1
        if not (numeric(one) and numeric(other)) or math.isnan(one) or math.isnan(other):
            same = one == other or (_is_nan(one) and _is_nan(other))
            self.differing += not same
            return None, None
        difference = float(other) - float(one)
        if difference:
            self.differing += 1
            self.largest = max(self.largest or 0.0, abs(difference))
            self.shares.append(100 * abs(difference) / scale)
        return difference, 100 * difference / abs(one) if abs(one) > NEAR_NOTHING * scale else None


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)


def _scale(cells: Iterable[Any]) -> float:
    """The largest of some numbers, whatever its sign."""
    return max((abs(float(cell)) for cell in cells if numeric(cell) and math.isfinite(cell)), default=0.0)


def tables_apart(one: Table, other: Table, mode: Mode, distance: Distance, alone: list[str]) -> Table:
    """The cells that differ."""
    width = _key_width(one, other)
    named = max(width, 1)
    a, b = _by_key(one, named), _by_key(other, named)
    places = {title: at for at, title in enumerate(other.columns)}
    scales = {
        title: _scale([_cell(row, at) for row in one.rows] + [_cell(row, places.get(title, at)) for row in other.rows])
        for at, title in enumerate(one.columns)
    }

    def name(key: tuple[Any, ...]) -> str:
        return ", ".join(shown(part, one.digits) for part in key[:named])

    rows: list[list[Cell]] = []
    for key in (key for key in a if key in b):
        for at, title in enumerate(one.columns):
            if at < named or title not in places:
                continue
            mine, its = _cell(a[key], at), _cell(b[key], places[title])
            before = distance.differing
            difference, relative = distance.see(mine, its, scales[title])
            if distance.differing > before:
                rows.append([name(key), title, _told(mine, one), _told(its, other), difference, relative])
    for whose, keys in (("A", a.keys() - b.keys()), ("B", b.keys() - a.keys())):
        if keys:
            alone.append(
                f"{one.title}: only {whose} has {many(len(keys), 'row')}: {'; '.join(sorted(map(name, keys))[:8])}."
            )
    note = f"{distance.differing:,} of {distance.compared:,} cells differ. Difference: B less A."
    if len(rows) > MOST:
        rows.sort(key=lambda row: -abs(float(row[4] or 0.0)) / (scales[str(row[1])] or 1.0))
        del rows[MOST:]
        note += f" The {MOST} that differ most are listed."
    titles = ["row", "column", "A", "B", "difference", "relative, %"]
    return Table(f"compare-{one.key}", f"{one.title}: what differs", titles, rows, mode, max(one.digits, 3), note)


def _told(cell: Cell, table: Table) -> Cell:
    return cell if numeric(cell) else shown(cell, table.digits)


def _cell(row: Sequence[Cell], at: int) -> Cell:
    return row[at] if at < len(row) else None


def _key_width(one: Table, other: Table) -> int:
    """How many cells at the start name a row in both tables; 0: none do, rows are matched by their first, in order."""
    for width in range(1, min(len(one.columns), len(other.columns)) + 1):
        if list(one.columns[:width]) != list(other.columns[:width]):
            return 0
        names = [[tuple(row[:width]) for row in table.rows] for table in (one, other)]
        if any(isinstance(cell, float) for rows in names for key in rows for cell in key):
            return 0
        if all(len(set(rows)) == len(rows) for rows in names):
            return width
    return 0


def _by_key(table: Table, width: int) -> dict[tuple[Any, ...], Sequence[Cell]]:
    """Rows by the cells that name them, and the how manieth of that name each is."""
    rows: dict[tuple[Any, ...], Sequence[Cell]] = {}
    for row in table.rows:
        key, number = tuple(row[:width]), 1
        while (*key, number) in rows:
            number += 1
        rows[(*key, number)] = row
    return rows


def figures_apart(one: Figure, other: Figure, mode: Mode, distance: Distance) -> list[Table | Figure]:
    """The curves of both in one figure, those of A solid, those of B dashed; and how far they are apart."""
    ticks = list(dict.fromkeys([*one.ticks, *other.ticks])) if one.bars else list(one.ticks)
    mine, its = (_on_ticks(figure, ticks) if one.bars else list(figure.curves) for figure in (one, other))
    of = {curve.label: curve for curve in its}
    scale = _scale(y for curve in (*mine, *its) for y in curve.y)
    curves: list[Curve] = []
    rows: list[list[Cell]] = []
    for curve in mine:
        curves.append(Curve(f"{curve.label} (A)", curve.x, curve.y, curve.low, curve.high))
        if twin := of.pop(curve.label, None):
            place = len(curves) - 1
            curves.append(Curve(f"{curve.label} (B)", twin.x, twin.y, twin.low, twin.high, twin_of=place))
            rows.append(_apart(curve, twin, distance, scale, ticks if one.bars else ()))
    curves += [Curve(f"{curve.label} (B)", curve.x, curve.y, curve.low, curve.high) for curve in of.values()]
    note = "A solid, B dashed; curves that only one has are solid." if not one.bars else "B is hatched."
    overlaid = Figure(
        f"compare-{one.key}", f"{one.title}: A and B", one.x_label, one.y_label, curves, mode, log_x=one.log_x,
        log_y=one.log_y, bars=one.bars, ticks=ticks, note=note,
    )  # fmt: skip
    if not any(row[3] for row in rows):
        return [overlaid]
    titles = ["curve", "A at the end", "B at the end", "largest difference", "where"]
    table = Table(f"compare-{one.key}-curves", f"{one.title}: how far apart", titles, rows, mode, note="B less A.")
    return [overlaid, table]


def _on_ticks(figure: Figure, ticks: Sequence[str]) -> list[Curve]:
    """Bars over other labels; nothing where a figure does not have one."""
    at = {tick: place for place, tick in enumerate(figure.ticks)}

    def put(values: Sequence[float]) -> list[float]:
        if not len(values):
            return []
        return [values[at[tick]] if tick in at and at[tick] < len(values) else math.nan for tick in ticks]

    if not ticks:
        return list(figure.curves)
    places = list(range(len(ticks)))
    return [Curve(curve.label, places, put(curve.y), put(curve.low), put(curve.high)) for curve in figure.curves]


def _apart(one: Curve, other: Curve, distance: Distance, scale: float, ticks: Sequence[str]) -> list[Cell]:
    """How far two curves are apart where both have a point."""
    of = dict(zip(other.x, other.y, strict=False))
    farthest, where = 0.0, math.nan
    for x, y in zip(one.x, one.y, strict=False):
        if x in of:
            difference, _ = distance.see(y, of[x], scale)
            if difference is not None and abs(difference) > abs(farthest):
                farthest, where = difference, float(x)
    ends: list[Cell] = [curve.y[-1] if len(curve.y) else None for curve in (one, other)]
    place: Cell = None if math.isnan(where) else ticks[int(where)] if ticks else f"{where:g}"
    return [one.label, *ends, farthest or None, place]
