"""Labels: yes and no to pages of an interest. Each page has one label; the last label is used."""

from __future__ import annotations

from lycosa.core.types import Label
from lycosa_server.people import crawls
from lycosa_server.people.database import Database, Row


def labels_of(database: Database, interest: str) -> dict[str, bool]:
    rows = database.rows(
        "SELECT url, relevant FROM feedback WHERE interest = :interest AND relevant IS NOT NULL ORDER BY number, url",
        interest=interest,
    )
    return {row["url"]: bool(row["relevant"]) for row in rows}


def after(database: Database, interest: str, number: int) -> list[Label]:
    chosen = "interest = :interest AND number > :number ORDER BY number"
    statement = f"SELECT url, relevant, at, number FROM feedback WHERE {chosen}"
    return [
        Label(row["url"], None if row["relevant"] is None else bool(row["relevant"]), row["at"], str(row["number"]))
        for row in database.rows(statement, interest=interest, number=number)
    ]


def given(database: Database, interest: str) -> list[Row]:
    return database.rows(
        "SELECT f.url, f.title, f.relevant, f.at, COALESCE(p.name, '') AS by, f.relevance_now, f.threshold "
        "FROM feedback f LEFT JOIN person p ON p.id = f.person WHERE f.interest = :interest AND f.relevant IS NOT NULL "
        "ORDER BY f.at DESC, f.url",
        interest=interest,
    )


def last(database: Database, interest: str) -> int:
    row = database.row("SELECT MAX(number) AS number FROM feedback WHERE interest = :interest", interest=interest)
    return int((row and row["number"]) or 0)


def set_label(
    database: Database,
    now: float,
    interest: str,
    person: str,
    url: str,
    relevant: bool | None,
    title: str = "",
    relevance_now: float | None = None,
    threshold: float | None = None,
) -> int:
    """Label a page, or remove its label (None), and return the label's number; only the first keeps the relevance."""
    with database.transaction():
        database.get("interest", interest, locked=True)  # serialises writers, so that numbers become visible in order
        number = last(database, interest) + 1
        row = {
            "interest": interest, "url": url, "number": number, "relevant": relevant,
            "title": title, "person": person, "at": now, "relevance_now": relevance_now, "threshold": threshold,
        }  # fmt: skip
        if relevant is not None:
            database.upsert("feedback", row, ("interest", "url"), ("number", "relevant", "title", "person", "at"))
        else:
            statement = (
                "UPDATE feedback SET number = :number, relevant = NULL, title = '', person = NULL, at = :at "
                "WHERE interest = :interest AND url = :url AND relevant IS NOT NULL"
            )
            if not database.run(statement, number=number, at=now, interest=interest, url=url):
                return number - 1
        crawls.request_judging(database, interest, "labels")
    return number
