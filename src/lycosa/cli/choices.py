"""What can be chosen by name: a list of it, and all about one. For `lycosa strategies`, `topics` and `spaces`."""

from __future__ import annotations

import inspect
import json as jsonlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from lycosa.cli.manners import output
from lycosa.core.spec import describe_type

WIDE = 110
"""From this width on the list has a column for papers; below, they stand behind the line."""

_ITEM = re.compile(r"[a-z_]+: |[-*] ")

Parameters = Mapping[str, tuple[Any, Any]]


@dataclass
class Choice:
    """Something that has a name, for the list."""

    name: str
    summary: str
    needs: str
    paper: str
    label: str = "needs"
    """What `needs` is called: for a space it is what its seeds are."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "summary": self.summary, self.label: self.needs, "paper": self.paper}


def show_all(choices: Sequence[Choice], titles: tuple[str, str], more: str, *, json: bool) -> None:
    """A line for each; `more` says how to learn more about one."""
    if json:
        print(jsonlib.dumps([choice.as_dict() for choice in choices]))
        return
    console = output()
    wide = console.width >= WIDE
    table = Table(box=None, padding=(0, 1), show_edge=False, pad_edge=False)
    table.add_column(titles[0], style="bold", no_wrap=True)
    table.add_column(titles[1], ratio=None if console.width > 2 * WIDE else 3)
    table.add_column(choices[0].label, ratio=None if console.width > 2 * WIDE else 1)
    if wide:
        table.add_column("paper", style="dim", ratio=None if console.width > 2 * WIDE else 2)
    for choice in choices:
        name, summary, needs, paper = map(escape, (choice.name, choice.summary, choice.needs or "-", choice.paper))
        if wide:
            table.add_row(name, summary, needs, paper or "-")
        else:
            table.add_row(name, f"{summary} [dim]({paper})[/]" if paper else summary, needs)
    console.print(table)
    console.print(more, style="dim", highlight=False)


def show_one(choice: Choice, maker: Any, groups: Mapping[str, Parameters], example: str, *, json: bool) -> None:
    """Everything about one: what it does, its parameters by group, an example of how to ask for it."""
    about = _about(inspect.getdoc(maker) or "")
    if json:
        told = [
            {"name": name, "type": describe_type(kind), "default": None if _is_required(default) else default}
            for parameters in groups.values()
            for name, (kind, default) in parameters.items()
        ]
        print(jsonlib.dumps({**choice.as_dict(), "about": "\n\n".join(about), "parameters": told}))
        return
    console = output()
    console.print(f"[bold]{escape(choice.name)}[/]: {escape(choice.summary)}", highlight=False)
    for label, text in ((choice.label, choice.needs), ("paper", choice.paper)):
        if text:
            console.print(f"[dim]{label}[/] {escape(text)}", highlight=False)
    for paragraph in about:
        console.print()
        console.print(Padding(escape(paragraph), (0, 0, 0, 2), expand=False), highlight=False)
    for title, parameters in groups.items():
        console.print()
        _parameters(console, title, parameters)
    console.print(f"\n{escape(example)}", style="dim", highlight=False, soft_wrap=True)


def _parameters(console: Console, title: str, parameters: Parameters) -> None:
    if not parameters:
        console.print("no parameters", highlight=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column(title, style="bold", no_wrap=True)
    table.add_column("is")
    table.add_column("default")
    for name, (kind, default) in parameters.items():
        table.add_row(escape(name), escape(describe_type(kind)), escape(_told(default)))
    console.print(table)


def _is_required(default: Any) -> bool:
    return default is inspect.Parameter.empty


def _told(default: Any) -> str:
    """A default as it would be typed."""
    if _is_required(default):
        return "has to be given"
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
