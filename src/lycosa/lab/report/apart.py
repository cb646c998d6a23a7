"""How far two tables or two figures are apart: cell by cell, point by point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lycosa.drawing.formats import many
from lycosa.lab.findings import Cell, Curve, Figure, Mode, Table
from lycosa.lab.report.cells import numeric, shown

MOST = 500
"""Cells of a table that are listed; those that differ most come first when there are more."""

NEAR_NOTHING = 0.01
"""Share of the largest value of its column below which a number is too near 0 to be divided by."""


@dataclass
class Distance:
    """How far numbers of two parts are from each other."""

    compared: int = 0
    differing: int = 0
    largest: float | None = None
    shares: list[float] = field(default_factory=list)
    """Differences in per cent of the largest value that each is to be seen beside: of its column or figure."""
    rows: list[list[Cell]] = field(default_factory=list)

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
    a, b = _by_key(one, width), _by_key(other, width)
    columns = {title: at for at, title in enumerate(other.columns)}
    scales = [
        _scale([_cell(row, at) for row in one.rows] + [_cell(row, columns.get(title, at)) for row in other.rows])
        for at, title in enumerate(one.columns)
    ]
    for key, row in a.items():
        if key not in b:
            continue
        for at, title in enumerate(one.columns):
            if at < max(width, 1) or title not in columns:
                continue
            mine, its = _cell(row, at), _cell(b[key], columns[title])
            before = distance.differing
            difference, relative = distance.see(mine, its, scales[at])
            if distance.differing > before:
                name = ", ".join(shown(part, one.digits) for part in key[: max(width, 1)])
                distance.rows.append([name, title, _told(mine, one), _told(its, other), difference, relative])
    for told, keys in (("A", a.keys() - b.keys()), ("B", b.keys() - a.keys())):
        if keys:
            names = sorted(", ".join(shown(part, one.digits) for part in key[: max(width, 1)]) for key in keys)
            alone.append(f"{one.title}: only {told} has {many(len(keys), 'row')}: {'; '.join(names[:8])}.")
    rows = distance.rows
    note = f"{distance.differing:,} of {distance.compared:,} cells differ. Difference: B less A."
    if len(rows) > MOST:
        rows = sorted(rows, key=lambda row: -abs(float(row[4] or 0.0)) / (scales[one.columns.index(row[1])] or 1.0))[
            :MOST
        ]
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
    found: dict[tuple[Any, ...], Sequence[Cell]] = {}
    for row in table.rows:
        key = tuple(row[: max(width, 1)])
        number = 1
        while (*key, number) in found:
            number += 1
        found[(*key, number)] = row
    return found


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
        twin = of.pop(curve.label, None)
        if twin is None:
            continue
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
