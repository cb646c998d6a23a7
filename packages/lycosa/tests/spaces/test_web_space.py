"""The web space over a table of responses: robots.txt, redirects, failures, directives."""

import asyncio
import gzip
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import pytest

from lycosa.core.errors import FetchError
from lycosa.core.types import Kind, Page, Task, Visit
from lycosa.spaces.web_space import BACKOFF, ROBOTS_HOPS, WebSpace
from lycosa.web.apart import DecodedResponse
from lycosa.web.browser_protocols import Fetch, PageSigns, RenderedPage
from lycosa.web.dates import parse_retry_after
from lycosa.web.fetch import Response
from lycosa.web.html import ParsedPage, read_body
from lycosa.web.politeness import Politeness
from lycosa.web.urls import check_seed

URL = "http://a.test/page"
ROBOTS = "http://a.test/robots.txt"


def answer(
    body: bytes = b"",
    status: int = 200,
    kind: str = "text/html",
    truncated: str = "",
    **headers: Any,
) -> Response:
    """Return a response; underscores in header names stand for dashes."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        fields["content-type"] = kind
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in fields.items()]
    return Response(status, b"HTTP/1.1 %d X" % status, raw, body, "192.0.2.1", truncated, fields)


class Table:
    """Transport with a table of responses that records its requests."""

    def __init__(self, answers: Mapping[str, Response | Exception]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.wanted: list[frozenset[str]] = []
        self.closed = False

    async def address(self, url: str) -> str:
        return "192.0.2.1"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response:
        self.asked.append(url)
        self.wanted.append(wanted)
        found = self.answers.get(url, answer(status=404))
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None:
        self.closed = True


class Time:
    """Manual clock."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def space(answers: Mapping[str, Response | Exception] | None = None, **rest: Any) -> WebSpace:
    """Return a web space over a table of responses."""
    clock = Time()
    politeness = Politeness(clock, delay=rest.pop("delay", 1.0), address_delay=0.0)
    return WebSpace(Table(answers or {}), politeness, clock, **rest)


def fetch(made: WebSpace, url: str = URL, kind: Kind = "page", **rest: Any) -> Page:
    """Visit a node."""

    async def visit() -> Page:
        return await made.visit(Task(url, kind, **rest))

    return asyncio.run(visit())


def visit_of(task: Task, page: Page) -> Visit:
    """Return the visit that the engine would record."""
    return Visit(
        task.node, task.kind if task.kind != "page" else page.kind, page.outcome, 1, origin=task.origin,
        attempt=task.attempt, hops=task.hops, retry_at=page.retry_at, started=page.started, ended=page.ended,
        data=page.data,
    )  # fmt: skip


def run_errand(made: WebSpace, node: str = URL) -> tuple[Task, Page]:
    """Visit the prerequisite of a node and learn the visit."""
    task = made.prerequisite(node)
    assert isinstance(task, Task), task

    async def visit() -> Page:
        return await made.visit(task)

    page = asyncio.run(visit())
    made.learn(visit_of(task, page))
    return task, page


def read(html: str, **headers: Any) -> Page:
    """Return the page of some HTML."""
    return fetch(space({URL: answer(html.encode(), **headers)}))


class Pool:
    """Fake worker pool; its results are delivered when the test releases them."""

    def __init__(self) -> None:
        self.reading: dict[bytes, asyncio.Future[Any]] = {}

    def run(self, *given: Any) -> Any:
        raise AssertionError("asked in the event loop")

    async def run_in_thread(self, work: partial[Any]) -> Any:
        body: bytes = work.args[1]
        self.reading[body] = asyncio.get_running_loop().create_future()
        await self.reading[body]
        return DecodedResponse(len(body), True, read_body(body, URL, "text/html"), "odd" if body == b"bad" else "")

    def close(self) -> None:
        self.reading.clear()


