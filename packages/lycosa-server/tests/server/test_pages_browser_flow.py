"""A real browser and server, from the first start to signing out, and hostile pages wherever the site shows them."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import browsing
from browsing import AGAIN, NARROW, PATIENCE, WIDE, Watch, ask, join, new_page, resize, sign_out
from hostile_web import ACT, MARKUP, HostileWeb, hostile_web
from lycosa.judges.model import fit_model
from lycosa.testweb.changing import ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa.testweb.server import serve
from lycosa.text.bags import Bags
from lycosa_server.people import accounts
from lycosa_server.people.database import Database
from served import API, Served, wait

pytestmark = browsing.needs_browser

OPTIONS = ("--allow-network", "127.0.0.0/8", "--delay", "0.01", "--quiet")

TOPIC = "marine biology/coral reefs"
NAME = "Reefs & more"
BUDGET = 25
DAY = 86_400.0


@pytest.fixture(scope="module")
def starting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start a server that is shared by the module; it starts while the browser does."""
    made = Served(tmp_path_factory.mktemp("served") / "data", "", *OPTIONS)
    yield made
    made.__exit__()


@pytest.fixture(scope="module")
def browser(starting: Served) -> Iterator[Any]:
    """Return a browser shared by the module."""
    with browsing.browser() as running:
        yield running


@pytest.fixture(scope="module")
def served(starting: Served, browser: Any) -> Served:
    """Return the server once it accepts requests."""
    return starting.__enter__()


@pytest.mark.paper("personalized-figure-1")
def test_browser_goes_from_first_start_to_signing_out(served: Served, browser: Any) -> None:
    late = [0.0]
    web = ChangingWeb(
        Web(pages=300, hosts=6, traps=()),
        lambda: time.time() + late[0],
        start=time.time(),
        processes={"daily": 1.0},
        fates=0.0,
    )
    seen = Watch()
    with serve(web, record=False):
        ada, grace = new_page(browser, served.url, seen), new_page(browser, served.url, seen)
        join(ada, wait(lambda: served.match(r"(http://\S+/join#\S+)\n"), "no link for the admin"), "Ada")
        address = make_interest(ada, web)
        watch_live(ada)
        draw_the_line(ada)
        judge_pages(ada)
        search_words(ada)
        teach(ada, web)
        go_by_models(ada, web)
        ada.goto(address)
        late[0] += 4 * DAY
        revisit_every(ada)
        invite_guest(ada, grace)
        share(ada, grace, address)
        assert [] == seen.complaints
        leave(ada, grace, served, address)
        assert ([], {served.url}) == (seen.dialogs, seen.origins())
        assert [] == [said for said in seen.complaints if "status of 403" not in said]


def make_interest(page: Any, web: Web) -> str:
    page.get_by_role("link", name="Create your first interest").click()
    page.get_by_label("In words").fill(web.query(TOPIC))
    page.get_by_label("Name of the interest").fill(NAME)
    page.get_by_label("Seeds").fill("\n".join(web.seeds(TOPIC)))
    page.get_by_label("Pages to fetch").fill(str(BUDGET))
    page.get_by_role("button", name="Create and start").click()
    page.wait_for_url(re.compile(r"/interests/[^/]+#live"))
    return str(page.url).split("#")[0]


def watch_live(page: Any) -> None:
    page.locator(".feed li").nth(BUDGET - 1).wait_for()
    page.locator(".feed .why", has_text="via “").first.wait_for()
    page.wait_for_selector("figure.curve img")
    expect(page.locator("#interest-state")).to_have_text("Finished", timeout=PATIENCE)
    expect(page.locator("#interest-note")).to_contain_text(f"{BUDGET} of {BUDGET} pages", timeout=PATIENCE)


