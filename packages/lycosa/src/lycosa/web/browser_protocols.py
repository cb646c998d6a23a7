"""Interface between the web space and a renderer; `lycosa.browser` implements it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lycosa.core.state import State
from lycosa.core.types import Outcome, Resource, Visit

if TYPE_CHECKING:  # parsing a page must not import the HTTP client
    from lycosa.web.fetch import Response

# Sends a request as the crawl does (guard, robots.txt, delays); raises FetchError.
Fetch = Callable[[str, dict[str, str], "RenderedPage"], Awaitable[tuple["Response", Resource]]]

# All patterns are free of backtracking; otherwise a hostile page could keep them running for hours.
_MOUNT = re.compile(
    r"<(div|main|section|body|app-root|[a-z]{1,30}+-[a-z-]{1,60}+)\b"
    r"(?=[^<>]{0,500}?\b(?:id|data-reactroot|ng-app|ng-version|data-server-rendered)\b)[^<>]*+>\s*+"
    r"(?>(?:<!--.{0,200}?-->|<noscript\b[^<]*+(?:<(?!/?noscript\b)[^<]*+)*+</noscript>|<div[^<>]*+>\s*+</div>)\s*+)*+</\1>"
    r"|<(app-root|[a-z]{1,30}-(?:app|root|shell|page|view))\b[^<>]*+>\s*+</\2>",
    re.IGNORECASE | re.DOTALL,
)
_NOSCRIPT = re.compile(r"<noscript\b[^<>]*+>([^<]*+(?:<(?!/?noscript\b)[^<]*+)*+)</noscript>", re.IGNORECASE)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script|enable (it|js)\b|\bJS\b", re.IGNORECASE)
AMPLE_WORDS, FEW_LINKS = 500, 3  # a page with this many words is complete, even if it has few links
SHELL_WORDS = 150  # a page with more words is not an empty shell


@dataclass(frozen=True, slots=True)
class PageSigns:
    """Signs that a page is incomplete without a browser."""

    words: int
    links: int
    scripts: bool  # has scripts that a browser would run
    has_empty_mount: bool = False  # an empty element waits for a script to fill it
    asks_for_scripts: bool = False  # a <noscript> element asks for JavaScript
    loads_later: Callable[[], bool] = bool  # inspects the scripts: True if they load content later

    @classmethod
    def of(cls, source: str, words: int, links: int, scripts: str) -> PageSigns:
        """Inspect the source of a page with this many words and links."""
        asks = any(_ASKS_FOR_SCRIPTS.search(text) for text in _NOSCRIPT.findall(source, 0, MAX_SCANNED_CHARS))
        has_mount = bool(_MOUNT.search(source, 0, MAX_SCANNED_CHARS))
        return cls(words, links, bool(scripts), has_mount, asks, loads_later=lambda: scripts == LOADS_LATER)

    @property
    def is_shell(self) -> bool:
        """True if hardly anything can be read without a browser."""
        if not self.scripts:
            return False
        return self.words < 30 or ((self.has_empty_mount or self.asks_for_scripts) and self.words < SHELL_WORDS)

    @property
    def is_thin(self) -> bool:
        """True if there is so little text that a browser may well find more."""
        return self.scripts and self.words < 80

    @property
    def lacks_links(self) -> bool:
        """True if the page has hardly a link and no long text, so that a browser might find more."""
        return self.scripts and self.links <= FEW_LINKS and self.words < AMPLE_WORDS


class LoggedRequest(NamedTuple):
    """One request of a rendered page; logged as a list."""

    url: str
    outcome: Outcome
    status: int = 0
    size: int = 0
    type: str = ""
    started: float = 0.0
    ended: float = 0.0
    address: str = ""
    digest: str = ""  # hexadecimal, as visit data are JSON


MAX_LOGGED_REQUESTS = 200  # per page


@dataclass(slots=True)
class RenderedPage:
    dom: bytes = b""  # HTML in UTF-8
    failed: str = ""  # reason why content is missing
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0  # without politeness delays
    resources: list[Resource] = field(default_factory=list)
    skipped: int = 0  # requests not sent: ads, images, robots.txt, budget
    navigations: list[str] = field(default_factory=list)  # URLs that scripts tried to navigate to
    request_log: list[list[Any]] = field(default_factory=list)  # `LoggedRequest` as lists, for the log
    robots_files: list[dict[str, Any]] = field(default_factory=list)  # read during rendering, for the log
    held_hosts: dict[str, float] = field(default_factory=dict)  # host -> do not fetch before this time


class Renderer(Protocol):
    """Decides which pages to render, and renders them."""

    @property
    def notes(self) -> list[str]:
        """Messages for the user at the end of the crawl."""

    def render_reason(self, node: str, signs: PageSigns) -> str:
        """Return why this page should be rendered, or "" if it should not."""

    async def render(self, node: str, response: Response, fetch: Fetch) -> RenderedPage:
        """Render a page whose HTTP response is known. Failures are returned in the result, not raised."""

    def learn(self, visit: Visit) -> None: ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...

    async def close(self) -> None: ...


HAS_SCRIPTS, LOADS_LATER = "some", "later"
MAX_SCANNED_CHARS = 500_000  # characters of a page's source that are searched for scripts

# `[sS]` instead of re.IGNORECASE lets the regex engine skip to the next "<".
_SCRIPT = re.compile(r"<[sS][cC][rR][iI][pP][tT]\b([^<>]*+)>")
_DATA = re.compile(r"\btype\s*=\s*[\"']?(?!text/javascript|application/javascript|module\b|[\"'>\s])", re.IGNORECASE)
_MARKUP = ("lazy", "infinite", "data-next", "load-more")
_ADDS = re.compile(r"infinite-scroll|data-infinite|data-next(-page|-url)?=|load-more|lazy-?l(inks|oad|ist)")
_CODE = re.compile(
    r"(?i)IntersectionObserver|infinite[-_ ]?scroll|load[-_ ]?more|lazy[-_]?(links|load|list)|"
    r"addEventListener\(\s*[\"']scroll|requestIdleCallback"
)


def has_scripts(source: str) -> bool:
    """Return True if a page has a script that a browser would run; reads the first MAX_SCANNED_CHARS characters.

    >>> has_scripts('<p>reefs</p><script type="application/ld+json">{}</script>'), has_scripts("<script>a()</script>")
    (False, True)
    """
    return any(not _DATA.search(tag[1]) for tag in _SCRIPT.finditer(source, 0, MAX_SCANNED_CHARS))


def classify_scripts(source: str) -> str:
    """Return HAS_SCRIPTS, LOADS_LATER if the scripts load content later, or "" if there are none."""
    source = source[:MAX_SCANNED_CHARS]
    runs, left = False, 50_000  # characters of inline scripts to read
    for tag in _SCRIPT.finditer(source):
        if _DATA.search(tag[1]):
            continue
        runs = True
        end = source.find("</", tag.end(), tag.end() + left)
        end = tag.end() + left if end < 0 else end
        if end > tag.end() and _CODE.search(source, tag.end(), end):
            return LOADS_LATER
        left -= end - tag.end()
        if left <= 0:
            break
    if not runs:
        return ""
    # Few pages contain any of these words, and a substring search is faster than a regex.
    return LOADS_LATER if any(word in source for word in _MARKUP) and _ADDS.search(source) else HAS_SCRIPTS
