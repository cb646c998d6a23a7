"""From which page a visitor came."""

from __future__ import annotations

from lycosa.web.urls import canonical, origin


class VisitorTrail:
    """Where visitors came from. Across sites, browsers tell the site only: then it was the last page seen there.

    >>> trail = Trail()
    >>> trail.step("https://a.example/links", ""), trail.step("https://b.example/", "https://a.example/")
    ('', 'https://a.example/links')
    >>> trail.step("https://a.example/more", "https://a.example/")
    'https://a.example/'
    """

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def step(self, url: str, referrer: str) -> str:
        """The page that led to this one, as far as anyone knows; and this is the last of its site now."""
        came_from, here = canonical(referrer) or "", canonical(url) or ""
        elsewhere = came_from and not (here and origin(here) == origin(came_from))  # within a site all of it is told
        if elsewhere and came_from == f"{origin(came_from)}/":
            came_from = self._last.get(origin(came_from), came_from)
        if here:
            self._last[origin(here)] = here
        return came_from
