"""`lycosa page`. What shows one is loaded when it is run, not when it is asked for help."""

from __future__ import annotations

from typing import Annotated

import typer

from lycosa.cli.parameters import Dir, Json, WholeText


def page(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, as the crawl knows it.")],
    links: Annotated[bool, typer.Option(help="Its links, too.")] = True,
    raw: Annotated[bool, typer.Option("--raw", help="Only the body, unpacked, to the output.")] = False,
    version: Annotated[
        int | None,
        typer.Option(
            metavar="N", show_default=False, help="Which version: 1 is the first, -1 the last. Default: the last."
        ),
    ] = None,
    at: Annotated[
        str, typer.Option(metavar="WHEN", help="The version that stood then: a day, a day and a time, or 2d ago.")
    ] = "",
    xml: Annotated[bool, typer.Option("--xml", help="Only its document tree, as XML, to the output.")] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show one page in any version: its text and links, why it was fetched, and every look at it."""
    from lycosa.cli.one_page import show_page

    show_page(directory, url, links=links, raw=raw, version=version, at=at, xml=xml, whole_text=whole_text, json=json)
