"""A real browser behind a proxy."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

from lycosa.replay.proxy import LocalProxy
from places import ROOT

FINDER = ROOT / "tools" / "chromium"


@contextmanager
def chromium(proxy: LocalProxy, profile: Path) -> Iterator[BrowserContext]:
    """Start Chromium so that it reaches the web through the proxy only."""
    found = subprocess.run([FINDER, "find"], capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("no Chromium on this machine: 'make test' installs one where it can (tools/chromium)")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=found.stdout.strip(),
            headless=True,
            timeout=180_000,
            proxy={"server": proxy.address, "bypass": "<-loopback>"},
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                f"--ignore-certificate-errors-spki-list={proxy.authority.pin}",
            ],
        )
        context.set_default_timeout(60_000)
        try:
            yield context
        finally:
            context.close()
