"""`lycosa mcp`: collections for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lycosa.core.errors import InputError
from lycosa.core.options import Options


def mcp(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the collections are kept.")] = Path("agents"),
    http: Annotated[
        bool, typer.Option("--http", help="Serve over streamable HTTP, with tokens; else over the standard streams.")
    ] = False,
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --http: who may ask, a name and a token a line.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="With --http: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --http: the port; 0 takes a free one.")] = 8765,
    url: Annotated[
        str, typer.Option(metavar="URL", help="With --http: where clients find it, if that is behind a proxy.")
    ] = "",
    most_pages: Annotated[int, typer.Option(help="Pages of a collection at most.")] = 500,
    most_at_once: Annotated[int, typer.Option(help="Collections at the same time at most.")] = 2,
    most_collections: Annotated[int, typer.Option(help="Collections in all at most.")] = 100,
    most_minutes: Annotated[float, typer.Option(help="Minutes that a collection may take.")] = 60.0,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Options of all collections, in the form of a crawl.toml.")
    ] = None,
    contact: Annotated[str, typer.Option(help="A URL or mail address that hosts can turn to.")] = "",
    delay: Annotated[float | None, typer.Option(help="Seconds to leave a host alone after each answer.")] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="A network that agents may crawl although it is not public; repeat it."),
    ] = None,
) -> None:
    """Serve collections to agents: collect, status, search, read, why, changes, stop."""
    from lycosa.agents.desk import Desk, Limits
    from lycosa.agents.serving import serve_http, serve_stdio
    from lycosa.agents.tokens import Tokens
    from lycosa.core.files import allow_many_files

    base = Options.load(config) if config is not None else Options()
    base.contact = contact or base.contact
    base.delay = base.delay if delay is None else delay
    base.allow_network = [*base.allow_network, *(allow_network or [])]
    base.check()
    limits = Limits(most_pages, most_at_once, most_collections, 60.0 * most_minutes)
    allow_many_files()
    if not http:
        if tokens is not None:
            raise InputError("--tokens is for --http: who starts this process over its streams needs none")
        serve_stdio(Desk(directory, base, limits))
        return
    if tokens is None:
        raise InputError("--http needs --tokens FILE: a name and a token a line, as in: ada $(openssl rand -hex 24)")
    from lycosa.spaces.making import wall_clock
    from lycosa.web.authority import Authority

    authority = Authority(wall_clock())
    serve_http(
        directory,
        Tokens.read(tokens),
        lambda folder: Desk(folder, base, limits, authority),
        host=host,
        port=port,
        url=url,
        say=lambda address: print(f"Agents find Lycosa at {address}. Ctrl-C ends it.", file=sys.stderr, flush=True),
    )
