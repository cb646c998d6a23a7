"""Watchdog and cleanup of browsers after their owner was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_helpers import needs_browser
from lycosa.browser import orphans
from places import ROOT
from served import wait

LOOP = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from browser_helpers import Staged, answer, space_of
from lycosa.browser.finding import find_chromium
from lycosa.browser.rendering import Rendering
from lycosa.core.options import Options

async def main():
    space, rendering = space_of(Staged({{}})), Rendering(Options(render="always"), find_chromium())
    while True:
        page = await rendering.render("http://app.example/", answer(b"<script>1</script>x"), space.resources.fetch)
        print(rendering.browser.directory, flush=True)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def temporary_directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use another directory for temporary files, which other tests do not clean; Chromium needs a short path."""
    with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield


@needs_browser
def test_watchdog_cleans_up_after_kill_9() -> None:
    code = LOOP.format(tests=str(ROOT / "tests" / "helpers"))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        directory = Path(process.stdout.readline().strip())
        assert orphans.processes(str(directory))
        assert not orphans.is_orphan(directory)
        process.send_signal(signal.SIGKILL)
    wait(lambda: not orphans.processes(str(directory)) and not directory.exists(), "something is left")


def test_sweep_kills_browsers_of_dead_owners() -> None:
    orphaned, owned = orphans.create_directory(), orphans.create_directory()
    (orphaned / orphans.OWNER).write_text("1 0\n")
    with subprocess.Popen([sys.executable, "-c", "input()", str(orphaned)], stdin=subprocess.PIPE) as stray:
        wait(lambda: [stray.pid] == orphans.processes(str(orphaned)), "its arguments can't be seen")
        assert 1 == orphans.sweep()
        assert -signal.SIGKILL == stray.wait()
    assert (False, True) == (orphaned.exists(), owned.exists())


def test_is_orphan_recognises_reused_process_ids() -> None:
    directory = orphans.create_directory()
    assert not orphans.is_orphan(directory)
    (directory / orphans.OWNER).write_text(f"{os.getpid()} 12345\n")
    assert orphans.is_orphan(directory)


def test_watchdog_cleans_up_when_its_input_closes() -> None:
    directory = orphans.create_directory()
    watchdog = orphans.start_watchdog(directory, 100)
    assert directory.exists()
    assert watchdog.stdin is not None
    watchdog.stdin.close()
    assert (0, False) == (watchdog.wait(), directory.exists())
