"""`lycosa crawl` and `lycosa resume`; the engine is imported only when they run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from lycosa.cli.commands import Group, with_more
from lycosa.cli.parameters import Cluster, Dir, Json, Quiet, crawl_options, rare_options
from lycosa.core.errors import InputError

# Options that a resume may change.
RESUMABLE_OPTIONS = "budget max_requests max_time until trust traps readers page_assets headers cookies".split()


@with_more(crawl_options(), rare_options() | {"cluster"})
def crawl(
    *,
    out: Annotated[
        str | None,
        Group("Output"),
        "-o",
        "DIR",
        "Directory for the crawl. Default: a name derived from the topic, under crawls/.",
    ] = None,
    quiet: Annotated[Quiet, Group("Output")] = False,
    json: Annotated[Json, Group("Output")] = False,
    config: Annotated[
        Path | None, "FILE", "Read options from a TOML file; command-line options take precedence."
    ] = None,
    cluster: Cluster = None,
    **options: Any,
) -> None:
    """Crawl for TOPIC, starting from the seeds.

    A crawl is stored in one directory: crawl.toml, the log, archive/*.warc.gz. Ctrl-C stops it cleanly (a second Ctrl-C
    immediately); 'lycosa resume DIR' continues it, even after a crash. Options can also be read from a file: --config
    FILE, in the format of crawl.toml.
    """
    from lycosa.cli.contact import with_contact
    from lycosa.cli.crawl_runner import free_name, read_options, run_crawl
    from lycosa.cli.printing import print_notes
    from lycosa.crawling import Crawl
    from lycosa.crawling.request import CrawlRequest

    if out == "":  # Path("") would be the current directory
        raise InputError("bad-value", "--out is empty: give a directory, or leave it out")
    chosen = read_options(options, config)
    request = CrawlRequest(chosen, Path(out) if out else free_name(chosen))  # validates before the contact prompt
    notes: list[str] = []
    if cluster is not None:
        from lycosa.cli.cluster_crawl import run_cluster_crawl
        from lycosa.crawling.runners import runner

        runs = runner(cluster)
    introduced_options = with_contact(request.options, notes, quiet=quiet)
    if introduced_options is not request.options:
        request = replace(request, options=introduced_options)
    if cluster is not None:
        run_cluster_crawl(runs.crawl(request), quiet=quiet, json=json)
    else:
        run_crawl(Crawl(request), quiet=quiet, json=json)
    print_notes(notes)


@with_more(crawl_options(only=RESUMABLE_OPTIONS))
def resume(
    directory: Dir, *, cluster: Cluster = None, quiet: Quiet = False, json: Json = False, **options: Any
) -> None:
    """Continue a crawl where it stopped, even after a crash.

    --budget and --max-requests are for the whole crawl, earlier runs included; --max-time is for this run. The given
    options are saved; --header replaces earlier headers, --trust adds to the trusted hosts and URLs.
    """
    from lycosa import crawling
    from lycosa.cli.crawl_runner import run_crawl
    from lycosa.store.directory import SHARDS, Directory

    changed = {name: value for name, value in options.items() if value is not None}
    if "trust" in changed:  # extend the list of trusted hosts
        changed["trust"] = list(dict.fromkeys([*Directory.read_options(directory).trust, *changed["trust"]]))
    if cluster is not None or (directory / SHARDS).is_dir():
        from lycosa.cli.cluster_crawl import run_cluster_crawl
        from lycosa.core.options import Options
        from lycosa.crawling.request import CrawlRequest
        from lycosa.crawling.runners import runner, runner_of

        chosen = Options.from_mapping({**vars(Directory.read_options(directory)), **changed}, "command line")
        runs = runner(cluster) if cluster is not None else runner_of(directory)
        run_cluster_crawl(runs.crawl(CrawlRequest(chosen, directory, resuming=True)), quiet=quiet, json=json)
    else:
        run_crawl(crawling.resume(directory, **changed), quiet=quiet, json=json)
