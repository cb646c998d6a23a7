"""Self-test of the checks: damage something for each of them, so that all must fail."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from lycosa.store.log import NAME, PAGES, SqliteLog
from lycosa_server.people.database import Database
from soaking.checking import MEMORY, Checks
from soaking.world import DAY


def spoil(checks: Checks) -> None:
    """Damage the journal and the files, except that the revisit crawl stays readable."""
    place, journal, watched = checks.place, checks.journal, checks.place.watched
    journal.broken.append("a failure")
    recorded = [request for request in journal.requests if request.crawl == "watch" and request.status > 0]
    journal.requests.append(replace(recorded[-1], sent=recorded[-1].done + 0.5, done=recorded[-1].done + 0.6))
    forbidden = next(url for url in checks.world.urls() if not _ever_allowed(checks, url))
    journal.requests.append(replace(recorded[0], url=forbidden, sent=30 * DAY, done=30 * DAY + 1, status=200))
    journal.samples.append(replace(journal.samples[-1], memory=MEMORY + 1))
    journal.interests["nobody's"] = 0
    (place.root / "tmp" / "left").touch()
    archive = min((watched / "archive").glob("*.warc.gz"))
    whole = bytearray(archive.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    archive.write_bytes(whole)
    with closing(SqliteLog(watched / NAME)) as log:
        log.append(next(log.visits(PAGES, "seq DESC LIMIT 1")))
    with closing(Database(place.settings.database_address)) as database:
        database.run("UPDATE crawl SET pages = pages + 1 WHERE state <> 'running'")
        database.run("UPDATE interest SET settings = '{}'")


def _ever_allowed(checks: Checks, url: str) -> bool:
    now = 1_700_000_000.0 + 30 * DAY
    return checks.world.allowed(url, now, now - 1.6 * DAY)
