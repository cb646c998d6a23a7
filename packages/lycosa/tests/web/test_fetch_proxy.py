"""Requests through a proxy."""

import asyncio
import datetime
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from input_errors import raises_input_error
from lycosa.core.errors import FetchError
from lycosa.web.fetch import HttpTransport, ProxySettings, Response
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness
from tables import each

HEADERS = {"User-Agent": "Lycosa"}
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class FakeProxy:
    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[str] = []
        self.lost: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while self.answers:
                self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
                writer.write(self.answers.pop(0))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def through(
    upstream: FakeProxy,
    body: Callable[[HttpTransport], Coroutine[Any, Any, Any]],
    *,
    allow: tuple[str, ...] = (),
    user: str = "",
) -> Any:
    async def fail(name: str) -> list[str]:
        raise AssertionError(f"{name} was looked up")

    async def main() -> Any:
        listening = await asyncio.start_server(upstream, "127.0.0.1", 0)
        time = asyncio.get_running_loop().time
        port = listening.sockets[0].getsockname()[1]
        transport = HttpTransport(
            time,
            Guard(allow),
            DnsCache(time, fail),
            Politeness(time),
            proxy=ProxySettings(f"http://127.0.0.1:{port}", login=user),
            on_proxy_failure=upstream.lost.append,
        )
        try:
            return await body(transport)
        finally:
            await transport.close()
            listening.close()
            for _ in range(3):
                await asyncio.sleep(0)

    return asyncio.run(main())


def fetching(url: str) -> Callable[[HttpTransport], Coroutine[Any, Any, Response]]:
    async def fetch(transport: HttpTransport) -> Response:
        assert "" == await transport.address(url)
        return await transport.fetch(url, HEADERS)

    return fetch


def test_fetch_sends_whole_url_to_proxy() -> None:
    upstream = FakeProxy(OK)
    response = through(upstream, fetching("http://a.example/x?y=%E9"))
    assert (200, b"hi", "") == (response.status, response.body, response.address)
    assert upstream.requests[0].startswith("GET http://a.example/x?y=%E9 HTTP/1.1\r\n")
    assert "\r\nHost: a.example\r\n" in upstream.requests[0]


@each(
    [
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://169.254.169.254/",
        "http://[::1]/",
        "http://localhost:8080/",
        "http://x.localhost/",
        "https://192.168.0.1/",
    ]
)
def test_fetch_refuses_literal_private_addresses(url: str) -> None:
    async def both(transport: HttpTransport) -> list[str]:
        outcomes = []
        for attempt in (transport.address(url), transport.fetch(url, HEADERS)):
            with pytest.raises(FetchError) as error:
                await attempt
            outcomes.append(error.value.outcome)
        return outcomes

    upstream = FakeProxy(OK)
    assert ["refused", "refused"] == through(upstream, both)
    assert [] == upstream.requests


def test_fetch_sends_allowed_network_to_proxy() -> None:
    upstream = FakeProxy(OK)
    assert b"hi" == through(upstream, fetching("http://x.localhost:8123/"), allow=("127.0.0.0/8",)).body
    assert upstream.requests[0].startswith("GET http://x.localhost:8123/ ")


