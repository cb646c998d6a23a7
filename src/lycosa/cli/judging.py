"""`lycosa judge` and `lycosa label`: what is relevant, said otherwise; and what would help to know."""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lycosa.cli.manners import output
from lycosa.collection.asking import Question, questions
from lycosa.collection.judging import Judged, Moved, judge, learn
from lycosa.collection.reading import Collection
from lycosa.collection.wording import at_least
from lycosa.collection.words import clean
from lycosa.core.errors import InputError
from lycosa.core.types import Label, Visit
from lycosa.store.directory import Directory, is_running
from lycosa.store.labels import labels_in
from lycosa.store.log import NAME, SqliteLog
from lycosa.training.sources import IRRELEVANT, RELEVANT
from lycosa.web.urls import canonical

ASKED = 10
"""Pages that a person is asked about at once."""


def run(
    directory: Path,
    words: Sequence[str],
    examples: Sequence[str],
    *,
    threshold: float | None,
    by: str,
    keep: bool,
    json: bool,
) -> None:
    """Judge anew, and tell what that changes."""
    told = judge(directory, " ".join(words), examples=examples, threshold=threshold, judge=by, keep=keep)
    if json:
        print(jsonlib.dumps(told.as_dict()))
        return
    console = output()
    _tell(console, told)
    if told.kept:
        print("Kept: everyone who looks at the crawl sees it so, and it goes on so.")
    else:
        again = [str(directory), *words, *(part for name in examples for part in ("--example", name))]
        again += ["--threshold", f"{threshold:g}"] if threshold is not None else []
        again += ["--judge", by] if by else []
        print(f"Keep it with:  lycosa judge {shlex.join(again)} --keep")


def _tell(console: Console, told: Judged) -> None:
    before, after = told.before, told.after
    console.print(f"before: {before.told}, score {at_least(told.threshold_before)}", highlight=False)
    console.print(f"[bold]now[/]:    {after.told}, score {at_least(told.threshold)}, by {told.judge}", highlight=False)
    if not told.coming and not told.going:
        console.print("The same pages are relevant as before.", highlight=False)
    _list(
        console, f"{'1 page comes' if told.coming == 1 else f'{told.coming:,} pages come'} in", told.comes, told.coming
    )
    _list(console, f"{'1 page goes' if told.going == 1 else f'{told.going:,} pages go'} out", told.goes, told.going)
    _list(console, "nearest to the line", told.near, len(told.near))


def _list(console: Console, heading: str, pages: Sequence[Moved], count: int) -> None:
    if not pages:
        return
    console.print()
    console.print(Text(heading, "bold"))
    for page in pages:
        title = " ".join(clean(page.title).split()) or "-"
        moved = f"{page.before:.2f} → {page.after:.2f}" if page.before != page.after else f"{page.after:.2f}"
        line = Text(f"  {moved}  {title}  ").append(clean(page.url), "dim")
        console.print(line, soft_wrap=True)
    if count > len(pages):
        console.print(Text(f"  and {count - len(pages):,} more", "dim"))


# -- labels ------------------------------------------------------------------------------------------------------


def label(directory: Path, urls: Sequence[str], *, relevant: bool) -> None:
    """Write a person's word on some pages into the crawl's log, and have the judge learn from it."""
    if Directory.read_options(directory) and not (directory / NAME).exists():
        raise InputError(f"nothing has been crawled in {directory} yet: start with 'lycosa resume {directory}'")
    keep_labels(directory, dict.fromkeys(urls, relevant))


def keep_labels(directory: Path, said: dict[str, bool]) -> None:
    """Keep what was said of pages, have the judge learn from it, and tell what there is now."""
    opened = Directory.open(directory)
    try:
        with closing(opened.log()) as log:
            nodes = {_known(directory, log, url): relevant for url, relevant in said.items()}
            now = time.time()
            with log.together():
                for node, relevant in nodes.items():
                    log.append(Label(node, relevant, now))
                judged = learn(opened, log, now)
            given = labels_in(log)
    finally:
        opened.close()
    good, console = sum(given.values()), output()
    kinds = [RELEVANT] * (True in said.values()) + [IRRELEVANT] * (False in said.values())
    told = f"{len(said)} labelled as {' or '.join(kinds)}; now {good} yes, {len(given) - good} no."
    console.print(told, highlight=False)
    console.print(f"{judged.after.told}; before: {judged.before.told}.", highlight=False)
    if good >= 3 and len(given) - good >= 3:
        print(f"Train with them: lycosa train {shlex.quote(str(directory))}")


def ask(directory: Path, *, json: bool) -> None:
    """Name the pages of which a person's word would help most; in a terminal, ask for it."""
    with Collection(directory) as collection:
        found = questions(collection, ASKED)
    if json:
        print(jsonlib.dumps({"questions": [question.as_dict() for question in found]}))
        return
    console = output()
    if not found:
        console.print("There is no page that the judge is unsure of, and that nobody has labelled.", highlight=False)
        return
    if sys.stdin.isatty() and sys.stdout.isatty() and not is_running(directory):
        _ask(console, directory, found)
        return
    console.print("A word on these would help most:", highlight=False)
    for question in found:
        _show(console, question)
    name = shlex.quote(str(directory))
    print(f"Say so with: lycosa label {name} URL --yes, or lycosa label {name} URL --no")


def _show(console: Console, question: Question) -> None:
    title = " ".join(clean(question.title).split()) or "-"
    console.print(Text(f"  {question.worth:.2f}  {title}  ").append(clean(question.url), "dim"), soft_wrap=True)


def _ask(console: Console, directory: Path, found: Sequence[Question]) -> None:
    """One after the other; what was said is kept at the end, also if it is broken off."""
    console.print("Are these what you want? y: yes, n: no, Enter: I can't say, q: enough", highlight=False)
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
        keep_labels(directory, said)


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
    raise InputError(f"the crawl in {directory} has not fetched {node}: see what it has with 'lycosa show {directory}'")
