"""`lycosa`: the commands, and how errors are shown."""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.cli.laboratory import lab
from lycosa.cli.learning import training
from lycosa.cli.manners import Commands, one_line
from lycosa.cli.parameters import (
    OF_REFRESH,
    AllowNetwork,
    Delay,
    Dir,
    Json,
    Line,
    ProxyCa,
    ProxyUrl,
    Quiet,
    WholeText,
    from_options,
    refresh_signature,
)
from lycosa.version import __version__

app = typer.Typer(
    name="lycosa",
    cls=Commands,
    help="Hunt a topic through the web: a focused crawler.\n\n"
    "Start with:  lycosa crawl 'coral reef bleaching' --seed https://example.org/ --budget 500",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; what Lycosa raises on purpose becomes one line and a non-zero exit."""
    from lycosa.core.errors import LycosaError, NothingFetched

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a title that the terminal can't show is no reason to fail
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LycosaError as error:
        print(f"lycosa: {one_line(str(error))}", file=sys.stderr)
        sys.exit(1 if isinstance(error, NothingFetched) else 2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`lycosa show DIR | head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = f"cannot use {one_line(str(error.filename))}" if error.filename else "cannot write the output"
        print(f"lycosa: {what}: {error.strerror or error}", file=sys.stderr)
        os._exit(2)  # without another try to flush it


def _version(asked: bool) -> None:
    if asked:
        print(f"Lycosa {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Options of all commands."""


def _crawl(**given: Any) -> None:
    """Hunt TOPIC from the seeds.

    The crawl lives in one directory: crawl.toml, the log, archive/*.warc.gz. Ctrl-C stops it cleanly (a second
    Ctrl-C at once); 'lycosa resume DIR' goes on, also after a crash. Every option can stand in a file instead:
    --config FILE, in the form of a crawl.toml.
    """
    from lycosa.cli.hunting import start

    start(given)


def _strategies(typed: str) -> list[str]:
    """What the shell offers after --strategy."""
    from lycosa.estimators import STRATEGIES

    return [name for name in STRATEGIES if name.startswith(typed)]


def _judges(typed: str) -> list[str]:
    """What it offers after --judge."""
    from lycosa.topics import TOPICS

    return [name for name in TOPICS if name.startswith(typed)]


def _spaces(typed: str) -> list[str]:
    """What it offers after --space."""
    from lycosa.spaces import SPACES

    return [name for name in SPACES if name.startswith(typed)]


def _forms(typed: str) -> list[str]:
    """What it offers after --format."""
    from lycosa.collection.export import FORMATS

    return [name for name in FORMATS if name.startswith(typed)]


def _crawl_signature() -> inspect.Signature:
    """The command's parameters: most of them are options."""
    out = Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to keep the crawl. Default: crawls/ and a name made from the topic.",
        ),
    ]
    config = Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Options from a TOML file; the command line wins."),
    ]
    shells = {"strategy": _strategies, "judge": _judges, "space": _spaces}
    parameters = from_options(lambda group: group not in OF_REFRESH, shells)
    for name, annotation, value in (
        ("out", out, None),
        ("config", config, None),
        ("quiet", Quiet, False),
        ("json", Json, False),
    ):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation))
    return inspect.Signature(parameters)


_crawl.__signature__ = _crawl_signature()  # type: ignore[attr-defined]  # functions take one
app.command("crawl")(_crawl)


