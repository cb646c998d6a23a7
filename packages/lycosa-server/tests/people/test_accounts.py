"""Accounts and invitations, on both databases."""

from __future__ import annotations

import threading

import pytest

from lycosa.core.errors import InputError
from lycosa_server.people import accounts, sessions
from lycosa_server.people.credentials import Passwords
from lycosa_server.people.database import Conflict, Database, Row
from lycosa_server.people.permissions import NotFound
from people_maker import crawl, interest, person
from site_maker import CHEAP, PASSWORD

NOW = 1_700_000_000.0


def join(database: Database, name: str, role: str = "member") -> Row:
    _, code = accounts.invite(database, NOW, role)
    return accounts.accept(database, NOW, CHEAP, code, name, PASSWORD)


def test_first_link_is_renewed_until_admin_exists(database: Database) -> None:
    old = accounts.first_link(database, NOW)
    new = accounts.first_link(database, NOW)
    assert old is not None
    assert new is not None
    with pytest.raises(NotFound):
        accounts.accept(database, NOW, CHEAP, old, "eve", PASSWORD)
    person = accounts.accept(database, NOW, CHEAP, new, "ada", PASSWORD)
    assert ("admin", None) == (person["role"], accounts.first_link(database, NOW))


@pytest.mark.paper("personalized-multi-user")
def test_accept_uses_invitation_once(database: Database) -> None:
    _, code = accounts.invite(database, NOW, "member")
    accounts.accept(database, NOW, CHEAP, code, "ada", PASSWORD)
    with pytest.raises(NotFound):
        accounts.accept(database, NOW, CHEAP, code, "eve", PASSWORD)


def test_accept_refuses_expired_invitation(database: Database) -> None:
    _, code = accounts.invite(database, NOW, "member", days=7)
    assert "member" == accounts.invitation(database, NOW + 7 * 86400 - 1, code)["role"]
    with pytest.raises(NotFound):
        accounts.accept(database, NOW + 7 * 86400, CHEAP, code, "ada", PASSWORD)


