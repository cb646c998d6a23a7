"""The documentation is complete and up to date, its links work, and its examples run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import lycosa
from lycosa.cli.main import app
from lycosa.core import engine
from lycosa.core.options import describe
from lycosa.judges import JUDGES
from lycosa.strategies import STRATEGIES
from lycosa.testweb import Server, Web, serve

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
RUNNABLE = re.compile(r"^```python runnable\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TOML = re.compile(r"^```toml\n(# mine\.toml\n.*?)^```$", re.DOTALL | re.MULTILINE)
STEP = re.compile(r"^(\d)\. (?:\*\*)?(\w+)(?:\*\*)?[:\s]\s*(.+)$", re.MULTILINE)


def _commands(group: Any, before: str = "") -> dict[str, Any]:
    """Return all commands by name, also of groups ("lab run"); a group's default command has the group's name."""
    found: dict[str, Any] = {}
    for name in group.list_commands(None):
        command = found[before + name] = group.load(name)
        listed = group.commands[name].get_short_help_str(1_000).removesuffix(".")
        assert listed and " ".join(command.help.split()).startswith(listed)  # noqa: PT018 - what --help lists of it
        if hasattr(command, "commands"):
            inside = _commands(command, f"{before}{name} ")
            inside.pop(f"{before}{name} {getattr(command, 'usual', '')}", None)
            found |= inside
    return found


COMMANDS = _commands(typer.main.get_command(app))


@pytest.fixture(scope="module")
def reference() -> str:
    return (ROOT / "docs" / "reference.md").read_text("utf-8")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Serve the embedded web that the examples crawl."""
    with serve(Web(), record=False) as serving:
        yield serving


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses search for the module there
    spec.loader.exec_module(module)
    return module


def test_commands_are_documented(reference: str) -> None:
    for name, command in COMMANDS.items():
        assert command.help, name
        assert f"### `lycosa {name} " in reference
        assert command.help.split("\n")[0] in _section(name, reference), name


def test_commands_include_groups() -> None:
    assert {"lab", "lab index", "lab run", "lab benchmark", "train", "train browse"} <= set(COMMANDS)
    assert "train pages" not in COMMANDS


def _section(name: str, reference: str) -> str:
    """Return the section of the reference about a command."""
    return reference.partition(f"### `lycosa {name} ")[2].partition("\n##")[0]


def test_parameters_are_documented(reference: str) -> None:
    for name, command in COMMANDS.items():
        told = reference if name == "crawl" else _section(name, reference)
        usual = command.load(command.usual).params if hasattr(command, "usual") else []
        for parameter in [*command.params, *usual]:
            assert parameter.help, f"{parameter.name} of lycosa {name} has no help"
            for spelling in parameter.opts:
                shown = spelling if spelling.startswith("-") else parameter.metavar
                named = f"`{shown}`" in told or f"`[{shown}]`" in told
                assert named, f"{spelling} of lycosa {name} is not in the reference"


def test_strategies_and_judges_are_documented() -> None:
    table = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    assert [] == [name for name in (*STRATEGIES, *JUDGES) if f"`{name}`" not in table]


def test_options_are_documented(reference: str) -> None:
    for name, flag, _, _, _, text in describe():
        assert text, f"{name} has no help"
        assert f"`{name}`" in reference
        assert f"`{flag}`" in reference or name == "topic"
        assert text.replace("|", "\\|") in reference


def test_measured_tables_are_present() -> None:
    for name in ("benchmarks.md", "architecture.md"):
        assert "table -->" not in (ROOT / "docs" / name).read_text(encoding="utf-8"), name


def test_reference_is_up_to_date(reference: str) -> None:
    assert _tool("reference").reference() == reference


def test_documented_visit_fields_exist() -> None:
    assert set(_tool("reference").FIELDS) <= set(lycosa.core.types.Visit.__dataclass_fields__)


def test_relative_links_resolve() -> None:
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
            link = target[0] or target[1]
            if "://" in link or link.startswith("mailto:"):
                continue
            path, _, anchor = link.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {link} leads nowhere"
            if anchor:
                assert anchor in _anchors(file), f"{page.name}: {link} names a heading that {file.name} does not have"


