"""Manners of all commands: help that fits the terminal, output that is whole, closed pipes that are no error."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

WIDEST_HELP = 80
STACKED = 60
"""Below this width an option stands above its explanation, not beside it."""

LONGEST = 2_000
"""Characters of an error's message."""

UNCUT = 1_000
"""Columns of output that no terminal shows."""


class HelpFormatter(typer.Context.formatter_class):  # type: ignore[misc, valid-type]  # whose it is depends on typer's version
    """The usual help, but no wider than the terminal, and with no word cut."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        fitting = max(20, min(columns, max_width or WIDEST_HELP) - 2)
        super().__init__(indent_increment, width or fitting, max_width)

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of options or commands."""
        rows = list(rows)
        widest = max((len(first) for first, _ in rows), default=0)
        if self.width >= STACKED or 3 * widest <= self.width:
            super().write_dl(rows, col_max, col_spacing)
            return
        for first, second in rows:
            for indent, text in ((self.current_indent, first), (self.current_indent + 4, second)):
                for line in textwrap.wrap(text, self.width - indent, break_long_words=False, break_on_hyphens=False):
                    self.write(f"{'':>{indent}}{line}\n")


class _Context(typer.Context):
    formatter_class = HelpFormatter


class Commands(TyperGroup):
    """The commands of the program."""

    context_class = _Context

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, with our help."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.context_class = _Context
        return command

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line; --help and --version already answer here."""
        with _as_long_as_wanted():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _as_long_as_wanted():
            return super().invoke(ctx)


class Training(Commands):
    """The commands of `lycosa train`: what is none of their names is a source of pages."""

    usual = "pages"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is not the name of another command is a source, also a directory that is called like the usual one."""
        if args and (args[0] == self.usual or args[0] not in self.commands) and args[0] not in ("-h", "--help"):
            args = [self.usual, *args]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The usual command has no name of its own."""
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == self.usual else name, command, rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """As it is nearly always used."""
        formatter.write_usage(ctx.command_path, "SOURCE... [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options of the usual command, then the others."""
        usual = self.get_command(ctx, self.usual)
        if usual is not None:
            records = [record for item in usual.get_params(ctx) if (record := item.get_help_record(ctx)) is not None]
            with formatter.section("Options"):
                formatter.write_dl(records)
        self.format_commands(ctx, formatter)


@contextmanager
def _as_long_as_wanted() -> Iterator[None]:
    """Where nobody reads the output any more (`lycosa show DIR | head`), a command has done its work."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:
        # rich leaves with an error of its own.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def one_line(text: str) -> str:
    """A message as a terminal can bear it: one line of it, whatever names of files and classes do to it.

    >>> one_line("no class 'a" + chr(27) + "[31m" + chr(10) + "b'")
    "no class 'a?[31m b'"
    """
    kept = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in kept)


def output() -> Console:
    """Where results go: as wide as the terminal; in a file or a pipe nothing is cut."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNCUT)


def lively(console: Console) -> bool:
    """Whether a picture may move there: a real terminal, able to. (FORCE_COLOR makes rich take a file for one.)"""
    return console.file.isatty() and not console.is_dumb_terminal