@app.command()
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
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a crawl where it stopped, however it stopped."""
    from lycosa.cli.hunting import go_on

    changes = {"budget": budget, "max_requests": max_requests, "max_time": max_time, "trust": trust, "traps": traps}
    go_on(directory, changes, quiet=quiet, json=json)


def _refresh(directory: Dir, **given: Any) -> None:
    """Look again at the pages that are due, and say what changed, vanished, moved, or is new.

    A page that did not change costs next to nothing: its host is asked for it only if it did. Which pages are due says
    the schedule; --all looks at every page. Settings are kept in the directory. 'lycosa watch' does this all the time.
    """
    from lycosa.cli.refreshing import refresh

    refresh(directory, given)


def _watch(directory: Dir, **given: Any) -> None:
    """Keep a collection fresh: look again and again, within a budget of requests an hour, until Ctrl-C.

    Started again, also after a crash, it goes on where it was. People are told by feeds (changes.atom and changes.json
    in the directory), by mail, or by webhooks.
    """
    from lycosa.cli.refreshing import watch

    watch(directory, given)


for command, once in ((_refresh, True), (_watch, False)):
    command.__signature__ = refresh_signature(once)  # type: ignore[attr-defined]  # functions take one
    app.command(command.__name__[1:])(command)


@app.command()
def changes(
    directory: Dir,
    since: Annotated[
        str,
        typer.Option(
            metavar="WHEN", help="A date, a time, '2d' for the last two days, or 'last' for since you last asked so."
        ),
    ] = "",
    what: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="Only what changed, vanished, moved, returned, or is new."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only changes of this kind: topic, text, structure, link, cosmetic."),
    ] = None,
    at_least: Annotated[
        float, typer.Option(metavar="SHARE", help="Only changes of this magnitude, from 0 to 1, or more.")
    ] = 0.0,
    host: Annotated[str, typer.Option(metavar="HOST", help="Only pages of this host.")] = "",
    match: Annotated[str, typer.Option(metavar="PATTERN", help="Only addresses that match this.")] = "",
    cosmetic: Annotated[bool, typer.Option("--cosmetic", help="Also what changed in nothing that matters.")] = False,
    relevant: Annotated[bool, typer.Option("--relevant", help="Only pages on the topic.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each change was seen.")] = False,
    atom: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them as an Atom feed.")] = None,
    json_feed: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them as a JSON Feed.")] = None,
    json: Json = False,
) -> None:
    """List what has become of the pages: changed, vanished, moved, returned, new; and explain it."""
    from lycosa.cli.changes import run

    run(
        directory,
        since=since,
        what=what,
        kind=kind,
        at_least=at_least,
        host=host,
        match=match,
        cosmetic=cosmetic,
        relevant=relevant,
        json=json,
        atom_file=atom,
        json_feed_file=json_feed,
        explain=explain,
    )


@app.command()
def diff(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    from_: Annotated[
        str,
        typer.Option("--from", metavar="VERSION", help="A number (1 is the first, -1 the last), a date or a time."),
    ] = "",
    to: Annotated[str, typer.Option(metavar="VERSION", help="The same for the later one. Default: the last.")] = "",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as an HTML page.")] = None,
    links: Annotated[bool, typer.Option(help="Also links that came and went.")] = True,
    whole: Annotated[bool, typer.Option("--all", help="Also what stayed the same.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the versions instead.")] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show two versions of a page side by side: words added, words removed. Default: the last two."""
    from lycosa.cli.differing import show_diff

    show_diff(
        directory,
        url,
        from_=from_,
        to=to,
        html=html,
        links=links,
        whole=whole,
        listing=listing,
        json=json,
        whole_text=whole_text,
    )


@app.command()
def show(directory: Dir, threshold: Line = None, json: Json = False) -> None:
    """Summarise a crawl: harvest, its curve, the best pages, what went wrong. Works while it runs."""
    from lycosa.cli.showing import show as run

    run(directory, json=json, threshold=threshold)


@app.command()
def mend(directory: Dir) -> None:
    """Make a damaged log readable again, with all of it that can be saved; the damaged one is kept beside it."""
    from lycosa.cli.mending import run

    run(directory)


@app.command()
def report(
    directory: Dir,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: DIR/report.html.")] = None,
    threshold: Line = None,
) -> None:
    """Write one HTML page that tells the crawl: harvest, finds, paths, hosts, errors, what was held back and why."""
    from lycosa.cli.reporting import write

    write(directory, out, threshold)


@app.command()
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
    from lycosa.cli.searching import run

    run(
        directory,
        words,
        limit=limit,
        hosts=host or [],
        languages=language or [],
        since=since,
        until=until,
        score=threshold,
        copies=copies,
        json=json,
        changed=changed,
    )


