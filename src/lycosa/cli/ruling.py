"""`lycosa train rules` and `lycosa rules`: learn how classes of pages link to each other, and look at it."""

from __future__ import annotations

import json as jsonlib
import shlex
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from lycosa.cli.manners import output
from lycosa.cli.training import likely, progress
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.estimators.rulebook import DEEPEST, HEADER, RuleBook
from lycosa.topics.model import Model
from lycosa.training.looking import fetched, recorded
from lycosa.training.pages import check_out
from lycosa.training.rules import train_rules


def run(
    source: str, model: Path, out: Path, pages: Path | None, options: Options, *, quiet: bool, json: bool, **how: Any
) -> None:
    """Learn rules, write them, and say what was learned from how much."""
    options.check()
    if how["most"] < 0:
        raise InputError(f"--links is {how['most']}: it has to be 0 or more")
    known = Model.load(model)
    check_out(out, HEADER.rpartition(" ")[0].encode(), "holds no rules")  # before hours are spent on fetching
    with progress(quiet or json) as tell:
        learned = train_rules(source, known, recorded(pages) if pages else fetched(options), tell=tell, **how)
    try:
        learned.book.save(out)
    except OSError as error:
        raise InputError(f"cannot write the rules to {out}: {error.strerror}; choose another --out") from error
    if json:
        told = {"rules": len(learned.book), "pages": learned.parents, "linked": learned.linked}
        print(jsonlib.dumps({**told, "left_out": dict(learned.left_out), "notes": learned.notes}))
        return
    if quiet:
        return
    print(
        f"{out}: {len(learned.book):,} rules between {len(learned.book.classes)} classes, "
        f"from {learned.parents:,} pages and {learned.linked:,} pages that they link to"
    )
    left = ", ".join(f"{count:,} {why}" for why, count in learned.left_out.most_common() if count)
    if left:
        print(f"Left out: {left}.")
    for note in learned.notes:
        print(f"note: {note}")
    by_cases = sorted(learned.book, key=lambda rule: -rule.cases)
    target = shlex.quote(likely([rule.to for rule in by_cases]))
    print(f"Look at them: lycosa rules {shlex.quote(str(out))} --target {target}")
    print(
        f"Crawl with them: lycosa crawl --model {shlex.quote(str(model))} --target {target} "
        f"--strategy rules,file={shlex.quote(str(out))} --seed URL"
    )


def show(file: Path, targets: list[str], depth: int, limit: int, *, json: bool) -> None:
    """The rules, or with targets how likely each class leads to them."""
    if limit < 0:
        raise InputError(f"--limit is {limit}: it has to be 0 (all) or more")
    book = RuleBook.load(file)
    if not targets:
        _list(book, limit, json=json)
        return
    if not 1 <= depth <= DEEPEST:
        raise InputError(f"--depth is {depth}: a path has 1 to {DEEPEST} links")
    chances = sorted(book.chain(book.wanted(targets), depth).items(), key=lambda item: (-item[1], item[0]))
    if json:
        print(jsonlib.dumps(dict(chances)))
        return
    if not chances:
        print(f"No rule leads to {', '.join(targets)}: a crawl for it is one by soft focus.")
        return
    table = Table(box=None, padding=(0, 1), show_edge=False, pad_edge=False)
    table.add_column("pages of", overflow="fold")
    table.add_column("chance", justify="right")
    for name, chance in chances[: limit or None]:
        table.add_row(escape(name), f"{chance:.3f}")
    within = "1 link" if depth == 1 else f"{depth} links or fewer"
    output().print(escape(f"How likely pages lead to {', '.join(targets)} in {within}:"), highlight=False)
    output().print(table)
    _rest(len(chances), limit)


def _list(book: RuleBook, limit: int, *, json: bool) -> None:
    every = sorted(book, key=lambda rule: (-rule.probability, rule.source, rule.to))
    if json:
        print(jsonlib.dumps([rule._asdict() for rule in every]))
        return
    table = Table(box=None, padding=(0, 1), show_edge=False, pad_edge=False)
    for title in ("from", "to"):
        table.add_column(title, overflow="fold")
    for title in ("probability", "cases"):
        table.add_column(title, justify="right")
    for rule in every[: limit or None]:
        table.add_row(escape(rule.source), escape(rule.to), f"{rule.probability:.3f}", f"{rule.cases:,.0f}")
    output().print(table)
    _rest(len(every), limit)


def _rest(count: int, limit: int) -> None:
    if limit and count > limit:
        print(f"and {count - limit:,} more: --limit 0 lists all")
