"""The address guard: no notation and no resolver leads to an address that is not global."""

import asyncio
import contextlib
import pickle
import socket
from ipaddress import ip_address
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from lycosa.web import urls
from lycosa.web.guard import AddressRefused, Guard, is_refusal
from tables import each

# Notations of URLs of this machine and of its cloud's metadata service.
LOCAL_URLS = [
    "http://127.0.0.1/",
    "http://127.0.0.1:{port}/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0x7F.0x0.0x0.0x1/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://%31%32%37.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http:127.0.0.1",
    "http://@127.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0x0/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::0001]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:7f00:1]/",
    "http://[::FFFF:0:0]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.16689662/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[fd00:ec2::254]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
]

REFUSED = [
    *["0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1"],
    *["169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1"],
    *["192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1"],
    *["240.0.0.1", "255.255.255.255", "168.63.129.16"],
    *["::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:0.0.0.0", "::ffff:0:8.8.8.8"],
    *[
        "fe80::1",
        "fe80::1%eth0",
        "fe80::1%1",
        "febf::1",
        "fec0::1",
        "feff::1",
        "fc00::1",
        "fdff::1",
        "ff02::1",
    ],
    *[
        "::1%lo",
        "64:ff9b::10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::8.8.8.8",
        "64:ff9b:0:1::1",
        "100::1",
        "100:0:0:1::1",
    ],
    *[
        "2001::1",
        "2001:0:808:808::1",
        "2001:2::1",
        "2001:10::1",
        "2001:1f:ffff::1",
        "2001:20::1",
        "2001:1ff::1",
    ],
    *[
        "2001:db8::1",
        "2002::1",
        "2002:808:808::1",
        "3fff::1",
        "3fff:fff::1",
        "4000::1",
        "5f00::1",
        "1::1",
        "e000::1",
    ],
    *["2a00:1450::5efe:127.0.0.1", "2a00:1450::200:5efe:10.0.0.1", "fe80::5efe:8.8.8.8"],
    *[
        "localhost",
        "",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "0x7f.1",
        "127.0.0.1:80",
        "127.0.0.1 ",
        "\uff11\uff12\uff17.0.0.1",
        "/tmp/s",
    ],
]

GLOBAL = [
    *[
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.0.0.1",
    ],
    *[
        "128.0.0.1",
        "168.63.129.17",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.0",
    ],
    *[
        "223.255.255.255",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700::1111",
        "2a00:1450::1",
        "3ffe::1",
    ],
    *["[2606:4700::1111]", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450::5efe:8.8.8.8"],
]


@each(REFUSED)
def test_check_refuses_non_global_addresses(address: str) -> None:
    guard = Guard()
    for _ in range(2):
        assert not guard.allows(address)
        with pytest.raises(AddressRefused) as caught:
            guard.check(address)
        assert caught.value.address == address
    assert not guard.in_allowed_network(address)


@each(GLOBAL)
def test_allows_global_addresses(address: str) -> None:
    assert Guard().allows(address)


@each(LOCAL_URLS)
def test_rejects_every_notation_of_local_url(url: str) -> None:
    found = urls.canonical(url.format(port=80))
    assert found is not None
    literal = urls.host(found)
    ip_address(literal.strip("[]"))  # a literal address, so no resolver is involved
    assert not Guard().allows(literal)


def test_check_message_names_reason_and_option() -> None:
    with pytest.raises(AddressRefused) as caught:
        Guard().check("127.0.0.1")
    assert "127.0.0.1: loopback address; allow it with --allow-network 127.0.0.0/8" in str(caught.value)
    assert caught.value.why == "loopback address"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.hint) == (str(caught.value), caught.value.hint)


