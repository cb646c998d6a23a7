from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from input_errors import raises_input_error
from lycosa.core.composite import Greedy, steer
from lycosa.core.protocols import Strategy
from lycosa.core.types import Page, Step, Visit
from lycosa.strategies import estimator
from lycosa.strategies.oracle import Oracle
from lycosa.text.vocabulary import Vocabulary
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.index_writer import write_index
from lycosa_lab.judgements import Judgements, judge_maker
from lycosa_lab.learning_judges import CorpusReadings, CrawlWords, learning_judgements
from lycosa_lab.simulation import simulate
from lycosa_lab.subjects import subjects_of
from lycosa_lab.trial_strategies import make_trial_strategy
from recorded_crawl import crawl

SEEDS = [3, 40, 7]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    place = tmp_path_factory.mktemp("learning")
    return write_index(embedded(pages=120, hosts=6), place / "web.index", source="embedded")


@pytest.fixture(scope="module")
def readings(web: CorpusIndex) -> CorpusReadings:
    return CorpusReadings.of(web)


@pytest.mark.parametrize(
    ("judge", "description", "text"),
    [("probability", "words", "best-first"), ("probability", "examples", "scent"), ("vector", "words", "shark-search")],
)
def test_learning_judgements_fetch_like_engine(
    web: CorpusIndex, readings: CorpusReadings, judge: str, description: str, text: str
) -> None:
    (subject,) = subjects_of(web, ["cooking"])
    guide = learning_judgements(web, subject, description, judge, readings)

    def make_strategy() -> Strategy:
        return make_trial_strategy(text, web, subject, guide, budget=40, random_seed=3)

    simulated = simulate(guide, make_strategy(), SEEDS, 40)
    crawled = crawl(web, judge_maker(web, subject, description, judge)(), make_strategy(), SEEDS, 40)
    assert crawled.nodes.tolist() == simulated.nodes.tolist()
    assert crawled.ending == simulated.ending
    # No state is left from the previous run.
    assert simulated.nodes.tolist() == simulate(guide, make_strategy(), SEEDS, 40).nodes.tolist()


def test_learning_judgements_visits_equal_engine(web: CorpusIndex, readings: CorpusReadings) -> None:
    (subject,) = subjects_of(web, ["cooking"])
    guide = learning_judgements(web, subject, "words", "probability", readings)

    class Spy:
        """Breadth-first strategy that records its visits."""

        wants = ("context", "url")

        def __init__(self) -> None:
            self.visits: list[Visit] = []

        def learn(self, step: Step, table: Any) -> NDArray[Any]:
            self.visits.append(step.visit)
            assert table.stems[step.visit.terms.ids.max()]
            return step.children

        def priority(self, rows: NDArray[Any], table: Any) -> NDArray[np.float64]:
            return -rows.astype(np.float64)

    ours, engines = Spy(), Spy()
    simulate(guide, Greedy(ours, "spy"), SEEDS, 37)
    crawl(web, judge_maker(web, subject, "words", "probability")(), Greedy(engines, "spy"), SEEDS, 37)
    assert len(ours.visits) == len(engines.visits) == 40  # with updates after 10, 15, 23 and 35 pages
    assert len({round(visit.relevance, 6) for visit in ours.visits}) > 20
    for visit, theirs in zip(ours.visits, engines.visits, strict=True):
        for name in ("node", "pick", "relevance", "data", "simhash", "title", "language", "status", "size", "flags"):
            assert getattr(visit, name) == getattr(theirs, name), name
        for name in ("ids", "counts", "marks", "new"):
            assert list(getattr(visit.terms, name)) == list(getattr(theirs.terms, name)), name
        assert visit.links.link_relevances.tolist() == theirs.links.link_relevances.tolist()
        assert (visit.links.urls, visit.links.anchors) == (theirs.links.urls, theirs.links.anchors)
        for facet in Spy.wants:  # equal except for rounding, as they are summed in another order
            assert visit.links.facets[facet].tolist() == pytest.approx(theirs.links.facets[facet].tolist())


