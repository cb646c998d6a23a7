"""The crawl queue: wanted and actual states of crawls.

    queued ──> running ──> finished, stopped, failed
      ^           |              |
      |           v              |  resume, more, refresh
      +──────── paused           |
      +──────────────────────────+

People set the wanted state (`wanted`: run, pause, stop) and queue crawls; the crawl process takes them (`take`) and
reports how they ended (`end`). Each step is one conditional statement, or a short transaction with the row locked, so
concurrent changes are safe. An interest has at most one crawl under way.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lycosa.core.budget import STOPPED
from lycosa.core.errors import InputError
from lycosa_server.people.database import Conflict, Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.permissions import NotFound, found

UNDER_WAY = ("queued", "running", "paused")
OVER = ("stopped", "finished", "failed")

MAX_CRAWLS = 20  # maximum crawls per interest, as each is a directory with all fetched pages


@dataclass(slots=True)
class Ending:
    reason: str  # the engine's reason, or an error message
    failed: bool = False
    budget: int = 0  # page limit of the run
    pages: int = 0
    relevant: int = 0
    changes: int = 0  # changed pages, for a refresh


def create(database: Database, now: float, interest: str, budget: int) -> Row:
    with database.transaction():
        _check_only_one(database, interest)
        last = database.row(
            "SELECT MAX(number) AS number, COUNT(*) AS kept FROM crawl WHERE interest = :interest", interest=interest
        )
        if last and last["kept"] >= MAX_CRAWLS:
            raise Conflict(f"this interest has {MAX_CRAWLS} crawls, the maximum: delete an old one first")
        number = ((last and last["number"]) or 0) + 1
        state: Row = {"task": "crawl", "wanted": "run", "state": "queued", "created": now, "queued": now}
        row = database.insert("crawl", state, id=new_id(), interest=interest, number=number, budget=budget)
    return get(database, row["id"])


def pause(database: Database, crawl: str) -> Row:
    with _locked(database, crawl) as row:
        if row["state"] not in UNDER_WAY:
            raise Conflict(f"this crawl is {row['state']}: there is nothing to pause")
        return _set(database, row, wanted="pause", state="running" if row["state"] == "running" else "paused")


def resume(database: Database, now: float, crawl: str) -> Row:
    with _locked(database, crawl) as row:
        if row["state"] == "finished":
            raise Conflict("this crawl is finished: add more pages, or revisit its pages")
        if row["state"] in ("queued", "running"):
            return _set(database, row, wanted="run")
        return _queue(database, now, row)


def stop(database: Database, now: float, crawl: str) -> Row:
    with _locked(database, crawl) as row:
        if row["state"] in ("finished", "failed"):
            raise Conflict(f"this crawl is {row['state']}: there is nothing to stop")
        if row["state"] in ("running", "stopped"):
            return _set(database, row, wanted="stop")
        return _set(database, row, wanted="stop", state="stopped", reason=STOPPED, ended=now)


def add_pages(database: Database, now: float, crawl: str, pages: int, max_pages: int) -> Row:
    with _locked(database, crawl) as row:
        if row["task"] == "refresh" and row["state"] in UNDER_WAY:
            raise Conflict("this crawl is revisiting its pages: wait until it is done, or stop it first")
        budget = row["budget"] + pages
        if budget > max_pages:
            raise InputError("out-of-range", f"'budget' ({budget:,}) must be at most {max_pages:,}")
        if row["state"] in OVER:
            return _queue(database, now, row, task="crawl", budget=budget)
        wanted = "run" if row["wanted"] == "stop" else row["wanted"]  # cancel a pending stop
        return _set(database, row, budget=budget, wanted=wanted)


def refresh(
    database: Database, now: float, crawl: str, *, everything: bool = True, revisit_first: Sequence[str] = ()
) -> Row:
    """Queue a revisit of all pages (`everything`) or of due ones, first of URLs containing `revisit_first`."""
    with _locked(database, crawl) as row:
        if row["state"] in UNDER_WAY:
            raise Conflict(f"this crawl is {row['state']}: wait until it is over, or stop it first")
        goes_on = row["task"] == "refresh" and row["state"] != "finished"  # continue an interrupted refresh
        first = json.dumps(list(revisit_first), ensure_ascii=False)
        again = {"task": "refresh", "started": row["started"] if goes_on else None}
        return _queue(database, now, row, **again, everything=int(everything), revisit_first=first)


def request_judging(database: Database, interest: str, noun: str) -> None:
    """Request judging after a change of `labels`, `threshold` or `topic`; each includes those before it."""
    less = {"labels": ("",), "threshold": ("", "labels"), "topic": ("", "labels", "threshold")}[noun]
    with database.transaction():
        database.get("interest", interest, locked=True)  # locked before its crawls: see `lock_crawl`
        database.run(
            "UPDATE crawl SET judging = CASE WHEN judging IN :less THEN :what ELSE judging END, "
            "judge_requests = judge_requests + 1, judging_failed = '' WHERE interest = :interest",
            less=less,
            what=noun,
            interest=interest,
        )


def _set(database: Database, row: Row, **changes: Any) -> Row:
    database.update("crawl", row["id"], changes)
    return row | changes


def _queue(database: Database, now: float, row: Row, **changes: Any) -> Row:
    _check_only_one(database, row["interest"], row["id"])
    return _set(database, row, state="queued", wanted="run", reason="", queued=now, ended=None, due=None, **changes)


def lock_crawl(database: Database, crawl: str) -> Row | None:
    """Return the row of a crawl, locked after its interest's; the fixed order prevents deadlocks."""
    interest = "SELECT id FROM interest WHERE id = (SELECT interest FROM crawl WHERE id = :crawl)"
    database.row(interest + database.lock, crawl=crawl)
    return database.get("crawl", crawl, locked=True)


