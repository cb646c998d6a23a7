"""Recorded sites in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from chromium import chromium
from lycosa.replay.proxy import ReplayProxy
from replay_helpers import http_answer, record, serving, write


def page(title: str, link: str) -> bytes:
    """Return a page with a link, a style and a script."""
    return http_answer(
        f'<!DOCTYPE html><html><head><title>{title}</title><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="/style.css"><script src="/script.js" defer></script></head>'
        f'<body><h1>{title}</h1><a href="{link}">on</a></body></html>'.encode()
    )


SITE = [
    record("https://front.example/", page("Front", "/reefs")),
    record("https://front.example/reefs", page("Reefs", "http://plain.example:8123/old")),
    record(
        "http://plain.example:8123/old",
        http_answer(b"", status="301 Moved Permanently", more="Location: /new\r\nTransfer-Encoding: chunked\r\n"),
    ),
    record("http://plain.example:8123/new", page("Plain", "http://corals.localhost:8123/")),
    record("http://corals.localhost:8123/", page("Corals", "/nowhere")),
    *(
        record(f"{origin}/{name}", http_answer(content, kind=kind))
        for origin in ("https://front.example", "http://plain.example:8123", "http://corals.localhost:8123")
        for name, content, kind in (
            ("style.css", b"h1 { color: rgb(1, 2, 3) }", "text/css"),
            ("script.js", b"document.title += ', by script'", "text/javascript"),
        )
    ),
]


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[ReplayProxy]:
    with serving(tmp_path / "home", write(tmp_path / "site.warc.gz", *SITE)) as running:
        yield running


@pytest.fixture
def browser(proxy: ReplayProxy, tmp_path: Path) -> Iterator[BrowserContext]:
    """Start Chromium, which reaches the network through the proxy only."""
    with chromium(proxy, tmp_path / "profile") as context:
        yield context


def test_browser_follows_links_of_recorded_site(browser: BrowserContext, proxy: ReplayProxy) -> None:
    tab = browser.new_page()
    walked = []
    tab.goto(proxy.address)
    tab.click("a[href='https://front.example/']")
    for title in ("Front", "Reefs", "Plain", "Corals"):
        tab.wait_for_function(f"document.title == '{title}, by script'")
        walked.append((tab.url, tab.inner_text("h1")))
        assert "rgb(1, 2, 3)" == tab.eval_on_selector("h1", "e => getComputedStyle(e).color")
        if title != "Corals":
            tab.click("a")
    assert [
        ("https://front.example/", "Front"),
        ("https://front.example/reefs", "Reefs"),
        ("http://plain.example:8123/new", "Plain"),
        ("http://corals.localhost:8123/", "Corals"),
    ] == walked
    with tab.expect_navigation() as leaving:
        tab.click("a")
    assert (404, "not-recorded") == (leaving.value.status, leaving.value.headers["x-lycosa"])
    assert "Not recorded" == tab.inner_text("h1")
