from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.judges.space_judge import SpaceJudge
from lycosa.strategies import STRATEGIES
from lycosa.strategies.baselines import BreadthFirst
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements, judgements_for
from lycosa_lab.preparation import prepare
from lycosa_lab.seeds import seed_sets
from lycosa_lab.simulation import simulate
from lycosa_lab.subjects import HuntSubject, subjects_of
from lycosa_lab.trial_strategies import GROUPS, input_group, judge_as_for, make_trial_strategy, needs, wants
from recorded_crawl import crawl

GRAPH = {"a": ["b", "c"], "b": ["d", "e"], "c": ["e"], "d": ["f"], "e": ["g"]}
SCORE = {"b": 0.1, "c": 0.2, "d": 0.9, "f": 0.3, "g": 1.0}


class Own(BreadthFirst):
    """User-defined estimator."""


@pytest.fixture
def graph() -> tuple[CorpusIndex, HuntSubject, Judgements]:
    index = CorpusIndex.of(GRAPH, score=SCORE)
    (subject,) = subjects_of(index)
    return index, subject, judgements_for(index, subject, "score")


@pytest.fixture(scope="session")
def hunted(web: CorpusIndex, tmp_path_factory: pytest.TempPathFactory) -> tuple[CorpusIndex, HuntSubject, Path]:
    out = tmp_path_factory.mktemp("hunted")
    (subject,) = subjects_of(web, ["cooking"])
    return web, prepare(web, subject, ["model", "rules", "browsing"], out), out


def picked(graph: tuple[CorpusIndex, HuntSubject, Judgements], text: str, budget: int = 6) -> str:
    index, subject, guide = graph
    result = make_trial_strategy(text, index, subject, guide, budget=budget, random_seed=0)
    return "".join(index.names[node] for node in simulate(guide, result, [0], budget).found)


def test_oracle_picks_best_known_node(graph: tuple[CorpusIndex, HuntSubject, Judgements]) -> None:
    """From a the oracle picks c (.2) before b (.1), then d (.9), f (.3), e (0, the only node left), g."""
    assert "cbdfeg" == picked(graph, "oracle")
    assert "cbdf" == picked(graph, "oracle", 4)


def test_oracle_equals_engine(graph: tuple[CorpusIndex, HuntSubject, Judgements]) -> None:
    index, subject, guide = graph
    result = lambda: make_trial_strategy("oracle", index, subject, guide, budget=6, random_seed=0)  # noqa: E731
    own = simulate(guide, result(), [0], 6).nodes.tolist()
    assert own == crawl(index, SpaceJudge(), result(), [0], 6).nodes.tolist()


def test_craw4llm_reads_judgements_not_truth(graph: tuple[CorpusIndex, HuntSubject, Judgements]) -> None:
    """For the judge b has .9 and c .1 (in truth .1 and .2), so b is fetched first, then d (.9), f (.3), c, e, g."""
    index, subject, guide = graph
    guide.relevance = np.array(guide.relevance)
    guide.relevance[[index.number_of["b"], index.number_of["c"]]] = 0.9, 0.1
    assert "bdfceg" == picked((index, subject, guide), "craw4llm")
    assert "cbdfeg" == picked((index, subject, guide), "oracle")
    assert "truth" == input_group("craw4llm", "words") == input_group("craw4llm", "examples")
    assert "query" == input_group("crawl4ai", "words") == input_group("crawl4ai", "examples")


def test_oracle_accepts_batch_but_no_other_parameters(graph: tuple[CorpusIndex, HuntSubject, Judgements]) -> None:
    assert "cbdfeg" == picked(graph, "oracle,batch=1")
    assert set("bcdefg") == set(picked(graph, "oracle,batch=2"))
    with raises_input_error("unknown-option", "oracle has no parameter 'depth'"):
        picked(graph, "oracle,depth=3")


def test_make_trial_strategy_passes_facts(graph: tuple[CorpusIndex, HuntSubject, Judgements]) -> None:
    index, subject, guide = graph
    guide.threshold = 0.25
    result = make_trial_strategy("mab_first,arms=fl_n+fl_deg", index, subject, guide, budget=77, random_seed=5)
    assert (77, 5) == (result.budget, result.seed)  # type: ignore[attr-defined]
    hard = make_trial_strategy("hard-focus", index, subject, guide, budget=77, random_seed=5)
    assert 0.25 == hard.estimator.threshold  # type: ignore[attr-defined]
    scent = make_trial_strategy("scent", index, subject, guide, budget=77, random_seed=5)
    assert scent.estimator.exact  # type: ignore[attr-defined]  # what the graph says of its nodes is the truth


