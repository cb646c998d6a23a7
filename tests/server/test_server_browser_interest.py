"""An interest's page in a real browser, as far as it takes a crawl made by hand: breaks, keys, words, widths."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import expect

import browsing
from browsing import PATIENCE, Watch, new_page
from revisited_crawl import EPOCH, Revisited, html
from site_maker import PASSWORD, SiteUnderTest, make_site

HUB, PAGE, LONG = (f"http://reefs.example/{name}" for name in ("", "polyps", "long"))
PARTS = ("live", "results", "graph", "changes", "feedback", "suggestions", "compare", "sharing", "settings")


pytestmark = browsing.needs_browser


def record(path: Path) -> Revisited:
    """A hub that leads to a page that changed, and to one with a word without end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Revisited(path)
    made.seed(HUB)
    made.page(HUB, html("Coral hub", "coral reefs of the world"), links=[PAGE, LONG])
    made.page(PAGE, html("Polyps", "Coral polyps grow slowly in the sea."), 1.0)
    made.page(LONG, html("A" * 10_000, "coral " + "B" * 10_000), 1.2)
    made.changed(PAGE, html("Polyps", "Coral polyps grow quickly in the warm sea."), 2.0)
    return made


@dataclass
class Served:
    """A site that listens, with an interest of Ada's and its crawl; it can be stopped and started again."""

    site: SiteUnderTest
    crawl: str
    made: Revisited
    address: str
    port: int
    server: uvicorn.Server | None = None
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.site.app.state.site.shelves.stopping.clear()
        config = uvicorn.Config(
            self.site.app, port=self.port, log_config=None, lifespan="off", timeout_graceful_shutdown=5
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        assert self.server is not None
        assert self.thread is not None
        self.site.app.state.site.shelves.stopping.set()
        self.server.should_exit = True
        self.thread.join(10)
        assert not self.thread.is_alive()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Ada's interest, crawled and looked at again."""
    site = make_site(tmp_path / "people.sqlite", tmp_path)
    ada = site.sign_up("Ada")
    wishes = {"words": "coral reefs", "seeds": [HUB], "budget": 50}
    interest = ada.post("/api/v1/interests", json={"name": "Reefs & <b>more</b>", "wishes": wishes}).json()["id"]
    row = {"id": "c" * 24, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "running"}
    times = {"created": EPOCH, "queued": EPOCH, "started": EPOCH}
    site.database.insert("crawl", {**row, **times, "budget": 50, "pages": 3, "found": 3})
    made = record(site.settings.crawl_directory(row["id"]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = Served(site, row["id"], made, f"http://127.0.0.1:{port}/interests/{interest}", port)
    running.start()
    yield running
    running.stop()
    made.close()
    site.close()


@contextmanager
def signed_in(served: Served) -> Iterator[tuple[Any, list[str]]]:
    """A page where Ada has signed in, and all that the browser complains of."""
    with browsing.browser() as running:
        watch = Watch()
        page = new_page(running, f"http://127.0.0.1:{served.port}", watch)
        page.goto(served.address)
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("#interest-state .badge")
        yield page, watch.complaints


def test_a_crawl_is_watched_read_and_judged(served: Served) -> None:
    """Live pages, also over a restart; reader and focus, a label taken back, words that changed, the graph by key."""
    with signed_in(served) as (page, complaints):
        watch(page, served, complaints)
        read(page)
        narrow(page, served.address)
        change(page, served.address)
        walk(page, served.address)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            for part in PARTS:
                page.goto(f"{served.address}#{part}")
                expect(page.locator(f"#panel-{part}")).not_to_have_text("Loading …", timeout=PATIENCE)
                assert width >= page.evaluate("document.documentElement.scrollWidth"), f"{part} is too wide for {width}"
        assert [] == complaints


def watch(page: Any, served: Served, complaints: list[str]) -> None:
    """Each page is listed once, however often the connection is made; the curve is drawn within the policy."""
    rows = page.locator(".feed li")
    expect(rows).to_have_count(4, timeout=PATIENCE)
    page.wait_for_selector(".plot .main-svg")
    served.stop()
    served.made.page("http://reefs.example/late", html("A late page", "coral"), 3.0)
    served.start()
    expect(rows).to_have_count(5, timeout=PATIENCE)
    assert "A late page" in rows.first.inner_text()
    assert 1 == page.locator(".feed-line", has_text="Coral hub").count()
    assert [] == [one for one in complaints if "Failed to load resource" not in one]  # while nobody listened
    complaints.clear()
    served.site.database.run("UPDATE crawl SET state = 'finished', ended = ? WHERE id = ?", EPOCH, served.crawl)
    page.wait_for_selector("#interest-state .badge.good")


def read(page: Any) -> None:
    """Escape closes the reader and gives the focus back; a no is taken back where the labels are listed."""
    page.get_by_role("tab", name="Results").click()
    result = page.locator(".result", has_text="Polyps")
    result.locator(".title").click()
    page.frame_locator("iframe.reader-frame").get_by_text("Coral polyps grow quickly").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("#page-view:not([open])", state="attached")
    assert "Polyps" == page.evaluate("document.activeElement.textContent")
    result.get_by_role("button", name="No", exact=True).click()
    page.wait_for_selector(".verdict-no[aria-pressed=true]")
    page.get_by_role("group", name="Is it relevant: Coral hub").get_by_role("button", name="Yes").click()
    expect(page.locator(".effect")).to_contain_text("labelled", timeout=PATIENCE)
    page.get_by_role("tab", name="Feedback").click()
    page.get_by_role("button", name="Take back").first.click()
    expect(page.locator(".labels li")).to_have_count(1, timeout=PATIENCE)


def narrow(page: Any, address: str) -> None:
    """The filters by day are days to the server, too; nothing found is told apart from nothing like that."""
    page.goto(f"{address}#results?since=2000-01-01")
    expect(page.locator(".result")).not_to_have_count(0, timeout=PATIENCE)
    page.get_by_label("From").fill("2099-01-01")
    expect(page.get_by_text("No page is like that.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".result")).not_to_have_count(0, timeout=PATIENCE)


def test_words_are_no_addresses(served: Served) -> None:
    """Words among the starting points are told of before anything is saved."""
    with signed_in(served) as (page, complaints):
        page.goto(f"http://127.0.0.1:{served.port}/interests/new")
        page.get_by_label("In words").fill("coral")
        page.get_by_label("Your own starting points").fill("reefs of the world")
        page.get_by_role("button", name="Create only").click()
        expect(page.locator("#seeds-error")).to_contain_text("reefs is no address")
        page.get_by_label("Your own starting points").fill("reefs.example/world\nhttp://intranet/")
        page.get_by_role("button", name="Create only").click()
        page.wait_for_url("**/interests/*", wait_until="commit")
        expect(page.get_by_role("heading", name="Not started yet")).to_be_visible(timeout=PATIENCE)
        assert [] == complaints


def change(page: Any, address: str) -> None:
    """What changed is told side by side, marked by elements and signs."""
    page.goto(f"{address}#changes")
    page.locator(".change", has_text="Polyps").locator("summary").first.click()
    page.wait_for_selector(".diff")
    assert ["slowly"] == page.locator(".diff del").all_inner_texts()
    assert ["quickly", "warm"] == page.locator(".diff ins").all_inner_texts()
    page.get_by_role("button", name="Make an address").click()
    page.wait_for_selector(".secret code")


def walk(page: Any, address: str) -> None:
    """Keys go from page to page in the graph, and open the card."""
    page.goto(f"{address}#graph")
    page.wait_for_selector(".node")
    page.locator(".node.seed").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    card = page.locator(".graph-card")
    assert "from Coral hub" in card.inner_text()
    before = page.locator(".graph > g").get_attribute("transform")
    page.locator(".graph").focus()
    page.keyboard.press("ArrowRight")
    assert before != page.locator(".graph > g").get_attribute("transform")
