"""The seed catalogue by the API."""

from __future__ import annotations

from site_maker import API, SiteUnderTest

SEA = {"preference": "Seas", "url": "seas.example", "title": "The seas", "note": ""}


def test_an_admin_keeps_it_and_everyone_reads_it(site: SiteUnderTest) -> None:
    """Entries are added and removed by an admin; a reader sees them by preference."""
    root, rita = site.sign_up("Root", "admin"), site.sign_up("Rita", "reader")
    made = root.post(f"{API}/catalogue", json=SEA)
    assert (201, "https://seas.example/") == (made.status_code, made.json()["url"])
    assert 409 == root.post(f"{API}/catalogue", json=SEA).status_code
    place = f"{API}/catalogue/{made.json()['id']}"
    found = {one["preference"]: one["seeds"] for one in rita.get(f"{API}/catalogue").json()["preferences"]}
    assert ["The seas"] == [seed["title"] for seed in found["Seas"]]
    assert "Science" in found  # it was filled at the first start
    assert 204 == root.delete(place).status_code
    assert 404 == root.delete(place).status_code


def test_a_member_changes_nothing(site: SiteUnderTest) -> None:
    """Members may not write in the catalogue, nor learn whether an entry is there."""
    ada = site.sign_up("Ada")
    entry = ada.get(f"{API}/catalogue").json()["preferences"][0]["seeds"][0]["id"]
    answers = [
        ada.post(f"{API}/catalogue", json=SEA),
        ada.delete(f"{API}/catalogue/{entry}"),
        ada.delete(f"{API}/catalogue/nothing"),
    ]
    assert [403] * 3 == [answer.status_code for answer in answers]


def test_what_is_no_entry(site: SiteUnderTest) -> None:
    """What is no web address, or can't be shown, is refused."""
    root = site.sign_up("Root", "admin")
    for given in (
        {"url": "file:///etc/passwd"}, {"preference": "\x00"}, {"title": "\x1b[31m"}, {"url": ""},
    ):  # fmt: skip
        assert 422 == root.post(f"{API}/catalogue", json={**SEA, **given}).status_code, given