def test_make_trial_strategy_accepts_user_class(
    graph: tuple[CorpusIndex, HuntSubject, Judgements], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert picked(graph, "breadth-first") == picked(graph, "test_trial_strategies:Own")
    with raises_input_error("unknown-name", "did you mean best-first"):
        picked(graph, "bestfirst")


@pytest.mark.parametrize(("text", "times"), [("context-graph", 1.0), ("rules", 1.5), ("mab_var,arms=hmm+fl_n", 1.5)])
def test_trained_strategies_beat_chance(hunted: tuple[CorpusIndex, HuntSubject, Path], text: str, times: float) -> None:
    index, subject, out = hunted
    guide = judgements_for(index, subject, judge_as_for(text, "words"), out=out)
    result = make_trial_strategy(text, index, subject, guide, budget=30, random_seed=0)
    (seeds,) = seed_sets(index, subject, "on-topic", count=3)
    found = subject.counted(simulate(guide, result, seeds, 30, seen=subject.seen).found)
    assert 30 == len(found)
    assert subject.truth[found].mean() > times * subject.truth[~subject.seen].mean()
    assert str(out) not in getattr(result, "name", "")


def test_make_trial_strategy_without_training_is_error(hunted: tuple[CorpusIndex, HuntSubject, Path]) -> None:
    index, subject, out = hunted
    (bare,) = subjects_of(index, ["cooking"])
    words = judgements_for(index, subject, "words", out=out)
    model = judgements_for(index, subject, "model", out=out)
    with raises_input_error("untrained", r"'cooking' \(needs browsing\)"):
        make_trial_strategy("hmm", index, bare, words, budget=9, random_seed=0)
    with raises_input_error("untrained", "needs model and rules"):
        make_trial_strategy("rules", index, bare, model, budget=9, random_seed=0)
    with raises_input_error("conflicting-options"):
        make_trial_strategy("rules", index, subject, words, budget=9, random_seed=0)


def test_needs_include_those_of_arms() -> None:
    assert {"browsing"} == needs("hmm") == needs("hybrid-anchor,batch=4")
    assert {"model", "rules"} == needs("rules")
    assert {"browsing", "model", "rules"} == needs("mab_epsilon,arms=hmm+rules+fl_n")
    assert {"browsing"} == needs("mab_discounted,arms=hmm+fl_n")
    assert set() == needs("mab_discounted")
    assert set() == needs("hmm,file=mine") == needs("mab_var") == needs("ehrig") == needs("oracle")


def test_input_group_is_known_for_every_strategy() -> None:
    for name in STRATEGIES:
        for output in ("words", "examples", "model", "score"):
            assert input_group(name, output) in GROUPS
    assert ["nothing"] * 3 == [input_group("fl_deg", output) for output in ("words", "model", "score")]
    assert ["query", "examples", "taxonomy", "query"] == [
        input_group("best-first", output) for output in ("words", "examples", "model", "score")
    ]
    assert "training record" == input_group("context-graph", "words")
    assert "taxonomy" == input_group("rules", "words")
    assert "truth" == input_group("oracle", "words")
    assert "query" == input_group("ssrm", "examples")
    assert "query" == input_group("mab_var,arms=fl_deg+backlink", "words")  # rewarded by the judge
    assert "training record" == input_group("mab_var,arms=fl_deg+hmm", "words")
    assert ["query", "examples"] == [input_group("mab_discounted", output) for output in ("words", "examples")]
    with raises_input_error("unknown-name"):
        input_group("best-first", "rumours")


def test_wants_are_those_of_strategies_and_arms() -> None:
    assert () == wants(["best-first", "fl_n"])
    assert ("context", "context_score", "url") == wants(["otie", "mab_var,arms=fl_n+link-score"])
    assert () == wants(["mab_var"])  # its arms are those of the paper
    assert set(wants(["scent", "best-first", "fl_n", "link-context"])) == set(wants(["mab_discounted"])) > set()
