"""Signing in and out, invitations, CSRF and rate limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fastapi import Request
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from input_errors import raises_input_error
from lycosa_server.guards import Caller, ServerContext, identify, is_still_authorized
from lycosa_server.people import accounts
from site_maker import API, PASSWORD, SiteUnderTest, make_site


def cookie(client: TestClient) -> str:
    return str(client.cookies.get("lycosa", ""))


def sign_in(client: TestClient, name: str, password: str = PASSWORD) -> int:
    return client.post(f"{API}/session", json={"name": name, "password": password}).status_code


def test_session_goes_from_first_link_to_signing_out(site: SiteUnderTest) -> None:
    code = accounts.first_link(site.database, site.clock())
    client = site.client()
    assert "admin" == client.get(f"{API}/invitations/check", params={"code": code}).json()["role"]
    made = client.post(f"{API}/invitations/accept", json={"code": code, "name": "Ada", "password": PASSWORD})
    assert (201, {"name": "Ada", "role": "admin", "preferences": {}}) == (
        made.status_code,
        {key: value for key, value in made.json()["person"].items() if key != "id"},
    )
    assert made.json() == client.get(f"{API}/session").json()
    left = client.delete(f"{API}/session", headers={"X-CSRF-Token": made.json()["csrf"]})
    assert (204, "", 403) == (left.status_code, cookie(client), client.get(f"{API}/session").status_code)
    assert (200, 200) == (sign_in(client, "ada"), client.get(f"{API}/session").status_code)
    assert 404 == client.get(f"{API}/invitations/check", params={"code": code}).status_code


def test_sign_out_invalidates_copied_cookies(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    thief = site.client(cookies={"lycosa": cookie(ada)})
    assert 200 == thief.get(f"{API}/me").status_code
    ada.delete(f"{API}/session")
    assert 403 == thief.get(f"{API}/me").status_code


def test_sign_in_failures_are_indistinguishable(site: SiteUnderTest) -> None:
    site.sign_up("ada")
    answers = [
        site.client().post(f"{API}/session", json={"name": name, "password": "wrong password"})
        for name in ("ada", "eve")
    ]
    assert [401, 401] == [answer.status_code for answer in answers]
    assert answers[0].json() == answers[1].json()


def test_cookie_attributes_are_secure(site: SiteUnderTest, tmp_path: Path) -> None:
    site.sign_up("ada")
    plain = site.client().post(f"{API}/session", json={"name": "ada", "password": PASSWORD}).headers["set-cookie"]
    name, _, attributes = plain.partition("=")
    assert ("lycosa", ["Path=/", "Max-Age=7776000", "HttpOnly", "SameSite=Lax"]) == (name, attributes.split("; ")[1:])
    secure = make_site(tmp_path / "other.sqlite", tmp_path, url="https://lycosa.example")
    made = secure.sign_up("ada")
    assert made.get(f"{API}/me").status_code == 200
    again = made.post(f"{API}/session", json={"name": "ada", "password": PASSWORD}).headers["set-cookie"]
    secure.close()
    assert (True, "Secure") == (again.startswith("__Host-lycosa="), again.split("; ")[-1])


def test_sign_in_prevents_session_fixation(site: SiteUnderTest) -> None:
    site.sign_up("ada")
    mallory = site.sign_up("mallory")
    planted = cookie(mallory)
    for value in (planted, "chosen", "x" * 43 + "." + "y" * 43):
        victim = site.client(cookies={"lycosa": value})
        answer = victim.post(f"{API}/session", json={"name": "ada", "password": PASSWORD})
        given = answer.headers["set-cookie"].split(";")[0].removeprefix("lycosa=")
        with_old = site.client(cookies={"lycosa": value}).get(f"{API}/me").status_code
        assert (200, True, 403) == (answer.status_code, given.split(".")[0] != value.split(".")[0], with_old)


def test_cookie_is_rotated_hourly(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    old = cookie(ada)
    site.clock.now += 3600
    assert (200, False) == (ada.get(f"{API}/me").status_code, cookie(ada) == old)
    assert 200 == ada.patch(f"{API}/me", json={"preferences": {}}).status_code
    late = site.client(cookies={"lycosa": old})
    assert 200 == late.get(f"{API}/me").status_code
    site.clock.now += 61
    assert 403 == late.get(f"{API}/me").status_code
    assert 200 == ada.get(f"{API}/me").status_code


def test_refused_request_may_rotate_cookie(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    site.clock.now += 3600
    assert 403 == ada.patch(f"{API}/me", json={"preferences": {}}, headers={"X-CSRF-Token": "wrong"}).status_code
    site.clock.now += 61
    assert 200 == ada.get(f"{API}/me").status_code


def test_started_response_keeps_cookie(site: SiteUnderTest) -> None:
    def stream(request: Request) -> StreamingResponse:
        def parts() -> Iterator[bytes]:
            yield b"one"
            site.clock.now += 3600
            yield identify(request).name.encode()

        return StreamingResponse(parts())

    site.app.add_api_route("/stream", stream)
    site.app.router.routes.insert(0, site.app.router.routes.pop())
    ada = site.sign_up("ada")
    old = cookie(ada)
    assert ("oneada", old) == (ada.get("/stream").text, cookie(ada))
    site.clock.now += 61
    assert (200, False) == (ada.get(f"{API}/me").status_code, cookie(ada) == old)


def test_is_still_authorized_follows_session_and_token(site: SiteUnderTest) -> None:
    inside: ServerContext = site.app.state.site
    ada = site.sign_up("ada")
    program = site.token(ada, ["read"])
    person = site.id_of(ada)
    session = ada.get(f"{API}/me/sessions").json()[0]["id"]
    token = ada.get(f"{API}/me/tokens").json()[0]["id"]
    both = [Caller(inside, person, "ada", "member", frozenset(), session, given) for given in ("", token)]
    site.clock.now += 3600
    ada.get(f"{API}/me")
    site.clock.now += 61
    assert [True, True] == [is_still_authorized(one) for one in both]
    accounts.set_disabled(site.database, person, True)
    assert [False, False] == [is_still_authorized(one) for one in both]
    accounts.set_disabled(site.database, person, False)
    assert [False, True] == [is_still_authorized(one) for one in both]
    assert 200 == program.get(f"{API}/me").status_code
    site.database.run("UPDATE token SET revoked = 1")
    assert not is_still_authorized(both[1])


def test_session_expires(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    site.clock.now += 14 * 86400
    assert 403 == ada.get(f"{API}/me").status_code


def test_changes_require_csrf_token(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("ada"), site.sign_up("bob")
    right = ada.headers.pop("X-CSRF-Token")
    body = {"preferences": {"theme": "dark"}}
    given: list[dict[str, str]] = [
        {},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "wrong"},
        {"X-CSRF-Token": bob.headers["X-CSRF-Token"]},
    ]
    refused = [ada.patch(f"{API}/me", json=body, headers=headers).status_code for headers in given]
    refused.append(ada.patch(f"{API}/me", json=body, params={"csrf": right, "X-CSRF-Token": right}).status_code)
    assert ([403] * 5, {}) == (refused, ada.get(f"{API}/me").json()["preferences"])
    assert 200 == ada.patch(f"{API}/me", json=body, headers={"X-CSRF-Token": right}).status_code


def test_sign_in_replaces_csrf_token(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    old = ada.headers["X-CSRF-Token"]
    again = ada.post(f"{API}/session", json={"name": "ada", "password": PASSWORD}).json()["csrf"]
    assert (False, 403) == (old == again, ada.delete(f"{API}/session").status_code)


def test_sign_in_is_rate_limited(site: SiteUnderTest) -> None:
    site.sign_up("ada")
    client = site.client()
    assert [401] * 5 == [sign_in(client, "ada", "wrong password") for _ in range(5)]
    held = client.post(f"{API}/session", json={"name": "ADA", "password": PASSWORD})
    assert (429, "900") == (held.status_code, held.headers["retry-after"])
    site.clock.now += 900
    assert 200 == sign_in(client, "ada")


def test_invitation_codes_are_rate_limited(site: SiteUnderTest) -> None:
    client = site.client()
    for number in range(20):
        if number % 2:
            answer = client.get(f"{API}/invitations/check", params={"code": str(number)})
        else:
            body = {"code": str(number), "name": "eve", "password": PASSWORD}
            answer = client.post(f"{API}/invitations/accept", json=body)
        assert 404 == answer.status_code
    held = client.get(f"{API}/invitations/check", params={"code": "21"})
    assert (429, "900") == (held.status_code, held.headers["retry-after"])


def test_forwarded_addresses_require_trusted_proxy(tmp_path: Path) -> None:
    for number, (trusted, peer, expected) in enumerate(
        (
            ((), "127.0.0.9", 429),
            (("127.0.0.9",), "127.0.0.9", 401),
            (("127.0.0.1/8",), "::ffff:127.0.0.9", 401),  # as reported by dual-stack sockets
            (("10.0.0.0/8",), "127.0.0.9", 429),
            (("127.0.0.9",), "127.0.0.9", 429),  # the forwarded value is not an address
        )
    ):
        claims = "198.51.100" if number < 4 else "nowhere"
        site = make_site(tmp_path / f"{number}.sqlite", tmp_path, trusted_proxies=trusted)
        site.sign_up("ada")
        client = TestClient(site.app, base_url=site.settings.base, client=(peer, 5000))
        statuses = [
            client.post(
                f"{API}/session",
                json={"name": "ada", "password": "wrong password"},
                headers={"X-Forwarded-For": f"1.1.1.1, {claims}.{attempt}"},
            ).status_code
            for attempt in range(6)
        ]
        client.close()
        site.close()
        assert expected == statuses[-1]


def test_trusted_proxies_must_be_addresses(tmp_path: Path) -> None:
    with raises_input_error("bad-value", match=r"'proxy\.example'"):
        make_site(tmp_path / "lycosa.sqlite", tmp_path, trusted_proxies=("127.0.0.1", "proxy.example"))


def test_unprintable_text_is_422(site: SiteUnderTest) -> None:
    _, code = accounts.invite(site.database, site.clock(), "member")
    client, ada = site.client(), site.sign_up("ada")
    bad = [r"a\u0000b", r"a\ud800b"]
    answers = [
        client.post(f"{API}/session", content=f'{{"name": "{text}", "password": "long password"}}') for text in bad
    ]
    answers += [client.post(f"{API}/session", content=f'{{"name": "ada", "password": "{text}"}}') for text in bad]
    answers += [
        client.post(f"{API}/session", content=f'{{"name": "ada", "password": "x", "{text}": 1}}') for text in bad
    ]
    for text in bad:
        accept = f'{{"code": "{code}", "name": "{text}", "password": "long password"}}'
        answers.append(client.post(f"{API}/invitations/accept", content=accept))
        answers.append(ada.post(f"{API}/me/tokens", content=f'{{"name": "{text}", "scopes": ["read"]}}'))
    answers.append(client.get(f"{API}/invitations/check?code=%00"))
    answers.append(ada.delete(f"{API}/me/tokens/%00"))
    assert [422] * len(answers) == [answer.status_code for answer in answers]
    assert all(answer.json()["detail"] for answer in answers)
    assert 404 == client.get(f"{API}/invitations/check?code=%ED%A0%80").status_code


def test_errors_never_repeat_input(site: SiteUnderTest) -> None:
    answer = site.client().post(f"{API}/session", json={"name": "ada", "password": ["my password"]})
    assert (422, False) == (answer.status_code, "my password" in answer.text)
