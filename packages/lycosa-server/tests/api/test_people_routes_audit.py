"""The audit log API."""

from __future__ import annotations

from site_maker import API, PASSWORD, SiteUnderTest


def test_entries_cover_accounts_without_secrets(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    secrets = [PASSWORD, "wrong password", "typed as a name", "another long password"]

    def later() -> None:
        site.clock.now += 1

    for name in ("bob", "typed as a name"):
        later()
        site.client().post(f"{API}/session", json={"name": name, "password": "wrong password"})
    later()
    site.sign_in("bob")
    later()
    made = ada.post(f"{API}/invitations", json={"note": "for Eve"}).json()
    later()
    token = bob.post(f"{API}/me/tokens", json={"name": "script", "scopes": ["read"]}).json()
    later()
    bob.delete(f"{API}/me/tokens/{token['id']}")
    later()
    ada.delete(f"{API}/invitations/{made['id']}")
    later()
    bob.post(f"{API}/me/password", json={"old": PASSWORD, "new": "another long password"})
    later()
    person = site.id_of(bob)
    ada.patch(f"{API}/people/{person}", json={"role": "reader"})
    later()
    ada.patch(f"{API}/people/{person}", json={"disabled": True})
    later()
    ada.delete(f"{API}/people/{person}")
    later()
    ada.delete(f"{API}/session")
    answer = site.sign_in("ada").get(f"{API}/audit")
    data = [(one["name"], one["action"], one["subject"], one["detail"]) for one in answer.json()["entries"]]
    assert [
        ("ada", "deleted an account", "bob", ""),
        ("ada", "suspended an account", "bob", ""),
        ("ada", "changed a role", "bob", "member to reader"),
        ("bob", "changed the password", "", ""),
        ("ada", "revoked an invitation", "for Eve", "member"),
        ("bob", "revoked a token", "script", "read"),
        ("bob", "made a token", "script", "read"),
        ("ada", "made an invitation", "for Eve", "member"),
        ("bob", "signed in", "", ""),
        ("", "sign-in failed", "", ""),
        ("bob", "sign-in failed", "", ""),
    ] == data[2:13]
    assert {("ada", "signed in", "", ""), ("ada", "signed out", "", "")} == set(data[:2])
    assert {("ada", "accepted an invitation", "", "admin"), ("bob", "accepted an invitation", "", "member")} == set(
        data[13:]
    )
    kept = str(site.database.rows("SELECT * FROM audit"))
    assert [] == [secret for secret in [*secrets, made["code"], token["token"]] if secret in kept]
    assert {"unknown"} == {one["address"] for one in answer.json()["entries"]}


def test_entries_are_paged_for_admins_only(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    site.clock.now += 1
    newest = bob.patch(f"{API}/me", json={"preferences": {}}).status_code
    site.sign_in("bob")
    first = ada.get(f"{API}/audit", params={"limit": 1}).json()["entries"]
    rest = ada.get(f"{API}/audit", params={"before": first[-1]["at"]}).json()["entries"]
    assert (200, 1, 2) == (newest, len(first), len(rest))
    assert 403 == bob.get(f"{API}/audit").status_code
    wrong = [
        "before=nan",
        "before=inf",
        "before=-1",
        "before=1e300",
        "limit=0",
        "limit=99999999999999999999",
        "limit=x",
    ]
    assert [422] * 7 == [ada.get(f"{API}/audit?{query}").status_code for query in wrong]
