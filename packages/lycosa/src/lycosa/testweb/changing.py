"""An embedded web that changes by known processes: ground truth for revisit scheduling.

Each page has a change process and a fate, each host its validators, sitemaps and feeds; all are drawn from the seed. A
response is a function of seed, URL and time, in any order of requests, also backwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from html import escape, unescape
from typing import NamedTuple

from lycosa.testweb.chance import stir
from lycosa.testweb.change_history import (
    COSMETICS,
    KINDS,
    NEVER,
    PROCESSES,
    Birth,
    ChangingPage,
    History,
    Life,
    Process,
    State,
)
from lycosa.testweb.change_page import CHARSETS, ChangedPageWriter, Cosmetics, PageParts
from lycosa.testweb.embedded_web import _NO_HEADERS, Web
from lycosa.testweb.prose import TOPICS
from lycosa.testweb.reply import ServedDocument, ServedResponse, finish

START = 1_700_000_000.0  # clock time; virtual time starts here as well

_FEED_ENTRIES, _FEED_DAYS = 20, 14
_NEW = re.compile(r"/[a-z0-9-]+/new-(\d{1,9})-(\d{1,9})\.html")
_ARCHIVE = re.compile(r"/archive/(\d{1,9})-([12])\.html")


class ScriptedChange(NamedTuple):
    """A true change; its kind is text, structure, link, topic or cosmetic."""

    time: float
    kind: str
    real: bool


class ScriptedFate(NamedTuple):
    """A page's fate (stays, moved, gone, soft-404, or returns after some days) and its time."""

    what: str
    time: float


class _Place(NamedTuple):
    """The page at a URL; `step` counts the moves that led there."""

    subject: ChangingPage
    step: int = 0


