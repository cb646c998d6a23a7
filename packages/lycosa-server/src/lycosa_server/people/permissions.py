"""Access control: the only place that decides who may see and change things.

An interest belongs to its owner, who may share it to read or to edit. A crawl follows its interest. A model is private.
Roles and token scopes limit actions further; admins cannot see other people's interests. For a person
without access, things are reported as not found.
"""

from __future__ import annotations

from typing import Literal

from lycosa.core.errors import LycosaError
from lycosa_server.people.database import Database, Row

Role = Literal["reader", "member", "admin"]
Scope = Literal["read", "feedback", "write", "run", "account", "admin", "metrics"]
# Permissions that a token may be given.
SCOPES: dict[Scope, str] = {
    "read": "see interests, pages and changes, and search",
    "feedback": "label pages and answer suggestions",
    "write": "create, change, share and delete interests",
    "run": "start, pause and stop crawls",
    "account": "change, export and delete the account",
    "admin": "manage accounts, invitations, the seed catalogue and the audit log",
    "metrics": "read the server's metrics",
}
ROLES: dict[Role, frozenset[Scope]] = {
    "reader": frozenset({"read", "account"}),
    "member": frozenset({"read", "feedback", "write", "run", "account"}),
    "admin": frozenset(SCOPES),
}
Mode = Literal["read", "edit", "own"]  # level of access to an interest
RANK = {"read": 0, "edit": 1, "own": 2}

# Interests that a person may see, with `mode` and `owner_name`; no rows for suspended people.
VISIBLE = (
    "SELECT i.*, o.name AS owner_name, CASE WHEN i.owner = p.id THEN 'own' ELSE s.mode END AS mode "
    "FROM person p JOIN interest i ON p.id = :person AND p.disabled = 0 JOIN person o ON o.id = i.owner "
    "LEFT JOIN share s ON s.interest = i.id AND s.person = p.id WHERE (i.owner = p.id OR s.person IS NOT NULL)"
)


class NotFound(LycosaError):
    """Raised if the caller may not see a thing, or if it does not exist."""


class Forbidden(LycosaError):
    """Raised if the caller may see a thing, but not do this with it."""


def active(database: Database, person: str | None) -> Row | None:
    return database.find("person", id=person, disabled=0)


def found(row: Row | None, noun: str) -> Row:
    if row is None:
        raise NotFound(f"no such {noun}")
    return row


def interest_for(database: Database, person: str, interest: str, mode: Mode = "read") -> Row:
    row = found(database.row(f"{VISIBLE} AND i.id = :interest", person=person, interest=interest), "interest")
    if RANK[row["mode"]] < RANK[mode]:
        shared = "read only" if row["mode"] == "read" else "edit, but no more"
        raise Forbidden(f"this interest is shared with you to {shared}")
    return row


def crawl_for(database: Database, person: str, crawl: str, mode: Mode = "read") -> tuple[Row, Row]:
    row = found(database.get("crawl", crawl), "crawl")
    try:
        return row, interest_for(database, person, row["interest"], mode)
    except NotFound:
        raise NotFound("no such crawl") from None
