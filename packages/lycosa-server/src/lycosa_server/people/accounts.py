"""Accounts: invitations, sign-in, passwords, and administration.

Every account is created with an invitation, also the first: the first start creates a one-time link for an admin. There
is always at least one enabled admin; changes that would leave none are refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from lycosa.core.errors import InputError
from lycosa_server.people.credentials import Passwords, check_password, digest, new_secret
from lycosa_server.people.database import Conflict, Database, Row, as_dict
from lycosa_server.people.ids import new_id
from lycosa_server.people.permissions import NotFound, Role, active
from lycosa_server.people.text_input import clean_line

DAY = 86400.0
FIRST = "the first admin"  # note of the invitation created at the first start


def fold(name: str) -> str:
    """Return the canonical form of a name, for comparisons.

    >>> fold("Ada  Lovelace") == fold(" ada lovelace ")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def check_name(name: str) -> str:
    """Validate a name and return it with normalised spaces.

    >>> check_name("  Ada  Lovelace ")
    'Ada Lovelace'
    """
    shown = " ".join(unicodedata.normalize("NFKC", clean_line(name, "the name", 100)).split())
    plain = all(letter.isalnum() or unicodedata.combining(letter) or letter in "._-@+' " for letter in shown)
    if not (2 <= len(shown) <= 40 and plain and shown[0].isalnum()):
        raise InputError("bad-name", f"{shown[:60]!r} is not a name: use 2 to 40 letters, digits, spaces or . _-@+'")
    return shown


def first_link(database: Database, now: float, anyway: bool = False) -> str | None:
    """Return the code of a new one-time link for the first admin; None if there is an admin, unless `anyway`."""
    with database.transaction():
        if not anyway and database.row("SELECT id FROM person WHERE role = 'admin' AND disabled = 0"):
            return None
        database.run("DELETE FROM invitation WHERE used IS NULL AND note = :first AND made_by IS NULL", first=FIRST)
        return invite(database, now, "admin", FIRST)[1]


def invite(
    database: Database, now: float, role: Role, note: str = "", days: float = 7, made_by: str | None = None
) -> tuple[Row, str]:
    note = clean_line(note, "the note", 200)
    database.run("DELETE FROM invitation WHERE expires < :expires", expires=now - 30 * DAY)
    return _offer(database, now, days, role=role, note=note, made_by=made_by)


def _offer(database: Database, now: float, days: float, **given: str | None) -> tuple[Row, str]:
    code, expires = new_secret(), now + days * DAY
    row = {"id": new_id(), "digest": digest(code), "created": now, "expires": expires, "used": None}
    return database.insert("invitation", row, **given), code


def invitation(database: Database, now: float, code: str) -> Row:
    row = database.row(
        "SELECT i.*, COALESCE(p.name, '') AS name FROM invitation i LEFT JOIN person p ON p.id = i.person "
        "WHERE i.digest = :digest AND i.used IS NULL AND i.expires > :now AND (i.person IS NULL OR p.disabled = 0)",
        digest=digest(code.strip()),
        now=now,
    )
    if row is None:
        raise NotFound("this link is unknown, used or expired: ask for a new one")
    return row


def invitations(database: Database) -> list[Row]:
    return database.rows(
        "SELECT i.id, i.role, i.note, COALESCE(p.name, '') AS made_by, i.created, i.expires, i.used "
        "FROM invitation i LEFT JOIN person p ON p.id = i.made_by ORDER BY i.created DESC, i.id"
    )


def accept(database: Database, now: float, passwords: Passwords, code: str, name: str, password: str) -> Row:
    """Create the account of an invitation. If two requests use a code at once, only one succeeds."""
    offer = invitation(database, now, code)
    if offer["person"]:
        raise NotFound("this link resets a password: ask for an invitation")
    shown = check_name(name)
    kept = passwords.hash(check_password(password, shown))
    person = {"id": new_id(), "name": shown, "folded": fold(shown), "password": kept, "role": offer["role"]}
    try:
        with database.transaction():
            _use(database, now, offer)
            return database.insert("person", person, disabled=0, preferences="{}", created=now)
    except Conflict:
        raise Conflict(f"the name {shown!r} is taken: choose another") from None


