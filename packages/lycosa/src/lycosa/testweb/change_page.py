"""HTML of changed pages, assembled from the parts of the original page and its state.

Content is in <main>; cosmetic parts are around it and, on some hosts, in one line inside it (`<p class="meta">`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.chance import dice, stir
from lycosa.testweb.change_history import COSMETICS, ChangingPage, State
from lycosa.testweb.page_html import Composer, TrapLink
from lycosa.testweb.prose import paragraphs, subject_name, title, topic_slug

CHARSETS = ("utf-8", "iso-8859-1", "windows-1252")

_PLAIN = re.compile(
    r"(?P<head>.*?<title>)(?P<title>[^<]*)(?P<site> - [^<]*)(?P<more></title>.*?)</head>\n<body>\n"
    r"(?P<nav><nav>.*?</nav>\n)"
    r'<main>\n<h1>[^<]*</h1>\n<p class="byline">(?P<byline>[^<]*)</p>\n(?P<body>.*)\n'
    r"<h2>(?P<list>[^<]*)</h2>\n<ul>\n(?P<related>.*?)\n</ul>\n</main>\n(?P<foot>.*)",
    re.DOTALL,
)
_PLACES = ("North", "East", "South", "West", "Centre")


@dataclass(frozen=True, slots=True)
class PageParts:
    """The parts of an original page."""

    head: str
    title: str
    site: str
    more: str
    nav: str
    byline: str
    body: tuple[str, ...]
    list: str
    related: tuple[str, ...]
    foot: str


@dataclass(frozen=True, slots=True)
class Cosmetics:
    """The cosmetic parts of a page, and where they are placed."""

    cosmetics: tuple[str, ...]  # kinds of cosmetic parts; all are present from the beginning
    inside: bool  # true if the line with dates and counters is inside <main>
    stamp: str
    views: int
    minutes: int
    teasers: tuple[int, ...]
    address: str
    feed: str = ""


class ChangedPageWriter:
    """Writer of the HTML of changed and new pages, from the parts of an original page and its state."""

    def __init__(self, book: AddressBook, composer: Composer) -> None:
        self.book = book
        self.graph = book.graph
        self.composer = composer
        self.paragraph = lru_cache(maxsize=4096)(self._paragraph)

    def take_apart(self, page: int, asides: list[TrapLink]) -> PageParts:
        match = _PLAIN.fullmatch(self.composer.html(page, asides))
        assert match is not None
        parts: dict[str, str] = match.groupdict()
        return PageParts(
            **{name: parts[name] for name in ("head", "title", "site", "more", "nav", "byline", "list", "foot")},
            body=tuple(parts["body"].split("\n")),
            related=tuple(parts["related"].split("\n")),
        )

    def newborn(self, subject: ChangingPage, like: PageParts, count: int) -> PageParts:
        """Return the parts of a new page, modelled on its parent page."""
        rng = dice(self.graph.seed, "new links", subject.page, subject.part)
        targets = dict.fromkeys([subject.page, *(self.graph.mainland(rng, subject.topic) for _ in range(6))])
        own = [TrapLink(self.book.url(page), self.book.title(page)).html() for page in targets]
        more = re.sub(r'<link rel="canonical"[^>]*>\n|<meta name="description"[^>]*>\n', "", like.more)
        return PageParts(
            head=like.head,
            title=escape(self.new_title(subject)),
            site=like.site,
            more=more,
            nav=like.nav,
            byline=like.byline,
            body=tuple(f"<p>{self.paragraph(subject, 0, i, subject.topic)}</p>" for i in range(count)),
            list="Related pages",
            related=tuple(own),
            foot=like.foot,
        )

    def new_title(self, subject: ChangingPage) -> str:
        return title(subject.topic, self.graph.seed, "new", subject.page, subject.part)

    def new_path(self, subject: ChangingPage) -> str:
        return f"/{topic_slug(subject.topic)}/new-{subject.page}-{subject.part}.html"

    def _paragraph(self, subject: ChangingPage, change: int, number: int, topic: int) -> str:
        rng = dice(self.graph.seed, "written", subject.page, subject.part, change, number)
        around = self.graph.subject[self.graph.section(subject.page).host] if topic < 0 else None
        return paragraphs(rng, topic, 30 + int(rng.random() * 40), around)[0]

    def html(self, subject: ChangingPage, state: State, sheet: PageParts, cosmetic: Cosmetics) -> str:
        cosmetic_counts = dict(zip(COSMETICS, state.cosmetic_counts, strict=True))
        heading = escape(state.title) or sheet.title
        charset = CHARSETS[cosmetic_counts["charset"] % len(CHARSETS)]
        head = sheet.head.replace("utf-8", charset, 1)
        more, foot = sheet.more, sheet.foot
        home = escape(self.book.url(subject.page))
        if cosmetic.address != home:
            more = more.replace(f'rel="canonical" href="{home}"', f'rel="canonical" href="{cosmetic.address}"', 1)
        if cosmetic.feed:
            more += f'<link rel="alternate" type="application/atom+xml" href="{cosmetic.feed}">\n'
        if "token" in cosmetic.cosmetics:
            token = f"{stir(self.graph.seed, 'token', subject, cosmetic_counts['token']):016x}"
            more += f'<meta name="csrf-token" content="{token}">\n<script nonce="{token[:8]}">var ready=1</script>\n'
            foot = f'<form action="/search"><input type="hidden" name="csrf" value="{token}"></form>\n{foot}'
        meta = self._meta(cosmetic)
        foot = foot.replace("<p>", "<p>\N{COPYRIGHT SIGN} ", 1)
        if meta and not cosmetic.inside:
            foot = foot.replace("</footer>", f"{meta}</footer>", 1)
        space = _space(cosmetic_counts["whitespace"]) if "whitespace" in cosmetic.cosmetics else ""
        return (
            f"{head}{heading}{sheet.site}{more}</head>\n<body{_attributes(cosmetic_counts['attributes'])}>\n{sheet.nav}"
            f'{self._teaser(cosmetic)}<main>\n{space}<h1>{heading}</h1>\n<p class="byline">{sheet.byline}</p>\n'
            f"{meta if cosmetic.inside else ''}{self._body(subject, state, sheet)}"
            f"{self._table(subject, state)}"
            f"<h2>{sheet.list}</h2>\n<ul>\n{self._related(subject, state, sheet)}\n</ul>\n</main>\n{foot}"
        )

    def _body(self, subject: ChangingPage, state: State, sheet: PageParts) -> str:
        lines = [
            sheet.body[block.number]
            if block.change == 0
            else f"<p>{self.paragraph(subject, block.change, block.number, block.topic)}</p>"
            for block in state.blocks
        ]
        if not state.layout:
            return "\n".join(lines) + "\n"
        # Wrap about half of the lines in elements that spell the layout's number in digits 1 and 2.
        cut = len(lines) - len(lines) // 2
        digits, n = "", state.layout
        while n:
            n, digit = (n - 1) // 2, (n - 1) % 2
            digits += "12"[digit]
        tags = ["div" if digit == "1" else "section" for digit in digits]
        opened = "".join(f"<{tag}>" for tag in tags)
        closed = "".join(f"</{tag}>" for tag in reversed(tags))
        wrapped = f"{opened}\n" + "\n".join(lines[:cut]) + f"\n{closed}"
        rest = lines[cut:]
        parts = [*rest, wrapped] if state.layout % 2 else [wrapped, *rest]
        return "\n".join(parts) + "\n"

    def _table(self, subject: ChangingPage, state: State) -> str:
        if not state.table:
            return ""
        base = stir(self.graph.seed, "table", subject.page, subject.part)
        rows = "\n".join(
            f"<tr><td>{_PLACES[i]}</td><td>{100 + base // 1000**i % 1000 + grown}</td></tr>"
            for i, grown in enumerate(state.table)
        )
        return f"<table>\n<tr><th>Place</th><th>Count</th></tr>\n{rows}\n</table>\n"

    def _related(self, subject: ChangingPage, state: State, sheet: PageParts) -> str:
        added = []
        births = {birth.number: birth for birth in state.births}
        for target in reversed(state.links):
            if target < 0:
                born = ChangingPage(subject.page, -target, births[-target].topic)
                host = self.graph.names[self.graph.section(subject.page).host]
                link = TrapLink(self.book.base(host) + self.new_path(born), self.new_title(born))
            else:
                link = TrapLink(self.book.url(target), self.book.title(target))
            added.append(link.html())
        plain = sheet.related[:4] if state.turns % 2 else sheet.related
        return "\n".join([*added, *plain])

    def _teaser(self, cosmetic: Cosmetics) -> str:
        if not cosmetic.teasers:
            return ""
        links = "\n".join(TrapLink(self.book.url(page), self.book.title(page)).html() for page in cosmetic.teasers)
        return f'<aside class="teaser">\n<h2>Also today</h2>\n<ul>\n{links}\n</ul>\n</aside>\n'

    def _meta(self, cosmetic: Cosmetics) -> str:
        parts = []
        if cosmetic.stamp:
            parts.append(f"Last updated {cosmetic.stamp}.")
        if cosmetic.views:
            parts.append(f"{cosmetic.views:,} views.")
        if cosmetic.minutes:
            parts.append(f"Updated {cosmetic.minutes} minute{'s' if cosmetic.minutes > 1 else ''} ago.")
        return f'<p class="meta">{" ".join(parts)}</p>\n' if parts else ""

    def missing(self, host: int) -> bytes:
        site, about = self.composer.site(host), subject_name(self.graph.subject[host])
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{site}: page not found</title>\n</head>\n<body>\n<main>\n<h1>Page not found</h1>\n"
            f"<p>Sorry, the page you are looking for could not be found. It may have been removed, or its address may "
            f'be wrong.</p>\n<p><a href="/">Back to {site}</a>, about {about}.</p>\n</main>\n</body>\n</html>\n'
        ).encode()


def _attributes(n: int) -> str:
    rest, out = ['id="top"', 'class="page"', 'dir="ltr"', 'data-theme="light"', 'data-version="2"'], []
    n %= 120
    for left in (24, 6, 2, 1, 1):
        out.append(rest.pop(min(n // left, len(rest) - 1)))
        n %= left
    return " " + " ".join(out)


def _space(n: int) -> str:
    return bin(n)[2:].replace("1", "\n").replace("0", " ")
