"""The API of notices."""

from __future__ import annotations

from lycosa_server.people import notices
from site_maker import API, SiteUnderTest


def test_read_notices_marks_own_ones(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    for number in range(3):
        notices.notify(site.database, site.clock() + number, site.id_of(ada), "finished", f"crawl {number}")
    found = ada.get(f"{API}/me/notices").json()
    assert (3, ["crawl 2", "crawl 1", "crawl 0"]) == (found["unread"], [one["text"] for one in found["notices"]])
    ids = [one["id"] for one in found["notices"]]
    assert 204 == bob.post(f"{API}/me/notices/read", json={"ids": ids}).status_code
    assert 3 == ada.get(f"{API}/me/notices").json()["unread"]
    ada.post(f"{API}/me/notices/read", json={"ids": ids[:1]})
    assert ["crawl 1", "crawl 0"] == [one["text"] for one in ada.get(f"{API}/me/notices?unread=true").json()["notices"]]
    ada.post(f"{API}/me/notices/read", json={"ids": None})
    found = ada.get(f"{API}/me/notices").json()
    assert (0, [site.clock()] * 3) == (found["unread"], [one["read"] for one in found["notices"]])
    assert 422 == ada.post(f"{API}/me/notices/read", json={"ids": ["\x00"]}).status_code
