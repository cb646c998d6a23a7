"""Password reset links, which always leave notices."""

from __future__ import annotations

from lycosa_server.people import accounts
from site_maker import API, PASSWORD, SiteUnderTest

NEW = "quite another password"


def _signs_in(site: SiteUnderTest, name: str, password: str) -> int:
    return site.client().post(f"{API}/session", json={"name": name, "password": password}).status_code


def _link(site: SiteUnderTest, admin: object, whose: str) -> str:
    answer = admin.post(f"{API}/people/{whose}/reset")  # type: ignore[attr-defined]
    assert 201 == answer.status_code, answer.text
    code: str = answer.json()["code"]
    assert f"{site.settings.base}/join#{code}" == answer.json()["link"]
    return code


def test_reset_sets_password_and_ends_sessions(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    code = _link(site, ada, site.id_of(bob))
    fresh = site.client()
    data = fresh.get(f"{API}/invitations/check", params={"code": code}).json()
    assert ("bob", "member", site.clock() + 86400) == (data["name"], data["role"], data["expires"])
    body = {"code": code, "password": NEW}
    answers = [fresh.post(f"{API}/invitations/reset", json={**body, "password": "short"}).status_code]
    answers += [fresh.post(f"{API}/invitations/reset", json=body).status_code for _ in range(2)]
    assert [422, 200, 404] == answers
    assert (200, 403) == (fresh.get(f"{API}/me").status_code, bob.get(f"{API}/me").status_code)
    assert (401, 200) == (_signs_in(site, "bob", PASSWORD), _signs_in(site, "bob", NEW))


def test_reset_leaves_notices_and_audit_entries(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    code = _link(site, ada, site.id_of(bob))
    assert 1 == bob.get(f"{API}/me/notices").json()["unread"]
    site.client().post(f"{API}/invitations/reset", json={"code": code, "password": NEW})
    notices = site.sign_in("bob", NEW).get(f"{API}/me/notices").json()
    audit = ada.get(f"{API}/audit").json()["entries"]
    assert {"account"} == {one["kind"] for one in notices["notices"]}
    assert (2, True) == (notices["unread"], any("ada created a link" in one["text"] for one in notices["notices"]))
    assert {"created a password reset link", "chose a new password"} <= {one["action"] for one in audit}
    assert code not in str(notices) + str(audit) + str(ada.get(f"{API}/invitations").json())


def test_reset_link_expires_and_creates_no_account(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    code = _link(site, ada, site.id_of(bob))
    invited = ada.post(f"{API}/invitations", json={}).json()["code"]
    nobody = site.client()
    account = {"code": code, "name": "eve", "password": NEW}
    assert 404 == nobody.post(f"{API}/invitations/accept", json=account).status_code
    assert 404 == nobody.post(f"{API}/invitations/reset", json={"code": invited, "password": NEW}).status_code
    site.clock.now += 86401
    assert 404 == nobody.post(f"{API}/invitations/reset", json={"code": code, "password": NEW}).status_code
    assert 200 == _signs_in(site, "bob", PASSWORD)


def test_reset_link_is_revoked_by_later_events(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    whose = site.id_of(bob)
    maker = site.id_of(site.sign_up("eve", "admin"))

    def own_password() -> None:
        bob = site.sign_in("bob")
        assert 200 == bob.post(f"{API}/me/password", json={"old": PASSWORD, "new": "my own new one"}).status_code

    def disabled() -> None:
        ada.patch(f"{API}/people/{whose}", json={"disabled": True})
        assert 409 == ada.post(f"{API}/people/{whose}/reset").status_code
        ada.patch(f"{API}/people/{whose}", json={"disabled": False})

    def taken_back() -> None:
        rows = ada.get(f"{API}/invitations").json()
        for row in [row for row in rows if row["note"] == "a new password for bob" and not row["used"]]:
            assert 204 == ada.delete(f"{API}/invitations/{row['id']}").status_code

    def maker_disabled() -> None:
        ada.patch(f"{API}/people/{maker}", json={"disabled": True})

    def again() -> None:
        _link(site, ada, whose)

    def deleted() -> None:
        ada.delete(f"{API}/people/{whose}")

    for spoil in (again, disabled, taken_back, own_password, maker_disabled, deleted):
        eve = site.sign_in("eve")
        code = _link(site, ada if spoil is deleted else eve, whose)
        check = site.client().get(f"{API}/invitations/check", params={"code": code})
        assert 200 == check.status_code
        spoil()
        answer = site.client().post(f"{API}/invitations/reset", json={"code": code, "password": NEW})
        assert 404 == answer.status_code, spoil.__name__
        if spoil is maker_disabled:
            ada.patch(f"{API}/people/{maker}", json={"disabled": False})


def test_reset_requires_admin_in_browser(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    token = site.token(ada, ["admin", "account"])
    whose = site.id_of(bob)
    assert [403, 403, 403] == [
        client.post(f"{API}/people/{whose}/reset").status_code for client in (token, bob, site.client())
    ]
    assert (403, 404) == (
        ada.post(f"{API}/people/{site.id_of(ada)}/reset").status_code,
        ada.post(f"{API}/people/nobody/reset").status_code,
    )


def test_reset_codes_are_rate_limited(site: SiteUnderTest) -> None:
    body = {"code": "x" * 43, "password": NEW}
    statuses = [site.client().post(f"{API}/invitations/reset", json=body).status_code for _ in range(21)]
    assert ([404] * 20, 429) == (statuses[:20], statuses[20])


def test_first_link_on_request_creates_another_admin(site: SiteUnderTest) -> None:
    site.sign_up("ada", "admin")
    assert accounts.first_link(site.database, site.clock()) is None
    codes = [accounts.first_link(site.database, site.clock(), anyway=True) for _ in range(2)]
    assert [404, 201] == [
        site.client()
        .post(f"{API}/invitations/accept", json={"code": code, "name": "root", "password": NEW})
        .status_code
        for code in codes
    ]
