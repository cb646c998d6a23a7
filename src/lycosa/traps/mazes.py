"""Pages of a maze: a few words and links that lead on into more of the same."""

from __future__ import annotations

from collections import Counter

from lycosa.core.types import Visit
from lycosa.traps.addresses import LISTS, LOOP, Address

MAZE = 0.5
"""Share of a page's links that lead into one suspicious section: then it is a maze."""

WALLED = 0.8
"""The same for a list in many orders, of which an ordinary site has some: here nearly all links must lead into it."""

FEWEST_LINKS = 3
"""A page with fewer links proves nothing."""

GRID = 20
"""Links to dates that only the page of an empty calendar has."""

THIN = 250
"""Words, without stop words, with which a page may be worth reading whatever it links to."""


def is_maze(visit: Visit) -> bool:
    """Whether a page has little to say, and most of its links lead ever deeper, or to the same in another order.

    A page of a calendar or a list must look like one itself, and have hardly any other links, as an archive has.

    >>> from lycosa.core.types import Links
    >>> def page(node, *links):
    ...     return Visit(node, "page", "ok", 1, links=Links.to(*links))
    >>> here = "http://a.test/reefs/more/"
    >>> is_maze(page(here, here + "reefs/more/", here + "reefs/all/", "http://a.test/", "http://b.test/"))
    True
    >>> is_maze(page(here, *(f"http://a.test/events/2019/{month:02d}/" for month in range(1, 13))))
    False
    """
    if int(visit.terms.counts.sum(dtype=int)) > THIN:
        return False
    urls = dict.fromkeys(visit.links.urls)
    urls.pop(visit.node, None)
    if len(urls) < FEWEST_LINKS:
        return False
    own = Address(visit.node)
    addresses = [address for address in map(Address, urls) if address.host == own.host]
    if len(addresses) < MAZE * len(urls):
        return False
    kinds = Counter(_looks(address) for address in addresses)
    if kinds[LOOP] >= MAZE * len(urls):
        return True
    own_look = _looks(own)
    return bool(own_look) and kinds[own_look] >= max(WALLED * len(urls), 0 if own_look == LISTS else GRID)


def _looks(address: Address) -> str:
    """What an address looks like; empty for most."""
    smell = address.suspicion()
    return smell.kind if smell is not None else address.monstrous()
