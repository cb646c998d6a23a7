"""Locations of the files to serve and of per-user data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lycosa.core.errors import InputError

ENDINGS = (".warc", ".warc.gz", ".wacz")


def cache_directory() -> Path:
    """Return the directory for caches."""
    return _home("XDG_CACHE_HOME", ".cache") / "lycosa"


def data_directory() -> Path:
    """Return the directory for data that cannot be recreated."""
    return _home("XDG_DATA_HOME", ".local/share") / "lycosa"


def _home(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    return Path(named) if os.path.isabs(named) else Path.home() / usual


def archives(named: Iterable[Path]) -> list[Path]:
    """Return the files in some files and directories, each once; of a crawl's directory those of its archive."""
    files: dict[Path, None] = {}
    for path in named:
        if not path.exists():
            raise InputError("missing-file", f"{path} does not exist: give WARC files, or directories of them")
        if not path.is_dir():
            files[path] = None
            continue
        inside = path / "archive" if (path / "archive").is_dir() else path
        listing = sorted(file for file in inside.iterdir() if file.name.endswith(ENDINGS) and file.is_file())
        if not listing:
            raise InputError("missing-file", f"no WARC files in {inside}: their names end in {', '.join(ENDINGS)}")
        files.update(dict.fromkeys(listing))
    return list(files)
