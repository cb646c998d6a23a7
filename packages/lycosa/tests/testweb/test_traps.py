"""Each trap of the embedded web does what it says, and nothing when it is off."""

import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from urllib.parse import urljoin

import brotli
import pytest
import zstandard

from lycosa.testweb import ServedResponse, Trap, Web
from lycosa.testweb.mischief import CHARSETS, SENTENCES

Links = Callable[[Web, str], list[str]]
BASE = "http://{}/coral-reefs/{}.html"
CORAL = "marine biology/coral reefs"


def follow(web: Web, url: str, most: int = 50) -> tuple[str, ServedResponse]:
    """Follow redirects, at most so many."""
    response = web.response(url)
    while most and response.header("Location"):
        url = urljoin(url, response.header("Location") or "")
        response = web.response(url)
        most -= 1
    return url, response


def test_a_trap_that_is_off_is_not_there(clean: Web, wild: Web) -> None:
    """The URLs of a trap answer 404 when it is off; on, they belong to it and have no topic of their own."""
    for trap in Trap:
        for url in wild.trap_urls(trap):
            assert clean.response(url).status == 404
            assert wild.trap(url) == trap
            assert wild.topic(url) is None


def test_traps_are_linked_to_from_clean_pages(links: Links) -> None:
    """Some clean pages link to each trap that is on, and no page to one that is off."""
    for traps in ([*Trap], [Trap.CALENDAR], [Trap.LOOPS, Trap.DUPLICATES]):
        web = Web(pages=600 if len(traps) > 2 else 300, hosts=20, traps=traps)
        found = Counter(web.trap(target) for url in web.urls() for target in links(web, url))
        assert set(found) == {None, *traps}
        assert min(found.values()) >= 10


def test_the_calendar_never_ends(wild: Web, links: Links) -> None:
    """Following "next month" leads to ever new pages."""
    host = next(wild.urls()).split("/")[2]
    url = f"http://{host}/whats-on/coral-reefs/2024/11/"
    seen = set()
    for _ in range(50):
        assert wild.response(url).status == 200
        seen.add(url)
        url = links(wild, url)[0]
    assert len(seen) == 50
    assert f"http://{host}/whats-on/coral-reefs/2025/01/" in seen


def test_relative_links_lead_ever_deeper(wild: Web, links: Links) -> None:
    """The halls answer at any depth, with the same words and a deeper way on."""
    host = next(wild.urls()).split("/")[2]
    url = f"http://{host}/halls/coral-reefs/more/"
    first = wild.response(url)
    for depth in range(1, 20):
        url = links(wild, url)[0]
        assert depth + 1 == url.count("/coral-reefs/")
        assert 200 == wild.response(url).status
    assert first.body.split(b"<ul>")[0] == wild.response(url).body.split(b"<ul>")[0]


def test_facets_show_one_list_under_many_addresses(wild: Web, links: Links) -> None:
    """Every choice of order, view and page is an address of its own, with the same words."""
    host = next(wild.urls()).split("/")[2]
    seen = {f"http://{host}/bazaar/coral-reefs/?order=name"}
    for _ in range(6):
        seen |= {there for url in seen for there in links(wild, url) if "/bazaar/" in there}
    assert len(seen) > 50
    assert 1 == len({wild.response(url).body.split(b"<ul>")[0] for url in seen})


def test_session_ids_multiply_urls(wild: Web, links: Links) -> None:
    """Each page of the session host hands out links with a new id, and ids on clean pages change nothing."""
    url = BASE.format("shop-window.localhost", 0)
    seen = {url}
    for _ in range(20):
        url = links(wild, url)[0]
        assert wild.response(url).status == 200
        seen.add(url)
    assert len(seen) == 21
    page = next(wild.relevant(CORAL))
    assert wild.response(f"{page}?PHPSESSID=00ff").body == wild.response(page).body
    assert wild.canonical(f"{page}?PHPSESSID=00ff") == page


def test_soft_404s_say_200(wild: Web, links: Links) -> None:
    """Whatever is asked of the soft-404 host, it answers 200, with more links to nowhere."""
    url = "http://lost-property.localhost/no/such/page"
    for _ in range(20):
        response = wild.response(url)
        assert response.status == 200
        assert b"could not be found" in response.body
        url = links(wild, url)[-1]


