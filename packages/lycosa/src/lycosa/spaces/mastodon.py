"""URLs and responses of Mastodon's API, as far as people are concerned; sends no requests.

Parsing any response yields people and statuses, or raises BadResponse with the reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from lycosa.drawing.formats import printable
from lycosa.web.html import CLOSE, OPEN, ParsedPage, extract
from lycosa.web.urls import canonical, host, is_http, origin

AT_ONCE = 40  # statuses per request, the maximum of all servers
MAX_STATUSES = 200  # statuses read per response
MAX_MENTIONS = 100  # people mentioned in one status
MAX_BYTES = 4_000_000  # inflated bytes of a response: ten times the size of forty long statuses
WINDOW = 300.0  # seconds of a rate limit without a stated end: Mastodon's default
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_ACCT = re.compile(rf"@?({_NAME})(?:@([^\s@/?#%]+))?")
_PROFILE = re.compile(rf"/(?:@({_NAME})(?:@([^@/]+))?|users/({_NAME}))/?")
_TAGGED = re.compile(r"/tags/([^/]+)/?")
_PATHS = re.compile(r"/api/(?:v1/accounts/(?P<id>[A-Za-z0-9_-]+)/statuses|v1/accounts/(?P<lookup>lookup)"
                    r"|v1/timelines/tag/(?P<tag>[^/]+)|v2/(?P<search>search))")  # fmt: skip
_OLDER = re.compile(r'<[^<>]{0,2000}[?&]max_id=([A-Za-z0-9_-]{1,64})(?:&[^<>]{0,2000})?>[^<]{0,100}?rel="?next\b')


class BadResponse(ValueError):
    """Raised for a response that is not one of the API."""


@dataclass(slots=True, frozen=True)
class Api:
    """URLs of one server's API."""

    server: str  # scheme, host and port
    boosts: bool = False
    replies: bool = True

    def node(self, text: str) -> str | None:
        """Return the node of an account, a hashtag or a search as typed by a user; None for other texts."""
        text = _scalar(text.strip())  # user input may contain lone surrogates
        words = text.partition(":")[2].strip() if text.startswith("search:") else ""
        if words:
            return canonical(f"{self.server}/api/v2/search?q={quote(words, safe='')}&limit={AT_ONCE}")
        if text.startswith("#"):
            return self._tag(text[1:])
        if "://" not in text and re.match(r"[^/@\s]+\.[^/@\s]+/@", text):
            text = f"https://{text}"
        if "://" in text:
            return self._address(text)
        acct = _ACCT.fullmatch(text)
        return self._lookup(acct[1], acct[2]) if acct else None

    def statuses(self, account: str, before: str = "") -> str:
        """Return the node of an account by its id: its latest statuses, or those before a status."""
        parameters = f"limit={AT_ONCE}"
        parameters += "" if self.boosts else "&exclude_reblogs=true"
        parameters += "" if self.replies else "&exclude_replies=true"
        return f"{self.server}/api/v1/accounts/{account}/statuses?{parameters}{f'&max_id={before}' if before else ''}"

    def older(self, node: str, link: str) -> str:
        """Return the next node of a Link header, or an empty string.

        Only the last status id is taken from the header, so the next page belongs to the same account.
        """
        match = _OLDER.search(link[:10_000])
        if match is None:
            return ""
        before, (kind, name) = match[1], parse_node(node)
        if kind == "account":
            return self.statuses(name, before)
        return f"{node.partition('?')[0]}?limit={AT_ONCE}&max_id={before}" if kind == "tag" else ""

    def _address(self, text: str) -> str | None:
        url = canonical(text)
        if url is None:
            return None
        here = origin(url) == self.server
        if here and parse_node(url)[0]:
            return url
        path = urlsplit(url).path
        if profile := _PROFILE.fullmatch(path):
            return self._lookup(profile[1] or profile[3], profile[2] or host(url))
        tagged = _TAGGED.fullmatch(path)
        return self._tag(tagged[1]) if tagged and here else None

    def _tag(self, name: str) -> str | None:
        name = quote(name, safe="%")
        return canonical(f"{self.server}/api/v1/timelines/tag/{name}?limit={AT_ONCE}") if name else None

    def _lookup(self, name: str, at: str | None) -> str | None:
        elsewhere = at and at.lower() not in (host(self.server + "/"), self.server.partition("://")[2])
        acct = f"{name}%40{quote(at.lower(), safe=':%')}" if at and elsewhere else name
        return canonical(f"{self.server}/api/v1/accounts/lookup?acct={acct}")


