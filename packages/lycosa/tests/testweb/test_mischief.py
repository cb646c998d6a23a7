"""Responses of trap hosts."""

import gzip
import zlib
from collections.abc import Callable
from urllib.parse import urljoin

import brotli
import pytest
import zstandard

from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.mischief import CHARSETS, SENTENCES

Links = Callable[[Web, str], list[str]]


BASE = "http://{}/coral-reefs/{}.html"


CORAL = "marine biology/coral reefs"


def follow(web: Web, url: str, limit: int = 50) -> tuple[str, ServedResponse]:
    response = web.response(url)
    while limit and response.header("Location"):
        url = urljoin(url, response.header("Location") or "")
        response = web.response(url)
        limit -= 1
    return url, response


def test_calendar_never_ends(wild: Web, links: Links) -> None:
    host = next(wild.urls()).split("/")[2]
    url = f"http://{host}/whats-on/coral-reefs/2024/11/"
    seen = set()
    for _ in range(50):
        assert wild.response(url).status == 200
        seen.add(url)
        url = links(wild, url)[0]
    assert len(seen) == 50
    assert f"http://{host}/whats-on/coral-reefs/2025/01/" in seen


def test_loop_links_get_deeper(wild: Web, links: Links) -> None:
    host = next(wild.urls()).split("/")[2]
    url = f"http://{host}/halls/coral-reefs/more/"
    first = wild.response(url)
    for depth in range(1, 20):
        url = links(wild, url)[0]
        assert depth + 1 == url.count("/coral-reefs/")
        assert 200 == wild.response(url).status
    assert first.body.split(b"<ul>")[0] == wild.response(url).body.split(b"<ul>")[0]


def test_facets_show_one_list_under_many_urls(wild: Web, links: Links) -> None:
    host = next(wild.urls()).split("/")[2]
    seen = {f"http://{host}/bazaar/coral-reefs/?order=name"}
    for _ in range(6):
        seen |= {there for url in seen for there in links(wild, url) if "/bazaar/" in there}
    assert len(seen) > 50
    assert 1 == len({wild.response(url).body.split(b"<ul>")[0] for url in seen})


def test_soft_404_returns_200(wild: Web, links: Links) -> None:
    url = "http://lost-property.localhost/no/such/page"
    for _ in range(20):
        response = wild.response(url)
        assert response.status == 200
        assert b"could not be found" in response.body
        url = links(wild, url)[-1]


def test_redirect_chains_end_at_page(wild: Web) -> None:
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


def test_slow_host_delays_responses(wild: Web) -> None:
    slow = wild.response(BASE.format("tortoise.localhost", 1)).delay
    assert slow > 0.2
    faster = Web(slowness=0.05)
    assert faster.response(BASE.format("tortoise.localhost", 1)).delay == pytest.approx(slow / 10)
    assert not any(wild.response(url).delay for url in list(wild.urls())[::100])


def test_failing_hosts_have_broken_responses(wild: Web) -> None:
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


def test_nofollow_appears_in_meta_header_and_link(wild: Web) -> None:
    meta, header, link = (wild.response(BASE.format("no-follow.localhost", number)) for number in range(3))
    assert b'name="robots" content="nofollow"' in meta.body
    assert header.header("X-Robots-Tag") == "nofollow"
    assert link.body.count(b'rel="nofollow"') == 3
    assert wild.forbidden("http://no-follow.localhost/behind/coral-reefs/1.html")


def test_charsets_match_table(wild: Web) -> None:
    for number, charset in enumerate(CHARSETS):
        response = wild.response(BASE.format("babel.localhost", number))
        assert SENTENCES[charset.lang][0] in response.body.decode(charset.actual)
        kind = response.header("Content-Type")
        assert kind == (f"text/html; charset={charset.header}" if charset.header else "text/html")
    with pytest.raises(UnicodeDecodeError):
        wild.response(BASE.format("babel.localhost", 0)).body.decode("utf-8")


def test_encodings_are_valid_or_mislabelled(wild: Web) -> None:
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


def test_changing_pages_depend_on_version(wild: Web) -> None:
    url = BASE.format("newsroom.localhost", 1)
    first, second = wild.response(url), wild.response(url, version=1)
    assert first.body != second.body
    assert first.header("ETag") != second.header("ETag")
    assert wild.response(url) == first
    page = next(wild.relevant(CORAL))
    assert wild.response(page, version=5) == wild.response(page)
    assert wild.counts(url)
    assert not wild.counts(page)


def test_media_types_match_extensions(wild: Web) -> None:
    kinds = {
        kind: wild.response(f"http://depository.localhost/owls/1.{kind}") for kind in ("txt", "pdf", "png", "html")
    }
    assert kinds["txt"].header("Content-Type") == "text/plain"
    assert kinds["pdf"].body.startswith(b"%PDF-")
    assert kinds["png"].header("Content-Type") == "image/png"
    assert b"<a " not in kinds["html"].body
