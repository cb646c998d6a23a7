"""Notices in the database."""

from __future__ import annotations

from lycosa_server.people import notices
from lycosa_server.people.database import Database
from people_maker import NOW, interest, person


def test_read_marks_only_given_notices(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    for number in range(3):
        notices.notify(database, NOW + number, ada, "finished", f"crawl {number}")
    notices.notify(database, NOW, bob, "finished", "his", interest(database, bob))
    mine = notices.of_person(database, ada)
    assert ["crawl 2", "crawl 1", "crawl 0"] == [row["text"] for row in mine]
    his = notices.of_person(database, bob)
    notices.read(database, NOW + 9, ada, [mine[0]["id"], his[0]["id"]])
    assert (2, 1) == (notices.unread(database, ada), notices.unread(database, bob))
    assert ["crawl 1", "crawl 0"] == [row["text"] for row in notices.of_person(database, ada, unread=True)]
    notices.read(database, NOW + 9, ada, [])
    assert 2 == notices.unread(database, ada)
    notices.read(database, NOW + 9, ada)
    assert (0, 1) == (notices.unread(database, ada), notices.unread(database, bob))


def test_notify_removes_oldest(database: Database) -> None:
    ada = person(database, "Ada")
    with database.transaction():
        for number in range(notices.MAX_NOTICES):
            database.insert(
                "notice", {"id": f"n{number}", "person": ada, "kind": "finished", "text": "", "at": NOW + number}
            )
    notices.notify(database, NOW + 10_000, ada, "changes", "the newest")
    kept = {row["id"]: row["text"] for row in database.rows("SELECT id, text FROM notice")}
    assert notices.MAX_NOTICES == len(kept)
    assert "n0" not in kept
    assert "the newest" in kept.values()


def test_notify_never_removes_account_notices(database: Database) -> None:
    ada = person(database, "Ada")
    notices.notify(database, NOW, ada, "account", "a link was made")
    with database.transaction():
        for number in range(notices.MAX_NOTICES + 5):
            database.insert(
                "notice", {"id": f"n{number}", "person": ada, "kind": "shared", "text": "", "at": NOW + number}
            )
    notices.notify(database, NOW + 10_000, ada, "shared", "look at this")
    kinds = [row["kind"] for row in notices.of_person(database, ada, limit=10_000)]
    assert (1, notices.MAX_NOTICES) == (kinds.count("account"), kinds.count("shared"))
