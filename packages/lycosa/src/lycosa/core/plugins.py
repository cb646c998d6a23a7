"""Plugins of installed packages, discovered through entry points.

lycosa.commands    a function or a command group
lycosa.strategies  a class or factory of strategies, as in `--strategy module:Class`
lycosa.judges      a class or factory of judges, for `--judge`
lycosa.spaces      a class or factory of spaces, for `--space`
lycosa.exporters   a `lycosa.collection.export.Format`
lycosa.runners     a `lycosa.crawling.runners.Runner`, for `--cluster`
lycosa.stopping    a class of stopping rules, for `--until`

Reading all metadata takes tens of milliseconds, so it is only done for names that are not built in, and for listings.
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
GROUPS = ("commands", "strategies", "judges", "spaces", "exporters", "runners", "stopping")

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
    directory: str  # where the package is installed
    entry: EntryPoint

    @property
    def is_ours(self) -> bool:
        return self.package in ("lycosa", "lycosa-cluster", "lycosa-lab", "lycosa-scrapy", "lycosa-server")

    @property
    def owner(self) -> str:
        """Name of the Lycosa package that the plugin's name is reserved for; empty if this plugin may use it."""
        return "" if self.is_ours else RESERVED.get(self.group, {}).get(self.name, "")

    def load(self) -> Any:
        """Import the plugin; raise InputError if that fails for any reason."""
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            plugin = f"{self.name} ({self.value}) of the package {self.package}"
            raise InputError("plugin-load-failed", f"cannot load {plugin}: {reason}") from error


@cache
def installed() -> tuple[Plugin, ...]:
    """Return all plugins by group; in each group Lycosa's own come first, then the others by package name."""
    from importlib import metadata  # takes 20 ms

    by_package: dict[str, list[Plugin]] = {}
    for package in metadata.distributions():
        if PREFIX not in (package.read_text("entry_points.txt") or ""):
            continue
        name = re.sub(r"[-_.]+", "-", package.name or "").lower()
        # setdefault: Python imports the first of two installations of a package.
        by_package.setdefault(
            name,
            [
                Plugin(group, entry.name, entry.value, name, package.version, str(package.locate_file("")), entry)
                for group in GROUPS
                for entry in package.entry_points
                if entry.group == PREFIX + group
            ],
        )
    plugins = (plugin for name in sorted(by_package) for plugin in by_package[name])
    return tuple(sorted(plugins, key=lambda plugin: (GROUPS.index(plugin.group), not plugin.is_ours)))


def named(group: str) -> dict[str, Plugin]:
    """Return the plugins of a group by name, without reserved names; of several with one name the first."""
    return {plugin.name: plugin for plugin in reversed(installed()) if plugin.group == group and not plugin.owner}


def missing(group: str, name: str, feature: str = "") -> InputError | None:
    """Return an error that says which package has a reserved name or `feature`; None if the name is not reserved."""
    package = RESERVED.get(group, {}).get(name)
    if not package:
        return None
    return InputError("missing-package", f"{feature or name} needs the package {package}: pip install {package}")
