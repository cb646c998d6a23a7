"""Loading, declaring and documenting commands."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

MAX_MESSAGE_LENGTH = 2_000  # characters of an error message


class Group(str):
    """A heading in a command's help: `Annotated[bool, Group("Output"), "Print errors only."]`."""


class Variable(str):
    """An environment variable that sets an option."""


def with_more(
    more: Sequence[inspect.Parameter], rare: Collection[str] = (), *, last: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command whose `**options` are declared elsewhere: before its own, unless `last`.

    --help omits the `rare` ones, --help-all lists them.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[:-1]
        command.declared = [*own, *more] if last else [*more, *own]  # type: ignore[attr-defined]
        command.rare = {one.name for one in command.declared}.intersection(rare)  # type: ignore[attr-defined]
        return command

    return decorated


def make_command(name: str, function: Any) -> Any:
    """Return the command of a function. Each parameter is annotated with texts; the last one is its help.

    `Annotated[str, "--out", "-o", "FILE", "File to write."]`: flags, if they do not follow from the name, then the
    metavar. Parameters before the `*` are arguments, unless they name a flag; a callable completes words.
    """
    own = inspect.signature(function, eval_str=True).parameters.values()
    declared = sorted(getattr(function, "declared", own), key=lambda one: one.kind)  # arguments first
    rare: set[str] = getattr(function, "rare", set())
    if rare:
        declared.append(optional("help_all", Annotated[bool, f"Show all options: {len(rare)} more."], False))

    def run(help_all: bool = False, **given: Any) -> None:
        function(**given)

    run.__signature__ = inspect.Signature(list(map(_for_typer, declared)))  # type: ignore[attr-defined]
    run.__doc__ = function.__doc__
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=_Command)(run)
    command: Any = typer.main.get_command(alone)
    command.rare, command.context_class = rare, _Context
    return command


def as_command(name: str, known: Any) -> Any:
    if isinstance(known, typer.Typer):
        return typer.main.get_command(known)
    return known if isinstance(known, TyperGroup) else make_command(name, known)


def optional(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _for_typer(one: inspect.Parameter) -> inspect.Parameter:
    about = getattr(one.annotation, "__metadata__", ())
    kind = getattr(one.annotation, "__origin__", None)
    texts = [text for text in about if type(text) is str]
    if not texts:  # typer's own options
        return one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    flags, names = ([text for text in texts[:-1] if text.startswith("-") == wanted] for wanted in (True, False))
    more: dict[str, Any] = {
        "help": texts[-1],
        "metavar": names[0] if names else None if "bool" in str(kind) else "TEXT" if "str" in str(kind) else "N",
        "autocompletion": next((item for item in about if callable(item)), None),
        "envvar": next((item for item in about if isinstance(item, Variable)), None),
        "rich_help_panel": next((item for item in about if isinstance(item, Group)), None),
        "show_default": one.default not in (None, "", False),
    }
    if one.name == "help_all":
        more |= {"is_eager": True, "callback": _show_all}
    if one.kind != inspect.Parameter.KEYWORD_ONLY and not flags:
        shown: Any = typer.Argument(**more)
    else:
        long = "--" + one.name.strip("_").replace("_", "-")
        if kind == bool | None or one.default is True:
            long = f"{long}/--no-{long[2:]}"
        shown = typer.Option(*([] if any(flag.startswith("--") for flag in flags) else [long]), *flags, **more)
    return one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, shown])


