"""`lycosa`: the table of commands, and error handling."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, ClassVar

import typer

from lycosa.cli.commands import Commands, Listed, as_command, one_line
from lycosa.core.errors import InputError
from lycosa.core.plugins import RESERVED, missing, named
from lycosa.version import __version__

EXITS = {
    0: "success, including a crawl that ended early because it was stopped",
    1: "a crawl could not fetch a single page; a check (`doctor`, `check`, ...) found a problem",
    2: "the command could not run: a wrong option, a directory in use, a full disk; the message says what to do",
    130: "interrupted by Ctrl-C (a crawl: by the second Ctrl-C); everything recorded is safe",
}


class RootCommands(Commands):
    """All commands: built-in ones, and those of installed packages, which are loaded on demand."""

    sections: ClassVar = {
        "Collect pages": "crawl resume demo",
        "Read and export them": "show report search page why sql export replay",
        "Keep them fresh": "refresh watch changes",
        "Teach the judge": "label judge train",
        "Look up what can be chosen": "list",
        "Serve people and agents": "serve backup restore mcp identity",
        "Maintain": "doctor check plugins",
        "Experiment": "lab",
    }
    places: ClassVar = {  # commands defined in another command's module
        "resume": "crawl",
        "watch": "refresh",
        "judge": "judge_command",
        "label": "label_command",
        "list": "list_command:list_",
        "plugins": "plugins_command",
        "search": "search_command",
    }

    built_in: ClassVar = [n for names in sections.values() for n in names.split() if n not in RESERVED["commands"]]

    def _all(self) -> list[str]:
        return self.built_in

    def _look_up(self) -> None:
        for name, plugin in named("commands").items():
            self.commands.setdefault(name, Listed(name, plugin.entry.module, plugin.entry.attr))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._look_up()
            error = missing("commands", cmd_name)
            if error and cmd_name not in self.commands and not ctx.resilient_parsing:
                raise error
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        self._look_up()
        listed = " ".join(self.sections.values()).split()
        return sorted(self.commands, key=lambda name: listed.index(name) if name in listed else len(listed))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        self._look_up()
        super().format_commands(ctx, formatter)

    def load(self, name: str) -> Any:
        if name in self.built_in:
            return super().load(name)
        plugin = named("commands")[name]
        known = plugin.load()
        try:
            return as_command(name, known)
        except Exception as error:  # plugin code may raise anything
            message = f"{plugin.value} of the package {plugin.package} cannot be loaded as a command: {error}"
            raise InputError("bad-plugin", message) from error


app = typer.Typer(
    name="lycosa",
    cls=RootCommands,
    help="Lycosa is a focused web crawler: it collects pages about a topic.\n\n"
    "Start with:  lycosa crawl 'coral reefs' --seed https://example.org/",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; Lycosa's own errors become one line and a non-zero exit code."""
    from lycosa.core.errors import LycosaError, NothingFetched

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that the terminal lacks must not raise
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LycosaError as error:
        print(f"lycosa: {one_line(str(error))}", file=sys.stderr)
        sys.exit(1 if isinstance(error, NothingFetched) else 2)
    except KeyboardInterrupt:
        sys.exit(130)
    except (BrokenPipeError, SystemExit) as error:
        # The reader of stdout has closed it (`lycosa show DIR | head`), for which Typer and rich raise SystemExit.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = f"cannot use {one_line(str(error.filename))}" if error.filename else "cannot write the output"
        print(f"lycosa: {what}: {error.strerror or error}", file=sys.stderr)
        os._exit(2)  # skips another attempt to flush the output


def _version(value: bool) -> None:
    if value:
        print(f"Lycosa {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of all commands."""
