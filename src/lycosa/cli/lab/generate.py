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
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write the index of the graph.")],
    nodes: Annotated[
        int | None, typer.Option(help="Number of nodes, with links in proportion. Default: as in the paper.")
    ] = None,
    edges: Annotated[int | None, typer.Option(help="Number of links.")] = None,
    share: Annotated[float | None, typer.Option(help="Share of nodes with a score above 0.")] = None,
    random_seed: Annotated[int, typer.Option(help="Random seed of the graph.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Generate a graph with scores, like those of Gouriten 2014.

    Sizes and shares follow the paper's table 1; the rest is random. Prints first how much memory it needs.
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
