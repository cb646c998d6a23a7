"""Tests of the report in a real browser without a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import browsing
import lycosa
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import gather, render
from lycosa.core.types import Held, Setting
from lycosa.testweb import Web, serve
from synthetic_report import large, write

TOPIC = "marine biology/coral reefs"


pytestmark = browsing.needs_browser


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write reports of a crawl of the embedded web, of one with long names, and of one without pages."""
    path = tmp_path_factory.mktemp("browser")
    web = Web(pages=400, slowness=0.01)
    with serve(web, record=False):
        fast: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"], "budget": 40, "patience": 1.0}
        for _ in lycosa.crawl(web.query(TOPIC), web.seeds(TOPIC), out=path / "web", **fast):
            pass
    held = Held("calendar", "a-host-with-a-long-name." * 5 + "test", 12_345, 8, "http://a.test/" + "y" * 400)
    end = Setting("end", {"reason": "page budget spent", "held": 12_345, "groups": [asdict(held)]}, 2e9)
    write(path / "long", [*large(120, hosts=90), end], topic="x" * 300)
    write(path / "empty", [])
    found = {}
    for name in ("web", "long", "empty"):
        found[name] = path / f"{name}.html"
        with CrawlDirectory(path / name) as collection:
            found[name].write_text(render(gather(collection)), "utf-8")
    return found


@pytest.fixture(scope="module")
def browser(reports: dict[str, Path]) -> Iterator[Any]:
    """Return a browser, started after the crawl, because it keeps an event loop running."""
    with browsing.browser() as running:
        yield running


@pytest.mark.parametrize(("name", "scheme"), [("web", "light"), ("long", "dark"), ("empty", "light")])
def test_report_fits_phone_and_desktop(browser: Any, reports: dict[str, Path], name: str, scheme: str) -> None:
    page = browsing.file_page(browser, color_scheme=scheme, offline=True)
    complaints: list[str] = []
    requested: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(reports[name].as_uri())
    requested.clear()
    page.evaluate("document.querySelectorAll('details').forEach(folded => { folded.open = true })")
    for width in (320, 390, 1280):
        browsing.resize(page, {"width": width, "height": 800})
        assert width >= page.evaluate("document.documentElement.scrollWidth"), f"too wide for {width} pixels"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")
    page.click("#theme")
    assert dark != (page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)")
    assert [] == complaints
    assert [] == [url for url in requested if not url.startswith("data:")]
    page.close()


def test_figure_is_drawn_for_one_width(browser: Any, reports: dict[str, Path]) -> None:
    page = browsing.file_page(browser, viewport={"width": 1280, "height": 900})
    page.goto(reports["web"].as_uri())
    drawing = page.locator("#harvest .drawing")
    assert (True, False) == tuple(drawing.locator(f".{width}").is_visible() for width in ("wide", "narrow"))
    first = drawing.locator(".wide .at").first
    assert first.locator("title").text_content().startswith("pages fetched: 0\nthis crawl: 0\n")
    browsing.resize(page, {"width": 390, "height": 800})
    assert (False, True) == tuple(drawing.locator(f".{width}").is_visible() for width in ("wide", "narrow"))
    assert drawing.locator(".narrow text").first.evaluate("e => e.getBoundingClientRect().height") > 10
    page.close()


def test_report_is_readable_without_scripts(browser: Any, reports: dict[str, Path]) -> None:
    page = browsing.file_page(browser, java_script_enabled=False)
    page.goto(reports["web"].as_uri())
    assert 0 == page.locator("button:visible").count()
    for heading in ("Harvest", "Best pages", "Paths to the best pages", "Held back", "Options of this crawl"):
        assert page.get_by_role("heading", name=heading, exact=True).is_visible()
    page.close()


def test_link_to_page_opens_list(browser: Any, reports: dict[str, Path]) -> None:
    page = browsing.file_page(browser, viewport={"width": 1280, "height": 900})
    page.goto(reports["web"].as_uri())
    link = page.locator(".finds .why a[href^='#p']").first
    target = link.get_attribute("href")
    assert not page.locator(target).is_visible()
    link.click()
    page.locator(target).wait_for(state="visible", timeout=60_000)
    page.close()


def test_report_prints_in_light_colours(browser: Any, reports: dict[str, Path]) -> None:
    page = browsing.file_page(browser, color_scheme="dark")
    page.goto(reports["web"].as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert "rgb(29, 33, 38)" == page.evaluate("getComputedStyle(document.body).color")
    assert 0 == page.locator("button:visible").count()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
