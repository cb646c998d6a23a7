"""Security checks and headers of every request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lycosa_server.middleware import CSP, MAX_BODY_BYTES, ServerMiddleware
from lycosa_server.settings import Settings
from site_maker import API, PASSWORD, SiteUnderTest


def test_responses_have_security_headers(site: SiteUnderTest) -> None:
    for path in (f"{API}/session", "/sign-in", "/nowhere", f"{API}/nowhere"):
        headers = site.client().get(path).headers
        assert (CSP, "nosniff", "no-referrer", "DENY", "same-origin", "same-origin") == (
            headers["content-security-policy"],
            headers["x-content-type-options"],
            headers["referrer-policy"],
            headers["x-frame-options"],
            headers["cross-origin-opener-policy"],
            headers["cross-origin-resource-policy"],
        )
        assert "no-store" == headers.get("cache-control") or not path.startswith(API)


def test_csp_has_no_loophole() -> None:
    assert [] == [word for word in ("unsafe", "*", "http:", "https:", "blob:") if word in CSP]


def test_requests_have_unique_ids(site: SiteUnderTest) -> None:
    ids = {site.client().get(f"{API}/session").headers["x-request-id"] for _ in range(3)}
    assert 3 == len(ids)


def test_cross_site_changes_are_refused(site: SiteUnderTest) -> None:
    ada = site.sign_up("ada")
    body = {"name": "ada", "password": PASSWORD}
    cases: list[tuple[dict[str, str], int]] = [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ]
    for headers, status in cases:
        assert (headers, status, status) == (
            headers,
            site.client().post(f"{API}/session", json=body, headers=headers).status_code,
            ada.patch(f"{API}/me", json={"preferences": {}}, headers=headers).status_code,
        )


def test_tokens_skip_origin_check(site: SiteUnderTest) -> None:
    program = site.token(site.sign_up("ada"), ["account", "read"])
    answer = program.patch(f"{API}/me", json={"preferences": {}}, headers={"Origin": "http://evil.example"})
    assert 200 == answer.status_code


@pytest.mark.parametrize("site", [{"url": "https://lycosa.example"}], indirect=True)
def test_other_hosts_are_refused(site: SiteUnderTest) -> None:
    hosts = {"lycosa.example": 403, "LYCOSA.example": 403, "evil.example": 421, "lycosa.example:8000": 421, "": 421}
    client = site.client()
    assert hosts == {host: client.get(f"{API}/session", headers={"Host": host}).status_code for host in hosts}
    assert 421 != client.get(f"{API}/health", headers={"Host": "10.0.0.1"}).status_code
    program = site.token(site.sign_up("eve"), ["read"])
    assert 200 == program.get(f"{API}/me", headers={"Host": "10.0.0.1"}).status_code
    body = {"name": "ada", "password": PASSWORD}
    origins = {"https://lycosa.example": 401, "http://lycosa.example": 403, "https://evil.example": 403}
    assert origins == {
        origin: client.post(f"{API}/session", json=body, headers={"Origin": origin}).status_code for origin in origins
    }
    assert "max-age=31536000" == client.get(f"{API}/session").headers["strict-transport-security"]


def test_large_bodies_are_refused(site: SiteUnderTest) -> None:
    client = site.client()
    large = b'{"name": "' + b"x" * MAX_BODY_BYTES + b'"}'
    data = client.post(f"{API}/session", content=large)
    untold = client.post(f"{API}/session", content=iter([large[:500_000], large[500_000:]]))
    wrong = client.post(f"{API}/session", content=b"{}", headers={"Content-Length": "-1"})
    assert [413, 413, 400] == [answer.status_code for answer in (data, untold, wrong)]
    assert "1 MB" in data.json()["detail"]


@pytest.mark.parametrize("path", ["models", "imports"])
def test_large_uploads_require_session(site: SiteUnderTest, path: str) -> None:
    large = {"file": ("some.txt", b"\0" * MAX_BODY_BYTES)}
    ada, revoked = site.sign_up("ada"), site.client(headers={"Authorization": "Bearer none"})
    asked = [client.post(f"{API}/{path}", files=large) for client in (site.client(), revoked, ada)]
    assert [413, 413, 422] == [answer.status_code for answer in asked]
    assert 403 == site.client().post(f"{API}/{path}", files={"file": ("some.txt", b"a")}).status_code


def test_streamed_parts_are_sent_at_once(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    seen: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in (b"one", b"two"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
            seen.append(len(sent))

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    asyncio.run(ServerMiddleware(app, Settings(tmp_path))(scope, receive, send))
    assert [2, 3] == seen


def test_internal_error_has_an_id_and_no_details(site: SiteUnderTest) -> None:
    def broken() -> None:
        raise RuntimeError("a secret of ours")

    site.app.add_api_route("/broken", broken)
    site.app.router.routes.insert(0, site.app.router.routes.pop())
    client = TestClient(site.app, base_url=site.settings.base, raise_server_exceptions=False)
    answer = client.get("/broken")
    client.close()
    assert (500, False, CSP) == (answer.status_code, "secret" in answer.text, answer.headers["content-security-policy"])
    assert answer.headers["x-request-id"] in answer.json()["detail"]


def test_route_keeps_its_own_policy(site: SiteUnderTest) -> None:
    from fastapi import Response

    def reader() -> Response:
        return Response("x", headers={"Content-Security-Policy": "sandbox; frame-ancestors 'self'"})

    site.app.add_api_route("/own", reader)
    site.app.router.routes.insert(0, site.app.router.routes.pop())
    headers = site.client().get("/own").headers
    assert ("sandbox; frame-ancestors 'self'", False) == (
        headers["content-security-policy"],
        "x-frame-options" in headers,
    )


def test_lone_surrogates_are_422(site: SiteUnderTest) -> None:
    def careless() -> None:
        site.database.run("UPDATE person SET name = :name", name="\ud800")

    site.app.add_api_route("/careless", careless)
    site.app.router.routes.insert(0, site.app.router.routes.pop())
    assert 422 == site.client().get("/careless").status_code
