"""The content behind a search form: nodes are keywords, and keywords in their results are links.

A node is the URL of a results page, so robots.txt, delays, archive and log are those of the web. First the form is
probed with a nonsense keyword, as a prerequisite: the content of that page is the template of all results pages and not
a result. The state (template, known records, URLs of further pages) is derived from recorded visits.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import numpy as np

from lycosa.core.protocols import NEVER
from lycosa.core.types import Links, Outcome, Page, Task, Visit
from lycosa.spaces.over_web import WebBackedSpace
from lycosa.spaces.web_space import WebSpace
from lycosa.web.html import CLOSE, OPEN
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.parse_process import reparse_page
from lycosa.web.urls import canonical

# Returns the words of a text in a language that are suitable as queries.
Words: TypeAlias = Callable[[str, str], list[str]]
MAX_TEXT_LENGTH = 200_000  # characters of results read for keywords
MAX_TEMPLATE_LINES = 5000  # lines, and links, remembered of the probe page
WINDOW = 50  # characters of context before and after a keyword: 100 in all, as in the paper
_KEYWORD_SLOT = "lycosa0keyword"
_NEXT = re.compile(
    r"(?:next|more|older|weiter|nächste|suivant|siguiente|seguente|próxim|volgende|nästa)\b|[»›→>]+$", re.I
)
_LETTERS = re.compile(r"(?<!\w)[^\W\d_]{3,40}(?!\w)")
_DIGITS = re.compile(r"\d+")


def letters(text: str, language: str) -> list[str]:
    """Return words of three or more letters; the crawl also removes stop words."""
    return _LETTERS.findall(text.lower())


class ResultsPage(NamedTuple):
    """The keyword and page number of a URL."""

    keyword: str
    number: int = 1
    before: frozenset[str] = frozenset()  # records of the previous page


class SearchFormSpace(WebBackedSpace):
    """Query a search form with one keyword after the other; words of the results become the next keywords.

    A seed is a keyword. Each request is a separate visit: the second results page is a node that promises as many
    records as the first one had. So the budget counts requests, and a strategy may prefer another keyword over more
    results of this one.

    beta is the number of records on the page; alpha of a keyword is its frequency in their titles and texts. The
    default judge `given` returns them unchanged. Any other judge reads the text of the records: with a topic, only that
    part of a database is collected.

    A record is a link that does not occur on the probe page and does not lead to another search.

    - url: the URL of a results page, with {} for the keyword: https://site.example/search?q={}. To find it, search
      for something on the site and copy the URL.
    - record: only links that match this regular expression are records.
    - pages: number of results pages to follow for a keyword.
    - count: beta counts new records (new), or all of them (all), as in the paper. New ones show a strategy that a
      keyword only repeats others, which finds more records (see docs/benchmarks.md).
    - most: maximum number of keywords taken from a page, most frequent first.

    Only GET forms are supported.

    Paper: Gouriten, Maniu, Senellart 2014, 2.2; the problem is that of Barbosa, Freire 2010. There a node has all
    records of a keyword, here those of one page.
    """

    strategy = "best-first"  # scent finds a quarter less in 50 requests: see docs/benchmarks.md

    def __init__(
        self,
        web: WebSpace,
        url: str,
        record: str = "",
        pages: int = 50,
        count: Literal["new", "all"] = "new",
        most: int = 100,
        words: Words = letters,
    ) -> None:
        if url.count("{}") != 1:
            raise ValueError(
                f"'url' is {url!r}: it needs {{}} in place of the keyword, once; search for something on the site, and "
                "copy the URL of the results, with {} in place of the keyword"
            )
        form = canonical(url.replace("{}", _KEYWORD_SLOT))
        if form is None or form.count(_KEYWORD_SLOT) != 1:
            raise ValueError(f"'url' is {url!r}: it must be a web URL, as in https://site.example/search?q={{}}")
        if pages < 1 or most < 1:
            raise ValueError("'pages' and 'most' must be 1 or more")
        try:
            self.record = re.compile(record)
        except re.error as error:
            raise ValueError(f"'record' is {record!r}, which is not a regular expression: {error}") from error
        super().__init__(web)
        self.url, self.pages, self.count, self.most, self.words = url, pages, count, most, words
        self.seen: dict[str, str] = {}  # records so far, with their titles
        self.queries = 0  # results pages so far
        self._before, self._after = form.split(_KEYWORD_SLOT)
        self._nonsense = "zq" + hashlib.sha256(form.encode()).hexdigest()[:10]
        self._probe_url = self._address(self._nonsense)
        self._template: tuple[frozenset[str], frozenset[str]] | None = None
        self._attempts = 0
        self._probing = False
        self._results_pages: dict[str, ResultsPage] = {}

    @property
    def notes(self) -> list[str]:
        """Hints for the user at the end of a crawl."""
        if self.queries >= 3 and not self.seen:  # warn after three results pages without a record
            return [
                f"{self.queries} results of {self.url} had no records: no links that a search for nonsense lacks; "
                "if url is the URL of the results, describe the URLs of records with record=PATTERN"
            ]
        return [f"{len(self.seen):,} records found by {self.queries:,} requests"] if self.queries else []

    def node(self, text: str) -> str | None:
        keyword = " ".join(text.lower().split())
        try:
            return self._address(keyword) if keyword and "://" not in keyword else None
        except UnicodeEncodeError:  # user input may contain lone surrogates
            return None

    def _address(self, keyword: str) -> str:
        address = self._before + quote(keyword, safe="") + self._after
        return canonical(address) or address

    def place(self, node: str) -> ResultsPage:
        known = self._results_pages.get(node)
        if known is not None:
            return known
        inside = node.startswith(self._before) and node.endswith(self._after)
        return ResultsPage(unquote(node[len(self._before) : len(node) - len(self._after)]) if inside else "")

    def _is_search(self, url: str) -> bool:
        path, _, _ = self._before.partition("//")[2].partition("?")
        rest = url.partition("//")[2]
        if "?" not in self._before:  # the keyword is part of the path
            return rest.startswith(path)
        return rest.partition("?")[0].rstrip("/") == path.rstrip("/")

    def ready(self, host_key: str) -> tuple[float, str]:
        """Return when the next request may be sent to the host; never while the probe is in flight."""
        return (NEVER, "the probe of the form") if self._probing else super().ready(host_key)

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        """Return robots.txt first, then the probe, once."""
        if self._template is None:
            prerequisite = super().prerequisite(self._probe_url)
            if prerequisite is None:
                return Task(self._probe_url, "probe", origin=node, attempt=self._attempts + 1)
            if isinstance(prerequisite, Task):
                return prerequisite
        return super().prerequisite(node)

    def learn(self, visit: Visit) -> None:
        """Update the state with a visit: the probe's template, records, and the URLs of further pages."""
        super().learn(visit)
        data = visit.data
        if visit.kind == "probe":
            self._probing = False
            self._attempts = visit.attempt
            if "moved" in data:
                self._probe_url = data["moved"]
            elif not visit.retry_at:
                self._template = frozenset(data.get("links", ())), frozenset(data.get("lines", ()))
        elif "records" in data:
            self.queries += 1
            for url, title in data["records"]:
                self.seen.setdefault(url, title)
            if "next" in data:
                records = frozenset(url for url, _ in data["records"])
                self._results_pages[data["next"]] = ResultsPage(data["query"], data["page"] + 1, records)
        elif visit.kind == "redirect" and visit.links.urls:
            self._results_pages.setdefault(visit.links.urls[0], self.place(visit.node))

    def visit(self, task: Task) -> Awaitable[Page]:
        self._probing |= task.kind == "probe"
        return self._visit(task, self.web.visit(task))

    async def _visit(self, task: Task, going: Awaitable[Page]) -> Page:
        try:
            page = await going
        except asyncio.CancelledError:
            self._probing &= task.kind != "probe"
            raise
        if task.kind == "probe":
            self._read_probe(task, page)
        elif task.kind == "page" and page.kind == "redirect":
            self._read_redirect(task, page)
        elif task.kind == "page" and page.outcome == "ok":
            self._read(task, page)
        return page

    def _read_probe(self, task: Task, page: Page) -> None:
        """Keep the template of the form's pages; some forms return 404 if nothing was found."""
        if page.kind == "redirect" and task.attempt < self.web.attempts and self._is_search(page.links.urls[0]):
            page.data["moved"] = page.links.urls[0]
        marked, urls = page.marked, page.links.urls
        if page.outcome == "gone" and page.exchange is not None:
            try:
                body, _ = inflate(page.exchange.body, page.exchange.header("content-encoding"), self.web.inflated)
            except BadEncoding:
                body = b""
            document = reparse_page(body, task.node, page.exchange.header("content-type"))
            marked, urls = document.marked, document.links.urls
        if page.kind != "redirect":
            page.data["links"] = sorted({_blank(url, self._nonsense) for url in urls})[:MAX_TEMPLATE_LINES]
            page.data["lines"] = sorted({_plain(line, self._nonsense) for line in _lines(marked)})[:MAX_TEMPLATE_LINES]
        page.links = Links()

    def _read_redirect(self, task: Task, page: Page) -> None:
        """Follow a redirect to other results; a redirect to a record is the only result."""
        target, place = page.links.urls[0], self.place(task.node)
        if self._is_search(target):
            return
        page.kind, page.links = "page", Links()
        if self.record.pattern and self.record.search(target):
            page.outcome = "ok"
            self._fill(page, place, {target: ""}, "")
        else:
            page.outcome = "gone"
            page.note = f"sent to {target}, which is not a page of results: a login, or has the form moved?"

    def _read(self, task: Task, page: Page) -> None:
        place = self.place(task.node)
        records, more, kinds = self._sort(task.node, page, place)
        text = self._text(page, kinds, place) if records else ""
        if not records or place.number >= self.pages or place.before.issuperset(records):
            more = ""
        if not records:
            page.note = "no links may be followed from here" if "nofollow" in page.flags else "no records"
        self._fill(page, place, records, text, more)

    def _sort(self, node: str, page: Page, place: ResultsPage) -> tuple[dict[str, str], str, dict[int, str]]:
        known = self._template[0] if self._template is not None else frozenset()
        records: dict[str, str] = {}
        kinds: dict[int, str] = {}
        more = ""
        links = page.links
        for url, anchor, rel, at in zip(links.urls, links.anchors, links.rels, links.positions, strict=True):
            search = self._is_search(url)
            onwards = "next" in rel.split() or (search and _NEXT.match(anchor) is not None)
            if _blank(url, place.keyword) in known or url == node:
                kinds[at] = "template"
            elif onwards and self.host_key(url) == self.host_key(node):
                more, kinds[at] = more or url, "template"
            elif self.record.search(url) if self.record.pattern else not search:
                kinds[at] = "record"
                if len(records) < 1000 and not records.get(url):  # records taken from one results page
                    records[url] = anchor[:200]
            elif search:
                kinds[at] = "template"
        return records, more, kinds

    def _text(self, page: Page, kinds: dict[int, str], place: ResultsPage) -> str:
        """Return the text of the records: from each record's link to the next link of the template."""
        if OPEN not in page.marked:
            pairs = zip(page.links.contexts, page.links.positions, strict=True)
            return "\n".join(text for text, at in pairs if kinds.get(at) == "record")[:MAX_TEXT_LENGTH]
        known = self._template[1] if self._template is not None else frozenset()
        inside, kept = False, []
        for at, piece in enumerate(page.marked.split(OPEN)[1:]):
            kind = kinds.get(at, "")
            inside = kind == "record" or (inside and not kind)
            if inside:
                kept.append(piece)
        return "\n".join(line for line in _lines(OPEN.join(kept)) if _plain(line, place.keyword) not in known)[
            :MAX_TEXT_LENGTH
        ]

    def _fill(self, page: Page, place: ResultsPage, records: dict[str, str], text: str, more: str = "") -> None:
        record_count = len(records) if self.count == "all" else sum(url not in self.seen for url in records)
        own = set(self.words(place.keyword, page.language))
        counts = Counter(word for word in self.words(text, page.language) if word not in own)
        chosen = counts.most_common(self.most)
        urls = [self._address(word) for word, _ in chosen]
        anchors, link_relevances = [word for word, _ in chosen], [float(count) for _, count in chosen]
        lower = text.lower()
        contexts = [_around(text, lower.find(word), len(word)) for word in anchors]
        page.data |= {"query": place.keyword, "page": place.number, "records": [list(pair) for pair in records.items()]}
        if more:
            urls, anchors, contexts, link_relevances = (
                [more, *urls], [place.keyword, *anchors], ["", *contexts], [float(len(records)), *link_relevances],
            )  # fmt: skip
            page.data["next"] = more
        page.data |= {"beta": float(record_count), "alpha": link_relevances}
        page.title = place.keyword if place.number == 1 else f"{place.keyword}, page {place.number}"
        page.marked, page.main, page.headings, page.lead = text, "", "", ""
        n = len(urls)
        page.links = Links(urls, anchors, contexts, [""] * n, list(range(n)), np.zeros(n, np.float32))


def _blank(url: str, keyword: str) -> str:
    quoted = quote(keyword, safe="")
    return url.replace(quoted, "{}").replace(quoted.replace("%20", "+"), "{}") if keyword else url


def _plain(line: str, keyword: str) -> str:
    return " ".join(_DIGITS.sub("", line.lower().replace(keyword, "")).split())


def _lines(marked: str) -> list[str]:
    """Return the lines of a text, split at links, because template lines may contain links to records."""
    lines = marked.replace(OPEN, "\n").replace(CLOSE, "\n").split("\n")
    return [line for line in map(str.strip, lines) if line]


def _around(text: str, at: int, length: int) -> str:
    start, end = max(0, at - WINDOW), at + length + WINDOW
    before, after = text[start:at], text[at + length : end]
    if start > 0:
        before = before.partition(" ")[2]
    if end < len(text):
        after = after.rpartition(" ")[0]
    return " ".join(f"{before}{text[at : at + length]}{after}".split())
