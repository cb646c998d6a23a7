"""One's own account, through the API."""

from __future__ import annotations

from site_maker import API, PASSWORD, SiteUnderTest

NEW = "another long password"


def test_preferences_are_changed_one_by_one(site: SiteUnderTest) -> None:
    """What is not named stays; what is unknown or no truth value is refused."""
    ada = site.sign_up("ada")
    ada.patch(f"{API}/me", json={"preferences": {"theme": "dark", "history": False}})
    changed = ada.patch(f"{API}/me", json={"preferences": {"suggestions": False}})
    expected = {"theme": "dark", "history": False, "suggestions": False}
    assert (expected, expected) == (changed.json()["preferences"], ada.get(f"{API}/me").json()["preferences"])
    for wrong in ({"theme": "pink"}, {"other": 1}, {"history": "no"}, {"history": None}):
        assert 422 == ada.patch(f"{API}/me", json={"preferences": wrong}).status_code


def test_a_new_password_ends_the_other_sessions_and_renews_this_one(site: SiteUnderTest) -> None:
    """The browser that asked goes on under a new cookie; its old value and the others are worthless."""
    ada, phone = site.sign_up("ada"), site.sign_in("ada")
    copy = site.client(cookies={"lycosa": ada.cookies["lycosa"]})
    answer = ada.post(f"{API}/me/password", json={"old": PASSWORD, "new": NEW})
    assert (200, False) == (answer.status_code, answer.json()["csrf"] == ada.headers["X-CSRF-Token"])
    assert [200, 403, 403] == [client.get(f"{API}/me").status_code for client in (ada, phone, copy)]
    ada.headers["X-CSRF-Token"] = answer.json()["csrf"]
    assert 200 == ada.patch(f"{API}/me", json={"preferences": {}}).status_code
    statuses = [
        site.client().post(f"{API}/session", json={"name": "ada", "password": password}).status_code
        for password in (PASSWORD, NEW)
    ]
    assert [401, 200] == statuses


def test_the_password_is_not_changed_without_the_old_one(site: SiteUnderTest) -> None:
    """Neither in a session nor by a token; and guesses of it are limited over both."""
    ada = site.sign_up("ada")
    program = site.token(ada, ["account"])
    wrong = {"old": "not the password", "new": NEW}
    tries = [client.post(f"{API}/me/password", json=wrong).status_code for client in (ada, program, ada, program, ada)]
    assert [401] * 5 == tries
    held = program.post(f"{API}/me/password", json={"old": PASSWORD, "new": NEW})
    assert (429, "900") == (held.status_code, held.headers["retry-after"])
    site.clock.now += 900
    done = program.post(f"{API}/me/password", json={"old": PASSWORD, "new": NEW})
    assert (200, "", 403) == (done.status_code, done.json()["csrf"], ada.get(f"{API}/me").status_code)


def test_a_new_password_keeps_the_rules(site: SiteUnderTest) -> None:
    """Too short, or the name: refused, and nothing has changed."""
    ada = site.sign_up("Ada Lovelace")
    for new in ("short", "ada lovelace"):
        assert 422 == ada.post(f"{API}/me/password", json={"old": PASSWORD, "new": new}).status_code
    assert 200 == site.sign_in("Ada Lovelace").get(f"{API}/me").status_code


def test_sessions_are_listed_and_ended_one_by_one(site: SiteUnderTest) -> None:
    """Only one's own; the list says which one asks, and has no secrets."""
    ada, phone, bob = site.sign_up("ada"), site.sign_in("ada"), site.sign_up("bob")
    listed = ada.get(f"{API}/me/sessions").json()
    assert ([False, True], {"id", "agent", "created", "seen", "expires", "current"}) == (
        sorted(one["current"] for one in listed),
        set(listed[0]),
    )
    other = next(one["id"] for one in listed if not one["current"])
    assert (404, 204) == (
        bob.delete(f"{API}/me/sessions/{other}").status_code,
        ada.delete(f"{API}/me/sessions/{other}").status_code,
    )
    assert [403, 200] == [client.get(f"{API}/me").status_code for client in (phone, ada)]


def test_an_account_is_deleted_with_its_password_only(site: SiteUnderTest) -> None:
    """Its sessions and tokens are worthless at once, its name free, and nothing of it left but the audit log."""
    ada = site.sign_up("ada")
    program = site.token(ada, ["read", "account"])
    person = site.id_of(ada)
    assert 401 == ada.request("DELETE", f"{API}/me", json={"password": "not the password"}).status_code
    assert 204 == ada.request("DELETE", f"{API}/me", json={"password": PASSWORD}).status_code
    assert [403, 403] == [client.get(f"{API}/me").status_code for client in (ada, program)]
    left = {
        table
        for table in site.database.tables()
        if table != "audit" and person in str(site.database.rows(f"SELECT * FROM {table}"))
    }
    assert set() == left
    assert 200 == site.sign_up("ada").get(f"{API}/me").status_code


def test_the_last_admin_cannot_leave(site: SiteUnderTest) -> None:
    """409, and the account is still there."""
    ada = site.sign_up("ada", "admin")
    assert 409 == ada.request("DELETE", f"{API}/me", json={"password": PASSWORD}).status_code
    assert 200 == ada.get(f"{API}/me").status_code


def test_without_history_what_was_opened_is_forgotten(site: SiteUnderTest) -> None:
    """Also what was noted before."""
    ada = site.sign_up("ada")
    now, person = site.clock(), site.id_of(ada)
    site.database.insert(
        "interest",
        {"id": "i", "owner": person, "name": "reefs", "settings": "{}", "created": now, "changed": now},
    )
    site.database.insert("opened", {"interest": "i", "person": person, "url": "http://a.example/", "at": now})
    ada.patch(f"{API}/me", json={"preferences": {"suggestions": False}})
    assert 1 == len(site.database.rows("SELECT * FROM opened"))
    ada.patch(f"{API}/me", json={"preferences": {"history": False}})
    assert [] == site.database.rows("SELECT * FROM opened")
