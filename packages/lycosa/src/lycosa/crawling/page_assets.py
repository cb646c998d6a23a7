"""Page assets (`--page-assets`): style sheets, scripts, images and fonts that relevant pages need to be displayed.

They are visits of their own kind outside the frontier. Robots.txt, delays, address guard and archive apply to them as
to pages, but they are neither judged nor counted by the page budget. Assets of a page come before the next page of its
host. The assets of a page or style sheet are recorded in its visit, so that a resumed crawl knows the missing ones.
Pages that become relevant later, or were fetched without this option, are read again from the archive. Resources that a
browser fetched for a page are not fetched again.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray
from turbohtml import TokenType, tokenize

from lycosa.browser.trackers import is_tracker
from lycosa.core import protocols
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.protocols import NEVER, Space
from lycosa.core.state import State
from lycosa.core.table import Table
from lycosa.core.types import Exchange, Kind, Page, Rows, Task, Visit
from lycosa.store.versions import Versions
from lycosa.web.browser_protocols import LoggedRequest
from lycosa.web.html import HTML
from lycosa.web.inflate import source_of
from lycosa.web.urls import MAX_LENGTH, compile_patterns, is_http, parse

KIND: Kind = "asset"

CSS = "text/css"


class WantedAsset(NamedTuple):
    """An asset to fetch, and the page that needs it."""

    page: str
    hops: int = 0
    attempt: int = 1


class PageAssets(protocols.VisitScheduler):
    """Scheduler of page assets, wrapped around the scheduler of revisits."""

    completes = True

    def __init__(
        self,
        options: Options,
        space: Space,
        threshold: float,
        versions: Versions,
        inner: protocols.VisitScheduler | None = None,
        owns: Callable[[str], bool] | None = None,
    ) -> None:
        if not options.archive:
            raise InputError(
                "conflicting-options", "--page-assets needs the archive: leave out --page-assets or --no-archive"
            )
        if not getattr(space, "has_versions", False):
            raise InputError("conflicting-options", "--page-assets only works for crawls of the web")
        self.inner = inner or protocols.VisitScheduler()
        self.refreshes = self.inner.refreshes
        self.ready, self.host_key, self.threshold, self.versions = space.ready, space.host_key, threshold, versions
        self.owns = owns or (lambda node: True)
        self.max_assets, self.max_bytes = options.max_page_assets, options.max_asset_bytes
        self.patience, self.trackers = options.patience, options.render_trackers
        self.exclude = compile_patterns(options.exclude)
        self.kept = options.render_resources != "none"  # true if the archive has the resources fetched by browsers
        self.bytes = 0  # bytes of all assets so far
        self._known: set[int] = set()  # hashes of URLs fetched or waiting
        self._pages = Counter[int]()  # number of assets per page
        self._waiting: dict[str, dict[str, WantedAsset]] = {}  # by host, oldest first
        self._unread: deque[str] = deque()  # pages to read again from the archive
        self._sheets: dict[str, list[str]] = {}  # assets of style sheets that a browser fetched
        self._in_flight: set[str] = set()
        self._rest: dict[str, float] = {}

    @property
    def explores(self) -> bool:
        return self.inner.explores

    def wants_turn(self) -> bool:
        return self._is_wanting or self.inner.wants_turn()

    @property
    def _is_wanting(self) -> bool:
        return bool(self._waiting or self._unread) and not 0 < self.max_bytes <= self.bytes

    def pick(self, number: int, now: float) -> Task | None:
        if self._is_wanting:
            self._read_again()
            for host_key, queue in self._waiting.items():
                if self._host_ready(host_key) > now:
                    continue
                url = next((url for url in queue if url not in self._in_flight), "")
                if url:
                    self._in_flight.add(url)
                    page, hops, attempt = queue[url]
                    return Task(url, KIND, -1, number, KIND, attempt=attempt, hops=hops, origin=page, due=True)
        return self.inner.pick(number, now)

    def give_back(self, task: Task, until: float = 0.0) -> None:
        if task.kind != KIND:
            self.inner.give_back(task, until)
            return
        self._in_flight.discard(task.node)
        if until:
            self._rest[self.host_key(task.node)] = until

    def next_due(self, now: float) -> float:
        soonest = self.inner.next_due(now)
        if not self._is_wanting:
            return soonest
        if self._unread:
            return now
        for host_key, queue in self._waiting.items():
            if all(url in self._in_flight for url in queue):
                continue
            until = self._host_ready(host_key)
            if until == NEVER:  # a response will wake the loop; check again after a second in any case
                soonest = min(soonest, now + 1.0)
            elif until <= now + self.patience:
                soonest = min(soonest, max(now, until))
        return soonest

    def _host_ready(self, host_key: str) -> float:
        return max(self.ready(host_key)[0], self._rest.get(host_key, 0.0))

    def is_same(self, visit: Visit, page: Page) -> bool:
        return self.inner.is_same(visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        self.inner.compare(visit, page)
        if sheets := _sheets(page.exchange, self.max_assets):
            visit.data = {**visit.data, "sheets": sheets}
        if visit.kind == KIND or self._was_relevant(visit):
            needs = None if page.exchange is None else self._needs(visit, page.exchange)
            if needs is not None:
                visit.data = {**visit.data, "assets": needs}

    def _was_relevant(self, visit: Visit) -> bool:
        return visit.is_version and visit.relevance >= self.threshold and not visit.same_as

    def _needs(self, visit: Visit, exchange: Exchange) -> list[str] | None:
        """Return the URLs of a page's or style sheet's assets; None for other content."""
        kind = visit.data.get("type")
        if visit.outcome != "ok":
            return None
        if visit.kind == KIND:
            read = style_sheet_urls if kind == CSS else None
        else:
            read = page_urls if kind in HTML else None
        return None if read is None else read(source_of(exchange, MAX_SOURCE_CHARS), visit.node, self.max_assets)

    def learn(self, visit: Visit, table: Table) -> None:
        self.inner.learn(visit, table)
        if visit.kind == KIND:
            self._learn(visit)
            return
        if "rendered" in visit.flags and self.kept:
            self._learn_rendered(visit)
        if self._was_relevant(visit):
            self._queue_assets(visit.node, visit.data.get("assets"))

    def _learn_rendered(self, visit: Visit) -> None:
        sheets: dict[str, list[str]] = visit.data.get("sheets", {})
        self._sheets |= sheets
        for given in visit.data.get("render", {}).get("resources", ()):
            one = LoggedRequest(*given)
            if one.outcome == "ok" and (one.type != CSS or one.url in sheets):
                self._known.add(_key(one.url))

    def _learn(self, visit: Visit) -> None:
        host_key = self.host_key(visit.node)
        queue = self._waiting.get(host_key, {})
        if queue.pop(visit.node, None) is None and visit.attempt == 1:  # requested by another run
            self._pages[_key(visit.origin)] += 1
        self._known.add(_key(visit.node))
        self.bytes += visit.size
        if visit.retry_at:
            self._waiting[host_key] = queue
            queue[visit.node] = WantedAsset(visit.origin, visit.hops, visit.attempt + 1)
        elif not queue:
            self._waiting.pop(host_key, None)
        if visit.outcome == "redirect" and visit.links.urls:
            self._queue_asset(visit.links.urls[0], WantedAsset(visit.origin, visit.hops + 1))
        for url in visit.data.get("assets", ()):
            self._queue_asset(url, WantedAsset(visit.origin))

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> None:
        self.inner.reconsider(rows, relevances_now, table)
        for row in rows[np.asarray(relevances_now) >= self.threshold].tolist():
            if row >= 0:
                self._queue_assets(table.nodes[row], None)

    def _queue_assets(self, node: str, needs: list[str] | None) -> None:
        """Queue the assets of a relevant page; with `needs` None, read the page again from the archive first."""
        key = _key(node)
        if needs is not None:
            self._pages[key] += 0
            for url in needs:
                self._queue_asset(url, WantedAsset(node))
        elif key not in self._pages:
            self._pages[key] = 0
            self._unread.append(node)

    def _queue_asset(self, url: str, wanted: WantedAsset) -> None:
        """Queue an asset; a style sheet that a browser has fetched is replaced by its own assets."""
        page, urls = _key(wanted.page), deque([url])
        while urls and self._pages[page] < self.max_assets:
            url = urls.popleft()
            urls.extend(self._sheets.pop(url, ()))
            if _key(url) not in self._known and self._is_allowed(url):
                self._known.add(_key(url))
                self._pages[page] += 1
                self._waiting.setdefault(self.host_key(url), {})[url] = wanted

    def _is_allowed(self, url: str) -> bool:
        if any(pattern.search(url) for pattern in self.exclude) or (not self.trackers and is_tracker(url)):
            return False
        return self.owns(url)

    def _read_again(self) -> None:
        """Read up to five pages from the archive and queue their assets."""
        for _ in range(min(5, len(self._unread))):
            node = self._unread.popleft()
            try:
                visit = self.versions.last(node)
                exchange = None if visit is None else self.versions.exchange(visit)
            except StoreError:  # reported by `lycosa check`
                continue
            if visit is not None and exchange is not None:
                self._queue_assets(node, self._needs(visit, exchange) or [])

    def state(self) -> State:
        waiting = [[url, *wanted] for queue in self._waiting.values() for url, wanted in queue.items()]
        return {
            "known": np.array(sorted(self._known), np.uint64),
            "pages": np.array(sorted(self._pages), np.uint64),
            "counts": np.array([self._pages[key] for key in sorted(self._pages)], np.int32),
            "waiting": waiting,
            "unread": list(self._unread),
            "sheets": [[url, *needs] for url, needs in self._sheets.items()],
            "bytes": self.bytes,
        }

    def restore(self, state: State) -> None:
        self._known, self.bytes = set(state["known"].tolist()), state["bytes"]
        self._pages = Counter(dict(zip(state["pages"].tolist(), state["counts"].tolist(), strict=True)))
        self._unread = deque(state["unread"])
        self._sheets = {url: needs for url, *needs in state["sheets"]}
        for url, page, hops, attempt in state["waiting"]:
            self._waiting.setdefault(self.host_key(url), {})[url] = WantedAsset(page, hops, attempt)


def _sheets(exchange: Exchange | None, limit: int) -> dict[str, list[str]]:
    found = {}
    for one in exchange.resources if exchange is not None else ():
        if one.exchange.header("content-type").partition(";")[0].strip().lower() == CSS:
            found[one.url] = style_sheet_urls(source_of(one.exchange, MAX_SOURCE_CHARS), one.url, limit)
    return found


def _key(node: str) -> int:
    return xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass"))


# URLs are kept as written, with all parameters, because replay tools request the same. Parsing takes linear time.

MAX_SOURCE_CHARS = 500_000  # maximum characters read of a page or style sheet
_LINKED = frozenset({"stylesheet", "icon", "apple-touch-icon", "preload", "modulepreload", "manifest", "mask-icon"})
_LOADED = frozenset({"style", "script", "image", "font", ""})  # preload types that affect the display
# Attributes with URLs of displayed resources.
_SOURCES = {
    "img": ("src", "srcset"), "script": ("src",), "source": ("srcset",), "input": ("src",), "video": ("poster",),
    "image": ("href", "xlink:href"), "body": ("background",), "table": ("background",), "td": ("background",),
    "embed": ("src",),
}  # fmt: skip
# Possessive quantifiers prevent backtracking.
_URL = re.compile(r"""url\(\s*+(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'()]++))\s*+\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s++(?:"([^"\n]*+)"|'([^'\n]*+)')""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CANDIDATE = re.compile(r"[\s,]*+(\S*[^\s,])(?:,|\s[^,]*+)?")


def page_urls(source: str, url: str, limit: int) -> list[str]:
    """Return the assets of an HTML page in document order, without duplicates, at most `limit`.

    >>> page_urls('<link rel=stylesheet href="/a.css?v=1"><img srcset="b.png, c.png 2x">', "http://x.test/", 9)
    ['http://x.test/a.css?v=1', 'http://x.test/b.png', 'http://x.test/c.png']
    """
    base, hrefs, style = url, list[str](), False
    for token in islice(tokenize(source[:MAX_SOURCE_CHARS]), 50_000):
        if token.type is TokenType.START_TAG:
            attributes = {key: value or "" for key, value in token.attrs} if token.attrs else {}
            name = token.tag or ""
            if name == "base" and base == url and attributes.get("href"):
                base = parse(attributes["href"], url) or url
            style = name == "style"
            hrefs += _named(name, attributes)
        elif token.type is TokenType.TEXT and style:
            hrefs += _style_urls(token.data or "")
        elif token.type is TokenType.END_TAG:
            style = False
    return _resolve_urls(hrefs, base, url, limit)


def style_sheet_urls(source: str, url: str, limit: int) -> list[str]:
    """Return the assets of a style sheet: other sheets, images and fonts.

    >>> style_sheet_urls('@import "b.css"; /* url(no.png) */ a { background: url("c.png") }', "http://x.test/a.css", 9)
    ['http://x.test/b.css', 'http://x.test/c.png']
    """
    return _resolve_urls(_style_urls(source[:MAX_SOURCE_CHARS]), url, url, limit)


def _named(name: str, attributes: dict[str, str]) -> Iterator[str]:
    if name == "link" and attributes.get("href"):
        relations = frozenset(attributes.get("rel", "").lower().split())
        if relations & _LINKED and "alternate" not in relations and attributes.get("as", "").lower() in _LOADED:
            yield attributes["href"]
    if name == "input" and attributes.get("type", "").lower() != "image":
        return
    for attribute in _SOURCES.get(name, ()):
        if value := attributes.get(attribute, ""):
            yield from _CANDIDATE.findall(value) if attribute == "srcset" else (value,)
    if "style" in attributes:
        yield from _style_urls(attributes["style"])


def _style_urls(source: str) -> list[str]:
    source = _COMMENT.sub(" ", source)
    found = [(match.start(), next(filter(None, match.groups()), "")) for match in _IMPORT.finditer(source)]
    found += [(match.start(), next(filter(None, match.groups()), "")) for match in _URL.finditer(source)]
    return [href for _, href in sorted(found)]


def _resolve_urls(hrefs: Iterable[str], base: str, own: str, limit: int) -> list[str]:
    """Resolve URLs and drop fragments, other schemes, credentials and the page itself."""
    found: dict[str, None] = {}
    for href in hrefs:
        if len(found) >= limit:
            break
        if not href.strip() or len(href) > MAX_LENGTH:
            continue
        url = (parse(href.strip(), base) or "").partition("#")[0]
        named = "@" in url[: url.find("/", 8)]  # true for URLs with a user name or password
        if is_http(url) and len(url) <= MAX_LENGTH and not named and url != own.partition("#")[0]:
            found[url] = None
    return list(found)
