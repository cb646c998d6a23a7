"""The command group that the files beside this one add their commands to."""

from __future__ import annotations

from typing import Annotated

import typer

from lycosa.cli.manners import Commands

lab = typer.Typer(
    cls=Commands,
    help="Experiments on recorded pages: compare strategies, repeat what papers measured.\n\n"
    "Start with:  lycosa lab index my-crawl/ --out my.index\n\n"
    "then:        lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Workers = Annotated[int, typer.Option(metavar="N", help="Processes; 0: as many as there are cores.")]
