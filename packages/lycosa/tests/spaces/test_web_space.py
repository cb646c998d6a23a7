"""The web as a space, over a transport that answers from a table: robots, redirects, failures, directives."""

import asyncio
import gzip
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import pytest

from lycosa.core.errors import FetchError
from lycosa.core.types import Kind, Page, Task, Visit
from lycosa.spaces.web_space import BACKOFF, ROBOTS_HOPS, WebSpace
from lycosa.web.apart import DecodedAnswer
from lycosa.web.browser_protocols import Fetch, PageLook, RenderedPage
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
    """An HTTP answer; underscores in header names stand for dashes."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        fields["content-type"] = kind
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in fields.items()]
    return Response(status, b"HTTP/1.1 %d X" % status, raw, body, "192.0.2.1", truncated, fields)


class Table:
    """A transport that answers from a table, and remembers what it was asked for."""

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
    """A clock that stands still until it is set."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def space(answers: Mapping[str, Response | Exception] | None = None, **rest: Any) -> WebSpace:
    """A web space over a table."""
    clock = Time()
    politeness = Politeness(clock, delay=rest.pop("delay", 1.0), address_delay=0.0)
    return WebSpace(Table(answers or {}), politeness, clock, **rest)


def fetch(made: WebSpace, url: str = URL, kind: Kind = "page", **rest: Any) -> Page:
    """Visit one node."""

    async def visit() -> Page:
        return await made.visit(Task(url, kind, **rest))

    return asyncio.run(visit())


def visit_of(task: Task, page: Page) -> Visit:
    """The visit as the engine records it."""
    return Visit(
        task.node, task.kind if task.kind != "page" else page.kind, page.outcome, 1, origin=task.origin,
        attempt=task.attempt, hops=task.hops, retry_at=page.retry_at, started=page.started, ended=page.ended,
        data=page.data,
    )  # fmt: skip


def run_errand(made: WebSpace, node: str = URL) -> tuple[Task, Page]:
    """Run the errand of a node, and let the space learn it."""
    task = made.prerequisite(node)
    assert isinstance(task, Task), task

    async def visit() -> Page:
        return await made.visit(task)

    page = asyncio.run(visit())
    made.learn(visit_of(task, page))
    return task, page


def read(html: str, **headers: Any) -> Page:
    """The page of some HTML."""
    return fetch(space({URL: answer(html.encode(), **headers)}))


