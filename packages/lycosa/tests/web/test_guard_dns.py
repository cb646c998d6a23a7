"""The DNS cache."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lycosa.core.errors import FetchError
from lycosa.web.guard import CACHE_SECONDS, FAILURE_CACHE_SECONDS, DnsCache, Resolver
from tables import each


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Server:
    def __init__(self, **table: Any) -> None:
        self.table = {name.replace("_", "."): value for name, value in table.items()}
        self.asked: list[str] = []

    async def __call__(self, name: str) -> list[str]:
        self.asked.append(name)
        await asyncio.sleep(0)
        found = self.table.get(name, socket.gaierror(socket.EAI_NONAME, "unknown"))
        if isinstance(found, Exception):
            raise found
        return list(found)


def run(body: Callable[[DnsCache], Coroutine[Any, Any, Any]], server: Server, time: Time | None = None) -> Any:
    async def main() -> Any:
        names = DnsCache(time or Time(), server)
        try:
            return await body(names)
        finally:
            await names.close()

    return asyncio.run(main())


def test_resolve_merges_concurrent_lookups() -> None:
    server = Server(a_test=["192.0.2.1", "192.0.2.2"])

    async def body(names: DnsCache) -> list[list[str]]:
        first = await asyncio.gather(*(names.resolve("a.test") for _ in range(5)))
        return [*first, await names.resolve("a.test")]

    assert [["192.0.2.1", "192.0.2.2"]] * 6 == run(body, server)
    assert ["a.test"] == server.asked


def test_resolve_expires_results_and_failures() -> None:
    server, time = Server(a_test=["192.0.2.1"]), Time()

    async def body(names: DnsCache) -> None:
        for now in (0.0, CACHE_SECONDS - 1, CACHE_SECONDS + 1):
            time.now = now
            await names.resolve("a.test")
        for now in (0.0, FAILURE_CACHE_SECONDS - 1, FAILURE_CACHE_SECONDS + 1):
            time.now = 1000 + now
            with pytest.raises(FetchError):
                await names.resolve("b.test")

    run(body, server, time)
    assert ["a.test", "a.test", "b.test", "b.test"] == server.asked


@each(
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), False, "no such host: a.test"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), True, "no such host: a.test (temporary)"),
        (UnicodeError("label too long"), False, "no such host: a.test"),
        (OSError("x"), False, "no such host: a.test"),
        ([], False, "a.test has no address"),
    ]
)
def test_resolve_reports_failures(failure: Any, again: bool, message: str) -> None:
    async def body(names: DnsCache) -> FetchError:
        with pytest.raises(FetchError) as error:
            await names.resolve("a.test")
        return error.value

    error = run(body, Server(a_test=failure))
    assert ("unknown-host", again, message) == (error.outcome, error.again, str(error))


@each([
        ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("[2001:DB8::0:1]", "2001:db8::1"), ("localhost", "127.0.0.1"),
        ("www.localhost", "127.0.0.1"), ("a.b.localhost.", "127.0.0.1"),
        ("localhost.", "127.0.0.1"),
    ])  # fmt: skip
def test_resolve_returns_literals_without_lookup(name: str, address: str) -> None:
    server = Server()

    async def body(names: DnsCache) -> list[str]:
        names.prefetch(name)
        return await names.resolve(name)

    assert [address] == run(body, server)
    assert [] == server.asked


@each(["host1", "notlocalhost", "1.2.3", "localhost.test"])
def test_resolve_looks_up_names_similar_to_literals(name: str) -> None:
    server = Server()

    async def body(names: DnsCache) -> None:
        with pytest.raises(FetchError):
            await names.resolve(name)

    run(body, server)
    assert [name] == server.asked


def test_resolve_strips_final_dot() -> None:
    server = Server(a_test=["192.0.2.1"])
    assert ["192.0.2.1"] == run(lambda names: names.resolve("a.test."), server)
    assert ["a.test"] == server.asked


@pytest.mark.paper("rules-dns")
def test_prefetch_fills_first_cached() -> None:
    server = Server(a_test=["192.0.2.1"])

    async def body(names: DnsCache) -> list[str]:
        seen = [names.first_cached("a.test")]
        names.prefetch("a.test")
        names.prefetch("a.test")
        names.prefetch("")
        for _ in range(5):
            await asyncio.sleep(0)
        names.prefetch("a.test")
        return [*seen, names.first_cached("a.test"), names.first_cached("b.test")]

    assert ["", "192.0.2.1", ""] == run(body, server)
    assert ["a.test"] == server.asked


def test_resolve_survives_cancelled_caller() -> None:
    server = Server(a_test=["192.0.2.1"])

    async def body(names: DnsCache) -> list[str]:
        impatient = asyncio.ensure_future(names.resolve("a.test"))
        patient = asyncio.ensure_future(names.resolve("a.test"))
        await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert ["192.0.2.1"] == run(body, server)
    assert ["a.test"] == server.asked


def test_close_cancels_lookups() -> None:
    async def never(name: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    async def main() -> int:
        names = DnsCache(Time(), never)
        names.prefetch("a.test")
        await asyncio.sleep(0)
        await names.close()
        return len(asyncio.all_tasks())

    assert 1 == asyncio.run(main())


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.web.guard.MAX_NAMES", 3)

    async def body(names: DnsCache) -> int:
        for number in range(10):
            with pytest.raises(FetchError):
                await names.resolve(f"n{number}.test")
        return len(names._known)

    assert run(body, Server()) <= 3


def test_resolver_returns_aiohttp_results() -> None:
    async def body(names: DnsCache) -> list[Any]:
        resolver = Resolver(names)
        with pytest.raises(OSError, match=r"no such host: b\.test"):
            await resolver.resolve("b.test", 80)
        found = await resolver.resolve("a.test", 443)
        await resolver.close()
        return [(r["hostname"], r["host"], r["port"], r["family"]) for r in found]

    expected = [("a.test", "192.0.2.1", 443, socket.AF_INET), ("a.test", "2001:db8::1", 443, socket.AF_INET6)]
    assert expected == run(body, Server(a_test=["192.0.2.1", "2001:db8::1"]))
