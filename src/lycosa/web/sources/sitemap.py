"""Sitemaps and their indexes, after sitemaps.org, with the titles that the news, video and image extensions add.

A sitemap speaks for its own site (registered domain) only: entries elsewhere are left out, as the protocol has it.
What it says of translations (hreflang), priorities and frequencies of change is not used.
"""

from __future__ import annotations

from lycosa.web.sources.markup import records
from lycosa.web.sources.source import Source

_NAMES = frozenset({"url", "sitemap"})
_TITLES = (":news/title", ":video/title", ":image/title", ":image/caption")
_ABOUT = (":news/keywords", ":video/description", ":image/caption")
_WANTED = frozenset({"loc", "lastmod", *_TITLES, *_ABOUT})


def read_sitemap(text: str, source: Source) -> None:
    """Entries of a `urlset` become links, those of a `sitemapindex` further sources."""
    for record in records(text, _NAMES, _WANTED):
        if source.full:
            break
        address = record.text("loc")
        if record.name == "sitemap":
            source.follow(address, at_home=True)
        else:
            source.add(address, record.text(*_TITLES), record.text(*_ABOUT), record.text("lastmod"), at_home=True)
