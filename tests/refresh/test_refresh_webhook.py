"""Webhooks: signed, and judged by what they answer. The targets are servers on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.herald import targets_of
from lycosa.refresh.telling.outbox import Answer, Delivery
from lycosa.refresh.telling.webhook import SECRET, Webhook, body_of, judged, sign, verify
from made_changes import REEF, START, text

TOLD = Told(7, "urn:uuid:7", REEF, START, "Coral reefs", 0.5, text())
DELIVERY = Delivery("urn:uuid:d", "urn:uuid:c", "reefs", [TOLD], START, Counter(changed=1))

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def post(handler: Handler, *, login: str = "", seconds: float = 30.0, times: int = 1) -> Answer:
    """Deliver to a server that answers so."""

    async def run() -> Answer:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.01)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        hook = Webhook(f"http://{login}127.0.0.1:{port}/hook/secret?key=1", "pearl", seconds=seconds)
        try:
            for _ in range(times):
                answer = await hook.send(DELIVERY)
            return answer
        finally:
            await runner.cleanup()

    return asyncio.run(run())


def test_a_delivery_on_the_wire() -> None:
    """The body says id, crawl and changes; the signature is of these very bytes; the id is a header, too."""
    seen: list[Any] = []

    async def take(request: web.Request) -> web.Response:
        seen.append((request.method, request.path_qs, dict(request.headers), await request.read()))
        return web.Response(status=204)

    assert Answer(True, "204") == post(take, login="me:pass@")
    [(method, path, headers, body)] = seen
    assert ("POST", "/hook/secret?key=1", "urn:uuid:d", "application/json") == (
        method, path, headers["Lycosa-Delivery"], headers["Content-Type"]
    )  # fmt: skip
    assert "Basic bWU6cGFzcw==" == headers["Authorization"]
    told = json.loads(body)
    assert ("urn:uuid:d", "urn:uuid:c", ["urn:uuid:7"]) == (
        told["id"], told["crawl"], [change["id"] for change in told["changes"]]
    )  # fmt: skip
    expected = hmac.new(b"pearl", b"1700000000." + body, hashlib.sha256).hexdigest()
    assert f"t=1700000000,v1={expected}" == headers["Lycosa-Signature"]
    assert verify("pearl", headers["Lycosa-Signature"], body, START + 10)


def test_each_attempt_sends_the_same_bytes() -> None:
    """A receiver may compare them."""
    seen: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        seen.append(await request.read())
        return web.Response(status=500)

    post(take, times=2)
    assert [body_of(DELIVERY)] * 2 == seen


@pytest.mark.parametrize(
    ("secret", "header", "body", "now", "good"),
    [
        ("pearl", sign("pearl", b"{}", START), b"{}", START, True),
        ("pearl", sign("pearl", b"{}", START), b"{}", START + 300, True),
        ("pearl", sign("pearl", b"{}", START), b"{}", START + 301, False),
        ("pearl", sign("pearl", b"{}", START), b"{}", START - 301, False),
        ("pearl", sign("shell", b"{}", START), b"{}", START, False),
        ("pearl", sign("pearl", b"{}", START), b"{ }", START, False),
        # the time is signed, too
        ("pearl", sign("pearl", b"{}", START - 1_000).replace("1699999000", "1700000000"), b"{}", START, False),
        # while a secret is being changed, one of two signatures is enough
        ("pearl", f"{sign('shell', b'{}', START)},{sign('pearl', b'{}', START)[13:]}", b"{}", START, True),
        ("pearl", "", b"{}", START, False),
        ("pearl", "v1=ab", b"{}", START, False),
        ("pearl", "t=soon,v1=ab", b"{}", START, False),
        ("pearl", "t=1700000000,v1=\u00e9", b"{}", START, False),
        ("pearl", "t=1700000000", b"{}", START, False),
    ],
)
def test_signatures(secret: str, header: str, body: bytes, now: float, good: bool) -> None:
    """Only the same body, by the same secret, from about now."""
    assert good is verify(secret, header, body, now)


@pytest.mark.parametrize(
    ("status", "headers", "answer"),
    [
        (200, {}, Answer(True, "200")),
        (299, {}, Answer(True, "299")),
        (410, {}, Answer(False, "410 sorry", stop=True)),
        (429, {"Retry-After": "77"}, Answer(False, "429 sorry", 77.0)),
        (503, {"Retry-After": "Tue, 14 Nov 2023 22:14:20 GMT"}, Answer(False, "503 sorry", 60.0)),
        (503, {"Retry-After": "999999999"}, Answer(False, "503 sorry", 86_400.0)),
        (503, {"Retry-After": "-5"}, Answer(False, "503 sorry")),
        (500, {"Retry-After": "77"}, Answer(False, "500 sorry")),
        (404, {}, Answer(False, "404 sorry")),
    ],
)
def test_answers(status: int, headers: dict[str, str], answer: Answer) -> None:
    """2xx is taken, 410 is the end, 429 and 503 may say when, all else is tried again."""
    assert answer == judged(status, headers, b"sorry" if status > 299 else b"", START)


def test_redirects_are_not_followed() -> None:
    """The changes go to nobody but whom the operator named."""
    asked: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=307, headers={"Location": "/other"})

    answer = post(elsewhere)
    assert (False, False, ["/hook/secret"]) == (answer.taken, answer.stop, asked)
    assert "redirects are not followed" in answer.says


def test_an_endless_answer_is_not_read() -> None:
    """Of what a target says a little is read, and the rest left."""
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        answer = web.StreamResponse(status=500)
        await answer.prepare(request)
        try:
            while sent < 50_000_000:
                await answer.write(b"no " * 10_000)
                sent += 30_000
        except (ConnectionError, asyncio.CancelledError):
            pass
        return answer

    answer = post(flood)
    assert answer.says.startswith("500 no no no")
    assert len(answer.says) <= 104  # status, blank, 100 characters
    assert sent < 50_000_000


def test_a_silent_target() -> None:
    """It is given up after a while, and asked again later."""

    async def silent(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    assert Answer(False, "no answer within 0 s") == post(silent, seconds=0.05)


def test_a_target_that_is_not_there() -> None:
    """Nobody listens: that is an answer, too, and names no secret."""
    answer = asyncio.run(Webhook("http://me:pass@127.0.0.1:1/hook/secret", "pearl").send(DELIVERY))
    assert answer.says.startswith("cannot connect: ")
    assert not answer.taken
    assert "pass" not in answer.says
    assert "secret" not in answer.says


def test_a_broken_answer() -> None:
    """What is not HTTP is a failure like others."""

    async def run() -> Answer:
        async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"220 mail.example ESMTP\r\n")
            writer.close()

        server = await asyncio.start_server(babble, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await Webhook(f"http://127.0.0.1:{port}/secret", "pearl").send(DELIVERY)

    answer = asyncio.run(run())
    assert not answer.taken
    assert answer.says.startswith("the connection failed (")


def test_secrets_stay_secret() -> None:
    """Neither credentials nor path are part of a name or an error; a new password is no new target."""
    address = "https://me:pass@hooks.example/services/T0/pearl?key=1"
    hook, rotated = Webhook(address, "s"), Webhook(address.replace("pass", "word"), "s")
    assert "webhook https://hooks.example/..." == hook.name
    assert hook.key == rotated.key
    assert hook.key != Webhook(address.replace("T0", "T1"), "s").key
    for wrong in (address.replace("https", "ftp"), "https://me:pass@/", "https://me:pass@host:port/", "me:pass"):
        with pytest.raises(InputError) as caught:
            Webhook(wrong, "s")
        assert "pass" not in str(caught.value)


def test_a_webhook_needs_a_secret() -> None:
    """Nothing goes out unsigned; the message says where the secret belongs."""
    with pytest.raises(InputError, match=SECRET):
        targets_of(Options(webhooks=["https://hooks.example/a"]), {})
    [target] = targets_of(Options(webhooks=["https://hooks.example/a"] * 2), {SECRET: "pearl"})
    assert "webhook https://hooks.example/..." == target.name
