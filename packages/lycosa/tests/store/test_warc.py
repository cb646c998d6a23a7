"""Tests of the WARC archive."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]  # it ships no types
from warcio.checker import Checker  # type: ignore[import-untyped]

from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.types import ArchivePlace, Exchange, Visit
from lycosa.store.naming import serial_number
from lycosa.store.warc import WarcArchive

REQUEST = b"GET /a HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Lycosa\r\n\r\n"


def exchange(body: bytes, *headers: tuple[bytes, bytes], truncated: str = "") -> Exchange:
    return Exchange(REQUEST, b"HTTP/1.1 200 OK", list(headers), body, hashlib.sha256(body).digest(), truncated)


def visit(node: str = "http://a.test/a", started: float = 1_700_000_000.25) -> Visit:
    return Visit(node, "page", "ok", 1, started=started, address="192.0.2.1")


def archive(path: Path, **rest: Any) -> WarcArchive:
    made = WarcArchive(path / "archive", **rest)
    made.recover({})
    return made


def only(path: Path) -> Path:
    """Return the single file of an archive."""
    (file,) = (path / "archive").glob("*.warc.gz")
    return file


def records(path: Path) -> list[tuple[str, dict[str, str], bytes, dict[str, str]]]:
    """Return all records as warcio reads them: type, WARC headers, payload, HTTP headers."""
    found = []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, no_record_parse=False):
            http = dict(record.http_headers.headers) if record.http_headers else {}
            found.append((record.rec_type, dict(record.rec_headers.headers), record.raw_stream.read(), http))
    return found


def check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verify all digests with `warcio check`."""

    class Command:
        inputs = (str(path),)
        verbose = True

    checker = Checker(Command())
    checker.process_all()
    output = capsys.readouterr().out
    assert not checker.exit_value, output
    assert "digest pass" in output


def test_append_writes_response_and_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = archive(tmp_path, about={"software": "Lycosa/9", "description": "topic: coral"})
    body = b"<html>coral</html>"
    place = made.append(visit(), exchange(body, (b"Content-Type", b"text/html")))
    made.close()
    path = tmp_path / "archive" / place.file
    info, response, request = records(path)
    assert ("warcinfo", "response", "request") == (info[0], response[0], request[0])
    assert b"software: Lycosa/9\r\n" in info[2]
    assert b"description: topic: coral\r\n" in info[2]
    assert "http://a.test/a" == response[1]["WARC-Target-URI"] == request[1]["WARC-Target-URI"]
    assert "2023-11-14T22:13:20.250000Z" == response[1]["WARC-Date"]
    assert "192.0.2.1" == response[1]["WARC-IP-Address"]
    assert response[1]["WARC-Record-ID"] == request[1]["WARC-Concurrent-To"]
    assert info[1]["WARC-Record-ID"] == response[1]["WARC-Warcinfo-ID"]
    assert (body, {"Content-Type": "text/html"}) == (response[2], response[3])
    assert "Lycosa" == request[3]["User-Agent"]
    check(path, capsys)


def test_place_covers_response_and_request(tmp_path: Path) -> None:
    made = archive(tmp_path)
    made.append(visit(), exchange(b"one"))
    place = made.append(visit("http://a.test/2"), exchange(b"two"))
    made.close()
    data = (tmp_path / "archive" / place.file).read_bytes()
    assert len(data) == place.offset + place.length
    text = gzip.decompress(data[place.offset : place.offset + place.length])
    assert text.startswith(b"WARC/1.1\r\n")
    assert 2 == text.count(b"WARC/1.1\r\n")
    assert b"\r\n\r\ntwo\r\n\r\n" in text


@pytest.mark.paper("batsakis-storage")
@pytest.mark.parametrize("size", [0, 1, 512, 513, 65_535, 65_536, 200_001])
@pytest.mark.parametrize("coding", [b"", b"gzip", b"zstd"])
def test_bodies_round_trip(tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int, coding: bytes) -> None:
    body = os.urandom(size)
    headers = [(b"Content-Encoding", coding)] if coding else []
    made = archive(tmp_path)
    place = made.append(visit(), exchange(body, *headers))
    made.close()
    path = tmp_path / "archive" / place.file
    assert body == records(path)[1][2]
    check(path, capsys)


def test_compressed_bodies_are_stored(tmp_path: Path) -> None:
    packed, text = gzip.compress(os.urandom(5000)), b"coral " * 2000
    made = archive(tmp_path)
    made.append(visit(), exchange(packed, (b"content-encoding", b"GZIP ")))
    made.append(visit(), exchange(text))
    made.close()
    data = only(tmp_path).read_bytes()
    assert packed in data
    assert text not in data
    assert len(data) < len(packed) + 3000


