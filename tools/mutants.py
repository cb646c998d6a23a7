"""How well the tests protect the code: mutants of `src` at random, and how many of them the tests kill.

    python tools/mutants.py run --other OLD --out new.json [--count 100] [--seed 1] [--rooms text web]
    python tools/mutants.py run --other OLD --out old.json --there     the same mutants, in the other checkout
    python tools/mutants.py compare old.json new.json

A mutant is one small change inside a function: another comparison, another operator, another number, a condition
turned round, a value not returned, a call not made. With another checkout, mutants are chosen in functions that both
have to the letter, wherever they stand, so that two sets of tests meet the same ones. Which tests execute a mutant's
line is found by one run of the whole suite with a marker before that line; it also says how long each test takes. Then
each mutant meets the tests that execute it, the quickest first, as many as take 30 seconds together. It is killed when
one fails, or none ends.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SECONDS, PATIENCE = 30.0, 120.0
"""How long the tests of a mutant take together, and when a run that does not end is called a kill."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip

HIT = "lycosa_hit"
MARKER = f'''
import os
_seen = set()
def mark(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test and (number, test) not in _seen:
        _seen.add((number, test))
        with open(os.environ["{HIT.upper()}"], "a") as file:
            file.write(f"{{number}}\\t{{test}}\\n")
'''


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where, what stood there, what stands there now. Offsets count bytes, as the parser does."""

    file: str
    statement: int
    """The line before which its marker is put."""
    line: int
    start: tuple[int, int]
    end: tuple[int, int]
    before: str
    after: str


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What a node could be instead."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            changed.ops = [SWAPS[type(op)]()]  # type: ignore[list-item]
        case ast.BoolOp() | ast.BinOp() if type(changed.op) in SWAPS:
            changed.op = SWAPS[type(changed.op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not()):
            changed = changed.operand
        case ast.Constant(value=bool()):
            changed.value = not changed.value
        case ast.Constant(value=int() | float()):
            changed.value = changed.value + 1
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            changed.value = ast.Constant(None)
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            changed = ast.Pass()
        case _:
            return
    yield changed


def sites(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.stmt, ast.AST, ast.AST]]:
    """All changes of a function: the statement that a marker can stand before, the node, its variant."""

    def inside(statement: ast.stmt) -> Iterator[ast.AST]:
        """The nodes of a statement without the statements in it, and without annotations and messages of errors."""
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            yield node
            for name, value in ast.iter_fields(node):
                if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.Raise | ast.JoinedStr):
                    continue
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST) and not isinstance(child, ast.stmt | ast.excepthandler):
                        waiting.append(child)

    def blocks(body: list[ast.stmt], elif_of: bool = False) -> Iterator[ast.stmt]:
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue  # functions in it are walked on their own
            if not elif_of:
                yield statement
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, [])
                chained = name == "orelse" and len(inner) == 1 and isinstance(inner[0], ast.If)
                yield from blocks(inner, elif_of=chained)
            for handler in getattr(statement, "handlers", []):
                yield from blocks(handler.body)
            for case in getattr(statement, "cases", []):
                yield from blocks(case.body)

    for statement in blocks(function.body):
        for node in inside(statement):
            for variant in variants(node):
                yield statement, node, variant


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function begins."""

    file: str
    line: int


def functions(root: Path, rooms: list[str]) -> dict[str, tuple[Place, list[Mutant]]]:
    """The functions of a checkout's rooms by their text, those of which there is one; and their mutants."""
    package, places = root / "src" / "lycosa", defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        if not rooms or file.relative_to(package).parts[0] in rooms:
            for text, line, mutants in mutants_of(file, str(file.relative_to(root))):
                places[text].append((Place(str(file.relative_to(root)), line), mutants))
    return {text: here[0] for text, here in places.items() if len(here) == 1}


def mutants_of(source: Path, name: str) -> Iterator[tuple[str, int, list[Mutant]]]:
    """Of each function of a file its text, its first line, and all its mutants."""
    text = source.read_text("utf-8")
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            made = []
            for statement, node, variant in sites(function):
                alone = not lines[statement.lineno - 1][: statement.col_offset].strip()
                if not alone or not hasattr(node, "lineno"):
                    continue
                after = ast.unparse(ast.fix_missing_locations(variant))
                if isinstance(variant, ast.expr):
                    after = f"({after})"
                begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
                made.append(Mutant(name, statement.lineno, node.lineno, begin, end, ast.unparse(node), after))
            yield "\n".join(lines[function.lineno - 1 : function.end_lineno]), function.lineno, made


