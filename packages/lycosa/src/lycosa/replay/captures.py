"""The captures of a WARC file, collected while it is read.

A capture is a response to a GET that can be replayed: a response, revisit or resource record with a web URL. Requests
are read for their method only, because a response to a POST must not be served for a GET.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest as hash64

from lycosa.web.urls import canonical, host_key, parse

# Flags: the body is in another record; the URL is https; a successful HTML page; the record has content.
REVISIT, SECURE, PAGE, CONTENT = 1, 2, 4, 8
RESPONSE, RESOURCE, REQUEST, REVISITED = 4, 8, 16, 64  # fastwarc's record types, as plain numbers


def identify(url: str) -> tuple[int, int, str]:
    """Return the keys of a URL: one shared by http and https, one of its exact spelling, and its canonical form.

    >>> identify("http://example.org/a?utm_source=x")[0] == identify("https://EXAMPLE.org/a#top")[0]
    True
    """
    spelled = (parse(url) or url).partition("#")[0]
    address = canonical(url) or spelled
    return hash64(bare(address).encode()), hash64(spelled.encode()) & 0xFFFFFFFF, address


def bare(url: str) -> str:
    return url.partition("://")[2]


def moment(text: str) -> int:
    """Parse a WARC-Date to microseconds since 1970; 0 if it is invalid.

    >>> moment("1970-01-01T00:00:01.5Z"), moment("soon")
    (1500000, 0)
    """
    try:
        at = datetime.fromisoformat(text)
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # before the year 1 or after 9999 in UTC
        return 0
    return round(at.timestamp() * 1e6)


def digest_key(text: str) -> int:
    """Return a payload digest as a number; 0 for none."""
    return hash64(text.upper().encode()) if text else 0


class Captures:
    """Columns of captures under construction, one row per capture, in file order."""

    def __init__(self) -> None:
        self.columns = {
            "key": array("Q"), "date": array("q"), "offset": array("Q"), "length": array("Q"), "digest": array("Q"),
            "exact": array("I"), "host": array("I"), "flags": array("B"),
        }  # fmt: skip
        self.hosts: dict[str, int] = {}
        self.starts: list[str] = []  # for each host, its page with the shortest URL
        self.records = 0
        self._open = False
        self._ids = array("Q")
        self._partners = array("Q")
        self._not_get: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def note(self, record: Any, offset: int) -> None:
        """Add the record at an offset if it is a capture."""
        self.close(offset)
        self.records += 1
        kind, headers = int(record.record_type), record.headers
        if kind == REQUEST and not record.reader.read(4).startswith(b"GET "):
            self._not_get.update(_ids(headers, "WARC-Record-ID", "WARC-Concurrent-To"))
        url = (headers.get("WARC-Target-URI") or "").strip("<> ")
        if kind not in (RESPONSE, REVISITED, RESOURCE) or not url.startswith(("http://", "https://")):
            return
        key, exact, address = identify(url)
        page, content = (False, True) if kind == RESOURCE else _has(record)
        columns = self.columns
        columns["key"].append(key)
        columns["date"].append(moment(headers.get("WARC-Date") or ""))
        columns["offset"].append(offset)
        columns["length"].append(0)
        columns["digest"].append(digest_key(headers.get("WARC-Payload-Digest") or ""))
        columns["exact"].append(exact)
        columns["host"].append(self._host(host_key(address), address if page and address.isprintable() else ""))
        columns["flags"].append(
            REVISIT * (kind == REVISITED) | SECURE * address.startswith("https://") | PAGE * page | CONTENT * content
        )
        self._ids.append(next(_ids(headers, "WARC-Record-ID"), 0))
        self._partners.append(next(_ids(headers, "WARC-Concurrent-To"), 0))
        self._open = True

    def close(self, end: int) -> None:
        if self._open:
            self.columns["length"][-1] = end - self.columns["offset"][-1]
            self._open = False

    def forget(self, offset: int) -> None:
        """Remove captures at or after an offset, because they are incomplete."""
        while self.columns["offset"] and self.columns["offset"][-1] >= offset:
            for column in (*self.columns.values(), self._ids, self._partners):
                column.pop()
            self._open = False

    def servable(self) -> NDArray[np.bool_]:
        """Return a mask of the rows that may be served; the others are responses to a POST or HEAD."""
        wrong = np.array(sorted(self._not_get), np.uint64)
        return ~(np.isin(np.array(self._ids, np.uint64), wrong) | np.isin(np.array(self._partners, np.uint64), wrong))

    def _host(self, name: str, page: str) -> int:
        number = self.hosts.setdefault(name, len(self.hosts))
        if number == len(self.starts):
            self.starts.append(page)
        elif page and (not self.starts[number] or len(page) < len(self.starts[number])):
            self.starts[number] = page
        return number


def _ids(headers: Any, *names: str) -> Iterator[int]:
    return (hash64(value.encode()) for name in names for value in headers.get_multiple(name))


def _has(record: Any) -> tuple[bool, bool]:
    """Return whether a record is HTML with status 2xx, and whether it has content, as "not modified" records do."""
    try:
        record.parse_http()
        http = record.http_headers
        kind = (http.get("Content-Type") or "").lower() if http is not None else ""
        status = (http.status_code or 0) if http is not None else 0
        stands = int(record.record_type) == REVISITED and status in (0, 304)
        whole = 200 <= status < 300
        return whole and kind.startswith(("text/html", "application/xhtml")), whole or stands
    except (OSError, ValueError, AttributeError):
        return False, int(record.record_type) == REVISITED
