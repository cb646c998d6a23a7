"""The house in figures: of each room its lines, modules, functions of many branches, and who imports it.

    python tools/rooms.py [OTHER CHECKOUT]     the second gives two figures a cell, before and after

Complexity is McCabe's with every `and`, `or`, conditional expression and comprehension counted, as radon counts;
12 and more are many branches. A module of one importer is one that only one other
module of the package imports: it may belong into it.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
MANY = 12
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert, ast.match_case)
COLUMNS = ("lines", "modules", "complex", "one importer", "importers", "lines of tests")


def module_of(file: Path, src: Path) -> str:
    """The dotted name of a file."""
    parts = file.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room a module is in; what stands in the hall counts as `lycosa`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or (HERE / "src" / "lycosa" / parts[-1]).is_dir() else "lycosa"


def imports(file: Path, known: set[str]) -> set[str]:
    """The modules of the package that a file imports."""
    named = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return named & known


def functions(file: Path) -> Iterator[ast.AST]:
    """All functions of a file, methods and inner ones, too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def complexity(function: ast.AST) -> int:
    """One, and one for each branch; inner functions stand for themselves."""
    total, waiting = 1, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        total += isinstance(node, BRANCHES)
        total += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        total += 1 + len(node.ifs) if isinstance(node, ast.comprehension) else 0
        waiting += ast.iter_child_nodes(node)
    return total


def figures(project: Path) -> dict[str, list[int]]:
    """The columns of every room of a checkout."""
    src = project / "src"
    files = {module_of(file, src): file for file in sorted((src / "lycosa").rglob("*.py"))}
    importers: dict[str, set[str]] = defaultdict(set)
    for module, file in files.items():
        for other in imports(file, set(files)) - {module}:
            importers[other].add(module)
    table: dict[str, list[int]] = defaultdict(lambda: [0] * len(COLUMNS))
    for module, file in files.items():
        row = table[room_of(module)]
        row[0] += len(file.read_text("utf-8").splitlines())
        row[1] += 1
        row[2] += sum(complexity(function) >= MANY for function in functions(file))
        row[3] += len(importers[module]) == 1 and file.name != "__init__.py"
    for room, row in table.items():
        outside = {m for module in files if room_of(module) == room for m in importers[module] if room_of(m) != room}
        row[4] = len(outside)
        tests = project / "tests" / room
        row[5] = sum(len(file.read_text("utf-8").splitlines()) for file in tests.rglob("*.py"))
    return dict(table)


def main() -> None:
    now = figures(HERE)
    before = figures(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else now
    everything = [sum(row[at] for row in now.values()) for at in range(len(COLUMNS))]
    earlier = [sum(row[at] for row in before.values()) for at in range(len(COLUMNS))]
    print("| room | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS))
    rows = sorted(now | before, key=lambda room: -before.get(room, [0])[0])
    for room in [*rows, "all"]:
        old, new = (earlier, everything) if room == "all" else (before.get(room), now.get(room))
        old, new = old or [0] * len(COLUMNS), new or [0] * len(COLUMNS)
        cells = [f"{b:,}" if a == b else f"{a:,} → {b:,}" for a, b in zip(old, new, strict=True)]
        print(f"| {room} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
