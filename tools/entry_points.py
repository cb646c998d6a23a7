"""Write the entry points of a checkout where Python finds them, for what runs from the sources without `pip install`.

`python tools/entry_points.py DIR [ROOT]` writes DIR/NAME-VERSION.dist-info; DIR has to be on Python's path.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write(directory: Path, root: Path = ROOT) -> str:
    """Write those of all packages of a checkout; return the directory."""
    for file in (root / "pyproject.toml", *root.glob("packages/*/pyproject.toml")):
        project = tomllib.loads(file.read_text("utf-8")).get("project", {}) if file.exists() else {}
        if "name" not in project:
            continue
        groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
        lines = []
        for group, entries in groups.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        name, version = project["name"], project.get("version", "0")
        place = directory / f"{name.replace('-', '_')}-{version}.dist-info"
        place.mkdir(parents=True, exist_ok=True)
        (place / "entry_points.txt").write_text("\n".join(lines), "utf-8")
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    return str(directory)


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
