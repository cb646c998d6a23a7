"""Every item of the papers has one home in the code, and what is said of it there exists."""

from __future__ import annotations

import importlib
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import describe
from lycosa.core.spec import parse
from lycosa.estimators import describe as of_strategy
from lycosa.lab.papers import EXPERIMENTS
from lycosa.spaces import describe as of_space
from lycosa.topics import describe as of_judge
from test_docs import COMMANDS, ROOT, _tool

TOOL = _tool("items")
NAMED = {"--strategy": of_strategy, "--judge": of_judge, "--space": of_space}
STEERED = {"batch", "dry", "q", "zeta", "ties"}
"""Parameters of every strategy."""


def test_every_item_has_one_home() -> None:
    """No item of tools/items.tsv without a docstring that names it, or with two; and every test named is there."""
    assert [] == TOOL.problems(ROOT)


def test_the_table_is_up_to_date() -> None:
    """docs/papers-items.md is what tools/items.py makes of list and docstrings: if not, run it."""
    assert TOOL.page(ROOT) == (ROOT / TOOL.TARGET).read_text("utf-8")


def test_what_items_are_reached_by_exists() -> None:
    """Each command, option, strategy, judge, space, route and name that a docstring gives as the way is there."""
    ways = {home.id: re.findall(r"`([^`]+)`", home.reached) for home in TOOL.homes(ROOT) if home.built}
    assert [] == [id for id, given in ways.items() if not given]
    assert [] == [f"{id}: {way}" for id, given in ways.items() for way in given if not exists(way)]


@pytest.mark.parametrize(
    ("way", "there"),
    [
        ("--strategy otie,a=.85", True),
        ("--strategy otie,q=.8", True),
        ("--strategy otie,b=.85", False),
        ("--strategy ootie", False),
        ("--judge vector,tf=max", True),
        ("--judge vector,df=1", False),
        ("--space social,server=URL", True),
        ("--space telephone", False),
        ("--budget", True),
        ("--bugdet", False),
        ("lycosa train browse --clusters", True),
        ("lycosa train browse --cluster", False),
        ("lycosa lab paper otie --quick", True),
        ("lycosa lab paper oti", False),
        ("lycosa hunt", False),
        ("GET /catalogue", True),
        ("POST /me/export", False),
        ("lycosa.spaces.gossip.GossipSpace", True),
        ("lycosa.spaces.gossip.Gossip", False),
        ("otie", False),
    ],
)  # fmt: skip
def test_ways_that_there_are_not_are_found(way: str, there: bool) -> None:
    """What is misspelled, or has gone, is told from what exists."""
    assert there == exists(way)


def exists(way: str) -> bool:
    """Whether there is such a command, option, route or name."""
    if way.startswith("lycosa "):
        return _is_command(way.split()[1:])
    if re.match(r"[A-Z]+ /", way):
        return f"| `{way}` |" in (ROOT / "docs" / "api.md").read_text("utf-8")
    if way.startswith("lycosa."):
        module, _, name = way.rpartition(".")
        return hasattr(importlib.import_module(module), name)
    option, _, spec = way.partition(" ")
    if spec and option in NAMED:
        name, parameters = parse(spec)
        try:
            known = set(NAMED[option](name))
        except (InputError, KeyError):
            return False
        return set(parameters) <= known | (STEERED if option == "--strategy" else set())
    return not spec and option in _options()


def _is_command(words: list[str]) -> bool:
    length = next((length for length in (2, 1) if " ".join(words[:length]) in COMMANDS), 0)
    if not length:
        return False
    name, rest = " ".join(words[:length]), words[length:]
    options = {word for word in rest if word.startswith("-")}
    papers = [word for before, word in pairwise(["", *rest]) if not before.startswith("-") and word not in options]
    return options <= _spellings(name) and (name == "lab paper" or not papers) and set(papers) <= set(EXPERIMENTS)


def _spellings(name: str) -> set[str]:
    command = COMMANDS[name]
    usual = [command.load(command.usual)] if getattr(command, "usual", "") else []
    return {spelling for one in (command, *usual) for parameter in one.params for spelling in parameter.opts}


@cache
def _options() -> set[str]:
    return {flag for _, flag, *_ in describe()}


def _toy(root: Path, listed: str, docstring: str) -> Any:
    for place in ("tools", "src", "tests"):
        (root / place).mkdir()
    (root / "tools" / "items.tsv").write_text(f"id\tplace\twhat\n{listed}", "utf-8")
    (root / "src" / "cash.py").write_text(f'"""Cash.\n\n{docstring}"""\n', "utf-8")
    (root / "tests" / "test_cash.py").write_text("def test_shares() -> None: ...\n", "utf-8")
    return TOOL.problems(root)


ONE = "otie-eq1\teq. 1\tshares\n"
GOOD = "Paper items:\n    otie-eq1: `--strategy otie`.\n        Test: test_cash.py::test_shares. Departs: no.\n"


@pytest.mark.parametrize(
    ("listed", "docstring", "wrong"),
    [
        (ONE, GOOD, []),
        (ONE, "Paper items:\n    otie-eq1: not built: why.\n", []),
        (ONE, "", ["otie-eq1 has no home: no docstring names it"]),
        (ONE, GOOD + GOOD[13:], ["otie-eq1 has several homes: src/cash.py, src/cash.py"]),
        ("", GOOD, ["otie-eq1 is in src/cash.py, but not in tools/items.tsv"]),
        (ONE + ONE, GOOD, ["tools/items.tsv: otie-eq1 is there twice"]),
        (ONE, GOOD.replace("shares.", "share."), ["otie-eq1 (src/cash.py): there is no test_cash.py::test_share"]),
        (ONE, "Paper items:\n    otie-eq1: `--strategy otie`.\n", ["otie-eq1 (src/cash.py): no test is named"]),
        (ONE, "Paper items:\n    eq. 1: here.\n", ["src/cash.py: no item can be read from 'eq. 1: here.'"]),
        (
            "other-eq1\teq. 1\tshares\n",
            GOOD.replace("otie-eq1", "other-eq1"),
            ["tools/items.tsv: other-eq1 begins with no paper's name"],
        ),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, listed: str, docstring: str, wrong: list[str]) -> None:
    """Items without a home, with two, unknown ones, tests that there are not, and lines that can't be read."""
    assert wrong == _toy(tmp_path, listed, docstring)