@contextmanager
def _locked(database: Database, crawl: str) -> Iterator[Row]:
    with database.transaction():
        yield found(lock_crawl(database, crawl), "crawl")


def _check_only_one(database: Database, interest: str, crawl: str = "") -> None:
    """Raise `Conflict` if another crawl of the interest is under way. Locks the interest against concurrent starts."""
    found(database.get("interest", interest, locked=True), "interest")
    statement = "SELECT state FROM crawl WHERE interest = :interest AND id <> :crawl AND state IN :states"
    other = database.row(statement, interest=interest, crawl=crawl, states=UNDER_WAY)
    if other is not None:
        raise Conflict(f"a crawl of this interest is {other['state']}: stop it first, or continue it")


def get(database: Database, crawl: str) -> Row:
    return found(database.get("crawl", crawl), "crawl")


def of_interest(database: Database, interest: str) -> list[Row]:
    return database.rows("SELECT * FROM crawl WHERE interest = :interest ORDER BY number DESC", interest=interest)


def queue_positions(database: Database) -> dict[str, int]:
    rows = under_way(database)
    return {crawl: place for place, crawl in enumerate(crawls_to_start(rows, len(rows), len(rows)), 1)}


def crawls_to_start(rows: Iterable[Row], total: int, per_person: int) -> list[str]:
    """Return the queued crawls to start now, in order; people with fewer running crawls come first."""
    rows, chosen = list(rows), list[str]()
    counts = Counter(row["owner"] for row in rows if row["state"] == "running")
    left = [row for row in rows if row["state"] == "queued"]
    while counts.total() < total:
        best = min(
            (row for row in left if counts[row["owner"]] < per_person),
            key=lambda row: (counts[row["owner"]], row["queued"], row["id"]),
            default=None,
        )
        if best is None:
            break
        left.remove(best)
        counts[best["owner"]] += 1
        chosen.append(best["id"])
    return chosen


def under_way(database: Database) -> list[Row]:
    return database.rows(
        "SELECT c.*, i.owner AS owner, i.settings AS settings, i.name AS name, i.revisit_every AS revisit_every "
        "FROM crawl c JOIN interest i ON i.id = c.interest "
        "WHERE c.state IN ('queued', 'running') ORDER BY c.queued, c.id"
    )


def to_judge(database: Database) -> list[Row]:
    return database.rows(
        "SELECT c.*, i.settings AS settings, i.owner AS owner FROM crawl c JOIN interest i ON i.id = c.interest "
        "WHERE c.judging <> '' ORDER BY c.number DESC, c.id"
    )


