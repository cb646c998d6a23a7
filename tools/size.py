"""Print the size of Lycosa: lines, words, commands, calls per page.

    python tools/size.py                      all figures (`make size`)
    python tools/size.py --no-walk            without calls and files per page, which take some seconds
    python tools/size.py --root DIR           of another checkout: for tables of before and after
    python tools/size.py --json               one JSON object

`tools/ceilings.toml` holds the limits of these figures, and tests/test_ceilings.py fails above them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

GENERATED_DOCS = {"docs/reference.md", "docs/papers-items.md"}
"""Written by tools/reference.py and tools/items.py as a whole. Pages with measured tables in them do count."""

DIALECT = re.compile(r"\b(?:what|whoever|nobody|somebody|anew|told|heard)\b", re.IGNORECASE)
WORD = re.compile(r"\b[a-z]+\b", re.IGNORECASE)

COUNT_COMMANDS = """
import json, typer
from lycosa.cli.main import app

def leaves(group):
    for name in group.list_commands(None):
        command = group.load(name) if hasattr(group, "load") else group.commands[name]
        if hasattr(command, "commands"):
            yield from leaves(command)
        else:
            yield command

def options(command):
    return [one for one in command.params if one.opts[0].startswith("-") and "--help" not in one.opts]

commands = list(leaves(typer.main.get_command(app)))
print(json.dumps([len(commands), sum(len(options(command)) for command in commands)]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--no-walk", action="store_true", help="do not count calls and files per page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    root = given.root.resolve()
    figures = {"lines": lines_by_folder(root), "size": size(root)}
    if not given.no_walk:
        figures["walk"] = walk(root)
    print(json.dumps(figures, indent=2) if given.json else shown(figures))


def size(root: Path) -> dict[str, float]:
    """Return all figures that need no crawl, but the lines by folder."""
    sources = {path: path.read_text("utf-8") for path in python_files(root, "packages/*/src")}
    trees = [ast.parse(source) for source in sources.values()]
    commands, options = count_commands(root)
    project = root / "packages" / "lycosa" / "pyproject.toml"
    return {
        "modules": len(sources),
        "tests_lines": sum(map(count_lines, python_files(root, "tests", "packages/*/tests"))),
        "docs_words": count_words(root),
        "commands": commands,
        "options": options,
        "dependencies": len(tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]),
        "module_constants": sum(1 for tree in trees for _ in constants(tree)),
        "dataclasses": sum(is_dataclass(node) for tree in trees for node in classes(tree)),
        "protocols": sum(is_protocol(node) for tree in trees for node in classes(tree)),
        "repeated_class_names": len(repeated_names(trees)),
        "dialect_per_1000_words": dialect(trees),
    }


def lines_by_folder(root: Path) -> dict[str, int]:
    """Return lines of Python: in all, of each plugin, of each folder of the crawler and, as `lycosa`, beside these."""
    lines: Counter[str] = Counter()
    for path in python_files(root, "packages/*/src"):
        package, _, _, *rest = path.relative_to(root / "packages").parts
        lines[rest[0] if package == "lycosa" and len(rest) > 1 else package] += count_lines(path)
    return {"total": lines.total(), **dict(sorted(lines.items()))}


def python_files(root: Path, *patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for folder in root.glob(pattern) for path in folder.rglob("*.py"))


def python_path(root: Path) -> str:
    return os.pathsep.join(map(str, root.glob("packages/*/src")))


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def count_words(root: Path) -> int:
    """Return the words of README and docs that people write, separated by spaces."""
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    own = [page for page in pages if page.relative_to(root).as_posix() not in GENERATED_DOCS]
    return sum(len(page.read_text("utf-8").split()) for page in own)


def count_commands(root: Path) -> tuple[int, int]:
    """Return commands without groups, and the options of all of them, without --help."""
    env = os.environ | {"PYTHONPATH": python_path(root)}
    command = [sys.executable, "-c", COUNT_COMMANDS]
    counts = json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return counts[0], counts[1]


def constants(tree: ast.Module) -> Iterator[str]:
    """Yield names in capitals that a module assigns."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [name for target in targets for name in getattr(target, "elts", [target])]
        yield from (name.id for name in names if isinstance(name, ast.Name) and name.id.isupper())


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list)


def is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).partition("[")[0].rpartition(".")[2] == "Protocol" for base in node.bases)


def repeated_names(trees: list[ast.Module]) -> list[str]:
    """Return class names that occur more than once in the packages."""
    counts = Counter(node.name for tree in trees for node in classes(tree))
    return sorted(name for name, count in counts.items() if count > 1)


def dialect(trees: list[ast.Module]) -> float:
    """Return words of the old dialect per 1,000 words of docstrings, those below constants and attributes included."""
    text = "\n".join(docstring for tree in trees for docstring in docstrings(tree))
    return round(1000 * len(DIALECT.findall(text)) / max(1, len(WORD.findall(text))), 1)


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield every string that stands as a statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def walk(root: Path) -> dict[str, Any]:
    """Return calls and files of one page, one revisit and one `lycosa show`: see tools/walk.py."""
    command = [sys.executable, str(ROOT / "tools" / "walk.py"), "--json"]
    env = os.environ | {"PYTHONPATH": python_path(root)}
    found = json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return {f"{name}_{what}": count for name, counts in found.items() for what, count in counts.items()}


def shown(figures: dict[str, dict[str, float]]) -> str:
    """Return the figures as text, a line each."""
    rows = [(f"lines of {name}", count) for name, count in figures["lines"].items()]
    rows += [
        (name.replace("_", " "), count) for part in ("size", "walk") for name, count in figures.get(part, {}).items()
    ]
    return "\n".join(f"{name:28} {count:>9,}" for name, count in rows)


if __name__ == "__main__":
    main()
