"""Social networks over HTTP, with a loopback server that implements Mastodon's API."""

import asyncio
import gzip
import json
import math
import statistics
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

import lycosa
from crawl_helpers import lycosa as lycosa_process
from crawl_helpers import run, until
from input_errors import raises_input_error
from lycosa.checks import check_space
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.options import Options
from lycosa.core.types import Page, Task, Visit
from lycosa.crawling import Crawl
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.making import make_space
from lycosa.spaces.mastodon import resets_in
from lycosa.spaces.social import SocialSpace
from lycosa.web.urls import host_key
from mastodon_server import QUERY, MastodonServer, Network, generated, serving

LOCAL = ["127.0.0.0/8"]


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def server(network: Network) -> Iterator[MastodonServer]:
    with serving(network) as started:
        yield started


class Time:
    """Manual clock that starts at the current time of day."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def space(server: MastodonServer | str, clock: Time | None = None, more: str = "") -> SocialSpace:
    """Make the space as a crawl does."""
    url = server if isinstance(server, str) else server.url
    made = make_space(Options(space=f"social,server={url}{more}", allow_network=LOCAL, delay=0.0), clock or Time())
    assert isinstance(made, SocialSpace)
    return made


def look(made: SocialSpace, node: str, **rest: Any) -> Page:
    """Visit a node and learn the visit."""

    async def visit() -> Page:
        try:
            task = Task(node, **rest)
            page = await made.visit(task)
            made.learn(
                Visit(
                    node, page.kind, page.outcome, 1, attempt=task.attempt, retry_at=page.retry_at,
                    started=page.started, ended=page.ended, data=page.data,
                )
            )  # fmt: skip
            return page
        finally:
            await made.close()

    return asyncio.run(visit())


def someone(made: SocialSpace, account: str = "1") -> Page:
    """Visit an account."""
    return look(made, made.api.statuses(account))


def crawl(server: MastodonServer, seeds: list[str], topic: Any = "jazz", more: str = "", **options: Any) -> Crawl:
    """Return a crawl of people without delays, one request at a time."""
    named = f"social,server={server.url}{more}"
    judge = {"judge": "vector"} if isinstance(topic, str) and topic else {}
    return lycosa.crawl(
        topic, seeds, space=named, allow_network=LOCAL, concurrency=1, **{"delay": 0.0, **judge, **options}
    )


def visited(server: MastodonServer, visits: list[Visit]) -> list[str]:
    """Return the names of the accounts that were read, in order."""
    return [server.network.accounts[visit.node.split("/")[6]].acct for visit in visits if visit.is_page]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("alice", "v1/accounts/lookup?acct=alice"),
        (" @alice ", "v1/accounts/lookup?acct=alice"),
        ("alice@social.example", "v1/accounts/lookup?acct=alice"),
        ("@Alice@Social.Example", "v1/accounts/lookup?acct=Alice"),
        ("bob@Other.example", "v1/accounts/lookup?acct=bob%40other.example"),
        ("bob@Bücher.example", "v1/accounts/lookup?acct=bob%40b%C3%BCcher.example"),
        ("bob.b-1@other.example:8443", "v1/accounts/lookup?acct=bob.b-1%40other.example:8443"),
        ("https://social.example/@alice", "v1/accounts/lookup?acct=alice"),
        ("https://social.example/@alice/", "v1/accounts/lookup?acct=alice"),
        ("social.example/@alice", "v1/accounts/lookup?acct=alice"),
        ("https://social.example/users/alice", "v1/accounts/lookup?acct=alice"),
        ("https://social.example/@bob@other.example", "v1/accounts/lookup?acct=bob%40other.example"),
        ("https://other.example/@bob", "v1/accounts/lookup?acct=bob%40other.example"),
        ("https://social.example/api/v1/accounts/7/statuses?limit=40", "v1/accounts/7/statuses?limit=40"),
        ("#jazz", "v1/timelines/tag/jazz?limit=40"),
        ("#café", "v1/timelines/tag/caf%C3%A9?limit=40"),
        ("https://social.example/tags/jazz", "v1/timelines/tag/jazz?limit=40"),
        ("search:modal jazz & more", "v2/search?q=modal%20jazz%20%26%20more&limit=40"),
    ],
)
def test_node_of_names_urls_hashtags_and_searches(typed: str, expected: str) -> None:
    assert f"https://social.example/api/{expected}" == space("social.example").node(typed)


@pytest.mark.parametrize(
    "typed",
    ["", "@", "#", "search:", "two words", "a@b@c", "https://social.example/", "https://other.example/tags/jazz",
     "https://other.example/api/v1/accounts/7/statuses", "mailto:alice@social.example", "ali/ce", "\x00"],
)  # fmt: skip
def test_node_rejects_invalid_seeds(typed: str) -> None:
    assert space("social.example").node(typed) is None


@pytest.mark.parametrize(
    "server",
    ["https://social.example/@alice", "https://social.example/?a=b", "ftp://social.example", "so cial", "@x@y"],
)
def test_server_rejects_invalid_urls(server: str) -> None:
    with raises_input_error("bad-value", "must be the"):
        space(server)


def test_server_defaults_to_https() -> None:
    assert "https://social.example:8443" == space("social.example:8443").api.server


def test_social_rejects_invalid_parameters() -> None:
    with raises_input_error("bad-value", "'pages' is 0"):
        space("social.example", more=",pages=0")
    with raises_input_error("missing-option", "social needs server"):
        make_space(Options(space="social"), Time())


def test_crawl_rejects_invalid_seed() -> None:
    for typed in ("\udcff", "#\udcff", "search:\udcff", "https://social.example/@\udcff"):
        node = space("social.example").node(typed)
        assert node is None or "%EF%BF%BD" in node
    with raises_input_error("bad-seed", "it must be an account .*, #tag or search:WORDS"):
        lycosa.crawl("jazz", ["two words"], space="social,server=social.example")


def test_visit_account_returns_statuses_and_links(network: Network, server: MastodonServer) -> None:
    alice, bob = network.join("alice"), network.join("bob")
    carol = network.join("carol@other.example")
    link = '<a href="https://x/@bob" class="u-url mention">@<span>bob</span></a>'
    network.write(alice, f"{link} plays <b>jazz</b>", bob)
    network.write(alice, "tea with bob, carol and myself", bob, carol, alice, bob)
    network.write(alice, "alone", spoiler_text="mood")
    made = space(server)
    page = someone(made, alice.id)
    assert ("ok", "page", "Alice (@alice)", "en") == (page.outcome, page.kind, page.title, page.language)
    assert "mood\nalone\n\ntea with bob, carol and myself\n\n@bob plays jazz" == page.text
    assert [made.api.statuses("2"), made.api.statuses("3")] == page.links.urls
    said = ["tea with bob, carol and myself\n@bob plays jazz", "tea with bob, carol and myself"]
    assert (said, said) == (page.links.anchors, page.links.contexts)
    assert ["bob", "carol@other.example"] == page.data["people"]
    assert {"id": "1", "acct": "alice", "url": "https://social.example/@alice"} == page.data["account"]
    assert page.exchange is not None
    assert ["/api/v1/accounts/1/statuses?limit=40&exclude_reblogs=true"] == server.asked()


@pytest.mark.paper("gouriten-twitter")
def test_alpha_and_beta_by_hand(network: Network, server: MastodonServer) -> None:
    alice, bob, carol = (network.join(name) for name in ("a", "b", "c"))
    network.write(alice, "jazz jazz tea", bob)
    network.write(alice, "jazz tea tea", bob)
    network.write(alice, "bread", carol)
    topic = VectorJudge("jazz", tf="max", idf="none")
    visit = next(visit for visit in crawl(server, ["a"], topic, budget=1) if visit.is_page)
    # Of all statuses: jazz 3, tea 3, bread 1 (names of one letter are not words). Newest: c bread 1; b jazz 3, tea 3.
    assert 3 / math.sqrt(3 * 3 + 3 * 3 + 1 * 1) == pytest.approx(visit.relevance, abs=1e-6)
    assert [0.0, 3 / math.sqrt(3 * 3 + 3 * 3)] == pytest.approx(visit.links.link_relevances.tolist(), abs=1e-6)


def test_lookup_redirects_to_account(network: Network, server: MastodonServer) -> None:
    network.join("alice"), network.join("bob@other.example")
    made = space(server)
    node = made.node("bob@other.example")
    assert node is not None
    page = look(made, node)
    assert ("redirect", "redirect") == (page.outcome, page.kind)
    assert [made.api.statuses("2")] == page.links.urls
    assert "bob@other.example" == page.data["account"]["acct"]


def test_lookup_unknown_name_is_gone(server: MastodonServer) -> None:
    page = look(space(server), space(server).node("nobody") or "")
    assert ("gone", 404, "Record not found") == (page.outcome, page.status, page.note)


def test_account_without_statuses_has_no_text(network: Network, server: MastodonServer) -> None:
    network.join("quiet")
    page = someone(space(server))
    assert ("ok", "", 0, "no public statuses") == (page.outcome, page.text, len(page.links), page.note)


def test_language_is_that_of_statuses(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    for language in ("de", "fr", "de", None):
        network.write(alice, "Musik", language=language)
    options = Options(space=f"social,server={server.url}", allow_network=LOCAL, languages=["en"])
    made = make_space(options, Time())
    assert isinstance(made, SocialSpace)
    page = someone(made)
    assert ("de", False, ["language"]) == (page.language, page.guessed, page.flags)


def test_boosts_are_dropped_and_replies_kept(network: Network, server: MastodonServer) -> None:
    alice, bob = network.join("alice"), network.join("bob")
    shy = network.join("shy", noindex=True)
    original = {**network.write(bob, "bob's jazz"), "account": bob.id}
    hidden = {**network.write(shy, "shy jazz"), "account": shy.id}
    network.write(alice, "", reblog=original)
    network.write(alice, "", reblog=hidden)
    network.write(alice, "a reply", in_reply_to_id="5")
    network.write(alice, "a word")
    assert ("a word\n\na reply", []) == _told(someone(space(server)))
    assert ("a word", []) == _told(someone(space(server, more=",replies=no")))
    assert ("a word\n\na reply\n\nbob's jazz", ["bob"]) == _told(someone(space(server, more=",boosts=yes")))
    asked = [path.partition("?")[2] for path in server.asked()]
    no_boosts = "limit=40&exclude_reblogs=true"
    assert [no_boosts, f"{no_boosts}&exclude_replies=true", "limit=40"] == asked


def _told(page: Page) -> tuple[str, list[str]]:
    return page.text, page.data["people"]


def test_unrequested_boosts_are_dropped(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    original = {**network.write(alice, "mine"), "account": alice.id}
    told = [network.whole({**original, "reblog": original})]
    server.answers["/api/v1/accounts/1/statuses"] = (200, json.dumps(told).encode(), {})
    assert "" == someone(space(server)).text


def test_hashtag_is_a_source(network: Network, server: MastodonServer) -> None:
    alice, bob, shy = network.join("alice"), network.join("bob"), network.join("shy", noindex=True)
    network.write(alice, "one #jazz")
    network.write(shy, "hidden #jazz")
    network.write(bob, "two #jazz", alice)
    network.write(alice, "three #jazz")
    made = space(server)
    page = look(made, made.node("#jazz") or "")
    assert ("ok", "sitemap", "#jazz", "hashtag") == (page.outcome, page.kind, page.title, page.data["form"])
    assert (["alice", "bob"], ["three #jazz\none #jazz", "two #jazz"]) == (page.data["people"], page.links.anchors)
    visits = list(crawl(server, ["#jazz"], budget=2))
    assert ["sitemap", "page", "page"] == [visit.kind for visit in visits if visit.kind != "robots"]
    assert ["alice", "bob"] == visited(server, visits)
    assert 0 < visits[1].links.link_relevances.min()


@pytest.mark.paper("gouriten-social-seeds")
def test_search_is_a_source(network: Network, server: MastodonServer) -> None:
    alice, bob = network.join("alice"), network.join("jazzman", note="<p>I <b>play</b></p>")
    network.join("jazzshy", noindex=True), network.join("jazzgone", suspended=True)
    network.write(alice, "modal jazz")
    network.write(bob, "nothing")
    made = space(server)
    page = look(made, made.node("search:jazz") or "")
    assert ("ok", "sitemap", "search: jazz") == (page.outcome, page.kind, page.title)
    assert (["alice", "jazzman"], ["modal jazz", "Jazzman I play"]) == (page.data["people"], page.links.anchors)


def test_older_statuses_are_nodes(network: Network, server: MastodonServer, tmp_path: Path) -> None:
    alice = network.join("alice")
    for number in range(130):
        network.write(alice, f"jazz {number}")
    visits = list(crawl(server, ["alice"], more=",pages=3", out=tmp_path / "crawl"))
    pages = [visit for visit in visits if visit.is_page]
    assert [1, 2] == [visit.data["page"] for visit in pages[:2]]
    assert "older" not in pages[2].data
    asked = [path.partition("?")[2] for path in server.asked("/statuses")]
    # The newest of 130 statuses is 1130 and the fortieth is 1091, where the next page continues.
    each = "limit=40&exclude_reblogs=true"
    assert [each, f"{each}&max_id=1091", f"{each}&max_id=1051"] == asked
    assert ["next"] == pages[0].links.rels
    assert pages[0].links.link_relevances[0] == pytest.approx(pages[0].relevance, abs=0.1)
    with CrawlDirectory(tmp_path / "crawl") as collection:
        kept = [collection.document(visit).marked.splitlines()[0] for visit in pages]
    assert ["jazz 129", "jazz 89", "jazz 49"] == kept


def test_pages_defaults_to_one(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    for _ in range(50):
        network.write(alice, "jazz")
    assert 1 == sum(visit.is_page for visit in crawl(server, ["alice"]))


def test_page_numbers_are_restored_from_visits(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    for _ in range(200):
        network.write(alice, "jazz")
    first = space(server, more=",pages=2")
    page = someone(first)
    again = space(server, more=",pages=2")
    again.learn(Visit(first.api.statuses("1"), "page", "ok", 1, data=page.data))
    assert "older" not in look(again, page.data["older"]).data


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('<https://evil.example/x?max_id=7>; rel="next"', "7"),
        ("<?limit=3&max_id=7&a=b>; rel=next", "7"),
        ('<?max_id=9>; rel="prev", <?max_id=7>; rel="next"', "7"),
        ('<?max_id=7>; rel="prev"', ""),
        ('<?max_id=../../secret>; rel="next"', ""),
        ('<http://[>; rel="next"', ""),
        ('<<<<?max_id=7>>>>; rel="nextish"', ""),
        ("", ""),
    ],
)
def test_next_page_takes_only_status_from_link_header(link: str, expected: str) -> None:
    api = space("social.example").api
    node = api.statuses("1")
    assert (f"{node}&max_id={expected}" if expected else "") == api.older(node, link)


def test_cyclic_pagination_ends(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    told = json.dumps([network.whole({**network.write(alice, "jazz"), "account": alice.id})]).encode()
    server.answers["/api/v1/accounts/1/statuses"] = (200, told, {"Link": '<?max_id=5>; rel="next"'})
    visits = list(crawl(server, ["alice"], more=",pages=9"))
    assert 2 == sum(visit.is_page for visit in visits)


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("remaining", "reset", "rest"),
    [
        ("0", "iso", 120.0),
        ("0", "epoch", 120.0),
        ("0", "120", 120.0),
        ("0", "past", 0.0),
        ("0", "", 300.0),
        ("0", "never", 300.0),
        ("0", "9999-12-31T23:59:59Z", 24 * 3600.0),
        ("1", "iso", 0.0),
        ("none", "iso", 0.0),
        ("", "iso", 0.0),
    ],
)
def test_exhausted_rate_limit_pauses_until_reset(
    network: Network, server: MastodonServer, remaining: str, reset: str, rest: float
) -> None:
    clock = Time()
    moment = {"iso": _iso(clock.now + 120), "epoch": f"{math.ceil(clock.now + 120)}", "past": _iso(clock.now - 60)}
    headers = {"X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": moment.get(reset, reset)}
    server.answers["/api/v1/accounts/1/statuses"] = (200, b"[]", headers)
    made = space(server, clock)
    page = someone(made)
    assert "ok" == page.outcome
    assert rest == pytest.approx(page.data.get("rest", clock.now) - clock.now, abs=1.0)
    until, why = made.ready(made.host_key(made.api.statuses("1")))
    assert rest == pytest.approx(max(until, clock.now) - clock.now, abs=1.0)
    assert ("the server's rate limit" if rest else "delay") == why
    again = space(server, clock)
    again.learn(Visit(made.api.statuses("1"), "page", "ok", 1, data=page.data))
    until, _ = again.ready(again.host_key(again.api.statuses("1")))
    assert rest == pytest.approx(max(until, clock.now) - clock.now, abs=1.0)


def test_rate_limit_reset_is_independent_of_clock_difference() -> None:
    now = 1_800_000_000.0
    theirs = now - 3600
    assert 120.0 == resets_in(_iso(theirs + 120), formatdate(theirs, usegmt=True), now)
    assert 119.5 == resets_in(_iso(now + 119.5), formatdate(now - 1, usegmt=True), now)


@pytest.mark.parametrize(
    ("headers", "rest"),
    [
        ({"Retry-After": "90"}, 90.0),
        ({"X-RateLimit-Reset": "200"}, 200.0),
        ({"Retry-After": "90", "X-RateLimit-Reset": "200", "X-RateLimit-Remaining": "0"}, 200.0),
        ({"Retry-After": "300", "X-RateLimit-Reset": "200"}, 300.0),
        ({}, 5.0),
    ],
)
def test_status_429_pauses_and_retries(server: MastodonServer, headers: dict[str, str], rest: float) -> None:
    clock = Time()
    server.answers["/api/v1/accounts/1/statuses"] = (429, b'{"error": "Too many requests"}', headers)
    made = space(server, clock)
    page = someone(made)
    assert "busy" == page.outcome
    assert (
        clock.now + rest == page.retry_at == page.data["rest"] == made.ready(made.host_key(made.api.statuses("1")))[0]
    )
    last = look(made, made.api.statuses("1"), attempt=3)
    assert 0.0 == last.retry_at
    assert last.data["rest"] > clock.now


@pytest.mark.paper("gouriten-rates")
def test_crawl_keeps_rate_limit(server: MastodonServer, network: Network) -> None:
    crowd = [network.join(f"n{number}") for number in range(12)]
    for author in crowd:
        network.write(author, "jazz", *crowd)
    server.limit(5, 0.25)
    visits = list(crawl(server, ["n0"]))
    assert 12 == sum(visit.is_page for visit in visits)
    assert {200} == {request.status for request in server.requests}
    asked = [request.started for request in server.requests if "/api/" in request.path]
    # The sixth and the eleventh of 13 requests (one is a lookup) had to wait.
    assert 13 == len(asked)
    assert min(asked[5] - asked[4], asked[10] - asked[9]) >= 0.24
    assert 2 == sum("rest" in visit.data for visit in visits)


@pytest.mark.parametrize(
    ("status", "note"),
    [
        (404, "Record not found"),
        (410, "Gone"),
        (401, "Record not found (a login is needed: --header can send an access token)"),
        (403, "Record not found (a login is needed: --header can send an access token)"),
    ],
)
def test_unavailable_accounts_are_gone(network: Network, server: MastodonServer, status: int, note: str) -> None:
    network.join("away", refuses=status)
    page = someone(space(server))
    assert ("gone", status, note, 0.0) == (page.outcome, page.status, page.note, page.retry_at)


def test_crawl_continues_after_unavailable_accounts(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    others = [
        network.join("gone", refuses=410),
        network.join("private", refuses=403),
        network.join("shy", noindex=True),
    ]
    bob = network.join("bob")
    network.write(others[2], "hidden jazz", alice)
    network.write(bob, "jazz")
    network.write(alice, "jazz", *others, bob)
    visits = list(crawl(server, ["alice"]))
    assert ["alice", "bob"] == visited(server, visits)
    failed = sorted(visit.outcome for visit in visits if visit.outcome not in ("ok", "redirect"))
    assert ["denied", "gone", "gone"] == failed


def test_opted_out_account_is_not_read(network: Network, server: MastodonServer, tmp_path: Path) -> None:
    alice, bob = network.join("alice", noindex=True), network.join("bob")
    network.write(alice, "very private jazz", bob)
    page = someone(space(server))
    assert ("denied", "the account has opted out of indexing") == (page.outcome, page.note)
    assert ("", "", [], None) == (page.title, page.text, page.links.urls, page.exchange)
    assert {} == page.data
    server.requests.clear()
    visits = list(crawl(server, ["alice"], out=tmp_path / "crawl"))
    assert ["ok", "denied"] == [visit.outcome for visit in visits]
    assert ["/api/v1/accounts/lookup?acct=alice"] == server.asked()
    assert not any("lookup" in text for text in _archived(tmp_path / "crawl"))


def test_account_flags_are_recorded(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice", bot=True, limited=True, discoverable=False, indexable=False)
    network.write(alice, "jazz")
    assert ["bot", "limited", "undiscoverable", "unsearchable"] == someone(space(server)).flags


def test_suspended_account_is_gone(network: Network, server: MastodonServer) -> None:
    network.join("rude", suspended=True)
    visits = list(crawl(server, ["rude"]))
    assert [("gone", "the account is suspended")] == [(v.outcome, v.note) for v in visits if v.kind != "robots"]


def test_moved_account_is_redirected(network: Network, server: MastodonServer) -> None:
    new = network.join("new@other.example")
    network.write(new, "jazz")
    old = network.join("old", moved=network.describe(new))
    network.write(old, "I am elsewhere")
    made = space(server)
    for node in (made.node("old") or "", made.api.statuses(old.id)):
        page = look(made, node)
        assert ("redirect", "moved to @new@other.example") == (page.kind, page.note)
        assert [made.api.statuses(new.id)] == page.links.urls
    assert ["new@other.example"] == visited(server, list(crawl(server, ["old"])))


def test_cycle_of_moved_accounts_ends(network: Network, server: MastodonServer) -> None:
    one, two = network.join("one"), network.join("two")
    one.more, two.more = {"moved": network.describe(two)}, {"moved": network.describe(one)}
    for each in (one, two):
        network.write(each, "jazz")
    visits = list(crawl(server, ["one"]))
    assert [3, 0] == [sum(visit.kind == "redirect" for visit in visits), sum(visit.is_page for visit in visits)]


def test_non_public_statuses_are_dropped(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    network.write(alice, "for all")
    network.write(alice, "unlisted words", visibility="unlisted")
    page = someone(space(server))
    assert ("for all", True) == (page.text, page.exchange is not None)
    network.write(alice, "for followers only", visibility="private")
    page = someone(space(server))
    assert ("for all", None, ["secrets"]) == (page.text, page.exchange, page.flags)


def test_robots_txt_applies_to_api(network: Network, server: MastodonServer) -> None:
    network.join("alice")
    server.robots = "User-agent: *\nDisallow: /api/\n"
    visits = list(crawl(server, ["alice"]))
    assert ["ok", "denied"] == [visit.outcome for visit in visits]
    assert [] == server.asked()


STATUS = {"account": {"id": "1", "acct": "a"}, "visibility": "public", "content": "jazz"}


@pytest.mark.parametrize(
    ("body", "headers", "outcome", "note"),
    [
        (b"", {}, "invalid", "not JSON"),
        (b"[{", {}, "invalid", "not JSON"),
        (b"[" * 100_000, {}, "invalid", "not JSON"),
        (b"\xff\xfe\xfa", {}, "invalid", "not JSON"),
        (b"1" * 10_000, {}, "invalid", "not JSON"),
        (b"null", {}, "invalid", "without a list of statuses"),
        (b"{}", {}, "invalid", "without a list of statuses"),
        (b'{"error": "Try \\u001b[31mlater"}', {}, "invalid", "Try [31mlater"),
        (b"<html><a href=/x>Log in</a></html>", {"Content-Type": "text/html"}, "unwanted", "HTML instead of JSON"),
        (b"\x89PNG", {"Content-Type": "image/png"}, "unwanted", "image/png"),
        (b" " * 4_000_001, {}, "invalid", "longer than 4,000,000 bytes"),
        (gzip.compress(b" " * 9_000_000), {"Content-Encoding": "gzip"}, "invalid", "longer than 4,000,000 bytes"),
        (b"[]", {"Content-Encoding": "br"}, "invalid", "brotli body could not be decoded"),
    ],
)
def test_invalid_responses_are_failures(
    server: MastodonServer, body: bytes, headers: dict[str, str], outcome: str, note: str
) -> None:
    server.answers["/api/v1/accounts/1/statuses"] = (200, body, headers)
    page = someone(space(server))
    assert outcome == page.outcome
    assert note in page.note
    assert page.note.isprintable()
    assert ("", "", []) == (page.title, page.text, page.links.urls)


@pytest.mark.parametrize(
    ("told", "text", "people"),
    [
        ([None, 1, "x", [], {}], "", []),
        ([{"account": None}, {**STATUS, "account": {"id": "../x"}}, {**STATUS, "account": {"id": True}}], "", []),
        ([{**STATUS, "content": None, "mentions": "all"}], "", []),
        ([{**STATUS, "content": ["jazz"], "mentions": [None, 7, {"id": None}, {"id": "a/b"}, {"id": ""}]}], "", []),
        ([{**STATUS, "mentions": [{"id": 7}, {"id": "7", "acct": "x"}, {"id": "x" * 65}]}], "jazz", ["7"]),
        ([{**STATUS, "content": "a\ud800b \x01c\x02 \ud83d\ude00"}], "a\ufffdb c \U0001f600", []),
        ([{**STATUS, "content": "<script>alert(1)</script><p>jazz"}], "jazz", []),
        (
            [
                {**STATUS, "reblog": 7},
                {**STATUS, "visibility": None},
                {**STATUS, "visibility": []},
                {**STATUS, "language": 5},
            ],
            "jazz",
            [],
        ),
        ([{**STATUS, "account": {**STATUS["account"], "moved": "x", "bot": "yes"}}], "jazz", []),  # type: ignore[dict-item]
    ],
)
def test_malformed_statuses_are_dropped(server: MastodonServer, told: Any, text: str, people: list[str]) -> None:
    server.answers["/api/v1/accounts/1/statuses"] = (200, json.dumps(told).encode(), {})
    page = someone(space(server))
    assert ("ok", text, people) == (page.outcome, page.text, page.data["people"])
    page.title.encode()


def test_response_size_is_limited(server: MastodonServer) -> None:
    mentions = [{"id": str(number)} for number in range(2, 400)]
    told = [{**STATUS, "content": "jazz " * 1100, "mentions": mentions[start:]} for start in range(60)]
    server.answers["/api/v1/accounts/1/statuses"] = (200, json.dumps(told).encode(), {})
    page = someone(space(server))
    # 60 statuses link to a hundred each, each starting one later: 2 to 101, 3 to 102, ..., 61 to 160.
    assert 100 + 59 == len(page.links)
    assert 5000 == max(map(len, page.links.anchors))
    server.answers["/api/v1/accounts/1/statuses"] = (200, json.dumps([STATUS] * 500).encode(), {})
    assert 200 == someone(space(server)).text.count("jazz")


def test_lookup_with_invalid_account_fails(server: MastodonServer) -> None:
    server.answers["/api/v1/accounts/lookup"] = (200, b'{"id": "../../etc"}', {})
    page = look(space(server), space(server).node("x") or "")
    assert ("invalid", "JSON without an account") == (page.outcome, page.note)


def test_crawl_of_hostile_server_ends(network: Network, server: MastodonServer) -> None:
    alice = network.join("alice")
    bad = [network.join(f"bad{number}") for number in range(4)]
    network.write(alice, "jazz", *bad)
    bodies = [b"[" * 100_000, b"<html>", b'[{"account":{"id":"1"}}]', b'{"error":1}']
    for account, body in zip(bad, bodies, strict=True):
        server.answers[f"/api/v1/accounts/{account.id}/statuses"] = (200, body, {})
    outcomes = [visit.outcome for visit in crawl(server, ["alice"])]
    assert "crashed" not in outcomes
    assert 3 == outcomes.count("invalid")


SECRET = "s3cr3t-t0k3n-of-mine"


def test_token_is_sent_and_not_stored(
    network: Network, server: MastodonServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alice = network.join("alice")
    network.write(alice, "jazz")
    server.token = SECRET
    outcomes = {visit.outcome: visit.note for visit in crawl(server, ["alice"])}
    assert "a login is needed" in outcomes["gone"]
    monkeypatch.setenv("TOKEN", f"Bearer {SECRET}")
    header = f"{host_key(server.url)} Authorization: $TOKEN"
    server.requests.clear()
    out = tmp_path / "crawl"
    assert ["alice"] == visited(server, list(crawl(server, ["alice"], out=out, headers=[header])))
    sent = {request.path.partition("?")[0]: request.authorization for request in server.requests}
    assert {
        "/robots.txt": f"Bearer {SECRET}",
        "/api/v1/accounts/lookup": f"Bearer {SECRET}",
        "/api/v1/accounts/1/statuses": f"Bearer {SECRET}",
    } == sent
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) >= 3
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
    assert any("accounts/lookup" in text for text in _archived(out))
    assert not any(SECRET in text or "uthorization" in text for text in _archived(out))


def test_redirect_to_other_server_is_not_followed(network: Network, server: MastodonServer) -> None:
    with serving(Network()) as other:
        elsewhere = f"{other.url}/api/v1/accounts/1/statuses"
        server.answers["/api/v1/accounts/lookup"] = (302, b"", {"Location": elsewhere})
        visits = list(crawl(server, ["alice"]))
        assert "invalid" == visits[-1].outcome
        assert f"redirects to {elsewhere}, which is not the API of {server.url}" == visits[-1].note
        assert not other.requests


def test_redirects_within_api_are_followed(server: MastodonServer, network: Network) -> None:
    network.join("alice")
    made = space(server)
    server.answers["/api/v1/accounts/lookup"] = (301, b"", {"Location": "/api/v1/accounts/1/statuses?limit=40"})
    assert "redirect" == look(made, made.node("x") or "").kind
    server.answers["/api/v1/accounts/lookup"] = (301, b"", {"Location": "/auth/sign_in"})
    assert "invalid" == look(made, made.node("x") or "").outcome


def _archived(directory: Path) -> list[str]:
    """Return the inflated bytes of the archive as text."""
    found = []
    for path in (directory / "archive").glob("*.warc.gz"):
        with suppress(EOFError), gzip.open(path) as file:
            found.append(file.read().decode("latin-1"))
    return found


def test_social_space_passes_checks(network: Network, server: MastodonServer) -> None:
    alice, bob = network.join("alice"), network.join("bob")
    network.write(alice, "#jazz", bob)
    for typed in ("alice", "#jazz", "search:jazz", f"{server.url}/api/v1/accounts/1/statuses?limit=40"):
        made = space(server)
        node = made.node(typed)
        assert node is not None
        check_space(made, node)


def test_requests_are_delayed(network: Network, server: MastodonServer) -> None:
    crowd = [network.join(f"n{number}") for number in range(3)]
    for author in crowd:
        for _ in range(45):
            network.write(author, "jazz", *crowd)
    list(crawl(server, ["n0"], more=",pages=2", delay=0.03))
    assert 1 + 1 + 3 * 2 == len(server.requests)  # robots.txt, a lookup, two pages of three people
    gaps = [later.started - earlier.ended for earlier, later in zip(server.requests, server.requests[1:], strict=False)]
    assert min(gaps) >= 0.03


def test_best_first_finds_more_than_breadth_first() -> None:
    found: dict[str, list[int]] = {"best-first": [], "breadth-first": []}
    for seed in (1, 2):
        with serving(generated(seed)) as server:
            for strategy, counts in found.items():
                visits = list(crawl(server, ["jazz0"], QUERY, strategy=strategy, budget=60))
                names = visited(server, visits)
                assert 60 == len(set(names))
                counts.append(sum(name.startswith("jazz") for name in names))
    best, breadth = found["best-first"], found["breadth-first"]
    assert all(more > less for more, less in zip(best, breadth, strict=True)), found
    assert statistics.mean(best) >= 1.5 * statistics.mean(breadth), found


def test_commands_read_social_crawl(tmp_path: Path) -> None:
    with serving(generated(1, people=60)) as server:
        out = tmp_path / "people"
        where = ["--space", f"social,server={server.url}", "--seed", "jazz0"]
        fast = ["--delay", "0", "--allow-network", "127.0.0.0/8", "--quiet"]
        _lycosa("crawl", QUERY, *where, "--budget", "12", *fast, "--out", str(out))
        _lycosa("resume", str(out), "--budget", "15", "--quiet")
        shown = _lycosa("show", str(out))
        assert "15 pages of 15" in shown
        assert "Jazz" in shown
        assert "@jazz0" in _lycosa("search", str(out), "saxophone OR trumpet OR jazz")
        node = f"{server.url}/api/v1/accounts/1/statuses?limit=40&exclude_reblogs=true"
        page = _lycosa("page", str(out), node, "--links")
        assert "Jazz0 (@jazz0)" in page
        assert server.network.accounts["1"].statuses[0]["content"].split()[1] in page
        _lycosa("report", str(out))
        assert "Jazz0" in (out / "report.html").read_text("utf-8")
        for form in ("jsonl", "csv", "text", "warc"):
            file = tmp_path / f"out.{form}"
            _lycosa("export", str(out), "--format", form, "--all", "--out", str(file), "--quiet")
            assert file.exists()
        with CrawlDirectory(out) as collection:
            visit = next(visit for _, visit in collection.pages())
            document = collection.document(visit)
            assert (visit.title, "en") == (document.title, document.language)
            assert document.marked


def test_killed_crawl_resumes(tmp_path: Path) -> None:
    with serving(generated(2, people=60)) as server:
        whole = [visit.node for visit in crawl(server, ["jazz0"], QUERY, budget=25, judge="") if visit.is_page]
        server.requests.clear()
        out = tmp_path / "killed"
        where = ["--space", f"social,server={server.url}", "--seed", "jazz0", "--concurrency", "1"]
        fast = ["--delay", "0", "--allow-network", "127.0.0.0/8", "--quiet"]
        process = lycosa_process("crawl", QUERY, *where, "--budget", "25", *fast, "--out", str(out))
        until(lambda: len(server.requests) >= 12, "12 requests")
        process.kill()
        process.wait()
        _lycosa("resume", str(out), "--quiet")
        with CrawlDirectory(out) as collection:
            assert whole == [visit.node for _, visit in collection.pages(copies=True)]
        asked = server.asked("/statuses")
        assert len(asked) - len(set(asked)) <= 1  # at most the request in flight at the kill


def _lycosa(*arguments: str) -> str:
    """Run a command; return its output."""
    ended = run(*arguments)
    assert 0 == ended.code, ended.err
    return ended.out


def test_crawl_of_unused_hashtag_has_no_pages(server: MastodonServer, tmp_path: Path) -> None:
    words = ["crawl", "jazz", "--space", f"social,server={server.url}", "--seed", "#nobody", "--delay", "0"]
    words += ["--allow-network", *LOCAL, "--out", str(tmp_path / "none")]
    complaint = "lycosa: no page could be fetched. the seeds returned nothing: try other seeds"
    assert complaint == run(*words).err.splitlines()[-1]
