"""`lycosa search`. What searches is loaded when it is run, not when it is asked for help."""

from __future__ import annotations

from typing import Annotated

import typer

from lycosa.cli.parameters import Dir, Json


def search(
    directory: Dir,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help='What to look for; "a phrase" in quotes.')],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Results at most.")] = 10,
    host: Annotated[list[str] | None, typer.Option(metavar="HOST", help="Only this host; repeat it for more.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only this language (en, de, ...); repeat it for more.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="DATE", help="Fetched on this day or later, as in 2026-03-01.")] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Fetched on this day or earlier.")] = "",
    threshold: Annotated[
        float, typer.Option("--threshold", "--score", help="Only pages that are worth at least this to the topic.")
    ] = 0.0,
    changed: Annotated[
        str, typer.Option(metavar="WHEN", help="Only pages that changed since then: a day, 7d, or ever.")
    ] = "",
    copies: Annotated[bool, typer.Option("--copies", help="Also pages that repeat another's content.")] = False,
    json: Json = False,
) -> None:
    """Search the text of the pages. The first search builds an index, later ones bring it up to date."""
    from lycosa.cli.searching import search_pages

    search_pages(
        directory, words, limit=limit, host=host or [], language=language or [], since=since, until=until,
        threshold=threshold, changed=changed, copies=copies, json=json,
    )  # fmt: skip
