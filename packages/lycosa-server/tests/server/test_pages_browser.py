"""Every page in a real browser, also by keyboard, with a constructed crawl."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Error, expect

import browsing
from browsing import AGAIN, NARROW, PATIENCE, WIDE, Watch, new_page, resize
from held_port import held_port
from lycosa_server.people import accounts, notices
from revisited_crawl import EPOCH, Revisited, html
from served import wait
from site_maker import PASSWORD, SiteUnderTest, make_site

HOSTILE = "<img src=x onerror=alert(1)><svg/onload=alert(2)> {{7*7}}"
HUB, PAGE, LONG = (f"http://reefs.example/{name}" for name in ("", "polyps", "long"))
PARTS = ("live", "results", "graph", "changes", "feedback", "suggestions", "sharing", "settings")
PATHS = (
    "/",
    "/interests/new",
    "/account",
    "/admin",
    "/admin#invitations",
    "/admin#catalogue",
    "/admin#audit",
    "/privacy",
    "/nope",
)

AUDIT = """() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const seen = (element) => element.checkVisibility({visibilityProperty: true}) && !element.closest("[hidden]");
  const named = (element) => (element.getAttribute("aria-label") || element.textContent).trim() !== "";
  const labelled = (control) => control.getAttribute("aria-label") || [...control.labels].some(named);
  const ids = all("[id]").map((element) => element.id);
  wrong.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `id twice: ${id}`));
  for (const control of all("input, select, textarea"))
    if (seen(control) && !control.closest("[aria-hidden]") && !labelled(control)) wrong.push(`no label: ${control.id}`);
  for (const element of all("button, a[href]"))
    if (seen(element) && !named(element)) wrong.push(`no name: ${element.outerHTML}`);
  for (const tie of ["aria-describedby", "aria-labelledby", "aria-controls", "for"])
    for (const element of all(`[${tie}]`))
      for (const id of element.getAttribute(tie).split(/ +/))
        if (!document.getElementById(id)) wrong.push(`${tie}: no ${id}`);
  for (const image of all("img:not([alt])")) wrong.push(`no alt: ${image.src}`);
  for (const head of all("th:not([scope])")) wrong.push(`no scope: ${head.textContent}`);
  const levels = all("h1, h2, h3, h4").filter(seen).map((head) => Number(head.tagName[1]));
  if (levels[0] !== 1 || levels.filter((level) => level === 1).length !== 1) wrong.push(`headings: ${levels}`);
  if (levels.some((level, at) => at && level > levels[at - 1] + 1)) wrong.push(`headings skip: ${levels}`);
  for (const place of ["header", "main", "footer"]) if (all(`body > ${place}`).length !== 1) wrong.push(`one ${place}`);
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`wider than ${innerWidth}: ${wide}`);
  return wrong;
}"""
"""Script that returns accessibility and layout problems of the current page."""


pytestmark = browsing.needs_browser


@dataclass
class Listening:
    """Site on a local port that can be stopped and restarted."""

    site: SiteUnderTest
    server: uvicorn.Server | None = None
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.site.app.state.site.cache.stopping.clear()
        config = uvicorn.Config(
            self.site.app, port=self.site.settings.port, log_config=None, lifespan="off", timeout_graceful_shutdown=5
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        assert self.server is not None
        assert self.thread is not None
        self.site.app.state.site.cache.stopping.set()
        self.server.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """Serve a site that is shared by the module."""
    place = tmp_path_factory.mktemp("site")
    with held_port() as port:
        made = Listening(make_site(place / "site.sqlite", place, port=port))
        made.site.clock.now = time.time()
        made.start()
        yield made
        made.stop()
        made.site.close()


@pytest.fixture(scope="module")
def site(listening: Listening) -> SiteUnderTest:
    return listening.site


@pytest.fixture(scope="module")
def browser(site: SiteUnderTest) -> Iterator[Any]:
    """Return a browser shared by the module."""
    with browsing.browser() as running:
        yield running


@pytest.fixture
def complaints() -> list[str]:
    """Return a list that collects errors of the browser; tests check that it stays empty."""
    return []


@pytest.fixture
def visit(browser: Any, site: SiteUnderTest, complaints: list[str]) -> Iterator[Any]:
    """Return a function that opens pages, each in its own context, signed in as a new person."""
    with contextlib.ExitStack() as opened:

        def make(name: str = "", role: str = "member", **told: Any) -> Any:
            page = new_page(browser, site.settings.base, Watch(complaints, complaints), **told)
            opened.callback(page.context.close)
            if name:
                cookie = site.sign_up(name, role).cookies["lycosa"]
                page.context.add_cookies([{"name": "lycosa", "value": cookie, "url": site.settings.base}])
            return page

        yield make


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))


def gets_focus(page: Any, name: str) -> None:
    """Wait for an element to get the focus, which scripts move asynchronously."""
    wait(lambda: name == focused(page), f"{name} has not got the focus")


def forget(page: Any) -> None:
    """Delete the cookies, from a page without pending requests."""
    page.goto("about:blank")
    page.context.clear_cookies()


SLOWER = """() => {
  const real = window.setTimeout;
  const slower = {150: 600000, 400: 1000};
  window.setTimeout = (act, time, ...more) => real(act, slower[time] ?? time, ...more);
}"""
"""Script that makes delayed requests of sliders and labels slower than a test."""


@dataclass
class Held:
    """Delay of the first matching response, which is fetched when requested and delivered by `arrive`."""

    page: Any
    method: str
    route: Any = None
    answer: Any = None

    @classmethod
    def of(cls, page: Any, pattern: str, method: str = "GET") -> Held:
        made = cls(page, method)
        page.route(pattern, made.take)
        return made

    def take(self, route: Any) -> None:
        if self.route is not None or route.request.method != self.method:
            route.continue_()
            return
        self.route = route
        if self.method == "GET":
            self.answer = route.fetch(max_retries=AGAIN)

    def asked(self) -> None:
        """Wait until the page has sent the request, processing browser events meanwhile."""
        wait(
            lambda: self.page.wait_for_timeout(20) or (self.route and (self.answer or self.method != "GET")),
            "not asked",
        )

    def arrive(self) -> None:
        """Deliver the response and wait until the page has it."""
        with self.page.expect_event("requestfinished", lambda request: request == self.route.request):
            if self.answer:
                self.route.fulfill(response=self.answer)
            else:
                self.route.continue_()
        with contextlib.suppress(Error):  # the page may navigate
            self.page.evaluate("new Promise((done) => setTimeout(done, 50))")


def test_browser_joins_and_signs_in(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    page = visit()
    _, code = accounts.invite(site.database, site.clock(), "admin")
    page.goto(f"/join#{code}")
    page.get_by_role("heading", name="Welcome to Lycosa").wait_for()
    page.get_by_label("User name").fill("First One")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_role("button", name="Create account").click()
    gets_focus(page, "password")
    expect(page.locator("#password")).to_have_attribute("aria-invalid", "true")
    assert "At least 10 characters" in page.text_content("#password-error")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_text("Welcome, First One.").wait_for()
    page.get_by_role("heading", name="What are you curious about?").wait_for()
    assert "/" == page.evaluate("location.pathname + location.hash"), "the code is gone from the address"

    forget(page)
    page.goto("/account?x=1")
    page.get_by_label("Name").fill("first one")
    page.get_by_label("Password").fill("a wrong password")
    assert [] == complaints
    page.keyboard.press("Enter")
    page.get_by_text("The name or the password is wrong").wait_for()
    complaints.clear()  # browsers report every 401
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Your account").wait_for()
    assert "/account?x=1" == page.evaluate("location.pathname + location.search")
    assert [] == complaints


def test_browser_resets_password(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    site.sign_up("Lost One")
    site.sign_up("Kind Admin", "admin")
    page = visit()
    page.goto("/sign-in?next=/admin")
    page.get_by_label("Name").fill("Kind Admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Reset password Lost One").click()
    assert 0 == page.get_by_role("button", name="Reset password Kind Admin").count()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_role("dialog").locator("code").text_content()
    forget(page)
    page.goto(link)
    page.get_by_role("heading", name="Choose a new password").wait_for()
    expect(page.locator("#name")).to_have_value("Lost One")
    gets_focus(page, "password")
    page.get_by_label("Password", exact=True).fill("another long password")
    page.get_by_label("Repeat the password").fill("another long password")
    page.get_by_role("button", name="Set password").click()
    page.get_by_text("Welcome, Lost One.").wait_for()
    page.get_by_role("button", name=re.compile("Notices")).click()
    page.get_by_text("Kind Admin created a link that resets your password").wait_for()
    page.get_by_text("Your password was reset with a link").wait_for()
    assert [] == complaints


def test_browser_invalid_invitation_shows_message(visit: Any) -> None:
    page = visit()
    page.goto("/join#nonsense")
    page.get_by_role("heading", name="This link is no longer valid").wait_for()
    page.goto("/privacy")
    page.goto("/join")
    page.get_by_role("heading", name="This address has no invitation").wait_for()


def test_browser_late_responses_keep_focus(visit: Any) -> None:
    page = visit("hasty")
    held = Held.of(page, "**/catalogue")
    page.goto("/interests/new")
    expect(page.get_by_label("In words")).to_be_focused(timeout=PATIENCE)
    page.get_by_label("Pages to fetch").focus()
    held.asked()
    held.arrive()
    page.locator("input[name=preferences]").first.wait_for()
    assert "budget" == focused(page)


def test_browser_form_waits_for_its_script(visit: Any, site: SiteUnderTest) -> None:
    page = visit("early")
    held = Held.of(page, "**/interest_form.js*")
    page.goto("/interests/new", wait_until="commit")
    page.get_by_label("In words").fill("coral")
    page.get_by_label("Seeds").fill(HUB)
    expect(page.get_by_role("button", name="Create only")).to_be_disabled()
    held.asked()
    held.arrive()
    page.locator("input[name=preferences]").first.check()
    page.get_by_role("button", name="Create only").click()
    page.wait_for_url(re.compile(r"/interests/(?!new)"))
    address = page.url.split("#")[0]
    page.unroute_all()
    held = Held.of(page, "**/catalogue")
    page.goto(f"{address}/edit")
    held.asked()
    page.get_by_role("button", name="Save", exact=True).click()
    held.arrive()
    page.wait_for_url(re.compile(address + "($|#)"))
    kept = browsing.ask(page, "GET", f"/interests/{address.rsplit('/', 1)[-1]}")
    assert 1 == len(kept["settings"]["preferences"])


def test_browser_shows_latest_response(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    seen = crawled(site, visit("Hasty Ada"), "d")
    seen.made.close()
    stand(site, seen, "finished")
    person = site.database.row("SELECT id FROM person WHERE name = :name", name="Hasty Ada")
    assert person is not None
    notices.notify(site.database, site.clock(), person["id"], "finished", "It has ended")
    page, interest = seen.page, f"**/api/v1/interests/{seen.address.rsplit('/', 1)[-1]}"

    held, unread = Held.of(page, interest), Held.of(page, re.compile("unread=true"))
    page.goto(seen.address)
    held.asked()
    page.get_by_role("tab", name="Sharing").click()  # before the interest is loaded
    held.arrive()
    page.get_by_role("heading", name="Share with someone").wait_for()
    unread.asked()
    page.click("#bell")
    page.get_by_text("It has ended").wait_for()
    unread.arrive()  # an outdated response, from before they were read
    expect(page.locator("#bell-count")).to_be_hidden()
    page.unroute_all()

    page.evaluate(SLOWER)
    page.get_by_role("tab", name="Results").click()
    says_last(page)
    reads_late(page)
    moves(page)
    labels_while_it_asks(site, seen, interest)
    asks_twice(site, seen, interest)
    held = Held.of(page, "**/api/v1/me")
    page.goto("/account")
    held.asked()
    page.get_by_label("Colours").select_option("dark")
    page.get_by_text("Saved.").wait_for()
    held.arrive()
    expect(page.get_by_label("Colours")).to_have_value("dark")
    assert [] == complaints


def stand(site: SiteUnderTest, seen: Crawled, state: str) -> None:
    """Set the state of the crawl, with all labels learned."""
    site.database.run(
        "UPDATE crawl SET state = :state, judging = '', last_label = COALESCE((SELECT MAX(number) FROM feedback "
        "WHERE interest = crawl.interest), 0) WHERE id = :id",
        state=state,
        id=seen.crawl,
    )


def test_browser_labels_of_others_appear(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    seen = crawled(site, visit("Labelling Ada"), "e")
    seen.made.close()
    stand(site, seen, "finished")
    name = seen.address.rsplit("/", 1)[-1]
    other, ada = visit("Looking Bob", "reader"), site.sign_in("Labelling Ada")
    shared = ada.put(f"/api/v1/interests/{name}/shares", json={"name": "Looking Bob", "mode": "read"})
    assert 200 == shared.status_code, shared.text
    for page in (seen.page, other):
        page.goto(f"{seen.address}#results")
        page.locator(".results .result").first.wait_for()
    other.evaluate("window.stays = true")
    listed = page_count(other)
    assert listed == relevant_in_head(other)
    words = seen.page.locator(".result .verdicts").first
    title = words.get_attribute("aria-label")
    words.get_by_role("button", name="No").click()
    for page in (seen.page, other):
        wait(lambda page=page: relevant_in_head(page) == listed - 1, "the head does not show it")
        wait(lambda page=page: page_count(page) == listed - 1, "the count does not show it")
    other.get_by_role("tab", name="Labels").click()
    other.locator(".labels .badge", has_text="no").wait_for()
    words = seen.page.get_by_role("group", name=title)
    words.get_by_role("button", name="Yes").click()
    other.locator(".labels .badge", has_text="yes").wait_for()
    wait(lambda: relevant_in_head(other) == listed, "the head does not show it")
    assert other.evaluate("window.stays")
    assert [] == complaints


def relevant_in_head(page: Any) -> int:
    return int(page.locator("#interest-note").inner_text().split(" relevant")[0].rsplit(" ", 1)[-1])


def page_count(page: Any) -> int:
    return int(page.locator("#panel-results > .note").inner_text().split(" page")[0])


def says_last(page: Any) -> None:
    held = Held.of(page, "**/feedback", "PUT")
    words = page.get_by_role("group", name="Is it relevant: Coral hub")
    words.get_by_role("button", name="Yes").click()
    held.asked()
    words.get_by_role("button", name="No").click()
    held.arrive()
    expect(words.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    expect(words.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "false")
    page.unroute_all()


def reads_late(page: Any) -> None:
    held = Held.of(page, re.compile(r"/page\?"))
    page.locator(".result", has_text="Polyps").locator(".title").click()
    held.asked()
    yes = page.get_by_role("dialog").get_by_role("button", name="Yes")
    yes.click()
    expect(yes).to_have_attribute("aria-pressed", "true")
    held.arrive()
    page.locator(".page-facts >> text=2 versions").wait_for()
    expect(yes).to_have_attribute("aria-pressed", "true")
    assert "Yes" == focused(page)
    page.keyboard.press("Escape")
    page.unroute_all()


def moves(page: Any) -> None:
    held = Held.of(page, re.compile(r"/pages\?"))
    page.get_by_label("Sort by").select_option("date")
    held.asked()
    page.get_by_label("Threshold", exact=True).fill("0.87")
    held.arrive()
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.87")
    page.unroute_all()


def revisit(site: SiteUnderTest, seen: Crawled, interest: str) -> Held:
    def take(route: Any) -> None:
        answer = route.fetch(max_retries=AGAIN)
        stand(site, seen, "finished")
        route.fulfill(response=answer)

    seen.page.route("**/refresh", take)
    held = Held.of(seen.page, interest)
    seen.page.get_by_role("button", name="Revisit", exact=True).click()
    held.asked()
    return held


def label(page: Any, title: str) -> None:
    words = page.get_by_role("group", name=f"Is it relevant: {title}")
    with page.expect_response("**/feedback"):
        words.locator("button[aria-pressed=false]").first.click()


def labels_while_it_asks(site: SiteUnderTest, seen: Crawled, interest: str) -> None:
    learned = seen.page.get_by_role("button", name=re.compile("The judge has learned"))
    stand(site, seen, "finished")
    learned.click()  # all labels so far
    expect(seen.page.locator("#panel-results .results")).not_to_have_attribute("aria-busy", "true")
    held = revisit(site, seen, interest)
    label(seen.page, "Polyps")
    held.arrive()
    assert 0 == learned.count()
    stand(site, seen, "finished")
    learned.wait_for()
    seen.page.unroute_all()


def asks_twice(site: SiteUnderTest, seen: Crawled, interest: str) -> None:
    held = revisit(site, seen, interest)
    stand(site, seen, "paused")
    label(seen.page, "Polyps")
    expect(seen.page.locator("#interest-state")).to_have_text("Paused")
    held.arrive()
    assert "Paused" == seen.page.locator("#interest-state").inner_text()
    seen.page.unroute_all()


def test_browser_creates_and_edits_interest(visit: Any, tmp_path: Path, complaints: list[str]) -> None:
    page = visit("maker")
    page.goto("/interests/new")
    page.locator("input[name=preferences]").first.wait_for()
    page.get_by_role("button", name="Create only").click()
    gets_focus(page, "words")
    for field in ("#words", "#seeds"):
        expect(page.locator(field)).to_have_attribute("aria-invalid", "true")
    page.keyboard.type(HOSTILE)
    page.get_by_label("Seeds").fill("reefs of the world")
    page.get_by_role("button", name="Create only").click()
    expect(page.locator("#seeds-error")).to_contain_text("reefs is not a web address")
    page.get_by_label("Seeds").fill("")
    bookmarks = tmp_path / "bookmarks.html"
    bookmarks.write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>"
        '<DT><A HREF="https://reefs.example/">Reefs</A><DT><A HREF="https://fish.example/">Fish</A></DL>'
    )
    page.set_input_files("#file", bookmarks)
    chooser = page.get_by_role("dialog")
    chooser.get_by_label("Fish").uncheck()
    chooser.get_by_role("button", name="Add as seeds").click()
    expect(page.locator("#seeds")).to_have_value("https://reefs.example/")
    page.set_input_files("#file", bookmarks)
    chooser.wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.locator("input[name=preferences]").first.check()
    page.select_option("#again", "1d")
    page.get_by_role("button", name="Create only").click()
    page.wait_for_url(re.compile(r"/interests/(?!new)"))
    expect(page.get_by_role("heading", name="Not started yet")).to_be_visible(timeout=PATIENCE)
    address = page.url.split("#")[0]
    page.goto("/")
    page.get_by_role("link", name=HOSTILE).wait_for()
    page.goto(address + "/edit")
    page.locator("input[name=preferences]:checked").wait_for()
    assert (HOSTILE, "1d") == (page.input_value("#words"), page.input_value("#again"))
    page.get_by_label("Name of the interest").fill("Reefs")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(re.compile(address + "($|#)"))
    page.goto("/")
    page.get_by_role("link", name="Reefs").wait_for()
    assert [] == complaints


def test_browser_keyboard_reaches_all_controls(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    page = visit("typist", "admin")
    person = site.database.row("SELECT id FROM person WHERE name = :name", name="typist")
    assert person is not None
    notices.notify(site.database, site.clock(), person["id"], "finished", f"Done: {HOSTILE}")
    page.goto("/admin")
    page.get_by_label("Role of typist").wait_for()
    page.get_by_role("button", name="Notices 1 unread").wait_for()
    page.keyboard.press("Tab")
    gets_focus(page, "Skip to content")
    page.keyboard.press("Enter")
    gets_focus(page, "main")
    page.focus("#menu-button")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    gets_focus(page, "Your account")
    page.keyboard.press("Escape")
    gets_focus(page, "menu-button")
    expect(page.locator("#menu")).to_be_hidden()
    page.focus("#bell")
    page.keyboard.press("Enter")
    page.get_by_text(f"Done: {HOSTILE}").wait_for()
    page.keyboard.press("Escape")
    gets_focus(page, "bell")
    expect(page.locator("#notices")).to_be_hidden()
    page.focus("#tab-people")
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Create link").wait_for()
    gets_focus(page, "tab-invitations")
    page.wait_for_url("**/admin#invitations")
    page.keyboard.press("End")
    gets_focus(page, "tab-server")
    assert "none" != page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "the focus can be seen"
    assert [] == complaints


def test_browser_changes_account_settings(visit: Any, site: SiteUnderTest, complaints: list[str]) -> None:
    page = visit("leaver")
    page.goto("/account")
    page.get_by_text("this one").wait_for()
    page.get_by_label("Colours").select_option("dark")
    page.get_by_text("Saved.").wait_for()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_text("Create a token").click()
    page.get_by_label("Name", exact=True).fill("a script")
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#made code")
    secret.wait_for()
    assert secret.text_content().startswith("lyc_")
    page.get_by_role("button", name="Revoke a script").click()
    page.locator("#tokens").get_by_text("revoked", exact=True).last.wait_for()
    page.get_by_role("button", name="Delete my account").click()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    gets_focus(page, "delete")
    page.get_by_role("button", name="Delete my account").click()
    page.get_by_label("Your password").fill(PASSWORD)
    assert [] == complaints
    page.get_by_role("button", name="Delete everything").click()
    page.get_by_text("Your account was deleted.").wait_for()
    assert None is site.database.row("SELECT id FROM person WHERE name = :name", name="leaver")


def test_browser_suspends_account_after_confirmation(visit: Any, complaints: list[str]) -> None:
    admin, guest = visit("host", "admin"), visit("Guest")
    admin.goto("/admin")
    admin.get_by_role("button", name="Suspend Guest").click()
    admin.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert 0 == admin.get_by_role("button", name="Reactivate Guest").count()
    admin.get_by_role("button", name="Suspend Guest").click()
    admin.get_by_role("dialog").get_by_role("button", name="Suspend").click()
    admin.get_by_role("button", name="Reactivate Guest").wait_for()
    assert [] == complaints
    guest.goto("/account")
    guest.get_by_role("heading", name="Sign in").wait_for()


def test_browser_every_page_is_accessible(visit: Any, complaints: list[str]) -> None:
    page = visit("looker", "admin", color_scheme="dark")
    found = {}
    for path in PATHS:
        resize(page, NARROW)
        page.goto(path)
        expect(page.locator(".loading")).to_have_count(0)
        page.evaluate("document.querySelectorAll('details').forEach(folded => { folded.open = true })")
        found[path] = page.evaluate(AUDIT)
        resize(page, WIDE)
        found[path] += page.evaluate(AUDIT)
    assert {path: [] for path in PATHS} == found
    assert [] == [said for said in complaints if "404" not in said]


def record(path: Path) -> Revisited:
    """Write a crawl of a hub that links to a changed page and to a page with an extremely long word."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Revisited(path)
    made.seed(HUB)
    made.page(HUB, html("Coral hub", "coral reefs of the world"), links=[PAGE, LONG])
    made.page(PAGE, html("Polyps", "Coral polyps grow slowly in the sea."), 1.0)
    made.page(LONG, html("A" * 10_000, "coral " + "B" * 10_000), 1.2)
    made.changed(PAGE, html("Polyps", "Coral polyps grow quickly in the warm sea."), 2.0)
    return made


