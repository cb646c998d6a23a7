"""The API for administrators of accounts."""

from __future__ import annotations

from site_maker import API, SiteUnderTest


def test_people_are_listed_for_admins_only(site: SiteUnderTest) -> None:
    ada, bob, reader = site.sign_up("ada", "admin"), site.sign_up("bob"), site.sign_up("rita", "reader")
    listed = ada.get(f"{API}/people").json()
    assert (
        [("ada", "admin"), ("bob", "member"), ("rita", "reader")],
        {"id", "name", "role", "disabled", "created"},
    ) == ([(one["name"], one["role"]) for one in listed], set(listed[0]))
    person = listed[1]["id"]
    for client in (bob, reader, site.client(), site.token(ada, ["read", "write"])):
        statuses = [
            client.get(f"{API}/people").status_code,
            client.patch(f"{API}/people/{person}", json={"role": "admin"}).status_code,
            client.delete(f"{API}/people/{person}").status_code,
        ]
        assert [403, 403, 403] == statuses
    assert "member" == ada.get(f"{API}/people").json()[1]["role"]


def test_role_change_applies_at_once_with_new_cookie(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    old = bob.cookies["lycosa"]
    answer = ada.patch(f"{API}/people/{site.id_of(bob)}", json={"role": "admin"})
    assert ("admin", 200) == (answer.json()["role"], bob.get(f"{API}/people").status_code)
    assert old != bob.cookies["lycosa"]


def test_suspended_person_is_refused_at_once(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    program, person = site.token(bob, ["read"]), site.id_of(bob)
    assert 200 == ada.patch(f"{API}/people/{person}", json={"disabled": True}).status_code
    body = {"name": "bob", "password": "correct horse battery"}
    attempt = site.client().post(f"{API}/session", json=body)
    assert [403, 403, 401] == [
        bob.get(f"{API}/me").status_code,
        program.get(f"{API}/me").status_code,
        attempt.status_code,
    ]
    ada.patch(f"{API}/people/{person}", json={"disabled": False})
    assert [403, 200, 200] == [
        bob.get(f"{API}/me").status_code,
        program.get(f"{API}/me").status_code,
        site.client().post(f"{API}/session", json=body).status_code,
    ]


def test_last_admin_cannot_be_demoted_disabled_or_deleted(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    me = f"{API}/people/{site.id_of(ada)}"
    refused = [
        ada.patch(me, json={"role": "member"}),
        ada.patch(me, json={"disabled": True}),
        ada.patch(me, json={"role": "reader", "disabled": False}),
        ada.delete(me),
    ]
    assert [409] * 4 == [answer.status_code for answer in refused]
    assert 200 == ada.get(f"{API}/people").status_code
    site.sign_up("bob", "admin")
    assert [204, 403] == [ada.delete(me).status_code, ada.get(f"{API}/people").status_code]


def test_delete_ends_session(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    path = f"{API}/people/{site.id_of(bob)}"
    assert [204, 404, 403] == [
        ada.delete(path).status_code,
        ada.delete(path).status_code,
        bob.get(f"{API}/me").status_code,
    ]
    assert 404 == ada.patch(path, json={"role": "reader"}).status_code


def test_names_match_prefix(site: SiteUnderTest) -> None:
    site.sign_up("Adele")
    reader = site.sign_up("rita", "reader")
    ask = [reader.get(f"{API}/people/names", params={"begins": begins}) for begins in ("AD", "_d", "a")]
    assert [(200, ["Adele"]), (200, []), (422, None)] == [
        (answer.status_code, answer.json() if answer.is_success else None) for answer in ask
    ]
    assert 403 == site.client().get(f"{API}/people/names?begins=ad").status_code


def test_change_refuses_invalid_values(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada", "admin")
    me = f"{API}/people/{site.id_of(ada)}"
    wrong: list[object] = [{"role": "king"}, {"disabled": "yes"}, {"name": "x"}, [], None]
    assert [422] * 5 == [ada.patch(me, json=given).status_code for given in wrong]
    assert [("ada", "admin", False)] == [
        (one["name"], one["role"], one["disabled"]) for one in ada.get(f"{API}/people").json()
    ]
