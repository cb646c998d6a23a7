"""An index: what is in it, what becomes of damage, and of a process that is killed while it makes one."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Page
from lycosa.training.corpus import Account
from lycosa.training.sources import page_of
from lycosa.web.html import extract
from lycosa_lab.corpus_index import COLUMNS, FACTS, NAMES, STEMS, TEXTS, CorpusIndex
from lycosa_lab.index_writer import RecordedPage, save_index, unfinished_index, write_index
from lycosa_lab.judgements import Judgements

A, B, C, GONE, OLD = (f"http://a.test/{name}" for name in ("a", "b", "c", "gone", "old"))


def page(url: str, *links: str, text: str = "coral reefs") -> RecordedPage:
    """A page with links, whose anchors are their numbers."""
    html = f"<title>{url}</title><p>{text} " + " ".join(f"<a href={to}>link {n}</a>" for n, to in enumerate(links))
    return RecordedPage(url, page_of(extract(html.encode(), url)))


def web() -> list[RecordedPage]:
    """Three pages; b can also be reached by way of a redirect."""
    return [
        page(A, GONE, B, A, OLD, C, B),
        RecordedPage(OLD, target=B),
        page(B, text="bleached corals of the reef"),
        page(C, OLD),
        page(A, C),
    ]


def test_links_lead_to_nodes(tmp_path: Path) -> None:
    """Redirects are followed, dead links and those to the page itself are counted and left out, children come once."""
    account = Account()
    index = write_index(web(), tmp_path / "x", source="three pages", account=account)
    assert [A, B, C] == list(index.names)
    assert [[1, 2], [], [1]] == [index.children(node).tolist() for node in range(3)]
    # a has six links: one dead, one to itself; of the four others b, old (b), b are one child, c another.
    assert [0, 0, 1, 0] == index.link_slot[:4].tolist()
    assert [1, 3, 4, 5] == index.link_at[:4].tolist()
    assert {"links": 7, "dead": 1, "to_itself": 1} == {k: index.facts[k] for k in ("links", "dead", "to_itself")}
    assert {"pages recorded more than once": 1} == account.left_out


def test_links_keep_their_paths(tmp_path: Path) -> None:
    """Of the links that lead to nodes, by page and by simulated visit."""
    html = f"<p><a href={GONE}>x</a><ul id=nav><li><a href={B}>b</a></ul><a class=ref href={C}>c</a>"
    pages = [RecordedPage(A, page_of(extract(html.encode(), A))), page(B), page(C)]
    index = write_index(pages, tmp_path / "x", source="pages")
    expected = ["html body ul#nav li a", "html body a.ref"]
    assert expected == index.page(0).links.paths
    assert expected == Judgements(index, np.zeros(3), np.zeros(2, np.float32)).visit(0, 1).links.paths


def test_a_page_comes_back_as_it_was(tmp_path: Path) -> None:
    """Title, text and anchors are those of the page; links that lead out are gone."""
    recorded = page(A, GONE, B, C)
    index = write_index([recorded, page(B), page(C)], tmp_path / "x", source="pages")
    found = index.page(0)
    assert recorded.page is not None
    assert (recorded.page.title, recorded.page.marked) == (found.title, found.marked)
    assert ([B, C], ["link 1", "link 2"]) == (found.links.urls, found.links.anchors)
    assert ["coral", "reef"] == [index.stems[n] for n in index.terms(1).ids.tolist()][-2:]


def test_children_are_in_page_order(tmp_path: Path) -> None:
    """They come as the page first names them, whatever their numbers are."""
    index = write_index([page(A), page(B), page(C, B, A, B)], tmp_path / "x", source="pages")
    assert ([1, 0], [0, 1, 0]) == (index.children(2).tolist(), index.link_slot.tolist())


def test_a_page_counts_before_a_redirect(tmp_path: Path) -> None:
    """Of an address that was a page once and a redirect once, links lead to the page, by way of others too."""
    pages = [page(A, OLD, B), RecordedPage(OLD, target=B), page(B), RecordedPage(B, target=C), page(C)]
    assert [1] == write_index(pages, tmp_path / "x", source="s").children(0).tolist()


def test_redirects_that_lead_in_circles_are_dead(tmp_path: Path) -> None:
    """A circle of redirects ends nowhere, and so does one that leads out of the corpus."""
    pages = [page(A, OLD, C, B), RecordedPage(OLD, target=C), RecordedPage(C, target=OLD), RecordedPage(B, target=GONE)]
    index = write_index(pages, tmp_path / "x", source="a circle")
    assert (1, 3, 0) == (len(index), index.facts["dead"], len(index.child))


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    """The same pages give the same fingerprint, other pages or classes another."""
    prints = [
        write_index(pages, tmp_path / str(n), source=f"source {n}", labels=labels).fingerprint
        for n, (pages, labels) in enumerate(
            [(web(), {}), (web(), {}), (web()[:-2], {}), (web(), {A: ["x"]}), (web(), {A: ["y"]})]
        )
    ]
    assert prints[0] == prints[1]
    assert 4 == len(set(prints))


def test_labels_of_unknown_addresses(tmp_path: Path) -> None:
    """They are counted; where all are unknown, that is an error and there is no index."""
    account = Account()
    index = write_index(web(), tmp_path / "x", source="s", labels={A: ["p/q", "r"], GONE: ["r"]}, account=account)
    assert ["p", "p/q", "r"] == index.branches()
    assert [True, False, False] == index.of_class("p").tolist() == index.of_class("r").tolist()
    assert 1 == account.left_out["labels of addresses that are no pages of the corpus"]
    with pytest.raises(InputError, match="none of the 1 labels"):
        write_index(web(), tmp_path / "y", source="s", labels={GONE: ["r"]})
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_branches_have_the_pages_of_all_classes_below_them(tmp_path: Path) -> None:
    """A page of two classes of one branch counts once there; names that only begin alike are other classes."""
    classes = (["a/b", "a/c"], ["a"], ["a-b", "a/b/c"], ["a0", "ab"], [])
    pages = [RecordedPage(f"http://x/{n}", Page("ok", marked="w"), classes=names) for n, names in enumerate(classes)]
    index = write_index(pages, tmp_path / "i", source="test")
    expected = {"a": 3, "a-b": 1, "a/b": 2, "a/b/c": 1, "a/c": 1, "a0": 1, "ab": 1}
    assert expected == index.sizes()
    assert expected == {name: int(index.of_class(name).sum()) for name in index.branches()}
    assert [True, True, True, False, False] == index.of_class("a").tolist()
    assert not index.of_class("b").any()


def test_no_pages_is_an_error(tmp_path: Path) -> None:
    """The message says what was left out."""
    account = Account()
    account.left_out["neither HTML nor text"] = 7
    with pytest.raises(InputError, match="no pages: 7 neither HTML nor text"):
        write_index([RecordedPage(A, target=B)], tmp_path / "x", source="s", account=account)


def test_nodes_without_names_are_called_by_their_numbers(tmp_path: Path) -> None:
    """A graph without names can be listed, looked up and asked from its end."""
    with unfinished_index(tmp_path / "x") as beside:
        start = np.array([0, 1, 2, 2], np.int64)
        columns = {"child": np.array([1, 2], np.int32), "child_start": start, "link_start": start}
        index = save_index(beside, tmp_path / "x", columns, [], [], {"source": "numbers"})
    assert ["0", "1", "2"] == list(index.names) == index.names[:]
    assert (3, "2", 1) == (len(index.names), index.names[-1], index.number_of["1"])
    with pytest.raises(IndexError, match="no node 3"):
        index.names[3]


# -- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*(f"{column}.npy" for column in COLUMNS), NAMES, TEXTS, STEMS, FACTS])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """An index without one of its files can't be opened, and the error says which."""
    write_index(web(), tmp_path / "x", source="s")
    (tmp_path / "x" / name).unlink()
    with pytest.raises(InputError, match=f"not an index .{name} is missing"):
        CorpusIndex.open(tmp_path / "x")