def record_judged(
    database: Database, crawl: str, request: int, relevant: int | None = None, last_label: int = 0, failed: str = ""
) -> None:
    with database.transaction():
        if lock_crawl(database, crawl) is None:
            return
        done = "UPDATE crawl SET judging = '', judging_failed = :failed WHERE id = :crawl AND judge_requests = :request"
        database.run(done, failed=failed, crawl=crawl, request=request)
        if relevant is not None:
            database.update("crawl", crawl, {"relevant": relevant})
        learned = "interest = crawl.interest AND relevant IS NOT NULL AND number <= :last_label"
        changes = f"last_label = :last_label, labels_learned = (SELECT COUNT(*) FROM feedback WHERE {learned})"
        statement = f"UPDATE crawl SET {changes} WHERE id = :crawl AND last_label <= :last_label"
        database.run(statement, last_label=last_label, crawl=crawl)


def take(database: Database, now: float, crawl: str) -> bool:
    changes = "state = 'running', started = COALESCE(started, :now)"
    chosen = "id = :crawl AND state = 'queued' AND wanted = 'run'"
    return database.run(f"UPDATE crawl SET {changes} WHERE {chosen}", now=now, crawl=crawl) == 1


def requeue(database: Database, crawl: str) -> None:
    database.run("UPDATE crawl SET state = 'queued' WHERE id = :crawl AND state = 'running'", crawl=crawl)


def update_counts(database: Database, crawl: str, pages: int, relevant: int) -> None:
    statement = "UPDATE crawl SET pages = :pages, relevant = :relevant WHERE id = :crawl AND state = 'running'"
    database.run(statement, pages=pages, relevant=relevant, crawl=crawl)


def end(database: Database, now: float, crawl: str, ending: Ending) -> str:
    with database.transaction():
        row = lock_crawl(database, crawl)
        if row is None or row["state"] != "running":
            return ""
        state, reason = _state_after(row, ending)
        counts = {"pages": ending.pages, "relevant": ending.relevant}
        wanted, ended = "run" if state == "queued" else row["wanted"], now if state in OVER else None
        _set(database, row, state=state, reason=reason, wanted=wanted, ended=ended, **counts)
    return state


def _state_after(row: Row, ending: Ending) -> tuple[str, str]:
    if ending.failed:
        return "failed", ending.reason
    if ending.reason == STOPPED:
        if row["wanted"] == "run":  # resumed while it was stopping
            return "queued", ""
        return ("paused", "") if row["wanted"] == "pause" else ("stopped", STOPPED)
    if row["task"] == "crawl" and ending.pages >= ending.budget > 0 and row["budget"] > ending.budget:
        return ("queued", "") if row["wanted"] == "run" else ("paused", "")  # the budget was raised meanwhile
    return "finished", ending.reason


def schedule(database: Database, now: float) -> list[str]:
    """Queue due refreshes of each interest's newest crawl and return their ids; failed ones are not repeated before."""
    queued = []
    for row in database.rows(
        "SELECT c.id, c.ended, c.due, i.revisit_every, i.settings FROM crawl c JOIN interest i ON i.id = c.interest "
        "JOIN person p ON p.id = i.owner "
        "WHERE (c.state = 'finished' OR c.state = 'failed' AND c.task = 'refresh') AND p.disabled = 0 "
        "AND (i.revisit_every <> '' OR c.due IS NOT NULL) AND NOT EXISTS "
        "(SELECT 1 FROM crawl newer WHERE newer.interest = c.interest AND newer.number > c.number)"
    ):
        again = row["revisit_every"]
        try:
            settings = InterestSettings.from_json(row["settings"])
            due = (row["ended"] or now) + settings.revisit_seconds(again) if again else None
        except (InputError, ValueError, TypeError):  # written by another version, so skip this interest
            continue
        if due is not None and due <= now:
            try:
                refresh(database, now, row["id"], everything=not (settings.frequently or settings.infrequently))
                queued.append(row["id"])
            except (Conflict, NotFound):  # changed by another request
                pass
        elif due != row["due"]:
            statement = "UPDATE crawl SET due = :due WHERE id = :id AND state IN ('finished', 'failed')"
            database.run(statement, due=due, id=row["id"])
    return queued
