"""Tests of the address guard in crawls: local addresses are never contacted unless allowed."""

import contextlib
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import lycosa.spaces.making
from crawl_helpers import run
from lycosa.core.types import Visit
from lycosa.crawling import crawl
from lycosa.testweb import ServedResponse, Server, serve
from lycosa.web.guard import DnsCache
from lycosa.web.urls import check_seed

# Notations of local addresses and of cloud metadata services.
SPELLINGS = [
    *["127.0.0.1", "127.1", "127.0.1", "127.0.0.2", "127.255.255.254", "2130706433", "017700000001"],
    *["0x7f000001", "0x7f.1", "0x7F.0x0.0x0.0x1", "0177.0.0.1", "0177.0.0.01", "127.0.0.1.", "127。0。0。1"],
    *["①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "@127.0.0.1", "0", "0.0.0.0", "0x0"],
    *["localhost", "LOCALHOST", "localhost.", "any.thing.localhost", "loc%61lhost"],
    *["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
    *["[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]"],
    *["[2002:7f00:1::]", "[2001:0:7f00:1::]", "169.254.169.254", "2852039166", "0xa9fea9fe", "169.16689662"],
    *["0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]", "168.63.129.16"],
    *["10.0.0.1", "192.168.1.1", "172.16.0.1", "100.100.100.200", "[fe80::1]", "[fc00::1]"],
]


class Trapdoor:
    """Port on several loopback addresses that records connections; tests expect none."""

    def __init__(self) -> None:
        self.listeners: list[socket.socket] = []
        self.port = 0
        for family, address in (
            (socket.AF_INET, "127.0.0.1"),
            (socket.AF_INET, "127.0.0.3"),
            (socket.AF_INET, "127.255.255.254"),
            (socket.AF_INET6, "::1"),
        ):
            listener = socket.socket(family, socket.SOCK_STREAM)
            try:
                listener.bind((address, self.port))
            except OSError:  # this machine has no such address
                listener.close()
                continue
            listener.listen(64)
            listener.setblocking(False)
            self.port = listener.getsockname()[1]
            self.listeners.append(listener)

    def knocks(self) -> int:
        count = 0
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    count += 1
        return count


@pytest.fixture
def trapdoor() -> Iterator[Trapdoor]:
    made = Trapdoor()
    try:
        yield made
        assert made.knocks() == 0, "someone connected to a local address"
    finally:
        for listener in made.listeners:
            listener.close()


def _crawled(seeds: list[str], **options: Any) -> list[Visit]:
    return list(crawl("coral reef", seeds, **{"delay": 0.0, "patience": 1.0, "attempts": 1, **options}))


def _pages(visits: list[Visit]) -> dict[str, str]:
    return {visit.node: visit.outcome for visit in visits if visit.kind == "page"}


def test_trapdoor_records_connections(trapdoor: Trapdoor) -> None:
    for listener in trapdoor.listeners:
        with socket.create_connection(listener.getsockname()[:2], timeout=60):
            pass
    assert trapdoor.knocks() == len(trapdoor.listeners)


def test_seeds_on_local_addresses_are_refused(trapdoor: Trapdoor) -> None:
    seeds = [f"http://{spelling}:{trapdoor.port}/x" for spelling in SPELLINGS]
    nodes = {check_seed(seed) for seed in seeds}
    assert None not in nodes
    assert len(SPELLINGS) > 50
    visits = _crawled(seeds)
    assert _pages(visits) == dict.fromkeys(nodes, "refused")
    assert {visit.outcome for visit in visits} == {"refused"}
    assert all("refused to connect to" in visit.note for visit in visits)
    assert any("--allow-network 127.0.0.0/8" in visit.note for visit in visits)


def test_command_line_uses_guard(trapdoor: Trapdoor, tmp_path: Path) -> None:
    out = str(tmp_path / "crawl")
    seeds = [part for name in ("127.0.0.1", "localhost") for part in ("--seed", f"http://{name}:{trapdoor.port}/")]
    ended = run("crawl", "coral reef", *seeds, "--out", out, "--delay", "0")
    assert ended.code == 1
    assert "refused" in ended.err
    assert "--allow-network 127.0.0.0/8" in ended.err
    outcomes = json.loads(run("show", out, "--json").out)["outcomes"]
    assert {entry["outcome"] for entry in outcomes} == {"refused"}


class Deceiver:
    """Web on an allowed address with links and redirects to local addresses."""

    port = 0

    def __init__(self, targets: list[str], robots: str = "") -> None:
        self.targets, self.robots = targets, robots

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Mapping[str, str] | None = None, version: int = 0) -> ServedResponse:
        path = "/" + url.split("/", 3)[3]
        if path == "/robots.txt":
            if self.robots:
                return ServedResponse(302, [("Location", self.robots)], b"")
            return ServedResponse(404, [], b"")
        if path.startswith("/to/"):
            status = (301, 302, 303, 307, 308)[int(path[4:]) % 5]
            # Raw UTF-8, as some servers send it: the library encodes headers as Latin-1.
            target = self.targets[int(path[4:])].encode().decode("latin-1")
            return ServedResponse(status, [("Location", target)], b"")
        if path != "/":
            return ServedResponse(404, [], b"")
        ways = [f"/to/{number}" for number in range(len(self.targets))]
        links = "".join(f'<a href="{url}">coral reef</a>\n' for url in [*ways, *self.targets])
        base = f'<meta http-equiv="refresh" content="0; url={[*self.targets, "/"][0]}">'
        page = f"<html><head>{base}</head><body>coral reef {links}</body></html>"
        return ServedResponse(200, [("Content-Type", "text/html")], page.encode())


@contextlib.contextmanager
def _deceiving(targets: list[str], robots: str = "", port: int = 0) -> Iterator[Server]:
    with serve(Deceiver(targets, robots), host="127.0.0.2", port=port) as server:  # type: ignore[arg-type]
        yield server


def test_links_and_redirects_to_local_addresses_are_refused(trapdoor: Trapdoor) -> None:
    names = [name for name in SPELLINGS if name != "127.0.0.2"]
    targets = [f"http://{name}:{trapdoor.port}/{number}" for number, name in enumerate(names)]
    with _deceiving(targets) as server:
        visits = _crawled([server.url("127.0.0.2")], allow_network=["127.0.0.2/32"])
        assert {hit.host for hit in server.log} == {"127.0.0.2"}
    pages = _pages(visits)
    assert pages.pop(server.url("127.0.0.2")) == "ok"
    assert len(pages) == len({check_seed(target) for target in targets})
    assert set(pages.values()) == {"refused"}
    assert sum(visit.kind == "redirect" for visit in visits) == len(targets)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "0x7f.1"])
