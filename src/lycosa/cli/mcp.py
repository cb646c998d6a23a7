"""`lycosa mcp`: collections for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lycosa.core.errors import InputError
from lycosa.core.options import Options


def mcp(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory for the collections.")] = Path("agents"),
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over streamable HTTP, with tokens. Default: standard input and output."),
    ] = False,
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --http: file of clients, a name and a token per line.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="With --http: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --http: the port; 0 takes a free one.")] = 8765,
    url: Annotated[
        str, typer.Option(metavar="URL", help="With --http: the public address, if the server is behind a proxy.")
    ] = "",
    most_pages: Annotated[int, typer.Option(help="Maximum pages per collection.")] = 500,
    most_at_once: Annotated[int, typer.Option(help="Maximum collections running at the same time.")] = 2,
    most_collections: Annotated[int, typer.Option(help="Maximum number of collections.")] = 100,
    most_minutes: Annotated[float, typer.Option(help="Maximum duration of a collection in minutes.")] = 60.0,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Options for all collections, in the format of crawl.toml.")
    ] = None,
    contact: Annotated[str, typer.Option(help="A URL or mail address that hosts can turn to.")] = "",
    delay: Annotated[float | None, typer.Option(help="Seconds to leave a host alone after each answer.")] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="A private network that agents may crawl; repeatable."),
    ] = None,
) -> None:
    """Let AI agents collect and read pages (MCP server)."""
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
            raise InputError("--tokens is for --http only: standard input and output need no tokens")
        serve_stdio(Desk(directory, base, limits))
        return
    if tokens is None:
        raise InputError(
            "--http needs --tokens FILE, with a name and a token per line, for example: ada $(openssl rand -hex 24)"
        )
    from lycosa.spaces.making import wall_clock
    from lycosa.web.politeness import Authority

    authority = Authority(wall_clock())
    serve_http(
        directory,
        Tokens.read(tokens),
        lambda folder: Desk(folder, base, limits, authority),
        host=host,
        port=port,
        url=url,
        say=lambda address: print(f"Serving agents at {address}. Ctrl-C stops it.", file=sys.stderr, flush=True),
    )
