"""Scanning of whole, truncated and damaged WARC files."""

import gzip
import io
import random
import zipfile
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from input_errors import raises_input_error
from lycosa.replay.captures import CONTENT, PAGE, REVISIT, SECURE, Captures
from lycosa.replay.records import Damaged, read
from lycosa.replay.scanning import scan, segments
from replay_helpers import http_answer, record, write

URLS = [f"http://a.example/{number}" for number in range(5)]


def no_progress(reached: int, captures: int) -> None:
    pass


def walk(path: Path) -> Captures:
    """Scan a whole file."""
    captures = Captures()
    for part in segments(path, path.stat().st_size):
        scan(path, part, captures, no_progress)
    return captures


def found(path: Path, captures: Captures, before: bytes = b"") -> list[str]:
    """Return the URLs recorded at the offsets of the captures."""
    data, columns = path.read_bytes(), captures.columns
    places = zip(columns["offset"], columns["length"], strict=True)
    return [read(before + data[offset : offset + length]).url for offset, length in places]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_scan_returns_offsets_and_lengths(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, *map(record, URLS))
    assert URLS == found(path, walk(path))


def test_scan_finds_records_inside_wacz(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        bundle.writestr("datapackage.json", "{}")
        for name, urls in (("one", URLS[:2]), ("two", URLS[2:])):
            bundle.write(write(tmp_path / f"{name}.warc.gz", *map(record, urls)), f"archive/{name}.warc.gz")
    assert URLS == found(path, walk(path))


def test_scan_refuses_doubly_compressed_wacz(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("archive/a.warc.gz", b"x" * 1000)
    with raises_input_error("bad-file", "unpack it"):
        walk(path)


def test_scan_refuses_wacz_without_zip(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    path.write_bytes(b"hello")
    with raises_input_error("bad-file", "not a WACZ"):
        walk(path)


def test_scan_reads_files_of_warcio(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "warcio"}))
        for url in URLS:
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a.example")], is_http_request=True)
            response = writer.create_warc_record(url, "response", payload=io.BytesIO(b"hi"), http_headers=headers)
            request = writer.create_warc_record(url, "request", http_headers=asked)
            writer.write_request_response_pair(request, response)
            request.raw_stream.close()
            response.raw_stream.close()
    assert URLS == found(path, walk(path))


def test_scan_accepts_urls_in_angle_brackets(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("<http://a.example/>"))
    assert ["http://a.example/"] == found(path, walk(path))


def test_scan_skips_other_records(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/", kind="metadata"),
        record("dns:a.example", kind="resource"),
        record("ftp://a.example/"),
        record("http://a.example/request", b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record("http://a.example/kept"),
    )
    assert ["http://a.example/kept"] == found(path, walk(path))


def beside(number: int) -> str:
    """Return the header that links a request and its response."""
    return f"WARC-Concurrent-To: <urn:uuid:{number:032x}>\r\n"


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
@pytest.mark.parametrize("pointing", ["request", "response"])
def test_servable_excludes_post_and_head(tmp_path: Path, method: str, pointing: str) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record(
            "http://a.example/",
            number=1,
            more=beside(2) if pointing == "response" else "",
        ),
        record(
            "http://a.example/",
            f"{method} / HTTP/1.1\r\n\r\n".encode(),
            kind="request",
            number=2,
            more=beside(1) if pointing == "request" else "",
        ),
        record("http://a.example/", number=3),
        record(
            "http://a.example/",
            b"GET / HTTP/1.1\r\n\r\n",
            kind="request",
            more=beside(3),
        ),
    )
    assert [False, True] == walk(path).servable().tolist()


def test_scan_sets_flags(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/page"),
        record("https://a.example/picture", http_answer(kind="image/png")),
        record("http://a.example/lost", http_answer(status="404 Not Found")),
        record("http://a.example/again", kind="revisit"),
        record("http://a.example/broken", b"no HTTP at all"),
    )
    assert [PAGE | CONTENT, SECURE | CONTENT, 0, REVISIT | PAGE | CONTENT, 0] == list(walk(path).columns["flags"])


def test_scan_start_page_has_shortest_url(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/", http_answer(status="301 Moved", more="Location: /en/\r\n")),
        record("http://a.example/en/longer"),
        record("http://a.example/en/"),
        record("http://b.example:8080/x"),
    )
    captures = walk(path)
    assert {"a.example": 0, "b.example:8080": 1} == captures.hosts
    assert ["http://a.example/en/", "http://b.example:8080/x"] == captures.starts


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_scan_drops_truncated_end(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, *map(record, URLS))
    data = path.read_bytes()
    last = walk(path).columns["offset"][-1]
    for cut in [*range(last, len(data) - 5, 7), len(data) - 5]:
        path.write_bytes(data[:cut])
        assert URLS[:-1] == found(path, walk(path)), cut


def test_scan_drops_truncated_record_with_gzip_header(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(200_000)
    path = write(tmp_path / "a.warc.gz", record(URLS[0]), record(URLS[1], http_answer(noise + b"\x1f\x8b\x08" + noise)))
    data = path.read_bytes()
    assert 3 <= data.count(b"\x1f\x8b\x08")
    path.write_bytes(data[:-50_000])
    assert URLS[:1] == found(path, walk(path))


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("damage", [b"#" * 8, b""])
def test_scan_skips_damaged_record(tmp_path: Path, name: str, damage: bytes) -> None:
    path = write(tmp_path / name, *map(record, URLS))
    second = walk(path).columns["offset"][1]
    data = path.read_bytes()
    path.write_bytes(data[:second] + damage + data[second + 8 :])
    assert [URLS[0], *URLS[2:]] == found(path, walk(path))


def test_scan_continues_after_damaged_large_record(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(400_000)
    path = write(tmp_path / "a.warc.gz", record(URLS[0], http_answer(noise)), *map(record, URLS[1:]))
    whole = walk(path)
    data = bytearray(path.read_bytes())
    data[200_000:200_050] = b"\xff" * 50
    path.write_bytes(data)
    captures = walk(path)
    assert whole.columns["key"] == captures.columns["key"]
    assert whole.columns["offset"] == captures.columns["offset"]
    with pytest.raises(Damaged):
        read(bytes(data[: captures.columns["length"][0]]))


@pytest.mark.parametrize(
    "junk",
    [b"", b"hello", b"\x1f\x8b", b"\xff\xd8\xff\xe0" * 100, gzip.compress(b"hello" * 99, mtime=0)],
    ids=["empty", "text", "magic only", "picture", "other gzip"],
)
def test_scan_skips_other_files_without_records(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(junk)
    assert 0 == walk(path).records


def test_scan_refuses_file_compressed_in_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(map(record, URLS))))
    with raises_input_error("bad-file", "compressed .*unpack it"):
        walk(path)
