from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.types import Judgement, Links, Page, Visit
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.judgements import Judgements, judgements_for, learning_reason
from lycosa_lab.preparation import prepare
from lycosa_lab.subjects import HuntSubject, subjects_of


class Learner:
    """Judge that learns from pages."""

    threshold = 0.5

    def __init__(self, words: str = "") -> None:
        self.seen = 0

    def judge(self, page: Page, reading: object) -> Judgement:
        return Judgement(float(self.seen), np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        self.seen += 1


class Steady(Learner):
    def learn(self, visit: Visit) -> None:
        pass


@pytest.fixture
def reefs(tmp_path: Path) -> tuple[CorpusIndex, HuntSubject]:
    links = Links.to(
        "http://a.example/b", "http://a.example/b", "http://a.example/c", anchors=["coral", "home", "rail"]
    )
    pages = [
        RecordedPage("http://a.example/a", Page("ok", marked="coral reef", links=links)),
        RecordedPage("http://a.example/b", Page("ok", marked="coral rail")),
        RecordedPage("http://a.example/c", Page("ok", marked="rail")),
    ]
    index = write_index(pages, tmp_path / "index", source="test")
    return index, HuntSubject("x", np.array([1, 1, 0], np.float32), "coral", (0,))


def same(one: Judgements, other: Judgements) -> bool:
    assert (one.links is None) == (other.links is None)
    return (
        one.relevance.tolist() == other.relevance.tolist()
        and one.alpha.tolist() == other.alpha.tolist()
        and (one.links is None or other.links is None or one.links.tolist() == other.links.tolist())
        and {name: column.tolist() for name, column in one.facets.items()}
        == {name: column.tolist() for name, column in other.facets.items()}
        and (one.data, one.threshold) == (other.data, other.threshold)
    )


def test_judgements_for_words_by_hand(reefs: tuple[CorpusIndex, HuntSubject]) -> None:
    """With idf=none, cos(coral, coral reef) = 1 / sqrt 2; for a child the better of its two anchors counts."""
    index, subject = reefs
    guide = judgements_for(index, subject, "words", "vector,idf=none")
    assert [0.707, 0.707, 0.0] == guide.relevance.round(3).tolist()
    assert [1.0, 0.0] == guide.alpha.tolist()
    assert guide.links is not None
    assert [1.0, 0.0, 0.0] == guide.links.tolist()
    assert ["context", "url"] == sorted(guide.facets)


def test_judgements_for_examples_by_hand(reefs: tuple[CorpusIndex, HuntSubject]) -> None:
    index, subject = reefs
    guide = judgements_for(index, subject, "examples")
    assert [1.0, 0.5, 0.0] == guide.relevance.round(3).tolist()


def test_judgements_for_model_agree_with_labels(web: CorpusIndex, tmp_path: Path) -> None:
    index = web
    (subject,) = subjects_of(index, ["cooking"])
    subject = prepare(index, subject, ["model"], tmp_path)
    guide = judgements_for(index, subject, "model", out=tmp_path)
    counted = ~subject.seen
    found = guide.relevance[counted] >= guide.threshold
    assert 0.5 == guide.threshold
    assert (subject.truth[counted][found]).mean() > 0.8  # .98 here
    assert len(index) == len(guide.data)
    assert same(guide, judgements_for(index, subject, "model", out=tmp_path))


def test_judgements_for_reads_cached_file(
    reefs: tuple[CorpusIndex, HuntSubject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, subject = reefs
    guide = judgements_for(index, subject, "words", out=tmp_path)
    (file,) = (tmp_path / "guides").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert same(guide, judgements_for(index, subject, "words", out=tmp_path))
    assert len(whole) == file.stat().st_size
    judgements_for(index, replace(subject, words="rail"), "words", out=tmp_path)
    judgements_for(index, subject, "words", "vector,idf=none", out=tmp_path)
    judgements_for(index, subject, "words", wants=(), out=tmp_path)
    assert 4 == len(list((tmp_path / "guides").iterdir()))
    monkeypatch.setattr("lycosa_lab.judgements._judge_all", None)
    assert same(guide, judgements_for(index, subject, "words", out=tmp_path))


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        ("vector", "write vector,idf=background"),
        ("vector,idf=learned", "write vector,idf=background"),
        ("corley-mihalcea", "write corley-mihalcea,idf=background"),
        ("embedding", "learns from the pages it sees"),
        ("test_judgements:Learner", "learns from the pages it sees"),
    ],
)
def test_learning_judges_are_rejected_with_reason(
    reefs: tuple[CorpusIndex, HuntSubject], judge: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with raises_input_error("learning-judge", reason):
        judgements_for(*reefs, "words", judge)


@pytest.mark.parametrize("judge", ["vector,idf=none", "keyword", "word-frequency", "model", "test_judgements:Steady"])
def test_learning_reason_is_empty_for_static_judges(judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert "" == learning_reason(judge)


def test_judgements_for_score_equal_scores() -> None:
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 0.5}, alpha={("a", "b"): 0.25})
    (subject,) = subjects_of(index)
    guide = judgements_for(index, subject, "score")
    assert ([0.0, 0.5], [0.25]) == (guide.relevance.tolist(), guide.alpha.tolist())


def test_judgements_for_missing_description_is_error(reefs: tuple[CorpusIndex, HuntSubject]) -> None:
    index, subject = reefs
    graph = CorpusIndex.of({"a": ["b"]}, score={"b": 1})
    for corpus, topic, description, code in (
        (index, subject, "rumours", "unknown-name"),
        (index, subject, "model", "missing-model"),
        (index, subject, "score", "no-scores"),
        (index, replace(subject, words=""), "words", "missing-topic"),
        (index, replace(subject, examples=()), "examples", "missing-examples"),
        (graph, subject, "words", "no-text"),
    ):
        with raises_input_error(code):
            judgements_for(corpus, topic, description)
    with raises_input_error("conflicting-options"):
        judgements_for(graph, subject, "score", "keyword")
