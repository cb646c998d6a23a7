"""Where things lie: the files to serve, and what Lycosa keeps for a user between runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lycosa.core.errors import InputError

ENDINGS = (".warc", ".warc.gz", ".wacz")


def cache_directory() -> Path:
    """For what can be made again."""
    return _home("XDG_CACHE_HOME", ".cache") / "lycosa"


def data_directory() -> Path:
    """For what can't."""
    return _home("XDG_DATA_HOME", ".local/share") / "lycosa"


def _home(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    return Path(named) if os.path.isabs(named) else Path.home() / usual


def archives(named: Iterable[Path]) -> list[Path]:
    """The files that some files and directories stand for, each once; a crawl's directory stands for its archive."""
    files: dict[Path, None] = {}
    for path in named:
        if not path.exists():
            raise InputError(f"there is no {path}: name WARC files, or directories of them")
        if not path.is_dir():
            files[path] = None
            continue
        inside = path / "archive" if (path / "archive").is_dir() else path
        listing = sorted(file for file in inside.iterdir() if file.name.endswith(ENDINGS) and file.is_file())
        if not listing:
            raise InputError(f"no WARC files in {inside}: their names end in {', '.join(ENDINGS)}")
        files.update(dict.fromkeys(listing))
    return list(files)