def test_duplicates_are_exact_or_nearly_so(wild: Web) -> None:
    """Copies and mirrors have the same bytes, print versions nearly the same; all have a canonical page."""
    urls = wild.trap_urls("duplicates")
    kinds = {"copy": 0, "print": 0, "mirror": 0}
    for url in urls:
        original = wild.canonical(url)
        assert original is not None
        body, copy = wild.response(original).body, wild.response(url).body
        kind = "mirror" if "//mirror." in url else "print" if "/print/" in url else "copy"
        kinds[kind] += 1
        assert (body == copy) == (kind != "print")
    assert all(kinds.values())


def test_redirects_lead_over_hops_and_hosts_or_in_circles(wild: Web) -> None:
    """Chains end at the page they name, with all the statuses and forms of Location; loops never end."""
    statuses, forms, crossings = set(), set(), 0
    for target in range(0, 3000, 97):
        url = f"http://{wild.hosts[3]}/go/4-{target}"
        end, response = follow(wild, url)
        assert end == wild.canonical(url)
        assert response.status == 200
        crossings += end.split("/")[2] != wild.hosts[3]
        first = wild.response(url)
        statuses.add(first.status)
        forms.add((first.header("Location") or "").startswith("/"))
    assert statuses == {301, 302, 303, 307, 308}
    assert forms == {True, False}
    assert crossings > 10
    for loop in ("round-0", "self"):
        assert follow(wild, f"http://{wild.hosts[3]}/go/{loop}")[1].header("Location")


def test_slow_pages_have_a_delay(wild: Web) -> None:
    """The slow host takes its time, in proportion to the slowness asked for, and nobody else does."""
    slow = wild.response(BASE.format("tortoise.localhost", 1)).delay
    assert slow > 0.2
    faster = Web(slowness=0.05)
    assert faster.response(BASE.format("tortoise.localhost", 1)).delay == pytest.approx(slow / 10)
    assert not any(wild.response(url).delay for url in list(wild.urls())[::100])


def test_failing_hosts_fail_each_in_its_way(wild: Web) -> None:
    """One host recovers, one never does, one breaks off, one hangs up."""
    flaky = BASE.format("flaky.localhost", 1)
    answers = [wild.response(flaky, version=version) for version in range(3)]
    assert [answer.status for answer in answers] == [503, 503, 200]
    assert answers[0].header("Retry-After") == "1"
    assert wild.response(BASE.format("broken.localhost", 1), version=9).status == 500
    cut = wild.response(BASE.format("cut-short.localhost", 1))
    assert cut.cut is not None
    assert 0 < cut.cut < len(cut.body)
    assert wild.response(BASE.format("hang-up.localhost", 1)).cut == -1


def test_robots_rules_differ_by_host(wild: Web, links: Links) -> None:
    """The robots.txt of the hosts forbid, delay, are missing, fail, or have moved."""

    def rules(host: str) -> ServedResponse:
        return wild.response(f"http://{host}.localhost/robots.txt")

    assert b"Disallow: /private/" in rules("keep-out").body
    assert b"Crawl-delay: 1" in rules("slow-lane").body
    assert rules("no-robots").status == 404
    assert rules("robots-error").status == 500
    assert rules("robots-moved").status == 301
    assert b"Disallow" in follow(wild, "http://robots-moved.localhost/robots.txt")[1].body
    assert wild.response(f"http://{wild.hosts[0]}/robots.txt").body == b"User-agent: *\nAllow: /\n"
    out = links(wild, BASE.format("keep-out.localhost", 1))
    assert {wild.forbidden(url) for url in out} == {True, False}
    assert all(wild.response(url).status == 200 for url in out)
    assert wild.forbidden(BASE.format("robots-error.localhost", 1))


def test_nofollow_is_said_in_three_ways(wild: Web) -> None:
    """A page asks not to be followed in a meta element, in a header, or link by link."""
    meta, header, link = (wild.response(BASE.format("no-follow.localhost", number)) for number in range(3))
    assert b'name="robots" content="nofollow"' in meta.body
    assert header.header("X-Robots-Tag") == "nofollow"
    assert link.body.count(b'rel="nofollow"') == 3
    assert wild.forbidden("http://no-follow.localhost/behind/coral-reefs/1.html")


