"""What relevant pages need to be shown as they were (`--page-assets`): style sheets, scripts, pictures and fonts.

They are visits of a kind of their own, beside the frontier: robots.txt, pauses, the address guard and the archive are
those of pages, but nobody judges them, and no page budget counts them. A page is complete before the next page of its
host is asked for. What a page takes is in the visit of it, what a style sheet takes in the visit of that, so that a
resumed crawl knows what is missing. Pages that turn out to be relevant later, or were fetched before anybody wanted
this, are read again from the archive. What a browser fetched for a page is not fetched twice.
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
    """Something that a page needs."""

    page: str
    hops: int = 0
    attempt: int = 1


class PageAssets(protocols.VisitScheduler):
    """Says which of them comes next; stands before another keeper, if a collection is kept fresh as well."""

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
            raise InputError("--page-assets is for the archive, and this crawl has none: leave one of the two out")
        if not getattr(space, "has_versions", False):
            raise InputError("--page-assets is for crawls of the web")
        self.inner = inner or protocols.VisitScheduler()
        self.refreshes = self.inner.refreshes
        self.ready, self.host_key, self.threshold, self.versions = space.ready, space.host_key, threshold, versions
        self.owns = owns or (lambda node: True)
        self.most, self.most_bytes = options.max_page_assets, options.max_asset_bytes
        self.patience, self.trackers = options.patience, options.render_trackers
        self.exclude = compile_patterns(options.exclude)
        self.kept = options.render_resources != "none"  # the archive has what browsers fetch
        self.bytes = 0  # of all so far
        self._known: set[int] = set()  # addresses, whether fetched or waiting
        self._pages = Counter[int]()  # how many each page has
        self._waiting: dict[str, dict[str, WantedAsset]] = {}  # by host, the oldest first
        self._unread: deque[str] = deque()  # pages that have to be read again
        self._sheets: dict[str, list[str]] = {}  # what those need that a browser fetched
        self._in_flight: set[str] = set()
        self._rest: dict[str, float] = {}

    # -- what is next ------------------------------------------------------------------------------------------

    @property
    def explores(self) -> bool:
        """As the other keeper says."""
        return self.inner.explores

    def wants_turn(self) -> bool:
        """A page is completed before the next is fetched."""
        return self._is_wanting or self.inner.wants_turn()

    @property
    def _is_wanting(self) -> bool:
        return bool(self._waiting or self._unread) and not 0 < self.most_bytes <= self.bytes

    def pick(self, number: int, now: float) -> Task | None:
        """The oldest of a host that is ready."""
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
        """It is not in flight any more; if it has to wait, so has its host."""
        if task.kind != KIND:
            self.inner.give_back(task, until)
            return
        self._in_flight.discard(task.node)
        if until:
            self._rest[self.host_key(task.node)] = until

    def next_due(self, now: float) -> float:
        """When the first host is ready; one that wants to be left alone for long is for another run."""
        soonest = self.inner.next_due(now)
        if not self._is_wanting:
            return soonest
        if self._unread:
            return now
        for host_key, queue in self._waiting.items():
            if all(url in self._in_flight for url in queue):
                continue
            until = self._host_ready(host_key)
            if until == NEVER:  # an answer will come, and wake the loop; look again in any case
                soonest = min(soonest, now + 1.0)
            elif until <= now + self.patience:
                soonest = min(soonest, max(now, until))
        return soonest

    def _host_ready(self, host_key: str) -> float:
        return max(self.ready(host_key)[0], self._rest.get(host_key, 0.0))

    # -- what came ---------------------------------------------------------------------------------------------

    def is_same(self, visit: Visit, page: Page) -> bool:
        """As the other keeper says."""
        return self.inner.is_same(visit, page)

    def compare(self, visit: Visit, page: Page) -> None:
        """Say in the visit what the page needs, or the style sheet."""
        self.inner.compare(visit, page)
        if sheets := _sheets(page.exchange, self.most):
            visit.data = {**visit.data, "sheets": sheets}
        if visit.kind == KIND or self._was_relevant(visit):
            needs = None if page.exchange is None else self._needs(visit, page.exchange)
            if needs is not None:
                visit.data = {**visit.data, "assets": needs}

    def _was_relevant(self, visit: Visit) -> bool:
        return visit.is_version and visit.relevance >= self.threshold and not visit.same_as

    def _needs(self, visit: Visit, exchange: Exchange) -> list[str] | None:
        """What is needed beside this; None for what is neither a page nor a style sheet."""
        kind = visit.data.get("type")
        if visit.outcome != "ok":
            return None
        if visit.kind == KIND:
            return of_style(source_of(exchange, MOST_SOURCE), visit.node, self.most) if kind == CSS else None
        return of_page(source_of(exchange, MOST_SOURCE), visit.node, self.most) if kind in HTML else None

    def learn(self, visit: Visit, table: Table) -> None:
        """See a recorded visit, live or replayed."""
        self.inner.learn(visit, table)
        if visit.kind == KIND:
            self._learn(visit)
            return
        if "rendered" in visit.flags and self.kept:
            self._learn_rendered(visit)
        if self._was_relevant(visit):
            self._want(visit.node, visit.data.get("assets"))

    def _learn_rendered(self, visit: Visit) -> None:
        """What the browser fetched is archived with the page. Of a style sheet it is to be known what that needs."""
        sheets: dict[str, list[str]] = visit.data.get("sheets", {})
        self._sheets |= sheets
        for given in visit.data.get("render", {}).get("resources", ()):
            one = LoggedRequest(*given)
            if one.outcome == "ok" and (one.type != CSS or one.url in sheets):
                self._known.add(_key(one.url))

    def _learn(self, visit: Visit) -> None:
        host_key = self.host_key(visit.node)
        queue = self._waiting.get(host_key, {})
        if queue.pop(visit.node, None) is None and visit.attempt == 1:  # of a page that was read again in another run
            self._pages[_key(visit.origin)] += 1
        self._known.add(_key(visit.node))
        self.bytes += visit.size
        if visit.retry_at:
            self._waiting[host_key] = queue
            queue[visit.node] = WantedAsset(visit.origin, visit.hops, visit.attempt + 1)
        elif not queue:
            self._waiting.pop(host_key, None)
        if visit.outcome == "redirect" and visit.links.urls:
            self._put(visit.links.urls[0], WantedAsset(visit.origin, visit.hops + 1))
        for url in visit.data.get("assets", ()):
            self._put(url, WantedAsset(visit.origin))

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> None:
        """Pages that were not thought to be relevant may turn out to be."""
        self.inner.reconsider(rows, relevances_now, table)
        for row in rows[np.asarray(relevances_now) >= self.threshold].tolist():
            if row >= 0:
                self._want(table.nodes[row], None)

    def _want(self, node: str, needs: list[str] | None) -> None:
        """A page is relevant, and needs this; None: that is to be read."""
        key = _key(node)
        if needs is not None:
            self._pages[key] += 0
            for url in needs:
                self._put(url, WantedAsset(node))
        elif key not in self._pages:
            self._pages[key] = 0
            self._unread.append(node)

    def _put(self, url: str, wanted: WantedAsset) -> None:
        """Something that a page needs; of a style sheet that a browser has fetched, what that needs."""
        page, urls = _key(wanted.page), deque([url])
        while urls and self._pages[page] < self.most:
            url = urls.popleft()
            urls.extend(self._sheets.pop(url, ()))
            if _key(url) not in self._known and self._may(url):
                self._known.add(_key(url))
                self._pages[page] += 1
                self._waiting.setdefault(self.host_key(url), {})[url] = wanted

    def _may(self, url: str) -> bool:
        if any(pattern.search(url) for pattern in self.exclude) or (not self.trackers and is_tracker(url)):
            return False
        return self.owns(url)

    def _read_again(self) -> None:
        """What pages need that nobody has looked at for it."""
        for _ in range(min(5, len(self._unread))):
            node = self._unread.popleft()
            try:
                visit = self.versions.last(node)
                exchange = None if visit is None else self.versions.exchange(visit)
            except StoreError:  # which `lycosa check` tells
                continue
            if visit is not None and exchange is not None:
                self._want(node, self._needs(visit, exchange) or [])

    def state(self) -> State:
        """What was learned; pages that are to be read again are so still, and what they need is no part of the log."""
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


def _sheets(exchange: Exchange | None, most: int) -> dict[str, list[str]]:
    """What the style sheets need that a browser fetched for a page."""
    found = {}
    for one in exchange.resources if exchange is not None else ():
        if one.exchange.header("content-type").partition(";")[0].strip().lower() == CSS:
            found[one.url] = of_style(source_of(one.exchange, MOST_SOURCE), one.url, most)
    return found


def _key(node: str) -> int:
    return xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass"))


# -- what a page takes -------------------------------------------------------------------------------------

# What a page takes to be shown as it was: the addresses of its style sheets, scripts, pictures and fonts.
#
# They are asked for as they stand, with all of their parameters: whoever replays the page asks for the same. Linear in
# the size of the source, whatever the markup.

MOST_SOURCE = 500_000  # characters read of a page or style sheet
_LINKED = frozenset({"stylesheet", "icon", "apple-touch-icon", "preload", "modulepreload", "manifest", "mask-icon"})
_LOADED = frozenset({"style", "script", "image", "font", ""})  # kinds of preloads that are shown
# Attributes that name something shown.
_SOURCES = {
    "img": ("src", "srcset"), "script": ("src",), "source": ("srcset",), "input": ("src",), "video": ("poster",),
    "image": ("href", "xlink:href"), "body": ("background",), "table": ("background",), "td": ("background",),
    "embed": ("src",),
}  # fmt: skip
# None of these goes back over what it has read.
_URL = re.compile(r"""url\(\s*+(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'()]++))\s*+\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s++(?:"([^"\n]*+)"|'([^'\n]*+)')""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CANDIDATE = re.compile(r"[\s,]*+(\S*[^\s,])(?:,|\s[^,]*+)?")


def of_page(source: str, url: str, most: int) -> list[str]:
    """Those of a page, each once, in its order: no more than so many.

    >>> of_page('<link rel=stylesheet href="/a.css?v=1"><img srcset="b.png, c.png 2x">', "http://x.test/", 9)
    ['http://x.test/a.css?v=1', 'http://x.test/b.png', 'http://x.test/c.png']
    """
    base, hrefs, style = url, list[str](), False
    for token in islice(tokenize(source[:MOST_SOURCE]), 50_000):
        if token.type is TokenType.START_TAG:
            attributes = {key: value or "" for key, value in token.attrs} if token.attrs else {}
            name = token.tag or ""
            if name == "base" and base == url and attributes.get("href"):
                base = parse(attributes["href"], url) or url
            style = name == "style"
            hrefs += _named(name, attributes)
        elif token.type is TokenType.TEXT and style:
            hrefs += _in_style(token.data or "")
        elif token.type is TokenType.END_TAG:
            style = False
    return _addresses(hrefs, base, url, most)


def of_style(source: str, url: str, most: int) -> list[str]:
    """Those of a style sheet: other sheets, pictures and fonts.

    >>> of_style('@import "b.css"; /* url(no.png) */ a { background: url( "c.png" ) }', "http://x.test/a.css", 9)
    ['http://x.test/b.css', 'http://x.test/c.png']
    """
    return _addresses(_in_style(source[:MOST_SOURCE]), url, url, most)


def _named(name: str, attributes: dict[str, str]) -> Iterator[str]:
    """What a tag names."""
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
        yield from _in_style(attributes["style"])


def _in_style(source: str) -> list[str]:
    source = _COMMENT.sub(" ", source)
    found = [(match.start(), next(filter(None, match.groups()), "")) for match in _IMPORT.finditer(source)]
    found += [(match.start(), next(filter(None, match.groups()), "")) for match in _URL.finditer(source)]
    return [href for _, href in sorted(found)]


def _addresses(hrefs: Iterable[str], base: str, own: str, most: int) -> list[str]:
    """Addresses of the web, without fragments; not the page's own."""
    found: dict[str, None] = {}
    for href in hrefs:
        if len(found) >= most:
            break
        if not href.strip() or len(href) > MAX_LENGTH:
            continue
        url = (parse(href.strip(), base) or "").partition("#")[0]
        named = "@" in url[: url.find("/", 8)]  # with somebody's name and password
        if is_http(url) and len(url) <= MAX_LENGTH and not named and url != own.partition("#")[0]:
            found[url] = None
    return list(found)
