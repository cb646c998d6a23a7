from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from input_errors import raises_input_error
from lycosa.core.budget import EXHAUSTED, PAGES_SPENT
from lycosa.core.composite import Greedy
from lycosa.core.options import Options
from lycosa.core.protocols import Judge, Strategy
from lycosa.core.types import Step
from lycosa.judges.factory import make_judge
from lycosa.judges.space_judge import SpaceJudge
from lycosa.strategies import BROWSING, STRATEGIES, TAXONOMY, TRUTH, WORDS, strategy
from lycosa_lab.corpora.generated import generate
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import COLUMNS, CorpusIndex
from lycosa_lab.index_writer import write_index
from lycosa_lab.judgements import Judgements, RecordedVisit
from lycosa_lab.simulation import Trace, simulate
from recorded_crawl import crawl

QUERY = "coral reef bleaching algae"
ONTOLOGY = "coral\tis-a\tpolyp\nreef\tis-a\tridge\natoll\tis-a\treef\ncoral\tsynonym\tcoral animal\n"
UNTRAINED = [name for name, entry in STRATEGIES.items() if entry.needs not in (TAXONOMY, BROWSING, TRUTH)]
"""Strategies that need no training files; the others are tested with the lab's trainers."""
STEERED = [
    "best-first,batch=7",
    "best-first,batch=20,dry=random",
    "best-first,q=.7,zeta=.5",
    "fl_deg,ties=random",
    "lr_fl,batch=5,q=.7,zeta=.5",
    "mab_epsilon,arms=best-first+opic+backlink",
    "soft-focus,distiller=yes",
    "soft-focus,apprentice=yes",
]
ONE_EACH = {STRATEGIES[name].module: name for name in UNTRAINED}.values()
ON_GRAPHS = [text for text in [*ONE_EACH, *STEERED] if STRATEGIES[text.partition(",")[0]].needs != WORDS]
ON_PAGES = [
    "scent", "best-first,batch=7", "shark-search", "ehrig", "link-context", "pagerank", "otie",
    "lr_fl,batch=5,q=.7,zeta=.5", "mab_discounted", "soft-focus,apprentice=yes",
]  # fmt: skip
"""One strategy for each kind of frontier and of visit data: words, links, facets, an ontology."""


class World:
    """Index of the embedded web, with judgements."""

    def __init__(self, place: Path) -> None:
        self.index = write_index(embedded(pages=300, hosts=8), place / "web.index", source="embedded")
        self.ontology = place / "ontology.tsv"
        self.ontology.write_text(ONTOLOGY)
        self.guides: dict[tuple[str, ...], Judgements] = {}

    def topic(self) -> Judge:
        return make_judge(Options(topic=QUERY, judge="vector,idf=background"))

    def guide(self, wants: tuple[str, ...]) -> Judgements:
        if wants not in self.guides:
            self.guides[wants] = Judgements.judged(self.index, self.topic(), wants)
        return self.guides[wants]

    def make(self, text: str) -> Strategy:
        return strategy(text, seed=3, budget=60, threshold=0.1, words=QUERY, ontology=str(self.ontology))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("simulation"))


@pytest.mark.parametrize("text", ON_PAGES)
def test_simulate_pages_like_engine(world: World, text: str) -> None:
    guide, seeds = world.guide(world.make(text).wants), [0, 40, 7]
    simulated = simulate(guide, world.make(text), seeds, 60)
    crawled = crawl(world.index, world.topic(), world.make(text), seeds, 60)
    assert crawled.nodes.tolist() == simulated.nodes.tolist()
    assert crawled.ending == simulated.ending
    assert crawled.seeds == simulated.seeds == 3


def random_graph(seed: int, nodes: int = 150) -> CorpusIndex:
    """Return a random graph with few distinct scores, so that most nodes are tied."""
    chance = np.random.default_rng(seed)
    names = [f"n{number}" for number in range(nodes)]
    links = {name: [names[to] for to in chance.integers(0, nodes, chance.integers(0, 8))] for name in names}
    score = {name: float(chance.choice([0, 0, 0.1, 0.2, 0.3])) for name in names}
    alpha = {(name, to): float(chance.choice([0, 0, 0.1, 0.7])) for name, found in links.items() for to in found}
    return CorpusIndex.of(links, score, alpha)


@pytest.mark.paper("gouriten-crawl-sequence")
def test_simulate_nodes_like_engine() -> None:
    index = random_graph(1, nodes=100)
    for text in ON_GRAPHS:
        simulated, crawled = (
            run(strategy(text, seed=3, budget=50, threshold=0.1, words="n"))
            for run in (
                lambda result: simulate(Judgements.given(index), result, [5, 6], 50),
                lambda result: crawl(index, SpaceJudge(), result, [5, 6], 50),
            )
        )
        assert crawled.nodes.tolist() == simulated.nodes.tolist(), text
        assert crawled.ending == simulated.ending, text


@pytest.mark.parametrize("text", ["fl_ne", "lr_fl", "mab_var", "random"])
def test_simulate_is_reproducible(text: str) -> None:
    guide = Judgements.given(random_graph(4))
    first, again = (simulate(guide, strategy(text, seed=9, budget=50), [1], 50) for _ in range(2))
    assert first.nodes.tolist() == again.nodes.tolist()
    assert first.arms == again.arms
    assert (50 + 1 if text == "mab_var" else 0) == len(first.arms)


LINE = CorpusIndex.of({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]}, score={"c": 1.0})


