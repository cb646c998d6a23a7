"""Crawler traps of the embedded web, each of which can be enabled.

A trap adds links to clean pages (in an <aside>), and hosts, pages or behaviour of its own. It never changes the topic,
text or other links of clean pages, so the same crawl can be run with and without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.chance import roll, stir
from lycosa.testweb.page_html import TrapLink
from lycosa.testweb.prose import TOPICS, title, topic_slug

PAGES_PER_TOPIC = 12  # pages of a trap host on each topic


class Trap(StrEnum):
    """Kinds of traps; the values are the names that `choose` accepts."""

    CALENDAR = "calendar"  # endless next-month links
    LOOPS = "loops"  # relative links that lead ever deeper: /reefs/more/reefs/more/
    FACETS = "facets"  # one list under every choice of order, view and page
    SESSION = "session"  # session ids in URLs, a new one on every page
    SOFT404 = "soft404"  # a host that responds with 200 for missing pages
    DUPLICATES = "duplicates"  # copies, mirrors and print versions
    REDIRECTS = "redirects"  # chains, loops and redirects to other hosts
    SLOW = "slow"  # a slow host
    FAILING = "failing"  # hosts that respond with 503 at first, or always with 500, or close the connection
    ROBOTS = "robots"  # hosts with robots rules, and pages with nofollow
    CHARSETS = "charsets"  # pages in many encodings, some wrongly labelled
    ENCODINGS = "encodings"  # content codings other than gzip, some wrongly labelled
    CHANGING = "changing"  # pages that differ at each fetch
    DEAD = "dead"  # links to missing pages
    MEDIA = "media"  # plain text, PDF, images, pages without links


_NAMES = {
    Trap.SESSION: "shop-window",
    Trap.SOFT404: "lost-property",
    Trap.SLOW: "tortoise",
    Trap.FAILING: "flaky broken cut-short hang-up",
    Trap.ROBOTS: "keep-out slow-lane no-robots robots-error robots-moved no-follow",
    Trap.CHARSETS: "babel",
    Trap.ENCODINGS: "squeeze",
    Trap.CHANGING: "newsroom",
    Trap.MEDIA: "depository",
}
TRAP_HOSTS = {trap: tuple(f"{name}.localhost" for name in _NAMES.get(trap, "").split()) for trap in Trap}

# Paths of the endless traps on every clean host.
ENDLESS: dict[Trap, str] = {Trap.CALENDAR: "/whats-on/", Trap.LOOPS: "/halls/", Trap.FACETS: "/bazaar/"}

# Shares of clean pages that link into a trap.
_RATES = {Trap.REDIRECTS: 0.08, Trap.DUPLICATES: 0.08, Trap.SESSION: 0.06, Trap.ROBOTS: 0.06}
_RATES |= dict.fromkeys(ENDLESS, 0.15)
ROOMS = ("more", "related", "archive")  # path segments of the loop host
ORDERS = ("name", "date", "price", "rating", "size")  # sort orders of the facet host


def choose(traps: str | Iterable[str]) -> frozenset[Trap]:
    """Parse a choice of traps: "all", one name, or several names."""
    if traps == "all":
        return frozenset(Trap)
    return frozenset(Trap(name) for name in ((traps,) if isinstance(traps, str) else traps))


def with_session(url: str, key: int) -> str:
    return f"{url}{'&' if '?' in url else '?'}PHPSESSID={key:016x}"


class TrapLinks:
    """Chooses the clean pages that link into traps."""

    def __init__(self, book: AddressBook, traps: frozenset[Trap]) -> None:
        self.book = book
        self.graph = book.graph
        self.traps = [trap for trap in Trap if trap in traps]

    def asides(self, page: int) -> list[TrapLink]:
        rolls = {trap: roll(self.graph.seed, "aside", trap.value, page) for trap in self.traps}
        return [self.into(trap, page) for trap in self.traps if rolls[trap] < _RATES.get(trap, 0.04)]

    def into(self, trap: Trap, page: int) -> TrapLink:
        seed, code = self.graph.seed, stir(self.graph.seed, "into", trap.value, page)
        topic = self.graph.topic(page)
        topic = topic if topic >= 0 else code % len(TOPICS)
        text = title(topic, seed, "into", trap.value, page)
        # only to pages that this page links to anyway, so that no trap opens a way to an island
        targets = self.graph.links(page)
        target = targets[code // 64 % len(targets)] if targets else self.graph.front(0)
        host = self.graph.names[self.graph.section(target).host]
        match trap:
            case Trap.SESSION if code % 2:
                return TrapLink(with_session(self.book.url(target), code), text)
            case Trap.REDIRECTS:
                draw_kind = code % 12
                hops = 30 if draw_kind == 2 else (1, 1, 2, 3, 5)[draw_kind % 5]
                go = "round-0" if draw_kind == 0 else "self" if draw_kind == 1 else f"{hops}-{target}"
                return TrapLink(f"{self.book.base(host)}/go/{go}", text)
            case Trap.DUPLICATES:
                return TrapLink(self._duplicate(page, code), text)
            case Trap.DEAD:
                return TrapLink(f"{self.book.base(host)}/gone/{topic_slug(topic)}-{code % 4096:03x}.html", text)
        if trap in ENDLESS:
            own = self.book.base(self.graph.names[self.graph.section(page).host])
            there = f"{own}{ENDLESS[trap]}{topic_slug(topic)}/"
            way = {
                Trap.CALENDAR: f"{2015 + code % 10}/{code // 16 % 12 + 1:02d}/",
                Trap.LOOPS: f"{ROOMS[code % len(ROOMS)]}/",
                Trap.FACETS: f"?order={ORDERS[code % len(ORDERS)]}",
            }
            return TrapLink(there + way[trap], text)
        names = TRAP_HOSTS[trap]
        base = self.book.base(names[code // 8 % len(names)]) + f"/{topic_slug(topic)}/"
        number = code // 1024 % PAGES_PER_TOPIC
        if trap is Trap.MEDIA:
            return TrapLink(f"{base}{number}.{('txt', 'pdf', 'html', 'png')[number % 4]}", text)
        rel = "nofollow" if trap is Trap.ROBOTS and code % 5 == 0 else ""
        return TrapLink(f"{base}{number}.html", text, rel)

    def _duplicate(self, page: int, code: int) -> str:
        """Return another URL of a page: its print version, a copy, or its URL on a mirror."""
        host = self.graph.section(page).host
        name, path = self.graph.names[host], self.book.path(page)
        if host % 4 == 1 and code % 2:
            return self.book.base(f"mirror.{name}") + path
        return self.book.base(name) + ("/print" if code // 2 % 2 else "/copy") + path
