"""Last visits and feed keys."""

from __future__ import annotations

from lycosa_server.people import last_seen as visits
from lycosa_server.people.database import Database
from people_maker import NOW, interest, person


def test_open_feed_revokes_previous_key(database: Database) -> None:
    ada = person(database, "Ada")
    reefs = interest(database, ada)
    visits.mark_seen(database, NOW, reefs, ada)
    first, second = visits.open_feed(database, reefs, ada), visits.open_feed(database, reefs, ada)
    assert visits.by_key(database, first) is None
    assert visits.by_key(database, second) is not None
    assert NOW == visits.last_seen_at(database, reefs, ada)
    visits.close_feed(database, reefs, ada)
    assert visits.by_key(database, second) is None
