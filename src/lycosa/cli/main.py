"""`lycosa`: the table of commands, and how errors are shown."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from lycosa.cli.commands import Commands, one_line
from lycosa.version import __version__

COMMANDS = {
    "crawl": "Hunt TOPIC from the seeds.",
    "resume": "Go on with a crawl where it stopped, however it stopped.",
    "refresh": "Look again at the pages that are due, and say what changed, vanished, moved, or is new.",
    "watch": "Keep a collection fresh: look again and again, within a budget of requests an hour, until Ctrl-C.",
    "changes": "List what has become of the pages: changed, vanished, moved, returned, new; and explain it.",
    "diff": "Show two versions of a page side by side: words added, words removed. Default: the last two.",
    "show": "Summarise a crawl: harvest, its curve, the best pages, what went wrong. Works while it runs.",
    "mend": "Make a damaged log readable again, with all of it that can be saved; the damaged one is kept beside it.",
    "report": "Write one HTML page that tells the crawl: harvest, finds, paths, hosts, errors, what was held back and",
    "search": "Search the text of the pages. The first search builds an index, later ones bring it up to date.",
    "page": "Show one page in any version: its text and links, why it was fetched, and every look at it.",
    "why": "Say why a link waits where it does, or was fetched; without URL, what comes next. Works while it runs.",
    "export": "Write the pages out for other tools: tables, a graph, a web archive, a corpus of plain text.",
    "replay": "Serve recorded pages again, as an HTTP proxy: a browser or any crawler walks the web as it was then.",
    "browse": "Record your browsing, as an HTTP proxy: the pages you open, from where, and which you say are relevant.",
    "seeds": "Show what a crawl would start from: every address that the sources name, with its title and where it",
    "taxonomy": "Browse a web directory: topics with their pages. Mark topics, write a table for 'lycosa train'.",
    "rules": "List rules between classes; with --target, how likely each class leads there.",
    "judge": "Judge the pages of a crawl anew, by other words, examples or another threshold; nothing is fetched.",
    "label": "Say of pages whether they are what you want; without URL, of the ten where that would help most.",
    "wordnet": "Say where WordNet is, or get it; look up a word, or compare two by every measure.",
    "doctor": "Say what is installed, what is missing, and what that costs.",
    "strategies": "List the strategies that --strategy accepts, or tell what one does and what can be set.",
    "topics": "List the ways to judge pages that --judge accepts, or tell what one does and what can be set.",
    "spaces": "List the spaces that --space accepts, or tell what one is and what can be set.",
    "demo": "Grow a small web on this machine, hunt a topic in it over HTTP, and compare with breadth-first.",
    "web": "Serve the embedded web on this machine, to crawl or to look at in a browser.",
    "serve": "Serve Lycosa to many people: accounts, interests, crawls, search, all in the browser.",
    "backup": "Copy all that a server keeps, database and crawls, into one file. Works while the server runs.",
    "restore": "Make a server's data from a backup, in SQLite or PostgreSQL, whichever it came from.",
    "train": "Make a model of labelled pages: a classifier, for 'lycosa crawl --model FILE --target CLASS'.",
    "lab": "Experiments on recorded pages: compare strategies, repeat what papers measured.",
}
"""Every command, and what --help lists of it: the beginning of its help. So listing them loads none of them."""

BESIDE = {
    "resume": "crawl",
    "browse": "replay",
    "watch": "refresh",
    "label": "judge",
    "strategies": "choosing",
    "topics": "choosing",
    "spaces": "choosing",
    "web": "demo",
    "backup": "serve",
    "restore": "serve",
}
"""Commands that stand in another's file."""


class Lycosa(Commands):
    """All commands."""

    lines = COMMANDS
    places = BESIDE


app = typer.Typer(
    name="lycosa",
    cls=Lycosa,
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
        print(f"lycosa: {one_line(str(error))}", file=sys.stderr)
        sys.exit(1 if isinstance(error, NothingFetched) else 2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`lycosa show DIR | head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = f"cannot use {one_line(str(error.filename))}" if error.filename else "cannot write the output"
        print(f"lycosa: {what}: {error.strerror or error}", file=sys.stderr)
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