class Pool:
    """Readers that answer when they are let."""

    def __init__(self) -> None:
        self.reading: dict[bytes, asyncio.Future[Any]] = {}

    def run(self, *given: Any) -> Any:
        raise AssertionError("asked in the event loop")

    async def run_in_thread(self, work: partial[Any]) -> Any:
        body: bytes = work.args[1]
        self.reading[body] = asyncio.get_running_loop().create_future()
        await self.reading[body]
        return DecodedAnswer(len(body), True, read_body(body, URL, "text/html"), "odd" if body == b"bad" else "")

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
def test_answers_go_on_in_the_order_in_which_they_came(
    bodies: str, read: str, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However soon each is read; only what is large is not waited for. What needs no reading (404) waits, too."""
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
            for _ in range(10):  # whatever follows from that
                await asyncio.sleep(0)
        await asyncio.gather(*running)
        await made.close()
        assert not made._turns
        assert not pool.reading

    monkeypatch.setattr("lycosa.spaces.web_space.LARGE_BODY", 4)
    monkeypatch.setattr("lycosa.spaces.web_space.read_in_worker", elsewhere)
    asyncio.run(crawl())
    assert left.split(" ") == ended


# -- pages ---------------------------------------------------------------------------------------------------


@pytest.mark.paper("batsakis-downloading", "gouriten-web")
def test_a_page_and_its_links() -> None:
    """Title, text, links, validators, address and the exchange for the archive."""
    html = b"<title>Reefs</title><p>On <a href='/b'>coral</a>"
    made = space({URL: answer(html, etag='"x"', last_modified="yesterday")})
    page = fetch(made)
    assert ("ok", 200, "page", "Reefs", "On coral") == (page.outcome, page.status, page.kind, page.title, page.text)
    assert (["http://a.test/b"], ["coral"]) == (page.links.urls, page.links.anchors)
    assert ('"x"', "yesterday", "192.0.2.1", len(html)) == (page.etag, page.modified, page.address, page.size)
    assert page.exchange is not None
    assert page.exchange.request.startswith(b"GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Lycosa\r\n")
    assert html == page.exchange.body


def test_base_href() -> None:
    """Links are relative to the page's base."""
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
def test_content_types_and_charsets(kind: str, body: bytes, text: str) -> None:
    """A body is read as its type and charset say; other types have no text."""
    page = fetch(space({URL: answer(body, kind=kind)}, accept=["image/png"]))
    assert ("ok", text) == (page.outcome, page.text)


@pytest.mark.parametrize("charset", ["undefined", "idna"])
def test_charsets_that_are_no_charsets(charset: str) -> None:
    """A charset that only Python knows does not make a visit crash."""
    body = b"xn--" + b"a" * 100
    assert "ok" == fetch(space({URL: answer(body, kind=f"text/plain; charset={charset}")})).outcome


@pytest.mark.paper("batsakis-html-only")
def test_unwanted_types_are_not_archived() -> None:
    """An answer whose body was not read is 'unwanted', with its type as a note."""
    page = fetch(space({URL: answer(kind="image/png", truncated="unwanted")}))
    assert ("unwanted", "image/png", None) == (page.outcome, page.note, page.exchange)


def test_what_is_wanted_is_handed_to_the_transport() -> None:
    """Pages ask for text and what the user accepts; robots.txt may come as any type."""
    made = space({ROBOTS: answer()}, accept=["application/pdf"])
    fetch(made)
    run_errand(made)
    assert isinstance(made.transport, Table)
    assert {"text/html", "application/pdf"} < made.transport.wanted[0]
    assert frozenset() == made.transport.wanted[1]


def test_compressed_bodies() -> None:
    """The text is read from the inflated body, the archive keeps the body as received."""
    body = gzip.compress(b"<p>Reef")
    page = fetch(space({URL: answer(body, content_encoding="gzip")}))
    assert "Reef" == page.text
    assert page.exchange is not None
    assert (body, len(body)) == (page.exchange.body, page.size)


def test_a_bomb_is_cut() -> None:
    """A small body that inflates without end is read up to the cap, and flagged."""
    bomb = gzip.compress(b"<p>Reef " + b"x " * 2_000_000)
    page = fetch(space({URL: answer(bomb, content_encoding="gzip")}, inflated=10_000))
    assert ("ok", ["truncated:inflated"]) == (page.outcome, page.flags)
    assert len(page.text) <= 10_000
    assert page.text.startswith("Reef x x")


@pytest.mark.paper("batsakis-page-size")
def test_pages_beyond_a_limit_are_left_alone() -> None:
    """Of 100,000 bytes or fewer, unpacked, as in the thesis: one byte more, or a body that was cut off, is unwanted."""
    text = b"<p>Reef" + b" " * 99_993
    whole = fetch(space({URL: answer(gzip.compress(text), content_encoding="gzip")}, largest=100_000))
    assert ("ok", "Reef") == (whole.outcome, whole.text)
    for body, truncated in ((text + b" ", ""), (text, "length")):
        page = fetch(space({URL: answer(body, truncated=truncated)}, largest=100_000))
        assert ("unwanted", "more than 100,000 bytes", None) == (page.outcome, page.note, page.exchange)


def test_a_body_that_can_not_be_inflated() -> None:
    """An encoding that can't be undone is an invalid answer, and its bytes are kept."""
    page = fetch(space({URL: answer(b"???", content_encoding="compress")}))
    assert ("invalid", "the content encoding 'compress' is not supported") == (page.outcome, page.note)
    assert page.exchange is not None


def test_a_cut_body_is_flagged() -> None:
    """What is missing of a body is said in the flags."""
    assert ["truncated:length"] == fetch(space({URL: answer(b"<p>Reef", truncated="length")})).flags


# -- outcomes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "ok"), (204, "ok"), (404, "gone"), (410, "gone"), (403, "gone"), (300, "gone"), (304, "invalid"),
     (500, "broken"), (502, "broken"), (429, "busy"), (503, "busy"), (199, "broken")],
)  # fmt: skip
def test_statuses(status: int, outcome: str) -> None:
    """Each status has an outcome, and no links but those of a page."""
    page = fetch(space({URL: answer(b"<a href=b>x</a>", status)}))
    assert (outcome, status) == (page.outcome, page.status)
    assert (["http://a.test/b"] if outcome == "ok" else []) == page.links.urls


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(status: int) -> None:
    """A redirect is a visit of its own kind with one link."""
    page = fetch(space({URL: answer(status=status, location="../b#c")}))
    assert ("redirect", "redirect", ["http://a.test/b"]) == (page.kind, page.outcome, page.links.urls)
    assert 1 == len(page.links.link_relevances)


