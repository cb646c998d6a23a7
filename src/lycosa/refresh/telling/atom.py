"""Changes as an Atom feed.

RFC 4287. Ids are URNs, so that the feed may be moved; an entry is a change, not a page, so it is never updated. Text is
plain text: what pages say is escaped, and characters that XML has no place for are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Tree

from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.words import Excerpt, Where, label, name, nothing, plain, stamp, story
from lycosa.version import __version__

NAMESPACE = "http://www.w3.org/2005/Atom"


def atom(
    changes: Sequence[Told],
    *,
    crawl: str,
    title: str,
    at: float = 0.0,
    address: str = "",
    excerpt: Excerpt = nothing,
    where: Where = nothing,
) -> bytes:
    """The feed of some changes, the newest first; `address` is where it will be found, `at` its time if it is empty,
    `where` a change is shown, if not by the page itself.

    >>> feed = atom([], crawl="urn:uuid:00000000-0000-5000-8000-000000000000", title="coral <reefs>")
    >>> print(feed.decode().splitlines()[1][:71])
    <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:uuid:00000000-0000-50
    """
    feed = Tree.Element("feed", xmlns=NAMESPACE)
    _add(feed, "id", crawl)
    _add(feed, "title", f"Changes: {plain(title)}" if title else "Changes")
    _add(feed, "updated", stamp(max((told.at for told in changes), default=at)))
    _add(_add(feed, "author"), "name", "Lycosa")
    _add(feed, "generator", "Lycosa", version=__version__)
    if address:
        _add(feed, "link", rel="self", type="application/atom+xml", href=address)
    for told in changes:
        _entry(feed, told, excerpt(told), where(told))
    text: str = Tree.tostring(feed, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _entry(feed: Tree.Element, told: Told, excerpt: str, shown: str) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", told.id)
    _add(entry, "title", f"{name(told)} ({label(told.change)})")
    _add(entry, "updated", stamp(told.at))
    _add(entry, "published", stamp(told.at))
    on_the_web = told.url.startswith(("http://", "https://"))
    if shown:
        _add(entry, "link", rel="alternate", href=shown)
    if on_the_web:
        _add(entry, "link", rel="via" if shown else "alternate", href=plain(told.url, 10_000))
    if told.change.what == "moved" and told.change.target.startswith(("http://", "https://")):
        _add(entry, "link", rel="related", href=plain(told.change.target, 10_000))
    for term in dict.fromkeys((told.change.what, told.change.kind if told.change.what == "changed" else "")):
        if term:
            _add(entry, "category", term=term)
    # An entry without a link to a page has to have content.
    _add(entry, "summary" if on_the_web or shown else "content", story(told, excerpt), type="text")


def _add(parent: Tree.Element, tag: str, text: str = "", **attributes: str) -> Tree.Element:
    child = Tree.SubElement(parent, tag, attributes)
    if text:
        child.text = text
    return child
