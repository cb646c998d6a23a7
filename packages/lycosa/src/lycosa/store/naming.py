"""Names of archive files: PREFIX-DATE-SERIAL-HOST-TOKEN.warc.gz, as the WARC standard recommends.

The date is the file's creation time in UTC, to the millisecond; the serial number counts the files of a crawl. The
token is random, so that archives of many crawls can share a directory or bucket.
"""

from __future__ import annotations

import os
import re
import socket
from datetime import UTC, datetime

from lycosa.core.options import WARC_PREFIX

SUFFIX = ".warc.gz"

_SERIAL = re.compile(r".*-\d{17}-(\d{5,18})-.*", re.ASCII)


def file_name(prefix: str, serial: int, at: datetime | None = None, host: str = "", token: str = "") -> str:
    """Return the name of a new archive file.

    >>> file_name("reefs", 7, datetime(2026, 11, 17, 15, 13, 36, 5000, UTC), "crawler.example.org", "3f9c2a1b")
    'reefs-20261117151336005-00007-crawler.example.org-3f9c2a1b.warc.gz'
    """
    at = at or datetime.now(UTC)
    date = f"{at:%Y%m%d%H%M%S}{at.microsecond // 1000:03d}"
    return f"{prefix or WARC_PREFIX}-{date}-{serial:05d}-{host or host_name()}-{token or os.urandom(4).hex()}{SUFFIX}"


def serial_number(name: str) -> int:
    """Return the serial number in a file name; 0 for files that were not named by Lycosa."""
    match = _SERIAL.fullmatch(name.removesuffix(SUFFIX))
    return int(match[1]) if match else 0


def host_name() -> str:
    """Return this machine's name, reduced to characters and a length safe in file names."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname()).strip(".-")
    return plain[:40].strip(".-") or "localhost"
