"""Changes as a JSON Feed.

Version 1.1, https://jsonfeed.org/version/1.1. What the format has no name for is in `_lycosa`, as it asks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.words import Excerpt, Where, label, name, nothing, plain, reasons, stamp, story

VERSION = "https://jsonfeed.org/version/1.1"


def json_feed(
    changes: Sequence[Told],
    *,
    crawl: str,
    title: str,
    address: str = "",
    excerpt: Excerpt = nothing,
    where: Where = nothing,
) -> bytes:
    """The feed of some changes, the newest first; `address` is where it will be found, `where` a change is shown, if
    not by the page itself.

    >>> json.loads(json_feed([], crawl="urn:uuid:1", title="coral reefs"))["title"]
    'Changes: coral reefs'
    """
    feed: dict[str, Any] = {
        "version": VERSION,
        "title": f"Changes: {plain(title)}" if title else "Changes",
        "description": "What changed, vanished, moved and is new",
        **({"feed_url": address} if address else {}),
        "authors": [{"name": "Lycosa"}],
        "_lycosa": {"about": "What Lycosa knows of each change", "crawl": crawl},
        "items": [_item(told, excerpt(told), where(told)) for told in changes],
    }
    return (json.dumps(feed, indent=1) + "\n").encode()


def _item(told: Told, excerpt: str, shown: str) -> dict[str, Any]:
    tags = [told.change.what, told.change.kind] if told.change.what == "changed" else [told.change.what]
    on_the_web = told.url.startswith(("http://", "https://"))
    return {
        "id": told.id,
        **({"url": shown} if shown else {}),
        **({"external_url" if shown else "url": plain(told.url, 10_000)} if on_the_web else {}),
        "title": f"{name(told)} ({label(told.change)})",
        "content_text": story(told, excerpt),
        "date_published": stamp(told.at),
        "tags": tags,
        "_lycosa": {**facts(told), "excerpt": excerpt},
    }


def facts(told: Told) -> dict[str, Any]:
    """A change as data: for feeds, webhooks and `lycosa changes --json`."""
    change = told.change
    return {
        "id": told.id,
        "seq": told.seq,
        "what": change.what,
        "kind": change.kind if change.what == "changed" else None,
        "magnitude": round(change.magnitude, 4) if change.what == "changed" else None,
        "url": plain(told.url, 10_000),
        "host": told.host,
        "title": plain(told.title),
        "at": stamp(told.at),
        "follows": stamp(told.follows) if told.follows else None,
        "score": round(told.beta, 4),
        "score_before": round(told.was, 4),
        "moved_to": plain(change.target, 10_000) or None,
        "shown_on": plain(told.origin, 10_000) or None,
        "says": reasons(change),
    }
