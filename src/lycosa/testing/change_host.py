"""How hosts of a changing web behave: what they say of changes in headers, sitemaps and feeds, and how true it is.

Each is dealt from a deck, so that a web of a dozen hosts has about all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

from .chance import stir

VALIDATORS = (
    "honest",  # ETag and Last-Modified change with the bytes, and only with them
    "none",  # neither
    "weak",  # a weak ETag, that real changes change and cosmetic ones do not
    "restless",  # an ETag that is another at each fetch
    "honest",
    "stuck",  # an ETag that never changes: 304 although the page has changed
    "now",  # Last-Modified is always now
    "hourly",  # an ETag that is another each hour, and with each change
    "honest",
    "frozen",  # Last-Modified never changes: 304 although the page has changed
    "future",  # Last-Modified changes with the bytes, but lies in the future
)
"""What hosts say in headers, in the order in which it is dealt."""

SOURCES: tuple[tuple[str, ...], ...] = (
    ("sitemap",),  # lastmod is the time of the last real change
    (),
    ("lying sitemap",),  # lastmod is now, for all pages
    ("feed",),  # the latest new and really changed pages
    (),
    ("sitemap", "feed"),
    (),
)


class Entry(NamedTuple):
    """A page as sitemaps and feeds name it: `modified` in seconds since the epoch."""

    url: str
    modified: float
    title: str = ""


def deal(seed: int, hosts: int, what: str, cards: int) -> list[int]:
    """Give each host a card: the hosts in an order of the seed's, the cards one after the other."""
    order = sorted(range(hosts), key=lambda host: stir(seed, what, host))
    dealt = [0] * hosts
    for place, host in enumerate(order):
        dealt[host] = place % cards
    return dealt


def sitemap(entries: Iterable[Entry]) -> bytes:
    """Write a sitemap.

    >>> b"<lastmod>2023-11-14T22:13:20Z</lastmod>" in sitemap([Entry("http://a.localhost/", 1.7e9)])
    True
    """
    lines = [f"<url><loc>{escape(e.url)}</loc><lastmod>{_date(e.modified)}</lastmod></url>" for e in entries]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = "\n".join(lines)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{body}\n</urlset>\n'.encode()


def feed(title: str, home: str, updated: float, entries: Iterable[Entry]) -> bytes:
    lines = [
        f'<entry><title>{escape(e.title)}</title><link href="{escape(e.url)}"/>'
        f"<id>{escape(e.url)}#{int(e.modified)}</id><updated>{_date(e.modified)}</updated></entry>"
        for e in entries
    ]
    body = "\n".join(lines)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f'<title>{escape(title)}</title><link href="{escape(home)}"/><id>{escape(home)}</id>'
        f"<author><name>{escape(title)}</name></author><updated>{_date(updated)}</updated>\n{body}\n</feed>\n"
    ).encode()


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
