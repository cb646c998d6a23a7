"""`lycosa train rules` and `lycosa rules`: learn how classes of pages link to each other, and look at it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column

from lycosa.cli.parameters import Column as ClassColumn
from lycosa.cli.parameters import Json, Place, Quiet, network_options, network_parameters, with_more
from lycosa.cli.printing import listing, output, print_json, right, tell_more, tell_rest
from lycosa.cli.progress import progress
from lycosa.cli.train import likely
from lycosa.core.errors import InputError
from lycosa.estimators.rulebook import DEEPEST, HEADER, RuleBook
from lycosa.topics.model import Model
from lycosa.training import rules as training
from lycosa.training.looking import fetched, recorded
from lycosa.training.pages import check_out


@with_more(network_parameters("delay", "allow_network"), at=9)
def train_rules(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A table of addresses and classes, separated by tabs; or a crawl, whose pages the model classifies.",
        ),
    ],
    model: Annotated[Path, typer.Option(metavar="FILE", help="The model that knows the classes, of 'lycosa train'.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="File to write the rules to, as a table.")],
    pages: Place = None,
    links: Annotated[
        int, typer.Option(help="Maximum linked pages per class to look at, chosen at random; 0 for all.")
    ] = 150,
    walk: Annotated[
        int,
        typer.Option(
            metavar="LINKS",
            help="Follow so many links in random walks from the pages instead, and classify both ends: the "
            "topic-citation matrix.",
        ),
    ] = 0,
    add: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add to these rules learned before, by either method.")
    ] = None,
    column: ClassColumn = "",
    random_seed: Annotated[int, typer.Option(help="Random seed for choosing linked pages.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Learn which classes link to which, for --strategy rules."""
    options = network_options(**network)
    if links < 0:
        raise InputError(f"--links is {links}: it must be 0 or more")
    if walk < 0:
        raise InputError(f"--walk is {walk}: it must be 0 (no walk) or more")
    known, before = Model.load(model), RuleBook.load(add) if add else RuleBook()
    check_out(out, HEADER.rpartition(" ")[0].encode(), "contains no rules")  # before hours are spent on fetching
    with progress(quiet or json) as tell:
        look = recorded(pages) if pages else fetched(options)
        learned = training.train_rules(
            source, known, look, column=column, most=links, walk=walk, seed=random_seed, tell=tell
        )
    for rule in before:
        learned.book.add(rule.source, rule.to, rule.cases)
    try:
        learned.book.save(out)
    except OSError as error:
        raise InputError(f"cannot write the rules to {out}: {error.strerror}; choose another --out") from error
    if json:
        told = {"rules": len(learned.book), "pages": learned.parents, "linked": learned.linked}
        print_json({**told, "left_out": learned.left_out, "notes": learned.notes})
        return
    if quiet:
        return
    print(
        f"{out}: {len(learned.book):,} rules between {len(learned.book.classes)} classes, "
        f"from {learned.parents:,} pages and {learned.linked:,} pages that they link to"
    )
    tell_rest(learned.left_out, learned.notes)
    by_cases = sorted(learned.book, key=lambda rule: -rule.cases)
    target = shlex.quote(next(iter(known.marked), likely([rule.to for rule in by_cases])))
    print(f"Look at them: lycosa rules {shlex.quote(str(out))} --target {target}")
    print(
        f"Crawl with them: lycosa crawl --model {shlex.quote(str(model))} --target {target} "
        f"--strategy rules,file={shlex.quote(str(out))} --seed URL"
    )


def rules(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What 'lycosa train rules' has written.")],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS", help="Show what leads to this class or branch; repeatable."),
    ] = None,
    depth: Annotated[int, typer.Option(help="Maximum number of links in a path.")] = 2,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Show all as a matrix: the share of links from each class to each class.")
    ] = False,
    level: Annotated[
        int, typer.Option(metavar="N", help="Levels of the taxonomy in the matrix; 0 for as many as fit.")
    ] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of lines; 0 for all.")] = 40,
    json: Json = False,
) -> None:
    """List rules learned by 'lycosa train rules'."""
    if limit < 0:
        raise InputError(f"--limit is {limit}: it must be 0 (all) or more")
    book = RuleBook.load(file)
    targets = target or []
    if matrix:
        _matrix(book, file, level, json=json)
        return
    if not targets:
        _list(book, limit, json=json)
        return
    if not 1 <= depth <= DEEPEST:
        raise InputError(f"--depth is {depth}: a path has 1 to {DEEPEST} links")
    chances = sorted(book.chain(book.wanted(targets), depth).items(), key=lambda item: (-item[1], item[0]))
    if json:
        print_json(dict(chances))
        return
    if not chances:
        print(f"No rule leads to {', '.join(targets)}: a crawl for it is one by soft focus.")
        return
    within = "1 link" if depth == 1 else f"{depth} links or fewer"
    console = output()
    console.print(f"How likely pages lead to {', '.join(targets)} in {within}:", markup=False)
    rows = ((name, f"{chance:.3f}") for name, chance in chances[: limit or None])
    console.print(listing([Column("pages of", overflow="fold"), right("chance")], rows, pad_edge=False))
    tell_more(len(chances), limit)


def _list(book: RuleBook, limit: int, *, json: bool) -> None:
    every = sorted(book, key=lambda rule: (-rule.probability, rule.source, rule.to))
    if json:
        print_json([rule._asdict() for rule in every])
        return
    columns = [Column("from", overflow="fold"), Column("to", overflow="fold"), right("probability"), right("cases")]
    rows = ((rule.source, rule.to, f"{rule.probability:.3f}", f"{rule.cases:,.0f}") for rule in every[: limit or None])
    output().print(listing(columns, rows, pad_edge=False))
    tell_more(len(every), limit)


MOST_SHOWN = 200  # classes of a matrix that is printed


def _matrix(book: RuleBook, file: Path, level: int, *, json: bool) -> None:
    """Rows add up to 1. Columns are called by the number of their row."""
    if level < 0:
        raise InputError(f"--level is {level}: it must be 1 or more, or 0 for as many as fit")
    deepest = max((name.count("/") + 1 for name in book.classes), default=1)
    # classes that fit on a screen
    fitting = [deep for deep in range(deepest, 0, -1) if deep == 1 or len(book.grouped(deep).classes) <= 12]
    groups = book.grouped(level or fitting[0])
    names = groups.classes
    if json:
        print_json({one: {to: groups.probability(one, to) for to in names} for one in names if groups.leads(one)})
        return
    if len(names) > MOST_SHOWN:
        raise InputError(
            f"{file} has {len(names):,} classes at this level, and a matrix {MOST_SHOWN} at most: take fewer levels "
            "(--level 1), --target CLASS, or --json"
        )
    columns = [right(""), Column("from", overflow="fold"), *(right(str(number + 1)) for number in range(len(names)))]
    rows = (
        (str(number), one, *(f"{chance:.2f}" if (chance := groups.probability(one, to)) else "·" for to in names))
        for number, one in enumerate(names, 1)
    )
    console = output()
    console.print("Which share of a class's links leads to the class of that number:")
    console.print(listing(columns, rows, pad_edge=False))
