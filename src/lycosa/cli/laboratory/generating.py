"""`lycosa lab generate`: graphs of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.laboratory.app import lab
from lycosa.cli.parameters import Json, Quiet


@lab.command("generate")
def generate_graph(
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
    from json import dumps

    from lycosa.cli.laboratory.progress import progress
    from lycosa.lab.corpora.generated import generate, needs, size_of

    if not quiet:
        memory, disk = needs(*size_of(like, nodes, edges, share))
        typer.echo(f"needs about {memory / 1e9:,.1f} GB of memory and {disk / 1e9:,.1f} GB of disk", err=True)
    with progress(quiet) as tell:
        index = generate(out, like, nodes=nodes, edges=edges, share=share, random_seed=random_seed, tell=tell)
    if json:
        typer.echo(dumps({"index": str(out), **index.facts}))
    elif not quiet:
        facts = index.facts
        typer.echo(
            f"{out}: {len(index):,} nodes, {facts['non_zero_nodes']:,} with a score; {facts['links']:,} links, "
            f"{facts['non_zero_links']:,} with a score; fingerprint {index.fingerprint}"
        )