def draw_the_line(page: Any) -> None:
    """Move the threshold slider, check the previewed counts, and save the threshold of the crawl."""
    page.get_by_role("tab", name="Results").click()
    estimate, keep = page.locator(".estimate"), page.get_by_role("button", name="Keep this threshold")
    expect(estimate).to_contain_text(f"of {BUDGET} pages relevant", timeout=PATIENCE)
    before = estimate.inner_text()
    page.get_by_label("Threshold", exact=True).fill("0.02")
    expect(estimate).not_to_have_text(before, timeout=PATIENCE)
    page.wait_for_url(re.compile(r"threshold=0\.02"))
    page.get_by_role("button", name="Reset").click()
    expect(estimate).to_have_text(before, timeout=PATIENCE)
    assert 0 == keep.count()
    for value, applied_before_it_looks in (("0.03", False), ("0.02", True)):
        if applied_before_it_looks:
            page.route("**/api/v1/interests/*", lambda route: answer_when_judged(page, route))
        page.get_by_label("Threshold", exact=True).fill(value)
        keep.click()
        keep.wait_for(state="detached")
        page.wait_for_url(re.compile(r"#results$"))
        expect(page.locator("#threshold-range")).to_have_value(value)
    page.unroute_all()
    many = re.findall(r"(\d+) at the threshold", estimate.inner_text())[0]
    expect(page.locator("#interest-note")).to_contain_text(f"{many} relevant", timeout=PATIENCE)
    page.get_by_text("Label the least certain pages").click()
    page.locator(".unsure-pages li .verdict-yes").first.wait_for()


def answer_when_judged(page: Any, route: Any) -> None:
    """Delay responses to changes of an interest until its crawl has been judged."""
    answer = route.fetch(max_retries=AGAIN)
    if route.request.method == "PATCH":
        name = route.request.url.rsplit("/", 1)[-1]
        wait(lambda: not ask(page, "GET", f"/interests/{name}")["crawl"]["judging"], "it is still being judged")
    route.fulfill(response=answer)


def judge_pages(page: Any) -> None:
    page.get_by_role("tab", name="Results").click()
    page.locator(".result .verdict-yes").first.click()
    page.locator(".effect").get_by_text("1 labelled so far").wait_for()
    page.locator(".result .verdict-no").last.click()
    page.locator(".effect").get_by_text("just before you labelled").wait_for()
    page.get_by_role("link", name="All labels").click()
    page.get_by_role("row", name="Precision").wait_for()
    assert ["✓ yes", "✗ no"] == sorted(page.locator(".labels .badge").all_inner_texts())


def teach(page: Any, web: Web) -> None:
    """Upload and browse a directory of topics, select topics, train a browsing model."""
    page.get_by_role("link", name="Models").click()
    rows = [f"{url}\t{topic}" for topic in ("Sea/Reefs", "Sea/Fish", "Rail") for url in web.seeds(TOPIC)[:1]]
    bring(page, "topics.tsv", "\n".join(row.replace("\t", f"?{n}\t") for n, row in enumerate(rows)).encode())
    page.get_by_role("button", name="Topics", exact=True).click()
    page.get_by_role("button", name="Topics below Sea").click()
    page.get_by_role("dialog").get_by_label("Reefs").check()
    expect(page.get_by_text("Selected: Sea/Reefs")).to_be_visible()
    page.get_by_role("button", name="New interest from these").click()
    expect(page.get_by_label("In words")).to_have_value("Reefs", timeout=PATIENCE)
    expect(page.get_by_label("Seeds")).to_have_value(re.compile(r"\?0$"))
    page.goto(page.url.replace("/interests/new", "/models"))
    page.get_by_label("Kind of model").select_option("browsing")
    page.locator("#train-name").fill("paths to reefs")
    page.get_by_label(NAME).check()
    page.get_by_role("button", name="Train", exact=True).click()
    card = page.locator(".model", has_text="paths to reefs")
    expect(card.get_by_role("link", name="Download")).to_be_visible(timeout=PATIENCE)


