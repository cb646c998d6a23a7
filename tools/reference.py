"""Write docs/reference.md from the code: commands, options, strategies, outcomes, the Python API.

    python tools/reference.py           write it
    python tools/reference.py --check   exit 1 if it is out of date

Commands come from the Typer app, options from `lycosa.core.options.describe()`, and the Python part from signatures,
docstrings and the strings below attributes, parsed with `ast`, so that the page is the same under every Python.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lycosa.cli.main import EXITS, app
from lycosa.core.options import describe
from lycosa.judges import JUDGES
from lycosa.strategies import STRATEGIES
from lycosa.strategies import describe as parameters_of

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference.md"

BROUGHT = ("Space", "Judge", "Learner", "Estimator", "Strategy")
"""Protocols that users can implement."""

FIELDS = {
    "node": "the page's URL (on the web), or the name of a node in another space",
    "kind": "`page`, `redirect`, or a prerequisite: `robots`, `example`",
    "outcome": "how the visit ended: see [Outcomes](#outcomes)",
    "pick": "number of the pick that led here; prerequisites share that of their page",
    "arm": "name of the strategy that picked it",
    "priority": "priority when it was picked; infinite for seeds",
    "attempt": "1 for the first attempt",
    "retry_at": "time of the next attempt, seconds since the epoch; 0: none",
    "hops": "consecutive redirects that led here",
    "origin": "for a prerequisite, the node that needed it",
    "started": "when the request was sent, seconds since the epoch",
    "ended": "when the response was complete",
    "address": "network address that responded",
    "status": "HTTP status, 0 if there was none",
    "size": "bytes of the body as received",
    "title": "the page's title",
    "language": "its language, declared or detected",
    "etag": "the ETag header",
    "modified": "the Last-Modified header",
    "flags": "remarks: `truncated:...`, `noindex`, `nofollow`, `language`, `revisit`, ...",
    "note": "the reason for a failure, in words",
    "digest": "SHA-256 of the body as received",
    "simhash": "64-bit fingerprint of the words; near-duplicates differ in few bits",
    "judge": "short name of the judge; changes when the judge does",
    "relevance": "relevance of the page by the judge",
    "data": "data of the space or the judge, needed at replay",
    "terms": "the page as a bag of terms: ids, counts, and the stems it was the first to use",
    "links": "URLs, anchors, contexts, rel, positions and link relevances, column by column",
    "place": "position of its records in the archive: file, offset, length",
}
"""Descriptions of a Visit's fields that have no string below them in the code."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the page is out of date")
    check = parser.parse_args().check
    text = reference()
    if not check:
        TARGET.write_text(text, "utf-8")
        return 0
    stale = not TARGET.exists() or TARGET.read_text("utf-8") != text
    if stale:
        print(f"out of date: {TARGET.relative_to(ROOT)}; run 'make docs' and commit the result", file=sys.stderr)
    return stale


