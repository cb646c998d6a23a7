"""A real browser that records console messages and requests, so that tests can assert there were none."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

from places import ROOT
from served import wait

PASSWORD = "correct horse battery"
PATIENCE = 60_000
"""Timeout of a step in milliseconds, generous for a busy machine."""

AGAIN = 5
"""Retries of a request whose idle connection the server has just closed."""

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@cache
def chromium() -> str:
    """Return the path of Chromium, or an empty string."""
    found = subprocess.run([ROOT / "tools" / "chromium", "find"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


needs_browser = pytest.mark.skipif(not chromium(), reason="no Chromium: tools/chromium installs one")


@contextmanager
def browser() -> Iterator[Any]:
    """Start a browser; each user gets a context of their own."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)  # for all assertions; the default of five seconds is short on a busy machine
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"], timeout=3 * PATIENCE)
        yield running
        running.close()


@dataclass
class Watch:
    """Unexpected events in the pages of a context: console messages, errors and origins of requests."""

    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def follow(self, context: Any) -> None:
        """Record events of all pages of a context, including popups."""
        context.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text))
        context.on("weberror", lambda wrong: self.complaints.append(str(wrong.error)))
        context.on("dialog", lambda shown: self.dialogs.append(shown.message) or shown.dismiss())
        context.on("request", lambda request: self.asked.append(request.url))

    def origins(self) -> set[str]:
        """Return the origins of all requests."""
        parts = [urlsplit(url) for url in self.asked]
        return {f"{part.scheme}://{part.netloc}" for part in parts if part.scheme not in ("about", "blob")}


def file_page(running: Any, **told: Any) -> Any:
    """Open a page for local files."""
    page = running.new_page(**told)
    page.set_default_timeout(PATIENCE)
    return page


def new_page(running: Any, base: str, watch: Watch, **told: Any) -> Any:
    """Open a page in a new context without a session."""
    context = running.new_context(base_url=base, **{"viewport": WIDE, **told})
    context.set_default_timeout(PATIENCE)
    watch.follow(context)
    return context.new_page()


def resize(page: Any, size: dict[str, int]) -> None:
    """Resize the window and wait for the layout; a page that stays too wide is left to the test."""
    page.set_viewport_size(size)
    script = "width => innerWidth === width && document.documentElement.scrollWidth <= width"
    with suppress(AssertionError):
        wait(lambda: page.evaluate(script, size["width"]), "it stays too wide", 10)


def join(page: Any, link: str, name: str) -> None:
    """Create an account through an invitation link, as a person does."""
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("**/")
    page.wait_for_selector("#list > *:not(.loading)")


def ask(page: Any, method: str, path: str, body: Any = None) -> Any:
    """Call the API as the signed-in user of a page."""
    csrf = page.request.get("/api/v1/session", max_retries=AGAIN).json()["csrf"]
    given = {"data": body, "headers": {"X-CSRF-Token": csrf}, "max_retries": AGAIN}
    answer = page.request.fetch(f"/api/v1{path}", method=method, **given)
    assert answer.ok, answer.text()
    return answer.json() if answer.status != 204 else None


def sign_out(page: Any) -> None:
    page.click("#menu-button")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
