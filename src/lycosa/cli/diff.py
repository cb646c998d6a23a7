"""`lycosa diff`: two versions of a page side by side where the terminal is wide enough, else one after the other.

Colours tell what was removed and added; where there are none, `[-marks-]` and `{+marks+}` do, as in wdiff.
"""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, WholeText, by_the_end
from lycosa.cli.printing import COLUMN, UNCUT, output, print_json
from lycosa.collection.reading import Collection
from lycosa.collection.tracing import compared, known
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.drawing.formats import many, percent, visible, when
from lycosa.refresh.change import change_of
from lycosa.refresh.diff import Comparison, folded, pieces, told
from lycosa.refresh.diff.rows import BREAK, Row, Run, cut

_NUMBER = re.compile(r"[+-]?\d{1,9}")


def diff(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    from_: Annotated[
        str,
        typer.Option("--from", metavar="VERSION", help="A number (1 is the first, -1 the last), a date or a time."),
    ] = "",
    to: Annotated[str, typer.Option(metavar="VERSION", help="The later version, likewise. Default: the last.")] = "",
    links: Annotated[bool, typer.Option(help="Include added and removed links.")] = True,
    whole: Annotated[bool, typer.Option("--all", help="Include unchanged text.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the versions instead.")] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show what changed between two versions of a page. Default: the last two."""
    with Collection(directory, whole_text=whole_text) as collection:
        visits = known(collection, url)
        versions = [visit for visit in visits if visit.is_version]
        if not versions:
            raise InputError(f"there is no version of {visits[0].node}: its visit brought none ({visits[-1].outcome})")
        if listing or len(versions) == 1:
            _list(visits, versions, listing=listing, json=json)
            return
        chosen = choose(versions, from_, to, time.time())
        comparison = compared(collection, versions, *chosen)
    if json:
        print_json(comparison.as_data(whole=whole))
    else:
        console = output()
        Printer(console, uncut=console.width >= UNCUT, whole=whole).tell(comparison, links=links)


# -- which versions --------------------------------------------------------------------------------------------


def choose(versions: list[Visit], from_: str, to: str, now: float) -> tuple[int, int]:
    """The places of two versions, by number or by time; the last two if nothing is said.

    >>> at = [Visit("http://a.test/", "page", "ok", 1, started=day * 86_400.0) for day in range(3)]
    >>> [choose(at, *typed, 1e6) for typed in (("", ""), ("1", ""), ("", "2"), ("1970-01-01", "-1"))]
    [(1, 2), (0, 2), (0, 1), (0, 2)]
    """
    later = _place(versions, to, now, "--to") if to else len(versions) - 1
    if to and not from_ and not later:
        raise InputError("version 1 has no earlier version: use --from to say which one to compare it with")
    earlier = _place(versions, from_, now, "--from") if from_ else later - 1
    if earlier == later:
        raise InputError(
            f"--from and --to both mean version {later + 1} of {len(versions)}, of {when(versions[later].started)}: "
            "choose others; --list shows what there is"
        )
    return earlier, later


def _place(versions: list[Visit], typed: str, now: float, option: str) -> int:
    """The place of the version that a person means: 1 is the first, -1 the last; or the one that stood at a time."""
    typed = typed.strip()
    if _NUMBER.fullmatch(typed):
        number = int(typed)
        if not 1 <= abs(number) <= len(versions):
            raise InputError(f"there is no version {number}: there are {len(versions)}; --list shows them")
        return number - 1 if number > 0 else len(versions) + number
    then = by_the_end(typed, now, option)  # what stood on that day
    before = [place for place, visit in enumerate(versions) if visit.started <= then]
    if not before:
        raise InputError(f"no version is as old as {typed}: the first is of {when(versions[0].started)}")
    return before[-1]


# -- how it is shown -------------------------------------------------------------------------------------------


def _since(visits: list[Visit], version: Visit, following: Visit | None) -> list[Visit]:
    """The looks at a page after a version came, and before the next one did."""
    end = following.started if following is not None else float("inf")
    return [v for v in visits if v.kind in ("page", "revisit") and version.started < v.started < end]


def _facts(visits: list[Visit], versions: list[Visit]) -> list[dict[str, Any]]:
    """Each version: when it came, how large it is, what changed, and how often it was seen again."""
    facts = []
    for place, version in enumerate(versions):
        following = versions[place + 1] if place + 1 < len(versions) else None
        again = [v for v in _since(visits, version, following) if v.outcome == "unchanged" or v.status == 304]
        change = change_of(version)
        facts.append(
            {
                "version": place + 1,
                "at": version.started,
                "size": version.size,
                "title": version.title,
                "change": change.as_data() if change else None,
                "says": told(change) or ("the first" if not place else ""),
                "seen_again": len(again),
                "last_seen": again[-1].started if again else version.started,
            }
        )
    return facts


def _list(visits: list[Visit], versions: list[Visit], *, listing: bool, json: bool) -> None:
    """The versions, and what the last look found; of one that is alone, that there is nothing to compare it with."""
    facts, state = _facts(visits, versions), _state(visits, versions)
    if json:
        print_json({"url": visits[0].node, "versions": facts, "state": state})
        return
    console = output()
    printer = Printer(console, uncut=console.width >= UNCUT)
    printer.address(visits[0].node)
    if listing:
        printer.line(Text(many(len(facts), "version")))
        for fact in facts:
            again = f"seen again {many(fact['seen_again'], 'time')}" if fact["seen_again"] else ""
            words = [when(fact["at"]), f"{fact['size']:,} bytes", fact["says"], again]
            printer.wrapped(Text(", ".join(filter(None, words))), Text(f"{fact['version']:>3}  ", "bold"))
    else:
        alone = f"there is one version, of {when(versions[0].started)}: nothing to compare it with"
        printer.line(Text(alone))
    printer.line(Text(state))


def _state(visits: list[Visit], versions: list[Visit]) -> str:
    looks = _since(visits, versions[-1], None)
    if not looks:
        return "not looked at since"
    last = looks[-1]
    if last.outcome == "unchanged" or last.status == 304:
        return f"unchanged since: looked at {many(len(looks), 'time')}, last {when(last.started)}"
    change = change_of(last)
    found = told(change) if change else f"{last.outcome} {last.complaint}".strip()
    return f"the last look, {when(last.started)}: {found}"


# -- two versions ----------------------------------------------------------------------------------------------

MOST_ROWS = 500  # rows that a terminal shows by default
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
        self.beside = not uncut and console.width >= 100  # columns from which on two texts stand side by side

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
                    self._row(row if self.whole or self.uncut else cut(row, 400))
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
        start, _, end, between = pieces(run, len(run.words) if self.whole else 40, 15)
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
