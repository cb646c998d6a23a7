"""HTTP requests to misbehaving servers on loopback, with small limits."""

import asyncio
from typing import Any

import pytest

from fetch_peer import HEADERS, HTML, OK, Handler, Peer, Server, says, serve
from held_port import held_port
from lycosa.core.errors import FetchError
from lycosa.web.fetch import FetchLimits, HttpTransport, Response
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness


def get(handler: Handler, *, wanted: frozenset[str] = HTML, **rest: Any) -> Response:
    async def body(transport: HttpTransport, server: Server, url: str) -> Response:
        return await transport.fetch(url, HEADERS, wanted)

    response = serve(handler, body, **rest)
    assert isinstance(response, Response)
    return response


def failure(handler: Handler, **rest: Any) -> FetchError:
    with pytest.raises(FetchError) as error:
        get(handler, **rest)
    return error.value


def test_fetch_returns_response_as_received() -> None:
    head = b"HTTP/1.1 203 Fine by me\r\nX-B: 1\r\ncontent-type: text/html\r\nX-A: 2\r\nContent-Length: 5\r\n\r\n"
    response = get(says(head + b"hello"))
    assert (203, b"HTTP/1.1 203 Fine by me", b"hello") == (response.status, response.status_line, response.body)
    assert [
        (b"X-B", b"1"),
        (b"content-type", b"text/html"),
        (b"X-A", b"2"),
        (b"Content-Length", b"5"),
    ] == response.headers
    assert ("", "2") == (response.truncated, response.fields["x-a"])


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_fetch_returns_connected_address(name: str) -> None:
    async def body(transport: HttpTransport, server: Server, url: str) -> str:
        return (await transport.fetch(url.replace("127.0.0.1", name), HEADERS)).address

    assert "127.0.0.1" == serve(says(OK + b"Content-Length: 2\r\n\r\nhi"), body)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [(b"X-Robots-Tag: noindex\r\nx-robots-tag: nofollow\r\n", "noindex\nnofollow"), (b"X-Robots-Tag: a\r\n", "a")],
)
def test_fetch_joins_x_robots_tag_lines(lines: bytes, expected: str) -> None:
    response = get(says(OK + lines + b"Content-Length: 0\r\n\r\n"))
    assert expected == response.fields["x-robots-tag"]


def test_fetch_sends_path_and_headers_unchanged() -> None:
    async def twice(peer: Peer) -> None:
        while await peer.request():
            await peer.send(OK + b"Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")

    async def body(transport: HttpTransport, server: Server, url: str) -> list[bytes]:
        await transport.fetch(url + "/a%2Fb%20c?q=%E9&x=[1]", HEADERS)
        await transport.fetch(url, HEADERS)
        return server.requests

    first, second = serve(twice, body)
    assert first.startswith(b"GET /x/a%2Fb%20c?q=%E9&x=[1] HTTP/1.1\r\n")
    assert b"User-Agent: Lycosa\r\n" in first
    assert b"Accept-Encoding: gzip\r\n" in first
    assert b"ookie" not in second


def test_fetch_reuses_connections() -> None:
    async def keep(peer: Peer) -> None:
        while await peer.request():
            await peer.send(OK + b"Content-Length: 2\r\n\r\nhi")

    async def body(transport: HttpTransport, server: Server, url: str) -> tuple[int, int]:
        for _ in range(2):
            await transport.fetch(url, HEADERS)
        return server.connections, len(server.requests)

    assert (1, 2) == serve(keep, body)


