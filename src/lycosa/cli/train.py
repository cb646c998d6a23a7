"""`lycosa train ...`: the commands that learn from pages, links and browsing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from lycosa.cli.commands import Commands
from lycosa.cli.parameters import Column as ClassColumn
from lycosa.cli.parameters import Json, Language, Place, Quiet, network_options, network_parameters, with_more
from lycosa.cli.printing import NARROW, listing, output, print_json, right, tell_rest
from lycosa.cli.progress import progress

if TYPE_CHECKING:  # 'lycosa train --help' has the options of this command: it must not load what trains
    from lycosa.training.pages import Trained
    from lycosa.training.quality import Quality


class Training(Commands):
    """The commands of `lycosa train`: what is none of their names is a source of pages."""

    names = "pages background rules browse"
    places: ClassVar = {"pages": "train", "background": "train", "rules": "rules:train_rules"}

    usual = "pages"

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands[self.usual].hidden = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is not the name of another command is a source, also a directory that is called like the usual one."""
        if args and (args[0] == self.usual or args[0] not in self.commands) and args[0] not in ("-h", "--help"):
            args = [self.usual, *args]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The usual command has no name of its own."""
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == self.usual else name, command, rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """As it is nearly always used."""
        formatter.write_usage(ctx.command_path, "SOURCE... [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options of the usual command, then the others."""
        parameters = self.load(self.usual).get_params(ctx)
        with formatter.section("Options"):
            formatter.write_dl([record for item in parameters if (record := item.get_help_record(ctx)) is not None])
        self.format_commands(ctx, formatter)


train = Training(
    name="train",
    help="Train a classifier on labelled pages.\n\n"
    "SOURCE is a directory with a directory of pages for each class (nested ones are a taxonomy: Science/Physics), "
    "a table of addresses and classes, separated by tabs, or a crawl with labels (see 'lycosa label').\n\n"
    "At the end, its accuracy on held-out pages is printed. Use it with: lycosa crawl --model FILE --target CLASS\n\n"
    "For example:  lycosa train my-pages/ --out my.model",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


ENDING = ".model"

_UNWANTED = {"other", "others", "rest", "misc", "negative", "no", "false", "0"}

MOST_ROWS = 60  # classes in the report; --json and the model have all


@with_more(network_parameters(), at=10)
def pages(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="A directory of classes, a table, or a crawl with labels; several are combined."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: the source's name and .model.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="nb (Naive Bayes), nb-plain (its plain product), svm (linear SVM), nn (neural network) or tree "
            "(decision tree); for the last three: pip install 'lycosa[train]'."
        ),
    ] = "nb",
    pages: Place = None,
    column: ClassColumn = "",
    least: Annotated[
        int | None,
        typer.Option(
            help="Pages that a nested class needs; with fewer, it is merged into its parent. Default: half of "
            "what such classes usually have, at most 150.",
        ),
    ] = None,
    whole_tree: Annotated[
        bool, typer.Option("--whole-tree", help="Treat inner nodes of a taxonomy as classes, not only its leaves.")
    ] = False,
    held_out: Annotated[float, typer.Option(help="Share of the pages to hold out for measuring; 0 for none.")] = 0.2,
    random_seed: Annotated[int, typer.Option(help="Random seed for choosing held-out pages.")] = 0,
    language: Language = "en",
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Train a classifier on labelled pages."""
    from lycosa.training.looking import fetched, recorded
    from lycosa.training.pages import train

    options = network_options(**network)
    out = out or Path(f"{Path(os.path.abspath(sources[0])).name.removesuffix('.tsv')}{ENDING}")
    with progress(quiet or json) as tell:
        done = train(
            sources,
            out,
            recorded(pages) if pages else fetched(options),
            tell=tell,
            kind=kind,
            least=least or 0,
            whole_tree=whole_tree,
            held_out=held_out,
            column=column,
            language=language,
            seed=random_seed,
        )
    if json:
        print_json(
            {
                "model": done.out,
                "kind": done.model.classifier.kind,
                "pages": sum(done.model.counts),
                "classes": dict(zip(done.model.classes, done.model.counts, strict=True)),
                "terms": len(done.model.terms),
                "left_out": done.left_out,
                "notes": done.notes,
                "quality": done.quality,
            }
        )
    elif not quiet:
        report(done)


def background(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Pages: WARC files, crawls, directories of HTML or text.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="File to write the statistics to.")],
    terms: Annotated[int, typer.Option(help="Number of words to keep, the most frequent ones.")] = 30_000,
) -> None:
    """Count words in your pages, to weight words by rarity.

    With 'lycosa crawl --background FILE', words count more the fewer of these pages contain them.
    """
    from lycosa.training import background as counting

    counting.run(sources, out, terms)


def report(done: Trained) -> None:
    """What was learned from what, how good it is, and what to do with it."""
    console = output()
    model, quality = done.model, done.quality
    console.print(
        f"[bold]{escape(str(done.out))}[/]: {model.classifier.name}, {len(model.classes)} classes, "
        f"{sum(model.counts):,} pages, {len(model.terms):,} terms"
    )
    if quality is None:
        console.print("Nothing was held out, so its accuracy is unknown.")
    else:
        _measured(console, quality, sum(model.counts))
    tell_rest(done.left_out, done.notes)
    name = shlex.quote(str(done.out))
    target = "" if model.marked else f"--target {shlex.quote(likely(model.classes))} "
    if model.marked:
        print(f"Wanted, unless --target says otherwise: {', '.join(model.marked)}")
    print(f"Crawl with it: lycosa crawl --model {name} {target}--seed URL")


def likely(classes: Sequence[str]) -> str:
    """The class that someone may want, for an example: one that isn't called like what nobody wants."""
    from lycosa.training.sources import IRRELEVANT, RELEVANT

    wanted = [name for name in classes if name.casefold() not in (IRRELEVANT, *_UNWANTED)]
    return RELEVANT if RELEVANT in classes else [*wanted, *classes][0]


