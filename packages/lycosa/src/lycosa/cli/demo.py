"""`lycosa demo`: crawl a small web generated on this machine, or serve it."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Annotated
from xml.sax.saxutils import quoteattr

from lycosa.cli.commands import Group
from lycosa.cli.crawl_runner import run_crawl
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.crawling import Crawl
from lycosa.crawling.request import CrawlRequest
from lycosa.testweb import Web
from lycosa.testweb import serve as serve_web
from lycosa.testweb.changing import ChangingWeb

TOPIC = "marine biology/coral reefs"
SERVE = Group("With --serve")
NEXT = {
    "show {crawl}": "the harvest curve and the best pages",
    "report {crawl}": "the whole crawl as an HTML report",
    "why {crawl}": "which links would be fetched next, and why",
    "search {crawl} bleaching": "search the text of the pages",
    "demo --serve": "serve the same web for your browser, with the command that crawls it",
    "crawl 'your topic' --seed https://a.page.you.know/ --budget 200": "the real web: one request per second and host, "
    "so a few hundred pages take minutes",
}
MARK = ".lycosa-demo"  # file in directories created by the demo, which may be replaced


def demo(
    *,
    out: Annotated[Path, "DIR", "Directory for the demo's crawls."] = Path("demo"),
    budget: Annotated[int, "Pages for each crawl."] = 300,
    random_seed: Annotated[int, "Random seed of the web: each number gives a different web."] = 7,
    serve: Annotated[bool, SERVE, "Serve the web, for crawling or browsing, until Ctrl-C."] = False,
    port: Annotated[int, SERVE, "Port on 127.0.0.1; 0 takes a free one."] = 8123,
    pages: Annotated[int, SERVE, "Number of pages."] = 3000,
    hosts: Annotated[int, SERVE, "Number of hosts."] = 40,
    changing: Annotated[bool, SERVE, "Let the web change while it is served; it has no traps then."] = False,
    day: Annotated[float, SERVE, "SECONDS", "Seconds that a day of the changing web takes."] = 60,
    directory: Annotated[
        Path | None, SERVE, "FILE", "Write a web directory (RDF) with ten pages of each topic to this file."
    ] = None,
) -> None:
    """Crawl a small web generated on this machine, or serve it."""
    if serve:
        _serve(port, pages, hosts, random_seed, changing=changing, day=day, directory=directory)
        return
    _prepare_directory(out)
    web = Web(seed=random_seed, documents=True)
    query = web.query(TOPIC)
    found: dict[str, tuple[int, int, int]] = {}
    with serve_web(web) as server:
        wanted = set(web.relevant(TOPIC))  # URLs contain the server's port
        print(f"A web of {len(web):,} pages on {len(web.hosts)} hosts is now served on port {server.port} here:")
        print("with dead links, loops, traps, slow and broken hosts. Its topics are known, so results can be counted.")
        print(f"Topic: '{query}', {len(wanted)} relevant pages. Budget: {budget} pages over HTTP, obeying robots.txt.")
        for strategy in ("scent", "best-first", "breadth-first"):
            print(f"\n--- {strategy} ---")
            options = Options(
                topic=query,
                seeds=web.seeds(TOPIC),
                budget=budget,
                strategy=strategy,
                delay=0.01,
                concurrency=4,
                allow_network=["127.0.0.0/8"],
            )
            crawl = Crawl(CrawlRequest(options, out / strategy))
            began = time.monotonic()
            run_crawl(crawl, farewell=False)
            engine = crawl.engine
            assert engine is not None
            fetched = [engine.table.nodes[row] for row in engine.table.closed]
            hits, soon = (len(wanted.intersection(part)) for part in (fetched, fetched[: budget // 3]))
            found[strategy] = hits, engine.tally.pages, soon
            print(f"{engine.tally.pages} pages in {time.monotonic() - began:.1f} s, {hits} of them relevant")
    print(f"\nRelevant pages fetched, of {len(wanted)} that exist (█ within the first {budget // 3} requests):")
    widest = max(1, *(hits for hits, _, _ in found.values()))
    for strategy, (hits, count, soon) in found.items():
        first, whole = round(30 * soon / widest), round(30 * hits / widest)
        bar, rate = "█" * first + "░" * (whole - first), hits / count if count else 0.0
        print(f"  {strategy:<14} {bar:<30} {soon:>3}, then {hits:>3}   harvest rate {rate:.1%}")
    command = "lycosa" if shutil.which("lycosa") else sys.argv[0]
    print("\nWhat to try next:")
    for words, does in NEXT.items():
        print(f"  {command} {words.format(crawl=out / 'scent')}\n      {does}")


def _prepare_directory(out: Path) -> None:
    """Remove the directory of an earlier demo; refuse to touch others."""
    if out.exists() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise InputError("directory-in-use", f"{out} contains other files: choose another directory with --out")
        shutil.rmtree(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).touch()
    except OSError as error:
        raise InputError("unwritable-file", f"cannot write in {out}: {error.strerror}; choose another --out") from error


def _serve(
    port: int, pages: int, hosts: int, random_seed: int, *, changing: bool, day: float, directory: Path | None
) -> None:
    try:
        web = Web(seed=random_seed, pages=pages, hosts=hosts, traps=() if changing else "all", documents=not changing)
        if changing:
            web = ChangingWeb(web, time.time, start=time.time(), day=day)
    except ValueError as error:
        raise InputError("bad-value", f"cannot build this web: {error}") from error
    try:
        with serve_web(web, port=port, record=False) as server:
            seed = web.seeds(TOPIC)[0]
            print(f"{len(web):,} pages on {len(web.hosts)} hosts, port {server.port} of this machine. Ctrl-C stops.")
            print(f"Open it:     {seed}")
            crawl = f"lycosa crawl '{web.query(TOPIC)}' --seed {seed} --allow-network 127.0.0.0/8 --delay 0.05"
            print(f"Crawl it:    {crawl}", flush=True)
            if directory:
                _write_directory(web, directory)
            if changing:
                print(f"Revisit it:  one of its days takes {day:g} s; use 'lycosa refresh'.", flush=True)
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        print()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "the port number is out of range"
        message = f"cannot serve on port {port}: {why}; choose another with --port"
        raise InputError("port-unavailable", message) from error


def _write_directory(web: Web, out: Path) -> None:
    """Write a web's topics with some pages of each, in the format of content.rdf.u8."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<RDF xmlns:r="http://www.w3.org/TR/RDF/">']
    for topic in web.topics:
        path = quoteattr(f"Top/{topic.replace(' ', '_')}")
        links = (f"  <link r:resource={quoteattr(url)}/>" for url in islice(web.relevant(topic), 10))
        lines += [f"<Topic r:id={path}>", *links, "</Topic>"]
    try:
        out.write_text("\n".join([*lines, "</RDF>", ""]), encoding="utf-8")
    except OSError as error:
        raise InputError("unwritable-file", f"cannot write {out}: {error.strerror}; change --directory") from error
    print(f"Browse it:   lycosa train taxonomy {shlex.quote(str(out))}", flush=True)
