from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa_lab.preparation as preparing
from lycosa.core.types import Links, Page
from lycosa.judges.model import TrainedModel
from lycosa.strategies.rulebook import RuleBook
from lycosa.text.browsing import Browsing
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.preparation import BROWSING_SHARE, TRAINING_SHARE, address, node_of, prepare
from lycosa_lab.subjects import HuntSubject, subjects_of

EVERYTHING = ("examples", "model", "rules", "browsing")


@pytest.fixture(scope="session")
def prepared(
    web: CorpusIndex, tmp_path_factory: pytest.TempPathFactory
) -> tuple[HuntSubject, HuntSubject, Path, set[int]]:
    """Prepare a subject; return it before and after, its directory, and all pages read meanwhile."""
    out = tmp_path_factory.mktemp("prepared")
    (subject,) = subjects_of(web, ["cooking"])
    looked: set[int] = set()
    read = CorpusIndex.page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CorpusIndex, "page", lambda self, node: looked.add(int(node)) or read(self, node))
        done = prepare(web, subject, EVERYTHING, out)
    return subject, done, out, looked


Prepared = tuple[HuntSubject, HuntSubject, Path, set[int]]


def test_prepare_marks_every_page_read_as_seen(prepared: Prepared) -> None:
    _, done, _, looked = prepared
    assert looked
    assert set() == looked - set(np.flatnonzero(done.seen).tolist())


def test_prepare_marks_browsed_pages_as_seen(prepared: Prepared) -> None:
    _, done, _, _ = prepared
    assert done.browsing is not None
    lines = (done.browsing.parent / "record.jsonl").read_text().splitlines()
    assert all(done.seen[node_of(json.loads(line)["url"])] for line in lines)


def test_prepare_leaves_most_relevant_pages_unseen(prepared: Prepared) -> None:
    _, done, _, _ = prepared
    assert done.truth[done.seen].sum() <= BROWSING_SHARE * done.truth.sum()


@pytest.mark.paper("rules-sizes")
def test_prepare_reads_at_most_a_quarter_for_rules(web: CorpusIndex, tmp_path: Path) -> None:
    (subject,) = subjects_of(web, ["railways"])
    done = prepare(web, subject, ["rules"], tmp_path)
    relevant = done.truth > 0
    assert done.seen[relevant].sum() <= TRAINING_SHARE * relevant.sum()
    assert done.seen[~relevant].sum() <= TRAINING_SHARE * (~relevant).sum()
    assert done.model is not None
    assert done.browsing is None


def test_prepare_makes_files_of_strategies(prepared: Prepared) -> None:
    _, done, _, _ = prepared
    assert done.model is not None
    assert done.rules is not None
    assert done.browsing is not None
    model = TrainedModel.load(done.model)
    assert ("cooking",) == done.targets
    assert "cooking" in model.classes
    assert not any(name.startswith("cooking/") for name in model.classes)
    assert {"cooking"} == RuleBook.load(done.rules).wanted(["cooking"])
    browsing = Browsing.load(done.browsing)
    output = {node_of(url) for url, good in zip(browsing.urls, browsing.relevant.tolist(), strict=True) if good}
    assert output
    assert done.truth[sorted(output)].all()


def test_prepare_does_not_modify_subject(prepared: Prepared) -> None:
    subject, done, _, _ = prepared
    assert subject.model is None
    assert len(subject.examples) == subject.seen.sum() < done.seen.sum()
    assert [] == subject.notes


def test_prepare_second_call_is_cached(web: CorpusIndex, prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, done, out, _ = prepared
    for trainer in ("train", "train_rules", "train_browse"):
        monkeypatch.setattr(preparing, trainer, None)
    again = prepare(web, subject, EVERYTHING, out)
    assert (done.model, done.rules, done.browsing) == (again.model, again.rules, again.browsing)
    assert done.seen.tolist() == again.seen.tolist()
    assert done.notes == again.notes


def test_prepare_cache_depends_on_seed_and_examples(web: CorpusIndex, tmp_path: Path) -> None:
    (subject,) = subjects_of(web, ["cooking"])
    first = prepare(web, subject, ["model"], tmp_path)
    assert first.model != prepare(web, subject, ["model"], tmp_path, random_seed=1).model
    assert first.model != prepare(web, replace(subject, examples=subject.examples[:1]), ["model"], tmp_path).model


def test_prepare_uses_result_of_faster_process(
    web: CorpusIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (subject,) = subjects_of(web, ["music"])
    make, others = preparing._model, []

    def overtaken(work: Any, folder: Path) -> Any:
        monkeypatch.setattr(preparing, "_model", make)
        monkeypatch.setattr(preparing.os, "getpid", lambda: 1)
        others.append(prepare(web, subject, ["model"], tmp_path))
        return make(work, folder)

    monkeypatch.setattr(preparing, "_model", overtaken)
    done = prepare(web, subject, ["model"], tmp_path)
    assert (others[0].model, others[0].seen.tolist()) == (done.model, done.seen.tolist())
    assert [done.model.parent.name] == [path.name for path in (tmp_path / "prepared").iterdir()]  # type: ignore[union-attr]


def test_prepare_names_need_not_be_urls(tmp_path: Path) -> None:
    pages = [
        RecordedPage(
            f"{kind}/{n}.html",
            Page("ok", marked=f"{words} n{n}", links=Links.to(f"{kind}/{(n + 1) % 40}.html", f"rail/{n}.html")),
            classes=[kind],
        )
        for kind, words in (("sea", "coral reef"), ("rail", "steam train"))
        for n in range(40)
    ]
    index = write_index(pages, tmp_path / "index", source="files")
    (subject,) = subjects_of(index, ["sea"])
    done = prepare(index, subject, ["rules"], tmp_path)
    assert done.model is not None
    assert ["rail", "sea"] == TrainedModel.load(done.model).classes
    assert 7 == node_of(address(7))
    assert -1 == node_of("http://elsewhere.example/")


def test_prepare_model_separates_unlabelled_pages(web_pages: list[RecordedPage], tmp_path: Path) -> None:
    pages = [
        replace(page, classes=[name for name in page.classes if name.startswith("cooking/")]) for page in web_pages
    ]
    index = write_index(pages, tmp_path / "index", source="embedded")
    (subject,) = subjects_of(index, ["cooking"])
    done = prepare(index, subject, ["model"], tmp_path)
    assert done.model is not None
    assert ["cooking", "no class"] == TrainedModel.load(done.model).classes


def test_prepare_graph_without_text_is_lacking(tmp_path: Path) -> None:
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 1})
    (subject,) = subjects_of(index)
    lacking = prepare(index, subject, ["browsing"], tmp_path).lacking
    assert {"browsing": "the corpus has no text to train browsing on"} == lacking
    assert {} == prepare(index, subject, [], tmp_path).lacking
    assert [] == list(tmp_path.iterdir())


def test_prepare_browsing_without_incoming_links_is_lacking(tmp_path: Path) -> None:
    pages = [RecordedPage(f"http://a.example/{n}", Page("ok", marked=f"w{n}", links=Links.to("http://a.example/9")),
                      classes=["x" if n < 8 else "y"]) for n in range(20)]  # fmt: skip
    index = write_index(pages, tmp_path / "index", source="test")
    (subject,) = subjects_of(index, ["x"])
    lacking = prepare(index, subject, ["browsing"], tmp_path / "out").lacking
    assert "no short path leads" in lacking["browsing"]
    assert [] == list((tmp_path / "out" / "prepared").iterdir())
