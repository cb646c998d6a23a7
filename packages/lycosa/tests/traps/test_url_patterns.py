"""Tests of suspicious URLs and sections: tables of real URLs, and properties of all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.traps.url_patterns import CALENDAR, LISTS, LONG, LOOP, MAX_FOLDERS, MAX_LENGTH, Address
from lycosa.web.urls import canonical, host_key

HOST = "http://a.test"

SEGMENTS = st.one_of(
    st.sampled_from(
        "reefs more 2019 04 12 2019-04-12 20190412 17.html why-corals-bleach index.php v1.2 a 7 ..".split()
    ),
    st.text("abz019-_.~%é珊", max_size=6),
)
PARAMETERS = st.tuples(
    st.sampled_from("page sort date id t 12 view q2".split()) | st.text("ab1-", max_size=3), st.text("ab01", max_size=3)
)
URLS = st.builds(
    lambda host, segments, parameters: canonical(
        f"http://{host}/" + "/".join(segments) + ("?" + "&".join(map("=".join, parameters)) if parameters else "")
    ),
    st.sampled_from(["a.test", "www.a.test:8080", "[::1]", "[2001:db8::7]:81", "192.0.2.1", "xn--bcher-kva.test"]),
    st.lists(SEGMENTS, max_size=9),
    st.lists(PARAMETERS, max_size=4),
).filter(lambda url: url is not None)
"""Canonical URLs with many dates, numbers and repetitions."""


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("/events/2019/04/", "/events"),
        ("/events/2019/04", "/events"),
        ("/events/2019/04/12/", "/events"),
        ("/events/2019/", "/events"),
        ("/whats-on/reefs/2024/11/05.html", "/whats-on/reefs"),
        ("/2019/04/", ""),
        ("/1987/", ""),
        ("/cal/2019-04/", "/cal"),
        ("/cal/2019-4-1", "/cal"),
        ("/cal/20190412/", "/cal"),
        ("/events/2019/04/?ical", "/events"),
        ("/events?month=4&year=2019", "/events"),
        ("/?date=2019-04-12", "/"),
        ("/events/?tribe-bar-date=2019-04", "/events/"),
        ("/cal.php?id=3&DAY=12", "/cal.php"),
    ],
)
def test_suspicion_recognises_calendar(path: str, stem: str) -> None:
    assert (CALENDAR, stem) == Address(HOST + path).suspicion()


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("/reefs/more/reefs/more/", ""),
        ("/reefs/more/reefs/", ""),
        ("/halls/reefs/more/reefs/more/", "/halls"),
        ("/a/b/c/b/d.html", "/a"),
        ("/a/b/c/b/d.html?page=2", "/a"),
    ],
)
def test_suspicion_recognises_repeated_path(path: str, stem: str) -> None:
    assert (LOOP, stem) == Address(HOST + path).suspicion()


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("/shop?sort=price&view=grid", "/shop"),
        ("/list?sort=name&page=2", "/list"),
        ("/?order=name&view=grid", "/"),
        ("/list?id=3&sort=name&dir=asc", "/list"),
    ],
)
def test_suspicion_recognises_endless_list(path: str, stem: str) -> None:
    assert (LISTS, stem) == Address(HOST + path).suspicion()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/index.html",
        "/reefs/",
        "/blog/2019/04/why-corals-bleach",
        "/blog/2019/04/12/why-corals-bleach/",
        "/blog/2019/04/12/why-corals-bleach.html",
        "/2019/why-corals-bleach",
        "/2019-04-12-why-corals-bleach.html",
        "/2019/04/page/2/",
        "/node/17",
        "/article/123456",
        "/1234/",
        "/2/3/4.html",
        "/12/12/12/",
        "/a//b//c/",
        "/index.php?option=com_content&view=article&id=17&Itemid=3",
        "/index.php?option=com_content&view=article&id=17",
        "/viewtopic.php?f=1&t=17",
        "/viewtopic.php?f=1&t=17&start=15",
        "/viewforum.php?f=1&start=25",
        "/showthread.php?t=17&page=2",
        "/index.php?title=Coral_reef&action=history",
        "/index.php?topic=17.0",
        "/?q=node/17",
        "/search?q=coral&page=2",
        "/article?id=17",
        "/list?",
        "/?17",
    ],
)
def test_ordinary_pages_are_not_suspicious(path: str) -> None:
    assert None is Address(HOST + path).suspicion()


@pytest.mark.parametrize("path", ["/scrapy/scrapy/issues", "/curl/curl", "/scrapy/scrapy/blob/master/README.rst"])
def test_adjacent_repetition_is_not_suspicious(path: str) -> None:
    assert None is Address(HOST + path).suspicion()


@pytest.mark.parametrize(
    "path", ["/news/31026588", "/news/31026588/", "/2019/04/12/57.html", "/2019/04/1234.html", "/20190412/17.html"]
)
def test_numbered_articles_are_not_suspicious(path: str) -> None:
    assert None is Address(HOST + path).suspicion()


@pytest.mark.parametrize("path", ["/?p=17", "/index.php?page=about", "/?page=contact", "/list?page=2", "/?view=reefs"])
def test_single_parameter_is_not_suspicious(path: str) -> None:
    assert None is Address(HOST + path).suspicion()


@pytest.mark.parametrize("path", ["/scrapy/scrapy/blob/master/scrapy/http.py", "/numpy/numpy/tree/main/numpy/core"])
def test_monstrous_repetition_must_be_evenly_spaced(path: str) -> None:
    assert "" == Address(HOST + path).monstrous()


@pytest.mark.parametrize("base", ["http://a.test:8080", "https://[::1]", "http://[2001:db8::7]:81", "http://192.0.2.1"])
def test_parsed_url_host_includes_port(base: str) -> None:
    address = Address(f"{base}/events/2019/04/")
    assert (base.partition("//")[2], "/events/2019/04/", "") == (address.host, address.path, address.query)
    assert (CALENDAR, "/events") == address.suspicion()
    assert "/events/#/#/" == address.section()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/a/b/a/b/a/b/", LOOP),
        ("/a/a/a/", LOOP),
        ("/a/b/c/a/d/a.html/a", LOOP),
        ("/a/b/a/b/", ""),
        ("/2020/03/03/03/", ""),
        ("//////", ""),
        ("/" + "/".join(f"f{number}" for number in range(MAX_FOLDERS)), ""),
        ("/" + "/".join(f"f{number}" for number in range(MAX_FOLDERS + 1)), LONG),
        ("/" + "x" * (MAX_LENGTH - len(HOST) - 1), ""),
        ("/" + "x" * (MAX_LENGTH - len(HOST)), LONG),
        ("/?" + "x" * MAX_LENGTH, LONG),
        ("/", ""),
        ("", ""),
    ],
)
def test_monstrous_urls_are_long_deep_or_repeated(path: str, why: str) -> None:
    assert why == Address(HOST + path).monstrous()


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("/", "/"),
        ("", "/"),
        ("/reefs/", "/*/"),
        ("/reefs", "/*"),
        ("/17", "/#"),
        ("/reefs/why-corals-bleach.html", "/reefs/*.html"),
        ("/reefs/17.html", "/reefs/#.html"),
        ("/reefs/17.html?id=4&x=", "/reefs/#.html?id&x"),
        ("/reefs/?b=1&a=2&b=3", "/*/?a&b"),
        ("/reefs/part2/", "/reefs/*/"),
        ("/2019/04/reefs.html", "/#/#/*.html"),
        ("/index.php?option=com_content&view=article&id=17", "/*.php?id&option&view"),
        ("/reefs/more/reefs/more/x.html", "/reefs/more/*.html"),
        ("/a?", "/*"),
    ],
)
def test_section_replaces_variable_parts(path: str, section: str) -> None:
    assert section == Address(HOST + path).section()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/style.css?1700000001", "/style.css?1700000002"),
        ("/releases/v1.16", "/releases/v1.17"),
        ("/list?f1=a", "/list?f2=a"),
    ],
)
def test_section_ignores_numbers(one: str, other: str) -> None:
    assert Address(HOST + one).section() == Address(HOST + other).section()


@pytest.mark.parametrize(
    "node",
    ["a", "", "a/b", "file:x.xml", "file:///x.xml", "http://", "//", "/", "?", "http://a.test?x=1", "a:b/c/2019/"],
)
def test_address_accepts_other_nodes(node: str) -> None:
    address = Address(node)
    address.suspicion()
    assert "" == address.monstrous()
    assert address.section().startswith("/")


@settings(max_examples=50, deadline=None)
@given(URLS)
def test_address_restores_any_canonical_url(url: str) -> None:
    address = Address(url)
    assert host_key(url) == address.host
    assert url.partition("//")[2] == address.host + address.path + ("?" + address.query if "?" in url else "")
    assert address.section().startswith("/")
    assert address.monstrous() in ("", LOOP, LONG)
    smell = address.suspicion()
    assert smell is None or (smell.kind in (CALENDAR, LOOP, LISTS) and address.path.startswith(smell.stem))


@settings(max_examples=50, deadline=None)
@given(URLS)
def test_section_has_no_digits(url: str) -> None:
    folder = Address(url).section().partition("?")[0].rpartition("/")[0]
    assert not any(character.isdigit() for character in folder)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=4, unique=True), st.integers(1, 5))
def test_section_collapses_repeated_folders(folders: list[str], times: int) -> None:
    once = f"{HOST}/{'/'.join(folders)}/x.html"
    again = f"{HOST}/{'/'.join(folders * times)}/x.html"
    assert Address(once).section() == Address(again).section()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("abc", min_size=1, max_size=3), max_size=5, unique=True), st.text("xyz-", min_size=1))
def test_dated_articles_are_not_suspicious(folders: list[str], slug: str) -> None:
    base = HOST + "".join(f"/{folder}" for folder in folders)
    assert None is Address(f"{base}/2019/04/12/{slug}").suspicion()
    assert None is Address(f"{base}/2019/04/{slug}.html").suspicion()


def test_hostile_path_is_parsed_fast() -> None:
    address = Address("http://a.test/" + "/".join(f"{number:x}g" for number in range(600)) + "/x/x/y")
    assert LONG == address.monstrous()
    assert address.suspicion() is None