@dataclass
class Crawled:
    """Page of an interest with a constructed crawl that looks as if it was running."""

    page: Any
    address: str
    crawl: str
    made: Revisited


def crawled(site: SiteUnderTest, page: Any, letter: str = "c") -> Crawled:
    settings = {"words": "coral reefs", "seeds": [HUB], "budget": 50}
    interest = browsing.ask(page, "POST", "/interests", {"name": "Reefs & <b>more</b>", "settings": settings})["id"]
    row = {"id": letter * 24, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "running"}
    times = {"created": EPOCH, "queued": EPOCH, "started": EPOCH}
    site.database.insert("crawl", {**row, **times, "budget": 50, "pages": 3, "relevant": 3})
    made = record(site.settings.crawl_directory(row["id"]))
    return Crawled(page, f"{site.settings.base}/interests/{interest}", row["id"], made)


def test_browser_watches_reads_and_labels_crawl(visit: Any, listening: Listening, complaints: list[str]) -> None:
    seen = crawled(listening.site, visit("Ada"))
    page = seen.page
    page.goto(seen.address)
    page.wait_for_selector("#interest-state .badge")
    watch(seen, listening, complaints)
    read(page)
    narrow(page, seen.address)
    change(page, seen.address)
    walk(page, seen.address)
    for part in PARTS:
        page.goto(f"{seen.address}#{part}")
        expect(page.locator(f"#panel-{part}")).not_to_have_text("Loading …", timeout=PATIENCE)
        for size in (NARROW, WIDE):
            resize(page, size)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert size["width"] >= width, f"{part} is too wide for {size['width']}"
    resize(page, {"width": 390, "height": 844})
    page.evaluate("scrollTo(0, 0)")
    head = page.locator(".tabs").bounding_box()
    assert head["y"] + head["height"] <= 844 / 3, "header and tabs leave a phone little room"
    assert [] == complaints


