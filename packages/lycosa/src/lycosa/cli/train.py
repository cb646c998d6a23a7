"""`lycosa train ...`: learn from pages, links and browsing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rich.table import Column
from rich.text import Text

from lycosa.cli.commands import Commands, with_more
from lycosa.cli.parameters import Column as ClassColumn
from lycosa.cli.parameters import Json, Language, Pages, Quiet, network_options, network_parameters
from lycosa.cli.printing import NARROW, Part, listing, output, print_result, remarks, right_aligned
from lycosa.cli.progress_bar import show_progress

if TYPE_CHECKING:  # 'lycosa train --help' must not import the training code
    from lycosa.training.evaluation import Quality
    from lycosa.training.train_model import TrainingResult


class TrainCommands(Commands):
    """The commands of `lycosa train`; any other word is a source of pages."""

    names = "pages rules browse taxonomy"
    places: ClassVar = {
        "pages": "train",
        "rules": "train_rules:train_rules",
        "browse": "train_browse",
        "taxonomy": "train_taxonomy",
    }
    usual = "pages"

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands[self.usual].hidden = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Treat the first argument as a source of pages unless it is a command; the default command needs no name."""
        if args and (args[0] == self.usual or args[0] not in self.commands) and args[0] not in ("-h", "--help"):
            args = [self.usual, *args]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, remarks = super().resolve_command(ctx, args)
        return "" if name == self.usual else name, command, remarks  # the default command has no name of its own

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "SOURCE... [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.load(self.usual).format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


train = TrainCommands(
    name="train",
    help="Train a classifier on labelled pages.\n\n"
    "SOURCE is a directory with a directory of pages for each class (nested ones are a taxonomy: Science/Physics), "
    "a table of URLs and classes, separated by tabs, or a crawl with labels (see 'lycosa label').\n\n"
    "At the end, its accuracy on held-out pages is printed. Use it with: lycosa crawl --model FILE --target CLASS\n\n"
    "For example:  lycosa train my-pages/ --out my.model",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_UNWANTED = {"other", "others", "rest", "misc", "negative", "no", "false", "0"}

MAX_ROWS = 60  # classes in the report; --json and the model have all of them


@with_more(network_parameters(), last=True)
def pages(
    sources: Annotated[
        list[str], "SOURCE", "A directory of classes, a table, or a crawl with labels; several are combined."
    ],
    *,
    out: Annotated[Path | None, "-o", "FILE", "Default: the source's name and .model."] = None,
    kind: Annotated[
        str,
        "KIND",
        "nb (Naive Bayes), nb-plain (its plain product), svm (linear SVM), nn (neural network) or tree "
        "(decision tree); for the last three: pip install 'lycosa[train]'.",
    ] = "nb",
    pages: Pages = None,
    column: ClassColumn = "",
    least: Annotated[
        int | None,
        "Pages that a nested class needs; with fewer, it is merged into its parent. Default: half of "
        "what such classes usually have, at most 150.",
    ] = None,
    whole_tree: Annotated[bool, "Treat inner nodes of a taxonomy as classes, not only its leaves."] = False,
    held_out: Annotated[float, "Share of the pages to hold out for measuring; 0 for none."] = 0.2,
    random_seed: Annotated[int, "Random seed for choosing held-out pages."] = 0,
    language: Language = "en",
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Train a classifier on labelled pages."""
    from lycosa.training.page_loading import fetched_pages, recorded_pages
    from lycosa.training.train_model import train

    options = network_options(**network)
    out = out or Path(f"{Path(os.path.abspath(sources[0])).name.removesuffix('.tsv')}.model")
    with show_progress(quiet or json) as progress:
        done = train(
            sources,
            out,
            recorded_pages(pages) if pages else fetched_pages(options),
            progress=progress,
            kind=kind,
            least=least or 0,
            whole_tree=whole_tree,
            held_out=held_out,
            column=column,
            language=language,
            seed=random_seed,
        )
    model = done.model
    facts = {
        "model": done.out,
        "kind": model.classifier.kind,
        "pages": sum(model.counts),
        "classes": dict(zip(model.classes, model.counts, strict=True)),
        "terms": len(model.terms),
        **{name: getattr(done, name) for name in ("left_out", "notes", "quality")},
    }
    print_result(facts, _parts(done), json=json, quiet=quiet)


def _parts(done: TrainingResult) -> Iterator[Part]:
    model, pages = done.model, sum(done.model.counts)
    learned = f": {model.classifier.name}, {len(model.classes)} classes, {pages:,} pages, {len(model.terms):,} terms"
    yield Text.assemble((str(done.out), "bold"), learned)
    if done.quality is None:
        yield "Nothing was held out, so its accuracy is unknown."
    else:
        yield from _measured(done.quality, pages)
    yield from remarks(done.left_out, done.notes)
    target = "" if model.default_targets else f"--target {shlex.quote(likely(model.classes))} "
    if model.default_targets:
        yield f"Wanted, unless --target says otherwise: {', '.join(model.default_targets)}"
    yield f"Crawl with it: lycosa crawl --model {shlex.quote(str(done.out))} {target}--seed URL"


def likely(classes: Sequence[str]) -> str:
    """Return a class to use as an example, preferably not a catch-all."""
    from lycosa.training.sources import IRRELEVANT, RELEVANT

    wanted = [name for name in classes if name.casefold() not in (IRRELEVANT, *_UNWANTED)]
    return RELEVANT if RELEVANT in classes else [*wanted, *classes][0]


def _measured(quality: Quality, pages: int) -> Iterator[Part]:
    written = f"the one that was written has learned from all {pages:,}"
    yield f"Measured on {quality.pages:,} pages held out, by a model of the others; {written}."
    largest = f"always saying the largest class would be right for {quality.majority:.1%}"
    off = f"Stated probabilities are off by {quality.gap:.1%} on average."
    yield Text.assemble((f"{quality.accuracy:.1%}", "bold"), f" are classified rightly; {largest}. {off}")
    columns = {"pages": "pages", "held_out": "held out", "precision": "precision", "recall": "recall", "f1": "F1"}
    if output().width < NARROW:
        columns = {"pages": "pages", "f1": "F1"}
    headers = [Column("class", overflow="fold"), *(right_aligned(title, no_wrap=True) for title in columns.values())]
    rows = ([row["name"], *(_number(row[name]) for name in columns)] for row in quality.classes[:MAX_ROWS])
    yield listing(headers, rows)
    if len(quality.classes) > MAX_ROWS:
        yield f"and {len(quality.classes) - MAX_ROWS} more classes: --json lists all"
    if quality.confusions:
        yield Text("most often mistaken", "bold")
    yield from (f"{count:>5} {true} taken for {said}" for true, said, count in quality.confusions)


def _number(value: float | int | None) -> str:
    """Format a count or a share.

    >>> _number(1234), _number(0.5), _number(None)
    ('1,234', '0.50', '-')
    """
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
