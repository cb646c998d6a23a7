"""`lycosa judge` and `lycosa label`: what is relevant, said otherwise; and what would help to know."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, Line, judge_names
from lycosa.cli.printing import crawled, output, print_json, squeezed
from lycosa.collection import judging
from lycosa.collection.best import Question, questions
from lycosa.collection.estimate import at_least
from lycosa.collection.judging import Judged, Moved
from lycosa.collection.reading import Collection
from lycosa.collection.words import clean
from lycosa.core.errors import InputError
from lycosa.core.types import Label, Visit
from lycosa.store.directory import Directory, is_running
from lycosa.store.log import SqliteLog, labels_in
from lycosa.training.sources import IRRELEVANT, RELEVANT
from lycosa.web.urls import canonical


def judge(
    directory: Dir,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]", help="New topic. Default: the topic of the crawl.")
    ] = None,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="PAGE", help="An example of a relevant page, from the crawl or a file; repeatable."),
    ] = None,
    threshold: Line = None,
    by: Annotated[
        str,
        typer.Option(
            "--judge", metavar="NAME", help="The judge to use (see 'lycosa topics').", autocompletion=judge_names
        ),
    ] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Apply the result to the crawl. Default: only show it.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Judge all pages of a large crawl. Default: a sample, unless --keep is given.")
    ] = False,
    json: Json = False,
) -> None:
    """Judge pages again with other words, without fetching.

    Other words, examples, another judge or another threshold: the output shows which pages become relevant and which
    no longer are. With --keep, all commands use the new judgement, and so does the crawl when resumed. Without WORDS
    and options, the judge learns from everything known so far. Of crawls with 30,000 pages or more, a sample is judged,
    so that you can try out words; with --all or --keep, all pages are.
    """
    words, examples = words or [], example or []
    told = judging.judge(
        directory, " ".join(words), examples=examples, threshold=threshold, judge=by, keep=keep,
        sample=0 if everything else 15_000,  # pages on which words are tried out: some seconds
    )  # fmt: skip
    if json:
        print_json(told)
        return
    console = output()
    if told.of:
        console.print(f"A sample of {told.after.pages:,} from {told.of:,} pages (all of them: --all)")
    _tell(console, told)
    if told.kept:
        print("Applied: all commands use the new judgement, and so does the crawl when resumed.")
    else:
        again = [str(directory), *words, *(part for name in examples for part in ("--example", name))]
        again += ["--threshold", f"{threshold:g}"] if threshold is not None else []
        again += ["--judge", by] if by else []
        print(f"Apply it with:  lycosa judge {shlex.join(again)} --keep")


def _tell(console: Console, told: Judged) -> None:
    before, after = told.before, told.after
    console.print(f"before: {before.told}, score {at_least(told.threshold_before)}")
    console.print(f"[bold]now[/]:    {after.told}, score {at_least(told.threshold)}, by {told.judge}")
    if not told.coming and not told.going:
        console.print("The same pages are relevant as before.")
    _list(
        console, f"{'1 page comes' if told.coming == 1 else f'{told.coming:,} pages come'} in", told.comes, told.coming
    )
    _list(console, f"{'1 page goes' if told.going == 1 else f'{told.going:,} pages go'} out", told.goes, told.going)
    _list(console, "nearest to the threshold", told.near, len(told.near))


def _list(console: Console, heading: str, pages: Sequence[Moved], count: int) -> None:
    if not pages:
        return
    console.print()
    console.print(Text(heading, "bold"))
    for page in pages:
        title = squeezed(clean(page.title)) or "-"
        moved = f"{page.before:.2f} → {page.after:.2f}" if page.before != page.after else f"{page.after:.2f}"
        line = Text(f"  {moved}  {title}  ").append(clean(page.url), "dim")
        console.print(line, soft_wrap=True)
    if count > len(pages):
        console.print(Text(f"  and {count - len(pages):,} more", "dim"))


# -- labels ------------------------------------------------------------------------------------------------------


def label(
    directory: Dir,
    yes: Annotated[
        list[str] | None,
        typer.Option("--yes", metavar="URL", help="A relevant page that the crawl has fetched; repeatable."),
    ] = None,
    no: Annotated[
        list[str] | None,
        typer.Option("--no", metavar="URL", help="An irrelevant page that the crawl has fetched; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Label pages as relevant or not, so that the judge learns.

    Without --yes and --no, asks about the ten pages whose labels would help most. The judge learns immediately, and
    uses what it learned when the crawl is resumed. If a page was labelled before, the new label counts. 'lycosa train
    DIR' trains a model on the labels.
    """
    if not yes and not no:
        _ask_where_it_helps(directory, json=json)
        return
    crawled(directory)
    keep_labels(directory, [*((url, True) for url in yes or ()), *((url, False) for url in no or ())])


