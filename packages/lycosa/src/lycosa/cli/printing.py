"""Output of all commands: lines and tables that fit the terminal, or JSON."""

from __future__ import annotations

import json as jsonlib
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write
from lycosa.core.options import Options
from lycosa.drawing.formats import visible

UNCUT = 1_000  # columns of output without a terminal
NARROW = 60  # columns; tables with URLs do not fit in narrower terminals
_WHOLE = re.compile(r"://|lycosa |(?:^|[ '=])~?\.{0,2}/\w")  # a URL, a command or a path, which is never broken
COLOURS = {"changed": "yellow", "vanished": "red", "moved": "magenta", "returned": "green", "new": "green"}


class LabelledText(NamedTuple):
    """A text with a label to the left of its first line; further lines are indented."""

    first: str | Text
    text: str | Text


Part: TypeAlias = str | Text | LabelledText | Table | Mapping[str, str]  # mapping: labels to values, empty ones omitted


def print_result(facts: object, parts: Iterable[Part], *, json: bool, quiet: bool = False) -> None:
    if json:
        print_json(facts)
    elif not quiet:
        show(parts)


def show(parts: Iterable[Part], console: Console | None = None) -> None:
    """Print each part in lines that fit. URLs, commands and paths are never broken, so that they can be copied.

    Texts may come from web pages: control characters are removed.
    """
    console = console or output()
    for part in parts:
        if isinstance(part, Mapping):
            width = max(map(len, part)) + 2
            rows = (LabelledText(Text(f"{name:<{width}}", "dim"), value) for name, value in part.items() if value)
            show(rows, console)
        elif isinstance(part, Table):
            console.print(part)
        else:
            _print_lines(console, *(part if isinstance(part, LabelledText) else ("", part)))


def _print_lines(console: Console, first: str | Text, text: str | Text) -> None:
    first, text = _safe(first), _safe(text)
    width = max(10, min(console.width - 1, 100) - cell_len(first.plain))  # longer lines are hard to read
    whole = console.width >= UNCUT or _WHOLE.search(text.plain)
    for line in text.split("\n", allow_blank=True) if whole else text.wrap(console, width):
        line.rstrip()
        console.print(first + line, soft_wrap=True)
        first = Text(" " * cell_len(first.plain))


def _safe(text: str | Text) -> Text:
    text = Text(text) if isinstance(text, str) else text
    if not text.plain.isprintable():
        text.plain = "".join(visible(character) or " " for character in text.plain)
    return text


def output() -> Console:
    """Return the console for results: as wide as the terminal; unlimited in files and pipes."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNCUT, highlight=False)


def is_live_terminal(console: Console) -> bool:
    """Return True if a console supports a live display. With FORCE_COLOR, rich treats a file as a terminal."""
    return console.file.isatty() and not console.is_dumb_terminal


def print_json(result: object) -> None:
    print(jsonlib.dumps(result, default=_as_data), flush=True)


def _as_data(value: Any) -> Any:
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def heading(text: str) -> list[Part]:
    return ["", Text(text, "bold")]


def page_parts(score: float, title: str, url: str, before: float | None = None) -> list[Part]:
    """Return a page's relevance and title, and its URL on a line of its own."""
    first = f"{score:>6.2f}  " if before is None else f"{before:>6.2f} → {score:.2f}  "
    return [LabelledText(first, squeezed(title) or "-"), LabelledText(" " * len(first), Text(url, "cyan"))]


def right_aligned(title: str, **more: Any) -> Column:
    return Column(title, justify="right", **more)


def listing(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], **more: Any) -> Table:
    """Return a table without lines; cells are plain text."""
    table = Table(*columns, **{"box": None, "padding": (0, 1), "show_edge": False, "title_justify": "left", **more})
    for row in rows:
        table.add_row(*(Text(c) if isinstance(c, str) and c.isprintable() else _safe(c) for c in row))
    return table


def squeezed(text: str) -> str:
    return " ".join(text.split())


def timestamp(at: float) -> str:
    """Format a time as in a log, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def left_out(reasons: Any) -> str:
    return ", ".join(f"{count:,} {why}" for why, count in reasons.most_common() if count)


def remarks(reasons: Any, notes: Iterable[str]) -> list[Part]:
    left = left_out(reasons)
    return [*([f"Left out: {left}."] if left else []), *(f"note: {note}" for note in notes)]


def require_crawl(directory: Path) -> Options:
    """Return the options of a crawl that has started; raise InputError otherwise."""
    from lycosa.store.directory import Directory
    from lycosa.store.log import NAME

    options = Directory.read_options(directory)
    if not (directory / NAME).exists():
        raise InputError("not-a-crawl", f"nothing has been crawled in {directory} yet: run 'lycosa resume {directory}'")
    return options


def write_page(target: Path, page: str, option: str, name: str) -> int:
    """Write an HTML page atomically and return its size; errors name `option`, with `name` as an example file."""
    if target.is_dir():
        raise InputError("bad-file", f"{target} is a directory: give a file with {option}, such as {target / name}")
    body = page.encode("utf-8", "replace")
    try:
        with atomic_write(target) as file:
            file.write(body)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; choose another file with {option}") from error
    return len(body)
