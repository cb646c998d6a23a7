"""Pages that try to act are crawled, and looked at wherever the dashboard shows them: they are words there, no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

import browsing
from browsing import NARROW, WIDE, Watch, ask, join, new_page
from hostile_web import ACT, MARKUP, HostileWeb, hostile_web
from served import Served, wait

pytestmark = browsing.needs_browser

TYPED = f"<img src=x onerror={ACT}><script>{ACT}</script>{{{{7*7}}}}"[:110]
"""What somebody gives as a name or a note."""

OPTIONS = ("--allow-network", "127.0.0.0/8", "--delay", "0.01", "--quiet")

HARM = """() => {
  const wrong = [];
  const none = [
    "script:not([src])", "img:not([src])", "base", "iframe[srcdoc]",
    "iframe:not([sandbox='allow-popups allow-popups-to-escape-sandbox'])", "meta[http-equiv]",
    "form[action]", "video", "audio", "object", "embed", "math", "marquee", "use",
    "a[href*='script:' i]", "a[href^='data:' i]", "[href*='/beacon']", "[src*='/beacon']", "[style*='beacon']",
  ];
  for (const selector of none)
    for (const element of document.querySelectorAll(selector)) wrong.push(element.outerHTML.slice(0, 200));
  for (const element of document.querySelectorAll("*"))
    for (const name of element.getAttributeNames()) if (name.startsWith("on")) wrong.push(`${element.tagName} ${name}`);
  for (const element of document.querySelectorAll("script[src], link, img[src]"))
    if (!(element.src || element.href).startsWith(`${location.origin}/static/`)) wrong.push(element.outerHTML);
  for (const link of document.querySelectorAll("a[href^='http']"))
    if (link.rel !== "noreferrer noopener" || link.target !== "_blank") wrong.push(link.outerHTML.slice(0, 200));
  if (window.harmed !== undefined) wrong.push("a script ran");
  return wrong;
}"""
"""What must be nowhere, in no frame, whatever was crawled."""

SIZE = """() => {
  const wrong = [];
  if (document.cookie) wrong.push(`a cookie can be read: ${document.cookie}`);
  if (/[\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)) wrong.push("unseen marks");
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`wider than ${innerWidth}: ${wide}`);
  return wrong;
}"""
"""The same for the page itself: what is out of place, or can be read that should not."""


@dataclass
class Crawled:
    """Who looks at what: an admin who is signed in, an interest with a hostile name, and its crawl."""

    page: Any
    web: HostileWeb
    watch: Watch
    base: str
    interest: str
    crawl: str

    def finish(self) -> None:
        """Until the crawl process is done with it."""
        wait(lambda: ask(self.page, "GET", f"/crawls/{self.crawl}")["state"] == "finished", "no end")

    def look(self, path: str, shows: str) -> None:
        """Open a place, wait for what it shows, and see that nothing acts, on a phone and on a desk."""
        self.page.goto("about:blank")
        self.page.goto(path)
        self.page.locator(shows).first.wait_for()
        self.check(path)

    def check(self, place: str, *sizes: dict[str, int]) -> None:
        """Nothing acts in what is shown now."""
        page = self.page
        for size in sizes or (NARROW, WIDE):
            page.set_viewport_size(size)
            found = [wrong for frame in page.frames for wrong in frame.evaluate(HARM)] + page.evaluate(SIZE)
            assert [] == found, place
        assert page.url.startswith(f"{self.base}/"), "it went elsewhere"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl of hostile pages, looked at again after they have changed."""
    data = tmp_path_factory.mktemp("hostile") / "data"
    watch = Watch()
    with hostile_web() as web, Served(data, "", *OPTIONS) as served, browsing.browser() as browser:
        page = new_page(browser, served.url, watch)
        join(page, wait(lambda: served.match(r"(http://\S+/join#\S+)\n"), "no link for the admin"), "Ada")
        wishes = {
            "words": f"coral reefs {TYPED}",
            "exclude": [TYPED],
            "seeds": [f"{web.base}/"],
            "budget": 60,
            "judge": "vector",
            "threshold": 0.01,
        }
        interest = ask(page, "POST", "/interests", {"name": TYPED, "wishes": wishes})["id"]
        crawl = ask(page, "POST", f"/interests/{interest}/crawls", {})["id"]
        made = Crawled(page, web, watch, served.url, interest, crawl)
        made.finish()
        web.version = 2
        ask(page, "POST", f"/crawls/{crawl}/refresh")
        made.finish()
        for n, label in ((0, "yes"), (3, "yes"), (4, "yes"), (5, "yes"), (9, "no")):
            ask(page, "PUT", f"/interests/{interest}/feedback", {"url": f"{web.base}/{n}", "label": label})
        yield made
        assert ([], []) == (watch.dialogs, web.beacons())


def test_all_of_it_was_crawled(crawled: Crawled) -> None:
    """Every hostile page was fetched and found: what follows looks at something."""
    told = ask(crawled.page, "GET", f"/interests/{crawled.interest}/changes?since=0&limit=200")["changes"]
    assert {f"{crawled.web.base}/{n}" for n in range(len(MARKUP))} <= {change["url"] for change in told}