@pytest.mark.parametrize(
    ("bodies", "read", "left"),
    [
        ("a b c", "b c a", "a b c"),
        ("a b c", "c a b", "a b c"),
        ("a bad c", "c bad a", "a bad c"),
        ("a large c", "c a", "large a c"),
        ("a  c", "c a", "a  c"),
    ],
)
def test_pages_keep_order_of_arrival(bodies: str, read: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    async def elsewhere(*given: Any, **how: Any) -> ParsedPage:
        return ParsedPage()

    async def crawl() -> None:
        urls = {f"http://{name or 'gone'}.test/": name.encode() for name in bodies.split(" ")}
        made = space({url: answer(body, status=200 if body else 404) for url, body in urls.items()})
        made.pool = pool = Pool()  # type: ignore[assignment]

        async def visit(url: str) -> None:
            page = await made.visit(Task(url))
            ended.append(urls[url].decode())
            assert {"bad": "invalid", "": "gone"}.get(ended[-1], "ok") == page.outcome

        running = [asyncio.ensure_future(visit(url)) for url in urls]
        for body in read.split():
            while body.encode() not in pool.reading:
                await asyncio.sleep(0)
            pool.reading[body.encode()].set_result(None)
            for _ in range(10):  # let dependent tasks run
                await asyncio.sleep(0)
        await asyncio.gather(*running)
        await made.close()
        assert not made._turns
        assert not pool.reading

    monkeypatch.setattr("lycosa.spaces.web_space.LARGE_BODY", 4)
    monkeypatch.setattr("lycosa.spaces.web_space.read_in_worker", elsewhere)
    asyncio.run(crawl())
    assert left.split(" ") == ended


@pytest.mark.paper("batsakis-downloading", "gouriten-web")
def test_page_has_text_and_links() -> None:
    html = b"<title>Reefs</title><p>On <a href='/b'>coral</a>"
    made = space({URL: answer(html, etag='"x"', last_modified="yesterday")})
    page = fetch(made)
    assert ("ok", 200, "page", "Reefs", "On coral") == (page.outcome, page.status, page.kind, page.title, page.text)
    assert (["http://a.test/b"], ["coral"]) == (page.links.urls, page.links.anchors)
    assert ('"x"', "yesterday", "192.0.2.1", len(html)) == (page.etag, page.modified, page.address, page.size)
    assert page.exchange is not None
    assert page.exchange.request.startswith(b"GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Lycosa\r\n")
    assert html == page.exchange.body


def test_base_href_resolves_links() -> None:
    assert ["http://b.test/dir/c"] == read("<base href='http://b.test/dir/'><a href=c>x</a>").links.urls


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/html; charset=utf-8", "<p>Grün".encode(), "Grün"),
        ("text/html; charset=ISO-8859-1", "<p>Grün".encode("latin-1"), "Grün"),
        ('text/html; Charset="utf-8"', "<p>Grün".encode(), "Grün"),
        ("text/html; charset=shift_jis", "<p>珊瑚".encode("shift_jis"), "珊瑚"),
        ("text/html; charset=nonsense", "<p>Grün".encode(), "Grün"),
        ("TEXT/HTML", b"<meta charset=windows-1251><p>" + "Риф".encode("cp1251"), "Риф"),
        ("application/xhtml+xml", b"<html xmlns='http://www.w3.org/1999/xhtml'><body>Reef</body></html>", "Reef"),
        ("text/plain; charset=latin-1", "Grün <a href=b>".encode("latin-1"), "Grün <a href=b>"),
        ("text/plain", "Grün".encode(), "Grün"),
        ("", b"<p>Reef", "Reef"),
        ("", b"Reef <p>", "Reef <p>"),
        ("image/png", b"\x89PNG", ""),
    ],
)
def test_content_types_and_charsets_are_read(kind: str, body: bytes, text: str) -> None:
    page = fetch(space({URL: answer(body, kind=kind)}, accept=["image/png"]))
    assert ("ok", text) == (page.outcome, page.text)


