"""Replay proxy."""

import gzip
import http.client
import random
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.replay.certificates import Authority
from lycosa.replay.proxy import AT_ONCE, ReplayProxy
from replay_helpers import JANUARY, JUNE, ask, ask_all, ask_secure, http_answer, record, serving, write

A = "http://a.example"
LARGE = random.Random(1).randbytes(3 * AT_ONCE)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplayProxy]:
    """Return a proxy of a few recorded pages."""
    home = tmp_path_factory.mktemp("proxy")
    page = http_answer(b"<p>front", more='ETag: "v1"\r\nLast-Modified: Sun, 01 Mar 2026 00:00:00 GMT\r\nX-A: 1\r\n')
    path = write(
        home / "a.warc.gz",
        record(f"{A}/", page),
        record(f"{A}/packed", http_answer(gzip.compress(b"hello"), more="Content-Encoding: gzip\r\n")),
        record(f"{A}/old", http_answer(b"", status="301 Moved Permanently", more="Location: /new\r\n")),
        record(f"{A}/gone", http_answer(b"<p>gone", status="410 Gone")),
        record(f"{A}/empty", http_answer(b"", status="204 No Content")),
        record(f"{A}/odd", http_answer(b"odd", status="999 Request denied")),
        record(f"{A}/large", http_answer(LARGE, kind="image/png")),
        record(f"{A}/twice", http_answer(b"january"), date=JANUARY),
        record(f"{A}/twice", http_answer(b"june"), date=JUNE),
        record(f"{A}/f%C3%BCr", http_answer(b"umlaut")),
        record(f"{A}/damaged", http_answer(random.Random(2).randbytes(4000))),
        record("http://a.example:8123/", http_answer(b"other port")),
        record("https://s.example/", http_answer(b"secure")),
        record("https://s.example:8443/", http_answer(b"secure, other port")),
        record("http://b.example/robots.txt", http_answer(b"User-agent: *\nDisallow: /x", kind="text/plain")),
        record("http://evil.example/?<script>alert(1)</script>", http_answer(b"evil")),
        record("http://localhost:1/", http_answer(b"a recorded localhost")),
    )
    with serving(home / "home", path) as running:
        row = running.recording.locate(f"{A}/damaged")[0].row
        with open(path, "r+b") as file:
            file.seek(int(running.recording.archives[0].index.columns["offset"][row]) + 2000)
            file.write(b"#" * 100)
        yield running


