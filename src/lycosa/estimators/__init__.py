"""What to fetch next. One algorithm, one file, its paper in the docstring.

`STRATEGIES` names what `--strategy` accepts: where it lives, and what it is made with.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.protocols import Estimator


class Entry(NamedTuple):
    """A strategy by name."""

    module: str
    attribute: str
    arguments: dict[str, Any]
    summary: str


STRATEGIES: dict[str, Entry] = {
    "best-first": Entry(
        "lycosa.estimators.best_first",
        "BestFirst",
        {"page": 0.5, "anchor": 0.5},
        "links of relevant pages with relevant anchors first: mean of page and anchor similarity",
    ),
    "best-first-page": Entry(
        "lycosa.estimators.best_first",
        "BestFirst",
        {"page": 1.0, "anchor": 0.0},
        "links of the most relevant pages first",
    ),
    "best-first-anchor": Entry(
        "lycosa.estimators.best_first",
        "BestFirst",
        {"page": 0.0, "anchor": 1.0},
        "links with the most relevant anchor text first",
    ),
    "breadth-first": Entry(
        "lycosa.estimators.breadth_first", "BreadthFirst", {}, "in order of discovery, level by level"
    ),
    "random": Entry("lycosa.estimators.chance", "Random", {}, "in a random order that depends on --random-seed only"),
}


def estimator(name: str, *, random_seed: int = 0) -> Estimator:
    """Make the estimator of a strategy by its name, or one of your own as `module:Class`.

    >>> estimator("breadth-first")
    BreadthFirst()
    """
    entry = STRATEGIES.get(name)
    if entry is not None:
        arguments = dict(entry.arguments)
        if name == "random":
            arguments["seed"] = random_seed
        made: Estimator = getattr(import_module(entry.module), entry.attribute)(**arguments)
        return made
    module, colon, attribute = name.partition(":")
    if not colon:
        raise InputError(
            f"unknown strategy {name!r}: choose one of {', '.join(STRATEGIES)}, or name your own as module:Class"
        )
    try:
        own: Estimator = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise InputError(f"cannot load strategy {name!r}: {error}; is the module on PYTHONPATH?") from error
    return own