def test_simulate_passes_model_updates_to_strategy(web: CorpusIndex, readings: CorpusReadings) -> None:
    (subject,) = subjects_of(web, ["cooking"])
    guide = learning_judgements(web, subject, "words", "probability", readings)
    calls: list[tuple[list[int], list[float]]] = []

    class Heeding(Greedy):
        """Best-first strategy that records updates."""

        def reconsider(self, rows: Any, relevances_now: Any, table: Any, frontier: Any) -> None:
            calls.append(([int(node) for node in table.node_at[rows]], relevances_now.tolist()))

    trace = simulate(guide, Heeding(estimator("best-first"), "heeding"), SEEDS, 14)
    assert [len(nodes) for nodes, _ in calls] == [10, 15]
    assert [nodes for nodes, _ in calls] == [trace.nodes[:10].tolist(), trace.nodes[:15].tolist()]
    assert calls[0][1] != calls[1][1][:10]
    assert all(len(nodes) == len(relevances_now) for nodes, relevances_now in calls)


def test_learning_judgements_separate_relevant_pages(web: CorpusIndex, readings: CorpusReadings) -> None:
    (subject,) = subjects_of(web, ["cooking"])
    relevance, relevant = (
        learning_judgements(web, subject, "words", "probability", readings).relevance,
        subject.truth > 0,
    )
    assert len(web) == len(relevance)
    assert relevance[relevant].mean() > 0.5 > 0.1 > relevance[~relevant].mean()


def test_crawl_words_are_numbered_in_crawl_order(web: CorpusIndex, readings: CorpusReadings) -> None:
    for order in ([5, 2, 9], [9, 5, 2]):
        ours, fresh = CrawlWords(readings), Vocabulary()
        for node in order:
            page = web.page(node)
            assert ours.read(page).ids.tolist() == fresh.read(page).ids.tolist()
        assert ours.terms == fresh.terms
        assert ours.id_of == fresh.id_of


def test_corpus_readings_rebuild_damaged_cache(
    web: CorpusIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = CorpusReadings.of(web, tmp_path)
    (file,) = (tmp_path / "readings").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert CorpusReadings.of(web, tmp_path).words == result.words
    assert len(whole) == file.stat().st_size
    monkeypatch.setattr(Vocabulary, "numbered", None)
    again = CorpusReadings.of(web, tmp_path)
    assert (again.words, again.languages) == (result.words, result.languages)
    assert np.array_equal(again.every, result.every)
    assert np.array_equal(again.vectors, result.vectors)


def test_corpus_readings_return_copies_of_pages(web: CorpusIndex, readings: CorpusReadings) -> None:
    page: Page = readings.page(3)
    page.links.link_relevances = np.ones(len(page.links), np.float32)
    page.links.facets["context"] = page.links.link_relevances
    assert not readings.page(3).links.link_relevances.any()
    assert not readings.page(3).links.facets


def test_run_with_default_judge_is_cached(web: CorpusIndex, readings: CorpusReadings, tmp_path: Path) -> None:
    plan = Experiment(
        "mine", "", ["oracle", "breadth-first", "craw4llm", "best-first"], subjects=["cooking"], budgets=[30],
        seed_sets=1, judge="probability",
    )  # fmt: skip
    results = run(plan, tmp_path / "mine", index=web, workers=1)
    kept = sorted((file.name, file.stat().st_mtime_ns) for file in (tmp_path / "mine" / "runs").iterdir())
    run(plan, tmp_path / "mine", index=web, workers=1)
    assert kept == sorted((file.name, file.stat().st_mtime_ns) for file in (tmp_path / "mine" / "runs").iterdir())
    (one,), (subject,) = results.select("craw4llm"), subjects_of(web, ["cooking"])
    known = learning_judgements(web, subject, "words", "probability", readings).relevance
    judged = steer(Oracle(dict(zip(web.names, known.tolist(), strict=True))))
    foreseen = simulate(Judgements.given(web), judged, one.trace.nodes[: one.trace.seeds].tolist(), 30)
    assert foreseen.nodes.tolist() == one.trace.nodes.tolist()[:35]  # updates for previously seen pages follow
    plan.judge = "vector,idf=none"
    static = run(plan, tmp_path / "static", index=web, workers=1)
    for text in ("oracle", "breadth-first"):
        ours, theirs = (found.select(text)[0].trace.nodes.tolist() for found in (results, static))
        assert ours == theirs


def test_run_as_published_rejects_learning_judge(web: CorpusIndex, tmp_path: Path) -> None:
    plan = Experiment("mine", "", ["best-first"], subjects=["cooking"], judge="probability", mode="as-published")
    with raises_input_error("learning-judge"):
        run(plan, tmp_path, index=web, workers=1)
