"""Ways in which a page changes, each defined, so that it is known what a detector should have seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from itertools import pairwise
from random import Random
from typing import Literal, NamedTuple

from lycosa.core.types import Page
from lycosa.web.html import CLOSE, OPEN

Sort = Literal["none", "cosmetic", "content", "structure"]
"""What a reader gets of a change: nothing, nothing of it, another text, or other parts too."""

_PARAGRAPH = re.compile(r"<p\b[^>]*>.*?</p>\n?", re.DOTALL)
_TEXT = re.compile(r">([^<>]*[A-Za-z]{4}[^<>]*)<")
_WORD = re.compile(r"[A-Za-z]{4,}")
_LINK = re.compile(r'(<a href=")([^"]+)(")')


class Change(NamedTuple):
    """A kind of change. `make` gives the changed page, or None where a page has nothing to change in this way."""

    name: str
    sort: Sort
    make: Callable[[str, Random], str | None]


def written(page: Page) -> str:
    """A recorded page as HTML: its title, its paragraphs and its links. What else it had was not recorded.

    >>> print(written(Page("ok", title="Reefs", marked="Reefs")))
    <!DOCTYPE html>
    <html>
    <head>
    <title>Reefs</title>
    </head>
    <body>
    <p>Reefs</p>
    </body>
    </html>
    """
    urls = iter(page.links.urls)

    def linked(text: str) -> str:
        opened = False
        html = ""
        for piece in re.split(f"([{OPEN}{CLOSE}])", text):
            if piece not in (OPEN, CLOSE):
                html += escape(piece, quote=False)
                continue
            html += "</a>" if opened else ""
            opened = piece == OPEN
            html += f'<a href="{escape(next(urls, "#"))}">' if opened else ""
        return html + ("</a>" if opened else "")

    lines = [linked(line.strip()) for line in page.marked.split("\n\n") if line.strip()]
    body = "\n".join(f"<p>{line}</p>" for line in lines)
    head = f"<head>\n<title>{escape(page.title, quote=False)}</title>\n</head>"
    return f"<!DOCTYPE html>\n<html>\n{head}\n<body>\n{body}\n</body>\n</html>"


def _same(source: str, chance: Random) -> str | None:
    return source


def _spaced(source: str, chance: Random) -> str | None:
    return source.replace("\n<p", "\n\n<p") if "\n<p" in source else None


def _commented(source: str, chance: Random) -> str | None:
    return source.replace("</body>", f"<!-- served by {chance.randrange(10**6)} --></body>", 1)


def _attribute(source: str, chance: Random) -> str | None:
    return source.replace("<body", f'<body data-visit="{chance.randrange(10**6)}"', 1) if "<body" in source else None


def _letter(source: str, chance: Random) -> str | None:
    """One letter of a word becomes the next one of the alphabet."""
    return _in_word(source, chance, lambda word: _next(word, chance.randrange(len(word))))


def _next(word: str, at: int) -> str:
    return word[:at] + ("a" if word[at] in "zZ" else chr(ord(word[at]) + 1)) + word[at + 1 :]


def _word(source: str, chance: Random) -> str | None:
    return _in_word(source, chance, lambda word: "another" if word != "another" else "different")


def _anagram(source: str, chance: Random) -> str | None:
    """The letters of a word in another order: another word, the same checksum."""
    return _in_word(source, chance, lambda word: word[1:] + word[0] if word[1:] + word[0] != word else word)


def _in_word(source: str, chance: Random, change: Callable[[str], str]) -> str | None:
    places = [
        (text.start(1) + word.start(), text.start(1) + word.end())
        for text in _TEXT.finditer(source, max(0, source.find("<body")))
        for word in _WORD.finditer(text[1])
    ]
    if not places:
        return None
    start, end = chance.choice(places)
    changed = source[:start] + change(source[start:end]) + source[end:]
    return changed if changed != source else None


def _swapped(source: str, chance: Random) -> str | None:
    """Two paragraphs change places."""
    found = [match for match in _PARAGRAPH.finditer(source) if match[0].strip()]
    pairs = [(a, b) for a, b in pairwise(found) if a[0] != b[0] and a.end() == b.start()]
    if not pairs:
        return None
    first, second = chance.choice(pairs)
    return source[: first.start()] + second[0] + first[0] + source[second.end() :]


def _one(
    pattern: re.Pattern[str], source: str, chance: Random, change: Callable[[re.Match[str]], str], fewest: int = 1
) -> str | None:
    """Change one place of some, by chance; None where there are too few."""
    matches = list(pattern.finditer(source))
    if len(matches) < fewest:
        return None
    match = chance.choice(matches)
    return source[: match.start()] + change(match) + source[match.end() :]


def _added(source: str, chance: Random) -> str | None:
    def more(match: re.Match[str]) -> str:
        return f"{match[0]}<p>News of today, number {chance.randrange(10**6)}.</p>\n"

    return _one(_PARAGRAPH, source, chance, more)


def _removed(source: str, chance: Random) -> str | None:
    return _one(_PARAGRAPH, source, chance, lambda match: "", fewest=2)


def _retargeted(source: str, chance: Random) -> str | None:
    """A link leads elsewhere."""
    return _one(_LINK, source, chance, lambda match: f"{match[1]}{match[2]}-2{match[3]}")


def _renamed(source: str, chance: Random) -> str | None:
    """A paragraph becomes a quotation."""

    def quoted(match: re.Match[str]) -> str:
        return "</blockquote>".join(match[0].replace("<p", "<blockquote", 1).rsplit("</p>", 1))

    return _one(_PARAGRAPH, source, chance, quoted)


CHANGES = (
    Change("fetched again, the same", "none", _same),
    Change("empty lines between paragraphs", "cosmetic", _spaced),
    Change("a comment in the source", "cosmetic", _commented),
    Change("an attribute with a number that changes", "cosmetic", _attribute),
    Change("a letter becomes the next one", "content", _letter),
    Change("another word", "content", _word),
    Change("letters of a word in another order", "content", _anagram),
    Change("two paragraphs change places", "content", _swapped),
    Change("a link leads elsewhere", "content", _retargeted),
    Change("a paragraph becomes a quotation", "structure", _renamed),
    Change("a paragraph more", "structure", _added),
    Change("a paragraph less", "structure", _removed),
)
