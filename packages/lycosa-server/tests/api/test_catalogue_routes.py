"""The seed catalogue API."""

from __future__ import annotations

from site_maker import API, SiteUnderTest

SEA = {"preference": "Seas", "url": "seas.example", "title": "The seas", "note": ""}


def test_catalogue_is_edited_by_admins_and_read_by_everyone(site: SiteUnderTest) -> None:
    root, rita = site.sign_up("Root", "admin"), site.sign_up("Rita", "reader")
    made = root.post(f"{API}/catalogue", json=SEA)
    assert (201, "https://seas.example/") == (made.status_code, made.json()["url"])
    assert 409 == root.post(f"{API}/catalogue", json=SEA).status_code
    place = f"{API}/catalogue/{made.json()['id']}"
    found = {one["preference"]: one["seeds"] for one in rita.get(f"{API}/catalogue").json()["preferences"]}
    assert ["The seas"] == [seed["title"] for seed in found["Seas"]]
    assert "Science" in found  # filled at the first start
    assert 204 == root.delete(place).status_code
    assert 404 == root.delete(place).status_code


def test_catalogue_refuses_members(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    entry = ada.get(f"{API}/catalogue").json()["preferences"][0]["seeds"][0]["id"]
    answers = [
        ada.post(f"{API}/catalogue", json=SEA),
        ada.delete(f"{API}/catalogue/{entry}"),
        ada.delete(f"{API}/catalogue/nothing"),
    ]
    assert [403] * 3 == [answer.status_code for answer in answers]


def test_add_entry_refuses_invalid_values(site: SiteUnderTest) -> None:
    root = site.sign_up("Root", "admin")
    for given in (
        {"url": "file:///etc/passwd"}, {"preference": "\x00"}, {"title": "\x1b[31m"}, {"url": ""},
    ):  # fmt: skip
        assert 422 == root.post(f"{API}/catalogue", json={**SEA, **given}).status_code, given
