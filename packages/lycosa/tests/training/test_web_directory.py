"""Web directories: reading, browsing, marking, writing, and invalid dumps."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.training import web_directory
from lycosa.training.corpus import Account
from lycosa.training.sources import read_table
from lycosa.training.web_directory import TopicBranch, WebDirectory, read_web_directory

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/" '
    'xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">\n'
)

CONTENT = (
    HEAD
    + """
<Topic r:id="Top/Science/Physics"><catid>4</catid>
  <link1 r:resource="http://one.example/"/><link r:resource="http://two.example/a?b=1&amp;c=2"/>
  <rss r:resource="http://three.example/feed"/></Topic>
<ExternalPage about="http://one.example/"><d:Title>One</d:Title><d:Description>of it</d:Description>
  <topic>Top/Science/Physics</topic></ExternalPage>
<ExternalPage about="http://late.example/"><topic>Top/Arts/Opera_&amp;_Dance</topic></ExternalPage>
<ExternalPage about="mailto:someone"><topic>Top/Arts</topic></ExternalPage>
</RDF>
"""
)

STRUCTURE = (
    HEAD
    + """
<Topic r:id="Top"><narrow r:resource="Top/Science"/></Topic>
<Topic r:id="Top/Science"><d:Title>Science</d:Title><narrow1 r:resource="Top/Science/Biology"/>
  <symbolic r:resource="Health:Top/Health"/><related r:resource="Top/Society"/></Topic>
