"""What every request may need, in one place: passed by the app, never global."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import Request

from lycosa.people.credentials import Passwords
from lycosa.people.database import Database
from lycosa.server.news import News
from lycosa.server.settings import Settings
from lycosa.server.shelves import Shelves
from lycosa.server.streaming import Writers


@dataclass(slots=True)
class Site:
    """One server: its settings, its database, its clock."""

    settings: Settings
    database: Database
    clock: Callable[[], float] = time.time
    passwords: Passwords = field(default_factory=Passwords)
    news: News = field(default_factory=News)
    """How many changes there are, by crawl."""
    writers: Writers = field(default_factory=Writers)
    """Exports that are being sent."""
    shelves: Shelves = field(default_factory=Shelves)
    """The pages of the crawls that are looked at."""


def site_of(request: Request) -> Site:
    """The site that a request is for."""
    site: Site = request.app.state.site
    return site
