"""`lycosa train` and `lycosa label`: make a model of labelled pages, and say how good it is."""

from __future__ import annotations

import json as jsonlib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from lycosa.cli.manners import lively, output
from lycosa.core.options import Options
from lycosa.core.telling import Tell
from lycosa.training.looking import fetched, recorded
from lycosa.training.pages import Trained, train
from lycosa.training.quality import TABLE, WORST, Quality
from lycosa.training.sources import IRRELEVANT, RELEVANT

ENDING = ".model"

PLAIN_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""

_UNWANTED = {IRRELEVANT, "other", "others", "rest", "misc", "negative", "no", "false", "0"}

MOST_ROWS = 60
"""Classes that the report lists; all of them are in --json and in the model."""

NARROW = 60
"""Below this width there is room for a class, its pages and its F1 only."""


def run(
    sources: Sequence[str],
    out: Path | None,
    pages: Path | None,
    options: Options,
    *,
    quiet: bool,
    json: bool,
    **how: Any,
) -> None:
    """Train, and report."""
    options.check()
    out = out or Path(f"{Path(os.path.abspath(sources[0])).name.removesuffix('.tsv')}{ENDING}")
    with progress(quiet or json) as tell:
        done = train(sources, out, recorded(pages) if pages else fetched(options), tell=tell, **how)
    if json:
        told = {
            "model": str(done.out),
            "kind": done.model.classifier.kind,
            "pages": sum(done.model.counts),
            "classes": dict(zip(done.model.classes, done.model.counts, strict=True)),
            "terms": len(done.model.terms),
            "left_out": dict(done.left_out),
            "notes": done.notes,
            "quality": done.quality.as_dict() if done.quality else None,
        }
        print(jsonlib.dumps(told))
    elif not quiet:
        report(done)


@contextmanager
def progress(quiet: bool) -> Iterator[Tell]:
    """A bar on a terminal, a line now and then elsewhere."""
    console = Console(stderr=True)
    last = time.monotonic()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[far]}"),
        console=console,
        transient=True,
        disable=quiet or not lively(console),
    ) as progress:
        task = progress.add_task("", total=None, far="")

        def tell(what: str, done: int, total: int) -> None:
            nonlocal last
            far = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
            progress.update(task, description=what, completed=done, total=total or None, far=far)
            if not quiet and not lively(console) and time.monotonic() - last >= PLAIN_EVERY:
                last = time.monotonic()
                print(f"{what} {far}".rstrip(), file=sys.stderr, flush=True)

        yield tell


def report(done: Trained) -> None:
    """What was learned from what, how good it is, and what to do with it."""
    console = output()
    model, quality = done.model, done.quality
    console.print(
        f"[bold]{escape(str(done.out))}[/]: {model.classifier.name}, {len(model.classes)} classes, "
        f"{sum(model.counts):,} pages, {len(model.terms):,} terms",
        highlight=False,
    )
    if quality is None:
        console.print("Nothing was held out, so nothing is known of how good it is.", highlight=False)
    else:
        _measured(console, quality, sum(model.counts))
    left = ", ".join(f"{count:,} {why}" for why, count in done.left_out.most_common())
    if left:
        console.print(f"Left out: {escape(left)}.", highlight=False)
    for note in done.notes:
        console.print(f"note: {escape(note)}", highlight=False)
    name, target = shlex.quote(str(done.out)), shlex.quote(likely(model.classes))
    print(f"Crawl with it: lycosa crawl --model {name} --target {target} --seed URL")


def likely(classes: Sequence[str]) -> str:
    """The class that someone may want, for an example: one that isn't called like what nobody wants."""
    wanted = [name for name in classes if name.casefold() not in _UNWANTED]
    return RELEVANT if RELEVANT in classes else [*wanted, *classes][0]


def _measured(console: Console, quality: Quality, pages: int) -> None:
    console.print(
        f"Measured on {quality.pages:,} pages held out, by a model of the others; the one that was written has learned "
        f"from all {pages:,}.\n"
        f"[bold]{quality.accuracy:.1%}[/] are classified rightly; always saying the largest class would be right for "
        f"{quality.majority:.1%}. Stated probabilities are off by {quality.gap:.1%} on average.",
        highlight=False,
    )
    if quality.top:
        console.print(
            f"On the first level ({quality.top['classes']} classes): [bold]{quality.top['accuracy']:.1%}[/], largest "
            f"class {quality.top['majority']:.1%}.",
            highlight=False,
        )
    columns = {"pages": "pages", "held_out": "held out", "precision": "precision", "recall": "recall", "f1": "F1"}
    if console.width < NARROW:
        columns = {"pages": "pages", "f1": "F1"}
    table = Table(box=None, padding=(0, 1), show_edge=False)
    table.add_column("class", overflow="fold")
    for title in columns.values():
        table.add_column(title, justify="right", no_wrap=True)
    for row in quality.classes[:MOST_ROWS]:
        table.add_row(escape(row["name"]), *(_number(row[name]) for name in columns))
    console.print(table)
    if len(quality.classes) > MOST_ROWS:
        console.print(f"and {len(quality.classes) - MOST_ROWS} more classes: --json lists all", highlight=False)
    if not quality.confusions:
        return
    if len(quality.classes) <= TABLE and console.width >= NARROW:
        console.print(_confusions(quality))
    else:
        console.print("[bold]most often mistaken[/]", highlight=False)
        for true, said, count in quality.confusions[:WORST]:
            console.print(f"{count:>5} {escape(true)} taken for {escape(said)}", highlight=False)


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
    table = Table(
        box=None, padding=(0, 1), show_edge=False, title="taken for", title_justify="left", title_style="bold"
    )
    table.add_column("class", overflow="fold")
    for name in names:
        table.add_column(escape(name), justify="right", overflow="fold")
    for row in quality.classes:
        true = row["name"]
        right = row["held_out"] - sum(count for (of, _), count in wrong.items() if of == true)
        table.add_row(
            escape(true),
            *(str(right if said == true else wrong.get((true, said), 0) or "·") for said in names),
        )
    return table