def keep_labels(directory: Path, labels: Iterable[tuple[str, bool]]) -> None:
    """Record labels of pages, have the judge learn from them, and print the new counts."""
    opened = Directory.open(directory)
    try:
        with closing(opened.log()) as log:
            nodes: dict[str, bool] = {}
            for url, relevant in labels:
                if nodes.setdefault(_known(directory, log, url), relevant) != relevant:
                    raise InputError(f"{url} is labelled with both --yes and --no: choose one")
            now = time.time()
            with log.together():
                for node, relevant in nodes.items():
                    log.append(Label(node, relevant, now))
                judged = judging.learn(opened, log, now)
            given = labels_in(log)
    finally:
        opened.close()
    good, console = sum(given.values()), output()
    counts = {RELEVANT: sum(nodes.values()), IRRELEVANT: len(nodes) - sum(nodes.values())}
    kinds = ", ".join(f"{count} labelled as {kind}" for kind, count in counts.items() if count)
    console.print(f"{kinds}; now {good} yes, {len(given) - good} no.")
    console.print(f"{judged.after.told}; before: {judged.before.told}.")
    if good >= 3 and len(given) - good >= 3:
        print(f"Train with them: lycosa train {shlex.quote(str(directory))}")


def _ask_where_it_helps(directory: Path, *, json: bool) -> None:
    """Name the pages of which a person's word would help most; in a terminal, ask for it."""
    with Collection(directory) as collection:
        found = questions(collection, 10)
    if json:
        print_json({"questions": found})
        return
    console = output()
    if not found:
        console.print("The judge is certain about every unlabelled page.")
        return
    if sys.stdin.isatty() and sys.stdout.isatty() and not is_running(directory):
        _ask(console, directory, found)
        return
    console.print("Labelling these pages would help most:")
    for question in found:
        _show(console, question)
    name = shlex.quote(str(directory))
    print(f"Label them with: lycosa label {name} --yes URL, or --no URL; both are repeatable")


def _show(console: Console, question: Question) -> None:
    title = squeezed(clean(question.title)) or "-"
    console.print(Text(f"  {question.worth:.2f}  {title}  ").append(clean(question.url), "dim"), soft_wrap=True)


def _ask(console: Console, directory: Path, found: Sequence[Question]) -> None:
    """One after the other; what was said is kept at the end, also if it is broken off."""
    console.print("Are these pages relevant? y: yes, n: no, Enter: skip, q: quit")
    said: dict[str, bool] = {}
    for question in found:
        _show(console, question)
        try:
            typed = input("  y/n? ").strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            print()
            break
        if typed == "q":
            break
        if typed in ("y", "n"):
            said[question.url] = typed == "y"
    if said:
        keep_labels(directory, said.items())


def _known(directory: Path, log: SqliteLog, url: str) -> str:
    """The page as the crawl knows it."""
    node = canonical(url) or url
    visits = [event for event in log.events("node = ?", given=(node,)) if isinstance(event, Visit)]
    if any(visit.is_page for visit in visits):
        return node
    for visit in visits:
        if visit.outcome == "redirect" and visit.links.urls:
            raise InputError(f"{node} redirects to {visit.links.urls[0]}: label that page")
    if visits:
        raise InputError(f"{node} could not be fetched ({visits[-1].outcome}): only pages can be labelled")
    raise InputError(f"the crawl in {directory} has not fetched {node}: list its pages with 'lycosa show {directory}'")
