"""The API of one's own account."""

from __future__ import annotations

from site_maker import API, PASSWORD, SiteUnderTest

NEW = "another long password"


def test_preferences_change_one_by_one(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    ada.patch(f"{API}/me", json={"preferences": {"theme": "dark", "history": False}})
    changed = ada.patch(f"{API}/me", json={"preferences": {"suggestions": False}})
    expected = {"theme": "dark", "history": False, "suggestions": False}
    assert (expected, expected) == (changed.json()["preferences"], ada.get(f"{API}/me").json()["preferences"])
    for wrong in ({"theme": "pink"}, {"other": 1}, {"history": "no"}, {"history": None}):
        assert 422 == ada.patch(f"{API}/me", json={"preferences": wrong}).status_code


def test_set_password_ends_other_sessions(site: SiteUnderTest) -> None:
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


def test_set_password_requires_old_one(site: SiteUnderTest) -> None:
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


def test_set_password_refuses_weak_ones(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada Lovelace")
    for new in ("short", "ada lovelace"):
        assert 422 == ada.post(f"{API}/me/password", json={"old": PASSWORD, "new": new}).status_code
    assert 200 == site.sign_in("Ada Lovelace").get(f"{API}/me").status_code


def test_sessions_are_listed_and_ended(site: SiteUnderTest) -> None:
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


def test_leave_requires_password(site: SiteUnderTest) -> None:
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


def test_leave_refuses_last_admin(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    assert 409 == ada.request("DELETE", f"{API}/me", json={"password": PASSWORD}).status_code
    assert 200 == ada.get(f"{API}/me").status_code


def test_history_off_deletes_opened_pages(site: SiteUnderTest) -> None:
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