@each(["http://a.example/", "https://a.example/"])
def test_fetch_sends_password_to_proxy_only(url: str) -> None:
    upstream = FakeProxy(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(FetchError) as error:
        through(upstream, fetching(url), user="ann:secret")
    assert "\r\nProxy-Authorization: Basic YW5uOnNlY3JldA==\r\n" in upstream.requests[0]
    assert "\r\nAuthorization" not in upstream.requests[0]
    assert ("unreachable", True, "the proxy returned 407 Who are you") == (
        error.value.outcome,
        error.value.again,
        str(error.value),
    )
    assert ["the proxy returned 407 Who are you"] == upstream.lost


def test_fetch_reports_host_unreachable_by_proxy() -> None:
    upstream = FakeProxy(b"HTTP/1.1 502 No route\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(FetchError, match="the proxy returned 502 No route") as error:
        through(upstream, fetching("https://a.example/"))
    assert ("unreachable", True, []) == (error.value.outcome, error.value.again, upstream.lost)
    assert upstream.requests[0].startswith("CONNECT a.example:443 ")


def test_fetch_reports_lost_proxy() -> None:
    async def main() -> tuple[FetchError, list[str], str]:
        listening = await asyncio.start_server(FakeProxy(), "127.0.0.1", 0)
        proxy = ProxySettings(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", login="ann:secret")
        listening.close()
        await listening.wait_closed()
        time, lost = asyncio.get_running_loop().time, list[str]()
        transport = HttpTransport(
            time, Guard(), DnsCache(time), Politeness(time), proxy=proxy, on_proxy_failure=lost.append
        )
        with pytest.raises(FetchError) as error:
            await transport.fetch("http://a.example/", HEADERS)
        await transport.close()
        with raises_input_error("no-proxy", match="does not respond"):
            proxy.check()
        return error.value, lost, str(proxy)

    error, lost, name = asyncio.run(main())
    assert ("unreachable", True) == (error.outcome, error.again)
    assert [str(error)] == lost
    assert lost[0].startswith(f"the proxy {name} does not respond (")
    assert "secret" not in lost[0]


def authority(directory: Path, host: str) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "public.pem").write_bytes(certificate)
    (directory / "private.pem").write_bytes(private + certificate)
    return directory / "public.pem", directory / "private.pem"


@pytest.mark.parametrize("trusted", [True, False])
def test_fetch_checks_certificate_of_intercepting_proxy(tmp_path: Path, trusted: bool) -> None:
    public, private = authority(tmp_path, "a.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(private)

    class Tunnel(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            self.transport, self.secure = transport, False

        def data_received(self, data: bytes) -> None:
            if self.secure:  # can arrive before start_tls returns
                self.working.add_done_callback(lambda _: self.transport.write(OK))
                return
            self.transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
            self.transport.pause_reading()
            self.working = asyncio.ensure_future(self._upgrade())

        async def _upgrade(self) -> None:
            self.secure = True
            try:
                loop = asyncio.get_running_loop()
                secure = await loop.start_tls(self.transport, self, context, server_side=True)
                assert isinstance(secure, asyncio.Transport)
                self.transport = secure
            except OSError:
                self.transport.abort()

    async def main() -> Response:
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(Tunnel, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        proxy = ProxySettings(f"http://127.0.0.1:{port}", str(public) if trusted else "")
        transport = HttpTransport(loop.time, Guard(), DnsCache(loop.time), Politeness(loop.time), proxy=proxy)
        try:
            return await transport.fetch("https://a.example/", HEADERS)
        finally:
            await transport.close()
            listening.close()
            for _ in range(5):
                await asyncio.sleep(0)

    if trusted:
        assert b"hi" == asyncio.run(main()).body
    else:
        with pytest.raises(FetchError, match="--proxy-ca") as error:
            asyncio.run(main())
        assert ("unreachable", False) == (error.value.outcome, error.value.again)


@each(
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("proxy.example", "http://proxy.example:80"),
        ("https://proxy.example/", "https://proxy.example:443"),
        ("http://proxy.example:3128", "http://proxy.example:3128"),
    ]
)
def test_proxy_settings_accept_short_urls(address: str, expected: str) -> None:
    assert expected == str(ProxySettings(address)) == str(ProxySettings(address, login="ann:secret"))


def test_proxy_settings_reject_password_in_url() -> None:
    with raises_input_error("password-in-url") as error:
        ProxySettings("http://ann:secret@proxy.example:3128")
    assert "secret" not in str(error.value)


@each(
    [
        "socks5://127.0.0.1:1080",
        "ftp://a.example",
        "http://",
        "http://a.example/path",
        "http://a.example:99999",
        "://x",
    ]
)
def test_proxy_settings_reject_bad_urls(address: str) -> None:
    with raises_input_error("bad-url"):
        ProxySettings(address)


def test_proxy_settings_reject_bad_certificate_files(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("hello")
    for name, code in (("none.pem", "unreadable-file"), ("empty.pem", "bad-file")):
        with raises_input_error(code, match=name):
            ProxySettings("http://127.0.0.1:8080", str(tmp_path / name))
    with raises_input_error("missing-option"):
        ProxySettings("", str(tmp_path / "x.pem"))
