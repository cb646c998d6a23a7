"""The API of invitations."""

from __future__ import annotations

from site_maker import API, PASSWORD, SiteUnderTest


def test_invitation_goes_from_creation_to_use(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    made = ada.post(f"{API}/invitations", json={"role": "reader", "note": "for Rita", "days": 3})
    code, link = made.json()["code"], made.json()["link"]
    assert (201, f"http://127.0.0.1:8000/join#{code}") == (made.status_code, link)
    listed = ada.get(f"{API}/invitations")
    mine = [one for one in listed.json() if one["note"]]
    assert (False, [("reader", "for Rita", "ada", site.clock() + 3 * 86400, None)]) == (
        code in listed.text,
        [(one["role"], one["note"], one["made_by"], one["expires"], one["used"]) for one in mine],
    )
    body = {"code": code, "name": "rita", "password": PASSWORD}
    answers = [site.client().post(f"{API}/invitations/accept", json=body | {"name": name}) for name in ("rita", "eve")]
    assert [201, 404] == [answer.status_code for answer in answers]
    assert "reader" == answers[0].json()["person"]["role"]
    assert [site.clock()] == [one["used"] for one in ada.get(f"{API}/invitations").json() if one["note"]]


def test_expired_and_revoked_invitations_are_404(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    old, taken_back = (ada.post(f"{API}/invitations", json={"days": days}).json() for days in (1, 7))
    assert [204, 404] == [ada.delete(f"{API}/invitations/{taken_back['id']}").status_code for _ in range(2)]
    site.clock.now += 86400
    for code in (old["code"], taken_back["code"]):
        body = {"code": code, "name": "eve", "password": PASSWORD}
        answers = [
            site.client().get(f"{API}/invitations/check", params={"code": code}),
            site.client().post(f"{API}/invitations/accept", json=body),
        ]
        assert [404, 404] == [answer.status_code for answer in answers]


def test_accept_with_invalid_values_keeps_invitation(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    body = {"code": ada.post(f"{API}/invitations", json={}).json()["code"], "name": "bob", "password": PASSWORD}
    tries = [body | {"name": "ADA"}, body | {"password": "short"}, body | {"name": "<bob>"}, body]
    answers = [site.client().post(f"{API}/invitations/accept", json=given) for given in tries]
    assert [409, 422, 422, 201] == [answer.status_code for answer in answers]


def test_invitations_are_for_admins(site: SiteUnderTest) -> None:
    for client in (site.sign_up("bob"), site.sign_up("rita", "reader"), site.client()):
        statuses = [
            client.get(f"{API}/invitations").status_code,
            client.post(f"{API}/invitations", json={"role": "admin"}).status_code,
            client.delete(f"{API}/invitations/x").status_code,
        ]
        assert [403, 403, 403] == statuses


def test_invite_refuses_invalid_values(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    wrong = [{"role": "king"}, {"days": 0}, {"days": 1e9}, {"note": "x" * 201}, {"note": "a\0"}, {"code": "mine"}]
    assert [422] * 6 == [ada.post(f"{API}/invitations", json=given).status_code for given in wrong]
