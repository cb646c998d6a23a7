"""Plugins: what installed packages add to Lycosa, found by their entry points.

lycosa.commands    a function, or a group of commands
lycosa.strategies  a class or function that makes a strategy, as in `--strategy module:Class`
lycosa.judges      the same for `--judge`
lycosa.spaces      the same for `--space`
lycosa.exporters   a `lycosa.collection.export.Format`
lycosa.runners     a `lycosa.crawling.runners.Runner`, for `--cluster`

Entry points are looked up for names that nothing built in has, and for lists: reading the metadata of all installed
packages takes tens of milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lycosa.core.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PREFIX = "lycosa."
GROUPS = ("commands", "strategies", "judges", "spaces", "exporters", "runners")

RESERVED = {
    "commands": {"serve": "lycosa-server", "backup": "lycosa-server", "restore": "lycosa-server", "lab": "lycosa-lab"},
    "runners": {"ray": "lycosa-cluster"},
}


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package."""

    group: str
    name: str
    value: str  # module:attribute
    package: str
    version: str
    place: str  # directory that the package is installed in
    entry: EntryPoint

    @property
    def is_ours(self) -> bool:
        return self.package in ("lycosa", "lycosa-cluster", "lycosa-lab", "lycosa-scrapy", "lycosa-server")

    @property
    def owner(self) -> str:
        """The package of this project that the name is reserved for, if this is another one."""
        return "" if self.is_ours else RESERVED.get(self.group, {}).get(self.name, "")

    def load(self) -> Any:
        """Import it; what a package raises meanwhile becomes an InputError."""
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"cannot load {self.name} ({self.value}) of the package {self.package}: {what}") from error


@cache
def installed() -> tuple[Plugin, ...]:
    """Return the plugins of all packages: this project's own first, the others by their packages' names."""
    from importlib import metadata  # 20 ms, which most commands can do without

    found: dict[str, list[Plugin]] = {}
    for each in metadata.distributions():
        if PREFIX not in (each.read_text("entry_points.txt") or ""):
            continue
        package = re.sub(r"[-_.]+", "-", each.name or "").lower()
        # Python imports the first of two installations of a package.
        found.setdefault(
            package,
            [
                Plugin(group, entry.name, entry.value, package, each.version, str(each.locate_file("")), entry)
                for group in GROUPS
                for entry in each.entry_points
                if entry.group == PREFIX + group
            ],
        )
    everything = (plugin for package in sorted(found) for plugin in found[package])
    return tuple(sorted(everything, key=lambda plugin: (GROUPS.index(plugin.group), not plugin.is_ours)))


def named(group: str) -> dict[str, Plugin]:
    """Return the plugins of a group by name; of several with the same name, the first that may have it."""
    return {plugin.name: plugin for plugin in reversed(installed()) if plugin.group == group and not plugin.owner}


def missing(group: str, name: str, what: str = "") -> InputError | None:
    """Return an error that says how to get a plugin of this project; None if the name is not reserved."""
    package = RESERVED.get(group, {}).get(name)
    return InputError(f"{what or name} needs the package {package}: pip install {package}") if package else None