@pytest.mark.parametrize(
    ("target", "host", "expected"),
    [
        ("http://a.example/", "a.example", b"<p>front"),
        ("HTTP://A.example:80/#x", "a.example", b"<p>front"),
        ("http://a.example:8123/", "a.example:8123", b"other port"),
        ("https://s.example/", "s.example", b"secure"),
        ("http://a.example/f\u00fcr", "a.example", b"umlaut"),
        ("/", "a.example", b"<p>front"),
        ("/", "a.example:8123", b"other port"),
        ("/", "s.example", b"secure"),
        ("http://localhost:1/", "localhost:1", b"a recorded localhost"),
    ],
)
def test_proxy_accepts_every_form_of_request(proxy: ReplayProxy, target: str, host: str, expected: bytes) -> None:
    received = raw(proxy, f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert received.startswith(b"HTTP/1.1 200 ")
    assert expected == received.partition(b"\r\n\r\n")[2]


def read_all(client: socket.socket) -> bytes:
    """Read until the connection is closed."""
    received = b""
    while piece := client.recv(65_536):
        received += piece
    return received


def test_proxy_serves_https_tunnel(proxy: ReplayProxy) -> None:
    assert b"secure" == ask_secure(proxy, "s.example", "/").body
    assert b"secure, other port" == ask_secure(proxy, "s.example", "/", 8443).body
    assert b"<p>front" == ask_secure(proxy, "a.example", "/").body
    assert (404, "not-recorded") == ((reply := ask_secure(proxy, "t.example", "/")).status, reply.mark)


def test_proxy_serves_several_requests_in_one_tunnel(proxy: ReplayProxy) -> None:
    context = ssl.create_default_context(cafile=str(proxy.authority.path))
    client = http.client.HTTPSConnection("127.0.0.1", proxy.port, timeout=60, context=context)
    client.set_tunnel("a.example", 443)
    try:
        for path, expected in [("/", b"<p>front"), ("/large", LARGE), ("/", b"<p>front")]:
            client.request("GET", path)
            assert expected == client.getresponse().read()
    finally:
        client.close()


def test_proxy_counts_clients_that_reject_certificate(proxy: ReplayProxy, tmp_path: Path) -> None:
    before = proxy.tally["distrusted"]
    with pytest.raises(ssl.SSLCertVerificationError):
        ask_secure(proxy, "s.example", "/", authority=Authority(tmp_path).path)
    assert b"secure" == ask_secure(proxy, "s.example", "/").body
    assert before + 1 == proxy.tally["distrusted"]


def test_proxy_serves_plain_tunnel(proxy: ReplayProxy) -> None:
    client = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
    client.set_tunnel("a.example", 80)
    try:
        client.request("GET", "/")
        assert b"<p>front" == client.getresponse().read()
    finally:
        client.close()


@pytest.mark.parametrize("target", ["a.example", "a.example:x", "a b:443", "ä.example:443", ":443", "x" * 300 + ":443"])
def test_proxy_refuses_invalid_connect(proxy: ReplayProxy, target: str) -> None:
    assert raw(proxy, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 400 ")


def raw(proxy: ReplayProxy, *pieces: bytes) -> bytes:
    """Send bytes; return everything received until the connection is closed."""
    with socket.create_connection(("127.0.0.1", proxy.port), 10) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            client.sendall(piece)
        return read_all(client)


def test_proxy_response_equals_record(proxy: ReplayProxy) -> None:
    reply = ask(proxy, f"{A}/")
    assert {
        "content-type": "text/html",
        "etag": '"v1"',
        "last-modified": "Sun, 01 Mar 2026 00:00:00 GMT",
        "x-a": "1",
        "memento-datetime": "Sun, 01 Mar 2026 00:00:00 GMT",
        "content-length": "8",
    } == reply.headers
    assert b"<p>front" == reply.body


def test_proxy_keeps_recorded_statuses(proxy: ReplayProxy) -> None:
    replies = ask_all(proxy, [("GET", f"{A}/{name}", {}, None) for name in ("old", "gone", "empty", "odd")])
    assert [301, 410, 204, 999] == [reply.status for reply in replies]
    assert "/new" == replies[0].headers["location"]
    assert [b"", b"<p>gone", b"", b"odd"] == [reply.body for reply in replies]
    assert "Request denied" == replies[3].reason
    assert "content-length" not in replies[2].headers


def test_proxy_keeps_compressed_body(proxy: ReplayProxy) -> None:
    reply = ask(proxy, f"{A}/packed")
    assert ("gzip", b"hello") == (reply.headers["content-encoding"], gzip.decompress(reply.body))


def test_proxy_serves_large_response(proxy: ReplayProxy) -> None:
    assert LARGE == ask(proxy, f"{A}/large").body


def test_proxy_head_equals_get(proxy: ReplayProxy) -> None:
    head, get = ask_all(proxy, [("HEAD", f"{A}/", {}, None), ("GET", f"{A}/", {}, None)])
    assert (head.headers, b"") == (get.headers, head.body)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_proxy_refuses_other_methods(proxy: ReplayProxy, method: str) -> None:
    refused, fine = ask_all(proxy, [(method, f"{A}/", {}, b"x" * 100_000), ("GET", f"{A}/", {}, None)])
    assert (405, "GET, HEAD", "only-get") == (refused.status, refused.headers["allow"], refused.mark)
    assert method.encode() in refused.body
    assert 200 == fine.status


def test_proxy_unrecorded_page_is_404(proxy: ReplayProxy) -> None:
    reply = ask(proxy, f"{A}/nothing")
    assert (404, "not-recorded", "text/html; charset=utf-8") == (
        reply.status,
        reply.mark,
        reply.headers["content-type"],
    )
    assert b"http://a.example/nothing" in reply.body


def test_proxy_serves_robots_txt(proxy: ReplayProxy) -> None:
    assert b"Disallow" in ask(proxy, "http://b.example/robots.txt").body
    reply = ask(proxy, f"{A}/robots.txt")
    assert (404, "text/plain") == (reply.status, reply.headers["content-type"])
    assert b"<" not in reply.body


def test_proxy_damaged_record_is_502(proxy: ReplayProxy) -> None:
    broken, fine = ask_all(proxy, [("GET", f"{A}/damaged", {}, None), ("GET", f"{A}/", {}, None)])
    assert (502, "damaged", 200) == (broken.status, broken.mark, fine.status)
    assert b"a.warc.gz" in broken.body


@pytest.mark.parametrize(
    ("asked", "expected"), [("Mon, 05 Jan 2026 00:00:00 GMT", b"january"), ("nonsense", b"june"), ("", b"june")]
)
def test_proxy_honours_accept_datetime(proxy: ReplayProxy, asked: str, expected: bytes) -> None:
    reply = ask(proxy, f"{A}/twice", headers={"Accept-Datetime": asked})
    assert expected == reply.body
    assert {b"january": "Thu, 01 Jan 2026", b"june": "Mon, 01 Jun 2026"}[expected] in reply.headers["memento-datetime"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": '"v1"'}, 304),
        ({"If-None-Match": '"v0", W/"v1"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"v2"'}, 200),
        ({"If-Modified-Since": "Sun, 01 Mar 2026 00:00:00 GMT"}, 304),
        ({"If-Modified-Since": "Sat, 28 Feb 2026 00:00:00 GMT"}, 200),
        ({"If-None-Match": '"v2"', "If-Modified-Since": "Sun, 01 Mar 2026 00:00:00 GMT"}, 200),
        ({"If-Modified-Since": "nonsense"}, 200),
        ({"Range": "bytes=0-1"}, 200),
    ],
)
def test_proxy_answers_conditional_requests(proxy: ReplayProxy, headers: dict[str, str], status: int) -> None:
    reply = ask(proxy, f"{A}/", headers=headers)
    assert (status, b"" if status == 304 else b"<p>front") == (reply.status, reply.body)
    assert '"v1"' == reply.headers["etag"]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_proxy_serves_start_page(proxy: ReplayProxy, name: str) -> None:
    own = f"http://{name}:{proxy.port}/"
    for target in ("/", own):
        reply = ask(proxy, target, headers={"Host": f"{name}:{proxy.port}"})
        text = reply.body.decode()
        assert (200, "start") == (reply.status, reply.mark)
        assert '<td>6</td><td>a.example</td><td><a href="http://a.example/">' in text
        assert f"--proxy http://127.0.0.1:{proxy.port}" in text
        assert proxy.authority.pin in text


def test_proxy_escapes_urls(proxy: ReplayProxy) -> None:
    for target in ("/", "http://evil.example/<script>alert(1)</script>", "http://<script>alert(1)</script>/"):
        assert b"<script" not in ask(proxy, target, headers={"Host": f"localhost:{proxy.port}"}).body
    assert b"<script" not in ask(proxy, "/", headers={"Host": "<script>alert(1)</script>"}).body
    assert b"<script" not in ask(proxy, "/", method="<script>").body


def test_proxy_serves_certificate_only(proxy: ReplayProxy) -> None:
    host = {"Host": f"localhost:{proxy.port}"}
    assert proxy.authority.public == ask(proxy, "/ca.pem", headers=host).body
    assert 404 == ask(proxy, "/replay-ca.key", headers=host).status


def test_proxy_uses_no_network(proxy: ReplayProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    real, dialled = socket.socket.connect, []

    def connect(self: socket.socket, address: object) -> None:
        dialled.append(address)
        real(self, address)  # type: ignore[arg-type]

    def lookup(name: str, *rest: object, **more: object) -> object:
        assert name == "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", proxy.port))]

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    ask(proxy, "http://unknown.example/")
    ask(proxy, f"http://localhost:{proxy.port + 1}/")
    ask_secure(proxy, "unknown.example", "/")
    assert [("127.0.0.1", proxy.port)] * 3 == dialled


