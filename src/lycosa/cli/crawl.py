"""`lycosa crawl` and `lycosa resume`. What runs them is loaded when they are run, not when they are asked for help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.cli.parameters import Cluster, Dir, Json, Quiet, crawl_options, with_more
from lycosa.core.errors import InputError


@with_more(crawl_options(of_refresh=False), at=0)
def crawl(
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to keep the crawl. Default: crawls/ and a name made from the topic.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Options from a TOML file; the command line wins."),
    ] = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Hunt TOPIC from the seeds.

    The crawl lives in one directory: crawl.toml, the log, archive/*.warc.gz. Ctrl-C stops it cleanly (a second
    Ctrl-C at once); 'lycosa resume DIR' goes on, also after a crash. Every option can stand in a file instead:
    --config FILE, in the form of a crawl.toml.
    """
    from lycosa.cli.contact import introduced
    from lycosa.cli.hunting import free_name, hunt, read_options
    from lycosa.crawling import Crawl
    from lycosa.crawling.request import Request

    if out == "":  # as a path it would be this very directory
        raise InputError("--out is empty: name a directory, or leave it out")
<<<<<<< HEAD
    chosen = introduced(read_options(options, config), quiet=quiet)
=======
    chosen = read_options(options, config)
    if cluster is not None:
        from lycosa.cli.clustering import hunt_together
        from lycosa.cluster.running import ClusterCrawl, Where

        request = Request(chosen, Path(out) if out else free_name(chosen))
        hunt_together(ClusterCrawl(request, Where.read(cluster)), quiet=quiet, json=json)
        return
>>>>>>> main
    hunt(Crawl(Request(chosen, Path(out) if out else free_name(chosen))), quiet=quiet, json=json)


def resume(
    directory: Dir,
    budget: Annotated[int | None, typer.Option(help="A new page budget for the whole crawl.")] = None,
    max_requests: Annotated[int | None, typer.Option(help="Requests in all, with those of earlier runs.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds to crawl at most in this run.")] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Hold nothing back on this host, or under this address; repeat it for more."),
    ] = None,
    traps: Annotated[bool | None, typer.Option(help="Hold back what looks like a trap, or not.")] = None,
    readers: Annotated[int | None, typer.Option(help="Processes that read pages beside this one; 0: none.")] = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a crawl where it stopped, however it stopped."""
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
    }
    changed: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    if cluster is not None or (directory / SHARDS).is_dir():
        from lycosa.cli.clustering import hunt_together
        from lycosa.cluster.running import Where, resumed

        where = Where.read(cluster) if cluster is not None else None
        hunt_together(resumed(directory, where, changed), quiet=quiet, json=json)
        return
    hunt(crawling.resume(directory, **changed), quiet=quiet, json=json)
