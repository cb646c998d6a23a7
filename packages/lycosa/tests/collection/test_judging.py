"""Tests of judging a finished crawl again."""

import io
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import lycosa
from every_count import every_count
from handmade import FRONT, crawl, html, star
from input_errors import raises_input_error
from learning_judge import Learning
from lycosa.collection.best import questions
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export
from lycosa.collection.judging import judge
from lycosa.collection.report import gather
from lycosa.collection.searching import Search
from lycosa.collection.summary import summarise
from lycosa.core.errors import LockedError
from lycosa.core.types import Label, ModelUpdate, Visit
from lycosa.store.directory import CONFIG, Directory
from lycosa.store.log import NAME, SqliteLog

LEARNS = "learning_judge:Learning"
REEFS = {f"{FRONT}reef{n}": html(f"Reef {n}", f"coral polyps colony lagoon{n}") for n in range(4)}
RINGS = {f"{FRONT}ring{n}": html(f"Ring {n}", f"coral jewellery shop gold{n}") for n in range(3)}
TRAINS = {f"{FRONT}train{n}": html(f"Train {n}", f"rails engine station{n}") for n in range(3)}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write crawls for coral with a learning judge and a fixed one: 11 pages each, 7 of them with the word."""
    path = tmp_path_factory.mktemp("crawls")
    for name in (LEARNS, "vector"):
        crawl(path / name, star(REEFS | RINGS | TRAINS), judge=name, budget=20)
    return path


@pytest.fixture
def directory(crawls: Path, tmp_path: Path) -> Path:
    """Copy the crawl with the learning judge."""
    return Path(shutil.copytree(crawls / LEARNS, tmp_path / "c"))


@pytest.fixture
def plain(crawls: Path, tmp_path: Path) -> Path:
    """Copy the crawl with the fixed judge."""
    return Path(shutil.copytree(crawls / "vector", tmp_path / "c"))


def append_labels(path: Path, labels: Mapping[str, bool]) -> None:
    """Append labels to the log without training."""
    log = SqliteLog(path / NAME)
    for node, relevant in labels.items():
        log.append(Label(node, relevant))
    log.close()


def counts(path: Path) -> set[int]:
    """Return the numbers of relevant pages of a crawl, in every way to read it."""
    with CrawlDirectory(path) as collection, Search(collection) as search:
        found = search.find("reef or ring or train", threshold=collection.threshold, limit=50).pages
    return {found, *(relevant for _, relevant in every_count(path).values())}


def test_judge_without_keep_changes_nothing(directory: Path) -> None:
    before = {file: file.read_bytes() for file in directory.rglob("*") if file.is_file() and "-shm" not in file.name}
    result = judge(directory, "rails station")
    assert (7, 3, 3, 7, False) == (
        result.before.relevant,
        result.after.relevant,
        result.gained_count,
        result.lost_count,
        result.kept,
    )
    assert [f"Train {n}" for n in range(3)] == sorted(page.title for page in result.gained)
    assert {(1.0, 0.0)} == {(page.before, page.after) for page in result.lost}
    assert before == {file: file.read_bytes() for file in before}
    assert {7} == counts(directory)


@pytest.mark.parametrize("kind", ["directory", "plain"])
def test_judge_keep_saves_new_topic(kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    result = judge(path, "jewellery", keep=True)
    assert (3, True) == (result.after.relevant, result.kept)
    assert {3} == counts(path)
    assert "jewellery" == Directory.read_options(path).topic
    log = SqliteLog(path / NAME, readonly=True)
    relevances = [event.relevance for event in log if isinstance(event, Visit) and event.is_page]
    log.close()
    assert 7 == sum(relevance > 0 for relevance in relevances)
    resumed = lycosa.resume(path, budget=12)
    list(resumed)
    assert resumed.engine is not None
    assert 3 == resumed.engine.tally.relevant
    assert not [note for note in resumed.notes if "another" in note]
    assert {3} == counts(path)


def test_judge_refuses_judge_unsuitable_for_strategy(plain: Path) -> None:
    config = plain / CONFIG
    before = f'strategy = "rules,file=x"\n{re.sub("(?m)^strategy = .*$", "", config.read_text())}'
    config.write_text(before)
    assert not judge(plain, "steam railway").kept
    with raises_input_error("unfit-judge", match="rules needs classes"):
        judge(plain, "steam railway", keep=True)
    assert before == config.read_text()


def test_judge_with_other_threshold_recounts_pages(directory: Path) -> None:
    assert 7 == judge(directory, threshold=0.9).after.relevant
    result = judge(directory, "coral polyps", threshold=0.9, keep=True)
    assert (4, 0.9) == (result.after.relevant, result.threshold)
    assert {4} == counts(directory)
    result = judge(directory, threshold=0.4, keep=True)
    assert (4, 7, 0.4) == (result.before.relevant, result.after.relevant, result.threshold)
    assert {7} == counts(directory)
    assert 0.4 == Directory.read_options(directory).threshold


def test_judge_learns_from_labels(directory: Path) -> None:
    append_labels(directory, {f"{FRONT}ring0": False, f"{FRONT}reef0": True})
    result = judge(directory, keep=True)
    assert (7, 4, 3) == (result.before.relevant, result.after.relevant, result.lost_count)
    assert {4} == counts(directory)
    log = SqliteLog(directory / NAME, readonly=True)
    *_, last = log
    assert isinstance(last, ModelUpdate)
    log.close()
    assert 4 == judge(directory).after.relevant


def test_judge_applies_labels_without_learning(plain: Path) -> None:
    append_labels(plain, {f"{FRONT}ring0": False, f"{FRONT}train0": True})
    for file in (plain / "archive").iterdir():
        file.unlink()
    result = judge(plain, keep=True)
    assert (7, 7, 1, 1) == (result.before.relevant, result.after.relevant, result.gained_count, result.lost_count)
    with CrawlDirectory(plain) as collection:
        nodes = {visit.node for visit in collection.relevant()}
    assert f"{FRONT}train0" in nodes
    assert f"{FRONT}ring0" not in nodes


def test_judge_accepts_examples_from_crawl_and_files(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("rails engine")
    result = judge(plain, examples=[f"{FRONT}train0", str(tmp_path / "page.txt")], threshold=0.4, keep=True)
    assert {f"Train {n}" for n in range(3)} <= {page.title for page in result.gained}
    assert f"{FRONT}train0" in Directory.read_options(plain).examples
    with raises_input_error("unknown-page", match="judging fetches nothing"):
        judge(plain, examples=["http://elsewhere.test/"])
    with raises_input_error("unreadable-file", "cannot read the"):
        judge(plain, examples=["nowhere.html"])


def test_judge_without_archive_raises(tmp_path: Path) -> None:
    crawl(tmp_path / "c", star(REEFS | TRAINS), judge=LEARNS, budget=20, archive=False)
    assert 3 == judge(tmp_path / "c", "rails", judge=LEARNS).after.relevant
    with raises_input_error("no-archive"):
        judge(tmp_path / "c", "rails", judge="vector")


def test_judge_accepts_judge_object(plain: Path) -> None:
    result = judge(plain, topic=Learning("lagoon1 coral"), keep=True)
    assert (0.5, 7) == (result.threshold, result.after.relevant)
    assert {7} == {summarise(plain).relevant}


def test_judge_while_crawl_is_running(directory: Path) -> None:
    opened = Directory.open(directory)
    try:
        assert 3 == judge(directory, "rails station").after.relevant
        with pytest.raises(LockedError, match="in use by a running crawl"):
            judge(directory, "rails station", keep=True)
    finally:
        opened.close()


def test_threshold_override_applies_to_all_readers(directory: Path) -> None:
    judge(directory, "coral polyps", keep=True)
    assert (7, 4) == (summarise(directory).relevant, summarise(directory, threshold=0.9).relevant)
    out = io.BytesIO()
    export(directory, threshold=0.9, stdout=out)
    assert 4 == len(out.getvalue().splitlines())
    with CrawlDirectory(directory, 0.9) as collection:
        report = gather(collection)
        assert (4, 4) == (report.relevant, report.estimate.relevant)
        assert 4 == len(list(collection.relevant()))


def test_questions_are_near_threshold_and_unlabelled(directory: Path) -> None:
    judge(directory, "coral polyps colony", keep=True)  # pages about rings have a third of the words
    with CrawlDirectory(directory) as collection:
        pages_to_label = questions(collection, 3)
    assert {f"{FRONT}ring{n}" for n in range(3)} == {question.url for question in pages_to_label}
    append_labels(directory, {f"{FRONT}ring1": False})
    with CrawlDirectory(directory) as collection:
        assert f"{FRONT}ring1" not in {question.url for question in questions(collection, 9)}


@pytest.mark.parametrize("kind", ["directory", "plain"])
def test_readers_agree_after_every_change(kind: str, request: pytest.FixtureRequest) -> None:
    directory = request.getfixturevalue(kind)

    def on(budget: int, **more: Any) -> None:
        resumed = lycosa.resume(directory, budget=budget, **more)
        list(resumed)
        assert resumed.engine is not None
        result = counts(directory)
        assert {resumed.engine.tally.relevant} == result

    on(12)
    append_labels(directory, {f"{FRONT}train1": True})
    on(13)
    judge(directory, "gold0 station1", keep=True)
    on(14)
    judge(directory, threshold=0.3, keep=True)
    on(15)
    append_labels(directory, {f"{FRONT}reef1": False, f"{FRONT}reef2": True})
    judge(directory, keep=True)
    on(16)


def test_judge_sample_judges_few_pages(tmp_path: Path) -> None:
    made = tmp_path / "c"
    crawl(made, star(REEFS | RINGS | TRAINS), judge="probability", budget=20)
    whole, tried = judge(made, "rails station"), judge(made, "rails station", sample=4)
    assert (0, 11, 11) == (whole.sample_of, tried.sample_of, whole.after.pages)
    assert 3 <= tried.after.pages <= 4
    assert {page.url for page in [*tried.gained, *tried.lost, *tried.nearest]} <= {FRONT, *REEFS, *RINGS, *TRAINS}
    trains = [page.after for page in tried.nearest if page.url in TRAINS]
    others = [page.after for page in tried.nearest if page.url not in {FRONT, *TRAINS}]
    assert min(trains, default=1.0) > max(others, default=0.0)  # word ids are those of the whole crawl
    assert 0 == judge(made, "rails station", sample=100).sample_of
    assert 0 == judge(made, "rails station", sample=4, keep=True).sample_of
