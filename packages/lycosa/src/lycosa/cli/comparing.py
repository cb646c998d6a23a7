"""`lycosa changes DIR URL`: show the changes between two versions of a page.

Colours mark removed and added text; without colours, `[-marks-]` and `{+marks+}` do, as in wdiff.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from lycosa.cli.changes import magnitude
from lycosa.cli.page import title_parts, version_at, versions_of
from lycosa.cli.printing import UNCUT, LabelledText, Part, heading, output, print_result, squeezed
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.tracing import compared, visits_of
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.drawing.formats import many, percent, when
from lycosa.revisit.change import Change, change_of
from lycosa.revisit.diff import Comparison, folded, pieces
from lycosa.revisit.diff.aligned_rows import BREAK, Row, Run, cut
from lycosa.revisit.ledger import reasons

MAX_ROWS = 500  # rows shown by default
_MARKS = {"removed": ("[-", "-]", "red"), "added": ("{+", "+}", "green"), "kept": ("", "", "")}
_SIGNS = {
    "same": (" ", ""),
    "changed": ("~", "yellow"),
    "removed": ("-", "red"),
    "added": ("+", "green"),
    "moved away": ("<", "blue"),
    "moved here": (">", "blue"),
}


def compare(directory: Path, url: str, from_: str, to: str, *, whole: bool, whole_text: bool, json: bool) -> None:
    with CrawlDirectory(directory, whole_text=whole_text) as collection:
        versions = versions_of(visits_of(collection, url))
        if len(versions) == 1:
            alone = f"there is one version, of {when(versions[0].started)}: nothing to compare it with"
            print_result({"url": versions[0].node, "versions": 1}, [alone], json=json)
            return
        earlier, later = _choose(versions, from_, to, time.time())
        comparison = compared(collection, versions, earlier, later)
        change = change_of(versions[later]) if later == earlier + 1 else None
    print_result(comparison.as_data(whole=whole) if json else None, _parts(comparison, change, whole=whole), json=json)


def _choose(versions: list[Visit], from_: str, to: str, now: float) -> tuple[int, int]:
    later = version_at(versions, to, now, "--to") if to else len(versions) - 1
    if to and not from_ and not later:
        raise InputError("no-version", "version 1 has no earlier version: choose the version to compare with by --from")
    earlier = version_at(versions, from_, now, "--from") if from_ else later - 1
    if earlier == later:
        of = f"version {later + 1} of {len(versions)}, of {when(versions[later].started)}"
        raise InputError("conflicting-options", f"--from and --to are both {of}: 'lycosa page' lists other versions")
    return earlier, later


def _parts(comparison: Comparison, change: Change | None, *, whole: bool) -> Iterator[Part]:
    old, new, diff, console = comparison.old, comparison.new, comparison.diff, output()
    marked = console.no_color or console.color_system is None
    yield from title_parts(new.title or old.title, comparison.url)
    for name, version in (("from", old), ("to", new)):
        size = f", {version.size:,} bytes" if version.size else ""
        yield f"{name:<5} version {version.number} of {comparison.versions}, {when(version.at)}{size}"
    if change is not None:
        yield "; ".join([f"recorded: {squeezed(magnitude(change)) or change.what}", *reasons(change)])
    if comparison.title_changed:
        runs = [Run("removed", [old.title or "(none)"]), Run("added", [new.title or "(none)"])]
        yield Text("title ").append(_styled(runs, None, marked=marked, whole=whole))
    if not comparison.differs:
        yield "a reader sees the same in both"
        return
    words = f"words +{diff.added:,} -{diff.removed:,}" + (f", {diff.moved:,} moved" if diff.moved else "")
    words += f" ({percent(diff.share)} differ)" if diff.added or diff.removed else ""
    yield f"{words}; links +{len(comparison.links_added):,} -{len(comparison.links_removed):,}"
    yield from [""] if diff.rows else []
    yield from _rows(comparison, marked=marked, whole=whole)
    if comparison.links_added or comparison.links_removed:
        yield from heading("links")
    for sign, style, links in (("-", "red", comparison.links_removed), ("+", "green", comparison.links_added)):
        yield from (Text(f"{sign} {link}", style) for link in links)


def _rows(comparison: Comparison, *, marked: bool, whole: bool) -> Iterator[Part]:
    uncut = whole or output().width >= UNCUT
    diff = comparison.diff
    left = len(diff.rows) if uncut else MAX_ROWS
    for shown, rows in folded(diff.rows):
        if left <= 0:
            left = -1 if shown else left  # more rows follow
        elif shown or whole:
            for row in rows[:left]:
                sign, style = _SIGNS[row.state]
                short = row if uncut else cut(row, 400)
                yield LabelledText(Text(f"{sign} ", style), _styled(short.runs, short, marked=marked, whole=whole))
            left -= len(rows)
        else:
            yield Text(f"  ... {many(len(rows), 'unchanged line')}", "dim")
    if left < 0:
        yield Text("  ... and so on: --all shows everything", "dim")


def _styled(runs: list[Run], row: Row | None, *, marked: bool, whole: bool) -> Text:
    """Return runs as a text with colours or marks. A uniform row needs none, because its sign is enough."""
    state = row.state if row is not None else ""
    text = Text(f"({state}) " if state.startswith("moved") else "", "blue")
    marked = marked and state in ("", "changed")
    for at, run in enumerate(runs):
        opening, closing, style = _MARKS[run.state]
        words = run.text
        if state == "changed":
            start, _, end, between = pieces(run, len(run.words) if whole else 40, 15)
            words = f"{start} ... {many(between, 'word')} ... {end}" if between else start
        broken = at and runs[at - 1].words[-1] == BREAK
        text.append("" if not at or run.close or broken else " ")
        if marked and words.endswith(BREAK):
            words, closing = words[:-1], closing + BREAK
        text.append(f"{opening}{words}{closing}" if marked else words, "dim" if state == "same" else style)
    return text
