"""Write docs/papers-items.md: what the five papers have, item by item, and where each is here.

    python tools/items.py           write it
    python tools/items.py --check   exit 1 if it is out of date, or if an item has no line

`tools/items.tsv` lists the items: id, where in the paper, what it is. The docstring of the code that has an item says
how it is reached, which test shows it, and where it departs from the paper:

    Paper items:
        otie-eq3: `--strategy otie`. Test: estimators/test_otie.py::test_equation_3. Departs: any d keeps the sign.
        batsakis-infospiders: not built: only named.

Docstrings are read with `ast`; nothing of the code is run.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST, TARGET = Path("tools/items.tsv"), Path("docs/papers-items.md")

PAPERS = {
    "otie": "Guan et al. 2008: OTIE",
    "batsakis": "Batsakis 2007: classic, semantic and learning crawlers",
    "personalized": "Trivedi et al. 2014: a personalised crawler with change detection",
    "gouriten": "Gouriten, Maniu, Senellart 2014: generic, scalable, adaptive focused crawling",
    "rules": "Altingovde, Ulusoy 2004: rules between classes",
}
"""By what ids begin with."""

HEADING = "Paper items:"
NOT_BUILT = "not built: "
ENTRY = re.compile(
    r"(?P<id>[a-z]+-[a-z0-9-]+): (?P<reached>.+?)(?: Test: (?P<tests>\S+\.py::\w+(?:, \S+\.py::\w+)*)\.)?"
    r"(?: Departs: (?P<departs>.+))?"
)

INTRODUCTION = """# The papers, item by item

<!-- Made from tools/items.tsv and the code's docstrings by tools/items.py. Do not edit: change those, then run it. -->

Every algorithm, formula, parameter, component, experiment, table and figure of the five papers, and what they name in
passing or leave to future work: where it is in the paper, where here, how it is reached, the test that shows it, and
where we depart from what is printed. What came of the experiments is in [papers.md](papers.md); options and commands
are explained in the [reference](reference.md), strategies in [strategies.md](strategies.md).
"""


@dataclass(frozen=True)
class Item:
    """What a paper has: where, and what it is in our words."""

    id: str
    place: str
    what: str

    @property
    def paper(self) -> str:
        """What its id begins with."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Home:
    """What a docstring says of an item."""

    id: str
    file: str
    """Seen from the root."""
    name: str
    """The class or function; empty for a module."""
    reached: str
    tests: tuple[str, ...] = ()
    departs: str = ""

    @property
    def built(self) -> bool:
        """Whether there is anything."""
        return not self.reached.startswith(NOT_BUILT)


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
    """The list, in its order."""
    lines = (root / LIST).read_text("utf-8").splitlines()
    return [Item(*line.split("\t")) for line in lines[1:]]


@cache
def homes(root: Path) -> tuple[Home, ...]:
    """All that the code says of items, file by file. A line that can't be read is a ValueError that names it."""
    found: list[Home] = []
    for path in sorted((root / "src").rglob("*.py")):
        source = path.read_text("utf-8")
        if HEADING not in source:
            continue
        file = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = "" if isinstance(node, ast.Module) else node.name
                found += [home_in(entry, file, name) for entry in entries(ast.get_docstring(node) or "")]
    return tuple(found)


def home_in(entry: str, file: str, name: str) -> Home:
    """What an entry says."""
    read = ENTRY.fullmatch(entry)
    if read is None:
        raise ValueError(f"{file}: no item can be read from {entry!r}")
    told = read.groupdict(default="")
    tests = tuple(told["tests"].split(", ")) if told["tests"] else ()
    return Home(told["id"], file, name, told["reached"].rstrip("."), tests, told["departs"].rstrip("."))


def entries(docstring: str) -> list[str]:
    """The entries under the heading, each on one line.

    >>> entries("OTIE.\\n\\nPaper items:\\n    otie-a: here. Departs:\\n        no.\\n    otie-b: there.")
    ['otie-a: here. Departs: no.', 'otie-b: there.']
    """
    _, heading, rest = docstring.partition(f"{HEADING}\n")
    block = rest.partition("\n\n")[0] if heading else ""
    return re.sub(r"\n +", " ", textwrap.dedent(block).strip()).splitlines()


def problems(root: Path) -> list[str]:
    """What is wrong with list, docstrings and the tests that they name; a line each."""
    listed = items(root)
    wrong = [f"{LIST}: {item.id} begins with no paper's name" for item in listed if item.paper not in PAPERS]
    try:
        told = list(homes(root))
    except ValueError as error:
        return [*wrong, str(error)]
    files: dict[str, list[str]] = {}
    for home in told:
        files.setdefault(home.id, []).append(home.file)
    known = [item.id for item in listed]
    wrong += [f"{LIST}: {id} is there twice" for id in dict.fromkeys(known) if known.count(id) > 1]
    wrong += [f"{id} is in {', '.join(at)}, but not in {LIST}" for id, at in files.items() if id not in known]
    wrong += [f"{id} has no home: no docstring names it" for id in known if id not in files]
    wrong += [f"{id} has several homes: {', '.join(at)}" for id, at in files.items() if len(at) > 1]
    for home in told:
        if home.built != bool(home.tests):
            wrong.append(f"{home.id} ({home.file}): {'no test is named' if home.built else 'not built, but tested'}")
        wrong += [f"{home.id} ({home.file}): there is no {test}" for test in home.tests if test not in tests(root)]
    return wrong


@cache
def tests(root: Path) -> set[str]:
    """All tests by file, seen from tests/, and name."""
    place = root / "tests"
    return {
        f"{path.relative_to(place).as_posix()}::{name}"
        for path in place.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }


def page(root: Path) -> str:
    """The whole page."""
    told = {home.id: home for home in homes(root)}
    listed = items(root)
    lines = [INTRODUCTION]
    rows: list[str] = []
    for paper, title in PAPERS.items():
        own = [item for item in listed if item.paper == paper]
        missing = sum(not told[item.id].built for item in own)
        lines += [f"| {title} | {len(own) - missing} | {missing} |"] if own else []
        rows += ["", f"## {title}", "", "| item | in the paper | what | here | reached by | test | departs |"]
        rows += ["|---|---|---|---|---|---|---|", *(_row(item, told[item.id]) for item in own)]
    head = ["| paper | items that are here | not built |", "|---|---|---|"]
    return "\n".join([lines[0], *head, *lines[1:], *rows]) + "\n"


def _row(item: Item, home: Home) -> str:
    place = home.file.removeprefix("src/lycosa/")
    name = f" `{home.name}`" if home.name else ""
    here = f"[{place}](../{home.file}){name}"
    proofs = ", ".join(f"[{test.partition('::')[2]}](../tests/{test.partition('::')[0]})" for test in home.tests)
    cells = (item.id, item.place, item.what, here, home.reached, proofs, home.departs)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
