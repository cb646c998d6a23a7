"""measure: document frequencies of words, duplicates, boilerplate, languages."""

import errno
import os
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.training.count_words import MIN_PAGES, measure


def write(directory: Path, **pages: str) -> None:
    """Write HTML files."""
    directory.mkdir(exist_ok=True)
    for name, text in pages.items():
        (directory / f"{name}.html").write_text(f'<html lang="en"><title></title><p>{text}', encoding="utf-8")


def warc(path: Path, *bodies: str) -> None:
    """Write a WARC file of responses."""
    with open(path, "wb") as file:
        for number, body in enumerate(bodies):
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html lang=en>" + body.encode()
            top = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0-{number}>\r\n"
            top += f"WARC-Target-URI: http://a.test/{number}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
            top += f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
            file.write(top.encode() + http + b"\r\n\r\n")


def test_measure_counts_pages_with_word(tmp_path: Path) -> None:
    """A word is counted once per page: 'coral' is on two of three pages, twice on one of them, and has 2."""
    write(tmp_path / "d", a="corals, a coral", b="coral sea", c="seas")
    found = measure([str(tmp_path / "d")])
    assert (3, {"coral": 2, "sea": 2}) == (found.documents, found.frequency)


def test_measure_counts_duplicates_once(tmp_path: Path) -> None:
    write(tmp_path / "d", a="coral", b="coral", c="sea")
    write(tmp_path / "e", a="coral")
    found = measure([str(tmp_path / "d"), str(tmp_path / "e")])
    assert (2, {"coral": 1, "sea": 1}) == (found.documents, found.frequency)


def test_measure_keeps_most_frequent_words(tmp_path: Path) -> None:
    write(tmp_path / "d", a="coral sea reef", b="coral fish", c="coral sea")
    assert {"coral": 3, "sea": 2, "fish": 1} == measure([str(tmp_path / "d")], terms=3).frequency


def test_measure_ignores_boilerplate(tmp_path: Path) -> None:
    menu = "school library sports calendar"
    write(tmp_path / "d", **{f"p{n}": f"{menu} topic{n}x" for n in range(MIN_PAGES)}, other="a school")
    found = measure([str(tmp_path / "d")])
    assert (MIN_PAGES + 1, 1, 1) == (found.documents, found.frequency["school"], found.frequency["topic0x"])
    assert "calendar" not in found.frequency


def test_measure_ignores_other_languages(tmp_path: Path) -> None:
    write(tmp_path / "d", a="coral", b="sea coral")
    (tmp_path / "d" / "c.html").write_text('<html lang="de"><p>Die Häuser der Koralle')
    found = measure([str(tmp_path / "d")])
    assert (2, "en", {"coral": 2, "sea": 1}) == (found.documents, found.language, found.frequency)


def test_measure_counts_words_of_warc_and_text_files(tmp_path: Path) -> None:
    warc(tmp_path / "a.warc", "<p>coral", "<p>sea")
    (tmp_path / "note.txt").write_text("coral reef")
    (tmp_path / "image.png").write_bytes(b"\x89PNG coral")
    found = measure([str(tmp_path)])
    assert (3, {"coral": 2, "reef": 1, "sea": 1}) == (found.documents, found.frequency)
    assert {"coral": 1, "sea": 1} == measure([str(tmp_path / "a.warc")]).frequency


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["nowhere"], "nowhere does not exist"),
        (["empty"], "0 pages with words"),
        (["one"], "1 pages with words"),
        (["image.png"], "it is not a WARC"),
        (["torn.warc.gz"], "cannot read .*torn.warc.gz as a WARC file"),
    ],
)
def test_measure_rejects_sources_without_pages(tmp_path: Path, names: list[str], message: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "one", a="coral")
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    (tmp_path / "torn.warc.gz").write_bytes(b"\x1f\x8b\x08garbage")
    with pytest.raises(InputError, match=message):
        measure([str(tmp_path / name) for name in names])


def test_measure_rejects_zero_terms(tmp_path: Path) -> None:
    with raises_input_error("out-of-range", "'terms' is 0"):
        measure([str(tmp_path)], terms=0)


def test_measure_does_not_open_pipes(tmp_path: Path) -> None:
    write(tmp_path / "pages", a="coral reef", b="coral sea")
    for name in ("a.html", "a.warc"):
        os.mkfifo(tmp_path / name)
    for name in ("a.html", "a.warc"):
        with raises_input_error("bad-file", "it is not"):
            measure([str(tmp_path / name)])


def test_measure_reports_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(tmp_path, a="coral reef", b="coral sea")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with raises_input_error("cannot-write", "temporary file: No"):
        measure([str(tmp_path)])
