"""Selection of the capture for a URL."""

import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.types import Exchange, Visit
from lycosa.replay import captures as module
from lycosa.replay.captures import moment
from lycosa.replay.recording import RecordedHost, Recording
from lycosa.replay.records import Damaged
from lycosa.store.warc import WarcArchive
from replay_helpers import JANUARY, JUNE, MARCH, http_answer, record, write
from revisited_crawl import DAY, EPOCH, revisited

A = "http://a.example/"
DIGEST = "WARC-Payload-Digest: sha1:ABC\r\n"
SAME = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
UNCHANGED = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n"


def body(recording: Recording, url: str, at: str = "") -> str | None:
    """Return the recorded body of a URL."""
    found = recording.find(url, moment(at) if at else None)
    return None if found is None else found.body.decode()


def page(text: str, more: str = "") -> bytes:
    return http_answer(text.encode(), more=more)


def recorded(tmp_path: Path, *records: bytes) -> Recording:
    return Recording([write(tmp_path / "a.warc.gz", *records)])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("http://a.example/x", "x"),
        ("http://A.EXAMPLE:80/y/../x#part", "x"),
        ("http://a.example/x?utm_source=mail", "x"),
        ("http://a.example/x/", "with slash"),
        ("http://a.example/x?", None),
        ("http://a.example/X", None),
        ("http://a.example:8080/x", "other port"),
        ("http://b.example/x", None),
        ("https://a.example/x", "x"),
        ("nonsense", None),
        ("http://[broken/", None),
        ("http://a.example/" + "y" * 9000, "long"),
    ],
)
def test_find_uses_canonical_urls(tmp_path: Path, asked: str, expected: str | None) -> None:
    with recorded(
        tmp_path,
        record("http://a.example/x", page("x")),
        record("http://a.example/x/", page("with slash")),
        record("http://a.example:8080/x", page("other port")),
        record("http://a.example/" + "y" * 9000, page("long")),
    ) as recording:
        assert expected == body(recording, asked)


def test_find_prefers_exact_url(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        record(A + "?utm_source=a", page("a"), date=JANUARY),
        record(A + "?utm_source=b", page("b"), date=MARCH),
    ) as recording:
        assert ["a", "b", "b"] == [body(recording, f"{A}?utm_source={name}") for name in "abc"]


def test_find_prefers_same_scheme(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        record("http://a.example/", page("plain"), date=JUNE),
        record("https://a.example/", page("secure"), date=MARCH),
        record("https://b.example/", page("only secure")),
    ) as recording:
        assert ("plain", "secure") == (body(recording, A), body(recording, "https://a.example/"))
        assert "only secure" == body(recording, "http://b.example/")


def test_find_skips_redirect_to_itself(tmp_path: Path) -> None:
    with recorded(
        tmp_path, record(A, http_answer(status="301 Moved", more="Location: https://a.example/\r\n"))
    ) as recording:
        assert recording.find("https://a.example/") is None
        found = recording.find(A)
        assert found is not None
        assert 301 == found.status


def test_find_is_correct_despite_hash_collisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "hash64", lambda data: 7)
    urls = [f"http://a.example/{number}" for number in range(5)]
    with recorded(tmp_path, *(record(url, page(url)) for url in urls)) as recording:
        assert urls == [body(recording, url) for url in urls]
        assert body(recording, "http://a.example/9") is None


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("", "june"),
        ("1999-01-01", "january"),
        ("2026-02-28", "january"),
        ("2026-03-01", "march"),
        ("2030-01-01", "june"),
    ],
)
def test_find_returns_last_capture_before_date(tmp_path: Path, at: str, expected: str) -> None:
    with recorded(
        tmp_path,
        record(A, page("march"), date=MARCH),
        record(A, page("june"), date=JUNE),
        record(A, page("january"), date=JANUARY),
    ) as recording:
        assert expected == body(recording, A, at)


def test_recording_ends_at_date(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record(A, page("old"), date=JANUARY), record(A, page("new"), date=JUNE))
    with Recording([path], at=moment(JANUARY)) as recording:
        assert ("old", "new") == (body(recording, A), body(recording, A, JUNE))


