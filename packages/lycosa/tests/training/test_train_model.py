"""train: measured quality, model files, and rejected options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Page
from lycosa.judges.model import KINDS, TrainedModel
from lycosa.judges.model_judge import ModelJudge
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account
from lycosa.training.page_loading import recorded_pages
from lycosa.training.train_model import TrainingResult, train
from places import CORPORA
from written import text, write

COUNTS = {"Sea/Reefs": 24, "Sea/Fish": 24, "Trains": 24}


def no_pages(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
    raise AssertionError(f"{len(urls)} pages were asked for")
    yield


def run(root: Path, **options: Any) -> TrainingResult:
    return train([str(root)], root.parent / "out.model", no_pages, **options)


@pytest.mark.paper("batsakis-machine-learning")
@pytest.mark.parametrize("kind", KINDS)
def test_train_separates_classes(kind: str, tmp_path: Path) -> None:
    done = run(write(tmp_path / "pages", COUNTS), kind=kind)
    assert done.quality is not None
    assert done.quality.accuracy > 0.9
    assert done.quality.majority < 0.5
    model = TrainedModel.load(tmp_path / "out.model")
    assert (["Sea/Fish", "Sea/Reefs", "Trains"], [24, 24, 24]) == (model.classes, model.counts)
    for label, number in (("Trains", 99), ("Sea/Fish", 98)):
        probabilities = model.probabilities(stems(text(label, number)))
        assert label == model.classes[int(probabilities.argmax())]
    page = Page("ok", marked=text("Sea/Reefs", 96))
    assert ModelJudge(model, ["Sea"]).judge(page, Vocabulary().read(page)).relevance > 0.5


@pytest.mark.paper("rules-train-0")
def test_train_uses_all_pages_for_model(tmp_path: Path) -> None:
    root = write(tmp_path / "pages", COUNTS)
    contents = []
    for share in (0.0, 0.2, 0.5):
        model = run(root, held_out=share).model
        assert 72 == sum(model.counts)
        contents.append([array.tolist() for array in model.classifier.arrays().values()])
    assert contents[0] == contents[1] == contents[2]


def test_train_without_held_out_pages_has_no_quality(tmp_path: Path) -> None:
    assert run(write(tmp_path / "pages", COUNTS), held_out=0.0).quality is None


def test_train_keeps_copies_on_one_side(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    words = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnp"]
    for label in ("a", "b"):
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(20):
            content = " ".join(chance.choice(words, 25))
            for copy in range(10):
                (tmp_path / "pages" / label / f"{number}-{copy}.txt").write_text(content)
    done = run(tmp_path / "pages")
    assert done.quality is not None
    assert done.quality.accuracy < 0.85
    assert any("360 pages are exact or near copies" in note for note in done.notes)


def test_train_with_identical_pages_holds_none_out(tmp_path: Path) -> None:
    for label in ("a", "b"):
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(5):
            (tmp_path / "pages" / label / f"{number}.txt").write_text(f"always the same {label}{label}{label}")
    done = run(tmp_path / "pages")
    assert done.quality is None
    assert any("nothing could be held out" in note for note in done.notes)


def test_train_with_three_pages_per_class_adds_note(tmp_path: Path) -> None:
    root = write(tmp_path / "pages", {"Sea/Reefs": 3, "Trains": 3})
    for kind in KINDS:
        done = run(root, kind=kind)
        assert ["Sea/Reefs", "Trains"] == done.model.classes
        assert any("fewer than 20 distinct pages" in note for note in done.notes)


def test_train_notes_merged_classes(tmp_path: Path) -> None:
    done = run(write(tmp_path / "pages", {"Sea/Reefs": 10, "Sea/Fish": 6, "Trains": 10}), least=12)
    assert ["Sea", "Trains"] == done.model.classes
    assert any("2 small classes (below 12 pages) were merged into their parents" in note for note in done.notes)
    assert {"Sea/Fish": "Sea", "Sea/Reefs": "Sea"} == done.model.facts["merged"]


def test_train_is_deterministic(tmp_path: Path) -> None:
    root = write(tmp_path / "pages", {"Sea/Reefs": 12, "Trains": 12})
    first = run(root, kind="svm", seed=4).out.read_bytes()
    assert first == run(root, kind="svm", seed=4).out.read_bytes()


def test_train_uses_given_language(tmp_path: Path) -> None:
    for label, word in (("a", "Häuser"), ("b", "Bäume")):
        (tmp_path / "pages" / label).mkdir(parents=True)
        for number in range(4):
            (tmp_path / "pages" / label / f"{number}.txt").write_text(f"{word} am Fluss {number}x", "utf-8")
    model = run(tmp_path / "pages", language="de").model
    assert ("de", True) == (model.facts["language"], "haus" in model.terms)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "oracle"}, "unknown --kind oracle; available: nb, nb-plain, svm, nn, tree"),
        ({"least": -1}, "--least is -1"),
        ({"held_out": 1.0}, "--held-out is 1: it must be"),
        ({"held_out": float("nan")}, "--held-out is nan"),
        ({"seed": -1}, "--random-seed is -1"),
    ],
)
def test_train_rejects_bad_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path / "nowhere", **options)


def test_train_rejects_bad_output_paths(tmp_path: Path) -> None:
    root = write(tmp_path / "pages", {"Sea/Reefs": 3, "Trains": 3})
    (tmp_path / "thesis.doc").write_text("years of work")
    for name, message in (
        ("pages", "is a directory"),
        ("no/m", "does not exist: create it"),
        ("thesis.doc", "is not a model"),
    ):
        with pytest.raises(InputError, match=message):
            train([str(root)], tmp_path / name, no_pages)
    assert "years of work" == (tmp_path / "thesis.doc").read_text()


@pytest.mark.parametrize("kind", ["svm", "nn", "tree"])
def test_train_without_scikit_learn_names_extra(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    root = write(tmp_path / "pages", {"Sea/Reefs": 3, "Trains": 3})
    with raises_input_error("missing-package", r"pip install 'lycosa\[train\]', or use --kind nb"):
        run(root, kind=kind)
    assert 2 == len(run(root).model.classes)


def test_train_rejects_single_class(tmp_path: Path) -> None:
    with raises_input_error("too-few-classes", "all pages are"):
        run(write(tmp_path / "pages", {"Trains": 9}))
    assert not (tmp_path / "out.model").exists()


def test_train_on_university_pages_reaches_accuracy(tmp_path: Path) -> None:
    """Accuracy is .64 on a third of a corpus with seven classes of university pages, .71 on all of it."""
    if not (CORPORA / "webkb.warc.gz").exists():
        pytest.skip("there is no webkb beside the project, in ../shared/corpora")
    lines = (CORPORA / "webkb.labels.tsv").read_bytes().decode().split("\n")[1:]
    rows = [line.split("\t")[:2] for line in lines if line][::3]  # a third, as the test is about quality, not size
    table, archive = tmp_path / "t.tsv", tmp_path / "webkb.warc.gz"
    archive.symlink_to(CORPORA / archive.name)  # its index is stored beside the given path
    table.write_text("".join(f"{url}\t{label.partition('/')[0]}\n" for url, label in rows))
    done = train([str(table)], tmp_path / "m", recorded_pages(archive))
    assert done.quality is not None
    assert done.quality.accuracy > 0.58
    assert done.quality.gap < 0.12


def test_train_reports_unavailable_pages(tmp_path: Path) -> None:
    def none(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        account.left_out["can't be fetched"] += len(urls)
        account.notes.append("cannot fetch http://a.example/: timed out")
        yield from ()

    (tmp_path / "t.tsv").write_text("http://a.example/\tx\nhttp://b.example/\ty\n")
    message = "no page could be read from .*t.tsv: 2 can't be fetched; cannot fetch http://a.example/: timed out"
    with raises_input_error("no-pages", message):
        train([str(tmp_path / "t.tsv")], tmp_path / "m", none)


def test_train_rejects_long_file_names(tmp_path: Path) -> None:
    for length, message in ((300, "File name too long"), (240, "is too long")):
        with raises_input_error("cannot-write", message):
            train(["nowhere"], tmp_path / ("x" * length), no_pages)
