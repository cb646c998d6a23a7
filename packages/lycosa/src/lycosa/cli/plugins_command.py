"""`lycosa plugins`: list extensions from installed packages."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Column

from lycosa.cli.main import RootCommands
from lycosa.cli.parameters import BUILT_IN, Json, built_in
from lycosa.cli.printing import Part, listing, print_result
from lycosa.core.errors import InputError
from lycosa.core.plugins import Plugin, installed, named


def plugins(*, json: Json = False) -> None:
    """List what installed packages add, and whether it loads.

    Packages add commands, strategies, judges, spaces, exporters and runners by entry points. Exit code 1 if one of them
    fails to load.
    """
    rows = [_facts(plugin) for plugin in installed()]
    print_result(rows, _parts(rows), json=json)
    if any(row["state"] == "fails" for row in rows):
        raise typer.Exit(1)


def _facts(plugin: Plugin) -> dict[str, Any]:
    state, why = "loads", _hidden(plugin)
    if why:
        state = "hidden"
    else:
        try:
            plugin.load()
        except InputError as error:
            state, why = "fails", str(error)
    names = ("group", "name", "package", "version", "value", "directory")
    return {**{name: getattr(plugin, name) for name in names}, "state": state, "why": why}


def _hidden(plugin: Plugin) -> str:
    commands = RootCommands.built_in if plugin.group == "commands" else ()
    if plugin.name in (built_in(plugin.group) if plugin.group in BUILT_IN else commands):
        return f"{plugin.name} is built in"
    if plugin.owner:
        return f"{plugin.name} is reserved for the package {plugin.owner}"
    first = named(plugin.group)[plugin.name]
    return "" if first == plugin else f"the package {first.package} has a {plugin.name}, too"


def _parts(rows: list[dict[str, Any]]) -> list[Part]:
    if not rows:
        return ["no installed package adds anything"]
    columns = [Column("group"), Column("name", style="bold"), Column("package"), Column("from"), Column("state")]
    shown = [
        (row["group"], row["name"], f"{row['package']} {row['version']}", row["value"], row["state"]) for row in rows
    ]
    return [listing(columns, shown, pad_edge=False), *(f"{row['state']}: {row['why']}" for row in rows if row["why"])]