def test_proxy_accepts_split_and_pipelined_requests(proxy: ReplayProxy) -> None:
    first = f"GET {A}/gone HTTP/1.1\r\nHost: a.example\r\n\r\n".encode()
    rest = f"GET {A}/large HTTP/1.1\r\n\r\n\r\nGET {A}/odd HTTP/1.1\r\nConnection: close\r\n\r\n".encode()
    received = raw(proxy, *(first[i : i + 1] for i in range(len(first))), rest)
    assert [b"410", b"200", b"999"] == [
        received[place + 9 : place + 12] for place in range(len(received)) if received.startswith(b"HTTP/1.1 ", place)
    ]
    assert LARGE in received


@pytest.mark.parametrize(
    ("request_line", "headers", "kept"),
    [
        ("HTTP/1.1", "", True),
        ("HTTP/1.1", "Connection: close\r\n", False),
        ("HTTP/1.1", "Proxy-Connection: close\r\n", False),
        ("HTTP/1.0", "", False),
        ("HTTP/1.0", "Connection: keep-alive\r\n", True),
    ],
)
def test_proxy_keeps_connections_alive(proxy: ReplayProxy, request_line: str, headers: str, kept: bool) -> None:
    request = f"GET {A}/gone {request_line}\r\n{headers}\r\n".encode()
    last = f"GET {A}/odd HTTP/1.1\r\nConnection: close\r\n\r\n".encode()
    received = raw(proxy, request + last)
    assert kept == (b" 999 " in received)
    assert kept != (b"\r\nConnection: close" in received.split(b"\r\n\r\n")[0])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET / HTTP/3\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, b"431"),
    ],
)
def test_proxy_refuses_invalid_requests(proxy: ReplayProxy, sent: bytes, status: bytes) -> None:
    assert raw(proxy, sent).startswith(b"HTTP/1.1 " + status)


