"""The referrers of a person's visits."""

from __future__ import annotations

from lycosa.web.urls import canonical, origin


class VisitorTrail:
    """Tracker of referrers. Across sites browsers send only the origin, which is taken for the last page opened there.

    >>> trail = VisitorTrail()
    >>> trail.step("https://a.example/links", ""), trail.step("https://b.example/", "https://a.example/")
    ('', 'https://a.example/links')
    >>> trail.step("https://a.example/more", "https://a.example/")
    'https://a.example/'
    """

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def step(self, url: str, referrer: str) -> str:
        """Record a visit; return the page that led to it, or an empty string."""
        came_from, here = canonical(referrer) or "", canonical(url) or ""
        # within a site the referrer is complete
        elsewhere = came_from and not (here and origin(here) == origin(came_from))
        if elsewhere and came_from == f"{origin(came_from)}/":
            came_from = self._last.get(origin(came_from), came_from)
        if here:
            self._last[origin(here)] = here
        return came_from
