"""Rate limits on failed attempts, stored in the database so that a restart does not reset them.

    PAIR      5 in 15 minutes    one name from one address: guessing one person's password
    ADDRESS   20 in 15 minutes   one address, any name: trying one password on many names
    NAME      30 in an hour      one name from all addresses it never signed in from: distributed guessing
    CODE      20 in 15 minutes   one address, invitation codes
    OLD       5 in 15 minutes    one signed-in person, wrong old passwords

An address that a person signed in from within 90 days is limited by PAIR alone there, so that others cannot lock them
out. Only digests are stored, because people type passwords into name fields. Attempts are recorded before they are
checked, and removed on success, so concurrent attempts are all counted.
"""

from __future__ import annotations

import ipaddress
import math
from typing import NamedTuple

from lycosa.core.errors import LycosaError
from lycosa.drawing.formats import many
from lycosa_server.people.credentials import digest
from lycosa_server.people.database import Database
from lycosa_server.people.ids import new_id

MINUTE = 60.0
KNOWN_SECONDS = 90 * 86400.0  # time for which an address stays known for a name


class Limit(NamedTuple):
    kind: str
    max_attempts: int
    seconds: float


PAIR = Limit("pair", 5, 15 * MINUTE)
ADDRESS = Limit("address", 20, 15 * MINUTE)
NAME = Limit("name", 30, 60 * MINUTE)
CODE = Limit("code", 20, 15 * MINUTE)
OLD_PASSWORD = Limit("old", 5, 15 * MINUTE)


class TooManyAttempts(LycosaError):
    """Raised for too many failures or too many concurrent operations; retry after `wait` seconds."""

    def __init__(self, wait: float, message: str = "") -> None:
        self.wait = max(1, math.ceil(wait))
        super().__init__(message or f"too many attempts: try again in {many(math.ceil(self.wait / MINUTE), 'minute')}")


class Attempt(NamedTuple):
    """Rows of an attempt, one per limit; for sign-ins also the sources to clear and to remember on success."""

    rows: list[str]
    pair: str = ""
    known: str = ""


def record_sign_in(database: Database, now: float, folded: str, address: str) -> Attempt:
    place = network(address)
    pair, known = _source("pair", folded, place), _source("known", folded, place)
    against = [(PAIR, pair)]
    is_known = "SELECT id FROM attempt WHERE source = :known AND at > :at"
    if not database.row(is_known, known=known, at=now - KNOWN_SECONDS):
        against += [(ADDRESS, _source("address", place)), (NAME, _source("name", folded))]
    return Attempt(_record(database, now, against), pair, known)


def record_attempt(database: Database, now: float, limit: Limit, who: str) -> Attempt:
    return Attempt(_record(database, now, [(limit, _source(limit.kind, network(who)))]))


def succeeded(database: Database, now: float, attempt: Attempt) -> None:
    """Remove an attempt. A sign-in also clears earlier failures and makes the address known."""
    with database.transaction():
        database.run("DELETE FROM attempt WHERE id IN :rows", rows=attempt.rows)
        if attempt.pair:
            database.run("DELETE FROM attempt WHERE source IN :sources", sources=[attempt.pair, attempt.known])
            database.insert("attempt", id=new_id(), source=attempt.known, at=now)


def network(address: str) -> str:
    """Return the unit that limits apply to: an IPv4 address, or an IPv6 /64 network.

    >>> network("2001:db8:1:2:3:4:5:6"), network("::ffff:192.0.2.1"), network("192.0.2.1")
    ('2001:db8:1:2::/64', '192.0.2.1', '192.0.2.1')
    """
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(read, ipaddress.IPv6Address):
        if read.ipv4_mapped:
            return str(read.ipv4_mapped)
        return str(ipaddress.ip_network((int(read) >> 64 << 64, 64)))
    return str(read)


def _record(database: Database, now: float, against: list[tuple[Limit, str]]) -> list[str]:
    # No limit covers more than a day.
    old = "at < :known OR (at < :day AND source NOT LIKE 'known:%')"
    database.run(f"DELETE FROM attempt WHERE {old}", known=now - KNOWN_SECONDS, day=now - 86400.0)
    with database.transaction():
        attempts = [database.insert("attempt", id=new_id(), source=source, at=now)["id"] for _, source in against]
    wait = max(_seconds_to_wait(database, now, limit, source) for limit, source in against)
    if wait > 0:  # rejected attempts do not count, so waiting as long as requested is enough
        database.run("DELETE FROM attempt WHERE id IN :rows", rows=attempts)
        raise TooManyAttempts(wait)
    return attempts


def _seconds_to_wait(database: Database, now: float, limit: Limit, source: str) -> float:
    statement = "SELECT at FROM attempt WHERE source = :source AND at > :at ORDER BY at DESC LIMIT :limit"
    rows = database.rows(statement, source=source, at=now - limit.seconds, limit=limit.max_attempts + 1)
    return 0.0 if len(rows) <= limit.max_attempts else float(rows[-1]["at"] + limit.seconds - now)


def forget(database: Database, folded: str) -> None:
    database.run("DELETE FROM attempt WHERE source LIKE :source", source=f"%:{digest(folded)[:32]}%")


def _source(kind: str, *parts: str) -> str:
    return ":".join([kind, *(digest(part)[:32] for part in parts)])
