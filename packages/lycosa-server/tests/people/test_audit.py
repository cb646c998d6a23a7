"""The audit log, on both databases."""

from __future__ import annotations

from lycosa_server.people import audit
from lycosa_server.people.database import Database

NOW = 1_700_000_000.0


def test_entries_page_through_equal_times(database: Database) -> None:
    for number in range(10):
        audit.record(database, NOW + number // 4, "", "", f"act {number}")
    pages, before = [], None
    while found := audit.entries(database, before, 3):
        pages.append(sorted(row["action"] for row in found))
        before = found[-1]["at"]
    assert [[f"act {number}" for number in range(4, 10)], [f"act {number}" for number in range(4)]] == pages


def test_record_cleans_and_shortens_text(database: Database) -> None:
    audit.record(database, NOW, "", "a\0b\ud800", "act", "x" * 1000)
    row = audit.entries(database)[0]
    assert ("a�b�", audit.MAX_FIELD_LENGTH, "…") == (row["name"], len(row["subject"]), row["subject"][-1])


def test_record_removes_entries_after_a_year(database: Database) -> None:
    audit.record(database, NOW, "", "", "old")
    audit.record(database, NOW + audit.MAX_AGE_SECONDS + 1, "", "", "new")
    assert ["new"] == [row["action"] for row in audit.entries(database)]
