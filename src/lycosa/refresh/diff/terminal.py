"""Two versions in a terminal: side by side where it is wide enough, one after the other where it is not.

Colours tell what was removed and added; where there are none, `[-marks-]` and `{+marks+}` do, as in wdiff.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from lycosa.drawing.formats import many, percent, visible, when
from lycosa.refresh.diff.blocks import BREAK
from lycosa.refresh.diff.comparison import Comparison, folded, pieces
from lycosa.refresh.diff.rows import Row, Run, cut

WIDE = 100
"""Columns from which on two texts stand side by side."""

COLUMN = 100
"""Characters in a line of text at most: longer ones are hard to read."""

MOST_ROWS = 500
"""Rows that a terminal shows unless all are asked for: nobody scrolls back that far."""

MOST_RUNS = 400
"""Stretches of words in one row that are shown."""

LONG_RUN, ENDS = 40, 15
"""Words of a kept stretch in a changed block that are shown; and at both ends of a longer one."""

_MARKS = {"removed": ("[-", "-]", "red"), "added": ("{+", "+}", "green"), "kept": ("", "", "")}
_SIGNS = {
    "same": (" ", ""),
    "changed": ("~", "yellow"),
    "removed": ("-", "red"),
    "added": ("+", "green"),
    "moved away": ("<", "blue"),
    "moved here": (">", "blue"),
}

MOVED = ("moved away", "moved here")


class Printer:
    """Prints comparisons. `uncut`: into a file or a pipe, where lines may be of any length."""

    def __init__(self, console: Console, *, uncut: bool = False, whole: bool = False) -> None:
        self.console = console
        self.uncut = uncut
        self.whole = whole
        self.marked = console.no_color or console.color_system is None
        self.beside = not uncut and console.width >= WIDE

    def tell(self, comparison: Comparison, *, links: bool = True) -> None:
        """All of it."""
        self._head(comparison)
        if comparison.diff.rows:
            self.console.print()
        left = len(comparison.diff.rows) if self.whole or self.uncut else MOST_ROWS
        for shown, rows in folded(comparison.diff.rows):
            if left <= 0:
                left = -1 if shown else left  # there would be more to show
                continue
            if shown or self.whole:
                for row in rows[:left]:
                    self._row(row if self.whole or self.uncut else cut(row, MOST_RUNS))
                left -= len(rows)
            else:
                self.line(Text(f"  ... {many(len(rows), 'unchanged line')}", "dim"))
        if left < 0:
            self.line(Text("  ... and so on: --all shows everything, --html FILE writes a page", "dim"))
        if links:
            self._links(comparison)

    def _head(self, comparison: Comparison) -> None:
        old, new, diff = comparison.old, comparison.new, comparison.diff
        self.line(Text(new.title or old.title or visible(comparison.url), "bold"))
        self.address(comparison.url)
        for name, version in (("from", old), ("to", new)):
            size = f", {version.size:,} bytes" if version.size else ""
            self.line(Text(f"{name:<5} version {version.number} of {comparison.versions}, {when(version.at)}{size}"))
        if comparison.title_changed:
            runs = [Run("removed", [old.title or "(none)"]), Run("added", [new.title or "(none)"])]
            self.line(Text("title ").append(self._styled(runs)))
        if comparison.says:
            self.line(Text(f"recorded: {comparison.says}"))
        if not comparison.differs:
            self.line(Text("a reader sees the same in both"))
            return
        words = f"words +{diff.added:,} -{diff.removed:,}"
        words += f", {diff.moved:,} moved" if diff.moved else ""
        words += f" ({percent(diff.share)} differ)" if diff.added or diff.removed else ""
        self.line(Text(f"{words}; links +{len(comparison.links_added):,} -{len(comparison.links_removed):,}"))

    def _links(self, comparison: Comparison) -> None:
        if not comparison.links_added and not comparison.links_removed:
            return
        self.console.print()
        self.line(Text("links", "bold"))
        for sign, style, links in (("-", "red", comparison.links_removed), ("+", "green", comparison.links_added)):
            for link in links:
                self.console.print(Text(f"{sign} {visible(link)}", style), soft_wrap=True)

    def _row(self, row: Row) -> None:
        sign, style = _SIGNS[row.state]
        first = Text(f"{sign} ", style)
        if not self.beside:
            self.wrapped(self._styled(row.runs, row), first)
            return
        half = (min(self.console.width - 1, 2 * COLUMN + 5) - 5) // 2
        old, new = (self._styled(runs, row).wrap(self.console, half) for runs in (row.old, row.new))
        for at in range(max(len(old), len(new))):
            left = old[at] if at < len(old) else Text()
            right = new[at] if at < len(new) else Text()
            left.rstrip()
            right.rstrip()
            line = first + left
            if right:
                line.append(" " * (half - cell_len(left.plain))).append(" | ", "dim").append(right)
            self.console.print(line, soft_wrap=True)
            first = Text("  ")

    def _styled(self, runs: list[Run], row: Row | None = None) -> Text:
        """Runs as a text with colours, or with marks. A row that is all of a kind needs no marks: its sign says it."""
        text = Text(f"({row.state}) " if runs and row is not None and row.state in MOVED else "", "blue")
        marked = self.marked and (row is None or row.state == "changed")
        for at, run in enumerate(runs):
            opening, closing, style = _MARKS[run.state]
            if row is not None and row.state == "same":
                style = "dim"
            words = self._words(run) if row is not None and row.state == "changed" else run.text
            broken = at and runs[at - 1].words[-1] == BREAK
            text.append("" if not at or run.close or broken else " ")
            if marked and words.endswith(BREAK):
                words, closing = words[:-1], closing + BREAK
            text.append(f"{opening}{words}{closing}" if marked else words, style)
        return text

    def _words(self, run: Run) -> str:
        start, _, end, between = pieces(run, len(run.words) if self.whole else LONG_RUN, ENDS)
        return f"{start} ... {many(between, 'word')} ... {end}" if between else start

    def address(self, url: str) -> None:
        """An address is never cut: the terminal wraps it where it must."""
        self.console.print(Text(visible(url), "cyan"), soft_wrap=True)

    def line(self, text: Text) -> None:
        """Print a text as it is."""
        self.wrapped(text, Text())

    def wrapped(self, text: Text, first: Text) -> None:
        """Print in lines that fit, beside something at the left of the first."""
        if self.uncut:
            lines = text.split("\n")
        else:
            lines = text.wrap(self.console, max(20, min(self.console.width - 1, COLUMN) - len(first)))
        indent = Text(" " * len(first))
        for line in lines:
            line.rstrip()
            self.console.print(first + line, soft_wrap=True)
            first = indent
