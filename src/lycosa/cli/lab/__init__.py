"""`lycosa lab ...`: corpora, experiments, the papers."""

from __future__ import annotations

from typing import ClassVar

from lycosa.cli.commands import Commands


class Laboratory(Commands):
    """The commands of `lycosa lab`, as they are needed, one after the other."""

    lines: ClassVar = {
        "index": "Read a corpus, so that simulated crawls of it are quick.",
        "fetch": "Download a public corpus, check it, and make an index of it.",
        "generate": "Make up a graph with scores, like those of Gouriten 2014.",
        "run": "Compare strategies on a corpus, topic by topic.",
        "compare": "Compare two reports: numbers, verdicts, curves.",
        "evaluate": "Tell how much a crawl is like pages you know to be good.",
        "paper": "Repeat what a paper measured, and say which claims hold.",
        "leaderboard": "Rank all strategies, grouped by what they are given.",
        "benchmark": "Compare scent, its rivals and your program, on frozen topics.",
        "gate": "Fail if a strategy finds less than its pinned floor.",
    }
    places: ClassVar = {"fetch": "index", "gate": "leaderboard"}
    package = "lycosa.cli.lab"


lab = Laboratory(
    name="lab",
    help="Experiments on recorded pages: compare strategies, repeat what papers measured.\n\n"
    "Start with:  lycosa lab index my-crawl/ --out my.index\n\n"
    "then:        lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
