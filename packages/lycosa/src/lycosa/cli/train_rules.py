"""`lycosa train rules`: learn how classes of pages link to each other, and show the rules."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.table import Column

from lycosa.cli.commands import Group, with_more
from lycosa.cli.parameters import Column as ClassColumn
from lycosa.cli.parameters import Json, Limit, Pages, Quiet, network_options, network_parameters
from lycosa.cli.printing import Part, listing, print_result, remarks, right_aligned
from lycosa.cli.progress_bar import show_progress
from lycosa.cli.train import likely
from lycosa.core.errors import InputError
from lycosa.judges.model import TrainedModel
from lycosa.strategies.rulebook import HEADER, MAX_LINKS, RuleBook
from lycosa.training import rules as training
from lycosa.training.page_loading import fetched_pages, recorded_pages
from lycosa.training.train_model import check_out

SHOW = Group("Show rules, without --model")
MAX_SHOWN = 200  # maximum number of classes in a printed matrix


@with_more(network_parameters("delay", "allow_network"), last=True)
def train_rules(
    source: Annotated[
        str,
        "SOURCE",
        "A table of URLs and classes, separated by tabs; or a crawl, whose pages the model classifies. Without "
        "--model: rules that were learned, to show.",
    ],
    *,
    model: Annotated[Path | None, "FILE", "A model created by 'lycosa train', which classifies the pages."] = None,
    out: Annotated[Path | None, "-o", "FILE", "File to write the rules to, as a table."] = None,
    pages: Pages = None,
    links: Annotated[int, "Maximum number of linked pages per class, chosen at random; 0 for all."] = 150,
    walk: Annotated[
        int,
        "LINKS",
        "Follow so many links in random walks from the pages instead, and classify both ends: the "
        "topic-citation matrix.",
    ] = 0,
    add: Annotated[Path | None, "FILE", "Extend these rules, which were learned before by either method."] = None,
    column: ClassColumn = "",
    random_seed: Annotated[int, "Random seed for choosing linked pages."] = 0,
    target: Annotated[list[str] | None, SHOW, "CLASS", "Pages that lead to this class or branch; repeatable."] = None,
    depth: Annotated[int, SHOW, "Maximum number of links in a path."] = 2,
    matrix: Annotated[bool, SHOW, "Show a matrix: the share of links from each class to each class."] = False,
    level: Annotated[int, SHOW, "N", "Levels of the taxonomy in the matrix; 0 for as many as fit."] = 0,
    limit: Annotated[Limit, SHOW] = 40,
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Learn which classes link to which, for --strategy rules; or show such rules."""
    if (model is None) != (out is None):
        message = "to learn rules, give --model and --out; to show rules, give only the file that has them"
        raise InputError("conflicting-options", message)
    if model is None or out is None:
        _show(Path(source), target or [], depth, matrix=matrix, level=level, limit=limit, json=json)
        return
    options = network_options(**network)
    if links < 0:
        raise InputError("out-of-range", f"--links is {links}: it must be 0 or more")
    if walk < 0:
        raise InputError("out-of-range", f"--walk is {walk}: it must be 0 (no walk) or more")
    known, before = TrainedModel.load(model), RuleBook.load(add) if add else RuleBook()
    check_out(out, HEADER.rpartition(" ")[0].encode(), "contains no rules")  # fails before a long fetch
    with show_progress(quiet or json) as progress:
        look = recorded_pages(pages) if pages else fetched_pages(options)
        learned = training.train_rules(
            source, known, look, column=column, most=links, walk=walk, seed=random_seed, progress=progress
        )
    for rule in before:
        learned.book.add(rule.source, rule.to, rule.cases)
    try:
        learned.book.save(out)
    except OSError as error:
        raise InputError("unwritable-file", f"cannot write {out}: {error.strerror}; choose another --out") from error
    facts = {
        "rules": len(learned.book), "pages": learned.parents, "linked": learned.linked, "left_out": learned.left_out,
        "notes": learned.notes,
    }  # fmt: skip
    print_result(facts, _learned(learned, known, model, out), json=json, quiet=quiet)


