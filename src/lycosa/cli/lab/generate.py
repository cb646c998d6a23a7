"""`lycosa lab generate`: graphs of any size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.parameters import Json, Quiet
from lycosa.cli.printing import print_json
from lycosa.cli.progress import progress
from lycosa.lab.corpora import generated


def generate(
    like: Annotated[
        str,
        typer.Argument(
            metavar="LIKE",
            help="bretagne, france (2.2 million nodes, 35.6 million links), happy, jazz or weird (16.9 and 78).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the index of the graph goes.")],
    nodes: Annotated[
        int | None, typer.Option(help="Nodes, if not as many as it has in the paper; links in proportion.")
    ] = None,
    edges: Annotated[int | None, typer.Option(help="Links, if another number.")] = None,
    share: Annotated[float | None, typer.Option(help="Share of nodes with a score above 0, if another.")] = None,
    random_seed: Annotated[int, typer.Option(help="Another number, another graph.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make up a graph with scores, like those of Gouriten 2014.

    Sizes and shares are those of the paper's table 1; the rest is chance. It tells first what memory it needs.
    """
    if not quiet:
        memory, disk = generated.needs(*generated.size_of(like, nodes, edges, share))
        print(f"needs about {memory / 1e9:,.1f} GB of memory and {disk / 1e9:,.1f} GB of disk", file=sys.stderr)
    with progress(quiet) as tell:
        index = generated.generate(out, like, nodes=nodes, edges=edges, share=share, random_seed=random_seed, tell=tell)
    facts = index.facts
    if json:
        print_json({"index": out, **facts})
    elif not quiet:
        print(
            f"{out}: {len(index):,} nodes, {facts['non_zero_nodes']:,} with a score; {facts['links']:,} links, "
            f"{facts['non_zero_links']:,} with a score; fingerprint {index.fingerprint}"
        )