@pytest.mark.parametrize(
    ("place", "shows"),
    [
        ("#live", ".feed li >> text=<script>window.harmed"),
        ("#graph", ".node >> text=<script>"),
        ("#results", ".result >> text=<script>"),
        ("#results?offset=20", ".result"),
        ("#results?q=coral", "mark"),
        ("#results?q=script+window.harmed", ".result"),
        ("#changes", ".change >> text=<img src=x"),
        ("#feedback", ".labels li >> text=<script>"),
        ("#suggestions", ".suggestions li"),
        ("#compare", "h2"),
        ("#sharing", "h2"),
        ("#settings", "h2"),
        ("/edit", "input[name=preferences]"),
    ],
)
def test_parts_of_an_interest(crawled: Crawled, place: str, shows: str) -> None:
    """Wherever an interest's page shows crawled text, it is text."""
    crawled.look(f"/interests/{crawled.interest}{place}", shows)


def test_every_page_can_be_read(crawled: Crawled) -> None:
    """The page view, its frame with the archived copy, and the differences, of each hostile page in turn."""
    page = crawled.page
    page.goto(f"/interests/{crawled.interest}#changes")
    for n in range(len(MARKUP)):
        url = f"{crawled.web.base}/{n}"
        document = page.request.get(f"/api/v1/crawls/{crawled.crawl}/reader", params={"url": url})
        assert "sandbox" in document.headers["content-security-policy"]
        change = page.locator(".change", has=page.locator(f'a[href="{url}"]'))
        change.locator("summary").click()
        change.locator(".diff").wait_for()
        change.locator(".title").click()
        page.frame_locator("iframe.reader-frame").locator("article").wait_for()
        page.locator(".page-facts >> text=2 versions").wait_for()
        crawled.check(url, WIDE)
        page.keyboard.press("Escape")
        page.locator("iframe").wait_for(state="detached")
    assert any("{{7*7}}" in text for text in page.locator(".diff").all_inner_texts())


def test_what_people_type(crawled: Crawled) -> None:
    """Names of interests, notes, the catalogue, failed sign-ins and notices are text for admins and for others."""
    page = crawled.page
    page.request.post("/api/v1/session", data={"name": TYPED, "password": "not a password"})
    ask(page, "POST", "/invitations", {"role": "member", "note": TYPED, "days": 1})
    entry = {"preference": TYPED[:60], "url": "http://a.example/?<script>", "title": TYPED, "note": TYPED}
    ask(page, "POST", "/catalogue", entry)
    for path, shows in (
        ("/", ".interest"),
        ("/admin#invitations", "#invitations td, #invitations th"),
        ("/admin#catalogue", "#catalogue h3 >> text=<img"),
        ("/admin#audit", "#audit td >> text=<img"),
        ("/account", "#sessions *"),
        ("/interests/new", "#preferences >> text=<img"),
    ):
        crawled.look(path, shows)
    page.click("#bell")
    page.locator("#notices li >> text=<img").first.wait_for()
    crawled.check("notices")


def test_who_it_is_shared_with(crawled: Crawled) -> None:
    """A hostile interest does nothing to those who are given it either: neither its name nor the notice of it."""
    page = crawled.page
    link = ask(page, "POST", "/invitations", {"role": "member", "note": "", "days": 1})["link"]
    guest = new_page(page.context.browser, crawled.base, crawled.watch)
    join(guest, link, "Grace")
    ask(page, "PUT", f"/interests/{crawled.interest}/shares", {"name": "Grace", "mode": "read"})
    theirs = replace(crawled, page=guest)
    theirs.look("/", ".interest >> text=<img")
    guest.click("#bell")
    guest.locator("#notices li >> text=<img").first.wait_for()
    theirs.check("notices")
    theirs.look(f"/interests/{crawled.interest}#results", ".result >> text=<script>")
    guest.context.close()


def test_documents_of_their_own(crawled: Crawled) -> None:
    """An archived copy that is opened in a tab of its own does nothing there, nor does a feed."""
    page = crawled.page
    for n in range(4):
        page.goto(f"/api/v1/crawls/{crawled.crawl}/reader?url={crawled.web.base}/{n}")
        assert ([], "Archived copy") == (page.evaluate(HARM), page.locator("header p").inner_text()[:13])
    made = ask(crawled.page, "POST", f"/interests/{crawled.interest}/feed")
    for address in made.values():
        answer = crawled.page.request.get(address)
        assert "&lt;script" in answer.text() or "<script" in answer.text()
        crawled.page.goto(address)
        assert [] == crawled.page.evaluate(HARM)


def test_the_original_gets_no_referrer(crawled: Crawled) -> None:
    """Leaving by a link tells the other site neither where one came from nor anything of the window."""
    page, url = crawled.page, f"{crawled.web.base}/plain"
    # until now nobody else was asked for anything, and the browser had to refuse nothing
    assert ({crawled.base}, []) == (crawled.watch.origins(), crawled.watch.complaints)
    page.goto(f"/interests/{crawled.interest}#changes")
    change = page.locator(".change", has=page.locator(f'a[href="{url}"]'))
    with page.expect_popup() as opened:
        change.get_by_role("link", name="original").click()
    opened.value.wait_for_load_state()
    assert [True, ""] == opened.value.evaluate("[window.opener === null, document.referrer]")
    opened.value.close()
    change.locator(".title").click()
    frame = page.frame_locator("iframe.reader-frame")
    for name in (url, "itself"):
        with page.expect_popup() as opened:
            frame.get_by_role("link", name=name, exact=True).click()
        opened.value.wait_for_load_state()
        assert [True, ""] == opened.value.evaluate("[window.opener === null, document.referrer]")
        opened.value.close()
    assert [None] * 3 == crawled.web.sent("/plain", "referer")