@pytest.mark.parametrize("charset", ["undefined", "idna"])
def test_charset_known_to_python_only_is_ignored(charset: str) -> None:
    body = b"xn--" + b"a" * 100
    assert "ok" == fetch(space({URL: answer(body, kind=f"text/plain; charset={charset}")})).outcome


@pytest.mark.paper("batsakis-html-only")
def test_unwanted_type_is_not_archived() -> None:
    page = fetch(space({URL: answer(kind="image/png", truncated="unwanted")}))
    assert ("unwanted", "image/png", None) == (page.outcome, page.note, page.exchange)


def test_wanted_types_are_passed_to_transport() -> None:
    made = space({ROBOTS: answer()}, accept=["application/pdf"])
    fetch(made)
    run_errand(made)
    assert isinstance(made.transport, Table)
    assert {"text/html", "application/pdf"} < made.transport.wanted[0]
    assert frozenset() == made.transport.wanted[1]


def test_compressed_body_is_decompressed() -> None:
    body = gzip.compress(b"<p>Reef")
    page = fetch(space({URL: answer(body, content_encoding="gzip")}))
    assert "Reef" == page.text
    assert page.exchange is not None
    assert (body, len(body)) == (page.exchange.body, page.size)


def test_decompression_bomb_is_cut() -> None:
    bomb = gzip.compress(b"<p>Reef " + b"x " * 2_000_000)
    page = fetch(space({URL: answer(bomb, content_encoding="gzip")}, inflated=10_000))
    assert ("ok", ["truncated:inflated"]) == (page.outcome, page.flags)
    assert len(page.text) <= 10_000
    assert page.text.startswith("Reef x x")


@pytest.mark.paper("batsakis-page-size")
def test_pages_over_size_limit_are_unwanted() -> None:
    """Pages of up to 100,000 decompressed bytes are accepted, as in the thesis; larger or truncated ones are not."""
    text = b"<p>Reef" + b" " * 99_993
    whole = fetch(space({URL: answer(gzip.compress(text), content_encoding="gzip")}, largest=100_000))
    assert ("ok", "Reef") == (whole.outcome, whole.text)
    for body, truncated in ((text + b" ", ""), (text, "length")):
        page = fetch(space({URL: answer(body, truncated=truncated)}, largest=100_000))
        assert ("unwanted", "more than 100,000 bytes", None) == (page.outcome, page.note, page.exchange)


def test_unsupported_content_encoding_is_invalid() -> None:
    page = fetch(space({URL: answer(b"???", content_encoding="compress")}))
    assert ("invalid", "the content encoding 'compress' is not supported") == (page.outcome, page.note)
    assert page.exchange is not None


def test_truncated_body_is_flagged() -> None:
    assert ["truncated:length"] == fetch(space({URL: answer(b"<p>Reef", truncated="length")})).flags


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "ok"), (204, "ok"), (404, "gone"), (410, "gone"), (403, "gone"), (300, "gone"), (304, "invalid"),
     (500, "broken"), (502, "broken"), (429, "busy"), (503, "busy"), (199, "broken")],
)  # fmt: skip
def test_outcome_depends_on_status(status: int, outcome: str) -> None:
    page = fetch(space({URL: answer(b"<a href=b>x</a>", status)}))
    assert (outcome, status) == (page.outcome, page.status)
    assert (["http://a.test/b"] if outcome == "ok" else []) == page.links.urls


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_returns_target(status: int) -> None:
    page = fetch(space({URL: answer(status=status, location="../b#c")}))
    assert ("redirect", "redirect", ["http://a.test/b"]) == (page.kind, page.outcome, page.links.urls)
    assert 1 == len(page.links.link_relevances)


@pytest.mark.parametrize("location", ["", "mailto:x@y.test", "javascript:void(0)", "http://"])
def test_redirect_without_target_is_invalid(location: str) -> None:
    headers: dict[str, Any] = {"location": location} if location else {}
    page = fetch(space({URL: answer(status=301, **headers)}))
    assert ("invalid", "page", "redirect without a valid target") == (page.outcome, page.kind, page.note)