def test_records_are_gzip_members(tmp_path: Path) -> None:
    made = archive(tmp_path)
    for number in range(3):
        made.append(visit(), exchange(b"%d" % number * 1000, (b"Content-Encoding", b"gzip")))
    made.close()
    data, members = only(tmp_path).read_bytes(), 0
    while data:
        stream = zlib.decompressobj(31)
        assert stream.decompress(data).startswith(b"WARC/1.1\r\n")
        assert stream.eof
        data, members = stream.unused_data, members + 1
    assert 7 == members


def test_repeated_payload_becomes_revisit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = archive(tmp_path)
    made.append(visit("http://a.test/1", started=1_700_000_000.0), exchange(b"same"))
    reopened = visit("http://a.test/2", started=1_700_000_009.0)
    place = made.append(reopened, exchange(b"same", (b"X-Served-By", b"b")))
    made.close()
    path = tmp_path / "archive" / place.file
    revisit = records(path)[3]
    assert ("revisit", b"", {"X-Served-By": "b"}) == (revisit[0], revisit[2], revisit[3])
    assert "http://a.test/1" == revisit[1]["WARC-Refers-To-Target-URI"]
    assert "2023-11-14T22:13:20.000000Z" == revisit[1]["WARC-Refers-To-Date"]
    assert revisit[1]["WARC-Profile"].endswith("revisit/identical-payload-digest")
    check(path, capsys)


def test_empty_payloads_are_not_revisits(tmp_path: Path) -> None:
    made = archive(tmp_path)
    made.append(visit(), exchange(b""))
    place = made.append(visit(), exchange(b""))
    made.close()
    assert "revisit" not in [record[0] for record in records(tmp_path / "archive" / place.file)]


def test_remember_restores_payloads(tmp_path: Path) -> None:
    made = archive(tmp_path)
    first = visit("http://a.test/1")
    first.digest = hashlib.sha256(b"same").digest()
    first.place = ArchivePlace("lycosa-00001.warc.gz", 1, 1)
    lost = visit("http://a.test/lost")
    lost.digest = hashlib.sha256(b"lost").digest()
    for known in (first, lost):
        made.remember(known)
    reopened, fresh = visit("http://a.test/2"), visit("http://a.test/3")
    made.append(reopened, exchange(b"same"))
    made.append(fresh, exchange(b"lost"))
    made.close()
    kinds = [record[0] for record in records(only(tmp_path))]
    assert ["warcinfo", "revisit", "request", "response", "request"] == kinds


def test_headers_match_stored_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = archive(tmp_path)
    cut = exchange(b"half", (b"Content-Length", b"8"), (b"Transfer-Encoding", b"chunked"), truncated="length")
    place = made.append(visit(), cut)
    made.close()
    path = tmp_path / "archive" / place.file
    response = records(path)[1]
    assert {"X-Archive-Orig-Content-Length": "8", "X-Archive-Orig-Transfer-Encoding": "chunked"} == response[3]
    assert ("length", b"half") == (response[1]["WARC-Truncated"], response[2])
    check(path, capsys)


def test_line_breaks_in_headers_are_removed(tmp_path: Path) -> None:
    made = archive(tmp_path)
    place = made.append(visit(), exchange(b"body", (b"X-Evil", b"a\r\n\r\nWARC/1.1"), (b"X-Bin", b"\xff\x00")))
    made.close()
    response = records(tmp_path / "archive" / place.file)[1]
    assert b"body" == response[2]
    assert "a    WARC/1.1" == response[3]["X-Evil"]


def test_warcinfo_fields_are_single_lines(tmp_path: Path) -> None:
    made = archive(tmp_path, about={"description": "topic: coral\r\nrobots: ignore"})
    made.append(visit(), exchange(b"x"))
    made.close()
    info = records(only(tmp_path))[0]
    assert 1 == info[2].count(b"\r\nrobots:")


def test_files_are_rotated(tmp_path: Path) -> None:
    made = archive(tmp_path, rotate=4000)
    places = [made.append(visit(f"http://a.test/{n}"), exchange(os.urandom(2000))) for n in range(4)]
    made.close()
    assert [1, 1, 2, 2] == [serial_number(place.file) for place in places]
    assert 2 == len({place.file for place in places})
    for path in (tmp_path / "archive").glob("*.warc.gz"):
        assert "warcinfo" == records(path)[0][0]
        assert path.name == records(path)[0][1]["WARC-Filename"]


