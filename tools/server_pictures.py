"""Take the screenshots of docs/serve.md: a browser on a real server, from form to changes. See server_docs.py."""

from __future__ import annotations

import io
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

if TYPE_CHECKING:
    from server_docs import Running

ROOT = Path(__file__).resolve().parent.parent
TOPIC = "marine biology/coral reefs"
NAME, PASSWORD = "Ada", "an owl in the old barn"
LARGEST = 200_000
"""Maximum bytes of a screenshot, because each clone of the repository contains them."""
WIDE, PHONE = (1280, 900), (360, 760)
DAYS = 4
LABELS = 10

CENTRAL = """() => {
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(document.querySelector("svg.graph").getBoundingClientRect());
  const far = ([a, b]) => Math.hypot(a - x, b - y);
  const marks = [...document.querySelectorAll("svg.graph g.node.found circle")];
  return marks.map((mark) => middle(mark.getBoundingClientRect())).sort((a, b) => far(a) - far(b))[0];
}"""
"""JavaScript that returns the page drawn nearest to the middle of the graph."""


def take(server: Running, out: Path) -> None:
    found = subprocess.run([ROOT / "tools" / "chromium", "find"], capture_output=True, text=True, check=False)
    if not found.stdout:
        raise SystemExit("no Chromium: tools/chromium installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=["--no-sandbox"])
        try:
            _take(server, browser, out)
        finally:
            browser.close()
    for picture in sorted(out.glob("serve-*.png")):
        size = picture.stat().st_size
        print(f"{picture.name}: {size / 1000:.0f} kB{', too large' if size > LARGEST else ''}")


def _take(server: Running, browser: Browser, out: Path) -> None:
    seed = f"http://open-directory.localhost:{server.port}/"
    page = _signed_in(server, browser, WIDE, "light")
    page.goto(f"{server.base}/interests/new")
    page.fill("#words", "coral reef bleaching")
    page.fill("#title", "Coral reefs")
    page.fill("#seeds", seed)
    page.wait_for_selector("#preferences input")
    page.locator("#preferences input").first.check()
    page.evaluate("window.scrollTo(0, 0)")
    _keep(page, out / "serve-new.png", 1300)

    settings = {"words": "coral reef bleaching", "seeds": [seed], "budget": 400}
    interest = server.request_json("POST", "/interests", {"name": "Coral reefs", "settings": settings})["id"]
    crawl = server.request_json("POST", f"/interests/{interest}/crawls")["id"]
    page.goto(f"{server.base}/interests/{interest}#live")
    while server.request_json("GET", f"/crawls/{crawl}")["pages"] < 320:
        time.sleep(0.1)
    page.evaluate("window.scrollTo(0, 0)")
    _keep(page, out / "serve-live.png", 1240)
    server.wait(crawl)

    _label(server, interest, crawl)
    _show(server, page, interest, "results")
    page.locator("summary", has_text="Filters").click()
    _keep(page, out / "serve-results.png", 1060)
    _show(server, page, interest, "feedback")
    _keep(page, out / "serve-feedback.png", 900)

    server.clock_offset[0] += DAYS * 86_400.0
    server.request_json("POST", f"/crawls/{crawl}/refresh")
    server.wait(crawl)
    _show(server, page, interest, "changes")
    _open_a_change(server, page, interest)
    _keep(page, out / "serve-changes.png", 960)
    page.close()

    dark = _signed_in(server, browser, (WIDE[0], 760), "dark")
    _show(server, dark, interest, "graph")
    dark.evaluate("document.querySelector('.tabs').scrollIntoView({behavior: 'instant'})")
    x, y = dark.evaluate(CENTRAL)
    dark.mouse.click(x, y)
    dark.evaluate("document.querySelector('.tabs').scrollIntoView({behavior: 'instant'})")
    _keep(dark, out / "serve-graph.png", 760)
    dark.close()
    _phones(server, browser, out / "serve-phone.png", interest)


def _show(server: Running, page: Page, interest: str, part: str) -> None:
    """Open a tab of an interest."""
    page.goto(f"{server.base}/interests/{interest}#{part}")
    page.reload()
    page.wait_for_timeout(2_500)


def _label(server: Running, interest: str, crawl: str) -> None:
    """Label pages by the web's truth where the judge is least certain."""
    found = server.request_json("GET", f"/crawls/{crawl}/pages?limit=200")["pages"]
    others = server.request_json("GET", f"/crawls/{crawl}/pages?limit=100&relevant=false")["pages"]
    pages = {page["url"]: page["relevance"] for page in [*found, *others]}
    good = sorted((url for url in pages if server.web.topic(url) == TOPIC), key=lambda url: pages[url])
    bad = sorted((url for url in pages if server.web.topic(url) != TOPIC), key=lambda url: -pages[url])
    for url in good[:LABELS]:
        server.request_json("PUT", f"/interests/{interest}/feedback", {"url": url, "label": "yes"})
    for url in bad[:LABELS]:
        server.request_json("PUT", f"/interests/{interest}/feedback", {"url": url, "label": "no"})
    while server.request_json("GET", f"/crawls/{crawl}")["judging"]:  # wait until the judge has learned
        time.sleep(0.3)


def _open_a_change(server: Running, page: Page, interest: str) -> None:
    """Unfold the smallest change with both added and removed text."""
    listed = server.request_json("GET", f"/interests/{interest}/changes?since=0&limit=100")
    best: tuple[int, str] | None = None
    for change in listed["changes"]:
        if change["what"] == "changed" and change["old"] and change["magnitude"] >= 0.02:
            words = server.request_json("GET", f"/crawls/{listed['crawl']}/diff?url={quote(change['url'])}")["words"]
            size = words["removed"] + words["added"] + words["moved"]
            if min(words["removed"], words["added"]) >= 5 and (best is None or size < best[0]):
                best = size, change["title"]
    if best is not None:
        row = page.locator("li, article", has_text=best[1]).last
        row.locator("summary", has_text="What changed").click()
        page.wait_for_timeout(1_500)
        row.evaluate("row => row.scrollIntoView({behavior: 'instant'})")


def _signed_in(server: Running, browser: Browser, size: tuple[int, int], colours: Any) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=colours)
    page.goto(f"{server.base}/sign-in")
    page.fill("[name=name]", NAME)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_selector("#new")
    return page


def _keep(page: Page, target: Path, height: int) -> None:
    """Save a screenshot of the window with few colours, which suits drawings."""
    width = (page.viewport_size or {"width": WIDE[0]})["width"]
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(600)
    _write(Image.open(io.BytesIO(page.screenshot())), target)


def _write(picture: Image.Image, target: Path) -> None:
    picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)


def _phones(server: Running, browser: Browser, target: Path, interest: str) -> None:
    """Take a screenshot of three phone screens side by side: results, a page, the crawl."""
    page = _signed_in(server, browser, PHONE, "dark")
    shots = []
    for part in ("live", "results", ""):
        if part:
            _show(server, page, interest, part)
            page.evaluate("document.querySelector('.tabs').scrollIntoView({behavior: 'instant'})")
        else:
            page.locator("#panel-results li button.title, #panel-results li .title").first.click()
            page.wait_for_timeout(1_500)
        shots.append(Image.open(io.BytesIO(page.screenshot())))
    page.close()
    gap = 16
    whole = Image.new("RGB", (gap + sum(shot.width + gap for shot in shots), shots[0].height + 2 * gap), "#9a9a94")
    for number, shot in enumerate(shots):
        whole.paste(shot, (gap + number * (shot.width + gap), gap))
    _write(whole, target)
