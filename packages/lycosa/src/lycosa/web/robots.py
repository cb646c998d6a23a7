"""Robots rules after RFC 9309: the URLs of a site that this crawler may fetch.

The parser and matcher are our own and not protego's, whose results differ from the standard where it matters here: it
finds an agent's group by substring, so that a group for `Lycos` would bind `Lycosa`, and it decodes reserved
characters, so that `/*%26` forbids every URL with `&`. A check also takes less than half as long.

Each rule has a precedence, twice its length plus one if it allows; the matching rule of the highest precedence decides,
which is the standard's "most octets" with `allow` winning ties. Rules without wildcards are found by looking up the
path's prefixes, rules with wildcards part by part with `str.find`, leftmost first, without backtracking. Where the
standard is silent or lenient:

- Paths and patterns are compared in one normal form: `%61` is `a`, hex digits are upper case, and characters that a URL
  cannot contain (spaces, letters beyond ASCII, invalid bytes, also `*`, `$` and `'`) are percent-encoded. In a
  query `%2F` and `%3A` equal `/` and `:` as in the standard's table; in a path they do not.
- Empty patterns, and patterns that start with neither `/` nor `*`, are ignored.
- Misspelled keys (`dissallow`, `useragent`) and a missing colon are accepted, since the intent is clear.
- Only `allow` and `disallow` end a list of user-agent lines: the standard lets no other record interfere. So
  `User-agent: *`, `Crawl-delay: 9`, `User-agent: x`, `Disallow: /` forbids everything to everyone, whatever
  its author meant. The delay itself holds for the agents named so far.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

MAX_BYTES = 500 * 1024  # the minimum that the standard requires
# Rules with wildcards that are matched in full; the most in 2,115 real files is 506. Beyond that, a `disallow` is cut
# at its first wildcard and an `allow` dropped: this bounds the cost and never allows more than was written.
MAX_WILD = 2_000
_AGENT, _ALLOW, _DISALLOW, _DELAY, _SITEMAP = range(5)
_KEYS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), _AGENT),
    "allow": _ALLOW,
    **dict.fromkeys("disallow dissallow dissalow disalow diasllow disallaw".split(), _DISALLOW),
    **dict.fromkeys(("crawl-delay", "crawldelay"), _DELAY),
    **dict.fromkeys(("sitemap", "site-map"), _SITEMAP),
}

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]*)?|\.[0-9]+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Characters rewritten before comparing; in a pattern `*` stays.
_ODD_IN_PATH = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&()+,;=%]")
_ODD_IN_PATTERN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&()+,;=%*]")


def verdict(status: int | None) -> Literal["parse", "allow", "forbid"]:
    """Return the meaning of the status of a robots.txt response, None for no response.

    The caller follows redirects; one that leads nowhere counts as an absent file, as the standard suggests beyond five
    of them. 429 forbids, unlike the rest of 4xx: it says "not now", not "no rules here".
    """
    if status is None:
        return "forbid"
    if 200 <= status < 300:
        return "parse"
    if 300 <= status < 500 and status != 429:
        return "allow"
    return "forbid"


@dataclass(slots=True, eq=False)
class _AgentGroup:
    rules: list[tuple[bool, str]] = field(default_factory=list)
    delay: float | None = None

    def slow_down(self, delay: float | None) -> None:
        if delay is not None:
            self.delay = max(delay, self.delay or 0.0)


class RobotsRules:
    """Rules of a robots.txt for one agent; immutable, and at most as large as the file."""

    ALLOW_ALL: ClassVar["RobotsRules"]

    __slots__ = ("_exact", "_lengths", "_prefixes", "_wild", "crawl_delay", "sitemaps")

    def __init__(
        self, rules: Iterable[tuple[bool, str]] = (), crawl_delay: float | None = None, sitemaps: tuple[str, ...] = ()
    ) -> None:
        self.crawl_delay = crawl_delay
        self.sitemaps = sitemaps
        self._exact: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        wild: dict[tuple[str, tuple[str, ...], str | None], int] = {}
        for allow, pattern in rules:
            if not pattern.startswith(("/", "*")):
                continue
            anchored = pattern.endswith("$")
            normal = _normal(pattern[:-1] if anchored else pattern, _ODD_IN_PATTERN)
            score = 2 * (len(normal) + anchored) + allow
            if "*" not in normal:
                table = self._exact if anchored else self._prefixes
                if score > table.get(normal, 0):
                    table[normal] = score
                continue
            head, *parts = normal.split("*")
            tail = parts.pop() if anchored else None
            middle = tuple(filter(None, parts))
            if not middle and not tail:
                self._prefixes[head] = max(score, self._prefixes.get(head, 0))
            elif len(wild) < MAX_WILD or (head, middle, tail) in wild:
                wild[head, middle, tail] = max(score, wild.get((head, middle, tail), 0))
            elif not allow:
                self._prefixes[head] = max(score, self._prefixes.get(head, 0))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        # The longest part of a rule is searched first: it is the least likely to occur.
        self._wild = sorted(
            (
                (score, head, max((*middle, tail or ""), key=len), middle, tail)
                for (head, middle, tail), score in wild.items()
            ),
            key=lambda rule: -rule[0],
        )

    @classmethod
    def parse(cls, body: bytes, agent: str) -> "RobotsRules":
        """Parse a robots.txt file for an agent, given by its product token or a whole User-Agent header."""
        wanted = product(agent)
        own, others = _AgentGroup(), _AgentGroup()
        addressed: list[_AgentGroup] = []  # groups that the current lines apply to
        is_named = closed = False
        sitemaps: dict[str, None] = {}
        for key, value in _lines(body):
            if key == _AGENT:
                if closed:  # a rule has ended the list of agents: start a new one
                    addressed, closed = [], False
                group = others if value.split(None, 1)[:1] == ["*"] else None
                if wanted and product(value) == wanted:
                    group, is_named = own, True
                if group is not None and group not in addressed:
                    addressed.append(group)
            elif key == _SITEMAP:
                sitemaps[value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")] = None
            elif key == _DELAY:
                for group in addressed:
                    group.slow_down(_seconds(value))
            else:
                closed = True
                for group in addressed:
                    group.rules.append((key == _ALLOW, value))
        group = own if is_named else others  # a group of our own overrides all others, even if it is empty
        return cls(group.rules, group.delay, tuple(filter(None, sitemaps)))

    def state(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]

    @classmethod
    def of(cls, state: list[Any]) -> "RobotsRules":
        rules = cls()
        for name, value in zip(cls.__slots__, state, strict=True):
            setattr(rules, name, value)
        rules.sitemaps = tuple(rules.sitemaps)
        rules._wild = [
            (score, head, longest, tuple(middle), tail) for score, head, longest, middle, tail in rules._wild
        ]
        return rules

    def allowed(self, url: str) -> bool:
        """Return True if the rules allow a canonical URL; /robots.txt itself is always allowed."""
        if not self._lengths and not self._wild and not self._exact:
            return True
        start = url.find("/", 8)
        path = url[start:] if start >= 0 else "/"
        if "#" in path:
            path = path[: path.index("#")]
        if path.startswith("/robots.txt") and path[11:12] in ("", "?"):
            return True
        path = _normal(path, _ODD_IN_PATH)
        best = self._exact.get(path, 1)  # the precedence of "allowed" when nothing matches
        size = len(path)
        prefixes = self._prefixes
        for length in self._lengths:
            if length > size:
                break
            score = prefixes.get(path[:length], 0)
            if score > best:
                best = score
        for score, head, longest, middle, tail in self._wild:
            if score <= best:
                break
            if longest in path and path.startswith(head) and _matches(path, len(head), middle, tail):
                best = score
        return best % 2 == 1


def _matches(path: str, position: int, middle: tuple[str, ...], tail: str | None) -> bool:
    """Return True if the parts between wildcards occur in the path in order; leftmost matches suffice."""
    for part in middle:
        at = path.find(part, position)
        if at < 0:
            return False
        position = at + len(part)
    return tail is None or (path.endswith(tail) and len(path) - len(tail) >= position)


def _lines(body: bytes) -> Iterable[tuple[int, str]]:
    if len(body) > MAX_BYTES:
        whole = body[MAX_BYTES : MAX_BYTES + 1] in (b"\n", b"\r")
        body = body[:MAX_BYTES]
        if not whole:  # a truncated pattern would forbid or allow more than was written
            body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    # Invalid UTF-8 is preserved, so that it matches the %XX of sites in older charsets.
    text = body.decode("utf-8-sig", "surrogateescape")
    for line in text.replace("\r", "\n").split("\n"):
        if "#" in line:
            line = line[: line.index("#")]
        name, colon, value = line.partition(":")
        if not colon:
            words = line.split()
            if len(words) != 2:
                continue
            name, value = words
        key = _KEYS.get(name.strip().lower())
        if key is not None:
            yield key, value.strip()


def product(agent: str) -> str:
    """Return the product token that an agent's name starts with, in lower case."""
    match = _TOKEN.match(agent.strip())
    return match.group().lower() if match else ""


def _seconds(value: str) -> float | None:
    if not _SECONDS.fullmatch(value):
        return None
    delay = float(value)
    return delay if delay <= 86_400.0 else None  # longer ones are mistakes


def _normal(text: str, odd: re.Pattern[str]) -> str:
    if not odd.search(text):
        return text
    mark = text.find("?")

    def rewrite(found: re.Match[str]) -> str:
        piece = found.group()
        if len(piece) == 1:
            return "".join(f"%{octet:02X}" for octet in piece.encode("utf-8", "surrogateescape"))
        octet = int(piece[1:], 16)
        if octet in _UNRESERVED or (octet in b"/:" and 0 <= mark < found.start()):
            return chr(octet)
        return piece.upper()

    return odd.sub(rewrite, text)


RobotsRules.ALLOW_ALL = RobotsRules()