@pytest.mark.parametrize("location", ["", "mailto:x@y.test", "javascript:void(0)", "http://"])
def test_redirects_to_nowhere(location: str) -> None:
    """A redirect without a place to go is invalid."""
    headers: dict[str, Any] = {"location": location} if location else {}
    page = fetch(space({URL: answer(status=301, **headers)}))
    assert ("invalid", "page", "a redirect to nowhere") == (page.outcome, page.kind, page.note)


def test_a_location_beyond_ascii() -> None:
    """Raw bytes in a Location are read as UTF-8, which is what servers mean."""
    raw = "/grün".encode().decode("utf-8", "surrogateescape")
    assert ["http://a.test/gr%C3%BCn"] == fetch(space({URL: answer(status=301, location=raw)})).links.urls


@pytest.mark.parametrize(
    ("again", "attempt", "wait"), [(True, 1, 5.0), (True, 2, 30.0), (True, 3, None), (False, 1, None)]
)
def test_failures_are_retried(again: bool, attempt: int, wait: float | None) -> None:
    """A failure that may pass is tried again after a growing pause, three times in all."""
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
def test_retry_after(header: str, wait: float) -> None:
    """A busy host is left alone for as long as it asks, at least our own pause, at most a day."""
    page = fetch(space({URL: answer(status=503, retry_after=header)}))
    assert ("busy", 1000.0 + wait) == (page.outcome, page.retry_at)


@pytest.mark.parametrize("header", ["-5", "1.5", "Thu, 99 Foo", "Thu, 01 Jan 1970 00:00:01", "٣"])
def test_retry_after_nonsense(header: str) -> None:
    """What is no number of seconds and no date to come asks for nothing."""
    assert 0.0 == parse_retry_after(header, 1000.0)


def test_a_busy_host_holds_its_lane() -> None:
    """After a 503 the host is left alone until its time."""
    made = space({URL: answer(status=503, retry_after="120")})
    page = fetch(made)
    made.learn(visit_of(Task(URL), page))
    assert (1120.0, "asked to come back later") == made.ready("a.test")


# -- directives ----------------------------------------------------------------------------------------------


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
def test_nofollow_in_all_its_forms(html: str, headers: dict[str, Any], links: int, flags: list[str]) -> None:
    """Links, pages and headers that say nofollow are obeyed; the other directives are recorded."""
    page = read(html, **headers)
    assert (links, flags) == (len(page.links), page.flags)


def test_nofollow_links_keep_the_others_aligned() -> None:
    """The links that stay keep anchors, contexts, positions and paths of their own."""
    page = read("<a href=b rel=nofollow>one</a> <a class=ref href=c>two</a>")
    assert (["http://a.test/c"], ["two"], [1], ["one two"], ["html body a.ref"]) == (
        page.links.urls, page.links.anchors, page.links.positions, page.links.contexts, page.links.paths
    )  # fmt: skip


def test_nofollow_may_be_overruled() -> None:
    """With follow_nofollow all links are kept."""
    html = b"<meta name=robots content=nofollow><a href=b rel=nofollow>x</a>"
    assert 1 == len(fetch(space({URL: answer(html)}, follow_nofollow=True)).links)


def test_languages() -> None:
    """A page in a language that was not asked for is flagged; its own word counts first, then what it is written in."""
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
def test_pages_in_the_right_language(html: str, languages: list[str], headers: dict[str, Any]) -> None:
    """A page that is written in a wanted language, or says so among others, is not flagged."""
    assert [] == fetch(space({URL: answer(html.encode(), **headers)}, languages=languages)).flags