def parse_node(node: str) -> tuple[str, str]:
    """Return the type of a node and its subject: `account` with its id, `lookup`, `tag` with its name, `search`; empty
    for others.
    """
    match = _PATHS.fullmatch(urlsplit(node).path) if is_http(node) and "/api/" in node else None
    if match is None:
        return "", ""
    kind = match.lastgroup or ""
    if kind == "search":
        return kind, parse_qs(urlsplit(node).query).get("q", [""])[0]
    return ("account" if kind == "id" else kind), match[kind]


@dataclass(slots=True)
class Person:
    """An account in a response."""

    id: str
    acct: str
    name: str = ""
    note: str = ""
    url: str = ""
    opted_out: bool = False  # has opted out of indexing
    suspended: bool = False
    flags: list[str] = field(default_factory=list)
    moved: Person | None = None

    @property
    def title(self) -> str:
        return f"{self.name} (@{self.acct})" if self.name else f"@{self.acct}"

    def stored(self) -> dict[str, str]:
        return {"id": self.id, "acct": self.acct, "url": self.url}


@dataclass(slots=True)
class Status:
    author: Person
    text: str
    language: str
    mentions: list[Person]
    open: bool = True  # public; not for followers only, not unlisted
    secret: bool = False  # visible to our account only


@dataclass(slots=True)
class ParsedResponse:
    """People and statuses of a response, in order."""

    people: list[Person] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    author: Person | None = None  # author of an account's statuses, or the person found by a lookup
    secrets: bool = False  # has parts visible to our account only, so it must not be archived

    @property
    def text(self) -> str:
        return "\n\n".join(status.text for status in self.statuses if status.text)

    @property
    def language(self) -> str:
        spoken = Counter(status.language for status in self.statuses if status.language)
        return max(spoken, key=lambda code: spoken[code], default="")


def parse_response(body: bytes, node: str) -> ParsedResponse:
    """Parse an inflated body according to its node.

    Only public statuses are kept whose authors have not opted out of indexing.
    """
    parsed, kind = _load(body), parse_node(node)[0]
    if kind == "lookup":
        author = _person(parsed)
        if author is None:
            raise BadResponse("JSON without an account")
        return ParsedResponse(author=author)
    people: list[Person] = []
    if kind == "search" and isinstance(parsed, dict):
        people = [person for value in _several(parsed.get("accounts")) if (person := _person(value))]
        for person in people:
            person.note = _plain(person.note, node)
        parsed = parsed.get("statuses")
    if not isinstance(parsed, list):
        raise BadResponse("JSON without a list of statuses")
    boosts = kind != "account" or "exclude_reblogs=true" not in node
    statuses, author = list(_statuses(parsed, node, boosts)), None
    if kind == "account":
        author = next((person for value in parsed[:MAX_STATUSES] if (person := _person(_part(value, "account")))), None)
    kept = [status for status in statuses if status.open and not status.author.opted_out]
    return ParsedResponse(
        [person for person in people if not person.opted_out and not person.suspended],
        kept,
        author,
        any(status.secret for status in statuses),
    )


def read_document(body: bytes, node: str) -> ParsedPage:
    """Return an archived response as a document with title and text."""
    try:
        parsed = parse_response(body, node)
    except BadResponse:
        return ParsedPage()
    title = parsed.author.title if parsed.author is not None else ""
    return ParsedPage(title=title, marked=parsed.text, language=parsed.language)


