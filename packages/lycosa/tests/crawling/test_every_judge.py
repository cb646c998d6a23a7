"""Tests of each judge, by name, on the embedded web."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from browsed_pages import ten_pages
from crawl_helpers import ONTOLOGY, Remembered, sim_space, taught
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.judges import JUDGES
from lycosa.store.directory import COPIED_FILES, Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Web
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.background import Background

TOPIC = "marine biology/coral reefs"
WORDS = {"topic": "coral reef"}
MODEL = {"model": "{model}", "targets": [TOPIC]}
MEANING = {**WORDS, "ontology": "{ontology}"}

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("probability", WORDS),
    ("probability", {**WORDS, "examples": ["{example}"]}),
    ("vector", WORDS),
    ("vector,idf=background", {**WORDS, "background": "{background}"}),
    ("vector,tf=max,link=context", WORDS),
    ("vector,tf=raw,idf=learned", {"terms": "{terms}"}),
    ("", {"examples": ["{example}"]}),
    ("", {**WORDS, "languages": ["en"]}),
    ("word-frequency,count=lines,match=anywhere", WORDS),
    ("weighted-content,title=3,body=0.5", {"terms": "{terms}"}),
    ("keyword,window=30", {"terms": "{terms}"}),
    ("ehrig,measure=is-a-2", {"terms": "{terms}", "ontology": "{ontology}"}),
    ("ssrm,measure=path", {"terms": "{terms}", "ontology": "{ontology}"}),
    ("synset-expansion", MEANING),
    ("corley-mihalcea", MEANING),
    ("embedding,link=context", {"terms": "{terms}"}),
    ("embedding", {**WORDS, "examples": ["{example}"]}),
    ("regex", {"regex": r"coral|reef\w*"}),
    ("model", MODEL),
    ("", {**MODEL, "targets": ["marine biology"], "threshold": 0.3}),
    ("browsing", {"strategy": "hmm,file={browsing}"}),
    ("", {"strategy": "hybrid-anchor,file={browsing}"}),
)
WANTING = {"link-context": {"context"}, "otie": {"context"}, "shark-search": {"context"}, "link-score": {"url"}}
"""Strategies that need link facets."""


class World:
    """Web, and the files that crawls of it may use."""

    def __init__(self, place: Path) -> None:
        self.web = Web(pages=500, hosts=30, traps=("redirects", "dead"))
        self.replies = Remembered(self.web)
        self.place = place
        place.mkdir()
        taught(self.web, place)
        Background(1000, {"coral": 7, "reef": 11, "the": 990, "sea": 90}).save(place / "background.zst")
        ten_pages(terms=["list", "sea", "coral"]).save(place / "browsing.model")
        (place / "ontology.tsv").write_text(ONTOLOGY)
        (place / "terms.tsv").write_text("coral\t2\nreef\n")
        (place / "example.html").write_text("<title>Coral reefs</title><p>coral reef polyp coral reef algae lagoon")

    def options(self, given: dict[str, Any], place: Path) -> dict[str, Any]:
        """Return options with copies of the files in another directory."""
        shutil.copytree(self.place, place)
        names = {
            "model": place / "topics.model", "rules": place / "rules.tsv", "background": place / "background.zst",
            "terms": place / "terms.tsv", "example": place / "example.html", "ontology": place / "ontology.tsv",
            "browsing": place / "browsing.model",
        }  # fmt: skip

        def filled(value: Any) -> Any:
            if isinstance(value, list):
                return [filled(item) for item in value]
            # `str.format` is not used, as regular expressions contain braces.
            for name, path in names.items() if isinstance(value, str) else ():
                value = value.replace(f"{{{name}}}", str(path))
            return value

        return {name: filled(value) for name, value in given.items()}

    def crawl(self, out: Path | None = None, *, start: float = 0.0, **options: Any) -> list[Visit]:
        async def run() -> list[Visit]:
            crawl = lycosa.crawl(
                seeds=self.web.seeds(TOPIC), out=out, space=sim_space(self.replies), clock=clock, **options
            )
            return [visit async for visit in crawl]

        return run_virtual(run(), start=start)

    def resume(self, out: Path, **changes: Any) -> list[Visit]:
        async def run() -> list[Visit]:
            return [visit async for visit in lycosa.resume(out, space=sim_space(self.replies), clock=clock, **changes)]

        return run_virtual(run(), start=3600.0)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world") / "files")


def check_numbers(visits: Sequence[Visit]) -> None:
    for visit in visits:
        assert np.isfinite(visit.relevance)
        assert visit.relevance >= 0
        assert len(visit.links.link_relevances) in (0, len(visit.links))
        assert np.isfinite(visit.links.link_relevances).all()
        for facet in visit.links.facets.values():
            assert len(visit.links) == len(facet)
            assert np.isfinite(facet).all()


def test_judges_are_all_tested() -> None:
    assert set(JUDGES) - {"given"} == {judge.partition(",")[0] for judge, _ in CASES} - {""}


@pytest.mark.parametrize(("judge", "given"), CASES)
def test_directory_is_self_contained(world: World, judge: str, given: dict[str, Any], tmp_path: Path) -> None:
    options = world.options({**given, "judge": judge}, tmp_path / "files")
    first = world.crawl(tmp_path / "crawl", budget=18, archive=False, **options)
    shutil.rmtree(tmp_path / "files")
    (tmp_path / "crawl").rename(tmp_path / "moved, and = renamed")
    second = world.resume(tmp_path / "moved, and = renamed", budget=21)
    check_numbers(first + second)
    pages = [[visit for visit in visits if visit.is_page] for visits in (first, second)]
    assert (18, 3) == tuple(sum(visit.is_page for visit in visits) for visits in (first, second))
    judges = {visit.judge for some in pages for visit in some}
    assert 1 == len(judges), judges
    assert not {visit.node for visit in pages[0]} & {visit.node for visit in pages[1]}
    relevances = [visit.relevance for some in pages for visit in some]
    assert len(set(relevances)) > 1
    assert any((visit.links.link_relevances > 0).any() for some in pages for visit in some)


@pytest.mark.parametrize(
    ("judge", "strategy"),
    [
        *((name, "link-context") for name in JUDGES if name not in ("given", "browsing")),
        *(("vector", name) for name in WANTING if name != "link-context"),
        ("model", "link-score"),
    ],
)
def test_facets_are_computed_and_logged(world: World, judge: str, strategy: str, tmp_path: Path) -> None:
    given = dict(next(given for name, given in CASES if name.partition(",")[0] == judge))
    options = world.options({**given, "judge": judge}, tmp_path / "files")
    visits = world.crawl(tmp_path / "crawl", strategy=strategy, budget=5, archive=False, **options)
    check_numbers(visits)
    # A classifier rates a context like a page, not as a lift over the prior.
    beside = {"context_score"} if (judge, strategy) == ("model", "link-context") else set()
    for visit in visits:
        if visit.is_page and len(visit.links):
            assert WANTING[strategy] | beside == set(visit.links.facets)
    log = SqliteLog(tmp_path / "crawl" / NAME, readonly=True)
    kept = {event.node: event for event in log if isinstance(event, Visit) and event.is_page}
    log.close()
    for visit in visits:
        if visit.is_page:
            for name, facet in visit.links.facets.items():
                assert facet.tolist() == kept[visit.node].links.facets[name].tolist()


def test_facets_are_not_computed_unless_needed(world: World) -> None:
    visits = world.crawl(topic="coral reef", budget=10, strategy="best-first")
    assert {()} == {tuple(visit.links.facets) for visit in visits}


def test_facets_are_passed_through_language_judge(world: World) -> None:
    visits = world.crawl(topic="coral reef", strategy="link-context", languages=["en"], budget=10)
    assert {("context",)} == {tuple(visit.links.facets) for visit in visits if visit.is_page and len(visit.links)}


def test_rules_are_copied_with_model(world: World, tmp_path: Path) -> None:
    given = {**MODEL, "strategy": "rules,file={rules},depth=3"}
    options = world.options(given, tmp_path / "files")
    first = world.crawl(tmp_path / "crawl", budget=14, archive=False, **options)
    assert (COPIED_FILES["model"], f"rules,file={COPIED_FILES['strategy']},depth=3") == (
        Directory.read_options(tmp_path / "crawl").model,
        Directory.read_options(tmp_path / "crawl").strategy,
    )
    whole = world.crawl(tmp_path / "whole", budget=24, archive=False, **options)
    shutil.rmtree(tmp_path / "files")
    moved = (tmp_path / "crawl").rename(tmp_path / "crawl, with = signs")
    second = world.resume(moved, budget=24)
    assert (14, 10) == tuple(sum(visit.is_page for visit in visits) for visits in (first, second))
    assert {visit.judge for visit in whole if visit.is_page} == {visit.judge for visit in second if visit.is_page}
    assert f"rules,file={COPIED_FILES['strategy']},depth=3" == Directory.read_options(moved).strategy


def test_background_changes_judge_name(world: World, tmp_path: Path) -> None:
    Background(50, {"coral": 3, "reef": 20}).save(tmp_path / "other.zst")
    judges = [
        {visit.judge for visit in world.crawl(topic="coral reef", budget=3, background=str(file)) if visit.is_page}
        for file in (tmp_path / "other.zst", world.place / "background.zst", world.place / "background.zst")
    ]
    assert judges[1] == judges[2]
    assert not judges[0] & judges[1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"topic": "coral", "strategy": "rules,file={rules}"}, "needs to know the classes of pages: give it --model"),
        ({**MODEL, "strategy": "rules"}, "rules need a file: train them"),
        ({**MODEL, "strategy": "rules,file=nowhere.tsv"}, "cannot read the rules in nowhere.tsv: No such file"),
        ({**MODEL, "strategy": "rules,file={model}"}, "not UTF-8 text|contains no rules"),
        ({**MODEL, "targets": ["football"], "strategy": "rules,file={rules}"}, "football"),
        ({"topic": "coral", "background": "nowhere.zst"}, "nowhere.zst"),
        ({"topic": "coral", "background": "{model}"}, "is not a file of word statistics"),
        ({"model": "{rules}", "targets": [TOPIC]}, "is not a model"),
        ({"topic": "coral", "strategy": "oracle"}, "scores"),
        ({"topic": "coral", "strategy": "oracle,scores=nowhere.tsv"}, "nowhere.tsv"),
    ],
)
def test_unsuitable_files_leave_no_directory(
    world: World, options: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    given = world.options(options, tmp_path / "files")
    with pytest.raises(InputError, match=expected):
        world.crawl(tmp_path / "crawl", budget=5, **given)
    assert not (tmp_path / "crawl").exists()
