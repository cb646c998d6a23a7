"""Finds an installed Chromium and Playwright; nothing is downloaded."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from lycosa.core.errors import InputError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/snap/bin/chromium",
)
CHROMIUM = "install Chromium (Debian: apt install chromium), or run 'playwright install chromium'"


def find_chromium(named: str = "") -> str:
    """Return the path of a Chromium, or ""; InputError if a named one does not exist."""
    if named:
        found = shutil.which(named)
        if found is None:
            raise InputError(
                "missing-file", f"--browser {named}: no such program; give Chromium's path, or leave it out"
            )
        return found
    return next(filter(None, map(shutil.which, (*NAMES, *_PLACES))), None) or _of_playwright()


def _of_playwright() -> str:
    homes = {"darwin": Path.home() / "Library/Caches", "win32": Path(os.environ.get("LOCALAPPDATA", ""))}
    base = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    place = Path(base) if base not in ("", "0") else homes.get(sys.platform, Path.home() / ".cache") / "ms-playwright"
    found = [
        path
        for pattern in ("chromium-*/chrome-*/chrome", "chromium-*/chrome-*/Chromium.app/Contents/MacOS/Chromium")
        for path in place.glob(pattern)
    ]
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    return str(newest) if newest is not None else ""


def missing_requirements(named: str = "") -> str:
    """Return the steps that are needed before pages can be rendered; "" if none are."""
    todo = [] if importlib.util.find_spec("playwright") is not None else ["pip install 'lycosa[browser]'"]
    if not find_chromium(named):
        todo.append(CHROMIUM)
    return "; and ".join(todo)
