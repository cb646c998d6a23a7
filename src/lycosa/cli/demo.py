"""`lycosa demo`: hunt a topic in a web grown on this machine. `lycosa web`: serve that web."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Annotated
from xml.sax.saxutils import quoteattr

import typer

from lycosa.cli.hunting import hunt
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.crawling import Crawl
from lycosa.crawling.request import Request
from lycosa.testing import Web, serve
from lycosa.testing.changing import ChangingWeb

TOPIC = "marine biology/coral reefs"
MARK = ".lycosa-demo"  # a directory with this file was made by the demo and may be replaced


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the demo's crawls.")] = Path("demo"),
    budget: Annotated[int, typer.Option(help="Pages for each crawl.")] = 300,
    random_seed: Annotated[int, typer.Option(help="Random seed of the web: each number gives a different web.")] = 7,
) -> None:
    """Crawl a small web generated on this machine."""
    _make_room(out)
    web = Web(seed=random_seed, documents=True)
    query = web.query(TOPIC)
    found: dict[str, tuple[int, int, int]] = {}
    with serve(web) as server:
        wanted = set(web.relevant(TOPIC))
        print(f"A web of {len(web):,} pages on {len(web.hosts)} hosts is now served on port {server.port} here:")
        print("with dead links, loops, traps, slow and broken hosts. Its topics are known, so results can be counted.")
        print(
            f"Topic: '{query}', {len(wanted)} relevant pages. Budget: {budget} pages over HTTP, obeying robots.txt.\n"
        )
        for strategy in ("scent", "best-first", "breadth-first"):
            print(f"--- {strategy} ---")
            options = Options(
                topic=query,
                seeds=web.seeds(TOPIC),
                budget=budget,
                strategy=strategy,
                delay=0.01,
                concurrency=4,
                allow_network=["127.0.0.0/8"],
            )
            crawl = Crawl(Request(options, out / strategy))
            began = time.monotonic()
            hunt(crawl, farewell=False)
            engine = crawl.engine
            assert engine is not None
            fetched = [engine.table.nodes[row] for row in engine.table.closed]
            found[strategy] = (
                len(wanted.intersection(fetched)),
                engine.tally.pages,
                len(wanted.intersection(fetched[: budget // 3])),
            )
            took = time.monotonic() - began
            print(f"{engine.tally.pages} pages in {took:.1f} s, {found[strategy][0]} of them relevant\n")
    _compare(found, len(wanted), budget // 3)
    command = "lycosa" if shutil.which("lycosa") else sys.argv[0]
    print(
        f"\nWhat to try next:\n"
        f"  {command} show {out / 'scent'}\n"
        f"      the harvest curve and the best pages\n"
        f"  {command} report {out / 'scent'}\n"
        f"      the whole crawl as an HTML report\n"
        f"  {command} why {out / 'scent'}\n"
        f"      which links would be fetched next, and why\n"
        f"  {command} search {out / 'scent'} bleaching\n"
        f"      search the text of the pages\n"
        f"  {command} web\n"
        f"      serve the same web for your browser, with the command that crawls it\n"
        f"  {command} crawl 'your topic' --seed https://a.page.you.know/ --budget 200\n"
        f"      the real web: one request per second and host, so a few hundred pages take minutes"
    )


def _compare(found: dict[str, tuple[int, int, int]], wanted: int, early: int) -> None:
    print(f"Relevant pages fetched, of {wanted} that exist (darker: within the first {early} requests):")
    widest = max(1, *(hits for hits, _, _ in found.values()))
    for strategy, (hits, pages, soon) in found.items():
        rate = hits / pages if pages else 0.0
        first, whole = round(30 * soon / widest), round(30 * hits / widest)
        bar = "█" * first + "░" * (whole - first)
        print(f"  {strategy:<14} {bar:<30} {soon:>3}, then {hits:>3}   harvest rate {rate:.1%}")


def _make_room(out: Path) -> None:
    """A demo replaces the last one, and nothing else."""
    if out.exists() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise InputError(f"{out} contains other files: choose another directory with --out")
        shutil.rmtree(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).touch()
    except OSError as error:
        raise InputError(f"cannot write in {out}: {error.strerror}; choose another directory with --out") from error


def web(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8123,
    pages: Annotated[int, typer.Option(help="Number of pages.")] = 3000,
    hosts: Annotated[int, typer.Option(help="Number of hosts.")] = 40,
    random_seed: Annotated[int, typer.Option(help="Random seed of the web: each number gives a different web.")] = 7,
    traps: Annotated[
        bool | None,
        typer.Option(
            "--traps/--no-traps",
            help="Include calendars, loops, dead hosts and other traps. [default: unless --changing]",
            show_default=False,
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a web directory (RDF) with ten pages of each topic to this file."),
    ] = None,
    changing: Annotated[bool, typer.Option("--changing", help="Let the web change while it is served.")] = False,
    day: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds that a day of the changing web takes.")] = 60.0,
) -> None:
    """Serve the embedded web, for crawling or browsing."""
    try:
        with_traps = not changing if traps is None else traps
        grown = Web(
            seed=random_seed, pages=pages, hosts=hosts, traps="all" if with_traps else (), documents=not changing
        )
        if changing:
            grown = ChangingWeb(grown, time.time, start=time.time(), day=day)
    except ValueError as error:
        raise InputError(f"no such web: {error}") from error
    try:
        with serve(grown, port=port, record=False) as server:
            size, seed = f"{len(grown):,} pages on {len(grown.hosts)} hosts", grown.seeds(TOPIC)[0]
            print(f"{size}, port {server.port} of this machine. Ctrl-C ends it.")
            print(f"Look at it:  {seed}")
            crawl = f"lycosa crawl '{grown.query(TOPIC)}' --seed {seed} --allow-network 127.0.0.0/8 --delay 0.05"
            print(f"Crawl it:    {crawl}", flush=True)
            if directory:
                _write_directory(grown, directory)
            if changing:
                print(f"It changes:  a day of it takes {day:g} s. Revisit with lycosa refresh.", flush=True)
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        print()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "there is no such port"
        raise InputError(f"cannot serve on port {port}: {why}; choose another with --port") from error


def _write_directory(web: Web, out: Path) -> None:
    """The topics of a web with some pages of each, in the form of content.rdf.u8."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<RDF xmlns:r="http://www.w3.org/TR/RDF/">']
    for topic in web.topics:
        path = quoteattr(f"Top/{topic.replace(' ', '_')}")
        links = (f"  <link r:resource={quoteattr(url)}/>" for url in islice(web.relevant(topic), 10))
        lines += [f"<Topic r:id={path}>", *links, "</Topic>"]
    try:
        out.write_text("\n".join([*lines, "</RDF>", ""]), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}; choose another --directory") from error
    print(f"Browse it:   lycosa taxonomy {shlex.quote(str(out))}", flush=True)
