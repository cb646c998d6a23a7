"""What clients ask for: the head of an HTTP/1.1 request, and which answers it would not need."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

from lycosa.replay.records import Answer


class Request:
    """The head of a request, leniently read."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, _, rest = first.partition(" ")
        target, _, self.version = rest.rpartition(" ")
        # A target should be ASCII; what is not, was most likely meant as UTF-8.
        self.target = target.encode("latin-1").decode("utf-8", "replace")
        fields = (line.partition(":") for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        asked = f"{self.headers.get('connection', '')},{self.headers.get('proxy-connection', '')}".lower()
        self.keep = "close" not in asked and (self.version != "HTTP/1.0" or "keep-alive" in asked)
        """Whether the connection stays open."""

    @property
    def sane(self) -> bool:
        """Whether it is a request at all."""
        return self.version.startswith("HTTP/1.") and bool(self.target)

    @property
    def body(self) -> int:
        """Bytes that follow; -1 where nobody can tell."""
        if "transfer-encoding" in self.headers:
            return -1
        length = self.headers.get("content-length", "0")
        return int(length) if length.isascii() and length.isdigit() else -1

    @property
    def at(self) -> int | None:
        """The moment that Accept-Datetime asks for (RFC 7089), in microseconds since 1970."""
        return seconds(self.headers.get("accept-datetime", ""), 1_000_000)

    def url(self, tunnel: str) -> str:
        """The address that is meant; `tunnel` is the origin that an earlier CONNECT has named."""
        if not self.target.startswith("/"):
            return self.target
        scheme, _, named = tunnel.partition("://")
        return f"{scheme or 'http'}://{self.headers.get('host') or named}{self.target}"

    def has(self, answer: Answer) -> bool:
        """Whether the client holds just this answer already."""
        if answer.status != 200:
            return False
        if "if-none-match" in self.headers:
            tag = answer.header(b"etag").removeprefix("W/")
            tags = [tag.strip().removeprefix("W/") for tag in self.headers["if-none-match"].split(",")]
            return bool(tag) and (tag in tags or tags == ["*"])
        since = seconds(self.headers.get("if-modified-since", ""))
        changed = seconds(answer.header(b"last-modified"))
        return since is not None and changed is not None and changed <= since


def seconds(date: str, unit: int = 1) -> int | None:
    """A date in a header, since 1970 and in parts of a second; None for what is none.

    >>> seconds("Thu, 01 Jan 1970 00:01:00 GMT"), seconds("yesterday")
    (60, None)
    """
    try:
        return int(parsedate_to_datetime(date).timestamp() * unit)
    except (ValueError, TypeError, OverflowError):
        return None


def http_date(date: int) -> bytes:
    """Microseconds since 1970 as a header has them.

    >>> http_date(60_000_000)
    b'Thu, 01 Jan 1970 00:01:00 GMT'
    """
    return format_datetime(datetime.fromtimestamp(date // 1_000_000, UTC), usegmt=True).encode()
