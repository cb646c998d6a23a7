"""Crawls of the sample graph."""

from lycosa.checks.crawls import engine, growth, picks, run, state, visits_of
from lycosa.checks.trials import Shuffled
from lycosa.core.composite import Greedy
from lycosa.strategies.best_first import BestFirst


def test_run_stops_after_limit() -> None:
    assert len(visits_of(run(engine(Greedy(BestFirst()), Shuffled()), 20))) == 20


def test_engine_replays_events() -> None:
    live = engine(Greedy(BestFirst()), Shuffled())
    events = run(live, 30)
    resumed = engine(Greedy(BestFirst()), Shuffled(), events)
    assert resumed.tally.pages == live.tally.pages
    assert picks(resumed, 5) == picks(live, 5)


def test_picks_returns_rows_to_frontier() -> None:
    made = engine(Greedy(BestFirst()), Shuffled())
    run(made, 10)
    first = picks(made)
    assert len({node for node, _ in first}) == len(first) > 0
    assert picks(made) == first


def test_state_is_empty_for_unpicklable_objects() -> None:
    assert state(lambda: None) == b""
    assert state([1]) == state([1]) != state([2])


def test_growth_detects_growing_list() -> None:
    kept: list[bytes] = []
    assert growth(lambda: kept.append(bytes(10_000)), 1, 10) > 50_000
    assert growth(lambda: None, 1, 10) < 5_000
