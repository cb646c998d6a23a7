"""Pages that moved, vanished and came back: which of them a watch told of, and of which it told wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.lab.papers.freshness.measuring import Look
from lycosa.testing.changing import ChangingWeb

FATES = ("moved", "gone", "soft-404", "returned")
SAYS = {"moved": "moved", "gone": "vanished", "soft-404": "vanished", "returned": "returned"}
HAPPENED, LOOKED, TOLD, OTHERWISE, WRONG = range(5)
"""Places in a count: it happened; was looked at while it was so; was told; was told as something else; was told, and
had not happened."""


def count_fates(
    web: ChangingWeb, urls: Sequence[str], looks: Sequence[Sequence[Look]], start: float, end: float
) -> dict[str, list[int]]:
    """By fate the five counts. A page that is gone only for some days counts as gone, and then as returned."""
    counts = {fate: [0] * 5 for fate in FATES}
    for url, own in zip(urls, looks, strict=True):
        fate = web.fate(url)
        back = web.returns(url) or end
        if fate.what != "stays" and start < fate.time < end:
            name = "moved" if fate.what == "moved" else web.status(url, fate.time + 1.0)
            told = _count(counts[name], own, fate.time, back if fate.what == "returns" else end, SAYS[name])
            if fate.what == "returns" and back < end and told:
                _count(counts["returned"], own, back, end, SAYS["returned"])
        for look in own:
            if look.what in ("moved", "vanished", "returned"):
                status = web.status(url, look.at)
                right = {"moved": status == "moved", "vanished": status in ("gone", "soft-404")}
                if not right.get(look.what, status == "there"):
                    counts["gone" if look.what == "vanished" else look.what][WRONG] += 1
    return counts


def _count(count: list[int], looks: Sequence[Look], since: float, until: float, says: str) -> bool:
    """Add a fate to its count; whether it was told."""
    during = [look for look in looks if since <= look.at < until]
    said = {look.what for look in during if look.what}
    count[HAPPENED] += 1
    count[LOOKED] += bool(during)
    count[TOLD] += says in said
    count[OTHERWISE] += says not in said and bool(said)
    return says in said
