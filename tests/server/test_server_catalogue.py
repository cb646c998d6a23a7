"""The seed catalogue by the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_maker import API, make_site

SEA = {"preference": "Seas", "url": "seas.example", "title": "The seas", "note": ""}


def test_an_admin_keeps_it_and_everyone_reads_it(database_address: str, tmp_path: Path) -> None:
    """Entries are added, changed and removed by an admin; a reader sees them by preference."""
    site = make_site(database_address, tmp_path)
    root, rita = site.sign_up("Root", "admin"), site.sign_up("Rita", "reader")
    made = root.post(f"{API}/catalogue", json=SEA)
    assert (201, "https://seas.example/") == (made.status_code, made.json()["url"])
    assert 409 == root.post(f"{API}/catalogue", json=SEA).status_code
    place = f"{API}/catalogue/{made.json()['id']}"
    assert "Oceans" == root.patch(place, json={"preference": "Oceans", "title": None}).json()["preference"]
    found = {one["preference"]: one["seeds"] for one in rita.get(f"{API}/catalogue").json()["preferences"]}
    assert ["The seas"] == [seed["title"] for seed in found["Oceans"]]
    assert "Science" in found  # it was filled at the first start
    assert 204 == root.delete(place).status_code
    assert [404, 404] == [root.delete(place).status_code, root.patch(place, json={"title": "x"}).status_code]
    site.close()


def test_a_member_changes_nothing(tmp_path: Path) -> None:
    """Members may not write in the catalogue, nor learn whether an entry is there."""
    site = make_site(tmp_path / "lycosa.sqlite", tmp_path)
    ada = site.sign_up("Ada")
    entry = ada.get(f"{API}/catalogue").json()["preferences"][0]["seeds"][0]["id"]
    answers = [
        ada.post(f"{API}/catalogue", json=SEA),
        ada.patch(f"{API}/catalogue/{entry}", json={"title": "mine"}),
        ada.delete(f"{API}/catalogue/{entry}"),
        ada.delete(f"{API}/catalogue/nothing"),
    ]
    assert [403] * 4 == [answer.status_code for answer in answers]
    site.close()


@pytest.mark.parametrize(
    "given", [{"url": "file:///etc/passwd"}, {"preference": "\x00"}, {"title": "\x1b[31m"}, {"url": ""}]
)
def test_what_is_no_entry(tmp_path: Path, given: dict[str, str]) -> None:
    """What is no web address, or can't be shown, is refused, also as a change."""
    site = make_site(tmp_path / "lycosa.sqlite", tmp_path)
    root = site.sign_up("Root", "admin")
    entry = root.post(f"{API}/catalogue", json=SEA).json()["id"]
    assert 422 == root.post(f"{API}/catalogue", json={**SEA, **given}).status_code
    assert 422 == root.patch(f"{API}/catalogue/{entry}", json=given).status_code
    site.close()
