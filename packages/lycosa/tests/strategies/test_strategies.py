"""Tests of the registry of strategies."""

from typing import Any

import pytest

from browsed_pages import positives_only
from input_errors import raises_input_error
from lycosa.checks.estimators import (
    crawl_can_be_resumed,
    other_priorities_stay,
    redirects_pass_on_priority,
    revisited_page,
)
from lycosa.checks.failing import run_check
from lycosa.core.errors import InputError
from lycosa.strategies import STRATEGIES, describe, estimator, strategy
from lycosa.strategies.baselines import BreadthFirst, Random
from lycosa.strategies.best_first import BestFirst


def test_estimator_by_name_has_fixed_arguments() -> None:
    assert [repr(BestFirst(0.5, 0.5)), repr(BestFirst(1.0, 0.0)), repr(BestFirst(0.0, 1.0)), repr(Random(7))] == [
        repr(estimator(name, seed=7)) for name in ("best-first", "best-first-page", "best-first-anchor", "random")
    ]


def test_entries_have_one_line_summaries() -> None:
    assert all(entry.summary and "\n" not in entry.summary for entry in STRATEGIES.values())


def test_estimator_returns_new_objects() -> None:
    one, other = estimator("best-first"), estimator("best-first")
    assert one is not other


def test_estimator_loads_module_and_class() -> None:
    assert isinstance(estimator("lycosa.strategies.baselines:BreadthFirst"), BreadthFirst)


def test_estimator_unknown_name_suggests_similar() -> None:
    with raises_input_error("unknown-name", match=r"best-first or .*strategies"):
        estimator("bestfirst")
    with raises_input_error("unknown-name", match="lycosa list strategies"):
        estimator("xyz")


def test_parameters_fixed_by_name_are_hidden() -> None:
    with raises_input_error("unknown-option", match="'kind'"):
        estimator("fl_deg,kind=n")
    assert ["smooth"] == list(describe("fl_deg"))


def test_describe_bandits_lists_used_parameters() -> None:
    """The registered defaults include the paper's mab_var-0.2-200."""
    described = {
        name: {key: value for key, (_, value) in describe(name).items() if key != "arms"}
        for name in STRATEGIES
        if name.startswith("mab_")
    }
    assert {
        "mab_epsilon": {"epsilon": 0.1, "literal": False},
        "mab_first": {"epsilon": 0.1},
        "mab_reset": {"epsilon": 0.1, "reset": 1000},
        "mab_var": {"epsilon": 0.2, "reset": 200},
        "mab_window": {"epsilon": 0.1, "window": 1000, "literal": False},
        "mab_discounted": {"discount": 0.95, "width": 0.5},
    } == described


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name.startswith("mab_")])
def test_bandits_accept_described_parameters_only(name: str) -> None:
    described = {key: value for key, (_, value) in describe(name).items() if key not in ("arms", "literal")}
    strategy(",".join([name, *(f"{key}={value}" for key, value in described.items())]))
    for key in {"reset", "window"} - described.keys():
        with raises_input_error("bad-value", match=f"{name} does not use {key}"):
            strategy(f"{name},{key}=5")


def test_bandits_reject_steering_parameters() -> None:
    with raises_input_error("unknown-option", match="'batch'"):
        strategy("mab_var,batch=3")


@pytest.mark.parametrize("name", ["nowhere:Thing", "lycosa.strategies:Nothing"])
def test_estimator_missing_module_or_class_raises(name: str) -> None:
    with raises_input_error("bad-plugin", match=name):
        estimator(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [(":Thing", "cannot load the strategy"), ("lycosa.spaces.web_space:WebSpace", "needs transport and")],
)
def test_estimator_class_with_required_arguments_raises(name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        estimator(name)


class Broken:
    """Class whose constructor fails."""

    def __init__(self) -> None:
        raise RuntimeError("no luck")


class Picks:
    """Class that implements only `pick`."""

    def pick(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{__name__}:Broken", "cannot load the strategy .*: RuntimeError: no luck"),
        (f"{__name__}:Picks", "creates a Picks without learn and frontier and admit"),
        ("os:getcwd", "creates a str without learn and priority: see lycosa.core.protocols"),
        ("builtins:int", "cannot load the strategy .*: ValueError: no signature"),
        ("..:x", "cannot load the strategy"),
    ],
)
def test_strategy_rejects_invalid_classes(name: str, message: str) -> None:
    with raises_input_error("bad-plugin", message):
        strategy(name)


@pytest.mark.parametrize(
    "text",
    [
        "context-graph,layers=1,least=0,merge=last",
        "fish-search,width=1,depth=0,threshold=.9",
        "hard-focus,least=.2,trust_seeds=no",
        "hmm,literal=yes,smoothing=0,merge=last",
        "hybrid-anchor,clusters=xmeans,merge=last,k=1",
        "hybrid-anchor,literal=yes",
        "link-score,least=2.5,levels=1,threshold=.5",
        "nb-links,threshold=.5,period=3,least=.5",
        "nr,period=1,iterations=3",
        "opic,period=1",
        "otie,scale=none,period=1",
        "otie,a=2,d=2,page=0,period=0",
        "pagerank,period=7",
        "personalised,levels=2,threshold=.7",
        "shark-search,delta=1,gamma=1,depth=0",
    ],
)
def test_parameter_variants_pass_checks(text: str) -> None:
    known: dict[str, Any] = {"file": positives_only()}
    for check in (other_priorities_stay, redirects_pass_on_priority, crawl_can_be_resumed, revisited_page):
        assert check.__name__ == run_check(check, lambda: estimator(text, **known))
