"""Whether a crawl works here: five pages of the embedded web, over HTTP, kept and read back. Measured, not assumed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lycosa.cli.examining import Finding, State


def try_crawl() -> Iterator[Finding]:
    """Crawl five pages on this machine over HTTP, keep them, and read them back: measured, not assumed."""
    try:
        with tempfile.TemporaryDirectory(prefix="lycosa-doctor-") as directory:
            yield from _crawl(Path(directory) / "crawl")
    except OSError as error:
        yield Finding(
            "trial",
            "broken",
            str(error),
            "a crawl of five pages on this machine can't be kept",
            f"see that {tempfile.gettempdir()} can be written, or set TMPDIR to a directory that can",
        )
    except Exception as error:
        yield Finding(
            "trial",
            "broken",
            f"{type(error).__name__}: {error}"[:300],
            "a crawl of five pages on this machine does not work",
            "reinstall: pip install --force-reinstall lycosa",
        )


def _crawl(out: Path) -> Iterator[Finding]:
    from lycosa.collection.reading import Collection
    from lycosa.crawling import crawl
    from lycosa.testing import Web, serve

    wanted = 5
    web = Web(pages=60, hosts=3, traps=())
    with serve(web, record=False) as server:
        seeds = [server.url(host) for host in web.hosts][:3]
        began = time.perf_counter()
        visits = list(
            crawl("coral reef", seeds, out=out, budget=wanted, delay=0.0, allow_network=["127.0.0.0/8"], max_time=20.0)
        )
        seconds = time.perf_counter() - began
    pages = [visit for visit in visits if visit.is_page]
    if len(pages) != wanted:
        why = next((visit.complaint for visit in visits if visit.outcome != "ok"), "no reason was given")
        yield Finding(
            "trial crawl",
            "broken",
            f"{len(pages)} of {wanted} pages could be fetched: {why}",
            "nothing can be crawled",
            "let programs connect to 127.0.0.1: a firewall or a sandbox may forbid it",
        )
        return
    yield Finding("trial crawl", "ok", f"{wanted} pages over HTTP on this machine in {seconds:.2f} s")
    with Collection(out) as collection:
        kept = [visit for _, visit in collection.pages(copies=True)]
        read = [visit for visit in kept if collection.document(visit).marked]
    state: State = "ok" if len(read) == wanted else "broken"
    yield Finding(
        "trial archive",
        state,
        f"{len(read)} of {wanted} pages read back from log and WARC",
        "" if state == "ok" else "what is crawled can't be read again",
        "" if state == "ok" else f"check the disk that holds {tempfile.gettempdir()}",
    )
