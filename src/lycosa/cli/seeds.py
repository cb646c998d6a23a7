"""`lycosa seeds`: what a crawl would start from."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from lycosa.cli.gathering import Found, Read, fetching, gather
from lycosa.cli.parameters import AllowNetwork, Delay, Json, ProxyCa, ProxyUrl, network_options
from lycosa.cli.printing import listing, output, print_json, right
from lycosa.core.errors import InputError
from lycosa.web.sources import MOST_BYTES

NARROW = 80
"""Below this width an address has a line of its own."""


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
    read: list[Read] = []
    remarks: list[str] = []
    if limit < 0:
        raise InputError("--limit has to be 0 or more")
    options = network_options(
        allow_network=allow_network, delay=delay, proxy=proxy, proxy_ca=proxy_ca, max_body=MOST_BYTES
    )
    with fetching(options) as fetch:
        found = list(gather(sources, fetch, read, remarks))
    shown = found[:limit] if limit > 0 else found
    if json:
        print_json({"count": len(found), "addresses": shown, "sources": read, "remarks": remarks})
        return
    console = output()
    if not sys.stdout.isatty():
        _write(shown, len(found))
    elif console.width < NARROW:
        _stack(console, shown)
    else:
        console.print(_table(shown))
    sys.stdout.flush()
    for line in [*_notes(read), *remarks, summary(len(found), len(shown), read)]:
        print(line, file=sys.stderr)


def _write(shown: Sequence[Found], count: int) -> None:
    """Into a file or a pipe: whole addresses, in a form that `lycosa crawl --seeds` reads."""
    for each in shown:
        about = ", ".join(part for part in (each.title, each.source, each.modified) if part)
        print(f"{each.url} # {about}" if about else each.url)
    if count > len(shown):
        print(f"# {count - len(shown):,} more: --limit 0 lists all")


def _table(shown: Sequence[Found]) -> Table:
    short: dict[str, Any] = {"overflow": "ellipsis", "no_wrap": True}
    columns = [
        right("", no_wrap=True, style="dim"),
        Column("address", ratio=3, **short),
        Column("title", ratio=2, **short),
        Column("source", style="dim", ratio=1, **short),
    ]
    rows = ((str(number), each.url, each.title, _where(each)) for number, each in enumerate(shown, 1))
    return listing(columns, rows, expand=True)


def _stack(console: Console, shown: Sequence[Found]) -> None:
    """For a narrow terminal: an address, and below it what is known of it."""
    for number, each in enumerate(shown, 1):
        console.print(f"[dim]{number}[/] {escape(each.url)}", soft_wrap=True)
        about = "  ".join(part for part in (each.title, _where(each)) if part)
        console.print(f"[dim]{escape(about)}[/]", no_wrap=True, overflow="ellipsis")


def _where(each: Found) -> str:
    """The source's last part, and the date."""
    short = each.source.rstrip("/").rpartition("/")[2] or "given"
    return f"{short} {each.modified[:10]}".rstrip()


def _notes(read: Sequence[Read]) -> list[str]:
    return [f"{each.name} ({each.form}): {each.note}" for each in read if each.note]


def summary(count: int, shown: int, read: Sequence[Read]) -> str:
    """How many, from where, and what was left out.

    >>> summary(3, 2, [Read("a.xml", "sitemap", 3, left_out={"no web address": 2})])
    '3 addresses from 1 sitemap, 2 entries left out (2 no web address). 2 are shown: --limit 0 lists all'
    """
    forms = Counter(each.form for each in read)
    told = ", ".join(f"{number} {_plural(form, number)}" for form, number in forms.most_common())
    left: Counter[str] = Counter()
    for each in read:
        left.update(each.left_out)
    text = f"{count:,} {_plural('address', count)} from {told}"
    followed = sum(each.nested for each in read)
    if followed:
        text += f" ({followed} of them named by others)"
    if left:
        reasons = ", ".join(f"{number:,} {why}" for why, number in left.most_common())
        text += f", {left.total():,} {_plural('entry', left.total())} left out ({reasons})"
    return text + (f". {shown:,} are shown: --limit 0 lists all" if shown < count else "")


def _plural(name: str, count: int) -> str:
    """The name for so many.

    >>> [_plural(name, 2) for name in ("address", "entry", "sitemap index", "bookmarks", "opml", "feed")]
    ['addresses', 'entries', 'sitemap indexes', 'bookmarks files', 'OPML files', 'feeds']
    """
    if name in ("opml", "bookmarks"):
        name = f"{'OPML' if name == 'opml' else name} file"
    if count == 1:
        return name
    return name[:-1] + "ies" if name.endswith("y") else name + ("es" if name.endswith(("s", "x")) else "s")