def _use(database: Database, now: float, offer: Row) -> None:
    if not database.run("UPDATE invitation SET used = :now WHERE id = :id AND used IS NULL", now=now, id=offer["id"]):
        raise NotFound("this link was just used: ask for a new one")


def offer_reset(database: Database, now: float, person: Row, made_by: str) -> tuple[Row, str]:
    note = f"a new password for {person['name']}"
    with database.transaction():
        revoke_resets(database, person["id"])
        return _offer(database, now, 1, role=person["role"], note=note, made_by=made_by, person=person["id"])


def reset(database: Database, now: float, passwords: Passwords, code: str, password: str) -> Row:
    offer = invitation(database, now, code)
    person = active(database, offer["person"])
    if person is None:
        raise NotFound("this link creates an account: ask for a password reset link")
    set_password(database, passwords, person, password, lambda: _use(database, now, offer))
    return person


def revoke_resets(database: Database, person: str) -> None:
    database.run("DELETE FROM invitation WHERE person = :person AND used IS NULL", person=person)


def by_name(database: Database, name: str) -> Row | None:
    return database.find("person", folded=fold(name))


def preferences(database: Database, person: str) -> dict[str, Any]:
    row = database.get("person", person)
    return as_dict(row["preferences"]) if row else {}


def sign_in(database: Database, passwords: Passwords, name: str, password: str) -> Row | None:
    row = by_name(database, name)
    if not passwords.verify(row["password"] if row else None, password) or row is None or row["disabled"]:
        return None
    if passwords.needs_rehash(row["password"]):
        update = "UPDATE person SET password = :kept WHERE id = :id AND password = :password"
        database.run(update, kept=passwords.hash(password), id=row["id"], password=row["password"])
    return row


def set_password(
    database: Database, passwords: Passwords, person: Row, password: str, first: Callable[[], None] = lambda: None
) -> None:
    kept = passwords.hash(check_password(password, person["name"]))
    with database.transaction():
        first()
        database.update("person", person["id"], {"password": kept})
        revoke_resets(database, person["id"])
        database.delete("session", person=person["id"])


def set_role(database: Database, person: str, role: Role) -> None:
    with database.transaction():
        if role != "admin":
            keep_an_admin(database, person)
            revoke_invitations_of(database, person)
        database.update("person", person, {"role": role})
        # rotate each session cookie at its next use
        database.run("UPDATE session SET rotated = 0, previous = '' WHERE person = :person", person=person)


def set_disabled(database: Database, person: str, disabled: bool) -> None:
    with database.transaction():
        if disabled:
            keep_an_admin(database, person)
            revoke_invitations_of(database, person)
            revoke_resets(database, person)
            database.delete("session", person=person)
            database.run(
                "UPDATE crawl SET wanted = 'pause', state = CASE WHEN state = 'queued' THEN 'paused' ELSE state END "
                "WHERE state IN ('queued', 'running') AND interest IN (SELECT id FROM interest WHERE owner = :person)",
                person=person,
            )
        database.update("person", person, {"disabled": disabled})


def keep_an_admin(database: Database, person: str) -> None:
    """Raise `Conflict` if the person is the only enabled admin. Call it in the transaction that removes them."""
    admins = "SELECT id FROM person WHERE role = 'admin' AND disabled = 0 ORDER BY id"
    if [row["id"] for row in database.rows(admins + database.lock)] == [person]:
        raise Conflict("this is the last admin: make someone else admin first")


def revoke_invitations_of(database: Database, person: str) -> None:
    database.run("DELETE FROM invitation WHERE made_by = :person AND used IS NULL", person=person)


def names(database: Database, begins: str, limit: int = 10) -> list[str]:
    start = fold(begins)
    if len(start) < 2:
        return []
    chosen = "disabled = 0 AND substr(folded, 1, :length) = :start"
    statement = f"SELECT name FROM person WHERE {chosen} ORDER BY folded LIMIT :limit"
    return [row["name"] for row in database.rows(statement, length=len(start), start=start, limit=limit)]