def _show_all(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.command.rare = {"help_all"}  # type: ignore[attr-defined]
        print(ctx.get_help())
        raise typer.Exit


class HelpFormatter(typer.Context.formatter_class):  # type: ignore[misc, valid-type]  # whose it is depends on typer's version
    """The default help formatter, limited to the terminal's width and without truncated words."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        fitting = max(20, min(columns, max_width or 80) - 2)
        super().__init__(indent_increment, width or fitting, max_width)

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = list(rows)
        widest = max((len(first) for first, _ in rows), default=0)
        side_by_side = self.width >= 60 or 3 * widest <= self.width  # otherwise the help goes below the option
        indent = self.current_indent
        column = indent + (min(widest, col_max) + col_spacing if side_by_side else 4)
        for first, second in rows:
            names = [first] if side_by_side else _wrapped(first, self.width - indent)
            lines = _wrapped(second, self.width - column)
            if side_by_side and lines and len(first) <= column - indent - col_spacing:
                names = [f"{first:<{column - indent}}{lines.pop(0)}"]
            self.write("".join(f"{'':>{indent}}{name}\n" for name in names))
            self.write("".join(f"{'':>{column}}{line}\n" for line in lines))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


class _Context(typer.Context):
    formatter_class = HelpFormatter


class _Command(TyperCommand):
    """A command whose help groups options and hides rare ones."""

    rare: Collection[str] = ()

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return DIR for typer's {DIR} (a required argument)."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.name not in self.rare:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                record = (record[0].partition(" <")[0], record[1])
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class Listed(TyperCommand):
    """A command in a list; its help line is read from its file, so listing commands imports none of them."""

    def __init__(self, name: str, module: str, function: str) -> None:
        super().__init__(name, rich_markup_mode=None)
        self._module, self._function = module, function

    def get_short_help_str(self, limit: int = 45) -> str:
        match = re.search(_HELP_LINE.format(self._function), _source(self._module), re.DOTALL | re.MULTILINE)
        self.help = (match[1] or match[2]) if match else ""
        return str(super().get_short_help_str(limit))


# First line of a function's docstring, or of a group's help.
_HELP_LINE = r'^(?:def {0}\((?:(?!^def ).)*?:\n\s+"""(.*?)(?:"""|\n)|{0} = [\w.]+\(.*?help="(.*?)(?:\\n|"))'


def _source(module: str) -> str:
    """Return the source of a module without importing it or its packages; empty if there is none."""
    name, place, found = "", None, None
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        finders = (finder.find_spec(name, place) for finder in sys.meta_path)
        found = next(filter(None, finders), None)
        place = found.submodule_search_locations if found else []
    loader: Any = found.loader if found else None
    return (loader.get_source(module) or "") if hasattr(loader, "get_source") else ""


class Commands(TyperGroup):
    """A group of commands, each imported when it is used."""

    context_class = _Context

    names: ClassVar[str] = ""  # names of the commands, in order
    sections: ClassVar[Mapping[str, str]] = {}  # names of the commands under each heading of `--help`
    # Module, or module:function, of commands whose module has another name.
    places: ClassVar[Mapping[str, str]] = {}
    package = "lycosa.cli"

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = {name: Listed(name, *self._place(name)) for name in self._all()}

    def _all(self) -> list[str]:
        return (self.names or " ".join(self.sections.values())).split()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections = {heading: names.split() for heading, names in self.sections.items()}
        listed = {name for names in sections.values() for name in names}
        others = "From other packages" if listed else "Commands"
        sections[others] = [name for name in self.commands if name not in listed]
        widest = max(map(len, self.commands))  # the same column under every heading
        for heading, names in sections.items():
            here = [one for name in names if (one := self.commands.get(name)) and not one.hidden]
            if here:
                with formatter.section(heading):
                    formatter.write_dl([(f"{one.name:<{widest}}", one.get_short_help_str(1_000)) for one in here])

    def _place(self, name: str) -> tuple[str, str]:
        module, _, attribute = self.places.get(name, name).partition(":")
        return f"{self.package}.{module}", attribute or name

    def load(self, name: str) -> Any:
        module, attribute = self._place(name)
        return as_command(name, getattr(importlib.import_module(module), attribute))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else command, rest


def one_line(text: str) -> str:
    """Return a message as one printable line of limited length.

    >>> one_line("no class 'a" + chr(27) + "[31m" + chr(10) + "b'")
    "no class 'a?[31m b'"
    """
    if len(text) > MAX_MESSAGE_LENGTH:
        text = f"{text[: MAX_MESSAGE_LENGTH // 2]} ... {text[-MAX_MESSAGE_LENGTH // 2 :]}"
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
