"""`lycosa search`: full-text search, best pages first."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from rich.text import Text

from lycosa.cli.parameters import Dir, Json, parse_time
from lycosa.cli.printing import LabelledText, Part, output, print_notes, print_result, squeezed
from lycosa.cli.progress_bar import StatusLine
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.querying import Query, join_arguments, parse
from lycosa.collection.searching import Progress, Results, Search, SearchHit
from lycosa.crawling.crawl_files import start_indexer
from lycosa.store.search import NAME


def search(
    directory: Dir,
    words: Annotated[list[str], "WORDS", 'Words to search for; "a phrase" in quotes.'],
    *,
    limit: Annotated[int, "-n", "Maximum number of results."] = 10,
    host: Annotated[list[str] | None, "HOST", "Only this host; repeatable."] = None,
    language: Annotated[list[str] | None, "CODE", "Only this language (en, de, ...); repeatable."] = None,
    since: Annotated[str, "DATE", "Fetched on this date or later, such as 2026-03-01."] = "",
    until: Annotated[str, "DATE", "Fetched on this date or earlier."] = "",
    threshold: Annotated[float, "--threshold", "Only pages with at least this relevance."] = 0.0,
    changed: Annotated[str, "WHEN", "Only pages that changed since then: a date, 7d, or ever."] = "",
    copies: Annotated[bool, "Include copies of other pages."] = False,
    wait: Annotated[bool, "Wait until a large crawl is completely indexed."] = False,
    json: Json = False,
) -> None:
    """Search the text of the pages. The first search builds an index; later ones update it.

    In a large crawl that is not indexed yet, the search covers what is indexed within a few seconds; the rest is
    indexed in the background.
    """
    changed_since = None if not changed else 0.0
    if changed and changed.strip().lower() != "ever":
        changed_since = parse_time(changed, time.time(), "--changed")
    typed = join_arguments(words)
    query = parse(typed)  # parsed before the index is opened, because the query may be invalid
    patience = None if wait else 4.0
    with (
        IndexingProgress() as telling,
        CrawlDirectory(directory) as collection,
        Search(collection, telling, patience) as index,
    ):
        results = index.find(
            typed,
            limit=limit,
            hosts=host or [],
            languages=language or [],
            since=since,
            until=until,
            threshold=threshold,
            copies=copies,
            changed=changed_since,
            width=max(100, 3 * (min(output().width, 100) - 6)),  # a passage of three lines
        )
    if results.behind and start_indexer(directory) is not None:
        left = f"about {results.behind:,} pages of {directory} are not indexed yet and were not searched; indexing "
        print_notes([f"{left}continues in the background: search again later, or use --wait"])
    filtered = bool(host or language or since or until or threshold or changed)
    print_result({"query": typed, **results.as_dict()}, _parts(results, query, filtered), json=json)
    if results.unread and not json:
        print_notes([_unread(results, directory)])


def _parts(results: Results, query: Query, filtered: bool) -> Iterator[Part]:
    wanted = " ".join(map(str, query.wanted))
    if not results.hits:
        yield _nothing(results, query, wanted, filtered)
        return
    have = "has" if results.total == 1 else "have"
    shown = f"the best {len(results.hits)}:" if len(results.hits) < results.total else ""
    if results.loosened:
        some = f"None of {results.pages:,} pages has all of {wanted}; {results.total:,} {have} some of it"
        yield some + (f", {shown}" if shown else ":")
    else:
        yield f"{results.total:,} of {results.pages:,} pages {have} {wanted}" + (f"; {shown}" if shown else ":")
    for hit in results:
        yield from _hit(hit)


def _hit(hit: SearchHit) -> Iterator[Part]:
    yield ""
    yield LabelledText(Text(f"{hit.rank:>2}. "), Text(squeezed(hit.title) or hit.url, "bold"))
    yield LabelledText("    ", Text(hit.url, "cyan"))
    facts = [f"relevance {hit.relevance:.2f}", f"{hit.fetched:%Y-%m-%d}", hit.language]
    facts += [f"changed {hit.changed:%Y-%m-%d}"] if hit.changed else []
    yield LabelledText("    ", Text(", ".join(filter(None, facts)), "dim"))
    if hit.since is not None:
        yield LabelledText("    ", Text(f"{hit.standing} since {hit.since:%Y-%m-%d}: this is its last version", "dim"))
    if hit.same_as:
        yield LabelledText("    ", Text(f"copy of {hit.same_as}", "dim"))
    if hit.snippet.text:
        passage = Text(hit.snippet.text)
        for start, end in hit.snippet.spans:
            passage.stylize("bold", start, end)
        yield LabelledText("    ", passage)


def _nothing(results: Results, query: Query, wanted: str, filtered: bool) -> str:
    if not results.pages:
        return "No page matches the filters." if filtered else "There are no pages to search yet."
    word = max((word for clause in query.wanted for word in clause.words), key=len)
    tries = ["another spelling"]
    tries += [f"a beginning ({word[:-2]}*)"] if len(word) > 4 and word.isalpha() else []
    tries += ["removing words with -"] if query.unwanted else []
    tries += ["fewer filters"] if filtered else []
    listed = " or ".join(filter(None, [", ".join(tries[:-1]), tries[-1]]))
    return f"None of {results.pages:,} pages has {wanted}. Try {listed}."


def _unread(results: Results, directory: Path) -> str:
    if results.unread == results.pages:
        return "the archive has no readable text of these pages: only titles are searched"
    return (
        f"{results.unread:,} of {results.pages:,} pages could not be read from the archive and are known by "
        f"their titles only; after repairing the archive, delete {shlex.quote(str(directory / NAME))}"
    )


class IndexingProgress(Progress):
    """Shows the progress of indexing if it takes more than a moment."""

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
