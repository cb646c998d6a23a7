"""Comparisons of strategies on a recorded crawl: asked for by people, done one at a time by the crawl process."""

from __future__ import annotations

import json
from typing import Any

from lycosa.people.database import Database, Row, Taken, new_id

MOST_WAITING = 3
"""Comparisons of one interest that are not over yet."""

MOST_KEPT = 50
"""Comparisons of one interest that are kept: older ones go."""


def ask(database: Database, now: float, interest: str, crawl: str, strategies: list[str]) -> Row:
    """Put one into the queue; `Taken` if there are enough already."""
    with database.transaction():
        database.get("interest", interest, locked=True)  # one who asks at a time
        if database.count("comparison", "interest = ? AND state IN ('queued', 'running')", interest) >= MOST_WAITING:
            raise Taken("there are comparisons of this interest under way: wait for one of them, or delete it")
        for old in of_interest(database, interest)[MOST_KEPT - 1 :]:
            database.delete("comparison", old["id"])
        row: Row = {
            "id": new_id(),
            "interest": interest,
            "crawl": crawl,
            "strategies": json.dumps(strategies),
            "state": "queued",
            "reason": "",
            "result": "{}",
            "created": now,
            "ended": None,
        }
        database.insert("comparison", row)
    return row


def of_interest(database: Database, interest: str) -> list[Row]:
    return database.rows("SELECT * FROM comparison WHERE interest = ? ORDER BY created DESC, id DESC", interest)


def end(database: Database, now: float, comparison: str, result: dict[str, Any] | None, reason: str = "") -> None:
    """Keep what came of it: a result, or the reason why there is none."""
    state = "failed" if result is None else "finished"
    changes = {"state": state, "reason": reason.replace("\0", ""), "result": json.dumps(result or {}), "ended": now}
    database.update("comparison", comparison, changes)
