"""Search for an installed Chromium and Playwright."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.browser.finding import CHROMIUM, find_chromium, missing_requirements


@pytest.fixture(autouse=True)
def empty_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/opt/mine" if name == "mine" else None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))


def installed_by_playwright(home: Path, version: int) -> Path:
    program = home / f"chromium-{version}" / "chrome-linux" / "chrome"
    program.parent.mkdir(parents=True)
    program.touch()
    return program


def test_find_chromium_rejects_missing_program() -> None:
    assert "/opt/mine" == find_chromium("mine")
    with raises_input_error("missing-file", match="--browser nowhere"):
        find_chromium("nowhere")


def test_find_chromium_prefers_newest_of_playwright(tmp_path: Path) -> None:
    assert "" == find_chromium()
    newest = installed_by_playwright(tmp_path, 2)
    older = installed_by_playwright(tmp_path, 1)
    os.utime(older, (0, 0))
    assert str(newest) == find_chromium()


def test_missing_requirements_lists_both_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert f"pip install 'lycosa[browser]'; and {CHROMIUM}" == missing_requirements()
    installed_by_playwright(tmp_path, 1)
    assert "pip install 'lycosa[browser]'" == missing_requirements()
