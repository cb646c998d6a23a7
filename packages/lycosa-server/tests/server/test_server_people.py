"""Admins and the people they keep, through the API."""

from __future__ import annotations

from site_maker import API, SiteUnderTest


def test_admins_see_everyone_and_members_do_not(site: SiteUnderTest) -> None:
    """And nobody's password is in the list."""
    ada, bob, reader = site.sign_up("ada", "admin"), site.sign_up("bob"), site.sign_up("rita", "reader")
    listed = ada.get(f"{API}/people").json()
    assert (
        [("ada", "admin"), ("bob", "member"), ("rita", "reader")],
        {"id", "name", "role", "disabled", "created"},
    ) == (
        [(one["name"], one["role"]) for one in listed],
        set(listed[0]),
    )
    person = listed[1]["id"]
    for client in (bob, reader, site.client(), site.token(ada, ["read", "write"])):
        statuses = [
            client.get(f"{API}/people").status_code,
            client.patch(f"{API}/people/{person}", json={"role": "admin"}).status_code,
            client.delete(f"{API}/people/{person}").status_code,
        ]
        assert [403, 403, 403] == statuses
    assert "member" == ada.get(f"{API}/people").json()[1]["role"]


def test_a_new_role_counts_from_the_next_request_on_under_a_new_cookie(site: SiteUnderTest) -> None:
    """The session goes on, but its value changes."""
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    old = bob.cookies["lycosa"]
    answer = ada.patch(f"{API}/people/{site.id_of(bob)}", json={"role": "admin"})
    assert ("admin", 200) == (answer.json()["role"], bob.get(f"{API}/people").status_code)
    assert old != bob.cookies["lycosa"]


def test_a_disabled_person_is_stopped_at_once(site: SiteUnderTest) -> None:
    """Session, token and password; enabled again, they sign in anew, and their tokens work."""
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


def test_the_last_admin_is_neither_demoted_nor_disabled_nor_deleted(site: SiteUnderTest) -> None:
    """409 each time; with a second admin it is done."""
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


def test_an_admin_deletes_an_account(site: SiteUnderTest) -> None:
    """It is gone with its session; what does not exist is 404."""
    ada, bob = site.sign_up("ada", "admin"), site.sign_up("bob")
    path = f"{API}/people/{site.id_of(bob)}"
    assert [204, 404, 403] == [
        ada.delete(path).status_code,
        ada.delete(path).status_code,
        bob.get(f"{API}/me").status_code,
    ]
    assert 404 == ada.patch(path, json={"role": "reader"}).status_code


def test_names_to_share_with(site: SiteUnderTest) -> None:
    """Everyone who is signed in may ask by a beginning; too short a one is refused."""
    site.sign_up("Adele")
    reader = site.sign_up("rita", "reader")
    ask = [reader.get(f"{API}/people/names", params={"begins": begins}) for begins in ("AD", "_d", "a")]
    assert [(200, ["Adele"]), (200, []), (422, None)] == [
        (answer.status_code, answer.json() if answer.is_success else None) for answer in ask
    ]
    assert 403 == site.client().get(f"{API}/people/names?begins=ad").status_code


def test_changes_that_make_no_sense(site: SiteUnderTest) -> None:
    """422, and nothing has changed."""
    ada = site.sign_up("ada", "admin")
    me = f"{API}/people/{site.id_of(ada)}"
    wrong: list[object] = [{"role": "king"}, {"disabled": "yes"}, {"name": "x"}, [], None]
    assert [422] * 5 == [ada.patch(me, json=given).status_code for given in wrong]
    assert [("ada", "admin", False)] == [
        (one["name"], one["role"], one["disabled"]) for one in ada.get(f"{API}/people").json()
    ]
