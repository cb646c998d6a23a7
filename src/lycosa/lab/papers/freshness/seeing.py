"""Tables of detection: precision and recall of each method, by kind of change, false alarms by sort, time."""

from __future__ import annotations

from collections.abc import Mapping

from lycosa.lab.findings import Cell, Claim, Curve, Figure, Table
from lycosa.lab.papers.freshness.comparing import SOURCE, _lines, _verdict
from lycosa.lab.papers.freshness.detecting import DEFAULT, Detection, by_kind
from lycosa.lab.papers.freshness.pairs import EDITS, NOTHING, SORTS
from lycosa.refresh.change import KINDS as ORDER
from lycosa.refresh.detectors import DEFAULT as TOGETHER
from lycosa.testing.change_process import KINDS

REAL = tuple(kind for kind in ORDER if kind != "cosmetic")


def table_detection(found: Mapping[str, Detection]) -> Table:
    """Precision, recall and F1 on pairs drawn at any time."""
    rows: list[list[Cell]] = []
    for name, one in found.items():
        score, kinds = one.drawn, by_kind(one, dict(KINDS))
        alarms = [one.edits[sort] for sort in SORTS if sort in one.edits]
        rows.append(
            [
                name, score.precision, score.recall, score.f1,
                *(kinds[kind][1] / kinds[kind][0] if kinds[kind][0] else None for kind in REAL),
                sum(count[1] for count in alarms) / max(1, sum(count[0] for count in alarms)),
            ]
        )  # fmt: skip
    score = next(iter(found.values())).drawn
    return Table(
        "freshness-detection", "Is it a real change? Each method alone, and the default",
        ("method", "precision", "recall", "F1", *(f"recall: {kind}" for kind in REAL), "false alarms, cosmetic"), rows,
        note=f"Precision, recall and F1: {score.hits + score.misses + score.alarms + score.passes:,} pairs of versions "
        f"from an hour to a week apart, of which {score.hits + score.misses:,} differ in earnest; pages without "
        "pictures. Recall by kind and false alarms: pairs with just one edit between them. Structure has replaced "
        f"pictures among it, which only images looks at. Default: {', '.join(TOGETHER)}.",
    )  # fmt: skip


def table_edits(found: Mapping[str, Detection]) -> Table:
    """Share taken for real, edit by edit, and sort by sort of what is cosmetic."""
    rows: list[list[Cell]] = []
    for what in (*EDITS, *SORTS, NOTHING):
        counts = [one.edits.get(what) for one in found.values()]
        if counts[0] is None:
            continue
        rows.append(
            [
                KINDS.get(what, "none" if what == NOTHING else "cosmetic"), what, counts[0][0],
                *(count[1] / count[0] if count else None for count in counts),
            ]
        )  # fmt: skip
    return Table(
        "freshness-edits", "Taken for a real change, edit by edit", ("kind", "edit", "pairs", *found), rows, digits=2,
        note="One edit between two versions. Above, recall; from cosmetic on, false alarms. Counter: a number that "
        "moves with time, or with each fetch. Encoding: a picture saved anew.",
    )  # fmt: skip


def table_kinds(found: Mapping[str, Detection]) -> Table:
    """What kind the default names."""
    one = found[DEFAULT]
    rows: list[list[Cell]] = [
        [kind, count[0], count[1] / count[0], count[2] / count[0]]
        for kind, count in by_kind(one, dict(KINDS)).items()
        if count[0]
    ]
    return Table(
        "freshness-kinds", "Is the kind right? The default", ("kind", "pairs", "taken for real", "named as its kind"),
        rows,
        note="A change has the gravest kind that any method sees. Of structure, replaced pictures are half, and only "
        "images sees them. Topic is named where the score crosses the threshold; else it is text.",
    )  # fmt: skip


def table_time(found: Mapping[str, Detection]) -> Table:
    """Time for a comparison."""
    rows: list[list[Cell]] = [[name, one.milliseconds] for name, one in found.items()]
    return Table(
        "freshness-time", "Time for a comparison", ("method", "milliseconds"), rows, timed=True,
        note="Median over versions that differ in any byte. Both are parsed by the method that needs it; titles, "
        "texts, links and fingerprints are there already, as the engine has them of every page.",
    )  # fmt: skip


def figure_detection(found: Mapping[str, Detection]) -> Figure:
    """Precision and recall as bars."""
    places = list(range(len(found)))
    return Figure(
        "freshness-figure-detection", "Is it a real change?", "method", "share",
        [
            Curve("precision", places, [one.drawn.precision or 0.0 for one in found.values()]),
            Curve("recall", places, [one.drawn.recall or 0.0 for one in found.values()]),
        ],
        bars=True, ticks=list(found), note="Pairs of versions from an hour to a week apart.",
    )  # fmt: skip


def claim_detection(found: Mapping[str, Detection], quick: bool) -> Claim:
    """The default is not beaten by any method alone."""
    default = found[DEFAULT].drawn
    better = [name for name, one in found.items() if one.drawn.f1 > default.f1]
    told = [
        f"Default: precision {default.precision or 0:.3f}, recall {default.recall or 0:.3f}, F1 {default.f1:.3f}.",
        *(f"{name} has an F1 of {found[name].drawn.f1:.3f}." for name in better),
    ]
    return Claim(
        "No method alone has a better F1 than the default", SOURCE, _verdict(not better, quick), _lines(told, quick)
    )