def watch(seen: Crawled, listening: Listening, complaints: list[str]) -> None:
    page = seen.page
    rows = page.locator(".feed li")
    expect(rows).to_have_count(4, timeout=PATIENCE)
    page.wait_for_selector("figure.curve img")
    listening.stop()
    seen.made.page("http://reefs.example/late", html("A late page", "coral"), 3.0)
    listening.start()
    expect(rows).to_have_count(5, timeout=PATIENCE)
    assert "A late page" in rows.first.inner_text()
    assert 1 == page.locator(".feed-line", has_text="Coral hub").count()
    # resources fail to load while the server is down
    assert [] == [one for one in complaints if "Failed to load resource" not in one]
    complaints.clear()
    listening.site.database.run(
        "UPDATE crawl SET state = 'finished', ended = :epoch WHERE id = :id", epoch=EPOCH, id=seen.crawl
    )
    page.wait_for_selector("#interest-state .badge.good")
    seen.made.close()


def read(page: Any) -> None:
    page.get_by_role("tab", name="Results").click()
    result = page.locator(".result", has_text="Polyps")
    result.locator(".title").click()
    page.frame_locator("iframe.reader-frame").get_by_text("Coral polyps grow quickly").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("#page-view:not([open])", state="attached")
    gets_focus(page, "Polyps")
    result.get_by_role("button", name="No", exact=True).click()
    page.wait_for_selector(".verdict-no[aria-pressed=true]")
    hub = page.get_by_role("group", name="Is it relevant: Coral hub").get_by_role("button", name="Yes")
    hub.click()
    expect(hub).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".effect")).to_contain_text("labelled", timeout=PATIENCE)
    page.get_by_role("tab", name="Labels").click()
    page.get_by_role("button", name="Remove").first.click()
    expect(page.locator(".labels li")).to_have_count(1, timeout=PATIENCE)


def narrow(page: Any, address: str) -> None:
    page.goto(f"{address}#results?since=2000-01-01")
    expect(page.locator(".result")).not_to_have_count(0, timeout=PATIENCE)
    page.get_by_label("From").fill("2099-01-01")
    expect(page.get_by_text("No page matches these filters.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".result")).not_to_have_count(0, timeout=PATIENCE)


def change(page: Any, address: str) -> None:
    page.goto(f"{address}#changes")
    page.locator(".change", has_text="Polyps").locator("summary").first.click()
    page.wait_for_selector(".diff")
    assert ["slowly"] == page.locator(".diff del").all_inner_texts()
    assert ["quickly", "warm"] == page.locator(".diff ins").all_inner_texts()
    page.get_by_role("button", name="Create address").click()
    page.wait_for_selector(".secret code")


def walk(page: Any, address: str) -> None:
    page.goto(f"{address}#graph")
    page.wait_for_selector(".node")
    page.locator(".node.seed").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    card = page.locator(".graph-card")
    expect(card).to_contain_text("from Coral hub")
    before = page.locator(".graph > g").get_attribute("transform")
    page.locator(".graph").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".graph > g")).not_to_have_attribute("transform", before)
