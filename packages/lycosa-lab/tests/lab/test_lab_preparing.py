"""What is learned before a crawl: from which pages, by which trainers, and kept how."""

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
from lycosa_lab.preparation import BROWSED, OPEN, address, node_of, prepare
from lycosa_lab.subjects import HuntSubject, subjects_of

EVERYTHING = ("examples", "model", "rules", "browsing")


@pytest.fixture(scope="session")
def prepared(
    web: CorpusIndex, tmp_path_factory: pytest.TempPathFactory
) -> tuple[HuntSubject, HuntSubject, Path, set[int]]:
    """A subject before and after, where its files are, and every page that was read meanwhile."""
    out = tmp_path_factory.mktemp("prepared")
    (subject,) = subjects_of(web, ["cooking"])
    looked: set[int] = set()
    read = CorpusIndex.page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CorpusIndex, "page", lambda self, node: looked.add(int(node)) or read(self, node))
        done = prepare(web, subject, EVERYTHING, out)
    return subject, done, out, looked


Prepared = tuple[HuntSubject, HuntSubject, Path, set[int]]


def test_every_page_that_training_looks_at_is_seen(prepared: Prepared) -> None:
    """All reading of pages goes through the index: what was read there while training is marked."""
    _, done, _, looked = prepared
    assert looked
    assert set() == looked - set(np.flatnonzero(done.seen).tolist())


def test_pages_that_were_browsed_are_seen(prepared: Prepared) -> None:
    """Also those of the record whose words were not needed."""
    _, done, _, _ = prepared
    assert done.browsing is not None
    lines = (done.browsing.parent / "record.jsonl").read_text().splitlines()
    assert all(done.seen[node_of(json.loads(line)["url"])] for line in lines)


def test_most_relevant_pages_are_left_to_be_found(prepared: Prepared) -> None:
    """Four in ten at most are seen, by all training together."""
    _, done, _, _ = prepared
    assert done.truth[done.seen].sum() <= BROWSED * done.truth.sum()


@pytest.mark.paper("rules-sizes")
def test_model_and_rules_take_a_quarter_of_the_corpus_at_most(web: CorpusIndex, tmp_path: Path) -> None:
    """Of the relevant pages, and of the others."""
    (subject,) = subjects_of(web, ["railways"])
    done = prepare(web, subject, ["rules"], tmp_path)
    relevant = done.truth > 0
    assert done.seen[relevant].sum() <= OPEN * relevant.sum()
    assert done.seen[~relevant].sum() <= OPEN * (~relevant).sum()
    assert done.model is not None
    assert done.browsing is None


def test_what_is_made_is_what_strategies_read(prepared: Prepared) -> None:
    """A model with the subject as a class of its own, rules that know it, browsing that ends at relevant pages."""
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
    told = {node_of(url) for url, good in zip(browsing.urls, browsing.relevant.tolist(), strict=True) if good}
    assert told
    assert done.truth[sorted(told)].all()


def test_the_subject_that_was_given_stays_as_it_is(prepared: Prepared) -> None:
    """Preparing returns another one."""
    subject, done, _, _ = prepared
    assert subject.model is None
    assert len(subject.examples) == subject.seen.sum() < done.seen.sum()
    assert [] == subject.notes


def test_a_second_call_reads_what_the_first_has_made(
    web: CorpusIndex, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No trainer runs again, and nothing differs."""
    subject, done, out, _ = prepared
    for trainer in ("train", "train_rules", "train_browse"):
        monkeypatch.setattr(preparing, trainer, None)
    again = prepare(web, subject, EVERYTHING, out)
    assert (done.model, done.rules, done.browsing) == (again.model, again.rules, again.browsing)
    assert done.seen.tolist() == again.seen.tolist()
    assert done.notes == again.notes


def test_another_seed_or_other_examples_are_learned_anew(web: CorpusIndex, tmp_path: Path) -> None:
    """Files are kept by all that they depend on."""
    (subject,) = subjects_of(web, ["cooking"])
    first = prepare(web, subject, ["model"], tmp_path)
    assert first.model != prepare(web, subject, ["model"], tmp_path, random_seed=1).model
    assert first.model != prepare(web, replace(subject, examples=subject.examples[:1]), ["model"], tmp_path).model


def test_processes_that_prepare_the_same_do_not_disturb_each_other(
    web: CorpusIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who finds the work of another in its place when it is done takes that, and leaves nothing unfinished behind."""
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


def test_names_of_a_corpus_need_not_be_addresses(tmp_path: Path) -> None:
    """A tree of files has names like sea/1.html; trainers are told addresses of their own."""
    pages = [
        RecordedPage(f"{kind}/{n}.html", Page("ok", marked=f"{words} n{n}", links=Links.to(f"{kind}/{(n + 1) % 40}.html",
                 f"rail/{n}.html")), classes=[kind])
        for kind, words in (("sea", "coral reef"), ("rail", "steam train"))
        for n in range(40)
    ]  # fmt: skip
    index = write_index(pages, tmp_path / "index", source="files")
    (subject,) = subjects_of(index, ["sea"])
    done = prepare(index, subject, ["rules"], tmp_path)
    assert done.model is not None
    assert ["rail", "sea"] == TrainedModel.load(done.model).classes
    assert 7 == node_of(address(7))
    assert -1 == node_of("http://elsewhere.example/")


def test_labels_of_one_class_are_told_from_the_unlabelled(web_pages: list[RecordedPage], tmp_path: Path) -> None:
    """A model of two classes: the subject, and what nobody has labelled."""
    made = [replace(page, classes=[name for name in page.classes if name.startswith("cooking/")]) for page in web_pages]
    index = write_index(made, tmp_path / "index", source="embedded")
    (subject,) = subjects_of(index, ["cooking"])
    done = prepare(index, subject, ["model"], tmp_path)
    assert done.model is not None
    assert ["cooking", "no class"] == TrainedModel.load(done.model).classes


def test_what_can_not_be_prepared_is_said(tmp_path: Path) -> None:
    """Of a graph without text; nothing is written."""
    index = CorpusIndex.of({"a": ["b"]}, score={"b": 1})
    (subject,) = subjects_of(index)
    lacking = prepare(index, subject, ["browsing"], tmp_path).lacking
    assert {"browsing": "the corpus has no text: browsing can't be learned from it"} == lacking
    assert {} == prepare(index, subject, [], tmp_path).lacking
    assert [] == list(tmp_path.iterdir())


def test_a_subject_that_nobody_links_to_can_not_be_browsed(tmp_path: Path) -> None:
    """It says so, and leaves no unfinished files."""
    pages = [RecordedPage(f"http://a.example/{n}", Page("ok", marked=f"w{n}", links=Links.to("http://a.example/9")),
                      classes=["x" if n < 8 else "y"]) for n in range(20)]  # fmt: skip
    index = write_index(pages, tmp_path / "index", source="test")
    (subject,) = subjects_of(index, ["x"])
    lacking = prepare(index, subject, ["browsing"], tmp_path / "out").lacking
    assert "nobody can browse there" in lacking["browsing"]
    assert [] == list((tmp_path / "out" / "prepared").iterdir())
