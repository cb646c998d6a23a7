"""The server of the embedded web over real sockets."""

import asyncio
import gzip
import http.client
import socket
from collections.abc import Iterator

import pytest

from lycosa.testweb import ServedRequest, Server, Web, gaps, max_in_flight, serve
from patient_loop import run_patient

CORAL = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(pages=400, hosts=12, slowness=0.01)) as running:
        yield running


def get(server: Server, url: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    """Fetch a URL on a new connection."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, f"/{path}", headers={"Host": host, **headers})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_server_sends_response_of_web(server: Server) -> None:
    for url in list(server.web.urls())[::10]:
        response, body = get(server, url)
        expected = server.web.response(url)
        assert (response.status, body) == (expected.status, expected.body)
        assert response.headers["Date"]
        if expected.chunked:
            assert response.headers["Transfer-Encoding"] == "chunked"
        else:
            assert response.headers["Content-Length"] == str(len(body))


def test_server_keeps_connection_alive(server: Server) -> None:
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


def test_server_supports_gzip_conditional_and_head(server: Server) -> None:
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


def test_server_cuts_connections_of_failing_hosts(server: Server) -> None:
    with pytest.raises(http.client.IncompleteRead):
        get(server, server.url("cut-short.localhost", "/coral-reefs/1.html"))
    with pytest.raises(ConnectionError):
        get(server, server.url("hang-up.localhost", "/coral-reefs/1.html"))


def test_server_counts_fetches(server: Server) -> None:
    flaky = server.url("flaky.localhost", "/owls/1.html")
    assert [get(server, flaky)[0].status for _ in range(3)] == [503, 503, 200]
    news = server.url("newsroom.localhost", "/owls/1.html")
    assert len({get(server, news)[1] for _ in range(3)}) == 3


def test_server_sends_400_for_invalid_request(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(b"what?\r\n\r\n")
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 400 ")


def test_server_logs_aborted_client(capfd: pytest.CaptureFixture[str]) -> None:
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


def test_server_handles_hosts_concurrently() -> None:
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
    assert list(max_in_flight(log).values()) == [5]
    assert [pytest.approx(0.05)] * 5 == [hit.ended - hit.started for hit in log]


def test_gaps_and_max_in_flight_are_per_host() -> None:
    def hit(host: str, started: float, ended: float) -> ServedRequest:
        return ServedRequest(host, "/", 200, started, ended, "GET", "", 0)

    log = [hit("a", 5, 6), hit("a", 1, 3), hit("b", 1, 9), hit("a", 2.5, 5), hit("c", 0, 1), hit("c", 1, 2)]
    assert gaps(log) == {"a": 1.5, "b": float("inf"), "c": 1}
    assert max_in_flight(log) == {"a": 2, "b": 1, "c": 1}


def test_serve_raises_for_port_in_use(server: Server) -> None:
    with (
        pytest.raises(OSError, match="address already in use"),
        serve(Web(pages=50, hosts=3), port=server.port),
    ):
        pass


def test_recording_can_be_switched_off() -> None:
    with serve(Web(pages=50, hosts=3), record=False) as server:
        assert get(server, server.url(server.web.hosts[0]))[0].status == 200
        assert server.log == []