def bring(page: Any, name: str, content: bytes) -> None:
    there = page.locator(".model").count()
    page.get_by_label("File").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})
    page.get_by_role("button", name="Upload").click()
    expect(page.locator(".model")).to_have_count(there + 1, timeout=PATIENCE)


def go_by_models(page: Any, web: Web) -> None:
    """Create an interest with a classifier, a browsing model as strategy, and frequent revisits."""
    with TemporaryDirectory() as place:
        classes = ["Rail", "Sea/Fish", "Sea/Reefs"]
        bags = Bags.of([([0], [2]), ([1], [2]), ([2], [2])])
        fit_model("nb", bags, np.arange(3), classes, ["rail", "fish", "coral"]).save(Path(place) / "m")
        bring(page, "sea.model", (Path(place) / "m").read_bytes())
    page.goto(page.url.replace("/models", "/interests/new"))
    page.get_by_label("Classifier").select_option("sea")
    page.get_by_role("button", name="Topics below Sea").click()
    page.locator("#targets").get_by_label("Reefs").check()
    page.get_by_label("Seeds").fill(web.seeds(TOPIC)[0])
    page.get_by_label("Breadth first").check()
    page.get_by_text("Advanced: limits").click()
    page.get_by_label("Another strategy").select_option("hmm")
    expect(page.get_by_label("Breadth first")).to_be_disabled()
    page.get_by_label("Model for the strategy").select_option("paths to reefs")
    page.get_by_text("Revisiting in detail").click()
    page.locator("#frequently").fill("/news/")
    page.locator("input[name=detect][value=paper]").check()
    page.get_by_role("button", name="Create only").click()
    page.wait_for_url(re.compile(r"/interests/[0-9a-f]+"))
    page.get_by_role("tab", name="Settings").click()
    wished = page.locator("dl.interest-settings")
    for words in ("Sea/Reefs", "hmm", "/news/ (at least every 1d)", "paper"):
        expect(wished).to_contain_text(words, timeout=PATIENCE)


def search_words(page: Any) -> None:
    page.get_by_role("tab", name="Results").click()
    page.get_by_label("Search the archived pages").fill("reef")
    page.keyboard.press("Enter")
    page.wait_for_selector(".excerpt mark")
    assert {"reef"} == {text.lower()[:4] for text in page.locator("mark").all_inner_texts()}
    page.locator(".result .title").first.click()
    page.frame_locator("iframe.reader-frame").get_by_text("Archived copy of").wait_for()
    page.keyboard.press("Escape")


def revisit_every(page: Any) -> None:
    with page.expect_response("**/refresh"):
        page.get_by_role("button", name="Revisit", exact=True).click()
    page.get_by_role("tab", name="Changes").click()
    page.get_by_role("button", name="Revisit", exact=True).wait_for()  # shown again after the revisit
    expect(page.locator("#unseen-count")).to_be_visible()
    expect(page.locator(".change")).to_have_count(int(page.locator("#unseen-count").inner_text().split()[0]))
    page.locator(".change", has_text="changed: text").locator("summary").first.click()
    page.wait_for_selector(".diff ins, .diff del")
    page.get_by_role("button", name="Revisit some now").click()
    page.get_by_label("Pages whose address contains").fill("/")
    with page.expect_response("**/refresh") as answer:
        page.get_by_role("dialog").get_by_role("button", name="Revisit", exact=True).click()
    assert 200 == answer.value.status


def invite_guest(admin: Any, guest: Any) -> None:
    admin.goto("/admin#invitations")
    admin.locator("#note").fill("Grace")
    admin.get_by_role("button", name="Create link").click()
    join(guest, admin.locator("#invited code").text_content(), "Grace")