@app.command()
def page(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, as the crawl knows it.")],
    links: Annotated[bool, typer.Option(help="Its links, too.")] = True,
    raw: Annotated[bool, typer.Option("--raw", help="Only the body, unpacked, to the output.")] = False,
    version: Annotated[
        int,
        typer.Option(
            metavar="N", show_default=False, help="Which version: 1 is the first, -1 the last. Default: the last."
        ),
    ] = 0,
    at: Annotated[
        str, typer.Option(metavar="WHEN", help="The version that stood then: a day, a day and a time, or 2d ago.")
    ] = "",
    xml: Annotated[bool, typer.Option("--xml", help="Only its document tree, as XML, to the output.")] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show one page in any version: its text and links, why it was fetched, and every look at it."""
    from lycosa.cli.paging import show_page

    show_page(directory, url, links=links, raw=raw, json=json, version=version, at=at, xml=xml, whole_text=whole_text)


@app.command()
def why(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="A link that the crawl knows. Default: the next ten.")] = "",
    json: Json = False,
) -> None:
    """Say why a link waits where it does, or was fetched; without URL, what comes next. Works while it runs."""
    from lycosa.cli.why import run

    run(directory, url, json=json)


@app.command()
def export(
    directory: Dir,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="jsonl, csv, parquet, graphml, warc, wacz, text, markdown or records. Default: by FILE's name.",
            autocompletion=_forms,
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to. Default: the output.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All pages, not only the relevant ones.")] = False,
    copies: Annotated[bool, typer.Option("--copies", help="Also pages that repeat another's content.")] = False,
    versions: Annotated[
        str,
        typer.Option(metavar="WHICH", help="Of pages that changed: all or current. Default: all in warc and wacz."),
    ] = "",
    whole_text: WholeText = False,
    threshold: Line = None,
    quiet: Quiet = False,
) -> None:
    """Write the pages out for other tools: tables, a graph, a web archive, a corpus of plain text."""
    from lycosa.cli.exporting import run

    run(
        directory,
        form,
        out,
        everything=everything,
        copies=copies,
        quiet=quiet,
        versions=versions,
        whole_text=whole_text,
        threshold=threshold,
    )


@app.command()
def replay(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="WARC files, or directories of them (a crawl's, too).")
    ],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8080,
    at: Annotated[
        str, typer.Option(metavar="DATE", help="Show the web as of this day, as in 2026-03-01. Default: the newest.")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Serve recorded pages again, as an HTTP proxy: a browser or any crawler walks the web as it was then."""
    from lycosa.cli.replaying import run

    run(files, port, quiet=quiet, at=at)


@app.command()
def seeds(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="A page, a file (URLs, bookmarks, OPML, sitemap, feed) or the URL of a sitemap, feed or list.",
        ),
    ],
    allow_network: AllowNetwork = None,
    delay: Delay = 1.0,
    proxy: ProxyUrl = "",
    proxy_ca: ProxyCa = "",
    limit: Annotated[int, typer.Option("--limit", "-n", help="Addresses to list at most; 0: all.")] = 50,
    json: Json = False,
) -> None:
    """Show what a crawl would start from: every address that the sources name, with its title and where it stands."""
    from lycosa.cli.seeding import run
    from lycosa.core.options import Options
    from lycosa.web.sources import MOST_BYTES

    options = Options(allow_network=allow_network or [], delay=delay, proxy=proxy, proxy_ca=proxy_ca, traps=False)
    options.max_body = MOST_BYTES
    run(sources, options, limit=limit, json=json)


app.add_typer(training, name="train")
app.add_typer(lab, name="lab")


@app.command()
def rules(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What 'lycosa train rules' has written.")],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS", help="Show what leads to this class or branch; repeat it for more."),
    ] = None,
    depth: Annotated[int, typer.Option(help="Links that a path has at most.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Lines at most; 0: all.")] = 40,
    json: Json = False,
) -> None:
    """List rules between classes; with --target, how likely each class leads there."""
    from lycosa.cli.ruling import show

    show(file, target or [], depth, limit, json=json)