def test_a_canonical_address_is_a_hint() -> None:
    """rel=canonical is kept as data if it differs from the page's own address."""
    assert "http://a.test/other" == read("<link rel=canonical href=/other>").data["canonical"]
    assert {} == read("<link rel=canonical href=/page>").data


# -- robots.txt ----------------------------------------------------------------------------------------------


@pytest.mark.paper("rules-figure-1")
def test_robots_first() -> None:
    """Before the first page of an origin its robots.txt is an errand; then its rules decide."""
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
def test_what_a_robots_answer_means(response: Response | Exception, allowed: bool) -> None:
    """4xx and what leads nowhere allow; rules decide, compressed or not; a guarded host is refused page by page."""
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
def test_robots_that_can_not_be_read(response: Response | Exception, wait: float) -> None:
    """5xx, 429 and network failures close the host for a while; then robots.txt is tried again."""
    made = space({ROBOTS: response})
    _, page = run_errand(made)
    assert 1000.0 + wait == page.retry_at
    until, why = made.ready("a.test")
    assert (1000.0 + wait, "robots.txt can't be read") == (until, why[:24])
    again = made.prerequisite(URL)
    assert isinstance(again, Task)
    assert (ROBOTS, 2) == (again.node, again.attempt)


def test_robots_pauses_grow() -> None:
    """Each failure in a row makes the pause longer: 5 s, 30 s, an hour, six, then a day each time."""
    made = space({ROBOTS: answer(status=500)})
    clock = made.clock
    assert isinstance(clock, Time)
    waits = []
    for _ in range(6):
        _, page = run_errand(made)
        waits.append(page.retry_at - clock.now)
        clock.now = page.retry_at
    assert [5.0, 30.0, 3600.0, 21600.0, 86400.0, 86400.0] == waits


def test_a_robots_visit_that_crashed_closes_the_host() -> None:
    """When the fetch of robots.txt failed by a bug, nothing is known: the host stays closed, as for any failure."""
    made = space()
    task = made.prerequisite(URL)
    assert isinstance(task, Task)
    made.learn(Visit(task.node, "robots", "crashed", 0, origin=URL, started=1000.0, ended=1000.0))
    assert isinstance(made.prerequisite(URL), Task)


def test_robots_redirects() -> None:
    """A redirect of robots.txt is followed, also to another host, and its rules hold where it was asked for."""
    other = "http://b.test/r.txt"
    made = space({ROBOTS: answer(status=301, location=other), other: answer(b"User-agent: *\nDisallow: /page")})
    first, _ = run_errand(made)
    second, _ = run_errand(made)
    assert [(ROBOTS, 0), (other, 1)] == [(task.node, task.hops) for task in (first, second)]
    assert ("denied", f"{ROBOTS} does not allow it") == made.prerequisite(URL)
    assert isinstance(made.prerequisite("http://b.test/page"), Task)


def test_robots_redirects_without_end() -> None:
    """After five redirects robots.txt counts as absent."""
    made = space({f"http://a.test/{n or 'robots.txt'}": answer(status=301, location=f"/{n + 1}") for n in range(20)})
    for _ in range(ROBOTS_HOPS + 1):
        run_errand(made)
    assert made.prerequisite(URL) is None


def test_robots_expire_after_a_day() -> None:
    """Rules are asked for anew after 24 hours."""
    made = space({ROBOTS: answer(b"")})
    clock = made.clock
    assert isinstance(clock, Time)
    run_errand(made)
    clock.now += 24 * 3600 - 1
    assert made.prerequisite(URL) is None
    clock.now += 2
    assert isinstance(made.prerequisite(URL), Task)


def test_crawl_delay_is_obeyed() -> None:
    """A Crawl-delay longer than ours makes the host's pauses longer."""
    made = space({ROBOTS: answer(b"User-agent: *\nCrawl-delay: 7"), URL: answer()})
    run_errand(made)
    fetch(made)
    assert (1007.0, "crawl-delay") == made.ready("a.test")