@cache
def _anchors(page: Path) -> set[str]:
    """Return the anchors that code hosts generate for headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.paper("gouriten-algorithm-1")
def test_loop_steps_match_architecture_page() -> None:
    told = STEP.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))[:6]
    built = STEP.findall(engine.__doc__ or "")
    assert len(built) == 6
    assert built == told
    source = Path(engine.__file__).read_text("utf-8")
    for number, name, _ in built:
        assert re.search(rf"# .*\b{number}\. {name}", source), f"step {number}, {name}, is not marked in the code"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if RUNNABLE.search(page.read_text("utf-8"))], ids=lambda page: page.name
)
def test_python_examples_run(page: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "reefs/archive" in page.read_text("utf-8"):  # created by commands earlier on the page
        seed = server.url("open-directory.localhost")
        crawl = lycosa.crawl("coral reef", [seed], out="reefs", budget=10, delay=0, allow_network="127.0.0.0/8")
        assert any(visit.is_page for visit in crawl)
    if "pages.csv" in page.read_text("utf-8"):  # written by `lycosa export`
        addresses = (f"http://a.test/owls/{number}" for number in range(20))
        Path("pages.csv").write_text("\n".join(["url,title", *(f"{address},An owl" for address in addresses)]))
    names: dict[str, Any] = {"__name__": "example"}
    for block in RUNNABLE.findall(page.read_text("utf-8")):
        exec(compile(block.replace(":8123", f":{server.port}"), str(page), "exec"), names)


def test_lab_howto_experiment_is_valid(tmp_path: Path) -> None:
    from lycosa_lab.experiments import Experiment

    (shown,) = TOML.findall((ROOT / "docs" / "howto" / "lab.md").read_text("utf-8"))
    (tmp_path / "mine.toml").write_text(shown, encoding="utf-8")
    assert Experiment.load(tmp_path / "mine.toml").name == "mine"


def test_shown_lycosa_commands_exist() -> None:
    seen: set[str] = set()
    for page in PAGES:
        text = page.read_text("utf-8").replace("\\\n", " ")
        for shown in re.findall(r"^(?:\$ (?:\w+=(?:'[^']*'|\S+) )*)?lycosa ([a-z].*)$", _blocks(text), re.MULTILINE):
            words = shlex.split(shown.partition(" |")[0], comments=True)
            name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
            assert name in COMMANDS, f"{page.name}: there is no command lycosa {name}"
            options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            assert options <= _spellings(name), f"{page.name}: lycosa {shown}"
            seen.add(name)
    assert {"crawl", "lab run", "identity", "check"} <= seen


OUTSIDE = frozenset(
    ". apt awk cat cd cp createdb createuser curl docker echo export git goaccess head install journalctl jq ln ls "
    "mkdir mv pipx podman printf pywb read rm scrapy sort sqlite3 systemctl useradd uvx warc-tools".split()
)
"""External programs, whose calls are not checked; Lycosa commands that they start are."""


def test_other_shown_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    projects = [tomllib.loads(file.read_text("utf-8"))["project"] for file in ROOT.glob("packages/*/pyproject.toml")]
    extras = {project["name"]: set(project.get("optional-dependencies", ())) for project in projects}
    for page in PAGES:
        text = page.read_text("utf-8").replace("\\\n", " ")
        for package, asked in re.findall(r"\./packages/([\w-]+)(?:\[([\w,]+)\])?", text):
            assert package in extras, f"{page.name}: there is no package {package}"
            assert set(asked.split(",")) - {""} <= extras[package], f"{page.name}: {package}[{asked}]"
        for shown in re.findall(r"^ *\$ (?:\w+=(?:'[^']*'|\S+) )*(.+)$", _blocks(text), re.MULTILINE):
            plain = re.sub(r"^sudo (?:-u \S+ )?(?:env \S+ )?", "", shown)
            words = plain.split()
            program = Path(words[0]).name if words[0] != "." else "."
            where = f"{page.name}: {shown}"
            if program == "make":
                assert re.search(rf"^{words[1].partition('=')[0]}:", makefile, re.MULTILINE) or "=" in words[1], where
            elif program in ("python", "python3"):
                assert words[1].startswith("-") or (ROOT / words[1]).exists() or "/" not in words[1], where
            elif program == "pip":
                assert not any(word.strip("'").startswith("lycosa") for word in words), f"{where}: not on an index"
            elif program != "lycosa":
                assert words[0].partition("/")[0] in OUTSIDE or program in OUTSIDE | {"lycosa"}, where
                started = re.findall(r" lycosa ([a-z]+)(?= |$)", plain.partition("#")[0])
                assert set(started) <= {*COMMANDS, "env", "lycosa"}, where


def _blocks(text: str) -> str:
    """Return the terminal blocks of a page."""
    return "\n".join(re.findall(r"^ *```(?:console|text)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE))


def _spellings(name: str) -> set[str]:
    """Return the options of a command; for a group, those of its default command."""
    command = COMMANDS[name]
    usual = command.load(command.usual).params if hasattr(command, "usual") else []
    return {spelling for each in (*command.params, *usual) for spelling in (*each.opts, *each.secondary_opts)}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the API's OpenAPI schema."""
    from lycosa_server.app import create_app
    from lycosa_server.people.credentials import Passwords
    from lycosa_server.settings import Settings

    cheap = Passwords(time_cost=1, memory_cost=8, parallelism=1)
    app = create_app(Settings(tmp_path_factory.mktemp("schema")), passwords=cheap)
    app.state.site.database.close()
    return app.openapi()


