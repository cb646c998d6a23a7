"""`lycosa topics`, `lycosa strategies`, `lycosa spaces`: what there is to choose from, and all about one of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from lycosa.cli.parameters import Json, judge_names, space_names, strategy_names
from lycosa.cli.printing import listing, output, print_json
from lycosa.core.errors import InputError
from lycosa.core.options import STRATEGY
from lycosa.core.spec import Entry, Registry, describe_type, parameters
from lycosa.core.strategies import steer
from lycosa.estimators import BROWSING, GROUPS, STEERING, STRATEGIES, TAXONOMY, TRUTH
from lycosa.estimators import describe as describe_strategy
from lycosa.spaces import SPACES
from lycosa.spaces import describe as describe_space
from lycosa.topics import TOPICS
from lycosa.topics import describe as describe_topic

WIDE = 110  # columns of the terminal; narrower ones show papers behind the line
_ITEM = re.compile(r"[a-z_]+: |[-*] ")

Parameters = Mapping[str, tuple[Any, Any]]

_FLAGS = {
    "words or examples": "'coral reefs'",
    "words": "'coral reefs'",
    "expression": "--regex 'corals?'",
    "training": "--model FILE --target CLASS",
    "browsing": "--strategy hmm,file=FILE",
    "": "--space graph,file=FILE,scores=FILE",
}

# what strategies that go by a file need
_BY_FILE = {
    TAXONOMY: ("--model FILE --target CLASS", ",file=FILE"),
    TRUTH: ("'coral reefs'", ",scores=FILE"),
    BROWSING: ("", ",file=FILE"),
}

_TO_START = {
    "web": "'coral reefs' --seed URL",
    "social": "'coral reefs' --space social,server=URL --seed NAME",
    "search-form": "--space 'search-form,url=https://site.example/search?q={}' --seed water",
    "graph": "--space graph,file=links.tsv,scores=scores.tsv --seed NODE",
    "gossip": "'coral reefs' --space gossip,file=network.tsv,documents=documents.tsv --seed PEER",
    "acquaintance": "--space acquaintance,file=knows.tsv,traits=people.tsv,receiver=NAME --seed SENDER",
}


def topics(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Show details and parameters of this one.",
            autocompletion=judge_names,
        ),
    ] = "",
    json: Json = False,
) -> None:
    """List the judges for --judge, or describe one."""
    if not name:
        more = "Details and parameters: lycosa topics NAME. Use it: lycosa crawl --judge NAME"
        _show_all(TOPICS, ("judge", "what it measures", "needs"), more, json=json)
        return
    name, entry = _chosen(name, TOPICS, "judge")
    takes = describe_topic(name)
    example = f"for example: lycosa crawl {_FLAGS[entry.needs]} --judge {name}{_setting(takes)} --seed URL"
    _show_one(TOPICS, name, "needs", {"parameter": takes}, example, json=json)


def strategies(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Show details and parameters of this one.", autocompletion=strategy_names),
    ] = "",
    json: Json = False,
) -> None:
    """List the strategies for --strategy, or describe one."""
    if not name:
        more = "Details and parameters: lycosa strategies NAME. Use it: lycosa crawl --strategy NAME"
        _show_all(STRATEGIES, ("strategy", "how it chooses", "needs"), more, json=json, groups=GROUPS)
        return
    name, entry = _chosen(name, STRATEGIES, "strategy")
    groups = {"parameter": describe_strategy(name)}
    if not hasattr(STRATEGIES.maker(name), "pick"):  # those that choose among several steer by themselves
        groups["of every strategy"] = {key: told for key, told in parameters(steer).items() if key in STEERING}
    takes = groups["parameter"] or groups.get("of every strategy", {})
    topic, setting = _BY_FILE.get(entry.needs, ("'coral reefs'", _setting(takes)))
    example = f"for example: lycosa crawl {topic} --strategy {name}{setting} --seed URL".replace("  ", " ")
    _show_one(STRATEGIES, name, "needs", groups, example, json=json)


def spaces(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Show details and parameters of this one.", autocompletion=space_names)
    ] = "",
    json: Json = False,
) -> None:
    """List the spaces for --space, or describe one."""
    if not name:
        more = "Details and parameters: lycosa spaces NAME. Use it: lycosa crawl --space NAME,..."
        _show_all(SPACES, ("space", "what is in it", "seed"), more, json=json)
        return
    name, _ = _chosen(name, SPACES, "space")
    example = f"for example: lycosa crawl {_TO_START[name]}"
    _show_one(SPACES, name, "seed", {"parameter": describe_space(name)}, example, json=json)


def _chosen(name: str, registry: Registry[Any], what: str) -> tuple[str, Entry]:
    """The one of that name; parameters behind it are passed over."""
    wanted = name.partition(",")[0].strip()
    if wanted not in registry:
        raise InputError(f"unknown {what} {wanted!r}; available: {', '.join(registry)}")
    return wanted, registry[wanted]


def _setting(takes: dict[str, tuple[object, object]]) -> str:
    """A parameter as it is written behind a name: the first that has a value to write."""
    for key, (_, default) in takes.items():
        if key != "threshold" and isinstance(default, float | int | str) and default not in ("", True, False):
            return f",{key}={default:g}" if isinstance(default, float) else f",{key}={default}"
    return ""


# -- how it is shown -------------------------------------------------------------------------------------------


def _as_data(name: str, entry: Entry, label: str) -> dict[str, Any]:
    return {"name": name, "summary": entry.summary, label: entry.needs, "paper": entry.paper}


def _show_all(
    registry: Registry[Any],
    titles: tuple[str, str, str],
    more: str,
    *,
    json: bool,
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> None:
    """A line for each, under headings if there are any; `more` says how to learn more about one."""
    label = titles[2]
    if json:
        print_json([_as_data(name, entry, label) for name, entry in registry.items()])
        return
    console = output()
    wide = console.width >= WIDE
    shares = (None, None, None) if console.width > 2 * WIDE else (3, 1, 2)
    first = Column(titles[0], style="bold", no_wrap=True, min_width=max(map(len, registry)))
    columns = [first, *(Column(title, ratio=share) for title, share in zip(titles[1:], shares, strict=False))]
    columns += [Column("paper", style="dim", ratio=shares[2])] if wide else []
    for number, (title, names) in enumerate((groups or {"": tuple(registry)}).items()):
        if title:
            console.print(f"[bold]{title}[/]")
        rows = (_row(name, registry[name], wide=wide, default=bool(groups) and name == STRATEGY) for name in names)
        console.print(listing(deepcopy(columns), rows, pad_edge=False, show_header=not number))
        if title:
            console.print()
    console.print(more, style="dim")


def _row(name: str, entry: Entry, *, wide: bool, default: bool) -> list[str | Text]:
    summary = Text(entry.summary)
    if default:
        summary.append(" (default)", "bold")
    if entry.paper and not wide:
        summary.append(f" ({entry.paper})", "dim")
    return [name, summary, entry.needs or "-", *([entry.paper or "-"] if wide else [])]


def _show_one(
    registry: Registry[Any], name: str, label: str, groups: Mapping[str, Parameters], example: str, *, json: bool
) -> None:
    """Everything about one: what it does, its parameters by group, an example of how to ask for it."""
    entry = registry[name]
    about = _about(inspect.getdoc(registry.maker(name)) or "")
    if json:
        taken = [
            {"name": key, "type": describe_type(kind), "default": None if _is_required(default) else default}
            for group in groups.values()
            for key, (kind, default) in group.items()
        ]
        print_json({**_as_data(name, entry, label), "about": "\n\n".join(about), "parameters": taken})
        return
    console = output()
    console.print(f"[bold]{escape(name)}[/]: {escape(entry.summary)}")
    for title, text in ((label, entry.needs), ("paper", entry.paper)):
        if text:
            console.print(f"[dim]{title}[/] {escape(text)}")
    for paragraph in about:
        console.print()
        console.print(Padding(escape(paragraph), (0, 0, 0, 2), expand=False))
    for title, group in groups.items():
        console.print()
        _show_parameters(console, title, group)
    console.print(f"\n{escape(example)}", style="dim", soft_wrap=True)


def _show_parameters(console: Console, title: str, group: Parameters) -> None:
    if not group:
        console.print("no parameters")
        return
    columns = [Column(title, style="bold", no_wrap=True), Column("is"), Column("default")]
    rows = ((name, describe_type(kind), _told(default)) for name, (kind, default) in group.items())
    console.print(listing(columns, rows, padding=(0, 2, 0, 0), pad_edge=False))


def _is_required(default: Any) -> bool:
    return default is inspect.Parameter.empty


def _told(default: Any) -> str:
    """A default as it would be typed."""
    if _is_required(default):
        return "required"
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, tuple | list):
        return "+".join(map(str, default)) or "none"
    return f"{default:g}" if isinstance(default, float) else str(default) if default not in (None, "") else "none"


def _about(doc: str) -> list[str]:
    """A docstring's paragraphs without its examples; lines are joined, but for lists."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", doc):
        if block.lstrip().startswith(">>>") or not block.strip():
            continue
        lines: list[str] = []
        for line in block.split("\n"):
            item = _ITEM.match(line) and lines and lines[-1].endswith((".", ":", ";"))
            if lines and not line.startswith(" ") and not item:
                lines[-1] += f" {line.strip()}"
            else:
                lines.append(line.rstrip())
        paragraphs.append("\n".join(lines))
    return paragraphs
