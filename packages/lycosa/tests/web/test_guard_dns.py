"""Names to addresses: remembered, asked once, and no name server asked for what is known."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lycosa.core.errors import FetchError
from lycosa.web.guard import CACHE_SECONDS, FAILURE_CACHE_SECONDS, DnsCache, Resolver
from tables import each


class Time:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Server:
    """A name server with a table; remembers what it was asked."""

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
    """Run something with names in front of a server."""

    async def main() -> Any:
        names = DnsCache(time or Time(), server)
        try:
            return await body(names)
        finally:
            await names.close()

    return asyncio.run(main())


def test_a_name_is_asked_once() -> None:
    """Many who ask at the same moment, and later, get one answer from one question."""
    server = Server(a_test=["192.0.2.1", "192.0.2.2"])

    async def body(names: DnsCache) -> list[list[str]]:
        first = await asyncio.gather(*(names.resolve("a.test") for _ in range(5)))
        return [*first, await names.resolve("a.test")]

    assert [["192.0.2.1", "192.0.2.2"]] * 6 == run(body, server)
    assert ["a.test"] == server.asked


def test_answers_expire() -> None:
    """An answer is kept for KEEP seconds, a failure for KEEP_FAILURE."""
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
def test_failures(failure: Any, again: bool, message: str) -> None:
    """A name that leads nowhere is an unknown host; a temporary failure may be tried again."""

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
def test_literals_answer_for_themselves(name: str, address: str) -> None:
    """Addresses and localhost are known without asking anyone."""
    server = Server()

    async def body(names: DnsCache) -> list[str]:
        names.prefetch(name)
        return await names.resolve(name)

    assert [address] == run(body, server)
    assert [] == server.asked


@each(["host1", "notlocalhost", "1.2.3", "localhost.test"])
def test_names_that_only_look_like_literals(name: str) -> None:
    """A name that ends in a digit, or has localhost in it, is asked for like any other."""
    server = Server()

    async def body(names: DnsCache) -> None:
        with pytest.raises(FetchError):
            await names.resolve(name)

    run(body, server)
    assert [name] == server.asked


def test_a_final_dot_is_not_asked_for() -> None:
    """The name server is asked without the dot at the end."""
    server = Server(a_test=["192.0.2.1"])
    assert ["192.0.2.1"] == run(lambda names: names.resolve("a.test."), server)
    assert ["a.test"] == server.asked


@pytest.mark.paper("rules-dns")
def test_ahead_and_peek() -> None:
    """A name resolved ahead is known without waiting; peeking never asks."""
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


def test_one_who_gives_up_does_not_spoil_it_for_others() -> None:
    """When one asker is cancelled, another gets the answer all the same."""
    server = Server(a_test=["192.0.2.1"])

    async def body(names: DnsCache) -> list[str]:
        impatient = asyncio.ensure_future(names.resolve("a.test"))
        patient = asyncio.ensure_future(names.resolve("a.test"))
        await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert ["192.0.2.1"] == run(body, server)
    assert ["a.test"] == server.asked


def test_closing_ends_what_is_being_asked() -> None:
    """Questions that are open when the crawl ends are dropped."""

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


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """When there are too many names all are forgotten, rather than kept for ever."""
    monkeypatch.setattr("lycosa.web.guard.MAX_NAMES", 3)

    async def body(names: DnsCache) -> int:
        for number in range(10):
            with pytest.raises(FetchError):
                await names.resolve(f"n{number}.test")
        return len(names._known)

    assert run(body, Server()) <= 3


def test_the_resolver_of_the_client() -> None:
    """The HTTP client gets the same addresses, in its own form, and an OSError for an unknown host."""

    async def body(names: DnsCache) -> list[Any]:
        resolver = Resolver(names)
        with pytest.raises(OSError, match=r"no such host: b\.test"):
            await resolver.resolve("b.test", 80)
        found = await resolver.resolve("a.test", 443)
        await resolver.close()
        return [(r["hostname"], r["host"], r["port"], r["family"]) for r in found]

    expected = [("a.test", "192.0.2.1", 443, socket.AF_INET), ("a.test", "2001:db8::1", 443, socket.AF_INET6)]
    assert expected == run(body, Server(a_test=["192.0.2.1", "2001:db8::1"]))
