"""From the first start to signing out: two people, a real browser, a real server and a real crawl."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import browsing
from browsing import PATIENCE, Watch, join, new_page, sign_out
from lycosa.testing.changing import ChangingWeb
from lycosa.testing.server import serve
from lycosa.testing.web import Web
from served import API, Served, wait

pytestmark = browsing.needs_browser

TOPIC = "marine biology/coral reefs"
NAME = "Reefs & more"
BUDGET = 40
DAY = 86_400.0


def test_from_first_start_to_signing_out(tmp_path: Path) -> None:
    """The one-time link, an interest, its crawl live, results, feedback, search, changes, sharing, signing out."""
    late = [0.0]
    web = ChangingWeb(
        Web(pages=300, hosts=6, traps=()),
        lambda: time.time() + late[0],
        start=time.time(),
        processes={"daily": 1.0},
        fates=0.0,
    )
    options = ("--allow-network", "127.0.0.0/8", "--delay", "0.02", "--quiet")
    seen = Watch()
    with serve(web, record=False), Served(tmp_path / "data", "", *options) as served, browsing.browser() as browser:
        ada, grace = new_page(browser, served.url, seen), new_page(browser, served.url, seen)
        join(ada, wait(lambda: served.match(r"(http://\S+/join#\S+)\n"), "no link for the admin"), "Ada")
        address = make_interest(ada, web)
        watch_live(ada)
        draw_the_line(ada)
        judge(ada)
        search(ada)
        late[0] += 4 * DAY
        look_again(ada)
        invite(ada, grace)
        share(ada, grace, address)
        assert [] == seen.complaints
        leave(ada, grace, served, address)
        assert ([], {served.url}) == (seen.dialogs, seen.origins())
        assert [] == [said for said in seen.complaints if "status of 403" not in said]


def make_interest(page: Any, web: Web) -> str:
    """An interest in words, begun from a page of the web."""
    page.get_by_role("link", name="Make your first interest").click()
    page.get_by_label("In words").fill(web.query(TOPIC))
    page.get_by_label("Name of the interest").fill(NAME)
    page.get_by_label("Your own starting points").fill("\n".join(web.seeds(TOPIC)))
    page.get_by_label("Pages to fetch").fill(str(BUDGET))
    page.get_by_role("button", name="Create and start").click()
    page.wait_for_url(re.compile(r"/interests/[^/]+#live"))
    return str(page.url).split("#")[0]


def watch_live(page: Any) -> None:
    """Pages come in by themselves, with why; the curve is drawn; the end is told."""
    from playwright.sync_api import expect

    page.locator(".feed li").nth(BUDGET - 1).wait_for()
    assert "by “" in page.locator(".feed .why").first.inner_text()
    page.wait_for_selector(".plot .main-svg")
    expect(page.locator("#interest-state")).to_have_text("Finished", timeout=PATIENCE)
    expect(page.locator("#interest-note")).to_contain_text(f"{BUDGET} of {BUDGET} pages", timeout=PATIENCE)


def draw_the_line(page: Any) -> None:
    """The slider counts anew as it moves; kept, it is the crawl's own threshold, and nothing is left to be kept."""
    from playwright.sync_api import expect

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
    page.get_by_label("Threshold", exact=True).fill("0.02")
    keep.click()
    keep.wait_for(state="detached")
    page.wait_for_url(re.compile(r"#results$"))
    expect(page.locator("#threshold-range")).to_have_value("0.02")
    many = estimate.inner_text().split()[1]
    expect(page.locator("#interest-note")).to_contain_text(f"{many} relevant", timeout=PATIENCE)
    page.get_by_text("Say yes or no to these").click()
    page.locator(".unsure-pages li .verdict-yes").first.wait_for()


def judge(page: Any) -> None:
    """Yes and no to pages: the effect on the judge is shown."""
    page.get_by_role("tab", name="Results").click()
    page.locator(".result .verdict-yes").first.click()
    page.locator(".effect").get_by_text("1 labelled so far").wait_for()
    page.locator(".result .verdict-no").last.click()
    page.locator(".effect").get_by_text("just before you labelled").wait_for()
    page.get_by_role("link", name="All labels").click()
    page.get_by_role("row", name="Precision").wait_for()
    assert ["✓ yes", "✗ no"] == sorted(page.locator(".labels .badge").all_inner_texts())


def search(page: Any) -> None:
    """A word of the pages leads to them, marked where it stands."""
    page.get_by_role("tab", name="Results").click()
    page.get_by_label("Search in what was archived").fill("reef")
    page.keyboard.press("Enter")
    page.wait_for_selector(".excerpt mark")
    assert {"reef"} == {text.lower()[:4] for text in page.locator("mark").all_inner_texts()}
    page.locator(".result .title").first.click()
    page.frame_locator("iframe.reader-frame").get_by_text("Archived copy of").wait_for()
    page.keyboard.press("Escape")


def look_again(page: Any) -> None:
    """Some days later: what changed is listed, and shown word by word."""
    with page.expect_response("**/refresh"):
        page.get_by_role("button", name="Look again").click()
    page.get_by_role("tab", name="Changes").click()
    page.reload()  # the button is there again when that has ended
    page.get_by_role("button", name="Look again").wait_for()
    page.reload()
    page.locator(".change", has_text="changed: text").locator("summary").first.click()
    page.wait_for_selector(".diff ins, .diff del")


def invite(admin: Any, guest: Any) -> None:
    """A link, made by the admin, is an account for somebody else."""
    admin.goto("/admin#invitations")
    admin.get_by_label("For whom").fill("Grace")
    admin.get_by_role("button", name="Make a link").click()
    join(guest, admin.locator("#invited code").text_content(), "Grace")


def share(owner: Any, guest: Any, address: str) -> None:
    """Shared to read, an interest is read, and nothing there changes it."""
    assert 404 == guest.request.get(address).status
    owner.goto(f"{address}#sharing")
    owner.get_by_label("Name", exact=True).fill("Grace")
    owner.get_by_role("button", name="Share", exact=True).click()
    owner.wait_for_selector(".shares li")
    guest.goto("/")
    guest.get_by_role("link", name=NAME).click()
    guest.wait_for_selector(".result .excerpt")
    assert 0 == guest.locator("#interest-actions button, .verdict").count()
    assert 403 == guest.request.get(f"{address}/edit").status


def leave(owner: Any, guest: Any, served: Served, address: str) -> None:
    """Signed out, the cookie of before opens nothing, and going back shows nothing."""
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
    """What the API answers to a cookie."""
    request = urllib.request.Request(f"{served.url}{API}/interests", headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