def error_message(body: bytes) -> str:
    """Return the error message of a response, or an empty string."""
    try:
        parsed = _load(body)
    except BadResponse:
        return ""
    return _line(_part(parsed, "error"), 200)


def resets_in(reset: str, date: str, now: float) -> float | None:
    """Return the seconds until a rate limit is reset, by X-RateLimit-Reset and the server's Date; None if unknown.

    Mastodon sends an ISO 8601 time; others send seconds since the epoch, or seconds from now.
    """
    reset = reset.strip()
    try:
        if reset.isascii() and reset.isdigit():
            at = float(reset[:20])
            if at < 1e9:
                return at
        else:
            moment = datetime.fromisoformat(reset)
            at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    try:
        theirs = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        theirs = now
    # tolerance between clocks in seconds; Date has no fractions
    return max(0.0, at - (now if abs(theirs - now) <= 2.0 else theirs))


def _load(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadResponse(f"not JSON: {str(error)[:100]}") from error


def _statuses(statuses: list[Any], node: str, boosts: bool) -> Iterator[Status]:
    for value in statuses[:MAX_STATUSES]:
        boosted = _part(value, "reblog")
        if boosted is not None and not boosts:
            continue
        whole = boosted if boosted is not None else value
        author = _person(_part(whole, "account"))
        if author is None:
            continue
        mentions = [person for each in _several(_part(whole, "mentions")) if (person := _person(each))]
        if boosted is not None:  # a boost counts as a mention of the author
            mentions.insert(0, author)
        seen = [_part(each, "visibility") for each in (whole, value)]  # not a set: values may be unhashable
        yield Status(
            author,
            _text(whole, node),
            _line(_part(whole, "language"), 20).lower(),
            mentions[:MAX_MENTIONS],
            seen == ["public", "public"],
            not all(visible in ("public", "unlisted") for visible in seen),
        )


def _text(status: Any, node: str) -> str:
    warning, written = _line(_part(status, "spoiler_text"), 1000), _part(status, "content")
    # characters of one status, with its markup
    status_text = _plain(_scalar(written[:100_000]), node) if isinstance(written, str) else ""
    return "\n".join(filter(None, (warning, status_text)))


def _plain(html: str, node: str) -> str:
    marked = extract(html.encode(), node, "utf-8").marked if html else ""
    return marked.replace(OPEN, "").replace(CLOSE, "").strip()


def _person(value: Any) -> Person | None:
    number = _part(value, "id")
    if isinstance(number, int) and not isinstance(number, bool):
        number = str(number)
    if not isinstance(number, str) or not _ID.fullmatch(number):
        return None
    flags = [
        flag
        for flag, raised in (
            ("bot", value.get("bot") is True),
            ("limited", value.get("limited") is True),
            ("undiscoverable", value.get("discoverable") is False),
            # excludes from the server's search only; noindex applies to crawlers
            ("unsearchable", value.get("indexable") is False),
        )
        if raised
    ]
    return Person(
        number,
        _line(value.get("acct") or value.get("username"), 200) or number,
        _line(value.get("display_name"), 200),
        _line(value.get("note"), 1000),
        _line(value.get("url"), 500),
        value.get("noindex") is True,
        value.get("suspended") is True,
        flags,
        _person({**value["moved"], "moved": None}) if isinstance(value.get("moved"), dict) else None,
    )


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _several(value: Any) -> list[Any]:
    return value[:MAX_MENTIONS] if isinstance(value, list) else []


def _line(value: Any, max_length: int) -> str:
    if not isinstance(value, str):
        return ""
    return " ".join(printable(_scalar(value[: 2 * max_length]), " ").split())[:max_length]


def _scalar(text: str) -> str:
    """Replace lone surrogates, which JSON can contain but UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
