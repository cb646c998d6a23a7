"""How results are printed, by all commands: for people in lines and tables that fit, for programs as JSON."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from lycosa.cli.commands import one_line
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing
from lycosa.core.options import Options
from lycosa.drawing.formats import visible

UNCUT = 1_000  # columns of output without a terminal
COLUMN = 100  # characters in a line of text: longer ones are hard to read
NARROW = 60  # columns; narrower terminals have no room for tables with addresses
COLOURS = {"changed": "yellow", "vanished": "red", "moved": "magenta", "returned": "green", "new": "green"}


def output() -> Console:
    """Where results go: as wide as the terminal; in a file or a pipe nothing is cut."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNCUT, highlight=False)


def lively(console: Console) -> bool:
    """Whether a picture may move there: a real terminal, able to. (FORCE_COLOR makes rich take a file for one.)"""
    return console.file.isatty() and not console.is_dumb_terminal


def print_json(result: object, *, indent: int | None = None) -> None:
    """A result for programs: one value, of dataclasses and whatever JSON knows."""
    print(jsonlib.dumps(result, default=_as_data, indent=indent), flush=True)


def _as_data(value: Any) -> Any:
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"JSON has no word for a {type(value).__name__}")


# -- lines -------------------------------------------------------------------------------------------------------


def wrapped(console: Console, text: Text, first: Text | None = None, column: int = COLUMN) -> None:
    """Print a text in lines that fit, without blanks at their ends, beside something at the left of the first."""
    first = first or Text()
    indent = Text(" " * len(first))
    for line in text.wrap(console, max(20, min(console.width - 1, column) - len(first))):
        line.rstrip()
        console.print(first + line, soft_wrap=True)
        first = indent


def heading(console: Console, text: str) -> None:
    """What comes below it, after an empty line."""
    console.print()
    console.print(Text(text, "bold"))


def pairs(console: Console, rows: dict[str, str]) -> None:
    """Names and values; those that are empty are left out. An address is not broken, so that it can be copied.

    Values may be a stranger's words: what could move the cursor is not printed.
    """
    width = max(map(len, rows)) + 2
    for name, value in ((name, visible(value)) for name, value in rows.items()):
        if "://" in value:
            console.print(Text(f"{name:<{width}}", "dim").append(value, "default"), soft_wrap=True)
        elif value:
            wrapped(console, Text(squeezed(value)), Text(f"{name:<{width}}", "dim"))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def timestamp(at: float) -> str:
    """A moment, in UTC, as in a log.

    >>> timestamp(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def left_out(reasons: Any) -> str:
    """What was left out and why, the most frequent first; a Counter of reasons."""
    return ", ".join(f"{count:,} {why}" for why, count in reasons.most_common() if count)


def tell_more(count: int, limit: int) -> None:
    """How many lines more than were printed there are; a limit of 0 is none."""
    if limit and count > limit:
        print(f"and {count - limit:,} more: --limit 0 lists all")


def tell_rest(reasons: Any, notes: Iterable[str]) -> None:
    """What was left out of something, and what else there is to know of it."""
    left = left_out(reasons)
    for line in ([f"Left out: {left}."] if left else []) + [f"note: {note}" for note in notes]:
        output().print(one_line(line), markup=False)


# -- tables ------------------------------------------------------------------------------------------------------


def right(title: str, **more: Any) -> Column:
    return Column(title, justify="right", **more)


def listing(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], **more: Any) -> Table:
    """A table without lines; what is in its cells is shown as it is."""
    table = Table(*columns, **{"box": None, "padding": (0, 1), "show_edge": False, "title_justify": "left", **more})
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


# -- what several commands begin or end with -------------------------------------------------------------------------


def crawled(directory: Path) -> Options:
    """The options of a crawl that has begun."""
    from lycosa.store.directory import Directory
    from lycosa.store.log import NAME

    options = Directory.read_options(directory)
    if not (directory / NAME).exists():
        raise InputError(f"nothing has been crawled in {directory} yet: start with 'lycosa resume {directory}'")
    return options


def write_page(target: Path, page: str, option: str, name: str) -> int:
    """Write a page of HTML, all of it or nothing: its size. `option` names the file, `name` is what it could be."""
    if target.is_dir():
        raise InputError(f"{target} is a directory: give a file with {option}, such as {target / name}")
    body = page.encode("utf-8", "replace")
    try:
        with replacing(target) as file:
            file.write(body)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; choose another file with {option}") from error
    return len(body)
