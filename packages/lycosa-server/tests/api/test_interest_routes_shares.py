"""The API of shares."""

from __future__ import annotations

from site_maker import API, SiteUnderTest

REEFS = {"name": "Reefs", "settings": {"words": "coral", "seeds": ["https://reefs.example/"]}}


def test_share_grants_reading_or_editing(site: SiteUnderTest) -> None:
    ada, bob, eve = site.sign_up("Ada"), site.sign_up("Bob"), site.sign_up("Eve")
    place = f"{API}/interests/{ada.post(f'{API}/interests', json=REEFS).json()['id']}"
    assert 404 == bob.get(place).status_code
    shared = ada.put(f"{place}/shares", json={"name": "bob", "mode": "read"})
    assert [("Bob", "read")] == [(one["person"]["name"], one["mode"]) for one in shared.json()]
    assert shared.json() == ada.get(f"{place}/shares").json()
    assert ("read", "Ada") == (bob.get(place).json()["mode"], bob.get(place).json()["owner"]["name"])
    assert 1 == ada.get(place).json()["shares"]
    assert 403 == bob.patch(place, json={"name": "Mine"}).status_code
    ada.put(f"{place}/shares", json={"name": "Bob", "mode": "edit"})
    assert "Ours" == bob.patch(place, json={"name": "Ours"}).json()["name"]
    refused = [
        bob.delete(place),
        bob.get(f"{place}/shares"),
        bob.put(f"{place}/shares", json={"name": "Eve", "mode": "read"}),
        bob.delete(f"{place}/shares/{site.id_of(eve)}"),
        eve.get(place),
    ]
    assert [403, 403, 403, 403, 404] == [answer.status_code for answer in refused]
    notices = bob.get(f"{API}/me/notices").json()
    assert (1, "shared") == (notices["unread"], notices["notices"][0]["kind"])


def test_share_ends_by_owner_or_guest(site: SiteUnderTest) -> None:
    ada, bob, rita = site.sign_up("Ada"), site.sign_up("Bob"), site.sign_up("Rita", "reader")
    place = f"{API}/interests/{ada.post(f'{API}/interests', json=REEFS).json()['id']}"
    for name in ("Bob", "Rita"):
        ada.put(f"{place}/shares", json={"name": name, "mode": "edit"})
    assert "read" == rita.get(place).json()["mode"]
    assert 403 == rita.patch(place, json={"name": "Mine"}).status_code  # readers cannot edit
    assert 403 == site.token(rita, ["read"]).delete(f"{place}/shares/{site.id_of(rita)}").status_code
    assert 204 == rita.delete(f"{place}/shares/{site.id_of(rita)}").status_code
    assert 403 == site.token(ada, ["read"]).delete(f"{place}/shares/{site.id_of(bob)}").status_code
    assert 204 == ada.delete(f"{place}/shares/{site.id_of(bob)}").status_code
    assert 404 == ada.delete(f"{place}/shares/{site.id_of(bob)}").status_code
    assert [404, 404] == [client.get(place).status_code for client in (bob, rita)]
    assert [] == ada.get(f"{place}/shares").json()
    actions = [row["action"] for row in site.database.rows("SELECT action FROM audit WHERE action LIKE 'interest%'")]
    assert ["interest left", "interest shared", "interest shared", "interest unshared"] == sorted(actions)


def test_share_refuses_oneself_and_unknown_people(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    place = f"{API}/interests/{ada.post(f'{API}/interests', json=REEFS).json()['id']}"
    for name in ("Nemo", "Ada", "\x00", " "):
        assert 422 == ada.put(f"{place}/shares", json={"name": name, "mode": "read"}).status_code, name