def reference() -> str:
    """Return the whole page."""
    lines = [
        "# Reference",
        "",
        "<!-- Made from the code by tools/reference.py. Do not edit: change the code, then run `make docs`. -->",
        "",
        "[Commands](#commands) · [Options of a crawl](#options-of-a-crawl) · [Strategies](#strategies) · "
        "[Judges](#judges) · [Outcomes](#outcomes) · [Exit codes](#exit-codes) · [Python](#python)",
        "",
        *commands(),
        *options(),
        *strategies(),
        *judges(),
        *outcomes(),
        *exits(),
        *python(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def commands() -> Iterator[str]:
    """Yield every command with its arguments and options; those of a crawl have a section of their own."""
    group: Any = typer.main.get_command(app)
    shared = {flag for _, flag, *_ in describe()}
    yield from ("## Commands", "")
    yield from ("Every command explains itself with `--help`. For all of them:", "")
    yield from (*_table(("option", "meaning"), (_option(item) for item in group.params)), "")
    for name, command in _all(group):
        arguments = [item for item in command.params if not item.opts[0].startswith("-")]
        own = [item for item in command.params if item.opts[0].startswith("-")]
        if name == "crawl":
            own = [item for item in own if item.opts[0] not in shared]
        rest = ["COMMAND"] if _is_bare(command) else ["[OPTIONS]", *(_metavar(item) for item in arguments)]
        usage = " ".join([f"lycosa {name}", *rest])
        yield from (f"### `{usage}`", "", command.help, "")
        if arguments:
            rows = ((f"`{_metavar(item)}`", item.help) for item in arguments)
            yield from (*_table(("argument", "meaning"), rows), "")
        if name == "crawl":
            yield from ("All [options of a crawl](#options-of-a-crawl), and:", "")
        if own:
            yield from (*_table(("option", "meaning"), (_option(item) for item in own)), "")


def _all(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield commands and those of groups; a group's default command has the group's name and help."""
    for name in group.list_commands(None):
        command = group.load(name)
        usual = getattr(command, "usual", "")
        if usual:
            command = copy.copy(command)
            command.params = [*command.load(usual).params, *command.params]
        yield name, command
        inside = getattr(command, "commands", {})
        yield from ((f"{name} {inner}", command.load(inner)) for inner in inside if inner != usual)


def _is_bare(command: Any) -> bool:
    """Return whether a command is a group without a default command."""
    return hasattr(command, "commands") and not getattr(command, "usual", "")


def _option(item: Any) -> tuple[str, str]:
    """Return an option's spellings, and its help with the default."""
    names = ", ".join(f"`{name}`" for name in [*item.opts, *item.secondary_opts])
    default = item.default
    told = (
        ""
        if default in (None, "", []) or isinstance(default, bool) or "efault:" in item.help
        else f" Default: `{default}`."
    )
    return names, f"{item.help}{told}"


def _metavar(item: Any) -> str:
    shown = str(item.metavar or item.name.upper()).strip("[]")
    return shown if item.required else f"[{shown}]"


def options() -> Iterator[str]:
    """Yield every option of a crawl, by group."""
    yield from ("## Options of a crawl", "")
    yield "The first column is for the command line, the second for `crawl.toml`, `--config` files and keyword"
    yield "arguments of `lycosa.crawl()`. A switch that is on by default is turned off by `--no-` and its name."
    yield "An option without a flag can be set in such a file and from Python only."
    current = ""
    rows: list[tuple[str, ...]] = []
    head = ("command line", "TOML and Python", "type", "default", "meaning")
    for name, flag, kind, default, group, text in describe():
        if group != current:
            yield from _table(head, rows) if rows else ()
            current, rows = group, []
            yield from ("", f"### {group}", "")
        shown = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else "list of str"
        value = "" if default in ("", []) else f"`{str(default).lower() if kind is bool else default}`"
        typed = "`TOPIC`" if name == "topic" else f"`{flag}`" if flag.startswith("--") else ""
        rows.append((typed, f"`{name}`", shown, value, text))
    yield from (*_table(head, rows), "")


def strategies() -> Iterator[str]:
    """Yield the values of --strategy."""
    yield from ("## Strategies", "")
    yield "What `--strategy` accepts, besides `module:Class`; parameters follow the name, as in `best-first,merge=sum`."
    yield from ("[When to use which](strategies.md).", "")
    rows = []
    for name, entry in STRATEGIES.items():
        is_package = (ROOT / "packages/lycosa/src/lycosa/strategies" / entry.module).is_dir()
        place = f"{entry.module}/__init__" if is_package else entry.module
        source = f"[`{entry.attribute}`](../packages/lycosa/src/lycosa/strategies/{place}.py)"
        rows.append((f"`{name}`", entry.summary, _told(parameters_of(name)), entry.needs, source, entry.paper))
    yield from (*_table(("name", "what it fetches next", "parameters", "needs", "made by", "paper"), rows), "")


def judges() -> Iterator[str]:
    """Yield the values of --judge."""
    yield from ("## Judges", "", "What `--judge` accepts, besides `module:Class`:", "")
    rows = []
    for name, entry in JUDGES.items():
        is_package = (ROOT / "packages/lycosa/src/lycosa/judges" / entry.module).is_dir()
        place = f"{entry.module}/judge" if is_package else entry.module
        source = f"[`{entry.attribute}`](../packages/lycosa/src/lycosa/judges/{place}.py)"
        rows.append((f"`{name}`", entry.summary, entry.needs, source, entry.paper))
    yield from (*_table(("name", "what it measures", "needs", "made by", "paper"), rows), "")


def _told(parameters: dict[str, tuple[Any, Any]]) -> str:
    """Format parameters with their defaults."""
    shown = {
        name: "+".join(value)
        if isinstance(value, tuple)
        else {True: "yes", False: "no"}.get(value, value)
        if isinstance(value, bool)
        else value
        for name, (_, value) in parameters.items()
    }
    return ", ".join(f"`{name}`" if value in (None, "") else f"`{name}={value}`" for name, value in shown.items())


def outcomes() -> Iterator[str]:
    """Yield the outcomes of a visit with the comments beside them in the source."""
    source = _source("lycosa.core.types")
    listed = re.search(r"^Outcome = Literal\[\n(.*?)^\]", source, re.DOTALL | re.MULTILINE)
    assert listed is not None, "core/types.py has no list of outcomes any more"
    rows = [(f"`{name}`", text) for name, text in re.findall(r'"([a-z-]+)",\s+# (.+)', listed[1])]
    assert len(rows) == listed[1].count('"') // 2, "an outcome in core/types.py has no comment that says what it means"
    yield from ("## Outcomes", "", "How a visit ended; `lycosa show` counts them.", "")
    yield from (*_table(("outcome", "meaning"), rows), "")


def exits() -> Iterator[str]:
    """Yield the exit codes of commands, for schedulers."""
    yield from ("## Exit codes", "", "What every command ends with, for shells, cron and other schedulers:", "")
    yield from (*_table(("code", "meaning"), ((f"`{code}`", text) for code, text in EXITS.items())), "")
    yield "A crawl that is stopped by Ctrl-C or SIGTERM ends in order, with `0`; `lycosa resume` goes on. Errors are"
    yield from ("one line on the error output; what is asked for, with `--json` as JSON, is on the output.", "")


def python() -> Iterator[str]:
    """Yield the public API."""
    yield from ("## Python", "")
    yield from ("[Lycosa in Python](python.md) shows how these go together. All names are in `lycosa`.", "")
    for name in ("crawl", "resume", "refresh", "watch"):
        yield from _function("lycosa.crawling", name, shown=f"lycosa.{name}")
    yield from _class("lycosa.crawling", "Crawl", shown="lycosa.Crawl", methods=("stop",))
    yield from _function("lycosa.api", "open", shown="lycosa.open")
    yield from _class("lycosa.collection.opened", "Collection", shown="lycosa.Collection")
    yield from _class("lycosa.collection.opened", "CollectedPage")
    yield from _function("lycosa.explaining", "why", shown="lycosa.why")
    for name in ("Why", "View", "Fetched", "Parent"):
        module = "lycosa.explaining.frontier_ranking" if name == "View" else "lycosa.explaining.answers"
        yield from _class(module, name)
    yield from ("### `Visit`", "", _markdown(_docstring("lycosa.core.types", "Visit")), "")
    yield from (*_table(("field", "type", "meaning"), _visit_fields()), "")
    yield from ("### What you can bring yourself", "", "As plain functions:", "")
    yield from ("```text", textwrap.dedent(_docstring("lycosa.crawling.functions").split("\n\n", 1)[1]), "```", "")
    yield from _class("lycosa.crawling.functions", "Link")
    yield from ("Or as objects of classes that have these methods; of a space only `visit` is needed:", "")
    for name in BROUGHT:
        yield from _class("lycosa.core.protocols", name)
    for name in ("Page", "Links", "Judgement", "Task"):
        yield from _class("lycosa.core.types", name)
    yield from _checks()
    yield from ("### Errors", "", "`lycosa.core.errors`, as a tree:", "")
    tree, rest = _docstring("lycosa.core.errors").split("\n\n", 1)[1].rsplit("\n\n", 1)
    yield from ("```text", textwrap.dedent(tree), "```", "", rest, "")


def _visit_fields() -> Iterator[tuple[str, str, str]]:
    node = _find("lycosa.core.types", "Visit")
    for name, kind, text in _attributes(node):
        yield f"`{name}`", f"`{kind}`", text or FIELDS[name]
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.decorator_list:
            yield f"`{item.name}`", f"`{ast.unparse(item.returns) if item.returns else ''}`", _first(item)


def _checks() -> Iterator[str]:
    """Yield the section on `lycosa.checks`."""
    yield from ("### `lycosa.checks`", "", _markdown(_docstring("lycosa.checks")), "")
    checks = importlib.import_module("lycosa.checks")
    for name in ("check_judge", "check_estimator", "check_strategy", "check_space"):
        yield from (f"- `{_signature(_find('lycosa.checks', name), name)}`: {_first(_find('lycosa.checks', name))}",)
    rows = ((kind, f"`{name}`", text) for kind, found in checks.CHECKS.items() for name, text in found.items())
    yield from ("", *_table(("of", "check", "what it asks for"), rows), "")


def _function(module: str, name: str, *, shown: str = "") -> Iterator[str]:
    node = _find(module, name)
    yield from (f"### `{shown or name}`", "", "```python", _signature(node, shown or name, wrap=True), "```", "")
    yield from (_markdown(ast.get_docstring(node) or ""), "")


def _class(module: str, name: str, *, shown: str = "", methods: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a class, its documented attributes, and its methods (public ones, or the named ones)."""
    node = _find(module, name)
    level = "###" if shown else "####"
    yield from (f"{level} `{shown or name}`", "", _markdown(ast.get_docstring(node) or ""), "")
    for attribute, kind, text in _attributes(node, inside=bool(methods)):
        if text:
            yield f"- `{attribute}: {kind}`: {text}"
    for item in node.body:
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if item.name in methods or (not methods and not item.name.startswith("_")):
            told = _first(item)
            yield f"- `{_signature(item, item.name)}`" + (f": {told}" if told else "")
    yield ""


def _attributes(node: ast.ClassDef, *, inside: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and description of each annotated attribute; with `inside`, of those in __init__."""
    body = node.body
    if inside:
        body = next((f.body for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), [])
    for item, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign):
            text = below.value if isinstance(below, ast.Expr) else None
            told = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
            yield ast.unparse(item.target).removeprefix("self."), ast.unparse(item.annotation), " ".join(told.split())


def _signature(node: Any, name: str, *, wrap: bool = False) -> str:
    """Return a function's signature without self."""
    told = ast.unparse(node.args)
    told = re.sub(r"^self(, )?", "", told).replace("'", '"')
    returns = f" -> {ast.unparse(node.returns)}".replace("'", '"') if node.returns else ""
    prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    if wrap:
        parts = re.split(r", (?=(?:\*|\w+[:=]|\w+$))", told)
        parts = [re.sub(r"(: .+?)=", r"\1 = ", part) for part in parts]
        told = "\n    " + ",\n    ".join(parts) + ",\n"
    return f"{prefix}{name}({told}){returns}"


def _first(node: Any) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())


def _markdown(text: str) -> str:
    """Return a docstring as Markdown: doctests and indented blocks become code."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith(">>> "):
            block = f"```pycon\n{block}\n```"
        elif block.startswith("    "):
            # two spaces before comments, as ruff formats them
            code = re.sub(r"(\S) {2,}# ", r"\1  # ", textwrap.dedent(block))
            block = f"```python\n{code}\n```"
        blocks.append(block)
    return "\n\n".join(blocks).replace("\n```\n\n```python\n", "\n\n")  # join adjacent blocks


def _docstring(module: str, name: str = "") -> str:
    return ast.get_docstring(_find(module, name) if name else _tree(module)) or ""


def _find(module: str, name: str) -> Any:
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
    raise SystemExit(f"{module} has no {name} any more: change tools/reference.py")


def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


def _source(module: str) -> str:
    found = importlib.import_module(module).__file__
    assert found is not None
    return Path(found).read_text("utf-8")


def _table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(' '.join(str(cell).split()).replace('|', chr(92) + '|') for cell in row)} |"


if __name__ == "__main__":
    sys.exit(main())
