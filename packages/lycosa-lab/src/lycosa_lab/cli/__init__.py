"""`lycosa lab ...`: corpora, experiments and papers."""

from __future__ import annotations

from lycosa.cli.commands import Commands


class Laboratory(Commands):
    """The commands of `lycosa lab`, imported on demand."""

    names = "index run paper benchmark"
    package = "lycosa_lab.cli"


lab = Laboratory(
    name="lab",
    help="Compare strategies on recorded pages; repeat experiments.\n\n"
    "Start with:  lycosa lab index my-crawl/ --out my.index\n\n"
    "then:        lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