def test_charsets_are_as_the_table_says(wild: Web) -> None:
    """Pages are encoded, rightly or wrongly labelled, as the table of charsets has it."""
    for number, charset in enumerate(CHARSETS):
        response = wild.response(BASE.format("babel.localhost", number))
        assert SENTENCES[charset.lang][0] in response.body.decode(charset.actual)
        kind = response.header("Content-Type")
        assert kind == (f"text/html; charset={charset.header}" if charset.header else "text/html")
    with pytest.raises(UnicodeDecodeError):
        wild.response(BASE.format("babel.localhost", 0)).body.decode("utf-8")


def test_content_codings_are_as_labelled_or_notoriously_not(wild: Web) -> None:
    """The codings host sends raw and wrapped deflate, brotli, zstd, odd gzip, and plain text called gzip."""
    label, body = {}, {}
    for number in range(12):
        response = wild.response(BASE.format("squeeze.localhost", number))
        label[number], body[number] = response.header("Content-Encoding"), response.body
    decoders = {
        0: lambda data: zlib.decompress(data, -15),
        1: zlib.decompress,
        2: brotli.decompress,
        3: zstandard.ZstdDecompressor().decompress,
        4: gzip.decompress,
        7: lambda data: gzip.decompress(gzip.decompress(data)),
        8: gzip.decompress,
        9: bytes,
    }
    for number, decode in decoders.items():
        assert decode(body[number]).endswith(b"</html>\n")
    with pytest.raises(EOFError):
        gzip.decompress(body[5])
    assert label[6] == "gzip"
    assert body[6].startswith(b"<!DOCTYPE")
    assert len(body[11]) < 50_000 < 8_000_000 < len(gzip.decompress(body[11]))


def test_clean_pages_are_coded_as_the_client_accepts(clean: Web, wild: Web) -> None:
    """Most pages come in gzip; with the trap on, some in other codings; none in one not accepted."""

    def seen(web: Web, accept: str) -> set[str | None]:
        pages = list(web.urls())[::20]
        return {web.response(u, headers={"Accept-Encoding": accept}).header("Content-Encoding") for u in pages}

    assert seen(clean, "gzip, br, zstd, deflate") == {"gzip", None}
    assert seen(wild, "gzip, br, zstd, deflate") == {"gzip", "br", "zstd", "deflate"}
    assert seen(wild, "gzip, br;q=0") == {"gzip"}
    assert seen(wild, "") == {None}


def test_changing_pages_change_and_others_do_not(wild: Web) -> None:
    """The news differ in text and validators at each version; a clean page takes no notice."""
    url = BASE.format("newsroom.localhost", 1)
    first, second = wild.response(url), wild.response(url, version=1)
    assert first.body != second.body
    assert first.header("ETag") != second.header("ETag")
    assert wild.response(url) == first
    page = next(wild.relevant(CORAL))
    assert wild.response(page, version=5) == wild.response(page)
    assert wild.counts(url)
    assert not wild.counts(page)


def test_media_are_not_html_or_have_no_links(wild: Web) -> None:
    """There are plain texts, PDFs, pictures, and pages that lead nowhere."""
    kinds = {
        kind: wild.response(f"http://depository.localhost/owls/1.{kind}") for kind in ("txt", "pdf", "png", "html")
    }
    assert kinds["txt"].header("Content-Type") == "text/plain"
    assert kinds["pdf"].body.startswith(b"%PDF-")
    assert kinds["png"].header("Content-Type") == "image/png"
    assert b"<a " not in kinds["html"].body


def test_conditional_requests_get_304(wild: Web) -> None:
    """A validator sent back is answered 304 without a body, a stale one with the page."""
    tagged = dated = 0
    for url in list(wild.urls())[::100]:
        response = wild.response(url)
        tag, modified = response.header("ETag"), response.header("Last-Modified")
        if tag:
            tagged += 1
            again = wild.response(url, headers={"If-None-Match": tag})
            assert (again.status, again.body, again.header("ETag")) == (304, b"", tag)
            assert wild.response(url, headers={"If-None-Match": '"other"'}).status == 200
        if modified:
            dated += 1
            assert wild.response(url, headers={"If-Modified-Since": modified}).status == 304
            stale = {"If-Modified-Since": formatdate(0, usegmt=True)}
            assert wild.response(url, headers=stale).status == 200
    assert tagged > 10
    assert dated > 10