def share(owner: Any, guest: Any, address: str) -> None:
    assert 404 == guest.request.get(address, max_retries=AGAIN).status
    owner.goto(f"{address}#sharing")
    owner.get_by_label("Name", exact=True).fill("Gr")
    owner.get_by_role("option", name="Grace").wait_for()
    owner.keyboard.press("ArrowDown")
    owner.keyboard.press("Enter")
    expect(owner.get_by_label("Name", exact=True)).to_have_value("Grace")
    owner.get_by_role("button", name="Share", exact=True).click()
    owner.wait_for_selector(".shares li")
    guest.goto("/")
    guest.get_by_role("link", name=NAME).click()
    guest.get_by_role("tab", name="Results").click()  # during the revisit, the tab Live is shown first
    guest.wait_for_selector(".result .excerpt")
    assert 0 == guest.locator("#interest-actions button, .verdict").count()
    assert 403 == guest.request.get(f"{address}/edit", max_retries=AGAIN).status


def leave(owner: Any, guest: Any, served: Served, address: str) -> None:
    """Sign out; check that the old cookie is invalid and that going back shows nothing."""
    for page in (owner, guest):
        page.goto(address)
        page.wait_for_selector("#interest-state .badge")
        cookie = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
        assert cookie
        assert 200 == status(served, cookie)
        sign_out(page)
        assert 403 == status(served, cookie)
        page.go_back()
        page.get_by_role("heading", name="Sign in").wait_for()
        assert NAME not in page.content()


