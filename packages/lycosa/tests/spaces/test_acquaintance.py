"""Messages passed on by acquaintances."""

import asyncio
import importlib.util
from statistics import median
from types import ModuleType

import pytest

from lycosa.checks import check_space
from lycosa.core.types import Task
from lycosa.spaces.acquaintance import AcquaintanceSpace, Trait
from places import ROOT

KNOWS = {"ann": ["bob", "cat", "dan"]}
TRAITS: dict[str, dict[str, Trait]] = {
    "ann": {"work": "baker"},
    "bob": {"place": (0.0, 3.0), "work": "sailor", "hobbies": {"chess", "choir"}},
    "cat": {"place": (4.0, 3.0), "work": "baker", "hobbies": {"chess"}},
    "dan": {"place": (0.0, 0.0), "work": "sailor", "hobbies": {"chess", "dance"}},
}


def _benchmark(name: str) -> ModuleType:
    path = ROOT / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nearness_is_mean_over_traits() -> None:
    space = AcquaintanceSpace(KNOWS, TRAITS, "dan")
    # bob: distance 3, same work, one hobby of three; cat: distance 5, other work, one hobby of two.
    assert pytest.approx((1 / (1 + 3) + 1 + 1 / 3) / 3) == space.nearness("bob")
    assert pytest.approx((1 / (1 + 5) + 0 + 1 / 2) / 3) == space.nearness("cat")
    assert 0.0 == space.nearness("ann") == space.nearness("nobody")


def test_visit_returns_alpha_and_beta() -> None:
    space = AcquaintanceSpace(KNOWS, TRAITS, "dan")
    page = asyncio.run(space.visit(Task("ann")))
    assert [space.nearness("bob"), space.nearness("cat"), 1.0] == page.data["alpha"]
    assert (0.0, 1.0) == (page.data["beta"], asyncio.run(space.visit(Task("dan"))).data["beta"])


def test_assessment_error_is_bounded_and_deterministic() -> None:
    space = AcquaintanceSpace(KNOWS, TRAITS, "dan", misjudged=0.1)
    errors = [space.assessment(f"holder {i}", "bob") - space.nearness("bob") for i in range(200)]
    assert max(map(abs, errors)) <= 0.1
    assert max(errors) > 0.08
    assert min(errors) < -0.08
    assert space.assessment("ann", "bob") == space.assessment("ann", "bob")
    assert 1.0 == space.assessment("ann", "dan")


def test_acquaintance_space_passes_checks() -> None:
    assert len(check_space(AcquaintanceSpace(KNOWS, TRAITS, "dan"), "ann")) > 5


@pytest.mark.parametrize(
    ("receiver", "misjudged", "complaint"),
    [("zoe", 0.0, "the receiver 'zoe' has no traits"), ("dan", -1.0, "'misjudged' is -1.0: it must be 0")],
)
def test_acquaintance_space_rejects_invalid_parameters(receiver: str, misjudged: float, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        AcquaintanceSpace(KNOWS, TRAITS, receiver, misjudged=misjudged)


@pytest.mark.paper("gouriten-acquaintance")
def test_best_first_needs_a_tenth_of_breadth_first_messages() -> None:
    message = _benchmark("networks").message
    near = [message(seed, "best-first-anchor", 0.0, side=30)[0] for seed in (1, 2, 3)]
    everyone = [message(seed, "breadth-first", 0.0, side=30)[0] for seed in (1, 2, 3)]
    assert median(near) < 0.1 * median(everyone)