@pytest.mark.parametrize("keep", [0, 5, 100, 0.5, 0.95])
@pytest.mark.parametrize("name", ["child.npy", "child_start.npy", "term.npy", "text_start.npy", NAMES, TEXTS, FACTS])
def test_a_file_that_is_cut_is_an_error(tmp_path: Path, name: str, keep: float) -> None:
    """Wherever a file is cut, the index is not opened."""
    write_index(web(), tmp_path / "x", source="s", labels={A: ["x"]})
    file = tmp_path / "x" / name
    content = file.read_bytes()
    cut = int(keep if keep >= 1 else keep * len(content))
    if cut >= len(content):
        cut = len(content) - 1
    file.write_bytes(content[:cut])
    with pytest.raises(InputError, match="lycosa lab index"):
        CorpusIndex.open(tmp_path / "x")


@pytest.mark.parametrize(
    "facts", ["[]", "null", "{}", '{"format": 99}', "not json", "\xff", '{"format": 1, "classes": 3}', "[" * 100_000]
)
def test_facts_that_are_none_are_an_error(tmp_path: Path, facts: str) -> None:
    """So does anything else than the facts of an index of this version."""
    write_index(web(), tmp_path / "x", source="s")
    (tmp_path / "x" / FACTS).write_text(facts, encoding="latin-1")
    with pytest.raises(InputError, match="lycosa lab index"):
        CorpusIndex.open(tmp_path / "x")


