"""A real browser for tests: one that notes every complaint and every request, so that a test can say there was none."""

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
"""Milliseconds that a busy machine may take for a step."""

AGAIN = 5
"""Times that a question is asked again whose connection the server has closed, for being idle, as it was asked."""

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@cache
def chromium() -> str:
    """Where the browser is; nothing if there is none."""
    found = subprocess.run([ROOT / "tools" / "chromium", "find"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


needs_browser = pytest.mark.skipif(not chromium(), reason="no Chromium: tools/chromium installs one")


@contextmanager
def browser() -> Iterator[Any]:
    """A browser that runs; people get contexts of their own in it."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)  # for all of them: five seconds are little on a busy machine
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"], timeout=3 * PATIENCE)
        yield running
        running.close()


@dataclass
class Watch:
    """What happened in the pages of a context that should not have: complaints, and where requests went."""

    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def follow(self, context: Any) -> None:
        """Note it for all pages of a context, popups with them."""
        context.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text))
        context.on("weberror", lambda wrong: self.complaints.append(str(wrong.error)))
        context.on("dialog", lambda shown: self.dialogs.append(shown.message) or shown.dismiss())
        context.on("request", lambda request: self.asked.append(request.url))

    def origins(self) -> set[str]:
        """Who was asked for anything."""
        parts = [urlsplit(url) for url in self.asked]
        return {f"{part.scheme}://{part.netloc}" for part in parts if part.scheme not in ("about", "blob")}


def file_page(running: Any, **told: Any) -> Any:
    """A page for files, which have no server."""
    page = running.new_page(**told)
    page.set_default_timeout(PATIENCE)
    return page


def new_page(running: Any, base: str, watch: Watch, **told: Any) -> Any:
    """A page in a context of its own, where nobody is signed in."""
    context = running.new_context(base_url=base, **{"viewport": WIDE, **told})
    context.set_default_timeout(PATIENCE)
    watch.follow(context)
    return context.new_page()


def resize(page: Any, size: dict[str, int]) -> None:
    """Another size, and what has to be laid out for it is: a page that stays too wide is for the test to find."""
    page.set_viewport_size(size)
    script = "width => innerWidth === width && document.documentElement.scrollWidth <= width"
    with suppress(AssertionError):
        wait(lambda: page.evaluate(script, size["width"]), "it stays too wide", 10)


def join(page: Any, link: str, name: str) -> None:
    """Make an account by a link, as a person does."""
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("**/")
    page.wait_for_selector("#list > *:not(.loading)")


def ask(page: Any, method: str, path: str, body: Any = None) -> Any:
    """Ask the API as who is signed in there."""
    csrf = page.request.get("/api/v1/session", max_retries=AGAIN).json()["csrf"]
    given = {"data": body, "headers": {"X-CSRF-Token": csrf}, "max_retries": AGAIN}
    answer = page.request.fetch(f"/api/v1{path}", method=method, **given)
    assert answer.ok, answer.text()
    return answer.json() if answer.status != 204 else None


def sign_out(page: Any) -> None:
    """By the menu."""
    page.click("#menu-button")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
