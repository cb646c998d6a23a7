"""How commands are found and explain themselves: loaded when used, help that fits, closed pipes that are no error."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

LONGEST = 2_000  # characters of an error's message


class HelpFormatter(typer.Context.formatter_class):  # type: ignore[misc, valid-type]  # whose it is depends on typer's version
    """The usual help, but no wider than the terminal, and with no word cut."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        fitting = max(20, min(columns, max_width or 80) - 2)
        super().__init__(indent_increment, width or fitting, max_width)

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = list(rows)
        widest = max((len(first) for first, _ in rows), default=0)
        if self.width >= 60 or 3 * widest <= self.width:  # below, an option stands above its explanation
            super().write_dl(rows, col_max, col_spacing)
            return
        for first, second in rows:
            for indent, text in ((self.current_indent, first), (self.current_indent + 4, second)):
                for line in textwrap.wrap(text, self.width - indent, break_long_words=False, break_on_hyphens=False):
                    self.write(f"{'':>{indent}}{line}\n")


class _Context(typer.Context):
    formatter_class = HelpFormatter


class _Listed(TyperCommand):
    """A command in a list. What is said of it is read from its file: so listing commands loads none of them."""

    def __init__(self, name: str, module: str, function: str) -> None:
        super().__init__(name, rich_markup_mode=None)
        self._module, self._function = module, function

    def get_short_help_str(self, limit: int = 45) -> str:
        place = importlib.util.find_spec(self._module)
        loader: Any = place.loader if place else None
        source = loader.get_source(self._module) or ""  # also out of a zip
        said = re.search(_SAID.format(self._function), source, re.DOTALL | re.MULTILINE)
        self.help = (said[1] or said[2]) if said else ""
        return str(super().get_short_help_str(limit))


# first line of a function's docstring, or of a group's help
_SAID = r'^(?:def {0}\(.*?-> None:\n    """(.*?)(?:"""|\n)|{0} = \w+\(.*?help="(.*?)(?:\\n|"))'


class Commands(TyperGroup):
    """A group of commands, each loaded when it is used."""

    context_class = _Context

    names: ClassVar[str] = ""  # of the commands, in order
    sections: ClassVar[Mapping[str, str]] = {}  # commands by heading, where `--help` lists them under several
    # module, or module:function, of commands that are not in the module of their name
    places: ClassVar[Mapping[str, str]] = {}
    package = "lycosa.cli"

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = {name: _Listed(name, *self._place(name)) for name in self._all()}

    def _all(self) -> list[str]:
        return (self.names or " ".join(self.sections.values())).split()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """All of them with a line each; a line that does not fit is wrapped, not cut."""
        for heading, names in (self.sections or {"Commands": " ".join(self._all())}).items():
            with formatter.section(heading):
                widest = max(map(len, self.commands))  # the same column under every heading
                rows = [(f"{name:<{widest}}", self.commands[name].get_short_help_str(1_000)) for name in names.split()]
                formatter.write_dl(rows)

    def _place(self, name: str) -> tuple[str, str]:
        module, _, attribute = self.places.get(name, name).partition(":")
        return f"{self.package}.{module}", attribute or name

    def load(self, name: str) -> Any:
        module, attribute = self._place(name)
        known = getattr(importlib.import_module(module), attribute)
        if isinstance(known, TyperGroup):
            return known
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(known)
        command: Any = typer.main.get_command(alone)
        command.context_class = _Context
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What is to be run, or asked for its help."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else command, rest

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line; --help and --version already answer here."""
        with _as_long_as_wanted():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _as_long_as_wanted():
            return super().invoke(ctx)


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
