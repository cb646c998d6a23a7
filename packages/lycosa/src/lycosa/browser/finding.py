"""The browser that is installed, and the library that drives it. Nothing is downloaded."""

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
    """Where a Chromium is; empty if there is none. One that was named has to be there."""
    if named:
        found = shutil.which(named)
        if found is None:
            raise InputError(f"--browser {named}: no program is there; name a Chromium, or leave it out")
        return found
    for name in (*NAMES, *_PLACES):
        if found := shutil.which(name):
            return found
    return _of_playwright()


def _of_playwright() -> str:
    """The one that a user has had Playwright install, the newest."""
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


def what_is_missing(named: str = "") -> str:
    """What a user has to do before pages can be rendered; empty: nothing."""
    todo = [] if importlib.util.find_spec("playwright") is not None else ["pip install 'lycosa[browser]'"]
    if not find_chromium(named):
        todo.append(CHROMIUM)
    return "; and ".join(todo)