def test_location_beyond_ascii_is_escaped() -> None:
    raw = "/grün".encode().decode("utf-8", "surrogateescape")
    assert ["http://a.test/gr%C3%BCn"] == fetch(space({URL: answer(status=301, location=raw)})).links.urls


@pytest.mark.parametrize(
    ("again", "attempt", "wait"), [(True, 1, 5.0), (True, 2, 30.0), (True, 3, None), (False, 1, None)]
)
def test_failures_are_retried_with_backoff(again: bool, attempt: int, wait: float | None) -> None:
    error = FetchError("timeout", "no answer", again=again, address="192.0.2.9")
    page = fetch(space({URL: error}), attempt=attempt)
    assert ("timeout", "no answer", "192.0.2.9") == (page.outcome, page.note, page.address)
    assert (0.0 if wait is None else 1000.0 + wait) == page.retry_at
    assert 5.0 == BACKOFF[0]


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("120", 120.0),
        ("1", 5.0),
        ("junk", 5.0),
        ("", 5.0),
        ("Thu, 01 Jan 1970 00:17:40 GMT", 60.0),
        ("9" * 30, 86400.0),
    ],
)
def test_retry_after_sets_retry_time(header: str, wait: float) -> None:
    page = fetch(space({URL: answer(status=503, retry_after=header)}))
    assert ("busy", 1000.0 + wait) == (page.outcome, page.retry_at)


@pytest.mark.parametrize("header", ["-5", "1.5", "Thu, 99 Foo", "Thu, 01 Jan 1970 00:00:01", "٣"])
def test_retry_after_invalid_uses_backoff(header: str) -> None:
    assert 0.0 == parse_retry_after(header, 1000.0)


def test_busy_host_is_paused() -> None:
    made = space({URL: answer(status=503, retry_after="120")})
    page = fetch(made)
    made.learn(visit_of(Task(URL), page))
    assert (1120.0, "asked to come back later") == made.ready("a.test")


