"""`lycosa seeds`: what a crawl would start from."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from rich.text import Text

from lycosa.cli.commands import with_more
from lycosa.cli.parameters import Json, Limit, network_options, network_parameters
from lycosa.cli.printing import give, left_out
from lycosa.core.engine import MOST_SOURCES
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.drawing.formats import many
from lycosa.spaces.web import WebSpace
from lycosa.web.inflate import inflate
from lycosa.web.sources import MOST_BYTES, Source, read_source
from lycosa.web.sources.files import read_seed_file
from lycosa.web.urls import check_seed


@with_more(network_parameters("allow_network", "delay", "proxy", "proxy_ca"))
def seeds(
    sources: Annotated[
        list[str],
        "SOURCE",
        "A page, a file (URLs, bookmarks, OPML, sitemap, feed), or the URL of a sitemap, feed or list.",
    ],
    *,
    limit: Limit = 50,
    json: Json = False,
    **network: Any,
) -> None:
    """List the seeds that a crawl would start from.

    The list is in a form that 'lycosa crawl --seeds' reads.
    """
    read: list[Read] = []
    remarks: list[str] = []
    if limit < 0:
        raise InputError("--limit must be 0 or more")
    with fetching(network_options(**network, max_body=MOST_BYTES)) as fetch:
        addresses = list(gather(sources, fetch, read, remarks))
    shown = addresses[: limit or None]
    facts = {"count": len(addresses), "addresses": shown, "sources": read, "remarks": remarks}
    give(facts, (_line(each) for each in shown), json=json)
    sys.stdout.flush()
    notes = [f"{each.name} ({each.form}): {each.note}" for each in read if each.note]
    for line in [] if json else [*notes, *remarks, summary(len(addresses), len(shown), read)]:
        print(line, file=sys.stderr)


def _line(each: Address) -> Text:
    about = ", ".join(filter(None, (each.title, each.source, each.modified)))
    return Text(each.url).append(f" # {about}" if about else "", "dim")


def summary(count: int, shown: int, read: Sequence[Read]) -> str:
    """Return how many, from where, and what was left out.

    >>> summary(3, 2, [Read("a.xml", "sitemap", 3, left_out={"no web address": 2})])
    '3 addresses from 1 sitemap, 2 entries left out (2 no web address). 2 are shown: --limit 0 lists all'
    """
    names = {"opml": "OPML file", "bookmarks": "bookmarks file"}
    forms = Counter(names.get(each.form, each.form) for each in read)
    left: Counter[str] = sum((Counter(each.left_out) for each in read), Counter())
    text = f"{many(count, 'address')} from {', '.join(many(number, form) for form, number in forms.most_common())}"
    if followed := sum(each.nested for each in read):
        text += f" ({followed} of them listed by other sources)"
    if left:
        text += f", {many(left.total(), 'entry')} left out ({left_out(left)})"
    return text + (f". {shown:,} are shown: --limit 0 lists all" if shown < count else "")


MOST_ADDRESSES = 50_000  # in all sources together
Fetch: TypeAlias = Callable[[str], Source]  # returns the source at a URL; a page names itself; raises InputError


@dataclass(slots=True)
class Address:
    """One address to start from."""

    url: str
    title: str = ""
    context: str = ""
    modified: str = ""
    source: str = ""  # file or URL that names it; empty for a page named by hand


@dataclass(slots=True)
class Read:
    """One source, as far as it was read."""

    name: str
    form: str
    addresses: int = 0
    nested: bool = False
    left_out: dict[str, int] = field(default_factory=dict)
    note: str = ""


def gather(sources: Sequence[str], fetch: Fetch, read: list[Read], remarks: list[str]) -> Iterator[Address]:
    """Every address that the sources name, each once; `read` and `remarks` get what there is to say about them.

    What a source names as a further source is read after all that stand before it, as long as there are not too many.
    A source that was named by hand has to be readable; one that another source names may fail.
    """
    waiting = deque((name, False) for name in sources)
    asked: set[str] = set()
    seen: set[str] = set()
    while waiting:
        name, nested = waiting.popleft()
        if name in asked:
            continue
        asked.add(name)
        if len(read) >= MOST_SOURCES:
            remarks.append(f"{len(waiting) + 1} further sources are not read: {MOST_SOURCES} are the most")
            return
        try:
            source, entry = _open(name, fetch, nested)
        except InputError as error:
            if not nested:
                raise
            remarks.append(f"{name}: {error}")
            continue
        read.append(entry)
        waiting += ((url, True) for url in source.nested)
        for each in _addresses(name, source):
            if each.url in seen:
                continue
            if len(seen) >= MOST_ADDRESSES:
                remarks.append(f"the rest of {name} is left out: {MOST_ADDRESSES:,} addresses are the most")
                return
            seen.add(each.url)
            entry.addresses += 1
            yield each


def _open(name: str, fetch: Fetch, nested: bool) -> tuple[Source, Read]:
    if not nested and os.path.exists(name):
        source = read_seed_file(Path(name))
    else:
        url = check_seed(name)
        if url is None:
            raise InputError(f"{name!r} is neither a file nor a web address: write it like https://example.org/page")
        try:
            source = fetch(url)
        except InputError as error:
            if nested or "//" in name:
                raise
            raise InputError(f"{error}. If you meant a file: there is no {name} here") from error
    return source, Read(name, source.form, 0, nested, dict(source.left_out), source.note)


def _addresses(name: str, source: Source) -> Iterator[Address]:
    for line in source.lines:
        if url := check_seed(line):
            yield Address(url, source=name)
    links, where = source.links, "" if source.form == "page" else name
    for url, title, context, modified in zip(links.urls, links.anchors, links.contexts, source.modified, strict=True):
        yield Address(url, title, context, modified, where)


def page_source(url: str, title: str = "") -> Source:
    """A page, which names nothing but itself."""
    source = Source("page")
    source.add(url, title)
    return source


@contextmanager
def fetching(options: Options) -> Iterator[Fetch]:
    """Fetch URLs as a crawl does: what robots.txt allows, from addresses that are public, with pauses."""
    from lycosa.spaces.making import wall_clock, web_space

    with asyncio.Runner() as runner:
        space: WebSpace | None = None

        def fetch(url: str) -> Source:
            nonlocal space
            if sys.stderr.isatty():
                print(f"reading {url}", file=sys.stderr)
            space = space or web_space(options, wall_clock())
            return runner.run(_fetch(space, url))

        try:
            yield fetch
        finally:
            if space is not None:
                runner.run(space.close())


async def _fetch(space: WebSpace, url: str) -> Source:
    from lycosa.core.errands import fetch

    node, page, _ = await fetch(space, url, "sitemap", url, clock=space.clock, patience=Options().patience)
    if page.kind != "sitemap" or page.exchange is None:
        return page_source(url, page.title)
    # A page has no place for dates and for what was left out: read it once more.
    body, _ = inflate(page.exchange.body, page.exchange.header("content-encoding"), MOST_BYTES + 1)
    return read_source(body, node, page.exchange.header("content-type")) or page_source(url, page.title)
