"""`lycosa lab index, lycosa lab fetch: corpora`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import AllowNetwork, Contact, Json, Quiet, network_options
from lycosa.cli.printing import output, print_json
from lycosa.cli.progress import progress
from lycosa.lab.anatomy import anatomy
from lycosa.lab.corpora import public
from lycosa.lab.corpora.opening import make_index
from lycosa.lab.index import Index


def index(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="WARC files or a directory of them, a crawl's directory, a directory of HTML files (directories are "
            "classes), a table of links (.tsv, .tsv.gz or .parquet: node, node), or embedded:pages=3000,seed=7.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write the index.")],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Classes of pages: on each line an address, a tab, and a class or its path."),
    ] = None,
    column: Annotated[
        str,
        typer.Option(metavar="NAME", help="The labels' column of classes, by title or number. Default: the second."),
    ] = "",
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Leave out pages whose address contains this, or matches it with * and ?."
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scores of a graph's nodes (.tsv or .parquet: node, score).")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Index a corpus for fast simulated crawls.

    Prints the number of pages, links, dead links and topics, and how often a link leads to a page of the same topic.

    For example:  lycosa lab index my-crawl/ --labels classes.tsv --out my.index
    """
    with progress(quiet or json) as tell:
        made = make_index(
            sources, out, labels=labels, column=column, exclude=exclude or [], scores=scores, tell=tell
        )  # fmt: skip
    _say(made, out, quiet=quiet, json=json)


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the corpus. Default: list them.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write the index. Default: NAME.index.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory for downloads and checksums. Default: Lycosa's cache."),
    ] = None,
    mirror: Annotated[
        str, typer.Option("--from", metavar="URL", help="A mirror that has the same files under the same names.")
    ] = "",
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="Include pages that make every topic trivial: lists of all articles, and "
            "each article's list of its categories.",
        ),
    ] = False,
    allow_network: AllowNetwork = None,
    contact: Contact = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Download, verify and index a public corpus.

    An interrupted download continues where it stopped.
    """
    if not name:
        if json:
            print_json(list(public.CORPORA.values()))
            return
        for one in public.CORPORA.values():
            print(f"{one.name:<15} {one.about}")
        print("Download one: lycosa lab fetch NAME")
        return
    options = network_options(allow_network=allow_network, contact=contact)
    out = out or Path(f"{name}.index")
    with progress(quiet or json) as tell:
        made = public.fetch(name, out, options, keep=keep, mirror=mirror, whole=whole, tell=tell)
    _say(made, out, quiet=quiet, json=json)


def _say(made: Index, out: Path, *, quiet: bool, json: bool) -> None:
    if json:
        print_json({"index": out, **anatomy(made).as_dict()})
    elif not quiet:
        console = output()
        for line in [*anatomy(made).lines(), f"use it with: lycosa lab run --corpus {out}"]:
            inner = line.lstrip()
            console.print(line[: len(line) - len(inner)] + one_line(inner), markup=False)
