"""`lycosa search`: the pages that have the words, the best first."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Self

import typer
from rich.console import Console
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, moment
from lycosa.cli.printing import print_json, squeezed, wrapped
from lycosa.cli.progress import StatusLine
from lycosa.collection.querying import Query, joined, parse
from lycosa.collection.reading import Collection
from lycosa.collection.searching import Hit, Progress, Results, Search
from lycosa.collection.words import clean
from lycosa.crawling.files import begin
from lycosa.store.search import NAME

PATIENCE = 4.0  # seconds for bringing the index up to date
LINES, WIDEST = 3, 120  # lines of a passage, and characters in one


def search(
    directory: Dir,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help='Words to search for; "a phrase" in quotes.')],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 10,
    host: Annotated[list[str] | None, typer.Option(metavar="HOST", help="Only this host; repeatable.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only this language (en, de, ...); repeatable.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="DATE", help="Fetched on this date or later, such as 2026-03-01.")] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Fetched on this date or earlier.")] = "",
    threshold: Annotated[
        float, typer.Option("--threshold", "--score", help="Only pages with at least this score.")
    ] = 0.0,
    changed: Annotated[
        str, typer.Option(metavar="WHEN", help="Only pages that changed since then: a date, 7d, or ever.")
    ] = "",
    copies: Annotated[bool, typer.Option("--copies", help="Include copies of other pages.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until a large crawl is completely indexed.")] = False,
    json: Json = False,
) -> None:
    """Search the text of the pages. The first search builds an index; later ones update it.

    In a large crawl that is not indexed yet, the search covers what is indexed within a few seconds; the rest is
    indexed in the background.
    """
    changed_since = _changed_since(changed)
    console = Console(highlight=False)
    typed = joined(words)
    query = parse(typed)  # before the index is touched: what was typed may be nothing
    patience = None if wait else PATIENCE
    with Telling() as telling, Collection(directory) as collection, Search(collection, telling, patience) as index:
        results = index.find(
            typed,
            limit=limit,
            hosts=host or [],
            languages=language or [],
            since=since,
            until=until,
            score=threshold,
            copies=copies,
            changed=changed_since,
            width=max(100, LINES * (min(console.width, WIDEST) - 6)),
        )
    if results.behind and begin(directory) is not None:
        print(_behind(results, directory), file=sys.stderr)
    if json:
        print_json({"query": typed, **results.as_dict()})
        return
    asked = " ".join(map(str, query.wanted))
    if results.hits:
        wrapped(console, Text(_headline(results, asked)))
        for hit in results:
            _show(console, hit)
    else:
        filtered = bool(host or language or since or until or threshold or changed)
        wrapped(console, Text(_nothing(results, query, filtered)))
    if results.unread:
        print(_unread(results, directory), file=sys.stderr)


def _behind(results: Results, directory: Path) -> str:
    return (
        f"note: about {results.behind:,} pages of {directory} are not indexed yet and were not searched; indexing "
        "continues in the background: search again later, or use --wait"
    )


def _changed_since(given: str) -> float | None:
    """What `--changed` asks for: a moment, or just that it has changed at all."""
    if not given:
        return None
    return 0.0 if given.strip().lower() == "ever" else moment(given, time.time(), "--changed")


def _headline(results: Results, asked: str) -> str:
    """How many there are, and how many of them are shown."""
    total = f"{results.total:,}"
    have = "has" if results.total == 1 else "have"
    shown = f"the best {len(results.hits)}:" if len(results.hits) < results.total else ""
    if results.loosened:
        return f"None of {results.pages:,} pages has all of {asked}; {total} {have} some of it" + (
            f", {shown}" if shown else ":"
        )
    return f"{total} of {results.pages:,} pages {have} {asked}" + (f"; {shown}" if shown else ":")


def _show(console: Console, hit: Hit) -> None:
    """A hit: number and title, address, what is known of it, the passage with its words in bold."""
    console.print()
    wrapped(console, Text(squeezed(hit.title) or clean(hit.url), "bold"), Text(f"{hit.rank:>2}. "), WIDEST)
    # In one piece, however narrow the terminal: an address is there to be copied.
    console.print(Text(f"    {clean(hit.url)}", "cyan"), soft_wrap=True)
    facts = [f"score {hit.score:.2f}", f"{hit.fetched:%Y-%m-%d}", hit.language]
    facts += [f"changed {hit.changed:%Y-%m-%d}"] if hit.changed else []
    console.print(Text("    " + ", ".join(fact for fact in facts if fact), "dim"))
    if hit.since is not None:
        console.print(Text(f"    {hit.standing} since {hit.since:%Y-%m-%d}: this is its last version", "dim"))
    if hit.same_as:
        console.print(Text(f"    copy of {clean(hit.same_as)}", "dim"), soft_wrap=True)
    if hit.snippet.text:
        passage = Text(hit.snippet.text)
        for start, end in hit.snippet.spans:
            passage.stylize("bold", start, end)
        wrapped(console, passage, Text("    "), WIDEST)


def _nothing(results: Results, query: Query, filtered: bool) -> str:
    """What was searched in vain, and what to try."""
    if not results.pages:
        return "No page matches the filters." if filtered else "There are no pages to search yet."
    asked = " ".join(map(str, query.wanted))
    word = max((word for clause in query.wanted for word in clause.words), key=len)
    tries = ["another spelling"]
    if len(word) > 4 and word.isalpha():
        tries.append(f"a beginning ({word[:-2]}*)")
    if query.unwanted:
        tries.append("leaving nothing out with -")
    if filtered:
        tries.append("fewer filters")
    return f"None of {results.pages:,} pages has {asked}. Try {_or(tries)}."


def _or(things: list[str]) -> str:
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} or {things[-1]}"


def _unread(results: Results, directory: Path) -> str:
    if results.unread == results.pages:
        return "note: nothing readable is archived of these pages: only their titles are searched"
    return (
        f"note: {results.unread:,} of {results.pages:,} pages could not be read from the archive and are known by "
        f"their titles only; when it is whole again, delete {shlex.quote(str(directory / NAME))}"
    )


class Telling(Progress):
    """Says how far the index is, once it takes more than a moment."""

    PATIENCE = 1.0

    def __init__(self) -> None:
        self.line = StatusLine(patience=self.PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.line.clear()

    def waiting(self) -> None:
        print("another search is building the index: waiting for it", file=sys.stderr, flush=True)

    def indexed(self, pages: int, share: float) -> None:
        self.line.show(lambda: f"indexing: {pages:,} pages, {share:.0%}")