def test_columns_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    """Columns of another type, another shape or another length are refused."""
    for number, (name, column) in enumerate(
        {
            "child": np.zeros(3, np.int64), "score": np.zeros(2, np.float32), "count": np.zeros(1, np.uint16),
            "link_start": np.zeros(4, np.int64), "simhash": np.zeros((3, 1), np.uint64),
        }.items()
    ):  # fmt: skip
        path = tmp_path / str(number)
        write_index(web(), path, source="s")
        np.save(path / f"{name}.npy", column)
        with pytest.raises(InputError, match=name):
            CorpusIndex.open(path)


def test_damaged_texts_and_words_are_errors(tmp_path: Path) -> None:
    """What only shows when it is read is an error then, and not a crash."""
    write_index(web(), tmp_path / "x", source="s")
    for name in (TEXTS, STEMS):
        file = tmp_path / "x" / name
        file.write_bytes(b"\xc1" * file.stat().st_size)
    index = CorpusIndex.open(tmp_path / "x")
    with pytest.raises(InputError, match="page 0"):
        index.page(0)
    with pytest.raises(InputError, match="words"):
        index.stems  # noqa: B018


# -- making one ------------------------------------------------------------------------------------------------------


def test_what_is_no_index_is_never_replaced(tmp_path: Path) -> None:
    """A directory, a file or a link that is something else is refused before anything is read, and left as it is."""
    directory, file = tmp_path / "mine", tmp_path / "file"
    directory.mkdir()
    (directory / "thesis.txt").write_text("years of work")
    file.write_text("more work")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    def never() -> Iterator[RecordedPage]:
        raise AssertionError("it was read")
        yield

    for out in (directory, file, tmp_path / "link"):
        with pytest.raises(InputError, match="not an index"):
            write_index(never(), out, source="s")
    assert ("years of work", "more work") == ((directory / "thesis.txt").read_text(), file.read_text())


def test_a_new_index_takes_the_place_of_the_old(tmp_path: Path) -> None:
    """It does so when it is complete; whoever has the old one open goes on reading it."""
    old = write_index(web(), tmp_path / "x", source="old")
    write_index([page(A)], tmp_path / "x", source="new")
    assert [1, 2] == old.children(0).tolist()
    assert "new" == CorpusIndex.open(tmp_path / "x").facts["source"]
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_an_error_leaves_the_old_index(tmp_path: Path) -> None:
    """A source that fails half-way leaves what was there before, and nothing beside it."""

    def failing() -> Iterator[RecordedPage]:
        yield page(A)
        raise InputError("the source broke")

    before = write_index(web(), tmp_path / "x", source="old").fingerprint
    with pytest.raises(InputError, match="broke"):
        write_index(failing(), tmp_path / "x", source="new")
    assert before == CorpusIndex.open(tmp_path / "x").fingerprint
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_a_full_disk_is_a_store_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the index and what to do; nothing is left behind."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        write_index(web(), tmp_path / "x", source="s")
    assert [] == list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    """A file where a directory should be is told."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="name another --out"):
        write_index(web(), tmp_path / "file" / "x", source="s")


def test_a_killed_process_leaves_no_index(tmp_path: Path) -> None:
    """What kill -9 leaves can't be opened as an index; the next run finishes."""
    program = (
        "import os, signal, sys; from pathlib import Path; from lycosa_lab.corpora.recorded import embedded\n"
        "from lycosa_lab.index_writer import write_index\n"
        "def pages():\n"
        "    for number, page in enumerate(embedded(7, 60, 3)):\n"
        "        if number == 40: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        yield page\n"
        "write_index(pages(), Path(sys.argv[1]), source='killed')"
    )
    out = tmp_path / "x"
    done = subprocess.run([sys.executable, "-c", program, str(out)], check=False)
    assert -signal.SIGKILL == done.returncode
    (part,) = os.listdir(tmp_path)
    for place in (out, tmp_path / part):
        with pytest.raises(InputError, match="not an index"):
            CorpusIndex.open(place)
    write_index(web(), out, source="s")
    assert 3 == len(CorpusIndex.open(out))


def test_texts_with_anything_in_them_can_be_kept(tmp_path: Path) -> None:
    """Separators and lone surrogates do not stop an index."""
    odd = RecordedPage(A, Page("ok", title="a\u2028b\ud800", marked="c\x85d"))
    index = write_index([odd], tmp_path / "x", source="s")
    assert ("a\u2028b?", "c\x85d") == (index.page(0).title, index.page(0).marked)
