"""A change in words: what feeds, mails and terminals say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from lycosa.drawing.formats import clip, visible
from lycosa.refresh.change import Change
from lycosa.refresh.ledger import WHATS, Told

Excerpt: TypeAlias = Callable[[Told], str]
"""Told of a change, says a few of the words that came and went; empty where it can't."""

Where: TypeAlias = Callable[[Told], str]
"""Told of a change, says at which address it can be seen; empty: at the page's own."""

LONGEST = 300
"""Characters of a title, or of anything else that a page had a say in."""


def nothing(item: Told) -> str:
    """No excerpt."""
    return ""


def plain(text: str, most: int = LONGEST) -> str:
    """One line that XML, JSON, a header and a terminal take alike.

    >>> plain("Reefs" + chr(13) + chr(10) + "Bcc: all@example.org" + chr(0))
    'Reefs Bcc: all@example.org'
    """
    text = text[: 4 * most].replace("\x01", " ").replace("\x02", " ")  # no marks of ours in a title
    return clip(visible(text), most)


def name(item: Told) -> str:
    """What to call the page: its title, or else its address."""
    return plain(item.title) or plain(item.url)


def label(change: Change) -> str:
    """What happened, in two words or three.

    >>> label(Change("changed", "text", 0.25)), label(Change("vanished"))
    ('text changed, 25 %', 'vanished')
    """
    if change.what != "changed":
        return change.what
    return f"{change.kind} changed, {share(change.magnitude)}"


def share(magnitude: float) -> str:
    """A magnitude as a share; what is there is never 0 %.

    >>> share(0.25), share(0.001), share(0.0), share(0.999)
    ('25 %', '<1 %', '0 %', '99 %')
    """
    if 0 < magnitude < 0.01:
        return "<1 %"
    return f"{100 if magnitude >= 1 else min(99, round(100 * magnitude))} %"


def reasons(change: Change) -> list[str]:
    """What the detectors said, each with its name.

    >>> reasons(Change("changed", "text", 0.5, ["simhash"], ["9 of 64 bits"])), reasons(Change("moved", target="b"))
    (['simhash: 9 of 64 bits'], ['to b'])
    """
    lines = [f"{plain(by)}: {plain(says)}" for by, says in zip(change.by, change.says, strict=False)]
    lines += [plain(says) for says in change.says[len(change.by) :]]
    if change.what == "moved" and change.target and not any(change.target in line for line in lines):
        lines.insert(0, f"to {plain(change.target, 2_000)}")
    return [line for line in lines if line]


def story(item: Told, excerpt: str = "") -> str:
    """All of it, in a few lines."""
    lines = [f"{label(item.change)[:1].upper()}{label(item.change)[1:]}.", *reasons(item.change)]
    if item.origin:
        lines.append(f"An image on {plain(item.origin, 2_000)}")
    if excerpt:
        lines.append(plain(excerpt, 1_000))
    if item.follows:
        lines.append(f"The version before is of {day_and_time(item.follows)}.")
    return "\n".join(lines)


def tally(changes: Iterable[Told]) -> Counter[str]:
    """How many of each."""
    return Counter(item.change.what for item in changes)


def counts(tally: Mapping[str, int]) -> str:
    """How many of each, in words.

    >>> counts({"vanished": 1, "changed": 3})
    '3 changed, 1 vanished'
    """
    return ", ".join(f"{tally[what]:,} {what}" for what in WHATS if tally.get(what)) or "nothing changed"


def day_and_time(at: float) -> str:
    """A time for people, in UTC.

    >>> day_and_time(1_700_000_000)
    '2023-11-14 22:13 UTC'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def stamp(at: float) -> str:
    """A time as RFC 3339 has it.

    >>> stamp(1_700_000_000.7)
    '2023-11-14T22:13:20Z'
    """
    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%dT%H:%M:%SZ}"


def facts(item: Told) -> dict[str, Any]:
    """A change as data: for feeds, webhooks and `lycosa changes --json`."""
    change = item.change
    return {
        "id": item.id,
        "seq": item.seq,
        "what": change.what,
        "kind": change.kind if change.what == "changed" else None,
        "magnitude": round(change.magnitude, 4) if change.what == "changed" else None,
        "url": plain(item.url, 10_000),
        "host": item.host,
        "title": plain(item.title),
        "at": stamp(item.at),
        "follows": stamp(item.follows) if item.follows else None,
        "score": round(item.beta, 4),
        "score_before": round(item.was, 4),
        "moved_to": plain(change.target, 10_000) or None,
        "shown_on": plain(item.origin, 10_000) or None,
        "says": reasons(change),
    }
