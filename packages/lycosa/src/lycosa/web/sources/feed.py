"""Feeds (RSS 0.9 to 2.0, RSS 1.0, Atom, JSON Feed), OPML and sitemaps.

Sitemap entries on other sites (registered domains) are dropped, as the protocol demands. Translations (hreflang),
priorities and change frequencies are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lycosa.web.sources.markup import MarkupElement, attributes, local, pieces, records
from lycosa.web.sources.source import Source, brief, join_folders
from lycosa.web.urls import is_http, resolve

_DATES = ("updated", "modified", "pubdate", "published", "issued", "date", ":date", ":modified")
_ABOUT = ("description", "summary", "content", ":encoded", "tagline", "subtitle")
_WANTED = frozenset({"title", "link", "guid", "id", "category", *_DATES, *_ABOUT})
_MAP_TITLES = (":news/title", ":video/title", ":image/title", ":image/caption")
_MAP_ABOUT = (":news/keywords", ":video/description", ":image/caption")
_MAP_WANTED = frozenset({"loc", "lastmod", *_MAP_TITLES, *_MAP_ABOUT})


def read_feed(text: str, source: Source) -> None:
    base = source.url
    for record in records(text, {"channel", "feed", "item", "entry"}, _WANTED):
        if source.is_full:
            break
        own = attributes(record.rest)
        more = own.get("xml:base", "")
        here = resolve(base or more, [more])[0] or base if more else base
        if record.name in ("channel", "feed"):
            source.title = source.title or brief(record.text("title"))
            # Relative links of a local file are relative to the site that the feed describes.
            base = here or _link(record, own)
            continue
        url = _link(record, own)
        source.add(url, record.text("title"), _about(record), record.text(*_DATES), base=here)


def _link(record: MarkupElement, data: Mapping[str, str]) -> str:
    for name, rest, text in record.fields:
        if name != "link":
            continue
        more = attributes(rest)
        if more.get("rel", "alternate").lower() == "alternate" and (url := more.get("href") or text):
            return url
    for name, rest, text in record.fields:
        if name in ("guid", "id") and is_http(text) and attributes(rest).get("ispermalink", "true").lower() == "true":
            return text
    return data.get("rdf:about", "")


def _about(record: MarkupElement) -> str:
    terms = [text or attributes(rest).get("term", "") for name, rest, text in record.fields if name == "category"]
    return " ".join([*terms[:5], record.text(*_ABOUT)])


def read_json_feed(data: Mapping[str, Any], source: Source) -> None:
    source.title = brief(_string(data, "title"))
    items = data.get("items")
    for item in items if isinstance(items, list) else []:
        if source.is_full:
            break
        if not isinstance(item, dict):
            source.add("")
            continue
        identity = _string(item, "id")
        url = _string(item, "url", "external_url") or (identity if is_http(identity) else "")
        tags = item.get("tags")
        named = [tag for tag in tags[:5] if isinstance(tag, str)] if isinstance(tags, list) else []
        about = " ".join([*named, _string(item, "summary", "content_text", "content_html")])
        source.add(url, _string(item, "title"), about, _string(item, "date_modified", "date_published"))


def _string(data: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := data.get(name), str) and value), "")


def read_opml(text: str, source: Source) -> None:
    """Add feeds as nested sources and sites as links; `outline` elements around them are folders."""
    open_folders: list[str] = []
    in_title = False
    for kind, name, rest in pieces(text):
        short = local(name)
        if source.is_full:
            break
        if short == "title":
            in_title = kind == "open"
        elif kind == "text" and in_title:
            source.title = brief(rest)
        elif short == "outline" and kind == "close":
            if open_folders:
                open_folders.pop()
        elif short == "outline":
            open_folders.append(_outline(attributes(rest), join_folders(open_folders), source))


def _outline(own: Mapping[str, str], around: str, source: Source) -> str:
    label = own.get("text") or own.get("title") or ""
    feed, page = own.get("xmlurl", ""), own.get("htmlurl", "")
    if own.get("type", "").lower() == "include":
        feed = feed or own.get("url", "")
    if feed:
        source.follow(feed)
    if page or (not feed and "url" in own):
        source.add(page or own["url"], label, f"{around} {own.get('description', '')}")
    return "" if feed or page else brief(label)


def read_sitemap(text: str, source: Source) -> None:
    """Add the entries of a `urlset` as links and those of a `sitemapindex` as nested sources (sitemaps.org)."""
    for record in records(text, {"url", "sitemap"}, _MAP_WANTED):
        if source.is_full:
            break
        url = record.text("loc")
        if record.name == "sitemap":
            source.follow(url, same_site=True)
        else:
            title, about = record.text(*_MAP_TITLES), record.text(*_MAP_ABOUT)
            source.add(url, title, about, record.text("lastmod"), same_site=True)
