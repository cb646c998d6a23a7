"""HTML of clean pages, and a plainer page for trap hosts.

The layout is that of ordinary sites: head, navigation bar, heading, paragraphs with links, a list of related pages,
footer. Links of traps go into one <aside> before the footer, so pages with and without traps differ only there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.chance import dice, pick, stir
from lycosa.testweb.documents import Paper, Run
from lycosa.testweb.prose import paragraphs, subject_name, subject_of, topic_label

_VAGUE = ("read more", "here", "this page", "more", "continue reading", "details", "the full story", "link")
_INLINE = (
    "See also %s.",
    "More on this in %s.",
    "This follows from %s, which we discussed before.",
    "A longer treatment is %s.",
    "Compare %s.",
    "Readers also asked about %s.",
    "As we wrote before: %s.",
)
_STYLE = (
    "body{font:16px/1.5 Georgia,serif;margin:0 auto;max-width:46em;color:#222}"
    "nav a{margin-right:1em}aside{border-top:1px solid #ccc}footer{font-size:small;color:#666}"
)
UTF_8 = '<meta charset="utf-8">'
_NAMES = ("A. Marsh", "Ines Holt", "P. Okafor", "Lena Brandt", "T. Sato", "M. Quill", "Jo Farrow", "R. Vance")


@dataclass(frozen=True, slots=True)
class TrapLink:
    """A link that a trap adds to a clean page."""

    href: str
    text: str
    rel: str = ""

    def html(self) -> str:
        rel = f' rel="{self.rel}"' if self.rel else ""
        return f'<li><a href="{escape(self.href)}"{rel}>{escape(self.text)}</a></li>'


@lru_cache(maxsize=2048)
def _text(seed: int, page: int, topic: int, subject: int) -> tuple[str, ...]:
    """Return the paragraphs of a page; without a topic they are on its host's subject, or on no subject."""
    rng = dice(seed, "text", page)
    if topic < 0:
        return tuple(paragraphs(rng, -1, 90 + int(rng.random() * 120), subject))
    # A long tail, because most pages have some hundred words and a few have thousands.
    return tuple(paragraphs(rng, topic, int(130 + 260 * rng.random() + 2400 * rng.random() ** 7)))