def test_find_searches_several_files(tmp_path: Path) -> None:
    old = write(tmp_path / "1.warc.gz", record(A, page("old"), date=JANUARY))
    new = write(tmp_path / "2.warc", record(A, page("new"), date=JUNE), record(A + "x", page("x")))
    for files in ([old, new], [new, old]):
        with Recording(files) as recording:
            assert ("new", "old", "x") == (body(recording, A), body(recording, A, JANUARY), body(recording, A + "x"))


def test_find_revisit_has_body_of_url_and_date(tmp_path: Path) -> None:
    reference = f"WARC-Refers-To-Target-URI: {A}\r\nWARC-Refers-To-Date: {JANUARY}\r\n"
    with recorded(
        tmp_path,
        record(A, page("first"), date=JANUARY),
        record(A, page("second"), date=MARCH),
        record(A + "copy", page("", "X: 1\r\n"), kind="revisit", date=JUNE, more=SAME + reference),
    ) as recording:
        found = recording.find(A + "copy")
        assert found is not None
        assert ("first", "1", moment(JUNE)) == (found.body.decode(), found.header(b"x"), found.date)


def test_find_revisit_has_body_of_same_digest(tmp_path: Path) -> None:
    original = write(
        tmp_path / "1.warc.gz",
        record(A + "other", page("other")),
        record(A + "original", page("the body"), more=DIGEST),
    )
    revisit = write(tmp_path / "2.warc.gz", record(A, page(""), kind="revisit", more=SAME + DIGEST))
    with Recording([revisit, original]) as recording:
        assert "the body" == body(recording, A)


def test_find_revisit_without_headers_has_those_of_original(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        record(A, page("the body", "X: 1\r\n"), date=JANUARY, more=DIGEST),
        record(A, b"", kind="revisit", date=JUNE, more=SAME + DIGEST),
    ) as recording:
        found = recording.find(A)
        assert found is not None
        assert ("the body", "1", moment(JUNE)) == (found.body.decode(), found.header(b"x"), found.date)


def test_find_not_modified_revisit(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        record(A, page("the body"), date=JANUARY),
        record(A, http_answer(b"", status="304 Not Modified"), kind="revisit", date=JUNE, more=UNCHANGED),
    ) as recording:
        found = recording.find(A)
        assert found is not None
        assert (200, b"the body") == (found.status, found.body)


def test_find_revisit_without_original_raises(tmp_path: Path) -> None:
    moved = http_answer(b"", status="302 Found", more="Location: /y\r\n")
    with recorded(
        tmp_path,
        record(A, page(""), kind="revisit", more=SAME + DIGEST),
        record(A + "x", moved, kind="revisit", more=SAME + DIGEST),
    ) as recording:
        with pytest.raises(Damaged, match="not in these files"):
            recording.find(A)
        found = recording.find(A + "x")
        assert found is not None
        assert 302 == found.status


def test_find_resolves_revisits_of_own_archive(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path / "archive")
    archive.recover({})
    exchange = Exchange(
        b"GET / HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 200 OK",
        [(b"Content-Type", b"text/html"), (b"Transfer-Encoding", b"chunked")],
        b"one body for two",
        bytes(32),
    )
    for number, url in enumerate([A, A + "copy"]):
        archive.append(Visit(url, "page", "ok", number, started=1e9 + number), exchange)
    archive.close()
    with Recording([tmp_path]) as recording:
        assert ["one body for two"] * 2 == [body(recording, A), body(recording, A + "copy")]
        found = recording.find(A + "copy")
        assert found is not None
        assert [(b"Content-Type", b"text/html")] == found.headers


def test_recording_raises_for_unusable_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    path = write(tmp_path / "a.warc", record("x", b"software: x", kind="warcinfo"))
    for named, why in (
        (tmp_path / "none", "does not exist"),
        (tmp_path / "empty", "no WARC files in"),
        (path, "no page"),
    ):
        with pytest.raises(InputError, match=why):
            Recording([named])


def test_recording_reads_wacz_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as bundle:
        for number in range(2):
            records = [record(f"{A}{number}/{part}", page(f"{number} {part}")) for part in range(100)]
            bundle.writestr(f"archive/{number}.warc", b"".join(records))
    with Recording([path]) as recording:
        assert 200 == len(recording)
        assert ["0 7", "1 99"] == [body(recording, A + "0/7"), body(recording, A + "1/99")]