@app.command()
def judge(
    directory: Dir,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]", help="Another topic. Default: the crawl's own.")
    ] = None,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="PAGE", help="A page like those you want, of the crawl or in a file; repeat it for more."),
    ] = None,
    threshold: Line = None,
    by: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="How to judge (see 'lycosa topics').", autocompletion=_judges)
    ] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Let it stay so; else you are only told.")] = False,
    json: Json = False,
) -> None:
    """Judge the pages of a crawl anew, by other words, examples or another threshold; nothing is fetched.

    You are told which pages come in and which go out. With --keep all commands go by it, and so does the crawl when it
    is resumed. Without WORDS and options the judge learns all that there is to learn.
    """
    from lycosa.cli.judging import run

    run(directory, words or [], example or [], threshold=threshold, by=by, keep=keep, json=json)


@app.command()
def label(
    directory: Dir,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Pages that the crawl has fetched. Default: ask.")
    ] = None,
    relevant: Annotated[bool | None, typer.Option("--yes/--no", help="Whether they are what you want.")] = None,
    json: Json = False,
) -> None:
    """Say of pages whether they are what you want; without URL, of the ten where that would help most.

    The judge learns from it at once, and when the crawl goes on. Of several labels the last counts. 'lycosa train DIR'
    makes a model of them.
    """
    from lycosa.cli.judging import ask
    from lycosa.cli.judging import label as run
    from lycosa.core.errors import InputError

    if not urls:
        ask(directory, json=json)
        return
    if relevant is None:
        raise InputError("say whether they are what you want: --yes or --no")
    run(directory, urls, relevant=relevant)


@app.command()
def wordnet(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Look it up; a second one is compared with it.")
    ] = None,
    ontology: Annotated[
        str, typer.Option(metavar="PLACE", help="A directory of WordNet's files, or a thesaurus (SKOS, TSV) instead.")
    ] = "",
    fetch: Annotated[bool, typer.Option("--fetch", help="Get WordNet: Debian's package, through apt-get.")] = False,
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="Get it from this package, archive, directory or URL.")
    ] = "",
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to put it. Default: your data directory.")
    ] = None,
    allow_network: AllowNetwork = None,
    json: Json = False,
) -> None:
    """Say where WordNet is, or get it; look up a word, or compare two by every measure."""
    from lycosa.cli.wordnet import run

    run(words or [], ontology, fetch=fetch, source=source, to=to, allow=allow_network or [], json=json)


@app.command()
def doctor(json: Json = False) -> None:
    """Say what is installed, what is missing, and what that costs."""
    from lycosa.cli.doctor import run

    run(json=json)


@app.command()
def strategies(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Tell all about this one.", autocompletion=_strategies)
    ] = "",
    json: Json = False,
) -> None:
    """List the strategies that --strategy accepts, or tell what one does and what can be set."""
    from lycosa.cli.topics import strategies as run

    run(name, json=json)


@app.command()
def topics(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Tell all about this one.", autocompletion=_judges)] = "",
    json: Json = False,
) -> None:
    """List the ways to judge pages that --judge accepts, or tell what one does and what can be set."""
    from lycosa.cli.topics import topics as run

    run(name, json=json)


@app.command()
def spaces(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Tell all about this one.", autocompletion=_spaces)] = "",
    json: Json = False,
) -> None:
    """List the spaces that --space accepts, or tell what one is and what can be set."""
    from lycosa.cli.topics import spaces as run

    run(name, json=json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to keep the demo's crawls.")] = Path("demo"),
    budget: Annotated[int, typer.Option(help="Pages for each crawl.")] = 300,
    random_seed: Annotated[int, typer.Option(help="Which web to grow: another number, another web.")] = 7,
) -> None:
    """Grow a small web on this machine, hunt a topic in it over HTTP, and compare with breadth-first."""
    from lycosa.cli.demo import run

    run(out, budget, random_seed)


