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


def _next_letter(word: str, chance: Random) -> str:
    """One letter becomes the next one of the alphabet."""
    at = chance.randrange(len(word))
    return word[:at] + ("a" if word[at] in "zZ" else chr(ord(word[at]) + 1)) + word[at + 1 :]


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


def _quoted(paragraph: re.Match[str]) -> str:
    return "</blockquote>".join(paragraph[0].replace("<p", "<blockquote", 1).rsplit("</p>", 1))


def _news(chance: Random) -> str:
    return f"<p>News of today, number {chance.randrange(10**6)}.</p>\n"


CHANGES = (
    Change("fetched again, the same", "none", lambda page, chance: page),
    Change(
        "empty lines between paragraphs", "cosmetic",
        lambda page, chance: page.replace("\n<p", "\n\n<p") if "\n<p" in page else None,
    ),
    Change(
        "a comment in the source", "cosmetic",
        lambda page, chance: page.replace("</body>", f"<!-- served by {chance.randrange(10**6)} --></body>", 1),
    ),
    Change(
        "an attribute with a number that changes", "cosmetic",
        lambda page, chance: (
            page.replace("<body", f'<body data-visit="{chance.randrange(10**6)}"', 1) if "<body" in page else None
        ),
    ),
    Change(
        "a letter becomes the next one", "content",
        lambda page, chance: _in_word(page, chance, lambda word: _next_letter(word, chance)),
    ),
    Change(
        "another word", "content",
        lambda page, chance: _in_word(page, chance, lambda word: "another" if word != "another" else "different"),
    ),
    Change(  # another word, the same checksum
        "letters of a word in another order", "content",
        lambda page, chance: _in_word(page, chance, lambda word: word[1:] + word[0]),
    ),
    Change("two paragraphs change places", "content", _swapped),
    Change(
        "a link leads elsewhere", "content",
        lambda page, chance: _one(_LINK, page, chance, lambda link: f"{link[1]}{link[2]}-2{link[3]}"),
    ),
    Change(
        "a paragraph becomes a quotation", "structure", lambda page, chance: _one(_PARAGRAPH, page, chance, _quoted)
    ),
    Change(
        "a paragraph more", "structure",
        lambda page, chance: _one(_PARAGRAPH, page, chance, lambda paragraph: paragraph[0] + _news(chance)),
    ),
    Change(
        "a paragraph less", "structure",
        lambda page, chance: _one(_PARAGRAPH, page, chance, lambda paragraph: "", fewest=2),
    ),
)  # fmt: skip