@each(
    [
        ("127.0.0.0/8", "127.0.0.1", True),
        ("127.0.0.0/8", "::ffff:127.0.0.1", True),
        ("127.0.0.0/8", "::127.0.0.1", False),
        ("127.0.0.0/8", "::ffff:0:127.0.0.1", False),
        ("127.0.0.0/8", "64:ff9b::127.0.0.1", False),
        ("127.0.0.0/8", "2002:7f00:1::", False),
        ("127.0.0.0/8", "::1", False),
        ("127.0.0.0/8", "0.0.0.0", False),
        ("127.0.0.0/8", "10.0.0.1", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("::1", "::1", True),
        ("::1", "127.0.0.1", False),
        ("::ffff:127.0.0.0/104", "127.0.0.1", True),
        ("::ffff:127.0.0.0/104", "::ffff:7f00:1", True),
        ("fe80::/10", "fe80::1%eth0", True),
        ("fd00::/8", "fd12::1", True),
        ("64:ff9b::a00:0/104", "64:ff9b::10.0.0.1", True),
        (" 10.0.0.0/8 ", "10.1.2.3", True),
        ("0.0.0.0/0", "192.168.1.1", True),
        ("0.0.0.0/0", "::1", False),
    ]
)
def test_allows_named_networks_only(allow: str, address: str, allowed: bool) -> None:
    guard = Guard(allow=[allow])
    assert guard.allows(address) is allowed
    assert guard.in_allowed_network(address) is allowed


def test_in_allowed_network_excludes_global_addresses() -> None:
    guard = Guard(allow=["127.0.0.0/8"])
    assert guard.allows("8.8.8.8")
    assert not guard.in_allowed_network("8.8.8.8")


@each(["", "localhost", "127.0.0.0/33", "127.0.0.1/8", "10.0.0.0/8,::1", "::/129"])
def test_guard_rejects_bad_network(text: str) -> None:
    with pytest.raises(ValueError, match="not an IP network") as caught:
        Guard(allow=[text])
    assert repr(text) in str(caught.value)
    if text == "127.0.0.1/8":
        assert "127.0.0.0/8" in str(caught.value)


def test_guard_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.web.guard._MAX_CACHED_REASONS", 10)
    guard = Guard()
    for last in range(100):
        assert guard.allows(f"8.8.8.{last}")
        assert len(guard._reasons) <= 10


def test_socket_factory_checks_address() -> None:
    guard = Guard(allow=["127.0.0.1"])
    made = guard.socket_factory((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
    with made:
        assert (made.family, made.getblocking()) == (socket.AF_INET, False)
    for family, address in [(socket.AF_INET, ("127.0.0.2", 80)), (socket.AF_UNIX, "/tmp/x")]:
        with pytest.raises(AddressRefused):
            guard.socket_factory((family, socket.SOCK_STREAM, 0, "", address))


class Answers(AbstractResolver):
    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self.answers.pop(0)
        ]

    async def close(self) -> None:
        pass


class Witness:
    def __init__(self) -> None:
        self.connections = 0
        self.port = 0

    async def __aenter__(self) -> "Witness":
        self._servers = [await asyncio.start_server(self._serve, "127.0.0.1", 0)]
        self.port = self._servers[0].sockets[0].getsockname()[1]
        if socket.has_ipv6:
            # Machines without IPv6 loopback test IPv4 only.
            with contextlib.suppress(OSError):
                self._servers.append(await asyncio.start_server(self._serve, "::1", self.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()
        await writer.wait_closed()


async def _get(guard: Guard, url: str, **connector: Any) -> int:
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(socket_factory=guard.socket_factory, **connector),
        timeout=aiohttp.ClientTimeout(total=10),
    )
    async with session, session.get(url, allow_redirects=False) as response:
        await response.read()
        return response.status


def test_client_cannot_connect_to_local_addresses() -> None:
    async def run() -> None:
        async with Witness() as witness:
            for url in LOCAL_URLS:
                found = urls.canonical(url.format(port=witness.port))
                assert found is not None
                here = f"http://{urls.host(found)}:{witness.port}/"
                with pytest.raises(aiohttp.ClientConnectorError) as caught:
                    await _get(Guard(), here)
                assert is_refusal(caught.value)
                assert "refused to connect" in str(caught.value)
            for raw in [
                "2130706433",
                "127.1",
                "0x7f.1",
                "0177.0.0.1",
                "localhost",
                "127.0.0.1",
                "[::ffff:127.0.0.1]",
            ]:
                with pytest.raises((aiohttp.ClientError, ValueError)):
                    await _get(Guard(), f"http://{raw}:{witness.port}/")
            assert witness.connections == 0

    asyncio.run(run())


def test_client_refuses_rebound_name() -> None:
    async def run() -> None:
        async with Witness() as witness:
            # The allowed address replaces a public one, so that no packet leaves the machine.
            guard = Guard(allow=["127.0.0.1"])
            url = f"http://rebind.example:{witness.port}/"
            resolver = Answers(["127.0.0.1"], ["0.0.0.0"], ["::1"], ["0.0.0.0", "::1", "::", "127.0.0.2"])
            assert await _get(guard, url, resolver=resolver, use_dns_cache=False) == 200
            while resolver.answers:
                with pytest.raises(aiohttp.ClientConnectorError) as caught:
                    await _get(guard, url, resolver=resolver, use_dns_cache=False)
                assert is_refusal(caught.value)
            assert witness.connections == 1

    asyncio.run(run())


def test_client_refuses_name_resolving_to_local_address() -> None:
    async def run() -> None:
        async with Witness() as witness:
            for address in ["127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::"]:
                with pytest.raises(aiohttp.ClientConnectorError) as caught:
                    await _get(Guard(), f"http://name.example:{witness.port}/", resolver=Answers([address]))
                assert is_refusal(caught.value)
            assert witness.connections == 0

    asyncio.run(run())


def test_client_connects_to_allowed_network() -> None:
    async def run() -> None:
        async with Witness() as witness:
            guard = Guard(allow=["127.0.0.0/8"])
            assert await _get(guard, f"http://127.0.0.1:{witness.port}/") == 200
            resolver = Answers(["10.0.0.1", "127.0.0.1"])
            assert await _get(guard, f"http://name.example:{witness.port}/", resolver=resolver) == 200
            assert witness.connections == 2

    asyncio.run(run())


@each(
    [
        (AddressRefused("::1", "loopback"), True),
        (OSError(13, "Multiple exceptions: [Errno 13] refused to connect to ::1: x"), True),
        (OSError(13, "Permission denied"), False),
        (ConnectionRefusedError(111, "refused"), False),
        (None, False),
    ]
)
def test_is_refusal_recognises_wrapped_errors(error: BaseException | None, expected: bool) -> None:
    assert is_refusal(error) is expected