@app.command()
def web(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8123,
    pages: Annotated[int, typer.Option(help="How large the web is.")] = 3000,
    hosts: Annotated[int, typer.Option(help="How many hosts it has.")] = 40,
    random_seed: Annotated[int, typer.Option(help="Which web to grow: another number, another web.")] = 7,
    traps: Annotated[
        bool | None,
        typer.Option(
            "--traps/--no-traps",
            help="With calendars, loops, dead hosts and other nuisances. [default: unless --changing]",
            show_default=False,
        ),
    ] = None,
    changing: Annotated[bool, typer.Option("--changing", help="A web that changes while it is served.")] = False,
    day: Annotated[float, typer.Option(metavar="SECONDS", help="How long a day of that web lasts.")] = 60.0,
) -> None:
    """Serve the embedded web on this machine, to crawl or to look at in a browser."""
    from lycosa.cli.demo import serve_web

    serve_web(port, pages, hosts, random_seed, not changing if traps is None else traps, day if changing else None)


@app.command()
def serve(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Where everything is kept: accounts, interests, crawls.")
    ] = Path("lycosa-data"),
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 8000,
    url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where people reach it, as in https://lycosa.example.org, if that is not host and port: "
            "links and cookies are made for it.",
        ),
    ] = "",
    database: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            envvar="LYCOSA_DATABASE",
            help="postgresql://user:pass@host/name instead of SQLite in DATA. Better set LYCOSA_DATABASE: "
            "others on this machine can read command lines.",
        ),
    ] = "",
    crawls: Annotated[int, typer.Option(min=1, help="Crawls that run at once; others wait their turn.")] = 8,
    crawls_per_person: Annotated[int, typer.Option(min=1, help="Crawls that one person has running at once.")] = 2,
    max_budget: Annotated[int, typer.Option(min=1, help="Pages that a person may ask for in one crawl.")] = 10_000,
    delay: Delay = 1.0,
    allow_network: AllowNetwork = None,
    contact: Annotated[
        str, typer.Option(help="A URL or mail address that hosts can turn to; it is sent with every request.")
    ] = "",
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="A reverse proxy whose X-Forwarded-For is believed; repeat it for more."),
    ] = None,
    admin_link: Annotated[
        bool,
        typer.Option(
            "--admin-link", help="Print a link that makes one more admin: when the only one forgot the password."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log only what goes wrong.")] = False,
) -> None:
    """Serve Lycosa to many people: accounts, interests, crawls, search, all in the browser.

    The first start prints a link that makes the admin's account; the admin invites the others. Ctrl-C stops it;
    crawls go on where they were at the next start, also after a crash. Log lines (JSON) go to standard error.
    """
    from lycosa.cli.serving import serve as run

    run(
        data=data,
        host=host,
        port=port,
        url=url,
        database=database,
        crawls=crawls,
        crawls_per_person=crawls_per_person,
        max_budget=max_budget,
        delay=delay,
        allow_network=tuple(allow_network or ()),
        contact=contact,
        trusted_proxies=tuple(trusted_proxy or ()),
        admin_link=admin_link,
        quiet=quiet,
    )


ServerDatabase = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        envvar="LYCOSA_DATABASE",
        help="The server's PostgreSQL database, if it is not SQLite in DATA.",
    ),
]


@app.command()
def backup(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The directory that 'lycosa serve' was given.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup to write: a tar file.")],
    database: ServerDatabase = "",
) -> None:
    """Copy all that a server keeps, database and crawls, into one file. Works while the server runs."""
    from lycosa.cli.serving import back_up

    back_up(data, file, database)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that 'lycosa backup' wrote.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Where to put it: a directory that is new or empty.")],
    database: ServerDatabase = "",
) -> None:
    """Make a server's data from a backup, in SQLite or PostgreSQL, whichever it came from.

    The whole file is checked before anything is written. Everyone has to sign in again.
    """
    from lycosa.cli.serving import put_back

    put_back(file, data, database)
