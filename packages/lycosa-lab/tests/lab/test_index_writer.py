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

from input_errors import raises_input_error
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Page
from lycosa.training.corpus import Account
from lycosa.training.sources import page_of
from lycosa.web.html import extract
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.judgements import Judgements
from three_pages import GONE, OLD, A, B, C, page, web


def test_write_index_resolves_links(tmp_path: Path) -> None:
    account = Account()
    index = write_index(web(), tmp_path / "x", source="three pages", account=account)
    assert [A, B, C] == list(index.names)
    assert [[1, 2], [], [1]] == [index.children(node).tolist() for node in range(3)]
    # a has six links, one dead and one to itself; of the other four, b and old (b) are one child, and c is another.
    assert [0, 0, 1, 0] == index.link_slot[:4].tolist()
    assert [1, 3, 4, 5] == index.link_at[:4].tolist()
    assert {"links": 7, "dead": 1, "to_itself": 1} == {k: index.facts[k] for k in ("links", "dead", "to_itself")}
    assert {"pages recorded more than once": 1} == account.left_out


def test_write_index_keeps_link_paths(tmp_path: Path) -> None:
    html = f"<p><a href={GONE}>x</a><ul id=nav><li><a href={B}>b</a></ul><a class=ref href={C}>c</a>"
    pages = [RecordedPage(A, page_of(extract(html.encode(), A))), page(B), page(C)]
    index = write_index(pages, tmp_path / "x", source="pages")
    expected = ["html body ul#nav li a", "html body a.ref"]
    assert expected == index.page(0).links.paths
    assert expected == Judgements(index, np.zeros(3), np.zeros(2, np.float32)).visit(0, 1).links.paths


def test_write_index_children_in_page_order(tmp_path: Path) -> None:
    index = write_index([page(A), page(B), page(C, B, A, B)], tmp_path / "x", source="pages")
    assert ([1, 0], [0, 1, 0]) == (index.children(2).tolist(), index.link_slot.tolist())


def test_write_index_page_takes_precedence_over_redirect(tmp_path: Path) -> None:
    pages = [page(A, OLD, B), RecordedPage(OLD, target=B), page(B), RecordedPage(B, target=C), page(C)]
    assert [1] == write_index(pages, tmp_path / "x", source="s").children(0).tolist()


def test_write_index_redirect_loops_are_dead(tmp_path: Path) -> None:
    pages = [page(A, OLD, C, B), RecordedPage(OLD, target=C), RecordedPage(C, target=OLD), RecordedPage(B, target=GONE)]
    index = write_index(pages, tmp_path / "x", source="a circle")
    assert (1, 3, 0) == (len(index), index.facts["dead"], len(index.child))


def test_write_index_fingerprint_depends_on_content(tmp_path: Path) -> None:
    prints = [
        write_index(pages, tmp_path / str(n), source=f"source {n}", labels=labels).fingerprint
        for n, (pages, labels) in enumerate(
            [(web(), {}), (web(), {}), (web()[:-2], {}), (web(), {A: ["x"]}), (web(), {A: ["y"]})]
        )
    ]
    assert prints[0] == prints[1]
    assert 4 == len(set(prints))


def test_write_index_counts_unknown_labels(tmp_path: Path) -> None:
    account = Account()
    index = write_index(web(), tmp_path / "x", source="s", labels={A: ["p/q", "r"], GONE: ["r"]}, account=account)
    assert ["p", "p/q", "r"] == index.branches()
    assert [True, False, False] == index.of_class("p").tolist() == index.of_class("r").tolist()
    assert 1 == account.left_out["labels of URLs that are not pages of the corpus"]
    with raises_input_error("unknown-page", "none of 1 labels"):
        write_index(web(), tmp_path / "y", source="s", labels={GONE: ["r"]})
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_write_index_without_pages_is_error(tmp_path: Path) -> None:
    account = Account()
    account.left_out["neither HTML nor text"] = 7
    with raises_input_error("nothing-to-do", "no pages: 7 neither HTML nor text"):
        write_index([RecordedPage(A, target=B)], tmp_path / "x", source="s", account=account)


def test_write_index_never_replaces_other_files(tmp_path: Path) -> None:
    directory, file = tmp_path / "mine", tmp_path / "file"
    directory.mkdir()
    (directory / "thesis.txt").write_text("years of work")
    file.write_text("more work")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    def never() -> Iterator[RecordedPage]:
        raise AssertionError("it was read")
        yield

    for out in (directory, file, tmp_path / "link"):
        with raises_input_error("file-exists"):
            write_index(never(), out, source="s")
    assert ("years of work", "more work") == ((directory / "thesis.txt").read_text(), file.read_text())


def test_write_index_keeps_foreign_files(tmp_path: Path) -> None:
    write_index(web(), tmp_path / "x", source="s")
    (tmp_path / "x" / "notes.txt").write_text("mine")
    with raises_input_error("file-exists", r"notes\.txt"):
        write_index([page(A)], tmp_path / "x", source="s")
    assert (tmp_path / "x" / "notes.txt").read_text() == "mine"


def test_write_index_replaces_old_index(tmp_path: Path) -> None:
    old = write_index(web(), tmp_path / "x", source="old")
    write_index([page(A)], tmp_path / "x", source="new")
    assert [1, 2] == old.children(0).tolist()
    assert "new" == CorpusIndex.open(tmp_path / "x").facts["source"]
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_write_index_failure_keeps_old_index(tmp_path: Path) -> None:
    def failing() -> Iterator[RecordedPage]:
        yield page(A)
        raise InputError("unreadable-file", "the source broke")

    before = write_index(web(), tmp_path / "x", source="old").fingerprint
    with raises_input_error("unreadable-file", "broke"):
        write_index(failing(), tmp_path / "x", source="new")
    assert before == CorpusIndex.open(tmp_path / "x").fingerprint
    assert ["x"] == [found.name for found in tmp_path.iterdir()]


def test_write_index_full_disk_is_store_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        write_index(web(), tmp_path / "x", source="s")
    assert [] == list(tmp_path.iterdir())


def test_write_index_unwritable_directory_is_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another --out"):
        write_index(web(), tmp_path / "file" / "x", source="s")


def test_write_index_killed_leaves_no_index(tmp_path: Path) -> None:
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
        with raises_input_error("not-an-index"):
            CorpusIndex.open(place)
    write_index(web(), out, source="s")
    assert 3 == len(CorpusIndex.open(out))


def test_write_index_keeps_unusual_characters(tmp_path: Path) -> None:
    odd = RecordedPage(A, Page("ok", title="a\u2028b\ud800", marked="c\x85d"))
    index = write_index([odd], tmp_path / "x", source="s")
    assert ("a\u2028b?", "c\x85d") == (index.page(0).title, index.page(0).marked)