def status(served: Served, cookie: str) -> int:
    request = urllib.request.Request(f"{served.url}{API}/interests", headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code


TYPED = f"<img src=x onerror={ACT}><script>{ACT}</script>{{{{7*7}}}}"[:110]
"""Hostile input of users."""

HARM = r"""() => {
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
    if (!/^\/(static\/|api\/v1\/crawls\/\w+\/curve\.svg)/.test(new URL(element.src || element.href).pathname)
        || new URL(element.src || element.href).origin !== location.origin) wrong.push(element.outerHTML);
  for (const link of document.querySelectorAll("a[href^='http']"))
    if (link.rel !== "noreferrer noopener" || link.target !== "_blank") wrong.push(link.outerHTML.slice(0, 200));
  if (window.harmed !== undefined) wrong.push("a script ran");
  return wrong;
}"""
"""Markup that must not occur in any frame."""

SIZE = """() => {
  const wrong = [];
  if (document.cookie) wrong.push(`a cookie can be read: ${document.cookie}`);
  if (/[\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)) wrong.push("unseen marks");
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`wider than ${innerWidth}: ${wide}`);
  return wrong;
}"""
"""Script that returns layout problems and leaks of the page itself."""


@dataclass
class Crawled:
    """Session of an admin, an interest with a hostile name, and its crawl."""

    page: Any
    web: HostileWeb
    watch: Watch
    base: str
    interest: str
    crawl: str

    def finish(self) -> None:
        wait(lambda: ask(self.page, "GET", f"/crawls/{self.crawl}")["state"] == "finished", "no end")

    def look(self, path: str, shows: str) -> None:
        """Open a page, wait for a selector, and check the page on a phone and on a desktop."""
        if "?" in path:
            self.page.goto("about:blank")  # otherwise the selector may match the previous page
        self.page.goto(path)
        self.page.locator(shows).first.wait_for()
        self.check(path)

    def check(self, place: str, *sizes: dict[str, int]) -> None:
        page = self.page
        for size in sizes or (NARROW, WIDE):
            resize(page, size)
            found = [wrong for frame in page.frames for wrong in frame.evaluate(HARM)] + page.evaluate(SIZE)
            assert [] == found, place
        assert page.url.startswith(f"{self.base}/"), "it went elsewhere"


@pytest.fixture(scope="module")
def crawled(served: Served, browser: Any) -> Iterator[Crawled]:
    """Write a crawl of hostile pages, revisited after they changed."""
    watch = Watch()
    with hostile_web() as web:
        page = new_page(browser, served.url, watch)
        with closing(Database(served.data / "lycosa.sqlite")) as database:
            _, code = accounts.invite(database, time.time(), "admin")
        join(page, f"{served.url}/join#{code}", "Hedy")
        settings = {
            "words": f"coral reefs {TYPED}",
            "exclude": [TYPED],
            "seeds": [f"{web.base}/"],
            "budget": 60,
            "judge": "vector",
            "threshold": 0.01,
        }
        interest = ask(page, "POST", "/interests", {"name": TYPED, "settings": settings})["id"]
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


def test_crawl_fetches_all_hostile_pages(crawled: Crawled) -> None:
    told = ask(crawled.page, "GET", f"/interests/{crawled.interest}/changes?since=0&limit=200")["changes"]
    assert {f"{crawled.web.base}/{n}" for n in range(len(MARKUP))} <= {change["url"] for change in told}


def test_hostile_text_is_escaped_in_every_tab(crawled: Crawled) -> None:
    for place, shows in (
        ("#live", ".feed li >> text=<script>window.harmed"),
        ("#graph", ".node >> text=<script>"),
        ("#results", ".result >> text=<script>"),
        ("#results?offset=20", ".result"),
        ("#results?q=coral", "mark"),
        ("#results?q=script+window.harmed", ".result"),
        ("#changes", ".change >> text=<img src=x"),
        ("#feedback", ".labels li >> text=<script>"),
        ("#suggestions", ".suggestions li"),
        ("#sharing", "#panel-sharing h2"),
        ("#settings", "#panel-settings h2"),
        ("/edit", "input[name=preferences]"),
    ):
        crawled.look(f"/interests/{crawled.interest}{place}", shows)


def test_hostile_pages_are_harmless_in_reader_and_diff(crawled: Crawled) -> None:
    page = crawled.page
    page.goto(f"/interests/{crawled.interest}#changes")
    for n in range(1, len(MARKUP), 2):
        url = f"{crawled.web.base}/{n}"
        copy = f"/api/v1/crawls/{crawled.crawl}/reader"
        document = page.request.get(copy, params={"url": url}, max_retries=AGAIN)
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


def test_hostile_user_input_is_escaped_on_every_page(crawled: Crawled) -> None:
    page = crawled.page
    wrong = {"name": TYPED, "password": "not a password"}
    page.request.post("/api/v1/session", data=wrong, max_retries=AGAIN)
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


def test_hostile_interest_is_harmless_for_guests(crawled: Crawled) -> None:
    page = crawled.page
    link = ask(page, "POST", "/invitations", {"role": "member", "note": "", "days": 1})["link"]
    guest = new_page(page.context.browser, crawled.base, crawled.watch)
    join(guest, link, "Mary")
    ask(page, "PUT", f"/interests/{crawled.interest}/shares", {"name": "Mary", "mode": "read"})
    theirs = replace(crawled, page=guest)
    theirs.look("/", ".interest >> text=<img")
    guest.click("#bell")
    guest.locator("#notices li >> text=<img").first.wait_for()
    theirs.check("notices")
    theirs.look(f"/interests/{crawled.interest}#results", ".result >> text=<script>")
    guest.context.close()


def test_hostile_pages_are_harmless_in_new_tab(crawled: Crawled) -> None:
    page = crawled.page
    for n in range(4):
        page.goto(f"/api/v1/crawls/{crawled.crawl}/reader?url={crawled.web.base}/{n}")
        assert ([], "Archived copy") == (page.evaluate(HARM), page.locator("header p").inner_text()[:13])
    made = ask(crawled.page, "POST", f"/interests/{crawled.interest}/feed")
    for address in made.values():
        answer = crawled.page.request.get(address, max_retries=AGAIN)
        assert "&lt;script" in answer.text() or "<script" in answer.text()
        crawled.page.goto(address)
        assert [] == crawled.page.evaluate(HARM)


def test_links_to_originals_send_no_referrer(crawled: Crawled) -> None:
    page, url = crawled.page, f"{crawled.web.base}/plain"
    # So far no other host was requested, and the browser blocked nothing.
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
