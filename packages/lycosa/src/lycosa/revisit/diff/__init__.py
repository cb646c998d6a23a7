"""Two versions of a page side by side: aligned blocks, added and removed words.

`aligned_rows` aligns blocks and words; this module adds titles and links, the recorded change, and excerpts for
notifications.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from lycosa.core.errors import StoreError
from lycosa.core.types import Visit
from lycosa.drawing.formats import visible
from lycosa.revisit.change import Change
from lycosa.revisit.diff.aligned_rows import BREAK, Diff, Row, Run, diff, joined
from lycosa.revisit.ledger import LoggedChange, plain_line
from lycosa.revisit.snapshot import Snapshot
from lycosa.store.versions import Versions
from lycosa.web.inflate import BadEncoding, inflate

__all__ = ["Comparison", "Diff", "Row", "Run", "Version", "compare", "diff"]


@dataclass(slots=True)
class Version:
    """One version of a page, reduced to the compared parts."""

    number: int  # counted from 1
    at: float  # fetch time
    size: int = 0
    title: str = ""
    text: str = ""
    links: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """The differences of two versions, with their titles, links and the recorded change."""

    url: str
    old: Version
    new: Version
    diff: Diff
    links_removed: list[str] = field(default_factory=list)
    links_added: list[str] = field(default_factory=list)
    says: str = ""  # explanation recorded by the revisit that fetched the new version
    versions: int = 2

    @property
    def title_changed(self) -> bool:
        return self.old.title != self.new.title

    @property
    def differs(self) -> bool:
        words = any(row.state != "same" for row in self.diff.rows)
        return words or self.title_changed or bool(self.links_added or self.links_removed)

    def as_data(self, *, whole: bool = False) -> dict[str, Any]:
        """Return JSON data; unchanged rows only if the `whole` is requested."""
        diff = self.diff
        rows = [
            {"row": number, "state": row.state, "runs": [[run.state, run.text] for run in row.runs]}
            for number, row in enumerate(diff.rows, 1)
            if whole or row.state != "same"
        ]
        sides = {
            name: {key: value for key, value in asdict(version).items() if key not in ("text", "links")}
            for name, version in (("from", self.old), ("to", self.new))
        }
        return {
            "url": self.url,
            **sides,
            "versions": self.versions,
            "says": self.says,
            "words": {
                "from": diff.old_words,
                "to": diff.new_words,
                "removed": diff.removed,
                "added": diff.added,
                "moved": diff.moved,
                "share": round(diff.share, 4),
            },
            "links": {"removed": self.links_removed, "added": self.links_added},
            "rows": rows,
        }


def compare(url: str, old: Version, new: Version, *, change: Change | None = None, versions: int = 2) -> Comparison:
    """Compare two versions; `change` is the one recorded with the new version."""
    for version in (old, new):
        version.title = " ".join(visible(version.title).split())
    before, after = dict.fromkeys(old.links), dict.fromkeys(new.links)
    removed, added = [link for link in before if link not in after], [link for link in after if link not in before]
    return Comparison(url, old, new, diff(old.text, new.text), removed, added, describe(change), versions)


def describe(change: Change | None) -> str:
    """Format a recorded change as one line."""
    if change is None:
        return ""
    line: str = change.what
    if change.what == "changed":
        line += f": {change.kind}, magnitude {change.magnitude:.2g}"
    if change.target:
        line += f" to {change.target}"
    explanations = [f"{name}: {words}" if words else name for name, words in _pairs(change)]
    return " ".join(visible(line + (f" ({'; '.join(explanations)})" if explanations else "")).split())


def _pairs(change: Change) -> list[tuple[str, str]]:
    """Return the name and explanation of each detector; explanations without a detector have an empty name."""
    if not change.by:
        return [(words, "") for words in change.says if words]
    says = [*change.says, *[""] * len(change.by)]
    return list(zip(change.by, says, strict=False))


def folded(rows: list[Row], context: int = 2) -> list[tuple[bool, list[Row]]]:
    """Split rows into stretches to show and stretches of unchanged rows to fold."""
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.state != "same":
            low, high = max(0, at - context), at + context + 1
            near[low:high] = [True] * len(rows[low:high])
    stretches: list[tuple[bool, list[Row]]] = []
    for shown, row in zip(near, rows, strict=True):
        if stretches and stretches[-1][0] == shown:
            stretches[-1][1].append(row)
        else:
            stretches.append((shown, [row]))
    # A single row takes no more space than a placeholder.
    return [(shown or len(part) == 1, part) for shown, part in stretches]


def pieces(run: Run, long: int = 60, ends: int = 20) -> tuple[str, str, str, int]:
    """Split a run into shown, folded and shown text, and the number of folded words.

    >>> pieces(Run("kept", ["a", "b"])), pieces(Run("kept", ["a", "b", "c"]), long=2, ends=1)
    (('a b', '', '', 0), ('a', 'b', 'c', 1))
    """
    words = [f"¶{BREAK}" if word == BREAK and run.state != "kept" else word for word in run.words]
    if run.state != "kept" or len(words) <= long:
        return joined(words), "", "", 0
    inner = words[ends:-ends]
    return joined(words[:ends]), joined(inner), joined(words[-ends:]), len(inner)


# Excerpts: the first added and removed words of a change, for feeds and mails.

MAX_EXCERPT_LENGTH = 120  # maximum characters of an excerpt
MAX_TEXT_LENGTH = 500_000  # maximum characters of a text that is read for an excerpt


class Excerpts:
    """Added and removed words of changes as text; empty where the archive lacks a version."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self._excerpt = lru_cache(400)(self._build_excerpt)  # enough for the entries of a feed

    def __call__(self, item: LoggedChange) -> str:
        if item.change.what != "changed" or not item.follows:
            return ""
        return self._excerpt(item.url, item.follows, item.at)

    def _build_excerpt(self, url: str, before: float, at: float) -> str:
        versions = {visit.started: visit for visit in self.versions.of(url)}
        if before not in versions or at not in versions:
            return ""
        try:
            old, new = (self._text(versions[when]) for when in (before, at))
        except StoreError:  # an unreadable archive must not prevent the notification
            return ""
        if max(len(old), len(new)) > MAX_TEXT_LENGTH:
            return ""
        runs = [run for row in diff(old, new).rows if row.state in ("changed", "removed", "added") for run in row.runs]
        added = plain_line(" … ".join(run.text for run in runs if run.state == "added"), MAX_EXCERPT_LENGTH)
        removed = plain_line(" … ".join(run.text for run in runs if run.state == "removed"), MAX_EXCERPT_LENGTH)
        return "; ".join(filter(None, (added and f"added: {added}", removed and f"removed: {removed}")))

    def _text(self, visit: Visit) -> str:
        exchange = self.versions.exchange(visit)
        if exchange is None:
            return ""
        try:
            body, _ = inflate(exchange.body, exchange.header("content-encoding"), 4 * MAX_TEXT_LENGTH)
        except BadEncoding:
            return ""
        kind = exchange.header("content-type")
        return Snapshot.of(visit.node, body, kind, relevance=visit.relevance_now, threshold=0.0).main_text
