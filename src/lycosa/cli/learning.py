"""`lycosa train ...`: the commands that learn from pages, links and browsing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.manners import Training
from lycosa.cli.parameters import (
    AllowNetwork,
    Column,
    Contact,
    Delay,
    Json,
    Language,
    Place,
    ProxyCa,
    ProxyUrl,
    Quiet,
)

training = typer.Typer(
    cls=Training,
    help="Make a model of labelled pages: a classifier, for 'lycosa crawl --model FILE --target CLASS'.\n\n"
    "SOURCE is a directory with a directory of pages for each class (nested ones are a taxonomy: Science/Physics), "
    "a table of addresses and classes, a tab between them, or a crawl with labels (see 'lycosa label').\n\n"
    "At the end you are told how good it is, measured on pages held out.\n\n"
    "For example:  lycosa train my-pages/ --out my.model",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@training.command("pages", hidden=True)
def train_pages(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE", help="A directory of classes, a table, or a crawl with labels; several join."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: the source's name and .model.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="nb (Naive Bayes), svm (linear SVM) or nn (neural network); for the last two: pip install "
            "'lycosa[train]'."
        ),
    ] = "nb",
    pages: Place = None,
    column: Column = "",
    least: Annotated[
        int | None,
        typer.Option(
            help="Pages that a nested class needs; with fewer it goes into its parent. Default: half of what such "
            "classes usually have, 150 at most.",
        ),
    ] = None,
    whole_tree: Annotated[
        bool, typer.Option("--whole-tree", help="Inner nodes of a taxonomy are classes, too, not only its leaves.")
    ] = False,
    held_out: Annotated[float, typer.Option(help="Share of the pages to measure on; 0: measure nothing.")] = 0.2,
    random_seed: Annotated[int, typer.Option(help="Which pages are held out: another number, others.")] = 0,
    language: Language = "en",
    delay: Delay = 1.0,
    allow_network: AllowNetwork = None,
    proxy: ProxyUrl = "",
    proxy_ca: ProxyCa = "",
    contact: Contact = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make a model of labelled pages."""
    from lycosa.cli.training import run
    from lycosa.core.options import Options

    options = Options(
        allow_network=allow_network or [], delay=delay, proxy=proxy, proxy_ca=proxy_ca, contact=contact, traps=False
    )
    run(
        sources,
        out,
        pages,
        options,
        quiet=quiet,
        json=json,
        kind=kind,
        least=least or 0,
        whole_tree=whole_tree,
        held_out=held_out,
        column=column,
        language=language,
        seed=random_seed,
    )


@training.command("background")
def train_background(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Pages: WARC files, crawls, directories of HTML or text.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the statistics.")],
    terms: Annotated[int, typer.Option(help="Words to keep, the most frequent.")] = 30_000,
) -> None:
    """Count words in your pages, to weigh words by.

    'lycosa crawl --background FILE' then takes a word for the rarer the fewer of these pages have it.
    """
    from lycosa.training.background import run

    run(sources, out, terms)


@training.command("rules")
def train_rules(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A table of addresses and classes, a tab between them; or a crawl, whose pages the model classifies.",
        ),
    ],
    model: Annotated[Path, typer.Option(metavar="FILE", help="The model that knows the classes, of 'lycosa train'.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the rules, a table.")],
    pages: Place = None,
    links: Annotated[
        int, typer.Option(help="Linked pages of each class to look at, at most, drawn by chance; 0: all.")
    ] = 150,
    column: Column = "",
    random_seed: Annotated[int, typer.Option(help="Which linked pages are looked at: another number, others.")] = 0,
    delay: Delay = 1.0,
    allow_network: AllowNetwork = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn which classes of pages link to which, for 'lycosa crawl --strategy rules,file=FILE'."""
    from lycosa.cli.ruling import run
    from lycosa.core.options import Options

    options = Options(allow_network=allow_network or [], delay=delay, traps=False)
    run(source, model, out, pages, options, quiet=quiet, json=json, column=column, most=links, seed=random_seed)


@training.command("browse")
def train_browse(
    record: Annotated[
        Path,
        typer.Argument(
            metavar="RECORD",
            help="A file with a visited page a line as JSON (url, relevant, referrer), a browser's history (Firefox's "
            "places.sqlite, Chromium's History, or an export as JSON or CSV), or a crawl's directory.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write what was learned.")],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Which pages are relevant: an address, a tab, and yes or no, a line each."),
    ] = None,
    unlabelled: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Pages without a label: path (they count on the way to relevant ones, but are no example of anything) "
            "or no (they are irrelevant).",
        ),
    ] = "path",
    positives_only: Annotated[
        bool,
        typer.Option(
            "--positives-only", help="Learn what relevant pages are like only; all others are one background."
        ),
    ] = False,
    states: Annotated[
        int, typer.Option(help="Distances to tell apart: 4 are relevant, one step away, two, and farther.")
    ] = 4,
    clusters: Annotated[int, typer.Option(help="Clusters of K-Means, that of the relevant pages included.")] = 5,
    gap: Annotated[
        float, typer.Option(help="Minutes of rest after which a new path begins, in a record without referrers.")
    ] = 30.0,
    most: Annotated[int, typer.Option(help="Training pages at most; of more, some by chance.")] = 3000,
    pages: Annotated[
        Path | None,
        typer.Option(
            metavar="PLACE",
            help="Where the pages are: a WARC file, a directory of them, or a crawl's. Default: in the record, or the "
            "web.",
        ),
    ] = None,
    random_seed: Annotated[int, typer.Option(help="Where clusters start: another number, others.")] = 0,
    language: Language = "en",
    delay: Delay = 1.0,
    allow_network: AllowNetwork = None,
    proxy: ProxyUrl = "",
    proxy_ca: ProxyCa = "",
    contact: Contact = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn from browsing which pages lead to relevant ones, for 'lycosa crawl --strategy hmm,file=FILE'."""
    from lycosa.cli.browsing import run
    from lycosa.core.options import Options

    options = Options(
        allow_network=allow_network or [], delay=delay, proxy=proxy, proxy_ca=proxy_ca, contact=contact, traps=False
    )
    run(
        record,
        out,
        pages,
        options,
        quiet=quiet,
        json=json,
        labels=labels,
        unlabelled=unlabelled,
        positives_only=positives_only,
        states=states,
        clusters=clusters,
        gap=gap,
        most=most,
        language=language,
        seed=random_seed,
    )