def test_accept_of_two_at_once_admits_one(database: Database) -> None:
    _, code = accounts.invite(database, NOW, "member")
    barrier = threading.Barrier(2, timeout=60)
    outcomes: list[str] = []

    class WaitingPasswords(Passwords):
        def hash(self, password: str) -> str:
            if password == PASSWORD:
                barrier.wait()
            return super().hash(password)

    slow = WaitingPasswords(time_cost=1, memory_cost=8, parallelism=1)

    def accept(name: str) -> None:
        try:
            accounts.accept(database, NOW, slow, code, name, PASSWORD)
            outcomes.append("in")
        except NotFound:
            outcomes.append("out")

    threads = [threading.Thread(target=accept, args=(name,)) for name in ("ada", "eve")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (["in", "out"], 1) == (sorted(outcomes), len(database.rows("SELECT id FROM person")))


def test_accept_of_taken_name_keeps_invitation_valid(database: Database) -> None:
    join(database, "Ada Lovelace")
    _, code = accounts.invite(database, NOW, "member")
    with pytest.raises(Conflict, match="choose another"):
        accounts.accept(database, NOW, CHEAP, code, " ADA  lovelace", PASSWORD)
    assert "Grace" == accounts.accept(database, NOW, CHEAP, code, "Grace", PASSWORD)["name"]


def test_check_name_refuses_unsafe_names() -> None:
    for name in ["", "a", "x" * 41, "<b>ada</b>", "ada\0", "ada\ud800", "..", "a\u202eda"]:
        with pytest.raises(InputError):
            accounts.check_name(name)


def test_sign_in_requires_password_of_enabled_account(database: Database) -> None:
    ada = join(database, "ada")
    tried = [("Ada", PASSWORD), ("ada", "wrong"), ("eve", PASSWORD)]
    found = [accounts.sign_in(database, CHEAP, name, password) for name, password in tried]
    assert [ada["id"], None, None] == [row["id"] if row else None for row in found]
    accounts.set_disabled(database, ada["id"], True)
    assert accounts.sign_in(database, CHEAP, "ada", PASSWORD) is None


def test_sign_in_replaces_hash_of_another_cost(database: Database) -> None:
    join(database, "ada")
    dearer = Passwords(time_cost=2, memory_cost=8, parallelism=1)
    assert accounts.sign_in(database, dearer, "ada", PASSWORD)
    row = accounts.by_name(database, "ada")
    assert row is not None
    assert (False, True) == (dearer.needs_rehash(row["password"]), dearer.verify(row["password"], PASSWORD))


def test_keep_admin_protects_last_admin(database: Database) -> None:
    ada, bob = join(database, "ada", "admin"), join(database, "bob", "admin")
    accounts.set_disabled(database, bob["id"], True)
    for act in (
        lambda: accounts.set_role(database, ada["id"], "member"),
        lambda: accounts.set_disabled(database, ada["id"], True),
        lambda: accounts.keep_an_admin(database, ada["id"]),
    ):
        with pytest.raises(Conflict):
            act()
    accounts.set_disabled(database, bob["id"], False)
    accounts.set_role(database, ada["id"], "member")
    assert ["bob"] == [row["name"] for row in database.rows("SELECT name FROM person WHERE role = 'admin'")]


def test_set_role_of_two_admins_at_once_leaves_one(database: Database) -> None:
    people = [join(database, name, "admin")["id"] for name in ("ada", "bob")]
    outcomes: list[str] = []

    def demote(person: str) -> None:
        try:
            accounts.set_role(database, person, "member")
            outcomes.append("done")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=demote, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["done", "refused"] == sorted(outcomes)


def test_invitation_ends_with_the_right_to_invite(database: Database) -> None:
    ada, _ = join(database, "ada", "admin"), join(database, "bob", "admin")
    _, code = accounts.invite(database, NOW, "admin", made_by=ada["id"])
    accounts.set_role(database, ada["id"], "member")
    with pytest.raises(NotFound):
        accounts.invitation(database, NOW, code)
    accounts.set_role(database, ada["id"], "admin")
    _, code = accounts.invite(database, NOW, "admin", made_by=ada["id"])
    accounts.set_disabled(database, ada["id"], True)
    with pytest.raises(NotFound):
        accounts.invitation(database, NOW, code)


def test_set_password_ends_all_sessions(database: Database) -> None:
    ada = join(database, "ada")
    _, value = sessions.create(database, NOW, ada["id"])
    accounts.set_password(database, CHEAP, ada, "another long password")
    assert (None, None) == (sessions.find(database, NOW, value), accounts.sign_in(database, CHEAP, "ada", PASSWORD))


def test_names_match_prefix_of_enabled_accounts(database: Database) -> None:
    ids = {name: join(database, name)["id"] for name in ("Ada", "Adele", "Bob")}
    accounts.set_disabled(database, ids["Adele"], True)
    assert [["Ada"], [], [], ["Bob"]] == [accounts.names(database, begins) for begins in ("ad", "a", "%a", "BO")]


def test_set_disabled_pauses_only_own_active_crawls(database: Database) -> None:
    people = {name: person(database, name) for name in ("Ada", "Bob")}
    for name, state in (("Ada", "queued"), ("Ada", "running"), ("Ada", "finished"), ("Bob", "queued")):
        crawl(database, interest(database, people[name]), state=state, reason=f"{name} {state}")
    accounts.set_disabled(database, people["Ada"], True)
    states = {row["reason"]: (row["state"], row["wanted"]) for row in database.rows("SELECT * FROM crawl")}
    assert {
        "Ada queued": ("paused", "pause"),
        "Ada running": ("running", "pause"),
        "Ada finished": ("finished", "run"),
        "Bob queued": ("queued", "run"),
    } == states
