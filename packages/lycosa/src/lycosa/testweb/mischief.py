"""Responses of trap hosts.

Most of them serve the same kind of pages, `/<topic>/<number>.html`, a dozen per topic. URL, title and anchors promise
the topic, but the text stays on the wider subject, so these pages are off topic. They link to clean pages and differ in
how they are served.

Endless traps (calendar, loops, facets, soft 404s) have the same on-topic banner on all pages and no other text, so a
judge takes each of them for a relevant page, a reader does not.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.chance import dice, stir
from lycosa.testweb.page_html import UTF_8, TrapLink, sheet
from lycosa.testweb.prose import BY_SLUG, TOPICS, paragraphs, subject_of, title, topic_label, topic_slug
from lycosa.testweb.reply import ServedDocument, compress
from lycosa.testweb.traps import ENDLESS, ORDERS, PAGES_PER_TOPIC, ROOMS, TRAP_HOSTS, Trap, with_session

_PLAIN = re.compile(r"(/private|/behind|)/([a-z0-9-]+)/(\d{1,2})\.(html|txt|pdf|png)(?:\?PHPSESSID=[0-9a-f]*)?$")
_CALENDAR = re.compile(r"/([a-z0-9-]+)/(\d{4})/(\d\d)/(?:(\d\d)\.html)?$")
_ROOM = re.compile(rf"/([a-z0-9-]+)/(?:{'|'.join(ROOMS)})(?:/\1/(?:{'|'.join(ROOMS)}))*/$")
_FACET = re.compile(r"/([a-z0-9-]+)/\?order=([a-z]+)(?:&view=(list|grid|table))?(?:&page=(\d{1,4}))?$")
_GO = re.compile(r"/go/(?:(\d{1,2})-(\d{1,9})|round-([0-2])|(self))$")
_RULES = {
    "keep-out.localhost": "User-agent: *\nDisallow: /private/\n",
    "slow-lane.localhost": "User-agent: *\nCrawl-delay: 1\nDisallow: /private/\n",
    "no-follow.localhost": "User-agent: *\nAllow: /\n",
}
_FORBIDDEN = {
    "keep-out.localhost": ("/private/",),
    "slow-lane.localhost": ("/private/",),
    "robots-moved.localhost": ("/private/", "/behind/"),
    "no-follow.localhost": ("/behind/",),  # by nofollow links instead of a rule
}
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


@dataclass(frozen=True, slots=True)
class TrapPage:
    """A page of a trap host, parsed from its URL."""

    host: str
    area: str  # "", "/private" or "/behind"
    topic: int
    number: int
    kind: str  # file extension
    path: str


class Mischief:
    """Responses to requests for anything but clean pages."""

    def __init__(self, book: AddressBook, traps: frozenset[Trap], slowness: float) -> None:
        self.book = book
        self.graph = book.graph
        self.traps = traps
        self.slowness = slowness
        endless = {Trap.CALENDAR: self._calendar, Trap.LOOPS: self._loop, Trap.FACETS: self._facet}
        self._endless = {trap: serve for trap, serve in endless.items() if trap in traps}
        self._trap_of = {name: trap for trap in traps for name in TRAP_HOSTS[trap]}

    def document(self, name: str, path: str, version: int) -> ServedDocument | None:
        """Return the document for a trap URL, or None for other URLs."""
        if Trap.REDIRECTS in self.traps and path.startswith("/go/") and self.book.host(name) is not None:
            return self._redirect(name, path)
        for endless, serve_endless in self._endless.items():
            if path.startswith(ENDLESS[endless]) and self.book.host(name) is not None:
                return serve_endless(name, path.removeprefix(ENDLESS[endless].rstrip("/")))
        trap = self._trap_of.get(name)
        if trap is None:
            return None
        if path in ("/robots.txt", "/robots-file.txt"):
            return self._rules(name, path)
        place = self._place(name, path)
        if place is None:
            return self._missing(name, path) if trap is Trap.SOFT404 else None
        serve: dict[Trap, Callable[[TrapPage, int], ServedDocument]] = {
            Trap.SESSION: self._session,
            Trap.SOFT404: self._lossy,
            Trap.SLOW: self._slow,
            Trap.FAILING: self._failing,
            Trap.ROBOTS: self._robots,
            Trap.CHARSETS: self._charsets,
            Trap.ENCODINGS: self._encodings,
            Trap.CHANGING: self._changing,
            Trap.MEDIA: self._media,
        }
        return serve[trap](place, version)

    def counts(self, name: str, path: str) -> bool:
        return name in ("flaky.localhost", "newsroom.localhost") and self._place(name, path) is not None

    def forbidden(self, name: str, path: str) -> bool:
        if name == "robots-error.localhost":
            return path != "/robots.txt"
        return path.startswith(_FORBIDDEN.get(name, ()))

    def destination(self, name: str, path: str) -> int | None:
        match = _GO.match(path)
        page = int(match[2]) if match and match[2] and self.book.host(name) is not None else -1
        return page if 0 <= page < self.graph.pages else None

    def _place(self, name: str, path: str) -> TrapPage | None:
        if name not in self._trap_of:
            return None
        match = _PLAIN.match(path)
        if match is None:
            return None
        area, word, number, kind = match.groups()
        topic = BY_SLUG.get(word, -1)
        if topic < 0 or int(number) >= PAGES_PER_TOPIC or (kind != "html" and name != "depository.localhost"):
            return None
        if area and name not in TRAP_HOSTS[Trap.ROBOTS]:
            return None
        return TrapPage(name, area, topic, int(number), kind, path)

    def _url(self, place: TrapPage, number: int, area: str = "") -> str:
        return f"{area}/{topic_slug(place.topic)}/{number % PAGES_PER_TOPIC}.html"

    def _title(self, place: TrapPage) -> str:
        return title(place.topic, self.graph.seed, place.host, place.area, place.number)

    def _text(self, place: TrapPage, *more: object) -> list[str]:
        rng = dice(self.graph.seed, "trap", place.host, place.area, place.topic, place.number, *more)
        return paragraphs(rng, -1, 120 + int(rng.random() * 200), subject_of(place.topic))

    def _clean_links(self, key: str, topic: int) -> list[TrapLink]:
        rng = dice(self.graph.seed, "ways out", key)
        pages = dict.fromkeys(self.graph.mainland(rng, topic) for _ in range(3))
        return [TrapLink(self.book.url(page), self.book.title(page)) for page in pages]

    def _links(self, place: TrapPage) -> list[TrapLink]:
        numbers = (place.number + 1, place.number + 5)
        near = [TrapLink(self._url(place, number), f"Part {number}") for number in numbers]
        return near + self._clean_links(f"{place.host}{place.path}", place.topic)

    def _page(self, place: TrapPage) -> ServedDocument:
        return ServedDocument(sheet(self._title(place), self._text(place), self._links(place)).encode())

    def _calendar(self, name: str, path: str) -> ServedDocument | None:
        match = _CALENDAR.match(path)
        if match is None or match[1] not in BY_SLUG or not 1 <= int(match[3]) <= 12:
            return None
        word, year, month, day = match[1], int(match[2]), int(match[3]), match[4]
        topic = BY_SLUG[word]
        months = [divmod(year * 12 + month - 1 + step, 12) for step in (1, -1, 12)]
        links = [
            TrapLink(f"{ENDLESS[Trap.CALENDAR]}{word}/{y:04d}/{m + 1:02d}/", f"{topic_label(topic)} events, {label}")
            for (y, m), label in zip(months, ("next month", "previous month", "next year"), strict=True)
            if 1 <= y <= 9999
        ]
        if day is None:
            links += [TrapLink(f"{d:02d}.html", f"Day {d}") for d in range(1, 29)]
        text = ["No events have been entered for this date yet.", *self._banner(name, topic)]
        links += self._clean_links(f"{name}{path}", topic)[:1]
        heading = f"{topic_label(topic)} events {year}-{month:02d}" + (f"-{day}" if day else "")
        return ServedDocument(sheet(heading, text, links).encode())

    def _loop(self, name: str, path: str) -> ServedDocument | None:
        """Return the same page at every depth: its links are relative, and all depths exist."""
        match = _ROOM.match(path)
        topic = BY_SLUG.get(match[1], -1) if match else -1
        if topic < 0 or len(path) > 1_500:
            return None
        deeper = [f"{topic_slug(topic)}/{room}/" for room in ROOMS]
        links = [TrapLink(href, title(topic, self.graph.seed, path, href)) for href in deeper]
        links += self._clean_links(f"{name}{path}", topic)[:1]
        return ServedDocument(sheet(topic_label(topic), self._banner(name, topic), links).encode())

    def _facet(self, name: str, path: str) -> ServedDocument | None:
        match = _FACET.match(path)
        topic = BY_SLUG.get(match[1], -1) if match else -1
        if match is None or topic < 0 or match[2] not in ORDERS:
            return None
        page = int(match[4] or 1)
        choices = [f"order={order}&view={match[3] or 'list'}&page={page}" for order in ORDERS if order != match[2]]
        choices += [f"order={match[2]}&view={view}&page={page}" for view in ("list", "grid", "table")]
        choices.append(f"order={match[2]}&view={match[3] or 'list'}&page={page + 1}")
        links = [TrapLink(f"?{choice}", f"{topic_label(topic)}: {choice}") for choice in choices]
        links += self._clean_links(f"{name}{path}", topic)[:1]
        return ServedDocument(sheet(f"All on {topic_label(topic)}", self._banner(name, topic), links).encode())

    def _banner(self, name: str, topic: int) -> list[str]:
        return paragraphs(dice(self.graph.seed, "banner", name, topic), topic, 60, dense=True)

    def _session(self, place: TrapPage, version: int) -> ServedDocument:
        key = stir(self.graph.seed, "session", place.path)
        links = [replace(link, href=with_session(link.href, key)) for link in self._links(place)]
        html = sheet(self._title(place), self._text(place), links)
        return ServedDocument(html.encode(), headers=(("Set-Cookie", f"PHPSESSID={key:016x}; path=/"),))

    def _invented(self, key: str, topic: int, count: int) -> list[TrapLink]:
        codes = [stir(self.graph.seed, "invented", key, i) for i in range(count)]
        return [TrapLink(f"/{topic_slug(topic)}/lost-{code % 16**6:06x}.html", title(topic, code)) for code in codes]

    def _lossy(self, place: TrapPage, version: int) -> ServedDocument:
        links = self._links(place) + self._invented(place.path, place.topic, 3)
        return ServedDocument(sheet(self._title(place), self._text(place), links).encode())

    def _missing(self, name: str, path: str) -> ServedDocument:
        word = path.strip("/").split("/")[0]
        topic = BY_SLUG.get(word, stir(path) % len(TOPICS))
        text = ["Sorry, the page you are looking for could not be found.", *self._banner(name, topic)]
        home = [TrapLink(f"/{topic_slug(topic)}/0.html", "Back to the start")]
        wanted = " ".join(re.findall(r"[a-z]+", path))
        html = sheet(f"Nothing found for {wanted}", text, home + self._invented(path, topic, 4))
        return ServedDocument(html.encode())

    def _slow(self, place: TrapPage, version: int) -> ServedDocument:
        factor = 20.0 if place.number == PAGES_PER_TOPIC - 1 else 0.5 + stir(place.path) % 100 / 100
        return replace(self._page(place), delay=self.slowness * factor)

    def _failing(self, place: TrapPage, version: int) -> ServedDocument:
        if place.host == "flaky.localhost":
            if version < 1 + place.number % 2:
                return ServedDocument(b"Busy", "text/plain", 503, (("Retry-After", "1"),))
            return self._page(place)
        if place.host == "broken.localhost":
            return ServedDocument(b"<h1>Internal Server Error</h1>", status=500)
        page = replace(self._page(place), codec="")
        return replace(page, cut=-1 if place.host == "hang-up.localhost" else len(page.body) // 2)

    def _rules(self, name: str, path: str) -> ServedDocument | None:
        kind = "text/plain; charset=utf-8"
        if path == "/robots-file.txt":
            rules = "User-agent: *\nDisallow: /private/\nDisallow: /behind/\n"
            return ServedDocument(rules.encode(), kind, codec="") if name == "robots-moved.localhost" else None
        if name == "no-robots.localhost":
            return None
        if name == "robots-error.localhost":
            return ServedDocument(b"Internal Server Error", kind, 500)
        if name == "robots-moved.localhost":
            return ServedDocument(b"", "", 301, (("Location", "/robots-file.txt"),))
        return ServedDocument(_RULES.get(name, "User-agent: *\nAllow: /\n").encode(), kind, codec="")

    def _robots(self, place: TrapPage, version: int) -> ServedDocument:
        links = self._links(place)
        if place.host == "no-follow.localhost":
            numbers = range(place.number, place.number + 3)
            behind = [TrapLink(self._url(place, number, "/behind"), "Behind the door") for number in numbers]
            way = place.number % 3
            if place.area:
                return self._page(place)
            head = UTF_8 + ('\n<meta name="robots" content="nofollow">' if way == 0 else "")
            behind = [replace(link, rel="nofollow" if way == 2 else "") for link in behind]
            html = sheet(self._title(place), self._text(place), links + behind, head=head)
            return ServedDocument(html.encode(), headers=(("X-Robots-Tag", "nofollow"),) if way == 1 else ())
        numbers = range(place.number, place.number + 3)
        private = [TrapLink(self._url(place, number, "/private"), self._title(place)) for number in numbers]
        return ServedDocument(sheet(self._title(place), self._text(place), links + private).encode())

    def _charsets(self, place: TrapPage, version: int) -> ServedDocument:
        charset = CHARSETS[place.number]
        own = SENTENCES[charset.lang]
        lines = enumerate(self._text(place), place.number)
        text = [f"{line} {' '.join(own[(i + j) % len(own)] for j in range(3))}" for i, line in lines]
        head = f'<meta charset="{charset.meta}">' if charset.meta else '<meta name="generator" content="pen">'
        heading = f"{self._title(place)} - {own[0]}"
        links = [replace(link, text=f"{link.text} ({own[i % len(own)]})") for i, link in enumerate(self._links(place))]
        html = sheet(heading, text, links, head=head, lang=charset.lang)
        kind = f"text/html; charset={charset.header}" if charset.header else "text/html"
        return ServedDocument(html.encode(charset.actual, "replace"), kind)

    def _encodings(self, place: TrapPage, version: int) -> ServedDocument:
        plain = self._page(place).body
        half = len(plain) // 2
        squeezed = compress(plain, "gzip")
        raw = zlib.compressobj(6, zlib.DEFLATED, -15)
        ways: tuple[tuple[str, Callable[[], bytes]], ...] = (
            ("deflate", lambda: raw.compress(plain) + raw.flush()),
            ("deflate", lambda: zlib.compress(plain)),
            ("br", lambda: compress(plain, "br")),
            ("zstd", lambda: compress(plain, "zstd")),
            ("gzip", lambda: compress(plain[:half], "gzip") + compress(plain[half:], "gzip")),
            ("gzip", lambda: squeezed[: len(squeezed) * 2 // 3]),
            ("gzip", lambda: plain),
            ("gzip, gzip", lambda: compress(squeezed, "gzip")),
            ("x-gzip", lambda: squeezed),
            ("identity", lambda: plain),
            ("gzip", lambda: squeezed + b"\0trailing rubbish"),
            ("gzip", lambda: gzip.compress(plain + b" " * 8_000_000, 6, mtime=0)),
        )
        label, make = ways[place.number]
        # Ignores Accept-Encoding, which is part of the trap.
        return ServedDocument(make(), headers=(("Content-Encoding", label),), codec="")

    def _changing(self, place: TrapPage, version: int) -> ServedDocument:
        text = [f"Edition {version + 1}.", *self._text(place, version)]
        html = sheet(self._title(place), text, self._links(place))
        tag = f"{stir(self.graph.seed, 'edition', place.path, version):x}"
        return ServedDocument(html.encode(), tag=tag, modified=1_600_000_000 + 3600 * version)

    def _media(self, place: TrapPage, version: int) -> ServedDocument:
        text = "\n\n".join(self._text(place))
        if place.kind == "txt":
            return ServedDocument(text.encode(), "text/plain")
        if place.kind == "png":
            return ServedDocument(_PIXEL, "image/png", codec="")
        if place.kind == "pdf":
            noise = b"".join(stir(place.path, i).to_bytes(8, "big") for i in range(200))
            body = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + noise + b"\n%%EOF\n"
            return ServedDocument(body, "application/pdf", codec="")
        page = ServedDocument(sheet(self._title(place), self._text(place), ()).encode())
        return page if place.number % 2 else replace(page, type="")

    def _redirect(self, name: str, path: str) -> ServedDocument | None:
        match = _GO.match(path)
        if match is None:
            return None
        hops, number, turn, own = match.groups()
        code = stir(self.graph.seed, "redirect", name, path)
        if own:
            there = path
        elif turn:
            there = f"/go/round-{(int(turn) + 1) % 3}"
        else:
            page = int(number)
            if page >= self.graph.pages or not 1 <= int(hops) <= 40:
                return None
            if int(hops) == 1:
                return self._moved(code, self.book.url(page))
            there = f"/go/{int(hops) - 1}-{page}"
            if code // 16 % 3 == 0:
                # some hops lead over another host
                other = self.graph.names[self.graph.section(page).host]
                return self._moved(code, self.book.base(other) + there)
        return self._moved(code, there if code % 2 else self.book.base(name) + there)

    @staticmethod
    def _moved(code: int, location: str) -> ServedDocument:
        status = (301, 302, 307, 308, 303)[code // 2 % 5]
        return ServedDocument(b"Moved", "text/plain", status, (("Location", location),))


SENTENCES: dict[str, tuple[str, ...]] = {
    "fr": (
        "L’été dernier, les visiteurs ont découvert une côte très différente.",
        "Après la tempête, la mer était calme et l’eau était très claire.",
        "Nous avons préparé cette page à partir de nos propres carnets.",
        "Où que l’on regarde, le même problème réapparaît.",
        "Les élèves ont noté chaque détail, même le plus léger.",
        "À la fin de la journée, tout le monde était fatigué mais ravi.",
        "Le musée a gardé les dessins près de la fenêtre.",
        "Ça ne suffit pas: il faut aussi répéter l’expérience.",
    ),
    "de": (
        "Im Frühling beginnt die Arbeit früher, als man möchte.",
        "Die Straße führt über die Brücke und weiter in die Wälder.",
        "Für größere Gruppen müssen wir die Räume rechtzeitig öffnen.",
        "Die Prüfung der Geräte dauerte länger als üblich.",
        "Später erzählte er, dass die Tür nie geschlossen war.",
        "Weiß jemand, warum die Kühe heute so müde sind?",
        "Das Gedächtnis täuscht uns häufig, die Notizbücher seltener.",
        "Schöne Grüße an alle, die uns geschrieben haben.",
    ),
    "ja": (
        "この町の人々は毎朝早く起きて海を見に行きます。",
        "去年の夏、私たちは新しい記録を作りました。",
        "詳しいことは次のページに書いてあります。",
        "水の温度が上がると、魚の数が少なくなります。",
        "先生は古い写真を一枚ずつ説明しました。",
        "雨が降った日は図書館で静かに本を読みます。",
        "来月の集まりについて、みんなで話し合いました。",
        "山の上から見る景色はとても美しいです。",
    ),
    "zh": (
        "去年夏天我们在海边住了很长时间。",
        "这里的水很清，可以看见很多小鱼。",
        "老师把旧照片一张一张地讲给我们听。",
        "下个月的会议将讨论新的计划。",
        "请在下一页查看更多的内容。",
        "天气变暖以后，花开得比往年早。",
        "图书馆每天早上九点开门。",
        "他把所有的记录都写在一个本子里。",
    ),
}


@dataclass(frozen=True, slots=True)
class Charset:
    """Declared and actual encoding of a page on the charset host."""

    header: str  # charset in Content-Type, "" for none
    meta: str  # charset in <meta>, "" for none
    actual: str  # Python codec that encodes the body
    lang: str


# A page's number on the host selects the row.
CHARSETS: tuple[Charset, ...] = (
    Charset("utf-8", "", "cp1252", "fr"),
    Charset("iso-8859-1", "", "latin-1", "de"),
    Charset("", "Shift_JIS", "shift_jis", "ja"),
    Charset("", "GBK", "gbk", "zh"),
    Charset("EUC-JP", "", "euc_jp", "ja"),
    Charset("iso-8859-1", "utf-8", "utf-8", "fr"),
    Charset("", "", "utf-8-sig", "fr"),
    Charset("", "", "utf-16", "ja"),
    Charset("x-nonsense", "", "utf-8", "de"),
    Charset("", "", "cp1252", "de"),
    Charset("utf-8", "utf-8", "utf-8", "fr"),
    Charset("utf-8", "utf-8", "utf-8", "ja"),
)