def _learned(learned: training.LearnedRules, known: TrainedModel, model: Path, out: Path) -> Iterator[Part]:
    book, file = learned.book, shlex.quote(str(out))
    between = f"{len(book):,} rules between {len(book.classes)} classes"
    yield f"{out}: {between}, from {learned.parents:,} pages and {learned.linked:,} pages that they link to"
    yield from remarks(learned.left_out, learned.notes)
    by_cases = sorted(book, key=lambda rule: -rule.cases)
    target = shlex.quote(next(iter(known.default_targets), likely([rule.to for rule in by_cases])))
    yield f"Look at them: lycosa train rules {file} --target {target}"
    words = f"--model {shlex.quote(str(model))} --target {target} --strategy rules,file={file}"
    yield f"Crawl with them: lycosa crawl {words} --seed URL"


def _show(file: Path, targets: list[str], depth: int, *, matrix: bool, level: int, limit: int, json: bool) -> None:
    if limit < 0:
        raise InputError("out-of-range", f"--limit is {limit}: it must be 0 (all) or more")
    book = RuleBook.load(file)
    if matrix:
        _show_matrix(book, file, level, json=json)
    elif targets:
        if not 1 <= depth <= MAX_LINKS:
            raise InputError("out-of-range", f"--depth is {depth}: it must be 1 to {MAX_LINKS}")
        chances = sorted(book.chain(book.wanted(targets), depth).items(), key=lambda item: (-item[1], item[0]))
        distance = "1 link" if depth == 1 else f"{depth} links or fewer"
        title = f"How likely pages lead to {', '.join(targets)} within {distance}:"
        found = [(name, f"{chance:.3f}") for name, chance in chances]
        table = _table([Column("pages of", overflow="fold"), right_aligned("chance")], found, limit)
        none = f"No rule leads to {', '.join(targets)}: a crawl for it uses soft focus only."
        print_result(dict(chances), [title, *table] if chances else [none], json=json)
    else:
        every = sorted(book, key=lambda rule: (-rule.probability, rule.source, rule.to))
        names = [Column(title, overflow="fold") for title in ("from", "to")]
        columns = [*names, right_aligned("probability"), right_aligned("cases")]
        rows = [(rule.source, rule.to, f"{rule.probability:.3f}", f"{rule.cases:,.0f}") for rule in every]
        print_result([rule._asdict() for rule in every], _table(columns, rows, limit), json=json)


def _table(columns: list[Column], rows: Sequence[tuple[str, ...]], limit: int) -> list[Part]:
    more = [f"and {len(rows) - limit:,} more: --limit 0 lists all"] if 0 < limit < len(rows) else []
    return [listing(columns, rows[: limit or None], pad_edge=False), *more]


def _show_matrix(book: RuleBook, file: Path, level: int, *, json: bool) -> None:
    """Print the matrix; each row sums to 1, and columns are numbered like the rows."""
    if level < 0:
        raise InputError("out-of-range", f"--level is {level}: it must be 1 or more, or 0 for as many as fit")
    deepest = max((name.count("/") + 1 for name in book.classes), default=1)
    # Levels at which the classes fit on a screen.
    fitting = [deep for deep in range(deepest, 0, -1) if deep == 1 or len(book.grouped(deep).classes) <= 12]
    groups = book.grouped(level or fitting[0])
    names = groups.classes
    if len(names) > MAX_SHOWN and not json:
        message = f"{file} has {len(names):,} classes at this level, and a matrix shows at most {MAX_SHOWN}"
        raise InputError("too-large", f"{message}: choose fewer levels (--level 1), --target CLASS, or --json")
    numbers = (right_aligned(str(number + 1)) for number in range(len(names)))
    columns = [right_aligned(""), Column("from", overflow="fold"), *numbers]
    shares = {one: {to: groups.probability(one, to) for to in names} for one in names}
    rows = (
        (str(number), one, *(f"{chance:.2f}".removeprefix("0") if chance else "·" for chance in row.values()))
        for number, (one, row) in enumerate(shares.items(), 1)
    )
    title = "Which share of a class's links leads to the class of that number:"
    facts = {one: row for one, row in shares.items() if groups.has_rules(one)}
    print_result(facts, [title, listing(columns, rows, pad_edge=False)], json=json)