@pytest.mark.parametrize(
    ("html", "headers", "links", "flags"),
    [
        ("<a href=b>x</a>", {}, 1, []),
        ("<a href=b rel=nofollow>x</a>", {}, 0, ["nofollow-links"]),
        ("<a href=b rel='noopener NoFollow'>x</a><a href=c>y</a>", {}, 1, ["nofollow-links"]),
        ("<meta name=robots content=nofollow><a href=b>x</a>", {}, 0, ["nofollow"]),
        ("<meta name=ROBOTS content='NOINDEX, NoFollow'><a href=b>x</a>", {}, 0, ["noindex", "nofollow"]),
        ("<meta name=robots content=none><a href=b>x</a>", {}, 0, ["noindex", "nofollow"]),
        ("<meta name=robots content=noarchive><a href=b>x</a>", {}, 1, ["noarchive"]),
        ("<meta name=lycosa content=nofollow><a href=b>x</a>", {}, 0, ["nofollow"]),
        ("<meta name=otherbot content=nofollow><a href=b>x</a>", {}, 1, []),
        ("<a href=b>x</a>", {"x_robots_tag": "nofollow"}, 0, ["nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "noindex, none"}, 0, ["noindex", "nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "lycosa: nofollow"}, 0, ["nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "otherbot: noindex, nofollow"}, 1, []),
        ("<a href=b>x</a>", {"x_robots_tag": "otherbot: none, lycosa: noindex"}, 1, ["noindex"]),
        ("<a href=b>x</a>", {"x_robots_tag": "max-snippet: 20, nofollow"}, 0, ["nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"}, 0, ["nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "max-video-preview: -1, nofollow"}, 0, ["nofollow"]),
        ("<a href=b>x</a>", {"x_robots_tag": "unavailable_after: Wed, 25 Jun 2030 15:00, nofollow"}, 0, ["nofollow"]),
    ],
)  # fmt: skip
def test_nofollow_is_respected_in_every_form(html: str, headers: dict[str, Any], links: int, flags: list[str]) -> None:
    page = read(html, **headers)
    assert (links, flags) == (len(page.links), page.flags)


def test_nofollow_keeps_columns_aligned() -> None:
    page = read("<a href=b rel=nofollow>one</a> <a class=ref href=c>two</a>")
    assert (["http://a.test/c"], ["two"], [1], ["one two"], ["html body a.ref"]) == (
        page.links.urls, page.links.anchors, page.links.positions, page.links.contexts, page.links.paths
    )  # fmt: skip


def test_follow_nofollow_keeps_links() -> None:
    html = b"<meta name=robots content=nofollow><a href=b rel=nofollow>x</a>"
    assert 1 == len(fetch(space({URL: answer(html)}, follow_nofollow=True)).links)


def test_unwanted_language_is_flagged() -> None:
    german = "<p>" + "Die Korallenriffe sind durch die Erwärmung der Meere bedroht und bleichen aus. " * 3
    for html, flags in (
        (f"<html lang=de-AT>{german}", ["language"]),
        (german, ["language"]),
        ("<html lang=en-GB><p>x", []),
    ):
        assert flags == fetch(space({URL: answer(html.encode())}, languages=["en"])).flags
    assert [] == fetch(space({URL: answer(german.encode())})).flags


ENGLISH = "<p>" + "The coral reefs are threatened by the warming of the seas, and they bleach. " * 3


@pytest.mark.parametrize(
    ("html", "languages", "headers"),
    [(ENGLISH, ["en"], {}), ("<html lang=en>", ["EN"], {}), ("<p>x", ["en"], {"content_language": "en, de"})],
)
def test_wanted_language_is_not_flagged(html: str, languages: list[str], headers: dict[str, Any]) -> None:
    assert [] == fetch(space({URL: answer(html.encode(), **headers)}, languages=languages)).flags


def test_canonical_url_is_recorded() -> None:
    assert "http://a.test/other" == read("<link rel=canonical href=/other>").data["canonical"]
    assert {} == read("<link rel=canonical href=/page>").data


@pytest.mark.paper("rules-figure-1")
def test_robots_txt_is_fetched_first() -> None:
    made = space({ROBOTS: answer(b"User-agent: *\nDisallow: /private", kind="text/plain")})
    task, _ = run_errand(made)
    assert (ROBOTS, "robots", URL) == (task.node, task.kind, task.origin)
    assert made.prerequisite(URL) is None
    assert ("denied", "http://a.test/robots.txt does not allow it") == made.prerequisite("http://a.test/private/x")
    assert isinstance(made.prerequisite("https://a.test/"), Task)


@pytest.mark.parametrize(
    ("response", "allowed"),
    [
        (answer(status=404), True),
        (answer(status=401), True),
        (answer(status=410), True),
        (answer(b"User-agent: *\nDisallow: /", kind=""), False),
        (answer(gzip.compress(b"User-agent: *\nDisallow: /"), content_encoding="gzip"), False),
        (answer(b"<html>not robots", kind="text/html"), True),
        (answer(status=301), True),
        (FetchError("refused", "private network"), True),
    ],
)
def test_robots_txt_response_sets_rules(response: Response | Exception, allowed: bool) -> None:
    made = space({ROBOTS: response})
    run_errand(made)
    assert (None if allowed else ("denied", f"{ROBOTS} does not allow it")) == made.prerequisite(URL)


@pytest.mark.parametrize(
    ("response", "wait"),
    [
        (answer(status=500), 5.0),
        (answer(status=503, retry_after="60"), 60.0),
        (answer(status=429), 5.0),
        (FetchError("timeout", "slow"), 5.0),
        (FetchError("unreachable", "down", again=True), 5.0),
        (FetchError("unknown-host", "no such host"), 3600.0),
    ],
)
def test_unreadable_robots_txt_closes_host(response: Response | Exception, wait: float) -> None:
    made = space({ROBOTS: response})
    _, page = run_errand(made)
    assert 1000.0 + wait == page.retry_at
    until, why = made.ready("a.test")
    assert (1000.0 + wait, "robots.txt can't be read") == (until, why[:24])
    again = made.prerequisite(URL)
    assert isinstance(again, Task)
    assert (ROBOTS, 2) == (again.node, again.attempt)


def test_robots_backoff_grows() -> None:
    made = space({ROBOTS: answer(status=500)})
    clock = made.clock
    assert isinstance(clock, Time)
    waits = []
    for _ in range(6):
        _, page = run_errand(made)
        waits.append(page.retry_at - clock.now)
        clock.now = page.retry_at
    assert [5.0, 30.0, 3600.0, 21600.0, 86400.0, 86400.0] == waits


def test_crashed_robots_visit_closes_host() -> None:
    made = space()
    task = made.prerequisite(URL)
    assert isinstance(task, Task)
    made.learn(Visit(task.node, "robots", "crashed", 0, origin=URL, started=1000.0, ended=1000.0))
    assert isinstance(made.prerequisite(URL), Task)


def test_robots_txt_redirect_is_followed() -> None:
    other = "http://b.test/r.txt"
    made = space({ROBOTS: answer(status=301, location=other), other: answer(b"User-agent: *\nDisallow: /page")})
    first, _ = run_errand(made)
    second, _ = run_errand(made)
    assert [(ROBOTS, 0), (other, 1)] == [(task.node, task.hops) for task in (first, second)]
    assert ("denied", f"{ROBOTS} does not allow it") == made.prerequisite(URL)
    assert isinstance(made.prerequisite("http://b.test/page"), Task)


def test_robots_txt_endless_redirects_end() -> None:
    made = space({f"http://a.test/{n or 'robots.txt'}": answer(status=301, location=f"/{n + 1}") for n in range(20)})
    for _ in range(ROBOTS_HOPS + 1):
        run_errand(made)
    assert made.prerequisite(URL) is None


def test_robots_txt_expires_after_a_day() -> None:
    made = space({ROBOTS: answer(b"")})
    clock = made.clock
    assert isinstance(clock, Time)
    run_errand(made)
    clock.now += 24 * 3600 - 1
    assert made.prerequisite(URL) is None
    clock.now += 2
    assert isinstance(made.prerequisite(URL), Task)


def test_crawl_delay_is_used() -> None:
    made = space({ROBOTS: answer(b"User-agent: *\nCrawl-delay: 7"), URL: answer()})
    run_errand(made)
    fetch(made)
    assert (1007.0, "crawl-delay") == made.ready("a.test")


def test_host_is_not_ready_while_robots_are_fetched() -> None:
    made = space({ROBOTS: answer(b"")})
    task = made.prerequisite(URL)
    assert isinstance(task, Task)

    async def look() -> tuple[float, Page]:
        visiting = made.visit(task)
        return made.ready("a.test")[0], await visiting

    until, page = asyncio.run(look())
    assert float("inf") == until
    assert float("inf") == made.ready("a.test")[0]  # received, but not learned yet
    made.learn(Visit(task.node, "robots", page.outcome, 1, origin=task.origin, data=page.data))
    assert made.ready("a.test")[0] < float("inf")


def test_learn_restores_rules() -> None:
    made = space({ROBOTS: answer(b"User-agent: *\nDisallow: /page")})
    task, page = run_errand(made)
    fresh = space()
    fresh.learn(visit_of(task, page))
    assert made.prerequisite(URL) == fresh.prerequisite(URL) == ("denied", f"{ROBOTS} does not allow it")


def test_resumed_crawl_delays_every_host() -> None:
    made = space(delay=2.0)
    made.resumed()
    assert (1002.0, "pause after resuming") == made.ready("b.test")


@pytest.mark.parametrize(
    ("url", "host_key"),
    [
        ("http://a.test/x", "a.test"),
        ("https://a.test:8443/", "a.test:8443"),
        ("http://[::1]:80/x", "[::1]:80"),
        ("http://a.test", "a.test"),
    ],
)
def test_host_key_includes_port(url: str, host_key: str) -> None:
    assert host_key == space().host_key(url)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("a.test/b", "https://a.test/b"), (" http://A.test ", "http://a.test/"), ("https://a.test/#x", "https://a.test/"),
        ("nonsense", None), ("ftp://a.test/", None), ("", None), ("mailto:x@a.test", None),
    ],
)  # fmt: skip
def test_node_of_typed_urls_is_canonical(text: str, url: str | None) -> None:
    assert url == check_seed(text)


def test_close_closes_transport() -> None:
    made = space()
    asyncio.run(made.close())
    assert isinstance(made.transport, Table)
    assert made.transport.closed


def test_host_is_ready_again_after_failure() -> None:
    made = space({URL: FetchError("unreachable", "down")})
    fetch(made)
    assert (1001.0, "delay") == made.ready("a.test")


def test_page_has_main_part_and_whole_text() -> None:
    html = b"<nav>Home</nav><h1>Reefs</h1><p>Coral lives in the sea, and where it is warm for weeks it bleaches."
    page = fetch(space({URL: answer(html)}))
    assert page.main.startswith("Reefs\nCoral")
    assert "Reefs" == page.headings
    assert page.lead.startswith("Coral")
    page = fetch(space({URL: answer(html)}, whole_text=True))
    assert ("", "", "") == (page.main, page.headings, page.lead)
    assert "Home" in page.text


class Shows:
    """Browser that always returns the same DOM."""

    notes: ClassVar[list[str]] = []

    def __init__(self, dom: bytes) -> None:
        self.dom = dom

    def render_reason(self, node: str, signs: PageSigns) -> str:
        return "shell"

    async def render(self, node: str, response: Response, fetch: Fetch) -> RenderedPage:
        return RenderedPage(self.dom, navigations=["http://b.test/"])


NOAI = b'<meta name="robots" content="noai"><p>coral'
LOGIN = b"<title>Log in</title><input type=password>"


@pytest.mark.parametrize(
    ("dom", "respect", "outcome", "opt_outs"),
    [
        (NOAI, "all", "unwanted", ["noai:robots"]),
        (NOAI, "", "ok", ["train-ai:header", "noai:robots"]),
        (LOGIN, "", "login", ["train-ai:header"]),
    ],
)
def test_rendered_walls_and_opt_outs_are_flagged(dom: bytes, respect: str, outcome: str, opt_outs: list[str]) -> None:
    shell = b'<div id="root"></div><script src="/app.js"></script>'
    made = space({URL: answer(shell) if respect else answer(shell, content_usage="train-ai=n")}, respect=respect)
    made.renderer = Shows(dom)  # type: ignore[assignment]
    page = fetch(made)
    assert page.outcome == outcome
    assert (page.exchange is None, page.marked == "", len(page.links) == 0) == (outcome != "ok",) * 3
    assert page.data["opt_outs"] == opt_outs


def test_requests_of_rendered_page_are_signed() -> None:
    class Signs:
        def headers(self, url: str, now: float) -> tuple[tuple[str, str], ...]:
            return (("Signature", f"of {url}"),)

    sent = []

    class Notes(Table):
        async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response:
            sent.append((url, headers.get("Signature")))
            return await super().fetch(url, headers, wanted)

    made = space(delay=0.0)
    made.transport, made.signer = Notes({}), Signs()  # type: ignore[assignment]
    asyncio.run(made.resources.fetch("http://a.test/app.js", {}, RenderedPage()))
    assert sent == [(url, f"of {url}") for url in ("http://a.test/robots.txt", "http://a.test/app.js")]