class ChangingWeb(Web):
    """A web whose clean pages change over time.

    `start` is the clock time at which the web begins; nothing changes before. `day` is the length of a day in clock
    seconds: with 60, a month takes half an hour. Fates (moved, gone, ...) happen to a share `fates` of the pages,
    within the first `days` days; edits never end. `processes` gives the shares of never, constant, daily and bursty.
    All times below are clock times, all rates per day of the web.
    """

    def __init__(
        self,
        web: Web,
        clock: Callable[[], float],
        *,
        seed: int = 0,
        days: float = 30.0,
        processes: Mapping[str, float] = PROCESSES,
        fates: float = 0.12,
        start: float = START,
        day: float = 86_400.0,
    ) -> None:
        unknown = set(processes) - set(PROCESSES)
        if unknown or sum(processes.values()) <= 0:
            raise ValueError(f"unknown processes: {dict(processes)}; choose from {', '.join(PROCESSES)}")
        if not (0 < day < NEVER and 0 < days < NEVER):
            raise ValueError("'day' and the ages of pages must be positive and finite")
        vars(self).update(vars(web))  # shares graph and address book instead of rebuilding them
        self.clock = clock
        self.start = start
        self.day = day
        self.key = stir(web.seed, "changing", seed)
        hosts = self._graph.host_count
        self._writer = ChangedPageWriter(self._book, self._composer)
        self._validators = [VALIDATORS[i] for i in deal(self.key, hosts, "validators", len(VALIDATORS))]
        self._sources = [SOURCES[i] for i in deal(self.key, hosts, "sources", len(SOURCES))]
        self._soft = [card == 1 for card in deal(self.key, hosts, "soft", 4)]
        times = (start, day)
        self.history = History(self._graph, self.key, processes, (fates, days), times, self._soft, self._beginning)
        self._sheet = lru_cache(maxsize=1_024)(self._make_sheet)
        self._page = lru_cache(maxsize=16_384)(self._book.find)

    def process(self, url: str) -> Process:
        """Return a page's change process, which excludes vanishing and moving."""
        return self.history.process(*self._known(url, self.clock()).key)

    def rate(self, url: str) -> float:
        """Return the true mean number of real changes per day, excluding vanishing and moving."""
        return self.process(url).real

    def changes(self, url: str, start: float, end: float) -> list[ScriptedChange]:
        """Return the changes visible at a URL after `start` and up to `end`, without counters."""
        place = self._find(*self._book.split(url), end)
        if place is None:
            return []
        life, step = self.history.life(place.subject.page), place.step
        since, until = self._stay(place.subject, life, step)
        return [
            ScriptedChange(self.history.when(edit.at), KINDS.get(edit.how, "cosmetic"), edit.real)
            for edit in self.history.edits(place.subject, end)
            if self.history.when(edit.at) > start and since < edit.at < until
        ]

    def version(self, url: str, t: float) -> int:
        """Count a page's real changes up to `t`: equal numbers mean equal content; -1 for unknown URLs."""
        place = self._find(*self._book.split(url), t)
        return -1 if place is None else sum(edit.real for edit in self.history.edits(place.subject, t))

    def status(self, url: str, t: float) -> str:
        """Return the status of a URL: there, moved, gone, soft-404, or unborn before its page is created."""
        place = self._find(*self._book.split(url), t)
        return "unborn" if place is None else self._status(place, t)

    def fresh(self, url: str, fetched_at: float, now: float) -> bool:
        """Return whether a copy is still fresh: no real change in between, and the page neither vanished nor moved."""
        same = self.version(url, fetched_at) == self.version(url, now)
        return same and self.status(url, fetched_at) == self.status(url, now)

    def fate(self, url: str) -> ScriptedFate:
        subject = self._known(url, self.clock())
        life = self.history.life(subject.page) if subject.part == 0 else Life()
        return ScriptedFate(life.what, self.history.when(life.at))

    def moves(self, url: str) -> list[tuple[float, str]]:
        page = self._known(url, self.clock()).page
        moves = self.history.life(page).moves
        return [(self.history.when(at), self._address(page, step)) for step, (at, _) in enumerate(moves, 1)]

    def returns(self, url: str) -> float | None:
        back = self.history.life(self._known(url, self.clock()).page).back
        return None if back == NEVER else self.history.when(back)

    def newcomers(self, start: float, end: float) -> list[tuple[float, str]]:
        """Return the time and URL of pages created after `start` and up to `end`, in order of time."""
        born = []
        for page in range(self._graph.pages):
            for birth in self.history.births(self._clean_subject(page), end):
                if self.history.when(birth.at) > start:
                    born.append((self.history.when(birth.at), self._new_url(page, birth)))
        return sorted(born)

    def validators(self, host: str) -> str:
        return self._validators[self._book._index[host]]

    def sources(self, host: str) -> tuple[str, ...]:
        return self._sources[self._book._index[host]]

    def soft(self, host: str) -> bool:
        return self._soft[self._book._index[host]]

    def topic(self, url: str, t: float | None = None) -> str | None:
        t = self.clock() if t is None else t
        place = self._find(*self._book.split(url), t)
        if place is None or self._status(place, t) == "unborn":
            return None
        subject = place.subject
        turned = any(edit.how == "topic" for edit in self.history.edits(subject, t))
        topic = self.history.state(subject, t).topic if turned else subject.topic
        return TOPICS[topic] if topic >= 0 else None

    def canonical(self, url: str) -> str | None:
        """Return the first URL of the page behind a URL; a page created later has only one."""
        place = self._find(*self._book.split(url), self.clock())
        if place is None:
            return super().canonical(url)
        subject = place.subject
        return self._address(subject.page, 0) if subject.part == 0 else url

    def counts(self, url: str) -> bool:
        """Return whether the response depends on the number of fetches of the URL."""
        name, path = self._book.split(url)
        host = self._book.host(name)
        if host is None:
            return super().counts(url)
        place = self._find(name, path, self.clock())
        if place is None:
            return False
        return self._validators[host] == "restless" or self.history.process(*place.subject.key).moving == "fetch"

    def response(self, url: str, *, headers: Mapping[str, str] = _NO_HEADERS, version: int = 0) -> ServedResponse:
        return self.response_at(url, self.clock(), headers=headers, version=version)

    def response_at(
        self, url: str, t: float, *, headers: Mapping[str, str] = _NO_HEADERS, version: int = 0
    ) -> ServedResponse:
        name, path = self._book.split(url)
        host = self._book.host(name)
        if host is None:
            return finish(self._document(name, path, version), headers)
        place = self._find(name, path, t)
        if place is None:
            return finish(self._listing(host, path, t) or self._other(host, name, path, version), headers)
        status = self._status(place, t)
        if status == "moved":
            return finish(self._redirect(place), headers)
        if status != "there":
            gone = 410 if status == "gone" and stir(self.key, "gone", place.subject.page) % 2 else 404
            return finish(self._missing(host, gone), headers)
        document = self._document_at(host, place, t, version)
        if any(name.lower() in ("if-none-match", "if-modified-since") for name in headers):
            reply = finish(document, headers)
            if reply.status == 304:  # skip writing the page
                return reply
        return finish(self._printed_at(host, place, t, version, document), headers)

    def _clean(self, page: int) -> ServedDocument:
        """Return the document of a page at the current time, for instance for a copy."""
        host = self._graph.section(page).host
        place, t = _Place(self._clean_subject(page)), self.clock()
        return self._printed_at(host, place, t, 0, self._document_at(host, place, t, 0))

    def _other(self, host: int, name: str, path: str, version: int) -> ServedDocument:
        document = self._document(name, path, version)
        return self._missing(host, 404) if document.status == 404 else document

    def _missing(self, host: int, status: int) -> ServedDocument:
        return ServedDocument(self._writer.missing(host), status=200 if self._soft[host] else status)

    def _redirect(self, place: _Place) -> ServedDocument:
        page, step = place.subject.page, place.step + 1
        status = 301 if stir(self.key, "redirect", page) % 3 else 302
        return ServedDocument(b"Moved", "text/plain", status, (("Location", self._address(page, step)),))

    def _listing(self, host: int, path: str, t: float) -> ServedDocument | None:
        base, sources = self._book.base(self._graph.names[host]), self._sources[host]
        if path == "/robots.txt":
            lines = ["User-agent: *", "Allow: /"]
            lines += [f"Sitemap: {base}/sitemap.xml"] if any("sitemap" in source for source in sources) else []
            lines += [f"Sitemap: {base}/feed.xml"] if "feed" in sources else []
            return ServedDocument(("\n".join(lines) + "\n").encode(), "text/plain; charset=utf-8", codec="")
        if path == "/sitemap.xml" and any("sitemap" in source for source in sources):
            entries = self._entries(host, t)
            if "lying sitemap" in sources:
                entries = (entry._replace(modified=t) for entry in entries)
            named = [entry for entry, _ in zip(entries, range(5_000), strict=False)]
            return ServedDocument(sitemap(named), "application/xml")
        if path == "/feed.xml" and "feed" in sources:
            recent = [entry for entry in self._entries(host, t) if entry.modified > t - _FEED_DAYS * self.day]
            recent = sorted((e for e in recent if e.modified >= self.start), key=lambda e: -e.modified)[:_FEED_ENTRIES]
            updated = recent[0].modified if recent else self.start
            return ServedDocument(feed(self._composer.site(host), f"{base}/", updated, recent), "application/atom+xml")
        return None

    def _entries(self, host: int, t: float) -> Iterator[Entry]:
        """Yield a host's pages with the times of their last real changes, without islands."""
        for section in self._graph.of_host[host]:
            if section.island:
                continue
            for page in range(section.start, section.start + section.length):
                subject = self._clean_subject(page)
                life = self.history.life(page)
                if self._status(_Place(subject), t) == "there":
                    yield Entry(self._book.url(page), self._modified(subject, t), self._book.title(page))
                for step, (_, there) in enumerate(life.moves, 1):
                    if there == host and self._status(_Place(subject, step), t) == "there":
                        yield Entry(self._address(page, step), self._modified(subject, t), self._book.title(page))
                for birth in self.history.births(subject, t):
                    born = ChangingPage(page, birth.number, birth.topic, birth.at)
                    title = self._writer.new_title(born)
                    yield Entry(self._new_url(page, birth), self._modified(born, t), title)

    def _modified(self, subject: ChangingPage, t: float) -> float:
        real = [edit.at for edit in self.history.edits(subject, t) if edit.real]
        return self.history.when(real[-1] if real else self.history.origin(subject))

    def _document_at(self, host: int, place: _Place, t: float, version: int) -> ServedDocument:
        """Return the document with the host's headers, without its body."""
        subject = place.subject
        plain = self._manners(subject.page)
        edits_so_far = self.history.edits(subject, t)
        every, real = len(edits_so_far), sum(edit.real for edit in edits_so_far)
        origin = self.history.origin(subject)
        touched = self.history.when(edits_so_far[-1].at if edits_so_far else origin)
        beat: tuple[int, ...] = ()
        moving = self.history.process(*subject.key).moving
        if moving:
            beat = (self.history.minute(t), version if moving == "fetch" else 0)
            touched = max(touched, t if moving == "fetch" else self.history.when(beat[0] / 1440))
        way = self._validators[host]
        tag_parts: dict[str, tuple[object, ...]] = {"honest": (every, *beat), "weak": (real,), "stuck": ()}
        tag_parts |= {"restless": (every, version, t), "hourly": (every, *beat, self.history.minute(t) // 60)}
        modified = {"honest": touched, "now": t, "frozen": self.history.when(origin)}
        modified["future"] = touched + 400 * self.day
        tag = f"{stir(self._salt, self.key, self.port, subject.key, *tag_parts[way]):x}" if way in tag_parts else ""
        return replace(plain, tag=tag, modified=int(modified.get(way, 0)), weak=way == "weak")

    def _printed_at(self, host: int, place: _Place, t: float, version: int, document: ServedDocument) -> ServedDocument:
        subject = place.subject
        state = self.history.state(subject, t)
        process = self.history.process(*subject.key)
        cosmetic = self._cosmetics(host, place, process, state, t, version)
        html = self._writer.html(subject, state, self._sheet(subject, self.port), cosmetic)
        charset = CHARSETS[state.cosmetic_counts[COSMETICS.index("charset")] % len(CHARSETS)]
        body = html.encode(charset, "xmlcharrefreplace")
        return replace(document, body=body, type=document.type.replace("utf-8", charset))

    def _cosmetics(self, host: int, place: _Place, process: Process, state: State, t: float, version: int) -> Cosmetics:
        subject, cosmetics = place.subject, process.cosmetic_edits
        cosmetic_counts = dict(zip(COSMETICS, state.cosmetic_counts, strict=True))
        code = stir(self.key, "dress", *subject.key)
        views = 100 + code % 9000 + 17 * cosmetic_counts["views"] if "views" in cosmetics or process.moving else 0
        minutes = 1 + 7 * cosmetic_counts["ago"] % 59 if "ago" in cosmetics else 0
        if process.moving == "fetch":
            views += version + 1
        elif process.moving and code // 9000 % 2:
            views += 3 * max(0, self.history.minute(t))
        elif process.moving:
            minutes = 1 + self.history.minute(t) % 59
        stamp = ""
        if "stamp" in cosmetics:
            # In days of the web: on short days two changes could fall into one second of clock time.
            at = self.history.origin(subject) if state.touched is None else state.touched
            stamp = datetime.fromtimestamp(self.start + 86_400 * at, UTC).strftime("%-d %B %Y, %H:%M:%S")
        shown = tuple(stir(code, "teaser", cosmetic_counts["teaser"], i) % len(self) for i in range(3))
        return Cosmetics(
            cosmetics=cosmetics,
            inside=stir(self.key, "inside", host) % 2 == 0,
            stamp=stamp,
            views=views,
            minutes=minutes,
            teasers=shown if "teaser" in cosmetics else (),
            address=escape(self._address(subject.page, place.step)),
            feed="/feed.xml" if "feed" in self._sources[host] else "",
        )

    def _make_sheet(self, subject: ChangingPage, port: int) -> PageParts:
        """Return the parts of a page; links contain the port, so it is part of the cache key."""
        if subject.part == 0:
            return self._writer.take_apart(subject.page, self._trap_links.asides(subject.page))
        parent = self._sheet(self._clean_subject(subject.page), port)
        return self._writer.newborn(subject, parent, 3 + stir(self.key, "length", *subject.key) % 4)

    def _beginning(self, subject: ChangingPage) -> tuple[int, str]:
        sheet = self._sheet(subject, self.port)
        return len(sheet.body), unescape(sheet.title)

    def _clean_subject(self, page: int) -> ChangingPage:
        return ChangingPage(page, 0, self._graph.topic(page))

    def _known(self, url: str, t: float) -> ChangingPage:
        place = self._find(*self._book.split(url), t)
        if place is None:
            raise KeyError(f"no page {url!r} in this web")
        return place.subject

    def _find(self, name: str, path: str, t: float) -> _Place | None:
        """Return the past, present or future page at a URL; pages created by edits only from their creation on."""
        host = self._book.host(name)
        if host is None:
            return None
        number = self._page(name, path)
        if number is not None:
            return _Place(self._clean_subject(number))
        match = _ARCHIVE.fullmatch(path)
        if match and (page := int(match[1])) < self._graph.pages:
            step, moves = int(match[2]), self.history.life(page).moves
            is_there = step <= len(moves) and moves[step - 1][1] == host
            return _Place(self._clean_subject(page), step) if is_there else None
        match = _NEW.fullmatch(path)
        if match and (page := int(match[1])) < self._graph.pages and self._graph.section(page).host == host:
            for birth in self.history.births(self._clean_subject(page), t):
                born = ChangingPage(page, birth.number, birth.topic, birth.at)
                if birth.number == int(match[2]) and self._writer.new_path(born) == path:
                    return _Place(born)
        return None

    def _stay(self, subject: ChangingPage, life: Life, step: int) -> tuple[float, float]:
        if subject.part != 0:
            return subject.born, NEVER
        leaves = life.moves[step][0] if step < len(life.moves) else NEVER
        return (life.moves[step - 1][0] if step else float("-inf")), leaves

    def _status(self, place: _Place, t: float) -> str:
        subject = place.subject
        if subject.part != 0:
            return "there" if t >= self.history.when(subject.born) else "unborn"
        life = self.history.life(subject.page)
        since, until = self._stay(subject, life, place.step)
        if t < self.history.when(since):
            return "unborn"
        if t >= self.history.when(until):
            return "moved"
        gone, back = self.history.when(life.at), self.history.when(life.back)
        if life.what in ("gone", "soft-404", "returns") and gone <= t < back:
            return "soft-404" if self._soft[self._graph.section(subject.page).host] else "gone"
        return "there"

    def _address(self, page: int, step: int) -> str:
        if step == 0:
            return self._book.url(page)
        _, host = self.history.life(page).moves[step - 1]
        return f"{self._book.base(self._graph.names[host])}/archive/{page}-{step}.html"

    def _new_url(self, page: int, birth: Birth) -> str:
        base = self._book.base(self._graph.names[self._graph.section(page).host])
        return base + self._writer.new_path(ChangingPage(page, birth.number, birth.topic))


# Behaviour of hosts: their validators, sitemaps and feeds, and how truthful these are. Each is dealt like cards, so
# that a web of a dozen hosts has nearly all of them.

# Kinds of validators, in dealing order.
VALIDATORS = (
    "honest",  # ETag and Last-Modified change with the bytes, and only with them
    "none",  # neither
    "weak",  # a weak ETag that changes with real edits only
    "restless",  # an ETag that differs at each fetch
    "honest",
    "stuck",  # an ETag that never changes: 304 for changed pages
    "now",  # Last-Modified is always now
    "hourly",  # an ETag that changes hourly and with each edit
    "honest",
    "frozen",  # Last-Modified never changes: 304 for changed pages
    "future",  # Last-Modified changes with the bytes but is in the future
)
SOURCES: tuple[tuple[str, ...], ...] = (
    ("sitemap",),  # lastmod is the time of the last real change
    (),
    ("lying sitemap",),  # lastmod is now, for all pages
    ("feed",),  # the latest new and really changed pages
    (),
    ("sitemap", "feed"),
    (),
)


class Entry(NamedTuple):
    url: str
    modified: float
    title: str = ""


def deal(seed: int, hosts: int, purpose: str, cards: int) -> list[int]:
    """Assign the numbers 0 to `cards` - 1 to the hosts in turn, in an order that depends on seed and purpose."""
    order = sorted(range(hosts), key=lambda host: stir(seed, purpose, host))
    dealt = [0] * hosts
    for place, host in enumerate(order):
        dealt[host] = place % cards
    return dealt


def sitemap(entries: Iterable[Entry]) -> bytes:
    lines = [f"<url><loc>{escape(e.url)}</loc><lastmod>{_date(e.modified)}</lastmod></url>" for e in entries]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = "\n".join(lines)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{body}\n</urlset>\n'.encode()


def feed(title: str, home: str, updated: float, entries: Iterable[Entry]) -> bytes:
    lines = [
        f'<entry><title>{escape(e.title)}</title><link href="{escape(e.url)}"/>'
        f"<id>{escape(e.url)}#{int(e.modified)}</id><updated>{_date(e.modified)}</updated></entry>"
        for e in entries
    ]
    body = "\n".join(lines)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f'<title>{escape(title)}</title><link href="{escape(home)}"/><id>{escape(home)}</id>'
        f"<author><name>{escape(title)}</name></author><updated>{_date(updated)}</updated>\n{body}\n</feed>\n"
    ).encode()


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
