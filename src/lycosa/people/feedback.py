"""Yes and no to pages: what people say of what an interest's crawls found. One word a page, the last one counts."""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.people.database import Database


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """One label, as it is shown."""

    url: str
    title: str
    relevant: bool
    at: float
    by: str
    """The name of who said it; empty once the account is gone."""
    worth: float | None = None
    """What the judge said of the page just before, and what was enough then; None where it was not known."""
    threshold: float | None = None


def labels_of(database: Database, interest: str) -> dict[str, bool]:
    """The labels of an interest by page, the oldest first."""
    rows = database.rows(
        "SELECT url, relevant FROM feedback WHERE interest = :interest ORDER BY at, url", interest=interest
    )
    return {row["url"]: bool(row["relevant"]) for row in rows}


def given(database: Database, interest: str) -> list[GivenLabel]:
    """The labels with all that is known of them, the newest first."""
    rows = database.rows(
        "SELECT f.url, f.title, f.relevant, f.at, COALESCE(p.name, '') AS by, f.worth, f.threshold FROM feedback f "
        "LEFT JOIN person p ON p.id = f.person WHERE f.interest = :interest ORDER BY f.at DESC, f.url",
        interest=interest,
    )
    return [GivenLabel(**{**row, "relevant": bool(row["relevant"])}) for row in rows]


def set_label(
    database: Database,
    now: float,
    interest: str,
    person: str,
    url: str,
    relevant: bool | None,
    title: str = "",
    *,
    worth: float | None = None,
    threshold: float | None = None,
) -> None:
    """Say yes or no to a page; None takes back what was said.

    `worth`: what the judge says of it now. Of a page that has a label already it knows better, so that is not kept.
    """
    if relevant is None:
        database.run("DELETE FROM feedback WHERE interest = :interest AND url = :url", interest=interest, url=url)
        return
    row = {
        "interest": interest,
        "url": url,
        "relevant": relevant,
        "title": title,
        "person": person,
        "at": now,
        "worth": worth,
        "threshold": threshold,
    }
    database.upsert("feedback", row, ("interest", "url"), ("relevant", "title", "person", "at"))
