"""The server of the embedded web over real sockets."""

import asyncio
import gzip
import http.client
import socket
from collections.abc import Iterator

import pytest

from lycosa.testweb import ServedRequest, Server, Web, gaps, most_at_once, serve
from patient_loop import run_patient

CORAL = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A small served web with all traps."""
    with serve(Web(pages=400, hosts=12, slowness=0.01)) as running:
        yield running


def get(server: Server, url: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    """Fetch a URL of the web on a connection of its own."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, f"/{path}", headers={"Host": host, **headers})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_pages_arrive_as_the_web_answers(server: Server) -> None:
    """What comes over the wire is what the web says, chunked or not."""
    for url in list(server.web.urls())[::10]:
        response, body = get(server, url)
        expected = server.web.response(url)
        assert (response.status, body) == (expected.status, expected.body)
        assert response.headers["Date"]
        if expected.chunked:
            assert response.headers["Transfer-Encoding"] == "chunked"
        else:
            assert response.headers["Content-Length"] == str(len(body))


def test_many_requests_share_a_connection(server: Server) -> None:
    """A connection is kept alive from one request to the next, and the log says which it was."""
    server.log.clear()
    host = server.web.hosts[0]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for path in ("/", "/robots.txt", "/nothing", "/"):
        connection.request("GET", path, headers={"Host": f"{host}:{server.port}", "User-Agent": "tester"})
        connection.getresponse().read()
    connection.close()
    assert [hit.status for hit in server.log] == [200, 200, 404, 200]
    assert {(hit.host, hit.method, hit.user_agent) for hit in server.log} == {(host, "GET", "tester")}
    assert len({hit.connection for hit in server.log}) == 1
    assert all(hit.started <= hit.ended for hit in server.log)


def test_gzip_and_304_and_head(server: Server) -> None:
    """Content coding, conditional requests and HEAD work over the wire."""
    url = next(u for u in server.web.urls() if server.web.response(u).header("ETag"))
    response, body = get(server, url, **{"Accept-Encoding": "gzip"})
    if response.headers["Content-Encoding"] == "gzip":
        body = gzip.decompress(body)
    assert body == server.web.response(url).body
    unchanged, nothing = get(server, url, **{"If-None-Match": response.headers["ETag"]})
    assert (unchanged.status, nothing) == (304, b"")
    head, nothing = get(server, url, "HEAD")
    assert (head.status, nothing) == (200, b"")
    assert get(server, url, "POST")[0].status == 405


def test_connections_are_cut_as_the_trap_demands(server: Server) -> None:
    """One host breaks off in the middle of the body, another before the first byte."""
    with pytest.raises(http.client.IncompleteRead):
        get(server, server.url("cut-short.localhost", "/coral-reefs/1.html"))
    with pytest.raises(ConnectionError):
        get(server, server.url("hang-up.localhost", "/coral-reefs/1.html"))


def test_the_server_counts_fetches(server: Server) -> None:
    """The flaky host recovers at the third request, and the news change with each."""
    flaky = server.url("flaky.localhost", "/owls/1.html")
    assert [get(server, flaky)[0].status for _ in range(3)] == [503, 503, 200]
    news = server.url("newsroom.localhost", "/owls/1.html")
    assert len({get(server, news)[1] for _ in range(3)}) == 3


def test_rubbish_is_answered_400(server: Server) -> None:
    """A request that is none gets 400 and the connection is closed."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(b"what?\r\n\r\n")
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 400 ")


def test_an_aborted_client_leaves_no_trace_but_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    """A client that goes away while waiting for an answer is logged and nothing is printed."""

    async def scenario() -> list[ServedRequest]:
        async with Server(Web(pages=100, hosts=5), latency=30) as server:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(f"GET / HTTP/1.1\r\nHost: {server.web.hosts[0]}\r\n\r\n".encode())
            while not any(connection.pending for connection in server.connections):
                await asyncio.sleep(0)
            writer.transport.abort()
            while not server.log:
                await asyncio.sleep(0)
            return server.log

    assert [hit.path for hit in asyncio.run(scenario())] == ["/"]
    assert capfd.readouterr() == ("", "")


def test_hosts_are_served_side_by_side() -> None:
    """Requests on several connections overlap while the server waits, and the log shows it."""

    async def fetch(server: Server, host: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        body = await reader.read()
        writer.close()
        await writer.wait_closed()
        return body

    async def scenario() -> list[ServedRequest]:
        async with Server(Web(pages=100, hosts=5), latency=0.05) as server:
            host = server.web.hosts[0]
            bodies = await asyncio.gather(*(fetch(server, host) for _ in range(5)))
            assert all(body.startswith(b"HTTP/1.1 200 ") for body in bodies)
            return server.log

    log = run_patient(scenario())
    assert list(most_at_once(log).values()) == [5]
    assert [pytest.approx(0.05)] * 5 == [hit.ended - hit.started for hit in log]


def test_gaps_and_overlaps_are_read_from_the_log() -> None:
    """The smallest gap between starts and the largest number at once are found for each host."""

    def hit(host: str, started: float, ended: float) -> ServedRequest:
        return ServedRequest(host, "/", 200, started, ended, "GET", "", 0)

    log = [hit("a", 5, 6), hit("a", 1, 3), hit("b", 1, 9), hit("a", 2.5, 5), hit("c", 0, 1), hit("c", 1, 2)]
    assert gaps(log) == {"a": 1.5, "b": float("inf"), "c": 1}
    assert most_at_once(log) == {"a": 2, "b": 1, "c": 1}


def test_a_taken_port_is_reported(server: Server) -> None:
    """Serving on a port in use raises OSError in the caller."""
    with (
        pytest.raises(OSError, match="address already in use"),
        serve(Web(pages=50, hosts=3), port=server.port),
    ):
        pass


def test_recording_can_be_switched_off() -> None:
    """A server that does not record keeps an empty log."""
    with serve(Web(pages=50, hosts=3), record=False) as server:
        assert get(server, server.url(server.web.hosts[0]))[0].status == 200
        assert server.log == []
