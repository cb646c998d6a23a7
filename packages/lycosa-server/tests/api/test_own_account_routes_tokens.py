"""The API of tokens."""

from __future__ import annotations

from lycosa_server.people import accounts
from site_maker import API, SiteUnderTest


def test_token_is_shown_once_and_revocable(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada"), site.sign_up("bob")
    made = ada.post(f"{API}/me/tokens", json={"name": "script", "scopes": ["read", "account"], "days": 1}).json()
    program = site.client(headers={"Authorization": f"Bearer {made['token']}"})
    secret = made.pop("token")
    assert (["account", "read"], site.clock() + 86400) == (made["scopes"], made["expires"])
    assert 200 == program.get(f"{API}/me").status_code
    listed = ada.get(f"{API}/me/tokens")
    assert ([{**made, "used": site.clock()}], False) == (listed.json(), secret in listed.text)
    assert [404, 204] == [client.delete(f"{API}/me/tokens/{made['id']}").status_code for client in (bob, ada)]
    assert 403 == program.get(f"{API}/me").status_code


def test_token_needs_no_csrf_token(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    program = site.token(ada, ["account", "read"])
    assert 200 == program.patch(f"{API}/me", json={"preferences": {}}).status_code
    assert 403 == ada.get(f"{API}/me", headers={"Authorization": "Bearer lyc_wrong"}).status_code


def test_token_is_limited_by_its_scopes(site: SiteUnderTest) -> None:
    program = site.token(site.sign_up("ada"), ["read"])
    refused = program.patch(f"{API}/me", json={"preferences": {}})
    assert (200, 403, True) == (
        program.get(f"{API}/me").status_code,
        refused.status_code,
        "'account'" in refused.json()["detail"],
    )


def test_token_is_limited_by_role(site: SiteUnderTest) -> None:
    ada, _ = site.sign_up("ada", "admin"), site.sign_up("bob", "admin")
    program = site.token(ada, ["admin", "read"])
    assert 200 == program.get(f"{API}/people").status_code
    accounts.set_role(site.database, site.id_of(ada), "reader")
    assert [403, 200] == [program.get(f"{API}{path}").status_code for path in ("/people", "/me")]
    assert ["read"] == program.get(f"{API}/me").json()["scopes"]


def test_make_refuses_more_scopes_than_the_maker_has(site: SiteUnderTest) -> None:
    reader, ada = site.sign_up("reader", "reader"), site.sign_up("ada")
    program = site.token(ada, ["account"], days=1)
    for client, scope in ((reader, "write"), (ada, "admin"), (program, "read")):
        body = {"name": "more", "scopes": [scope], "days": None}
        assert 403 == client.post(f"{API}/me/tokens", json=body).status_code
    longer = program.post(f"{API}/me/tokens", json={"name": "longer", "scopes": ["account"], "days": None})
    assert (201, site.clock() + 86400) == (longer.status_code, longer.json()["expires"])


def test_token_expires(site: SiteUnderTest) -> None:
    program = site.token(site.sign_up("ada"), ["read"], days=1)
    site.clock.now += 86399
    assert 200 == program.get(f"{API}/me").status_code
    site.clock.now += 1
    assert 403 == program.get(f"{API}/me").status_code


def test_make_refuses_invalid_values(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    wrong: list[dict[str, object]] = [
        {"scopes": ["fly"]},
        {"scopes": []},
        {"days": 0},
        {"days": 1e300},
        {"name": ""},
        {"name": "x" * 101},
        {"name": None},
        {"extra": 1},
    ]
    right = {"name": "script", "scopes": ["read"], "days": 1}
    assert [422] * 8 == [ada.post(f"{API}/me/tokens", json=right | given).status_code for given in wrong]
