"""A library catalogue: records behind a search form, without links to them.

Records match by the words of title, abstract, author and town. A results page lists twenty records, the most frequent
matches first, with title, author, town and a snippet, and links to the next page. A few words match most records; many,
author names above all, match one or two.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from html import escape
from urllib.parse import parse_qsl, quote_plus, urlsplit

from lycosa.testweb.chance import dice, roll, stir
from lycosa.testweb.prose import TOPICS, paragraphs, title
from lycosa.testweb.reply import ALLOW_ALL, ServedDocument

HOST = "old-library.localhost"
SHELF = 20  # number of records per results page
_WORD = re.compile(r"[a-z]+")
_SNIPPET = 24  # words of a snippet
_FIRST = """
    ada anna bela bruno carla clara cyril dora edith emil erik flora franz greta hanna hugo ida igor irma ivan jana
    karl lena leo lola lucas mara max mina nora olga oscar otto paula peter rosa ruth sara theo vera
""".split()
_HEADS = "bal cor dar fen gal hol jan kel lor mar nor pel ras sel tor vol wen zan bri dru".split()
_MIDS = "a e i o u ane ero imo ola ura and est ing orm ulb".split()
_TAILS = "berg dale feld gard hurst kov ley man mont ner rup sen ski ton vic".split()
_AUTHORS, _TOWNS = 4000, 120


class Catalogue:
    """The records of a library, each a function of the seed and its number."""

    def __init__(self, seed: int, records: int = 2000) -> None:
        self.seed = seed
        self.records = records

    def __len__(self) -> int:
        return self.records

    def topic(self, number: int) -> str:
        return TOPICS[self._topic(number)]

    def path(self, number: int) -> str:
        return f"/record/{stir(self.seed, 'shelfmark', number) % 10**9:09d}-{number}"

    def title(self, number: int) -> str:
        return title(self._topic(number), self.seed, "record", number)

    def abstract(self, number: int) -> str:
        rng = dice(self.seed, "abstract", number)
        return paragraphs(rng, self._topic(number), 30 + int(rng.random() * 60))[0]

    def imprint(self, number: int) -> str:
        """Return a record's author, town and year; a few authors and towns have many records, most have one or two."""
        author = int(_AUTHORS * roll(self.seed, "author", number) ** 2)
        town = int(_TOWNS * roll(self.seed, "town", number) ** 2)
        first = _FIRST[stir(self.seed, "first", author) % len(_FIRST)].title()
        year = 1900 + stir(self.seed, "year", number) % 120
        return f"{first} {_name(self.seed, 'surname', author)}, {_name(self.seed, 'town', town)} {year}"

    def search(self, query: str) -> list[int]:
        """Return the records that contain all words of a query, most frequent matches first."""
        words = _WORD.findall(query.lower())
        postings = [self._index.get(word, {}) for word in words]
        if not postings:
            return []
        numbers = set(postings[0]).intersection(*postings[1:])
        return sorted(numbers, key=lambda number: (-sum(counts[number] for counts in postings), number))

    def document(self, path: str) -> ServedDocument | None:
        parts = urlsplit(path)
        if parts.path == "/robots.txt":
            return ALLOW_ALL
        if parts.path == "/":
            return _sheet("Old Library", "<p>All our holdings are in the catalogue.</p>")
        if parts.path == "/search":
            parameters = dict(parse_qsl(parts.query))
            page = parameters.get("page", "1")
            return self._results(parameters.get("q", ""), int(page) if page.isascii() and page.isdigit() else 1)
        number = parts.path.rpartition("-")[2]
        if number.isascii() and number.isdigit() and int(number) < self.records:
            record = int(number)
            if path == self.path(record):
                body = f"<p><i>{self.imprint(record)}</i></p>\n<p>{escape(self.abstract(record))}</p>"
                return _sheet(self.title(record), body)
        return None

    def _topic(self, number: int) -> int:
        return stir(self.seed, "shelf", number) % len(TOPICS)

    @cached_property
    def _index(self) -> dict[str, dict[int, int]]:
        index: dict[str, dict[int, int]] = {}
        for number in range(self.records):
            text = f"{3 * (self.title(number) + ' ')}{self.imprint(number)} {self.abstract(number)}"
            counts = Counter(_WORD.findall(text.lower()))
            for word, count in counts.items():
                index.setdefault(word, {})[number] = count
        return index

    def _results(self, query: str, page: int) -> ServedDocument:
        numbers = self.search(query)
        shown = numbers[(page - 1) * SHELF : page * SHELF] if page > 0 else []
        if not shown:
            body = f"<p>Nothing found for <b>{escape(query)}</b>. Try fewer words, or other ones.</p>" if query else ""
            return _sheet("Catalogue", body, query)
        items = "\n".join(
            f'<li><a href="{self.path(number)}">{escape(self.title(number))}</a>'
            f"<p><i>{self.imprint(number)}</i></p><p>{escape(_snippet(self.abstract(number), query))}</p></li>"
            for number in shown
        )
        more = ""
        for rel, other in (("prev", page - 1), ("next", page + 1)):
            if 0 < other <= -(-len(numbers) // SHELF):
                href = escape(f"/search?q={quote_plus(query)}&page={other}")
                more += f'<a rel="{rel}" href="{href}">{"Previous" if rel == "prev" else "Next"} page</a> '
        body = f"<p>{len(numbers)} records found for <b>{escape(query)}</b>, page {page}.</p>"
        return _sheet("Catalogue", f"{body}\n<ol>\n{items}\n</ol>\n<p>{more}</p>", query)


def _name(seed: int, *key: object) -> str:
    code = stir(seed, *key)
    head, code = _HEADS[code % len(_HEADS)], code // len(_HEADS)
    return (head + _MIDS[code % len(_MIDS)] + _TAILS[code // len(_MIDS) % len(_TAILS)]).title()


def _snippet(abstract: str, query: str) -> str:
    words, wanted = abstract.split(), set(_WORD.findall(query.lower()))
    at = next((i for i, word in enumerate(words) if wanted.intersection(_WORD.findall(word.lower()))), 0)
    start = max(0, at - _SNIPPET // 2)
    return " ".join(words[start : start + _SNIPPET])


def _sheet(title: str, body: str, query: str = "") -> ServedDocument:
    return ServedDocument(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)} - Old Library'
        f"</title>\n</head>\n<body>\n"
        f'<nav><a href="/">Old Library</a> <a href="/search">Catalogue</a></nav>\n<h1>{escape(title)}</h1>\n'
        f'<form action="/search" method="get"><input type="text" name="q" value="{escape(query)}">'
        f"<button>Search</button></form>\n{body}\n"
        "<footer><p>The Old Library is open on weekdays. Ask the staff about loans.</p></footer>\n"
        "</body>\n</html>\n".encode()
    )
