"""Parsing of WARC records."""

import gzip

import pytest

from lycosa.replay.captures import moment
from lycosa.replay.records import Damaged, read
from replay_helpers import MARCH, record

CHUNKS = b"3\r\nabc\r\n4;note=x\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n"


def answer(head: bytes, body: bytes = b"") -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Parse a response record into status, headers and body."""
    found = read(record("http://a.example/", head + body))
    return found.status, found.headers, found.body


def test_read_response_equals_record() -> None:
    head = b"HTTP/1.1 203 Fine by me\r\nX-B: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\nContent-Length: 5\r\n\r\n"
    found = read(gzip.compress(record("http://a.example/x", head + b"hello")))
    assert (203, b"Fine by me", b"hello") == (found.status, found.reason, found.body)
    assert [(b"X-B", b"1"), (b"set-cookie", b"a"), (b"Set-Cookie", b"b")] == found.headers
    assert ("http://a.example/x", moment(MARCH)) == (found.url, found.date)


@pytest.mark.parametrize(
    "line",
    [
        b"Connection: close",
        b"Keep-Alive: timeout=5",
        b"Transfer-Encoding: identity",
        b"Upgrade: h2c",
        b"Content-Length: 999",
        b"X-Archive-Orig-Transfer-Encoding: chunked",
        b"X-Archive-Orig-Content-Length: 5",
        b"Proxy-Connection: keep-alive",
    ],
)
def test_read_drops_hop_by_hop_headers(line: bytes) -> None:
    assert (200, [(b"A", b"1")], b"hello") == answer(b"HTTP/1.1 200 OK\r\n" + line + b"\r\nA: 1\r\n\r\n", b"hello")


def test_read_drops_headers_named_by_connection() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Mine: 1\r\nConnection: close, x-mine\r\nX-Yours: 2\r\n\r\n"
    assert [(b"X-Yours", b"2")] == answer(head)[1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (CHUNKS, b"abcdefg"),
        (b"<html>never chunked", b"<html>never chunked"),  # by a writer that removes the chunks but keeps the header
        (b"5\r\nab", b"ab"),  # cut off
        (b"3\r\nabcdef", b"3\r\nabcdef"),  # begins like a chunk, but is not one
        (b"", b""),
    ],
)
def test_read_joins_chunks(body: bytes, expected: bytes) -> None:
    assert expected == answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body)[2]


def test_read_keeps_compressed_body() -> None:
    body = gzip.compress(b"hello")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    assert (200, [(b"Content-Encoding", b"gzip")], body) == answer(head, body)


def test_read_drops_wrong_content_encoding() -> None:
    assert (200, [], b"hello") == answer(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", b"hello")


def test_read_accepts_untidy_headers() -> None:
    head = b"HTTP/1.0 200\nA: 1\n  2\nnonsense\nB : 3\nbad name: 4\n\n"
    assert (200, [(b"A", b"1 2"), (b"B", b"3")], b"x") == answer(head, b"x")


def test_read_accepts_head_without_body() -> None:
    assert (204, [(b"A", b"1")], b"") == answer(b"HTTP/1.1 204 No Content\r\nA: 1")


def test_read_skips_interim_responses() -> None:
    assert (200, [], b"x") == answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", b"x")


@pytest.mark.parametrize("line", [b"HTTP/2 200", b"HTTP/2 200 ", b"HTTP/1.1  200  OK"])
def test_read_accepts_status_lines_of_other_writers(line: bytes) -> None:
    assert 200 == answer(line + b"\r\n\r\n")[0]


def test_read_returns_resource_record_as_response() -> None:
    data = record("http://a.example/", b"hello", kind="resource").replace(
        b"application/http; msgtype=response", b"text/plain"
    )
    found = read(data)
    assert (200, [(b"Content-Type", b"text/plain")], b"hello") == (found.status, found.headers, found.body)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "no WARC record begins at this offset", id="nothing"),
        pytest.param(record("http://a.example/", b"hello"), "does not begin with an HTTP status", id="no http"),
        pytest.param(record("http://a.example/")[:-20], "bytes are there", id="torn"),
        pytest.param(gzip.compress(record("http://a.example/"))[:-30], "bytes are there", id="torn gzip"),
        pytest.param(gzip.compress(record("http://a.example/"))[:-2] + b"xx", "data error", id="wrong length"),
        pytest.param(b"\x1f\x8b\x08garbage", ".", id="garbage"),
    ],
)
def test_read_raises_for_damaged_record(data: bytes, why: str) -> None:
    with pytest.raises(Damaged, match=why):
        read(data)