def mutated(text: str, mutant: Mutant) -> str:
    """A file's text with the change made."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    (first, left), (last, right) = mutant.start, mutant.end
    joined = lines[first - 1][:left] + mutant.after.encode() + lines[last - 1][right:]
    return b"".join([*lines[: first - 1], joined, *lines[last:]]).decode()


def chosen(count: int, seed: int, rooms: list[str], other: Path | None, there: bool) -> list[Mutant]:
    """So many mutants, each in another statement, functions weighed by what there is to change in them."""
    here, elsewhere = functions(HERE, rooms), functions(other, []) if other is not None else {}
    every = [
        (mutant, text)
        for text, (_, mutants) in sorted(here.items(), key=lambda item: item[1][0].file)
        for mutant in mutants
        if other is None or text in elsewhere
    ]
    random.Random(seed).shuffle(every)
    picked: dict[tuple[str, int], Mutant] = {}
    for mutant, text in every:
        if len(picked) == count:
            break
        try:
            ast.parse(mutated((HERE / mutant.file).read_text("utf-8"), mutant))
        except SyntaxError:
            continue
        at = (mutant.file, mutant.statement)
        picked.setdefault(at, moved(mutant, here[text][0], elsewhere[text][0]) if there else mutant)
    return list(picked.values())


def moved(mutant: Mutant, here: Place, to: Place) -> Mutant:
    """The same mutant where its function stands in another checkout."""
    down = to.line - here.line
    start, end = ((line + down, column) for line, column in (mutant.start, mutant.end))
    lines = {"statement": mutant.statement + down, "line": mutant.line + down, "start": start, "end": end}
    return replace(mutant, file=to.file, **lines)  # type: ignore[arg-type]


def copied(checkout: Path, into: Path) -> Path:
    """A copy of a checkout, to spoil."""
    left = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "demo")
    shutil.copytree(checkout, into, ignore=left)
    (into / ".venv").symlink_to(HERE / ".venv")
    return into


def pytest(
    project: Path, *arguments: str, patience: float | None = None, **variables: str
) -> tuple[int | None, list[str]]:
    """Run tests there. Its status, None if it did not end in time; and the tests that failed."""
    environment = {**os.environ, "PYTHONPATH": f"{project / 'src'}{os.pathsep}{project}", **variables}
    command = [str(HERE / ".venv" / "bin" / "python"), "-m", "pytest", "-qrfE", "--tb=no", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, *arguments], cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True, text=True,
    ) as running:  # fmt: skip
        try:
            output, _ = running.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, 9)
            return None, []
    lines = [line.partition(" ") for line in output.splitlines()]
    return running.returncode, [rest.partition(" - ")[0] for word, _, rest in lines if word in ("FAILED", "ERROR")]


def mark(mutants: list[Mutant], project: Path, record: Path, workers: int, rooms: list[str]) -> None:
    """Run all tests with a marker before each mutant's line: who executes it, and how long tests take."""
    by_file: dict[str, list[int]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        by_file[mutant.file].append(number)
    originals = {file: (project / file).read_text("utf-8") for file in by_file}
    for file, numbers in by_file.items():
        lines = originals[file].splitlines(keepends=True)
        for number in sorted(numbers, key=lambda number: -mutants[number].statement):
            at = mutants[number].statement - 1
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            lines.insert(at, f'{indent}__import__("{HIT}").mark({number})\n')
        (project / file).write_text("".join(lines), "utf-8")
    (project / f"{HIT}.py").write_text(MARKER, "utf-8")
    record.mkdir(parents=True, exist_ok=True)
    hits, junit = record.resolve() / "hits.tsv", record.resolve() / "junit.xml"
    hits.write_text("")
    only = [f"tests/{room}" for room in rooms]
    form = [f"--junitxml={junit}", "-o", "junit_family=xunit1"]
    pytest(project, "-n", str(workers), *form, *only, **{HIT.upper(): str(hits)})
    for file, text in originals.items():
        (project / file).write_text(text, "utf-8")


def executed(record: Path) -> tuple[dict[int, list[str]], dict[str, float]]:
    """The tests that execute each mutant's line, and how long tests take, as such a run has noted it."""
    lasted = {}
    for case in xml.parse(record / "junit.xml").iter("testcase"):
        file, name = case.get("file", ""), case.get("name", "")
        inner = case.get("classname", "").removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".")
        test = "::".join(filter(None, (file, inner if file.startswith("tests") else "", name)))
        lasted[test] = float(case.get("time", 0))
    found: dict[int, list[str]] = defaultdict(list)
    for line in (record / "hits.tsv").read_text("utf-8").splitlines():
        number, _, test = line.partition("\t")
        if test not in found[int(number)]:
            found[int(number)].append(test)
    return found, lasted


