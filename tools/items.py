"""Write docs/papers-items.md: the items of the five papers, how each is reached, and its tests.

    python tools/items.py           write it
    python tools/items.py --check   exit 1 if it is out of date, or if an item lacks a line or a test

`tools/items.tsv` has a line for each item: id, place in the paper, description, how it is reached, departures from the
paper. A line whose fourth column begins with "not built: " gives the reason. Tests name their items:

    @pytest.mark.paper("otie-eq3", "otie-odd-power")

Tests are parsed with `ast`, not run.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST, TARGET = Path("tools/items.tsv"), Path("docs/papers-items.md")
COLUMNS = ("id", "place", "text", "reached", "departs")

PAPERS = {
    "otie": "Guan et al. 2008: OTIE",
    "batsakis": "Batsakis 2007: classic, semantic and learning crawlers",
    "personalized": "Trivedi et al. 2014: a personalised crawler with change detection",
    "gouriten": "Gouriten, Maniu, Senellart 2014: generic, scalable, adaptive focused crawling",
    "rules": "Altingovde, Ulusoy 2004: rules between classes",
}
"""Titles of the papers by the first part of an item's id."""

NOT_BUILT = "not built: "
MARKER = "pytest.mark.paper"

INTRODUCTION = """# The papers, item by item

<!-- Made from tools/items.tsv and the markers of tests by tools/items.py. Do not edit: change those, then run it. -->

Every algorithm, formula, parameter, component, experiment, table and figure of the five papers, and what they name in
passing or leave to future work: where it is in the paper, how it is reached here, the tests that show it, and
where we depart from what is printed. What came of the experiments is in [papers.md](papers.md); options and commands
are explained in the [reference](reference.md), strategies in [strategies.md](strategies.md).
"""


@dataclass(frozen=True)
class Item:
    """An algorithm, formula, parameter or figure of a paper, and where it is implemented: a line of tools/items.tsv."""

    id: str
    place: str
    text: str
    reached: str
    departs: str

    @property
    def paper(self) -> str:
        """The first part of the id: a key of PAPERS."""
        return self.id.partition("-")[0]

    @property
    def is_built(self) -> bool:
        return not self.reached.startswith(NOT_BUILT)


@dataclass(frozen=True)
class MarkedTest:
    """A test, and the items that its marker names."""

    file: str
    """Relative to the root."""
    name: str
    items: tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if something is wrong")
    check = parser.parse_args().check
    wrong = problems(ROOT)
    if not wrong and not check:
        (ROOT / TARGET).write_text(page(ROOT), "utf-8")
    elif not wrong and (ROOT / TARGET).read_text("utf-8") != page(ROOT):
        wrong = [f"{TARGET} is out of date: run tools/items.py"]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return int(bool(wrong))


def items(root: Path) -> list[Item]:
    """Return the list in order; raise ValueError for a line without all columns."""
    found = []
    for number, line in enumerate((root / LIST).read_text("utf-8").splitlines(), 1):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"{LIST}, line {number}: {len(cells)} columns instead of {len(COLUMNS)}")
        found.append(Item(*cells))
    return found[1:]


def marked_tests(root: Path) -> Iterator[MarkedTest]:
    """Yield the tests with a marker, ordered by file."""
    for path in sorted([*(root / "tests").rglob("test_*.py"), *root.glob("packages/*/tests/**/test_*.py")]):
        source = path.read_text("utf-8")
        if MARKER not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield MarkedTest(path.relative_to(root).as_posix(), node.name, named_by(node))


def named_by(test: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return the items in a test's markers; an argument that is not a string literal gives its source.

    >>> source = "@pytest.mark.paper('otie-eq1', 'otie-eq2')\ndef test_equations(): ..."
    >>> named_by(ast.parse(source).body[0])
    ('otie-eq1', 'otie-eq2')
    """
    markers = [one for one in test.decorator_list if isinstance(one, ast.Call) and ast.unparse(one.func) == MARKER]
    arguments = [argument for marker in markers for argument in marker.args]
    return tuple(
        argument.value
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        else ast.unparse(argument)
        for argument in arguments
    )


def tests_by_item(root: Path) -> dict[str, list[MarkedTest]]:
    """Return the tests of each item, by id."""
    found: dict[str, list[MarkedTest]] = {}
    for test in marked_tests(root):
        for id in test.items:
            found.setdefault(id, []).append(test)
    return found


def problems(root: Path) -> list[str]:
    """Return a line for each contradiction within the list or between list and tests."""
    try:
        listed = items(root)
    except ValueError as error:
        return [str(error)]
    tests, known = tests_by_item(root), [item.id for item in listed]
    wrong = [f"{LIST}: {item.id} begins with no paper's name" for item in listed if item.paper not in PAPERS]
    wrong += [f"{LIST}: {id} is there twice" for id in dict.fromkeys(known) if known.count(id) > 1]
    wrong += [f"{LIST}: {item.id} lacks how it is reached" for item in listed if not item.reached]
    wrong += [
        f"{test.file}: {test.name} names {id}, which is not in {LIST}"
        for id in tests.keys() - set(known)
        for test in tests[id]
    ]
    for item in listed:
        if item.is_built and item.id not in tests:
            wrong.append(f"{item.id} has no test: mark one with {MARKER}({item.id!r})")
        elif not item.is_built and item.id in tests:
            wrong.append(f"{item.id} is not built, but {tests[item.id][0].name} names it")
    return wrong


def page(root: Path) -> str:
    listed, tests = items(root), tests_by_item(root)
    counts = ["| paper | items that are here | not built |", "|---|---|---|"]
    rows: list[str] = []
    for paper, title in PAPERS.items():
        own = [item for item in listed if item.paper == paper]
        missing = sum(not item.is_built for item in own)
        counts += [f"| {title} | {len(own) - missing} | {missing} |"] if own else []
        rows += ["", f"## {title}", "", "| item | in the paper | what | reached by | tests | departs |"]
        rows += ["|---|---|---|---|---|---|", *(_row(item, tests.get(item.id, [])) for item in own)]
    return "\n".join([INTRODUCTION, *counts, *rows]) + "\n"


def _row(item: Item, tests: list[MarkedTest]) -> str:
    links = ", ".join(f"[{test.name}](../{test.file})" for test in tests)
    cells = (item.id, item.place, item.text, item.reached, links, item.departs)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
