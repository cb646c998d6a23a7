from __future__ import annotations

import math

import numpy as np
import pytest

from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.forced_sequence import WatchedSequence, watch
from lycosa_lab.judgements import Judgements
from lycosa_lab.simulation import Trace, simulate
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import make_trial_strategy

WATCHERS = ("breadth-first", "fl_n", "fl_ne", "sl_ne", "lr_sl", "opic-alpha", "nr", "random")


@pytest.fixture(scope="module")
def index() -> CorpusIndex:
    """Return a graph of 200 nodes, all reachable from the first; a third of them have a score."""
    dice = np.random.default_rng(4)
    names = [f"n{node}" for node in range(200)]
    links = {
        name: {names[(node + 1) % 200], *(names[k] for k in dice.integers(0, 200, 5))}
        for node, name in enumerate(names)
    }
    score = {name: round(float(dice.random()), 3) for name in names if dice.random() < 0.33}
    ordered = {name: sorted(targets) for name, targets in links.items()}
    alpha = {(a, b): round(float(dice.random()) * score.get(b, 0.1), 3) for a in ordered for b in ordered[a]}
    return CorpusIndex.of(ordered, score, alpha)


def lead(index: CorpusIndex, text: str, budget: int = 80) -> Trace:
    guide = Judgements.given(index)
    return simulate(
        guide,
        make_trial_strategy(text, index, HuntSubject("s", index.score), guide, budget=budget, random_seed=5),
        [0, 7],
        budget,
    )


@pytest.mark.parametrize("text", [*WATCHERS, "mab_var,reset=20", "mab_epsilon", "fl_n,batch=8", "fl_n,q=.5,zeta=.2"])
def test_watch_own_crawl_has_equal_picks(index: CorpusIndex, text: str) -> None:
    led, numbers = lead(index, text), HuntSubject("s", np.arange(1, len(index) + 1, dtype=np.float32))
    seen = watch(index, Judgements.given(index), numbers, {"it": text}, led.nodes, seeds=led.seeds, random_seed=5)
    assert (led.found + 1).tolist() == seen.picked["it"].tolist()


def test_watch_best_is_pick_of_oracle(index: CorpusIndex) -> None:
    led = lead(index, "oracle")
    subject = HuntSubject("s", index.score)
    names = {name: name for name in (*WATCHERS, "mab_var")}
    seen = watch(index, Judgements.given(index), subject, names, led.nodes, seeds=led.seeds)
    assert index.score[led.found].astype(float).tolist() == seen.best.tolist()
    assert all((picked <= seen.best).all() for picked in seen.picked.values())
    assert (seen.distance("fl_ne", 80) >= 0).all()
    assert 0 < seen.distance("fl_ne", 80)[-1] < seen.distance("random", 80)[-1]


@pytest.mark.paper("gouriten-same-sequence")
def test_watch_estimators_are_independent(index: CorpusIndex) -> None:
    led = lead(index, "oracle")
    subject, guide = HuntSubject("s", index.score), Judgements.given(index)
    together = watch(index, guide, subject, {name: name for name in WATCHERS}, led.nodes, seeds=led.seeds)
    for name in ("fl_n", "lr_sl", "nr"):
        alone = watch(index, guide, subject, {name: name}, led.nodes, seeds=led.seeds)
        assert together.picked[name].tolist() == alone.picked[name].tolist()


def test_milliseconds_are_none_after_end_of_watch(index: CorpusIndex) -> None:
    led = lead(index, "oracle", 50)
    seen = watch(
        index, Judgements.given(index), HuntSubject("s", index.score), {"nr": "nr", "n": "fl_n"}, led.nodes,
        seeds=led.seeds, until={"nr": 10},
    )  # fmt: skip
    assert [False] * 10 + [True] * 40 == np.isnan(seen.picked["nr"]).tolist()
    times = seen.milliseconds("nr", [5, 10, 50, 1000])
    assert [True, True, False, False] == [one is not None and one > 0 for one in times]
    assert None not in seen.milliseconds("n", [1, 50])


@pytest.mark.paper("gouriten-running-times")
def test_milliseconds_are_mean_of_window() -> None:
    """Steps of 1, 1, 9 and 2 ms with a window of 3 have the mean of 1, 9 and 2 at step 4."""
    of = np.array([0.001, 0.001, 0.009, 0.002])
    seen = WatchedSequence(np.zeros(4), {}, {"x": of})
    assert [11 / 3, 12 / 3] == pytest.approx(seen.milliseconds("x", [3, 4], window=3))


def test_watch_ends_with_exhausted_frontier() -> None:
    index = CorpusIndex.of({"s": ["a", "b"]}, {"a": 0.5, "b": 1.0})
    subject = HuntSubject("s", np.array([0, 3, 4], np.float32))
    seen = watch(index, Judgements.given(index), subject, {"bfs": "breadth-first"}, np.array([0, 2, 1]), seeds=1)
    assert ([4.0, 3.0], [3.0, 3.0]) == (seen.best.tolist(), seen.picked["bfs"].tolist())


def test_watch_pruning_strategy_gives_nan() -> None:
    index = CorpusIndex.of({"s": ["a"]}, {"a": 1.0})
    seen = watch(
        index, Judgements.given(index), HuntSubject("s", index.score), {"hard": "hard-focus,trust_seeds=no"},
        np.array([0, 1]), seeds=1,
    )  # fmt: skip
    assert math.isnan(seen.picked["hard"][0])


def test_watch_impossible_sequence_is_error() -> None:
    index = CorpusIndex.of({"s": ["a"], "a": ["b"]}, {})
    for impossible in ([0, 2], [0, 1, 1]):
        with pytest.raises(ValueError, match=f"no crawl can fetch {index.names[impossible[-1]]}"):
            watch(
                index,
                Judgements.given(index),
                HuntSubject("s", np.ones(3, np.float32)),
                {},
                np.array(impossible),
                seeds=1,
            )
