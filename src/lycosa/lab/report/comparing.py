"""Two reports side by side: what both have, where their numbers differ and by how much, which verdicts changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lycosa.drawing.formats import many
from lycosa.lab.findings import INDEPENDENT, Cell, Claim, Figure, Findings, Table
from lycosa.lab.report.apart import Distance, figures_apart, tables_apart
from lycosa.lab.report.page import flat
from lycosa.lab.report.storing import load, plain

OVERVIEW = "compare-parts"
VERDICTS = "compare-claims"


def compare(a: Path, b: Path) -> Findings:
    """What differs between the reports of two directories. Parts with times in them are not compared."""
    pairs, alone = _matched(load(Path(a)), load(Path(b)))
    found = Findings("compare", f"{_name(a)} (A) against {_name(b)} (B)")
    found.configuration = {"a": str(a), "b": str(b)}
    overview: list[list[Cell]] = []
    seen = Seen()
    settings: list[list[Cell]] = []
    facts: list[list[Cell]] = []
    claims: list[list[Cell]] = []
    details: list[Table | Figure] = []
    for one, other in pairs:
        settings += _unequal(one.configuration, other.configuration)
        facts += _unequal(one.corpus, other.corpus)
        claims += _claims(one, other, seen)
        _parts(one, other, overview, details, seen, found.remarks, alone)
    found.corpus = {"A": pairs[0][0].corpus, "B": pairs[0][1].corpus} if len(pairs) == 1 else {}
    warning = _corpora(pairs)
    if warning:
        found.remarks.insert(0, warning)
    found.remarks += alone
    columns = ["part", "compared", "differ", "largest difference", "in % of the largest value"]
    note = (
        "Numbers of tables, points of curves. In the last column each difference is held against the largest value of "
        "its column or figure, in A or B."
    )
    found.parts.append(Table(OVERVIEW, "What both have", columns, overview, digits=3, note=note))
    if claims:
        found.parts.append(Table(VERDICTS, "Claims", ["claim", "A", "B", "changed"], claims))
    for key, title, rows in (("configuration", "Configuration", settings), ("corpus", "Corpora", facts)):
        if rows:
            found.parts.append(Table(f"compare-{key}", f"{title}: what differs", ["name", "A", "B"], rows))
    found.parts += details
    found.summary = _summary(seen, bool(pairs))
    return found


@dataclass
class Seen:
    """What was compared so far."""

    tables: int = 0
    figures: int = 0
    claims: int = 0
    verdicts: int = 0
    """Verdicts that changed."""
    values: int = 0
    differing: int = 0
    shares: list[float] = field(default_factory=list)
    """Differences, in per cent of the largest value of the column or figure."""
    where: str = ""
    """The title of the part that has the largest."""


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
    alone = [f"Only A has {one.title}." for one in a if one.key not in keys]
    return pairs, alone + [f"Only B has {one.title}." for one in b if one.key not in keys]


def _unequal(one: Any, other: Any) -> list[list[Cell]]:
    a, b = dict(flat(plain(one))), dict(flat(plain(other)))
    return [[name, a.get(name), b.get(name)] for name in dict.fromkeys([*a, *b]) if a.get(name) != b.get(name)]


def _corpora(pairs: Sequence[tuple[Findings, Findings]]) -> str:
    """A warning where the corpora are not the same, or are not known to be."""
    unknown = False
    for one, other in pairs:
        a, b = ({name: told for name, told in flat(plain(of.corpus)) if "fingerprint" in name} for of in (one, other))
        if a != b:
            return (
                f"WARNING: the corpora differ ({', '.join(a.values()) or 'unknown'} in A, "
                f"{', '.join(b.values()) or 'unknown'} in B): what differs below may come from the pages alone."
            )
        unknown |= not a
    return "WARNING: the reports do not say which corpus they were made on; it may not be the same." if unknown else ""


def _claims(one: Findings, other: Findings, seen: Seen) -> list[list[Cell]]:
    of = {(claim.source, claim.text): claim for claim in other.claims}
    rows: list[list[Cell]] = []
    for claim in one.claims:
        twin: Claim | None = of.pop((claim.source, claim.text), None)
        changed = twin is not None and twin.verdict != claim.verdict
        seen.claims += twin is not None
        seen.verdicts += changed
        rows.append([claim.text, claim.verdict, twin.verdict if twin else None, "changed" if changed else None])
    rows += [[claim.text, None, claim.verdict, None] for claim in of.values()]
    return sorted(rows, key=lambda row: row[3] is None)


def _parts(
    one: Findings, other: Findings, overview: list[list[Cell]], details: list[Table | Figure], seen: Seen,
    remarks: list[str], alone: list[str],
) -> None:  # fmt: skip
    """Compare all tables and figures of two experiments."""
    of = {(type(part), part.key): part for part in other.parts if not part.timed}
    for part in one.parts:
        if part.timed:
            continue
        twin = of.pop((type(part), part.key), None)
        if twin is None:
            alone.append(f"Only A has {part.title} ({part.key}).")
            continue
        if part.mode != twin.mode:
            remarks.append(f"WARNING: {part.title} ({part.key}) is {part.mode} in A and {twin.mode} in B.")
        mode = twin.mode if part.mode == INDEPENDENT else part.mode  # as published if either is
        if isinstance(part, Table) and isinstance(twin, Table):
            seen.tables += 1
            distance = Distance()
            table = tables_apart(part, twin, mode, distance, alone)
            if table.rows:
                details.append(table)
        else:
            assert isinstance(part, Figure)
            assert isinstance(twin, Figure)
            seen.figures += 1
            distance = Distance()
            details += figures_apart(part, twin, mode, distance)
        seen.values += distance.compared
        seen.differing += distance.differing
        share = max(distance.shares, default=None)
        if share is not None and share > max(seen.shares, default=0.0):
            seen.where = part.title
        seen.shares += distance.shares
        overview.append([part.title, distance.compared, distance.differing, distance.largest, share])
    alone += [f"Only B has {part.title} ({part.key})." for part in of.values()]


def _summary(seen: Seen, matched: bool) -> str:
    """What came out, in a paragraph."""
    if not matched:
        return "The two reports have no experiment in common."
    told = (
        f"Both have {many(seen.tables, 'table')}, {many(seen.figures, 'figure')} and {many(seen.claims, 'claim')}. "
        f"{seen.differing:,} of {many(seen.values, 'value')} differ"
    )
    if seen.shares:
        told += (
            f": half of them by at most {median(seen.shares):.1f} % of the largest value beside them, all by at most "
            f"{max(seen.shares):.1f} % ({seen.where})"
        )
    told += ". "
    return told + (f"{many(seen.verdicts, 'verdict')} changed." if seen.verdicts else "No verdict changed.")