def outcome(mutant: Mutant, tests: list[str], lasted: dict[str, float], project: Path) -> str:
    """What became of a mutant: killed, survived, or nothing executes its line."""
    if not tests:
        return "never executed"
    some, total = [], 0.0
    for test in sorted(tests, key=lambda test: lasted.get(test, 1.0)):
        total += lasted.get(test, 1.0)
        if some and total > SECONDS:
            break
        some.append(test)
    file = project / mutant.file
    text = file.read_text("utf-8")
    listed = project / "chosen.txt"
    while some:
        listed.write_text("\n".join(some), "utf-8")
        file.write_text(mutated(text, mutant), "utf-8")
        status, failed = pytest(project, "-x", f"@{listed}", patience=PATIENCE)
        file.write_text(text, "utf-8")
        if status == 0:
            return "survived"
        if not failed:  # it hangs, or nothing can be imported any more
            return "killed"
        if pytest(project, failed[0], patience=PATIENCE)[0] == 0:
            return "killed"
        some = [test for test in some if test != failed[0]]  # fails without a mutant as well
    return "survived"


def run(given: argparse.Namespace) -> None:
    """Choose mutants, find who executes them, try each. What the first run noted is kept beside the result."""
    out, workers = given.out, given.workers
    mutants = chosen(given.count, given.seed, given.rooms, given.other, given.there)
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        corpora = HERE.parent / "shared"
        if corpora.exists():
            (Path(directory) / "shared").symlink_to(corpora)
        whose = given.other if given.there else HERE
        projects = [copied(whose, Path(directory) / str(n)) for n in range(workers)]
        record = out.with_suffix(".record")
        if not (record / "junit.xml").exists():
            mark(mutants, projects[0], record, workers + 1, given.rooms)
        found, lasted = executed(record)
        free = list(projects)

        def tried(number: int) -> dict[str, object]:
            project = free.pop()
            told = outcome(mutants[number], found.get(number, []), lasted, project)
            free.append(project)
            print(f"{number:4} {told:16} {mutants[number].file}:{mutants[number].line}", flush=True)
            return {**asdict(mutants[number]), "tests": len(found.get(number, [])), "outcome": told}

        with ThreadPoolExecutor(workers) as pool:
            results = list(pool.map(tried, range(len(mutants))))
    out.write_text(json.dumps({"seed": given.seed, "durations": lasted, "mutants": results}, indent=1), "utf-8")
    print(f"{sum(r['outcome'] == 'killed' for r in results)} of {len(results)} killed")


def compare(old: Path, new: Path) -> int:
    """Print what one set of tests kills and the other does not. 1 if the new one kills fewer."""
    before, after = (json.loads(file.read_text("utf-8"))["mutants"] for file in (old, new))
    pairs = list(zip(before, after, strict=True))
    for one, other in pairs:
        if one["outcome"] != other["outcome"]:
            change = f"{one['before']!r} -> {one['after']!r}"
            print(f"{one['file']}:{one['line']}: {one['outcome']} -> {other['outcome']}: {change}")
    killed = [sum(row["outcome"] == "killed" for row in rows) for rows in (before, after)]
    print(f"killed {killed[0]} -> {killed[1]} of {len(pairs)}")
    return int(killed[1] < killed[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="try mutants of src on a set of tests")
    one.add_argument("--other", type=Path, help="another checkout, to choose mutants that both have")
    one.add_argument("--there", action="store_true", help="try them there, on its own tests")
    one.add_argument("--rooms", nargs="*", default=[], help="mutants of these only, and their tests alone")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--count", type=int, default=100)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--workers", type=int, default=2)
    two = commands.add_parser("compare", help="set two runs against each other")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.old, given.new)
    run(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