</RDF>
"""
)


def written(path: Path, text: str, *, packed: bool = False) -> Path:
    data = text.encode("utf-8", "surrogateescape")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.mark.paper("rules-directory")
def test_read_rdf_returns_pages_by_topic(tmp_path: Path) -> None:
    directory = read_web_directory([written(tmp_path / "content.rdf.u8", CONTENT)])
    assert {
        "Science/Physics": ["http://one.example/", "http://two.example/a?b=1&c=2", "http://three.example/feed"],
        "Arts/Opera_&_Dance": ["http://late.example/"],
    } == directory.pages
    assert {"not web URLs": 1} == directory.left_out


def test_read_rdf_structure_adds_topics(tmp_path: Path) -> None:
    files = [
        written(tmp_path / "structure.rdf.u8.gz", STRUCTURE, packed=True),
        written(tmp_path / "content.rdf.u8.gz", CONTENT, packed=True),
    ]
    directory = read_web_directory(files)
    assert [
        TopicBranch("Biology", "Science/Biology", 0, 0, 0, marked=False),
        TopicBranch("Physics", "Science/Physics", 0, 3, 3, marked=False),
    ] == directory.children("science")
    assert [("Arts", 1, 1), ("Science", 2, 3)] == [(one.name, one.topics, one.pages) for one in directory.children()]
    assert (5, 4) == (directory.topics, directory.size)


def test_read_branch_returns_topics_below(tmp_path: Path) -> None:
    source = written(tmp_path / "content.rdf.u8", CONTENT)
    assert ["Science/Physics"] == list(read_web_directory([source], below="Top/science").pages)
    with raises_input_error("no-pages", "no pages in"):
        read_web_directory([source], below="Sports")


def test_read_samples_large_topics(tmp_path: Path) -> None:
    rows = "".join(f"http://site{number}.example/\tArt\n" for number in range(1000))
    source = written(tmp_path / "many.tsv", rows)
    directory = read_web_directory([source], most=10)
    numbers = [int(url.removeprefix("http://site").partition(".")[0]) for url in directory.pages["Art"]]
    assert (10, 1000) == (len(set(numbers)), directory.children()[0].pages)
    assert max(numbers) > 500
    assert directory.pages == read_web_directory([source], most=10).pages
    assert 1000 == len(read_web_directory([source], most=0).pages["Art"])


@pytest.mark.parametrize(
    "table",
    [
        "http://one.example/\tTop/Science/Physics\n",
        "url\tclass\nhttp://one.example/\tScience/Physics\n",
        "\ufeffurl\tclass\tlang\r\nhttp://one.example/\tScience/Physics\ten\r\n\r\n",
    ],
)
def test_read_table_accepts_missing_titles(tmp_path: Path, table: str) -> None:
    directory = read_web_directory([written(tmp_path / "table", table)])
    assert {"Science/Physics": ["http://one.example/"]} == directory.pages


def test_mark_write_and_read_round_trip(tmp_path: Path) -> None:
    directory = WebDirectory({"Science/Physics": ["http://one.example/"], "Sciences": [], "Art": ["http://b.example/"]})
    assert ["Science"] == directory.mark(["SCIENCE"])
    out = tmp_path / "mine.tsv"
    directory.write(out)
    assert [("http://b.example/", "Art"), ("http://one.example/", "Science/Physics")] == read_table(out, Account())
    again = read_web_directory([out])
    assert ["Science"] == again.marked
    assert [("Art", False), ("Science", True)] == [(one.name, one.marked) for one in again.children()]
    assert [True] == [one.marked for one in again.children("Science")]
    assert ["Art"] == list(again.below("art").pages)
    with raises_input_error("unknown-name", "the directory has"):
        again.mark(["Sience"])


def test_read_table_ignores_marks_without_topics(tmp_path: Path) -> None:
    deep = "/".join(["a"] * (web_directory.MAX_LEVELS + 1))
    rows = [("http://a.example/", "Science/Physics", "Science"), ("http://b.example/", "Art", "Sci"),
            ("http://c.example/", "Science.x", "Zoo"), ("http://d.example/", deep, "")]  # fmt: skip
    text = "url\tclass\tmarked\n" + "".join("\t".join(row) + "\n" for row in rows)
    directory = read_web_directory([written(tmp_path / "d.tsv", text)])
    assert (["Science"], {"pages without a topic": 1}) == (directory.marked, directory.left_out)


def test_read_rdf_skips_forbidden_characters(tmp_path: Path) -> None:
    source = written(tmp_path / "old.rdf", CONTENT.replace("of it", "caf\udce9 \x01\x1f"))
    assert 2 == len(read_web_directory([source]).pages)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONTENT[:-20], "line 10: unclosed token; is it complete"),
        (CONTENT.replace("&amp;c", "&c;"), "undefined entity"),
        ('<?xml version="1.0"?><!DOCTYPE RDF [<!ENTITY a "aaaa">]><RDF><Topic r:id="&a;"/></RDF>', "has a DOCTYPE"),
        ('<!DOCTYPE RDF SYSTEM "file:///etc/passwd"><RDF/>', "has a DOCTYPE"),
        ("<RDF>" + "<a>" * 30, "more than 20 nested elements"),
        ("<RDF/>", "has no topics"),
        ("", "has no topics"),
        ("12\n", "neither RDF nor a table"),
        ("1\tArt\n", "neither RDF nor a table"),
        ("a\0b", "not UTF-8 text"),
        ("url,class\nhttp://a.example/,Art\n", "neither RDF nor a table"),
    ],
)
def test_read_rejects_invalid_dumps(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_web_directory([written(tmp_path / "dump", text)])
    assert "\n" not in str(refused.value)


def test_read_rejects_too_large_dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "content.rdf", CONTENT)
    table = written(tmp_path / "table", "http://a.example/\tArt\nhttp://b.example/\tArt\n")
    for name, most, file, message in (
        ("MAX_BYTES", 100, source, "more than 100 bytes"),
        ("MAX_TOPICS", 0, source, "more than 0 topics"),
        ("MAX_ENTRIES", 1, source, "more than 1 URLs and topics"),
        ("MAX_URLS", 1, table, "more than 1 URLs to keep"),
        ("MAX_TOKEN_BYTES", 10, table, "a line of more than 10 bytes"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(web_directory, name, most)
            with raises_input_error("too-large", message):
                read_web_directory([file])
    with raises_input_error("too-large", "more than 1"):
        read_web_directory([table], entries=1)
    assert {"Art": ["http://a.example/", "http://b.example/"]} == read_web_directory([table], entries=2).pages
    monkeypatch.setattr(web_directory, "MAX_TOKEN_BYTES", 1000)
    monkeypatch.setattr(web_directory, "_CHUNK", 500)
    with raises_input_error("too-large", "a tag of"):
        read_web_directory([written(tmp_path / "endless", f'<RDF><Topic r:id="{"a" * 5000}"/></RDF>')])


def test_read_rejects_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(CONTENT.encode() * 50)
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with raises_input_error("bad-file", "is damaged"):
        read_web_directory([tmp_path / "cut.gz"])
    with raises_input_error("bad-file", "is a directory"):
        read_web_directory([tmp_path])