class Composer:
    """Writer of clean pages as HTML or PDF; links of traps are appended."""

    def __init__(self, book: AddressBook) -> None:
        self.book = book
        self.graph = book.graph

    def html(self, page: int, asides: Sequence[TrapLink] = ()) -> str:
        """Return a page's HTML, a function of the seed, the page's number and the port."""
        graph, seed = self.graph, self.graph.seed
        section = graph.section(page)
        topic = graph.topic(page)
        bare = topic < 0
        title = self.book.title(page)
        host = graph.names[section.host]
        site = self.site(section.host)
        text = self.text(page)
        links = graph.links(page)
        inline = [] if bare else links[: min(len(text), len(links) // 2)]
        body = []
        for number, paragraph in enumerate(text):
            if number < len(inline):
                anchor = self._anchor(page, inline[number], host)
                line = pick(_INLINE, seed, "inline", page, number) % anchor
                body.append(f"<p>{paragraph} {line}</p>")
            else:
                body.append(f"<p>{paragraph}</p>")
        related = "\n".join(f"<li>{self._anchor(page, target, host)}</li>" for target in links[len(inline) :])
        code = stir(seed, "byline", page)
        byline = f"{_NAMES[code % 8]}, {code // 8 % 28 + 1}.{code // 224 % 12 + 1}.{2012 + code // 2688 % 12}"
        canonical = f'<link rel="canonical" href="{escape(self.book.url(page))}">\n' if code % 10 < 3 else ""
        extra = "\n".join(aside.html() for aside in asides)
        extra = f"<aside>\n<h2>Elsewhere</h2>\n<ul>\n{extra}\n</ul>\n</aside>\n" if asides else ""
        summary = text[0].split(".", 1)[0]
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{escape(title)} - {site}</title>\n"
            f'<meta name="description" content="{escape(summary)}">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{canonical}'
            f"<style>{_STYLE}</style>\n</head>\n<body>\n"
            f"{self._navigation(section.host)}"
            f'<main>\n<h1>{escape(title)}</h1>\n<p class="byline">{byline}</p>\n' + "\n".join(body) + "\n"
            f"<h2>{'Directory' if bare else 'Related pages'}</h2>\n<ul>\n{related}\n</ul>\n</main>\n"
            f"{extra}<footer><p>{site}, about {subject_name(graph.subject[section.host])}. "
            f"All texts by their authors.</p></footer>\n</body>\n</html>\n"
        )

    def paper(self, page: int, asides: Sequence[TrapLink] = ()) -> Paper:
        """Return a page as a PDF document with the same title, text and links."""
        graph, seed = self.graph, self.graph.seed
        text, links = self.text(page), graph.links(page)
        inline = links[: min(len(text), len(links) // 2)]
        paragraphs_of_runs: list[list[Run]] = []
        for number, paragraph in enumerate(text):
            runs: list[Run] = [(f"{paragraph} ", "")]
            if number < len(inline):
                before, after = pick(_INLINE, seed, "inline", page, number).split("%s")
                runs += [(before, ""), self._reference(page, inline[number]), (after, "")]
            paragraphs_of_runs.append(runs)
        paragraphs_of_runs.append([("Related pages", "")])
        paragraphs_of_runs += [[self._reference(page, target)] for target in links[len(inline) :]]
        paragraphs_of_runs += [[(aside.text, aside.href)] for aside in asides if not aside.rel]
        code = stir(seed, "byline", page)
        date = f"{2012 + code // 2688 % 12}-{code // 224 % 12 + 1:02}-{code // 8 % 28 + 1:02}"
        return Paper(self.book.title(page), _NAMES[code % 8], date, paragraphs_of_runs, frozenset({len(text)}))

    def _reference(self, page: int, target: int) -> Run:
        code = stir(self.graph.seed, "anchor", page, target)
        vague = 72 <= code // 16 % 100 < 87
        return _VAGUE[code // 1600 % len(_VAGUE)] if vague else self.book.title(target), self.book.url(target)

    def text(self, page: int) -> list[str]:
        graph = self.graph
        section, topic = graph.section(page), graph.topic(page)
        about = topic >= 0 or (page == section.start and section.topic >= 0)
        return list(_text(graph.seed, page, topic, -1 if about else graph.subject[section.host]))

    def site(self, host: int) -> str:
        return self.graph.names[host].removesuffix(".localhost").replace("-", " ").title()

    def _navigation(self, host: int) -> str:
        items = []
        for number, target in enumerate(self.graph.navigation(host)):
            section = self.graph.section(target)
            label = topic_label(section.topic) if section.topic >= 0 else self.site(section.host)
            base = "" if section.host == host else self.book.base(self.graph.names[section.host])
            href = escape(base + self.book.path(target))
            items.append(f'<a href="{href}">{label if number else "Home"}</a>')
        return f"<nav>{' '.join(items)}</nav>\n"

    def _anchor(self, page: int, target: int, host: str) -> str:
        """Return a link, usually with the target's title, sometimes with a vague text."""
        path, title = self.book.name(target)
        there = self.graph.names[self.graph.section(target).host]
        code = stir(self.graph.seed, "anchor", page, target)
        if there != host:
            path = self.book.base(there) + path
            if code % 16 == 3:
                path = path.removeprefix("http:")
        elif code % 16 < 4:
            path = self.book.base(there) + path
        href = escape(path)
        kind = code // 16 % 100
        if kind < 72 and code // 1600 % 2 and target in self.graph.bridges.get(page, ()):
            kind = 80  # bridges seldom advertise their target
        if kind < 72:
            return f'<a href="{href}">{escape(title)}</a>'
        if kind < 87:
            return f'<a href="{href}">{_VAGUE[code // 1600 % len(_VAGUE)]}</a>'
        if kind < 94:
            alt = escape(title) if kind < 90 else ""
            return f'<a href="{href}"><img src="/pictures/{target}.jpg" alt="{alt}"></a>'
        topic = self.graph.topic(target)
        if topic >= 0:
            return f'<a href="{href}">{subject_name(subject_of(topic)).capitalize()}</a>'
        return f'<a href="{href}">{there.removesuffix(".localhost")}</a>'


def sheet(title: str, text: Iterable[str], links: Iterable[TrapLink], *, head: str = UTF_8, lang: str = "en") -> str:
    """Return a plain page for trap hosts."""
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in text)
    items = "\n".join(link.html() for link in links)
    listing = f"<ul>\n{items}\n</ul>\n" if items else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n{head}\n<title>{escape(title)}</title>\n</head>\n'
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n{listing}</body>\n</html>\n"
    )
