"""Sources of labelled pages: directories, tables, archives and crawls."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.cli.label_command import label as give_label
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Page
from lycosa.testweb import Server, Web, serve
from lycosa.training.corpus import Account, Corpus
from lycosa.training.page_loading import recorded_pages
from lycosa.training.sources import Rows, read, read_directory, read_table
from written import text, write


def progress(what: str, done: int, total: int) -> None:
    pass


def no_pages(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
    raise AssertionError(f"{len(urls)} pages were asked for")
    yield


def labels(corpus: Corpus) -> dict[str, int]:
    found: dict[str, int] = {}
    for page in corpus.pages:
        found[page.label] = found.get(page.label, 0) + 1
    return found


def test_read_directory_classes_are_paths(tmp_path: Path) -> None:
    write(tmp_path, {"Sea/Reefs": 2, "Trains": 1})
    (tmp_path / "Trains" / "b.TXT").write_text("a locomotive")
    (tmp_path / "Trains" / "c.md").write_text("a carriage")
    corpus = read([str(tmp_path)], no_pages, progress)
    assert {"Sea/Reefs": 2, "Trains": 3} == labels(corpus)
    assert "locomot" in corpus.vocabulary.id_of
    assert "p" not in corpus.vocabulary.id_of


def test_read_directory_counts_dropped_files(tmp_path: Path) -> None:
    write(tmp_path, {"Sea/Reefs": 1})
    (tmp_path / "readme.txt").write_text("nothing of a class")
    (tmp_path / "Sea" / "Reefs" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "Sea" / "Reefs" / ".hidden.txt").write_text("secret")
    (tmp_path / "Sea" / "Reefs" / "empty.html").write_text("<html></html>")
    (tmp_path / "Sea" / "Reefs" / "gone.txt").symlink_to("nowhere")
    (tmp_path / "Sea" / "Reefs" / "binary.txt").write_bytes(bytes(range(256)))
    corpus = read([str(tmp_path)], no_pages, progress)
    assert {
        "files outside of class directories": 1,
        "neither HTML nor text": 1,
        "pages without text": 1,
        "neither files nor directories": 1,
    } == corpus.left_out


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_read_directory_counts_unreadable_files(tmp_path: Path) -> None:
    write(tmp_path, {"Sea/Reefs": 2, "Trains": 1})
    (tmp_path / "Sea" / "Reefs" / "0.html").chmod(0)
    (tmp_path / "Trains").chmod(0)
    try:
        corpus = read([str(tmp_path)], no_pages, progress)
    finally:
        (tmp_path / "Trains").chmod(0o700)
    assert {"files that can't be read": 1, "directories that can't be read": 1} == corpus.left_out


def test_read_directory_counts_disk_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"Sea/Reefs": 1, "Trains": 1})
    real = open

    def failing(name: object, *more: object) -> object:
        if "Trains" in str(name):
            raise OSError(5, "Input/output error")
        return real(name, *more)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", failing)
    corpus = Corpus()
    read_directory(tmp_path, corpus, progress)
    assert ({"Sea/Reefs": 1}, {"files that can't be read": 1}) == (labels(corpus), corpus.left_out)


def test_read_directory_ends_on_link_cycles(tmp_path: Path) -> None:
    write(tmp_path, {"Sea/Reefs": 2})
    (tmp_path / "Sea" / "again").symlink_to(tmp_path)
    (tmp_path / "Self").symlink_to(tmp_path / "Self")
    corpus = read([str(tmp_path)], no_pages, progress)
    assert {"Sea/Reefs": 2} == labels(corpus)
    assert {"directories that are linked twice": 1, "neither files nor directories": 1} == corpus.left_out


def test_read_directory_accepts_names_that_are_not_utf_8(tmp_path: Path) -> None:
    directory = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(directory)
    with open(os.path.join(directory, b"a.txt"), "w") as file:
        file.write("coffee and cake")
    assert {"caf?": 1} == labels(read([str(tmp_path)], no_pages, progress))


def test_read_directory_without_pages_raises(tmp_path: Path) -> None:
    with raises_input_error("no-pages", "no directories with"):
        read([str(tmp_path)], no_pages, progress)


@pytest.mark.parametrize(
    ("source", "message"), [("nowhere", "nowhere does not exist$"), ("http://a.test/", "into a table$")]
)
def test_read_missing_source_raises(source: str, message: str) -> None:
    with raises_input_error("missing-file", message):
        read([source], no_pages, progress)


def table(tmp_path: Path, content: str | bytes, column: str = "") -> tuple[Rows, Corpus]:
    (tmp_path / "t.tsv").write_bytes(content.encode() if isinstance(content, str) else content)
    corpus = Corpus()
    return read_table(tmp_path / "t.tsv", corpus, column), corpus


@pytest.mark.parametrize(
    "content",
    [
        "http://a.test/1\tSea\nhttp://a.test/2\tTrains\n",
        "url\tclass\nhttp://a.test/1\tSea\nhttp://a.test/2\tTrains",
        "\ufeffurl\tclass\r\nhttp://a.test/1\tSea\r\n\r\nhttp://a.test/2\tTrains\r\n",
        "http://A.test/1#top\t Sea/ \nhttp://a.test/1\tSea\nhttp://a.test/2\tTrains\tmore\n",
    ],
)
def test_read_table_accepts_all_formats(content: str, tmp_path: Path) -> None:
    rows, corpus = table(tmp_path, content)
    assert [("http://a.test/1", "Sea"), ("http://a.test/2", "Trains")] == rows
    assert not corpus.left_out
    assert not corpus.notes


def test_read_table_lines_end_at_newlines_only(tmp_path: Path) -> None:
    rows, _ = table(tmp_path, "http://a.test/1\tSea\u2028Side\nhttp://a.test/2\tNew\u0085Age\n")
    assert 2 == len(rows)


@pytest.mark.parametrize(("column", "found"), [("", "a"), ("2", "a"), ("3", "b"), ("genre", "b"), ("class", "a")])
def test_read_table_reads_named_column(column: str, found: str, tmp_path: Path) -> None:
    rows, _ = table(tmp_path, "url\tclass\tgenre\nhttp://a.test/\ta\tb\n", column)
    assert [("http://a.test/", found)] == rows


@pytest.mark.paper("rules-partition")
def test_read_table_first_class_counts(tmp_path: Path) -> None:
    rows, corpus = table(tmp_path, "http://a.test/\tSea\nhttp://a.test/\tTrains\nhttp://a.test/\tArt\n")
    assert [("http://a.test/", "Sea")] == rows
    assert "2 further classes of pages are ignored" in corpus.notes[0]


def test_read_table_counts_incomplete_rows(tmp_path: Path) -> None:
    rows, corpus = table(
        tmp_path, b"http://a.test/\tSea\nnothing\tSea\nhttp://b.test/\t//\nhttp://c.test/\nhttp://[\tx\n\xff\tSea\n"
    )
    assert 1 == len(rows)
    assert {"rows without a URL or a class": 5} == corpus.left_out


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        ("", "", "has no URL with a class"),
        ("url\tclass\n", "", "has no URL with a class"),
        ("http://a.test/,Sea\n", "", "write a URL, a tab and a class on each line"),
        ("url\tclass\nhttp://a.test/\tSea\n", "genre", "no column 'genre'; available: class"),
        ("http://a.test/\tSea\n", "genre", "it has no titles: give a number from 2 on"),
        ("http://a.test/\tSea\n", "1", "no column '1'"),
        ("http://a.test/\tSea\n", "9", "has no URL with a class"),
        ("\x00\x01\x02", "", "has no URL with a class"),
    ],
)
def test_read_table_without_usable_rows_raises(content: str, column: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        table(tmp_path, content, column)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(seed=7, pages=200, hosts=6, traps=()), record=False) as serving:
        yield serving


@pytest.fixture(scope="module")
def crawl(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    out = tmp_path_factory.mktemp("crawls") / "crawl"
    seeds = [next(iter(server.web.urls()))]
    found = [
        visit.node
        for visit in lycosa.crawl("coral reef", seeds, out=out, budget=30, delay=0, allow_network="127.0.0.0/8")
        if visit.is_page
    ]
    assert len(found) > 8
    return out, found


def test_recorded_pages_reads_archive_directory_or_crawl(crawl: tuple[Path, list[str]], tmp_path: Path) -> None:
    out, found = crawl
    rows = [*((url, "ab"[n % 2]) for n, url in enumerate(found)), ("http://elsewhere.test/", "a")]
    (tmp_path / "t.tsv").write_text("".join(f"{url}\t{label}\n" for url, label in rows))
    for place in (out, out / "archive", next((out / "archive").glob("*.warc.gz"))):
        corpus = read([str(tmp_path / "t.tsv")], recorded_pages(place), progress)
        assert found == [page.name for page in corpus.pages]
        assert {f"not in {place}": 1} == corpus.left_out


def test_recorded_pages_of_missing_archive_raises(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("http://a.test/\tSea\n")
    with raises_input_error("missing-file", "does not exist"):
        read([str(tmp_path / "t.tsv")], recorded_pages(tmp_path / "nowhere"), progress)
    (tmp_path / "x.warc").write_text("no archive")
    with raises_input_error("bad-file"):
        read([str(tmp_path / "t.tsv")], recorded_pages(tmp_path / "x.warc"), progress)


def test_read_crawl_returns_labelled_pages(crawl: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    out, found = crawl
    with raises_input_error("no-labels", "has no labels"):
        read([str(out)], no_pages, progress)
    give_label(out, yes=found[:4])
    give_label(out, no=found[3:7])
    corpus = read([str(out)], no_pages, progress)
    assert {"relevant": 3, "irrelevant": 4} == labels(corpus)
    archived = Corpus()
    for url, page in recorded_pages(out)(found[:7], archived, progress):
        archived.add("x", url, page)
    words = {
        one.name: {archived.vocabulary.terms[n]: c for n, c in zip(one.terms.ids, one.terms.counts, strict=True)}
        for one in archived.pages
    }
    for labelled in corpus.pages:
        counts = {corpus.vocabulary.terms[n]: c for n, c in zip(labelled.terms.ids, labelled.terms.counts, strict=True)}
        assert words[labelled.name] == counts


def test_read_crawl_without_log_raises(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    with raises_input_error("no-pages", "nothing has been crawled in .* yet"):
        read([str(tmp_path)], no_pages, progress)


def test_read_joins_several_sources(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", {"Sea/Reefs": 2}), write(tmp_path / "two", {"Sea/Reefs": 3, "Trains": 1})
    assert {"Sea/Reefs": 5, "Trains": 1} == labels(read([str(one), str(two)], no_pages, progress))
    assert text("Trains", 0) != text("Trains", 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("http://a.example/\tx\n".encode("utf-16"), "not UTF-8 text, but UTF-16: save it as UTF-8"),
        (b"http://a.example/\t" + b"x" * 1_000_001, "a line of more than 1,000,000 bytes"),
        (b"http://a.example/\t" + b"x" * 1_001, "no URL with a class of 1,000 characters or fewer"),
    ],
)
def test_read_table_rejects_invalid_files(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "t.tsv", Corpus())


def test_read_table_column_missing_in_all_rows_raises(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("http://a.example/\tx\n")
    with raises_input_error("empty-file", "class in column"):
        read_table(tmp_path / "t.tsv", Corpus(), "9")


def test_read_table_drops_long_class_names(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text(f"http://a.example/\t{'x' * 1000}\nhttp://b.example/\t{'x' * 1001}\n")
    corpus = Corpus()
    assert [("http://a.example/", "x" * 1000)] == read_table(tmp_path / "t.tsv", corpus)
    assert {"rows with a class of more than 1,000 characters": 1} == corpus.left_out


def test_read_table_accepts_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("http://a.example/\tx\n",))
    writer.start()
    assert [("http://a.example/", "x")] == read_table(tmp_path / "pipe", Corpus())
    writer.join()


def test_read_empty_source_name_raises() -> None:
    with raises_input_error("missing-file", "'' does not"):
        read([""], no_pages, progress)


def test_recorded_pages_do_not_open_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.warc")
    with raises_input_error("bad-file", "a pipe or"):
        next(recorded_pages(tmp_path / "a.warc")(["http://a.example/"], Corpus(), progress))