@pytest.fixture(scope="module")
def operations(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the operations by method and path."""
    return {f"{method.upper()} {path}": told for path, way in schema["paths"].items() for method, told in way.items()}


def test_documented_routes_exist(operations: dict[str, Any]) -> None:
    known = {re.sub(r"\{\w+\}", "{}", route.replace("/api/v1", "")) for route in operations}
    for page in ("api.md", "serve.md", "privacy.md", "howto/team.md"):
        text = (ROOT / "docs" / page).read_text("utf-8")
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) ([^`\s?]+)", text):
            route = f"{method} {re.sub(r'{.*?}', '{}', path.removeprefix('/api/v1'))}"
            assert route in known, f"{page}: no {method} {path}"


def test_api_guide_lists_all_routes(operations: dict[str, Any]) -> None:
    tool, guide = _tool("server_docs"), (ROOT / "docs" / "api.md").read_text("utf-8")
    assert tool.ROUTES.search(guide)[0] == tool.routes(), "run tools/server_docs.py --routes"
    assert {route.replace("/api/v1", "") for route in operations} == set(
        re.findall(r"^\| `([A-Z]+ /\S+)` \|", guide, re.MULTILINE)
    )
    tags = {tag for told in operations.values() for tag in told["tags"]}
    assert tags == set(re.findall(r"^\| \*\*(\w+)\*\* \|", guide, re.MULTILINE))


def test_api_guide_responses_fit_schema(schema: dict[str, Any], operations: dict[str, Any]) -> None:
    tool = _tool("server_docs")
    calls = tool.calls((ROOT / "docs" / "api.md").read_text("utf-8"))
    shapes = 0
    for call in calls:
        answer = call.response
        if answer is None or set(answer) == {"detail"}:
            patterns = [re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route)) for route in operations]
            assert any(re.fullmatch(pattern, call.route) for pattern in patterns), f"no {call.route}"
            continue
        told = operations[call.route]["responses"]
        good = next(told[status] for status in told if status.startswith("2"))
        assert [] == tool.misfits(schema, good["content"]["application/json"]["schema"], answer, call.route)
        shapes += 1
    assert shapes >= 10


def test_schema_misfits_are_found(schema: dict[str, Any]) -> None:
    tool = _tool("server_docs")
    part = {"$ref": "#/components/schemas/ChangeList"}
    change = {"crawl": None, "since": "now", "changes": [{"seq": 1}], "more": True}
    wrong = " ".join(tool.misfits(schema, part, change))
    for words in ("'more'", "'last_visit'", "since is no number", "changes[0] lacks"):
        assert words in wrong
    assert tool.unlike({"a": [{"b": 1}]}, {"a": [{"b": "1"}], "c": 2}) != []
    assert tool.unlike({"a": [{"b": 1}], "c": None}, {"a": [], "c": 2}) == []


def test_documented_server_commands_exist() -> None:
    for page in PAGES:
        text = page.read_text("utf-8").replace("\\\n", " ")
        for name, rest in re.findall(r"\blycosa (serve|backup|restore)((?: [^\s`#|'\"]+)*)", text):
            assert set(re.findall(r"(?<=\s)--?[a-z][\w-]*", rest)) <= _spellings(name), f"lycosa {name}{rest}"
        if page.name == "team.md":
            table = set(re.findall(r"^\| (`--.+?`) \|", text, re.MULTILINE))
            assert table
            assert {option for row in table for option in re.findall(r"--[\w-]+", row)} <= _spellings("serve")


def test_privacy_page_covers_every_table() -> None:
    from lycosa_server.people.schema import metadata

    told = (ROOT / "docs" / "privacy.md").read_text("utf-8").partition("## In a crawl's directory")[0]
    assert {*metadata.tables, "alembic_version"} == set(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE))


def test_tests_named_in_architecture_exist() -> None:
    for row in (ROOT / "docs" / "architecture.md").read_text("utf-8").split("\n"):
        for file, names in re.findall(r"\]\(\.\./((?:packages/\S+/)?tests/\S+\.py)\)((?::? ?,? ?`test_\w+`)*)", row):
            source = (ROOT / file).read_text("utf-8")
            for name in re.findall(r"`(test_\w+)`", names):
                assert f"def {name}(" in source, f"{file} has no {name}: name the test that holds this now"


def test_readme_shows_demo_and_test_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text("utf-8").split("\n")[:50])
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for command in ("demo", "test"):
        assert f"make {command}" in first_screen
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)


def test_pages_are_linked() -> None:
    linked = "\n".join(page.read_text("utf-8") for page in PAGES)
    for page in PAGES:
        assert page.name == "README.md" or page.name in linked, f"nothing links to {page.relative_to(ROOT)}"
