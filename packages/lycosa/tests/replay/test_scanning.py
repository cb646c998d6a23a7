"""Reading WARC files of many kinds, whole, torn and damaged."""

import gzip
import io
import random
import zipfile
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from lycosa.core.errors import InputError
from lycosa.replay.captures import CONTENT, PAGE, REVISIT, SECURE, Captures
from lycosa.replay.records import Damaged, read
from lycosa.replay.scanning import scan, segments
from replay_helpers import http_answer, record, write

URLS = [f"http://a.example/{number}" for number in range(5)]


def silent(reached: int, captures: int) -> None:
    """Nobody watches."""


def walk(path: Path) -> Captures:
    """Scan a whole file."""
    captures = Captures()
    for part in segments(path, path.stat().st_size):
        scan(path, part, captures, silent)
    return captures


def found(path: Path, captures: Captures, before: bytes = b"") -> list[str]:
    """The addresses that are really recorded where the captures say."""
    data, columns = path.read_bytes(), captures.columns
    places = zip(columns["offset"], columns["length"], strict=True)
    return [read(before + data[offset : offset + length]).url for offset, length in places]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_each_capture_is_found_where_it_lies(tmp_path: Path, name: str) -> None:
    """Offsets and lengths lead to the records."""
    path = write(tmp_path / name, *map(record, URLS))
    assert URLS == found(path, walk(path))


def test_a_wacz_is_read_without_unpacking_it(tmp_path: Path) -> None:
    """The WARC files inside a WACZ are found at their places in it."""
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        bundle.writestr("datapackage.json", "{}")
        for name, urls in (("one", URLS[:2]), ("two", URLS[2:])):
            bundle.write(write(tmp_path / f"{name}.warc.gz", *map(record, urls)), f"archive/{name}.warc.gz")
    assert URLS == found(path, walk(path))


def test_a_wacz_that_is_compressed_twice_is_refused(tmp_path: Path) -> None:
    """A WACZ whose WARC files are compressed by the zip can't be read in place, and the message says what to do."""
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("archive/a.warc.gz", b"x" * 1000)
    with pytest.raises(InputError, match="unpack it"):
        walk(path)


def test_a_file_that_is_no_zip_is_no_wacz(tmp_path: Path) -> None:
    """A name that promises a WACZ is not believed."""
    path = tmp_path / "a.wacz"
    path.write_bytes(b"hello")
    with pytest.raises(InputError, match="not a WACZ file"):
        walk(path)


def test_the_files_of_another_writer(tmp_path: Path) -> None:
    """What warcio writes is read, its requests and its information left out."""
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


def test_addresses_in_angle_brackets(tmp_path: Path) -> None:
    """wget writes <http://...>: the brackets are no part of the address."""
    path = write(tmp_path / "a.warc.gz", record("<http://a.example/>"))
    assert ["http://a.example/"] == found(path, walk(path))


def test_what_is_no_capture_is_left_out(tmp_path: Path) -> None:
    """Records of other kinds and with other addresses are not served."""
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
    """The header that names the other of a request and its answer."""
    return f"WARC-Concurrent-To: <urn:uuid:{number:032x}>\r\n"


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
@pytest.mark.parametrize("pointing", ["request", "response"])
def test_answers_to_other_methods_are_not_servable(tmp_path: Path, method: str, pointing: str) -> None:
    """An answer to a POST or a HEAD is told from one to a GET by its request, whichever of the two names the other."""
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


def test_flags(tmp_path: Path) -> None:
    """A capture knows whether it is a revisit, https, and a page."""
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/page"),
        record("https://a.example/picture", http_answer(kind="image/png")),
        record("http://a.example/lost", http_answer(status="404 Not Found")),
        record("http://a.example/again", kind="revisit"),
        record("http://a.example/broken", b"no HTTP at all"),
    )
    assert [PAGE | CONTENT, SECURE | CONTENT, 0, REVISIT | PAGE | CONTENT, 0] == list(walk(path).columns["flags"])


def test_each_host_has_a_start_page(tmp_path: Path) -> None:
    """The page with the shortest address of a host is where to start; what is no page does not count."""
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
def test_a_torn_end_is_left_out(tmp_path: Path, name: str) -> None:
    """Cut anywhere in its last record, a file is whole up to that."""
    path = write(tmp_path / name, *map(record, URLS))
    data = path.read_bytes()
    last = walk(path).columns["offset"][-1]
    for cut in [*range(last, len(data) - 5, 7), len(data) - 5]:
        path.write_bytes(data[:cut])
        assert URLS[:-1] == found(path, walk(path)), cut


def test_a_torn_record_that_looks_like_two(tmp_path: Path) -> None:
    """Bytes in a torn record that might begin another one are none."""
    noise = random.Random(1).randbytes(200_000)
    path = write(tmp_path / "a.warc.gz", record(URLS[0]), record(URLS[1], http_answer(noise + b"\x1f\x8b\x08" + noise)))
    data = path.read_bytes()
    assert 3 <= data.count(b"\x1f\x8b\x08")
    path.write_bytes(data[:-50_000])
    assert URLS[:1] == found(path, walk(path))


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("damage", [b"#" * 8, b""])
def test_what_is_damaged_is_stepped_over(tmp_path: Path, name: str, damage: bytes) -> None:
    """A record whose beginning is overwritten or gone costs no other."""
    path = write(tmp_path / name, *map(record, URLS))
    second = walk(path).columns["offset"][1]
    data = path.read_bytes()
    path.write_bytes(data[:second] + damage + data[second + 8 :])
    assert [URLS[0], *URLS[2:]] == found(path, walk(path))


def test_a_large_record_with_damage_inside_is_known_and_the_next_ones_are_found(tmp_path: Path) -> None:
    """Where the head of a record can be read and the rest can't, the record is listed: asking for it tells of it."""
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
def test_what_is_no_web_archive_has_no_records(tmp_path: Path, junk: bytes) -> None:
    """Other files are read without harm, and nothing is found in them."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(junk)
    assert 0 == walk(path).records


def test_a_file_compressed_in_one_piece_is_refused(tmp_path: Path) -> None:
    """Records that can't be read by themselves are not half read: the message says what to do."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(map(record, URLS))))
    with pytest.raises(InputError, match=r"compressed in one piece.*unpack it"):
        walk(path)