def test_recover_continues_last_file(tmp_path: Path) -> None:
    made = archive(tmp_path)
    place = made.append(visit(), exchange(b"one"))
    made.close()
    reopened = WarcArchive(tmp_path / "archive")
    assert [] == reopened.recover({place.file: place.offset + place.length})
    second = reopened.append(visit("http://a.test/2"), exchange(b"two"))
    reopened.close()
    assert (place.file, place.offset + place.length) == (second.file, second.offset)
    found = records(tmp_path / "archive" / place.file)
    assert 5 == len(found)
    assert found[0][1]["WARC-Record-ID"] == found[3][1]["WARC-Warcinfo-ID"]


@pytest.mark.parametrize("tail", ["a whole record", "half a record"])
def test_recover_moves_tail_aside(tmp_path: Path, tail: str) -> None:
    made = archive(tmp_path)
    kept = made.append(visit(), exchange(b"kept"))
    lost = made.append(visit("http://a.test/lost"), exchange(b"lost"))
    made.close()
    path = tmp_path / "archive" / kept.file
    if tail == "half a record":
        os.truncate(path, lost.offset + 20)
    data = path.read_bytes()
    reopened = WarcArchive(tmp_path / "archive")
    (moved,) = reopened.recover({kept.file: kept.offset + kept.length})
    reopened.close()
    assert f"from byte {lost.offset}" in moved
    assert data[: lost.offset] == path.read_bytes()
    assert [data[lost.offset :]] == [file.read_bytes() for file in (tmp_path / "archive" / "aside").iterdir()]
    assert ["warcinfo", "response", "request"] == [record[0] for record in records(path)]


def test_recover_moves_unknown_file_aside(tmp_path: Path) -> None:
    for round in (1, 2):
        made = WarcArchive(tmp_path / "archive")
        moved = made.recover({})
        made.append(visit(), exchange(b"lost %d" % round))
        made.close()
        assert round - 1 == len(moved)
    names = sorted(path.name for path in (tmp_path / "archive").glob("**/*.warc.gz*"))
    assert [1, 2] == [serial_number(name.removesuffix(".from-0")) for name in names]


def test_recover_removes_empty_file(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "reefs-20261117151336005-00003-a-3f9c2a1b.warc.gz").touch()
    made = WarcArchive(tmp_path / "archive")
    assert [] == made.recover({})
    assert 4 == serial_number(made.append(visit(), exchange(b"x")).file)
    made.close()


def test_recover_refuses_truncated_file(tmp_path: Path) -> None:
    made = archive(tmp_path)
    place = made.append(visit(), exchange(b"x"))
    made.close()
    path = tmp_path / "archive" / place.file
    os.truncate(path, 50)
    with pytest.raises(DamagedError, match=r"has 50 bytes, but the log recorded .* restore"):
        WarcArchive(tmp_path / "archive").recover({place.file: place.offset + place.length})
    assert 50 == path.stat().st_size
    with pytest.raises(DamagedError, match="has 0 bytes"):
        WarcArchive(tmp_path / "archive").recover({"reefs-20261117151336005-00009-a-3f9c2a1b.warc.gz": 10})


def test_failed_write_restores_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = archive(tmp_path)
    place = made.append(visit(), exchange(b"kept"))
    path, real = tmp_path / "archive" / place.file, os.write
    before = path.read_bytes()
    calls = iter([30])

    def full(file: int, data: bytes) -> int:
        for room in calls:
            return real(file, data[:room])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lycosa.store.warc.os.write", full)
    with pytest.raises(StoreError, match=r"No space left on device.*lycosa resume"):
        made.append(visit("http://a.test/2"), exchange(b"lost"))
    monkeypatch.undo()
    assert before == path.read_bytes()
    made.append(visit("http://a.test/3"), exchange(b"fine"))
    made.close()
    assert 5 == len(records(path))


def test_failed_warcinfo_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = archive(tmp_path)

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lycosa.store.warc.os.write", full)
    with pytest.raises(StoreError):
        made.append(visit(), exchange(b"lost"))
    monkeypatch.undo()
    made.close()
    assert [] == list((tmp_path / "archive").glob("*.warc.gz"))


def test_record_ids_are_unique_uuid4(tmp_path: Path) -> None:
    import uuid

    made = archive(tmp_path)
    for number in range(20):
        made.append(visit(), exchange(b"%d" % number))
    made.close()
    ids = [record[1]["WARC-Record-ID"] for record in records(only(tmp_path))]
    assert 41 == len(set(ids))
    assert {4} == {uuid.UUID(text.removeprefix("<urn:uuid:").removesuffix(">")).version for text in ids}
