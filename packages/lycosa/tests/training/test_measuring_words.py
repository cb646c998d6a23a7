"""Counting words in pages: each content once, menus left out, one language."""

import errno
import os
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest

from lycosa.core.errors import InputError
from lycosa.training.count_words import FEWEST, measure


def write(directory: Path, **pages: str) -> None:
    """HTML files."""
    directory.mkdir(exist_ok=True)
    for name, text in pages.items():
        (directory / f"{name}.html").write_text(f'<html lang="en"><title></title><p>{text}', encoding="utf-8")


def warc(path: Path, *bodies: str) -> None:
    """A WARC file of answers."""
    with open(path, "wb") as file:
        for number, body in enumerate(bodies):
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html lang=en>" + body.encode()
            top = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0-{number}>\r\n"
            top += f"WARC-Target-URI: http://a.test/{number}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
            top += f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
            file.write(top.encode() + http + b"\r\n\r\n")


def test_pages_that_have_a_word_are_counted(tmp_path: Path) -> None:
    """Three pages; 'coral' on two, on one of them twice: 2. Words are stemmed."""
    write(tmp_path / "d", a="corals, a coral", b="coral sea", c="seas")
    found = measure([str(tmp_path / "d")])
    assert (3, {"coral": 2, "sea": 2}) == (found.documents, found.frequency)


def test_a_content_counts_once(tmp_path: Path) -> None:
    """The same page under two names, and in two sources, is one page."""
    write(tmp_path / "d", a="coral", b="coral", c="sea")
    write(tmp_path / "e", a="coral")
    found = measure([str(tmp_path / "d"), str(tmp_path / "e")])
    assert (2, {"coral": 1, "sea": 1}) == (found.documents, found.frequency)


def test_the_most_frequent_are_kept(tmp_path: Path) -> None:
    """Of equals, the first by name."""
    write(tmp_path / "d", a="coral sea reef", b="coral fish", c="coral sea")
    assert {"coral": 3, "sea": 2, "fish": 1} == measure([str(tmp_path / "d")], terms=3).frequency


def test_menus_are_not_counted(tmp_path: Path) -> None:
    """Four words in a row that stand on every page are no content; the same words alone are."""
    menu = "school library sports calendar"
    write(tmp_path / "d", **{f"p{n}": f"{menu} topic{n}x" for n in range(FEWEST)}, other="a school")
    found = measure([str(tmp_path / "d")])
    assert (FEWEST + 1, 1, 1) == (found.documents, found.frequency["school"], found.frequency["topic0x"])
    assert "calendar" not in found.frequency


def test_another_language_is_left_out(tmp_path: Path) -> None:
    """The pages of the language that most are in make the statistics."""
    write(tmp_path / "d", a="coral", b="sea coral")
    (tmp_path / "d" / "c.html").write_text('<html lang="de"><p>Die Häuser der Koralle')
    found = measure([str(tmp_path / "d")])
    assert (2, "en", {"coral": 2, "sea": 1}) == (found.documents, found.language, found.frequency)


def test_warc_files_and_text_files(tmp_path: Path) -> None:
    """WARC files are read by their records, text as it is; other files are passed over."""
    warc(tmp_path / "a.warc", "<p>coral", "<p>sea")
    (tmp_path / "note.txt").write_text("coral reef")
    (tmp_path / "image.png").write_bytes(b"\x89PNG coral")
    found = measure([str(tmp_path)])
    assert (3, {"coral": 2, "reef": 1, "sea": 1}) == (found.documents, found.frequency)
    assert {"coral": 1, "sea": 1} == measure([str(tmp_path / "a.warc")]).frequency


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["nowhere"], "there is no .*nowhere"),
        (["empty"], "0 pages with words in them"),
        (["one"], "1 pages with words in them"),
        (["image.png"], "it is not a WARC"),
        (["torn.warc.gz"], "cannot read .*torn.warc.gz as a WARC file"),
    ],
)
def test_what_can_not_be_counted(tmp_path: Path, names: list[str], told: str) -> None:
    """What is missing, empty or no page is named."""
    (tmp_path / "empty").mkdir()
    write(tmp_path / "one", a="coral")
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    (tmp_path / "torn.warc.gz").write_bytes(b"\x1f\x8b\x08garbage")
    with pytest.raises(InputError, match=told):
        measure([str(tmp_path / name) for name in names])


def test_no_terms_at_all(tmp_path: Path) -> None:
    """To keep no words is refused."""
    with pytest.raises(InputError, match="0 terms are to be kept"):
        measure([str(tmp_path)], terms=0)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    """A named pipe is no source."""
    write(tmp_path / "pages", a="coral reef", b="coral sea")
    for name in ("a.html", "a.warc"):
        os.mkfifo(tmp_path / name)
    for name in ("a.html", "a.warc"):
        with pytest.raises(InputError, match="it is not a WARC"):
            measure([str(tmp_path / name)])


def test_no_room_for_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told, and where room is needed."""

    def full(*args: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(tmp_path, a="coral reef", b="coral sea")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(InputError, match="temporary file: No space left on device; free some space, or set TMPDIR"):
        measure([str(tmp_path)])
