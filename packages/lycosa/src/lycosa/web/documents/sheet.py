"""Documents converted to plain HTML: headings, paragraphs and links, parsed like any page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter

from lycosa.web.declared import MAX_VALUE_LENGTH, as_href, find_urls
from lycosa.web.html import CLOSE, OPEN, ParsedPage, extract

MAX_MARKUP = 2_500_000  # characters with markup: less than html.MAX_SOURCE, so that no text is cut twice
LEAD_LENGTH = 600  # characters
TRUNCATED = "truncated:document"  # flag of documents of which only the beginning was read
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff\ufffe\uffff\ue000\ue001\ud800-\udfff]")
Piece = tuple[str, str]  # a text and its link, mostly empty


class DocumentText:
    """Collects paragraphs and headings up to a size limit."""

    def __init__(self) -> None:
        self.is_full = False  # True once the limit is reached
        self.headings: list[str] = []
        self._markup: list[str] = []
        self._main: list[str] = []
        self._lead: list[str] = []
        self._lead_size = 0
        self._size = 0

    def add(self, pieces: Iterable[Piece], level: int = 0, *, main: bool = True) -> None:
        """Add a paragraph, or a heading if `level` is not 0; with `main=False` it is not part of the main text."""
        if self.is_full:
            return
        parts = [
            (_clean("".join(text for text, _ in group)), href)  # neighbours with the same target become one link
            for href, group in groupby(pieces, itemgetter(1))
        ]
        text = " ".join("".join(text for text, _ in parts).split())
        if not text and not any(href for _, href in parts):
            return
        tag = f"h{min(level, 6)}" if level else "p"
        markup = "".join(_link(text, href) if href else _with_linked_urls(text) for text, href in parts)
        self._markup.append(f"<{tag}>{markup}</{tag}>")
        self._size += len(self._markup[-1])
        self.is_full = self._size > MAX_MARKUP or len(self._markup) >= 100_000
        if not text or not main:
            return
        self._main.append(text)
        if level:
            self.headings.append(text)
        elif self._lead_size < LEAD_LENGTH:
            self._lead.append(text)
            self._lead_size += len(text)

    def read(self, url: str) -> ParsedPage:
        markup = "<meta charset=utf-8><body>" + "\n".join(self._markup)
        document = extract(markup[: MAX_MARKUP + 100_000].encode("utf-8", "replace"), url)
        document.main = "\n".join(self._main)[: MAX_MARKUP + 100_000]
        document.headings = "\n".join(self.headings[:1000])[:100_000]
        document.lead = "\n".join(self._lead)[: 4 * LEAD_LENGTH]
        if self.is_full:
            document.flags.append(TRUNCATED)
        return document


def one_line(text: str) -> str:
    """Return a metadata value on one line."""
    return " ".join(_clean(text[: 4 * MAX_VALUE_LENGTH]).split())[:MAX_VALUE_LENGTH]


def describe(
    document: ParsedPage, metadata: Mapping[str, str], *, is_truncated: bool = False, **about: str | None
) -> None:
    """Set title, language and metadata; the title defaults to the first heading or line."""
    first = document.headings.partition("\n")[0] or next(filter(None, document.main.split("\n")), "")
    document.title = one_line(metadata.get("title", "")) or one_line(first)
    document.language = one_line(metadata.get("language", "")).lower()[:20]
    document.about = {name: text for name, value in about.items() if (text := one_line(value or ""))}
    if is_truncated and TRUNCATED not in document.flags:
        document.flags.append(TRUNCATED)


def page_count(pages: str) -> str:
    return pages if pages.isdigit() and len(pages) < 8 and pages != "0" else ""


def split_at_links(marked: str, hrefs: Sequence[str], at: int) -> tuple[list[Piece], int]:
    """Split a text with link marks into pieces, the first link being `hrefs[at]`; also return the next index."""
    first, *others = marked.split(OPEN)
    pieces: list[Piece] = [(first.replace(CLOSE, ""), "")]
    for other in others:
        inside, _, after = other.partition(CLOSE)
        pieces += [(inside, hrefs[at] if at < len(hrefs) else ""), (after.replace(CLOSE, ""), "")]
        at += 1
    return pieces, at


def _clean(text: str) -> str:
    return _UNSEEN.sub("", text)


def _link(text: str, href: str) -> str:
    return f'<a href="{escape(href[:4000])}">{escape(text, quote=False)}</a>'


def _with_linked_urls(text: str) -> str:
    parts: list[str] = []
    done = 0
    for start, end in find_urls(text):
        url = text[start:end]
        parts += [escape(text[done:start], quote=False), _link(url, as_href(url))]
        done = end
    return "".join([*parts, escape(text[done:], quote=False)])
