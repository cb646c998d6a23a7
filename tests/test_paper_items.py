"""Every item of the papers has an entry and a test, and exists where the entry says."""

from __future__ import annotations

import importlib
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import describe
from lycosa.core.spec import parse_spec
from lycosa.judges import describe as of_judge
from lycosa.spaces import describe as of_space
from lycosa.strategies import describe as of_strategy
from lycosa_lab.papers import EXPERIMENTS
from test_docs import COMMANDS, ROOT, _tool

TOOL = _tool("items")
NAMED = {"--strategy": of_strategy, "--judge": of_judge, "--space": of_space}
STEERED = {"batch", "dry", "q", "zeta", "ties"}
"""Parameters of every strategy."""


def test_item_list_has_no_problems() -> None:
    assert [] == TOOL.problems(ROOT)


def test_page_is_up_to_date() -> None:
    assert TOOL.page(ROOT) == (ROOT / TOOL.TARGET).read_text("utf-8")


def test_reached_names_exist() -> None:
    ways = {item.id: re.findall(r"`([^`]+)`", item.reached) for item in TOOL.items(ROOT) if item.is_built}
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
def test_exists_recognises_each_kind_of_name(way: str, there: bool) -> None:
    assert there == exists(way)


def exists(way: str) -> bool:
    """Return whether a command, option, route or name exists."""
    if way.startswith("lycosa "):
        return _is_command(way.split()[1:])
    if re.match(r"[A-Z]+ /", way):
        return f"| `{way}` |" in (ROOT / "docs" / "api.md").read_text("utf-8")
    if re.match(r"lycosa(_\w+)?\.", way):
        module, _, name = way.rpartition(".")
        return hasattr(importlib.import_module(module), name)
    option, _, spec = way.partition(" ")
    if spec and option in NAMED:
        name, parameters = parse_spec(spec)
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


HEAD = "id\tplace\twhat\treached\tdeparts\n"
BUILT = "otie-eq1\teq. 1\tshares\t`--strategy otie`\t\n"
NOT_BUILT = "otie-eq1\teq. 1\tshares\tnot built: only named\t\n"
TEST = "@pytest.mark.paper({})\ndef test_shares() -> None: ...\n"


def _toy(root: Path, listed: str, marker: str) -> None:
    """Write a list of items, and a test with a marker for these items."""
    for place in ("tools", "packages/lycosa/tests/core"):
        (root / place).mkdir(parents=True)
    (root / "tools" / "items.tsv").write_text(HEAD + listed, "utf-8")
    source = TEST.format(marker) if marker else "def test_shares() -> None: ...\n"
    (root / "packages" / "lycosa" / "tests" / "core" / "test_cash.py").write_text(source, "utf-8")


@pytest.mark.parametrize(
    ("listed", "marker", "expected"),
    [
        (BUILT, "'otie-eq1'", []),
        (NOT_BUILT, "", []),
        (BUILT, "", ["otie-eq1 has no test: mark one with pytest.mark.paper('otie-eq1')"]),
        (NOT_BUILT, "'otie-eq1'", ["otie-eq1 is not built, but test_shares names it"]),
        (
            BUILT,
            "'otie-eq1', 'otie-eq2'",
            ["packages/lycosa/tests/core/test_cash.py: test_shares names otie-eq2, which is not in tools/items.tsv"],
        ),
        (
            BUILT,
            "'otie-eq1', OTHER",
            ["packages/lycosa/tests/core/test_cash.py: test_shares names OTHER, which is not in tools/items.tsv"],
        ),
        (BUILT + BUILT, "'otie-eq1'", ["tools/items.tsv: otie-eq1 is there twice"]),
        (BUILT.replace("`--strategy otie`", ""), "'otie-eq1'", ["tools/items.tsv: otie-eq1 lacks how it is reached"]),
        ("otie-eq1\teq. 1\tshares\n", "'otie-eq1'", ["tools/items.tsv, line 2: 3 columns instead of 5"]),
        (
            BUILT.replace("otie-eq1", "other-eq1"),
            "'other-eq1'",
            ["tools/items.tsv: other-eq1 begins with no paper's name"],
        ),
    ],
)
def test_problems_name_errors_in_list_and_markers(
    tmp_path: Path, listed: str, marker: str, expected: list[str]
) -> None:
    _toy(tmp_path, listed, marker)
    assert expected == TOOL.problems(tmp_path)


def test_page_has_row_for_item(tmp_path: Path) -> None:
    _toy(tmp_path, BUILT.replace("shares\t", "a|b\t"), "'otie-eq1'")
    link = "[test_shares](../packages/lycosa/tests/core/test_cash.py)"
    assert f"\n| otie-eq1 | eq. 1 | a\\|b | `--strategy otie` | {link} |  |\n" in TOOL.page(tmp_path)


def test_page_links_parametrized_methods(tmp_path: Path) -> None:
    _toy(tmp_path, BUILT, "")
    marker = "@pytest.mark.paper('otie-eq1')"
    (tmp_path / "packages" / "lycosa" / "tests" / "test_ways.py").write_text(
        f"class TestWays:\n    @other\n    {marker}\n    def test_method(self): ...\n"
        f"{marker}\nasync def test_coroutine(): ...\n{marker}\ndef helper(): ...\n",
        "utf-8",
    )
    assert {"test_method", "test_coroutine"} == {test.name for test in TOOL.tests_by_item(tmp_path)["otie-eq1"]}