def test_a_host_is_closed_while_its_robots_are_fetched() -> None:
    """From the moment robots.txt is asked for until it is recorded, the host's lane is not ready."""
    made = space({ROBOTS: answer(b"")})
    task = made.prerequisite(URL)
    assert isinstance(task, Task)

    async def look() -> tuple[float, Page]:
        visiting = made.visit(task)
        return made.ready("a.test")[0], await visiting

    until, page = asyncio.run(look())
    assert float("inf") == until
    assert float("inf") == made.ready("a.test")[0]  # here, but nobody has learned what it says
    made.learn(Visit(task.node, "robots", page.outcome, 1, origin=task.origin, data=page.data))
    assert made.ready("a.test")[0] < float("inf")


def test_learning_again_gives_the_same_rules() -> None:
    """A space that learns the recorded robots visit knows the rules without asking."""
    made = space({ROBOTS: answer(b"User-agent: *\nDisallow: /page")})
    task, page = run_errand(made)
    fresh = space()
    fresh.learn(visit_of(task, page))
    assert made.prerequisite(URL) == fresh.prerequisite(URL) == ("denied", f"{ROBOTS} does not allow it")


def test_a_resumed_crawl_starts_with_a_pause() -> None:
    """When an earlier run is gone on with, every host waits for one delay."""
    made = space(delay=2.0)
    made.resumed()
    assert (1002.0, "pause after resuming") == made.ready("b.test")


# -- lanes, seeds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "lane"),
    [
        ("http://a.test/x", "a.test"),
        ("https://a.test:8443/", "a.test:8443"),
        ("http://[::1]:80/x", "[::1]:80"),
        ("http://a.test", "a.test"),
    ],
)
def test_a_lane_is_a_host_with_its_port(url: str, host_key: str) -> None:
    """Pages of one host and port share a lane."""
    assert host_key == space().host_key(url)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("a.test/b", "https://a.test/b"), (" http://A.test ", "http://a.test/"), ("https://a.test/#x", "https://a.test/"),
        ("nonsense", None), ("ftp://a.test/", None), ("", None), ("mailto:x@a.test", None),
    ],
)  # fmt: skip
def test_seeds_as_people_type_them(text: str, url: str | None) -> None:
    """A bare host gets https; what is no web address is none."""
    assert url == check_seed(text)


def test_closing_closes_the_transport() -> None:
    """The space lets go of its connections."""
    made = space()
    asyncio.run(made.close())
    assert isinstance(made.transport, Table)
    assert made.transport.closed


def test_a_visit_ends_the_hosts_turn_whatever_happens() -> None:
    """Also after a failure the host is free again after its pause."""
    made = space({URL: FetchError("unreachable", "down")})
    fetch(made)
    assert (1001.0, "delay") == made.ready("a.test")


def test_the_whole_text_is_read_if_it_is_wanted() -> None:
    """A page has a main part, its headings and its lead; with whole_text it has none."""
    html = b"<nav>Home</nav><h1>Reefs</h1><p>Coral lives in the sea, and where it is warm for weeks it bleaches."
    page = fetch(space({URL: answer(html)}))
    assert page.main.startswith("Reefs\nCoral")
    assert "Reefs" == page.headings
    assert page.lead.startswith("Coral")
    page = fetch(space({URL: answer(html)}, whole_text=True))
    assert ("", "", "") == (page.main, page.headings, page.lead)
    assert "Home" in page.text


class Shows:
    """A browser that shows the same whatever it is given."""

    notes: ClassVar[list[str]] = []

    def __init__(self, dom: bytes) -> None:
        self.dom = dom

    def render_reason(self, node: str, look: PageLook) -> str:
        return "shell"

    async def render(self, node: str, answer: Response, fetch: Fetch) -> RenderedPage:
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
def test_what_a_browser_shows_is_heeded(dom: bytes, respect: str, outcome: str, opt_outs: list[str]) -> None:
    """An opt-out or a wall that scripts bring counts; what the header has said counts on."""
    shell = b'<div id="root"></div><script src="/app.js"></script>'
    made = space({URL: answer(shell) if respect else answer(shell, content_usage="train-ai=n")}, respect=respect)
    made.renderer = Shows(dom)  # type: ignore[assignment]
    page = fetch(made)
    assert page.outcome == outcome
    assert (page.exchange is None, page.marked == "", len(page.links) == 0) == (outcome != "ok",) * 3
    assert page.data["opt_outs"] == opt_outs


def test_what_a_rendered_page_fetches_is_signed() -> None:
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
