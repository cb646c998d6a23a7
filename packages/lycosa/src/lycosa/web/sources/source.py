"""`Source`: the URLs of a file, with the limits that all formats share."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import unquote

from lycosa.core.types import Links
from lycosa.drawing.formats import printable
from lycosa.web.dates import parse_http_date
from lycosa.web.sources.markup import unescape
from lycosa.web.urls import canonical, is_http, resolve, site

MAX_SOURCE_BYTES = 50 * 1024 * 1024  # decompressed; the sitemap protocol's limit
MAX_SOURCE_LINKS = 50_000  # the sitemap protocol's limit
DESCRIPTION_WORDS = 40  # words of a description
NOT_A_URL, OTHER_SITE, BEYOND_LIMIT = "not a web URL", "on another site", f"beyond the first {MAX_SOURCE_LINKS:,}"
_READ = 100 * DESCRIPTION_WORDS  # characters of a description to read
_TAG = re.compile(r"<(?:/?[a-zA-Z]|!--)[^<>]*>")
_CUT_TAG = re.compile(r"</?[a-zA-Z!][^<>]*$")
_ISO = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ][\d:.,+Z-]{1,30})?)?")
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"\.(?:[xs]?html?|php\d?|aspx?|jspx?|cfm|cgi|pl|md|txt|xml|json|pdf)$", re.IGNORECASE)
_NUMBERED = re.compile(r"(?=\D*\d)[0-9a-f]{8,}", re.IGNORECASE)


@dataclass(slots=True)
class Source:
    """The distinct URLs of a file in order."""

    form: str  # sitemap, sitemap index, feed, opml, bookmarks, list, html page
    url: str = ""  # base of relative URLs; empty for a file
    title: str = ""
    # Anchors are titles or words of the URL; contexts are descriptions and folder names.
    links: Links = field(default_factory=Links)
    modified: list[str] = field(default_factory=list)  # date of each link, like 2026-03-01 or longer; empty if unknown
    nested: list[str] = field(default_factory=list)  # sitemaps of an index, feeds of an OPML file
    lines: list[str] = field(default_factory=list)  # lines of a seed file as written; `links` is then empty
    left_out: Counter[str] = field(default_factory=Counter)  # number of entries, by reason
    note: str = ""  # remark for the user, such as "breaks off"
    entries: int = 0  # number of entries read
    _seen: set[str] = field(default_factory=set, repr=False)

    @property
    def skipped(self) -> int:
        return self.left_out.total()

    @property
    def marked(self) -> str:
        """The source as marked text, which a judge can rate."""
        pairs = zip(self.links.anchors, self.links.contexts, strict=True)
        return "\n".join(f"\x01{anchor}\x02 {context}".rstrip() for anchor, context in pairs)

    @property
    def is_full(self) -> bool:
        return self.entries >= 2 * MAX_SOURCE_LINKS

    def truncate(self, max_chars: int) -> None:
        """Drop links after `max_chars` characters in all; a long base or folder name counts in each entry."""
        links = self.links
        for at, texts in enumerate(zip(links.urls, links.anchors, links.contexts, strict=True)):
            max_chars -= sum(map(len, texts))
            if max_chars < 0:
                self.left_out["too long together"] += len(links) - at
                links.truncate(at)
                del self.modified[at:]
                return

    def add(
        self,
        href: str,
        title: str = "",
        context: str = "",
        modified: str = "",
        *,
        base: str = "",
        same_site: bool = False,
    ) -> None:
        """Add an entry, or count it as left out; with `same_site` it must be on the source's own site."""
        url = self._canonical_url(href, base, same_site, len(self.links))
        if url is None:
            return
        self.links.add(url, brief(title) or words_of(url), brief(context), position=len(self.links))
        self.modified.append(_date(modified))

    def follow(self, href: str, *, base: str = "", same_site: bool = False) -> None:
        url = self._canonical_url(href, base, same_site, len(self.nested))
        if url is not None:
            self.nested.append(url)

    def _canonical_url(self, href: str, base: str, same_site: bool, count: int) -> str | None:
        """Return the canonical URL of an entry; None if it is left out or a duplicate."""
        self.entries += 1
        base, href = base or self.url, href.strip()
        url = None if not href else resolve(base, [href])[0] if base else canonical(href)
        if url is None:
            self.left_out[NOT_A_URL] += 1
        elif same_site and self.url and site(url) != site(self.url):
            self.left_out[OTHER_SITE] += 1
        elif url in self._seen or url == self.url:
            return None
        elif count >= MAX_SOURCE_LINKS:
            self.left_out[BEYOND_LIMIT] += 1
        else:
            self._seen.add(url)
            return url
        return None


def brief(text: str) -> str:
    """Return the first words of a text, without markup."""
    cut, text = len(text) > _READ, text[:_READ]
    if "<" in text:
        text = _TAG.sub(" ", text)
        text = _CUT_TAG.sub(" ", text) if cut else text
    if "&" in text:
        text = unescape(text)
    return " ".join(printable(text, " ").split(None, DESCRIPTION_WORDS)[:DESCRIPTION_WORDS])[:500]


def words_of(url: str) -> str:
    """Return the words of a canonical URL's path, for an entry without a title."""
    start = url.find("/", 8) if is_http(url) else 0
    path = _ENDING.sub("", url[start:].partition("?")[0]) if start >= 0 else ""
    words = _WORD.findall(unquote(path)[:500])
    return " ".join(word for word in words if not word.isdigit() and not _NUMBERED.fullmatch(word))


def join_folders(names: list[str]) -> str:
    return " ".join(name for name in names[-3:] if name)


def _date(text: str) -> str:
    """Return an ISO date as it is and an RFC 2822 date in ISO format; "" for other texts."""
    text = text.strip()
    if not text or len(text) > 60:
        return ""
    if match := _ISO.match(text):
        return match[0]
    moment = parse_http_date(text)
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment > 0 else ""
