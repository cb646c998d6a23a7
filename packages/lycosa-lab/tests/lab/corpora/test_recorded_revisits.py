from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.collection.export import export
from lycosa.core.types import Label
from lycosa.explaining.reasons import Reasons
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account, Corpus
from lycosa.training.count_words import documents
from lycosa.training.record import read_crawl as browsed
from lycosa.training.sources import read_crawl as labelled
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpora.recorded import crawl as corpus
from lycosa_lab.corpus_index import CorpusIndex
from revisited_crawl import html, revisited

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a crawl of three pages: one changes and links to a fourth, one vanishes, one moves."""
    path = tmp_path_factory.mktemp("revisits") / "crawl"
    with revisited(path) as result:
        result.seed(A)
        result.page(A, html("A", "Corals of the lagoon."), links=[B, C])
        result.page(B, html("B", "Sponges of the atoll."))
        result.page(C, html("C", "Polyps of the reef."))
        result.unmodified(A, 1)
        result.changed(A, html("A", "Salamanders are none of the sea."), 2, links=[B, D])
        result.gone(B, 3)
        result.moved(C, D, 3)
        result.same(A, html("A", "Salamanders are none of the sea."), 3)
        for node in (A, B, C):
            result.log.append(Label(node, node != C))
    return path


def test_readers_read_revisited_pages_once(crawl: Path, tmp_path: Path) -> None:
    account = Account()
    assert [(A, ""), (B, ""), (C, "")] == [(r.url, r.target) for r in corpus(crawl, account, lambda url: True)]
    record = browsed(crawl, "en", lambda *output: None)
    assert {A, B, C} == set(record.row_of)
    assert {(A, B), (A, C)} == set(record.steps)
    found = Corpus(Vocabulary("en"))
    labelled(crawl, found)
    assert 3 == len(found.pages)
    assert 3 == len(list(documents(crawl)))
    export(crawl, tmp_path / "all.warc.gz")
    make_index([str(tmp_path / "all.warc.gz")], tmp_path / "all.index")
    assert [A, B, C] == list(CorpusIndex.open(tmp_path / "all.index").names)


def test_reasons_know_links_of_new_versions(crawl: Path) -> None:
    with Reasons(crawl) as reasons:
        waiting = reasons.why(D)
        assert "waits" == waiting.state
        assert (A, "page", f"to {D}") in [(parent.node, parent.kind, parent.anchor) for parent in waiting.parents]
        assert "fetched" == reasons.why(B).state
        assert [f"to {C}"] == [parent.anchor for parent in reasons.why(C).parents]  # in the previous version