def _measured(console: Console, quality: Quality, pages: int) -> None:
    from lycosa.training.quality import TABLE, WORST

    console.print(
        f"Measured on {quality.pages:,} pages held out, by a model of the others; the one that was written has learned "
        f"from all {pages:,}.\n"
        f"[bold]{quality.accuracy:.1%}[/] are classified rightly; always saying the largest class would be right for "
        f"{quality.majority:.1%}. Stated probabilities are off by {quality.gap:.1%} on average."
    )
    if quality.top:
        console.print(
            f"On the first level ({quality.top['classes']} classes): [bold]{quality.top['accuracy']:.1%}[/], largest "
            f"class {quality.top['majority']:.1%}."
        )
    columns = {"pages": "pages", "held_out": "held out", "precision": "precision", "recall": "recall", "f1": "F1"}
    if console.width < NARROW:
        columns = {"pages": "pages", "f1": "F1"}
    headers = [Column("class", overflow="fold"), *(right(title, no_wrap=True) for title in columns.values())]
    rows = ([row["name"], *(_number(row[name]) for name in columns)] for row in quality.classes[:MOST_ROWS])
    console.print(listing(headers, rows))
    if len(quality.classes) > MOST_ROWS:
        console.print(f"and {len(quality.classes) - MOST_ROWS} more classes: --json lists all")
    if not quality.confusions:
        return
    if len(quality.classes) <= TABLE and console.width >= NARROW:
        console.print(_confusions(quality))
    else:
        console.print("[bold]most often mistaken[/]")
        for true, said, count in quality.confusions[:WORST]:
            console.print(f"{count:>5} {escape(true)} taken for {escape(said)}")


def _number(value: float | int | None) -> str:
    """A count or a share.

    >>> _number(1234), _number(0.5), _number(None)
    ('1,234', '0.50', '-')
    """
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _confusions(quality: Quality) -> Table:
    """What each class was taken for."""
    names = [row["name"] for row in quality.classes]
    wrong = {(true, said): count for true, said, count in quality.confusions}
    headers = [Column("class", overflow="fold"), *(right(escape(name), overflow="fold") for name in names)]
    rows = []
    for row in quality.classes:
        true = row["name"]
        correct = row["held_out"] - sum(count for (of, _), count in wrong.items() if of == true)
        rows.append([true, *(str(correct if said == true else wrong.get((true, said), 0) or "·") for said in names)])
    return listing(headers, rows, title="taken for", title_style="bold")
