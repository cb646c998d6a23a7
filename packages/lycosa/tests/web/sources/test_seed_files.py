"""Seed files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.web.sources.seed_files import read_lines, read_seed_file


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"https://a.example/\nhttps://b.example/\n", ["https://a.example/", "https://b.example/"]),
        (b"# mine\r\n\r\n  example.org/reefs  \r\n", ["example.org/reefs"]),
        (b"a.example # a reef\nhttps://b.example/#top\n", ["a.example", "https://b.example/#top"]),
        (b"\xef\xbb\xbfhttps://a.example/", ["https://a.example/"]),
        ("https://a.example/ä".encode("utf-16"), ["https://a.example/ä"]),
        (b"localhost:8123\nnot an address\n", ["localhost:8123"]),
        (gzip.compress(b"a.example\n", mtime=0), ["a.example"]),
    ],
)
def test_read_seed_file_returns_plain_lines_as_written(body: bytes, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(body)
    source = read_seed_file(tmp_path / "seeds")
    assert ("list", lines, 0) == (source.form, source.lines, len(source.links))


@pytest.mark.parametrize(
    ("body", "form", "urls"),
    [
        (b"<urlset><url><loc>https://a.example/x</loc></url></urlset>", "sitemap", ["https://a.example/x"]),
        (b"<rss><item><link>https://a.example/x</link></item></rss>", "feed", ["https://a.example/x"]),
        (
            b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DT><A HREF='https://a.example/'>A</A>",
            "bookmarks",
            ["https://a.example/"],
        ),
        (b"# Reefs\n- [A](https://a.example/)\nProse.\nMore prose.\nAnd more.\n", "list", ["https://a.example/"]),
        (b"<title>x</title><a href=https://a.example/>A</a><a href=/b>B</a>", "html page", ["https://a.example/"]),
        (b"\n<base href=https://c.example/><a href=b>B</a>", "html page", ["https://c.example/b"]),
    ],
)
def test_read_seed_file_detects_format(body: bytes, form: str, urls: list[str], tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_bytes(body)
    source = read_seed_file(tmp_path / "seeds.txt")
    assert (form, urls, []) == (source.form, source.links.urls, source.lines)


def test_read_seed_file_accepts_feeds_without_pages(tmp_path: Path) -> None:
    (tmp_path / "feeds.opml").write_text("<opml><outline xmlUrl='https://a.example/feed'/></opml>")
    assert ["https://a.example/feed"] == read_seed_file(tmp_path / "feeds.opml").nested


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "contains no seeds: write one URL per line"),
        (b"# nothing\n", "contains no seeds: write one URL per line"),
        (b"<urlset></urlset>", "contains no seeds"),
        (b"<urlset><url><loc>ftp://a.example/</loc></url></urlset>", "(1 entries skipped: not a web URL)"),
        (b"<title>A page</title><a href=/b>B</a>", "contains no seeds (1 entries skipped: not a web URL)"),
        (b"\x1f\x8b\x08 broken", "damaged: it could not be decompressed"),
        (b"\xff\xd8\xff\xe0 a picture", "are not text: write one URL per line"),
        (b"\n# mine\nnot an address\n\xe4\n", "contains no seeds, line 3 ('not an address'), line 4 ("),
        (b'{"seeds": []}', "is not a list of seeds"),
    ],
)
def test_read_seed_file_names_file_and_reason(body: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    path.write_bytes(body)
    with pytest.raises(InputError) as raised:
        read_seed_file(path)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["nowhere.txt", "."])
def test_read_seed_file_rejects_unreadable_file(name: str, tmp_path: Path) -> None:
    with raises_input_error("unreadable-file"):
        read_seed_file(tmp_path / name)


def test_read_seed_file_skips_and_quotes_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    path.write_bytes(b"a.example\n\nnot an address\nb.example/\xe4\nmailto:x@a.example\nhttps://c.example/ # C\n")
    source = read_seed_file(path)
    assert ["a.example", "https://c.example/"] == source.lines
    assert (
        r"line 3 ('not an address'), line 4 ('b.example/\ufffd'), line 5 ('mailto:x@a.example') can't be read"
        == source.note
    )
    assert {"not a web URL": 3} == dict(source.left_out)
    path.write_text("a.example\n" + "no address\n" * 10_000 + "x" * 20_000 + "\n")
    source = read_seed_file(path)
    assert ["a.example"] == source.lines
    assert source.note.endswith("line 6 ('no address') and 9,996 more can't be read")


def test_read_lines_skips_and_quotes_rejected_lines(tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    path.write_text("ada\n# mine\nunknown\nbob\nworse\n")

    def check(line: str) -> str | None:
        if line == "worse":
            raise InputError("bad-file", "no")
        return None if line == "unknown" else line

    notes: list[str] = []
    assert ["ada", "bob"] == read_lines(path, check, notes)
    assert [f"{path}: line 3 ('unknown'), line 5 ('worse') can't be read, skipped"] == notes
    with raises_input_error("no-seeds", match="line 1"):
        read_lines(path, lambda line: None, notes)