def test_robots_redirects_to_local_addresses_are_refused(trapdoor: Trapdoor, name: str) -> None:
    robots = f"http://{name}:{trapdoor.port}/robots.txt"
    with _deceiving([f"http://127.0.0.1:{trapdoor.port}/"], robots) as server:
        visits = _crawled([server.url("127.0.0.2")], allow_network=["127.0.0.2/32"])
        assert [hit.path for hit in server.log] == ["/robots.txt"]
    assert [(visit.kind, visit.outcome) for visit in visits] == [("robots", "redirect"), ("robots", "refused")]
    assert visits[1].node == check_seed(robots)


def _named(monkeypatch: pytest.MonkeyPatch, answers: Mapping[str, list[str]]) -> None:
    """Replace the responses of the name server."""

    async def lookup(name: str) -> list[str]:
        return answers[name]

    monkeypatch.setattr(lycosa.spaces.making, "DnsCache", lambda clock: DnsCache(clock, lookup))


def test_names_of_local_addresses_are_refused(trapdoor: Trapdoor, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "loopback.example": ["127.0.0.1"],
        "sixth.example": ["::1"],
        "mapped.example": ["::ffff:127.0.0.1"],
        "both.example": ["127.0.0.1", "::1"],
        "many.example": ["127.0.0.1", "127.0.0.3", "10.0.0.1", "::1"],
        "zero.example": ["0.0.0.0"],
        "cloud.example": ["169.254.169.254"],
        "nat64.example": ["64:ff9b::7f00:1"],
        "router.example": ["192.168.0.1"],
        "odd.example": ["0177.0.0.1"],
        "scoped.example": ["fe80::1%lo"],
    }
    _named(monkeypatch, answers)
    visits = _crawled([f"http://{name}:{trapdoor.port}/" for name in answers])
    assert _pages(visits) == {f"http://{name}:{trapdoor.port}/": "refused" for name in answers}
    assert {visit.outcome for visit in visits} == {"refused"}


def test_name_uses_its_allowed_address_only(trapdoor: Trapdoor, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:  # a port other than that of the trapdoor
        other.setblocking(False)
        _named(monkeypatch, {"mixed.example": ["127.0.0.1", "127.0.0.2"]})
        with _deceiving([], port=other.getsockname()[1]) as server:
            visits = _crawled([server.url("mixed.example")], allow_network=["127.0.0.2/32"])
        with pytest.raises(BlockingIOError):
            other.accept()
    assert {visit.address for visit in visits} == {"127.0.0.2"}
    assert [visit.outcome for visit in visits] == ["gone", "ok"]


class Rebinding(DnsCache):
    """Host name that resolves to a public address when checked, and to a local one when connecting."""

    async def resolve(self, name: str) -> list[str]:
        self.asked = getattr(self, "asked", 0) + 1
        return ["93.184.216.34"] if self.asked % 2 else ["127.0.0.1"]


def test_dns_rebinding_is_refused(trapdoor: Trapdoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lycosa.spaces.making, "DnsCache", Rebinding)
    seed = f"http://rebinding.example:{trapdoor.port}/"
    visits = _crawled([seed])
    assert _pages(visits) == {seed: "refused"}
    assert all("127.0.0.1" in visit.note for visit in visits)