def test_proxy_serves_hundred_connections(proxy: ReplayProxy) -> None:
    replies: list[bytes] = []
    with socket.create_connection(("127.0.0.1", proxy.port), 10):
        threads = [
            threading.Thread(target=lambda n=n: replies.append(ask(proxy, f"{A}/{'large' if n % 10 else ''}").body))
            for n in range(100)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {b"<p>front": 10, LARGE: 90} == {body: replies.count(body) for body in set(replies)}


def test_proxy_survives_disconnects(proxy: ReplayProxy) -> None:
    for sent in (b"GET ", f"GET {A}/large HTTP/1.1\r\n\r\n".encode(), b"CONNECT s.example:443 HTTP/1.1\r\n\r\n"):
        socket.create_connection(("127.0.0.1", proxy.port), 10).close()
        with socket.create_connection(("127.0.0.1", proxy.port), 10) as client:
            client.sendall(sent)
    assert b"secure" == ask_secure(proxy, "s.example", "/").body


def test_proxy_closes_open_connections(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record(f"{A}/"))
    clients = []
    with serving(tmp_path, path) as running:
        for sent in (b"", b"GET ", b"CONNECT s.example:443 HTTP/1.1\r\n\r\n"):
            client = socket.create_connection(("127.0.0.1", running.port), 10)
            clients.append(client)
            client.sendall(sent)
        assert b"HTTP/1.1 200" in clients[-1].recv(100)
    for client in clients:
        try:
            assert b"" == client.recv(100)
        except ConnectionResetError:
            pass
        finally:
            client.close()