def names_of(trace: Trace, index: CorpusIndex) -> str:
    return "".join(index.names[node] for node in trace.found.tolist())


def test_simulate_budget_excludes_seeds() -> None:
    guide = Judgements.given(LINE)
    trace = simulate(guide, strategy("fl_n"), [0], 2)
    assert "bc" == names_of(trace, LINE)
    assert (PAGES_SPENT, 1) == (trace.ending, trace.seeds)
    assert [0] == simulate(guide, strategy("fl_n"), [0], 0).nodes.tolist()


def test_simulate_reports_exhaustion() -> None:
    trace = simulate(Judgements.given(LINE), strategy("fl_n"), [2], 9)
    assert "de" == names_of(trace, LINE)
    assert EXHAUSTED == trace.ending


def test_simulate_seen_nodes_cost_nothing() -> None:
    seen = np.array([False, True, False, True, False])
    trace = simulate(Judgements.given(LINE), strategy("fl_n"), [0], 2, seen=seen)
    assert "bcde" == names_of(trace, LINE)  # c and e use the budget
    assert [0, 1] == simulate(Judgements.given(LINE), strategy("fl_n"), [0], 1, seen=seen).nodes[:2].tolist()


def test_simulate_seen_seed_is_a_seed() -> None:
    seen = np.array([True, False, False, False, False])
    assert "bc" == names_of(simulate(Judgements.given(LINE), strategy("fl_n"), [0], 2, seen=seen), LINE)


@pytest.mark.parametrize("seen", [None, np.array([False, True, False, False, False])])
def test_simulate_duplicate_seeds_count_once(seen: NDArray[np.bool_] | None) -> None:
    trace = simulate(Judgements.given(LINE), strategy("fl_n"), [0, 0, 0], 2, seen=seen)
    assert 1 == trace.seeds
    assert ("bc" if seen is None else "bcd") == names_of(trace, LINE)
    again = crawl(LINE, SpaceJudge(), strategy("fl_n"), [0, 0, 0], 2)
    assert ("bc", 1) == (names_of(again, LINE), again.seeds)


@pytest.mark.parametrize("seed", [-1, 5])
def test_simulate_unknown_seed_is_error(seed: int) -> None:
    with raises_input_error("out-of-range", f"seed {seed} must be a node from 0 to 4"):
        simulate(Judgements.given(LINE), strategy("fl_n"), [seed], 2)


def test_simulate_without_seeds_is_empty() -> None:
    trace = simulate(Judgements.given(LINE), strategy("fl_n"), [], 2)
    assert ([], EXHAUSTED) == (trace.nodes.tolist(), trace.ending)


def test_simulate_nodes_without_names_equals_engine(tmp_path: Path) -> None:
    index = generate(tmp_path / "made.index", "france", nodes=400)
    assert ("17", 17, 400) == (index.names[17], index.number_of["17"], len(index.number_of))
    simulated = simulate(Judgements.given(index), strategy("fl_ne"), [3, 8], 100)
    crawled = crawl(index, SpaceJudge(), strategy("fl_ne"), [3, 8], 100)
    assert crawled.nodes.tolist() == simulated.nodes.tolist()
    assert 102 == len(simulated.nodes)


def test_recorded_visit_equals_engine(world: World) -> None:
    index, guide = world.index, world.guide(("context",))
    visits: dict[int, Any] = {}

    class Spy:
        def learn(self, step: Step, table: Any) -> NDArray[Any]:
            visits[step.visit.pick] = (step.visit, step.of_link.tolist(), step.facet("context").tolist())
            return step.children

        def priority(self, rows: NDArray[Any], table: Any) -> NDArray[np.float64]:
            return -rows.astype(np.float64)

        wants = ("context",)

    def shown(run: Any) -> Sequence[Any]:
        visits.clear()
        run(Greedy(Spy(), "spy"))
        return list(visits.values())

    ours = shown(lambda spy: simulate(guide, spy, [0], 20))
    engines = shown(lambda spy: crawl(index, world.topic(), spy, [0], 20))
    for (a, of_a, facet_a), (b, of_b, facet_b) in zip(ours, engines, strict=True):
        assert isinstance(a, RecordedVisit)
        for name in ("node", "kind", "outcome", "pick", "arm", "priority", "title", "language", "data", "same_as",
                     "retry_at", "status", "flags", "hops", "attempt", "is_page", "url"):  # fmt: skip
            assert getattr(b, name) == getattr(a, name)
        assert b.relevance == pytest.approx(a.relevance, rel=1e-12)  # words are summed in the order of their ids
        assert b.links.urls == a.links.urls
        assert b.links.anchors == a.links.anchors
        assert b.links.link_relevances.tolist() == a.links.link_relevances.tolist()
        assert b.links.facets["context"].tolist() == a.links.facets["context"].tolist()
        assert (of_b, facet_b) == (of_a, facet_a)
        assert int(b.terms.counts.sum()) == int(a.terms.counts.sum())


def test_simulate_accepts_minimal_index() -> None:
    columns = {name: np.zeros(0, column.kind) for name, column in COLUMNS.items()}
    columns |= {"child_start": np.zeros(4, np.int64), "link_start": np.zeros(4, np.int64)}
    index = CorpusIndex(columns, {}, np.zeros(0, np.uint8), np.zeros(0, np.uint8))
    trace = simulate(Judgements.given(index), strategy("fl_e"), [2, 0], 5)
    assert ([2, 0], EXHAUSTED) == (trace.nodes.tolist(), trace.ending)
