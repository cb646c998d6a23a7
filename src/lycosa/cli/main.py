"""`lycosa`: the commands, and how errors are shown."""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.version import __version__

app = typer.Typer(
    name="lycosa",
    help="Hunt a topic through the web: a focused crawler.\n\n"
    "Start with:  lycosa crawl 'coral reef bleaching' --seed https://example.org/ --budget 500",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; what Lycosa raises on purpose becomes one line and a non-zero exit."""
    from lycosa.core.errors import LycosaError, NothingFetched

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a title that the terminal can't show is no reason to fail
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LycosaError as error:
        print(f"lycosa: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, NothingFetched) else 2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`lycosa show DIR | head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"lycosa: cannot write the output: {error.strerror or error}", file=sys.stderr)
        os._exit(2)  # without another try to flush it


def _version(asked: bool) -> None:
    if asked:
        print(f"Lycosa {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Options of all commands."""


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl's directory.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def _crawl(**given: Any) -> None:
    """Hunt TOPIC from the seeds.

    The crawl lives in one directory: crawl.toml, the log, archive/*.warc.gz. Ctrl-C stops it cleanly (a second
    Ctrl-C at once); 'lycosa resume DIR' goes on, also after a crash. Every option can stand in a file instead:
    --config FILE, in the form of a crawl.toml.
    """
    from lycosa.cli.hunting import start

    start(given)


def _crawl_signature() -> inspect.Signature:
    """The command's parameters, made from the options, so that nothing is written twice."""
    from lycosa.core.options import Options, describe

    parameters = []
    for name, flag, kind, default, _, text in describe():
        metavar = Options.__dataclass_fields__[name].metadata["metavar"] or None
        if not isinstance(default, bool) and default not in ("", []):
            text = f"{text} [default: {default:g}]" if kind is float else f"{text} [default: {default}]"
        extra: dict[str, Any] = {"help": text, "metavar": metavar, "show_default": False}
        if name == "topic":
            annotation: Any = Annotated[
                list[str] | None, typer.Argument(metavar="TOPIC", help=text, show_default=False)
            ]
        elif kind is bool:
            annotation = Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", **extra)]
        else:
            annotation = Annotated[kind | None, typer.Option(flag, **extra)]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    out = Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to keep the crawl. Default: crawls/ and a name made from the topic.",
        ),
    ]
    config = Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Options from a TOML file; the command line wins."),
    ]
    for name, annotation, value in (
        ("out", out, None),
        ("config", config, None),
        ("quiet", Quiet, False),
        ("json", Json, False),
    ):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation))
    return inspect.Signature(parameters)


_crawl.__signature__ = _crawl_signature()  # type: ignore[attr-defined]  # functions take one
app.command("crawl")(_crawl)


@app.command()
def resume(
    directory: Dir,
    budget: Annotated[int | None, typer.Option(help="A new page budget for the whole crawl.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds to crawl at most in this run.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a crawl where it stopped, however it stopped."""
    from lycosa.cli.hunting import go_on

    go_on(directory, {"budget": budget, "max_time": max_time}, quiet=quiet, json=json)


@app.command()
def show(directory: Dir, json: Json = False) -> None:
    """Summarise a crawl: harvest, its curve, the best finds, what went wrong. Works while it runs."""
    from lycosa.cli.showing import show as run

    run(directory, json=json)


@app.command()
def strategies(json: Json = False) -> None:
    """List the strategies that --strategy accepts."""
    from lycosa.cli.showing import list_strategies

    list_strategies(json=json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to keep the demo's crawls.")] = Path("demo"),
    budget: Annotated[int, typer.Option(help="Pages for each crawl.")] = 300,
    random_seed: Annotated[int, typer.Option(help="Which web to grow: another number, another web.")] = 7,
) -> None:
    """Grow a small web on this machine, hunt a topic in it over HTTP, and compare with breadth-first."""
    from lycosa.cli.demo import run

    run(out, budget, random_seed)


@app.command()
def web(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8123,
    pages: Annotated[int, typer.Option(help="How large the web is.")] = 3000,
    hosts: Annotated[int, typer.Option(help="How many hosts it has.")] = 40,
    random_seed: Annotated[int, typer.Option(help="Which web to grow: another number, another web.")] = 7,
    traps: Annotated[bool, typer.Option(help="With calendars, loops, dead hosts and other nuisances.")] = True,
) -> None:
    """Serve the embedded web on this machine, to crawl or to look at in a browser."""
    from lycosa.cli.demo import serve_web

    serve_web(port, pages, hosts, random_seed, traps)