def test_fetch_does_not_decompress() -> None:
    response = get(says(OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00"))
    assert b"\x1f\x8b\x08\x00" == response.body


def test_fetch_joins_chunks() -> None:
    response = get(says(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n", b"2\r\nde\r\n0\r\n\r\n"))
    assert b"abcde" == response.body
    assert (b"Transfer-Encoding", b"chunked") in response.headers


def test_fetch_reads_body_until_close() -> None:
    assert b"old style" == get(says(b"HTTP/1.0 200 OK\r\n\r\nold ", b"style")).body


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_fetch_does_not_follow_redirects(status: int) -> None:
    async def body(transport: HttpTransport, server: Server, url: str) -> tuple[int, str, int]:
        response = await transport.fetch(url, HEADERS)
        return response.status, response.fields["location"], len(server.requests)

    handler = says(b"HTTP/1.1 %d Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n" % status)
    assert (status, "/elsewhere", 1) == serve(handler, body)


def test_fetch_cuts_body_at_limit() -> None:
    response = get(says(OK + b"\r\n", *[b"x" * 1000] * 20, stay=True), limits=FetchLimits(body=2500))
    assert (2500, "length") == (len(response.body), response.truncated)


def test_fetch_keeps_body_of_exact_limit() -> None:
    response = get(says(OK + b"Content-Length: 2500\r\n\r\n" + b"x" * 2500), limits=FetchLimits(body=2500))
    assert (2500, "") == (len(response.body), response.truncated)


def test_fetch_skips_body_of_unwanted_type() -> None:
    closed = asyncio.Event()

    async def movie(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: Video/MP4; x=y\r\nContent-Length: 999999999\r\n\r\n")
        await peer.gone()
        closed.set()

    async def body(transport: HttpTransport, server: Server, url: str) -> Response:
        response = await transport.fetch(url, HEADERS, HTML)
        await asyncio.wait_for(closed.wait(), 5)
        return response

    response = serve(movie, body)
    assert ("unwanted", b"") == (response.truncated, response.body)


@pytest.mark.parametrize("status", [404, 500, 301])
def test_fetch_reads_error_pages_of_any_type(status: int) -> None:
    head = b"HTTP/1.1 %d X\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nhi" % status
    assert b"hi" == get(says(head)).body


def test_fetch_times_out_on_silent_server() -> None:
    error = failure(says(stay=True))
    assert ("timeout", True) == (error.outcome, error.again)


def test_fetch_times_out_on_slow_headers() -> None:
    async def drip(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        while True:
            await peer.send(b"X: y\r\n")
            await asyncio.sleep(1.0)

    assert "timeout" == failure(drip).outcome


def test_fetch_times_out_on_slow_body() -> None:
    async def drip(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Length: 1000000\r\n\r\n")
        while True:
            await peer.send(b"x")
            await asyncio.sleep(1.0)

    error = failure(drip, limits=FetchLimits(rate=0.0))
    assert ("timeout", True) == (error.outcome, error.again)


def test_fetch_keeps_body_before_silence() -> None:
    handler = says(OK + b"Content-Length: 10\r\n\r\nabc", stay=True)
    response = get(handler)
    assert b"abc" == response.body
    assert response.truncated in ("disconnect", "time")


@pytest.mark.paper("batsakis-timeouts")
def test_fetch_gives_up_below_min_rate() -> None:
    now = iter(range(0, 100_000, 6))
    error = failure(says(OK + b"\r\n", *[b"x" * 100] * 50, stay=True), clock=lambda: float(next(now)))
    assert "slow" == error.outcome
    assert "bytes per second" in str(error)


def test_fetch_bounds_header_line() -> None:
    async def flood(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"X: ")
        while True:
            await peer.send(b"x" * 10_000)

    assert "invalid" == failure(flood).outcome


def test_fetch_bounds_header_count() -> None:
    async def flood(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        number = 0
        while True:
            number += 1
            await peer.send(b"".join(b"X-%d: y\r\n" % (number * 1000 + i) for i in range(1000)))

    assert failure(flood).outcome == "invalid"


def test_fetch_keeps_body_before_disconnect() -> None:
    async def half(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Length: 100\r\n\r\nhalf")
        await asyncio.sleep(0.05)

    response = get(half)
    assert (b"half", "disconnect") == (response.body, response.truncated)


def test_fetch_keeps_body_received_with_disconnect() -> None:
    response = get(says(OK + b"Content-Length: 100\r\n\r\nhalf"))
    assert (b"half", "disconnect") == (response.body, response.truncated)


def test_fetch_fails_on_disconnect_before_body() -> None:
    error = failure(says(OK + b"Content-Length: 100\r\n\r\n"))
    assert ("unreachable", True) == (error.outcome, error.again)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", OK])
def test_fetch_fails_on_disconnect_before_response(sent: bytes) -> None:
    error = failure(says(sent))
    assert error.outcome in ("unreachable", "invalid")


@pytest.mark.parametrize(
    "sent",
    [
        b"SSH-2.0-OpenSSH_9.0\r\n\r\n",
        b"<html>no header</html>\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"\x00\x01\x02\xff\r\n\r\n",
    ],
)
def test_fetch_rejects_other_protocols(sent: bytes) -> None:
    error = failure(says(sent, stay=True))
    assert ("invalid", False) == (error.outcome, error.again)


def test_fetch_keeps_body_before_bad_chunk() -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    response = get(says(head, b"3\r\nabc\r\n", b"zz\r\nde\r\n"))
    assert b"abc" == response.body
    assert "disconnect" == response.truncated


def test_fetch_fails_on_closed_port() -> None:
    async def body(transport: HttpTransport, server: Server, url: str) -> None:
        await transport.fetch(f"http://127.0.0.1:{port}/", HEADERS)

    with held_port() as port, pytest.raises(FetchError) as error:
        serve(says(), body)
    assert ("unreachable", True) == (error.value.outcome, error.value.again)


def test_fetch_fails_on_missing_tls() -> None:
    async def body(transport: HttpTransport, server: Server, url: str) -> None:
        await transport.fetch(url.replace("http:", "https:"), HEADERS)

    async def plain(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.gone()

    with pytest.raises(FetchError) as error:
        serve(plain, body)
    assert ("unreachable", False) == (error.value.outcome, error.value.again)


def test_fetch_does_not_resend_on_closed_connection() -> None:
    async def once(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Length: 2\r\n\r\nhi")
        await peer.request()  # reads the second request, then closes the connection

    async def body(transport: HttpTransport, server: Server, url: str) -> tuple[str, bool, int]:
        await transport.fetch(url, HEADERS)
        with pytest.raises(FetchError) as error:
            await transport.fetch(url, HEADERS)
        return error.value.outcome, error.value.again, len(server.requests)

    assert ("unreachable", True, 2) == serve(once, body)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_fetch_refuses_local_addresses(name: str) -> None:
    async def body(transport: HttpTransport, server: Server, url: str) -> tuple[str, str, int]:
        url = url.replace("127.0.0.1", name)
        with pytest.raises(FetchError) as looked_up:
            await transport.address(url)
        with pytest.raises(FetchError) as dialled:
            await transport.fetch(url, HEADERS)
        return looked_up.value.outcome, dialled.value.outcome, server.connections

    assert ("refused", "refused", 0) == serve(says(OK), body, allow=())


def test_fetch_refuses_rebound_name() -> None:
    answers = iter([["8.8.8.8"], ["10.0.0.1"]])

    async def lookup(name: str) -> list[str]:
        return next(answers)

    async def main() -> tuple[str, str]:
        now = [0.0]
        names = DnsCache(lambda: now[0], lookup)
        transport = HttpTransport(lambda: now[0], Guard(), names, Politeness(lambda: now[0]))
        address = await transport.address("http://rebind.test/")
        now[0] = 1000.0  # the first response has expired
        with pytest.raises(FetchError) as error:
            await transport.fetch("http://rebind.test/", HEADERS)
        await transport.close()
        return address, error.value.outcome

    assert ("8.8.8.8", "refused") == asyncio.run(main())


def test_address_times_out_on_silent_name_server() -> None:
    async def never(name: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    async def main() -> tuple[str, bool]:
        time = asyncio.get_running_loop().time
        transport = HttpTransport(time, Guard(), DnsCache(time, never, 0.05), Politeness(time), FetchLimits())
        with pytest.raises(FetchError) as error:
            await transport.address("http://a.test/")
        await transport.close()
        return error.value.outcome, error.value.again

    assert ("timeout", True) == asyncio.run(main())


def test_fetch_reports_sent_requests_to_politeness() -> None:
    async def main() -> tuple[float, float]:
        server = Server(says(OK + b"Content-Length: 0\r\n\r\n"))
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        politeness = Politeness(lambda: 100.0, delay=1.0, at_once=2, address_delay=0.0)
        transport = HttpTransport(lambda: 100.0, Guard(["127.0.0.0/8"]), DnsCache(lambda: 100.0), politeness)
        politeness.begin(f"127.0.0.1:{port}")
        before = politeness.ready(f"127.0.0.1:{port}")[0]
        await transport.fetch(f"http://127.0.0.1:{port}/", HEADERS)
        after = politeness.ready(f"127.0.0.1:{port}")[0]
        await transport.close()
        listening.close()
        await asyncio.sleep(0)
        return before, after

    before, after = asyncio.run(main())
    assert before < 101.0
    assert 101.0 == after
