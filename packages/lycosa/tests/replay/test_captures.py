"""Captures in a WARC file."""

from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from lycosa.replay.captures import Captures, digest_key, identify, moment
from replay_helpers import record, write


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_moment_out_of_range_is_zero(date: str) -> None:
    assert 0 == moment(date)


def test_identify_equal_for_equivalent_urls() -> None:
    page, exact, address = identify("https://Example.org/a/../b#c")
    assert address == "https://example.org/b"
    assert identify("http://example.org/b")[0] == page
    assert identify("https://example.org/b?utm_source=x")[1] != exact
    assert identify("not a url")[2] == "not a url"


def test_moment_assumes_utc() -> None:
    assert moment("2026-03-01T00:00:00") == moment("2026-03-01T01:00:00+01:00") == moment("2026-03-01T00:00:00Z") > 0


def test_digest_key_ignores_case() -> None:
    assert digest_key("sha1:ABC") == digest_key("SHA1:abc") != digest_key("sha1:abd")
    assert digest_key("") == 0


def test_captures_forget_drops_rows_from_offset(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc", *(record(f"http://a.example/{number}") for number in range(4)))
    captures = Captures()
    with path.open("rb") as file:
        for each in ArchiveIterator(file):
            captures.note(each, each.stream_pos)
    captures.close(path.stat().st_size)
    offsets, lengths = captures.columns["offset"].tolist(), captures.columns["length"].tolist()
    assert [offset + length for offset, length in zip(offsets, lengths, strict=True)] == [
        *offsets[1:],
        path.stat().st_size,
    ]
    captures.forget(offsets[2])
    assert (len(captures), captures.columns["offset"].tolist()) == (2, offsets[:2])
    assert captures.servable().all()
