"""What every request may need, in one place: passed by the app, never global."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fastapi import Request

from lycosa.people.credentials import Passwords
from lycosa.people.database import Database
from lycosa.server.news import News
from lycosa.server.settings import Settings
from lycosa.server.streaming import Quota
from lycosa.server.views import CachedView, ViewCache

STREAMS = 10
"""Live streams of one person."""


@dataclass(slots=True)
class Site:
    """One server: its settings, its database, its clock."""

    settings: Settings
    database: Database
    clock: Callable[[], float] = time.time
    passwords: Passwords = field(default_factory=Passwords)
    news: News = field(default_factory=News)
    """How many changes there are, by crawl."""
    writers: Quota = field(default_factory=lambda: Quota(2, 8))
    """Exports that are being sent: each takes a thread, and most of a core."""
    streams: Quota = field(default_factory=lambda: Quota(STREAMS))
    """Live streams."""
    views: ViewCache = field(default_factory=ViewCache)
    """The pages of the crawls that are looked at."""

    def views_of(self, interest: str) -> Iterator[CachedView]:
        """The views of an interest's crawls that have begun, the newest first."""
        for row in self.database.rows("SELECT id FROM crawl WHERE interest = ? ORDER BY number DESC", interest):
            path = self.settings.crawl_directory(row["id"])
            if path.is_dir():
                yield self.views.get(path)


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site
