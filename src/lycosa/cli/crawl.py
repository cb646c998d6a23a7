"""`lycosa crawl` and `lycosa resume`. What runs them is loaded when they are run, not when they are asked for help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lycosa.cli.parameters import Cluster, Dir, Json, Quiet, crawl_options, with_more
from lycosa.core.errors import InputError

if TYPE_CHECKING:
    from lycosa.crawling.request import Request


@with_more(crawl_options(of_refresh=False), at=0)
def crawl(
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Directory for the crawl. Default: a name derived from the topic, under crawls/.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Read options from a TOML file; command-line options take precedence."
        ),
    ] = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Crawl for TOPIC, starting from the seeds.

    A crawl is stored in one directory: crawl.toml, the log, archive/*.warc.gz. Ctrl-C stops it cleanly (a second Ctrl-C
    immediately); 'lycosa resume DIR' continues it, even after a crash. Options can also be read from a file: --config
    FILE, in the format of crawl.toml.
    """
    from lycosa.cli.hunting import free_name, hunt, read_options
    from lycosa.crawling import Crawl
    from lycosa.crawling.request import Request

    if out == "":  # as a path it would be this very directory
        raise InputError("--out is empty: give a directory, or leave it out")
    chosen = read_options(options, config)
    place = Path(out) if out else free_name(chosen)
    request = Request(chosen, place)  # what can't work is told before anybody is asked for a contact
    notes: list[str] = []
    if cluster is None:
        hunt(Crawl(_with_contact(request, notes, quiet)), quiet=quiet, json=json)
    else:
        from lycosa.cli.clustering import hunt_together
        from lycosa.cluster.reaching import Where

        hunt_together(_with_contact(request, notes, quiet), Where.read(cluster), quiet=quiet, json=json)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _with_contact(request: Request, notes: list[str], quiet: bool) -> Request:
    from dataclasses import replace

    from lycosa.cli.contact import introduced

    options = introduced(request.options, notes, quiet=quiet)
    return request if options is request.options else replace(request, options=options)


def resume(
    directory: Dir,
    budget: Annotated[int | None, typer.Option(help="New page budget for the whole crawl.")] = None,
    max_requests: Annotated[
        int | None, typer.Option(help="Maximum number of requests, including earlier runs.")
    ] = None,
    max_time: Annotated[float | None, typer.Option(help="Maximum duration of this run in seconds.")] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Never treat this host, or addresses under this URL, as a trap; repeatable."),
    ] = None,
    traps: Annotated[bool | None, typer.Option(help="Hold back likely traps.")] = None,
    readers: Annotated[int | None, typer.Option(help="Additional processes that parse pages; 0 for none.")] = None,
    requisites: Annotated[
        bool | None,
        typer.Option(help="Fetch what relevant pages, including earlier ones, need to be displayed."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="HEADER", help="A header for one host, as 'HOST NAME: VALUE'; replaces earlier ones."),
    ] = None,
    cookies: Annotated[str | None, typer.Option(metavar="FILE", help="Cookies for their hosts (cookies.txt).")] = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Continue a crawl where it stopped, even after a crash."""
    from lycosa import crawling
    from lycosa.cli.hunting import hunt
    from lycosa.store.directory import SHARDS, Directory

    if trust is not None:  # what was trusted before still is
        trust = list(dict.fromkeys([*Directory.read_options(directory).trust, *trust]))
    changes: dict[str, Any] = {
        "budget": budget,
        "max_requests": max_requests,
        "max_time": max_time,
        "trust": trust,
        "traps": traps,
        "readers": readers,
        "requisites": requisites,
        "headers": header,
        "cookies": cookies,
    }
    changed: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    if cluster is not None or (directory / SHARDS).is_dir():
        from lycosa.cli.clustering import hunt_together
        from lycosa.cluster.reaching import Where
        from lycosa.core.options import Options
        from lycosa.crawling.request import Request

        options = Options.from_mapping({**vars(Directory.read_options(directory)), **changed}, "command line")
        where = Where.read(cluster or "local")
        hunt_together(Request(options, directory, resuming=True), where, quiet=quiet, json=json)
        return
    hunt(crawling.resume(directory, **changed), quiet=quiet, json=json)