def test_find_damaged_record_names_position(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(5_000)
    path = write(tmp_path / "a.warc.gz", record(A, http_answer(noise)), record(A + "x", page("fine")))
    with Recording([path]) as recording:
        with open(path, "r+b") as file:
            file.seek(2_000)
            file.write(b"#" * 100)
        with pytest.raises(Damaged, match=r"record at byte 0 of .*a\.warc\.gz can't be read"):
            recording.find(A)
        assert "fine" == body(recording, A + "x")


def test_hosts_count_pages_once(tmp_path: Path) -> None:
    one = write(
        tmp_path / "1.warc.gz",
        record("http://b.example/long", page("b")),
        record(A + "y", page("y"), date=JANUARY),
        record(A + "y", page("y"), date=JUNE),
        record("http://none.example/x.png", http_answer(kind="image/png")),
    )
    two = write(tmp_path / "2.warc.gz", record(A + "y", page("y")), record(A, page("a")), record(A + "zzz", page("z")))
    with Recording([one, two]) as recording:
        expected = [RecordedHost("a.example", 3, A), RecordedHost("b.example", 1, "http://b.example/long")]
        assert expected == recording.hosts()
        assert "http://b.example/long" == recording.start


def test_find_returns_newest_of_many_captures(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 300, 1000)
    dates = rng.permutation(1000)
    records = [
        record(f"{A}{number}", page(f"{number} {date}"), date=f"2026-01-01T00:{date // 60:02}:{date % 60:02}Z")
        for number, date in zip(numbers, dates, strict=True)
    ]
    newest: dict[int, int] = {}
    for number, date in zip(numbers.tolist(), dates.tolist(), strict=True):
        newest[number] = max(newest.get(number, -1), date)
    with recorded(tmp_path, *records) as recording:
        assert [f"{number} {newest[number]}" for number in newest] == [body(recording, f"{A}{n}") for n in newest]


def test_recording_skips_empty_file_in_directory(tmp_path: Path) -> None:
    write(tmp_path / "good.warc.gz", record("http://a.example/"))
    torn = tmp_path / "torn.warc.gz"
    torn.write_bytes((tmp_path / "good.warc.gz").read_bytes()[:30])
    with Recording([tmp_path]) as recording:
        assert 1 == len(recording)
        assert any("torn.warc.gz contains no WARC records" in note for note in recording.notes)
    with raises_input_error("bad-file", "torn.warc.gz contains no"):
        Recording([torn])


def test_find_with_corrupt_index_raises(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("http://a.example/"))
    with Recording([path]) as recording:
        held = recording.archives[0]
        for column, rotten in (("length", 2**62), ("offset", 2**62)):
            held.index.columns = {**held.index.columns, column: np.array([rotten], held.index.columns[column].dtype)}
            with pytest.raises(Damaged, match="can't be read"):
                held.read(0)


def test_find_returns_version_of_refreshed_crawl_at_any_time(tmp_path: Path) -> None:
    one, two, three = A + "one", A + "two", A + "three"
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(one, "first of one " * 20)
        crawl.page(two, "first of one " * 20)  # a revisit record, because the bytes are known
        crawl.page(three, "first of three " * 20)
        crawl.unmodified(two, 1)
        crawl.same(one, "first of one " * 20, 1)
        crawl.changed(one, "second of one " * 20, 2)
        crawl.unmodified(one, 3)
        crawl.gone(one, 4)
        crawl.moved(three, one, 4)

    def said(recording: Recording, url: str, day: float | None) -> tuple[int, str]:
        found = recording.find(url, None if day is None else round((EPOCH + day * DAY) * 1e6))
        assert found is not None
        return found.status, " ".join(found.body.decode().split()[:3])

    with Recording([tmp_path / "crawl"]) as recording:
        first, second, gone = (200, "first of one"), (200, "second of one"), (404, "nothing here")
        assert [first, first, second, second, gone] == [said(recording, one, day) for day in (0.5, 1.5, 2.5, 3.5, 4.5)]
        assert [first, first] == [said(recording, two, day) for day in (0.5, 1.5)]
        assert (301, "") == said(recording, three, 4.5)
        newest = [said(recording, url, None) for url in (one, two, three)]
        assert [second, first, (200, "first of three")] == newest
