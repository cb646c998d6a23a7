"""URLs: the WHATWG standard exactly, then the crawler's canonical form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.web.urls import MAX_LENGTH, canonical, host, is_http, origin, parse, resolve, site
from places import CORPORA
from tables import each

WHATWG = CORPORA.parent / "conformance" / "urltestdata.json"
HEX32 = "0123456789abcdef0123456789abcdef"


def test_parse_agrees_with_whatwg_test_data() -> None:
    if not WHATWG.exists():
        pytest.skip("the WHATWG test data is absent: shared/conformance/urltestdata.json")
    cases = [case for case in json.loads(WHATWG.read_text("utf-8")) if isinstance(case, dict)]
    wrong, http, failures = [], 0, 0
    for case in cases:
        href = case.get("href", "")
        expected = href if href.startswith(("http://", "https://")) else None
        http += expected is not None
        failures += bool(case.get("failure"))
        actual = parse(case["input"], case["base"])
        if actual != expected:
            wrong.append((case["input"], case["base"], expected, actual))
    assert wrong == []
    assert (http, failures, len(cases)) == (247, 267, 891)


CANONICAL = [
    # Parsing by ada.
    ("HTTP://EXAMPLE.com", "http://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/", "https://example.com/"),
    ("http://example.com:443/", "http://example.com:443/"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/%7Ea", "http://example.com/%7Ea"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("  http://example.com/\n", "http://example.com/"),
    ("http:\\\\example.com\\a", "http://example.com/a"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://[::0:1]/", "http://[::1]/"),
    ("http://example.com./", "http://example.com./"),
    ("http://example.com/é?é", "http://example.com/%C3%A9?%C3%A9"),
    # Fragments are removed.
    ("http://example.com/a#b", "http://example.com/a"),
    ("http://example.com/a#", "http://example.com/a"),
    ("http://example.com/a?b#c?d", "http://example.com/a?b"),
    ("http://example.com/#!/page", "http://example.com/"),
    # Queries are kept byte for byte.
    ("http://example.com/?", "http://example.com/?"),
    ("http://example.com/?b=2&a=1", "http://example.com/?b=2&a=1"),
    ("http://example.com/?a=%2f&b=+", "http://example.com/?a=%2f&b=+"),
    ("http://example.com/?a&&b=", "http://example.com/?a&&b="),
    ("http://example.com/?q=utm_source", "http://example.com/?q=utm_source"),
    ("http://example.com/?my_utm_source=a", "http://example.com/?my_utm_source=a"),
    ("http://example.com/?a?utm_source=b", "http://example.com/?a?utm_source=b"),
    # Tracking parameters are removed.
    ("http://example.com/?utm_source=x", "http://example.com/"),
    ("http://example.com/?utm_source", "http://example.com/"),
    ("http://example.com/?&utm_source=x", "http://example.com/?"),
    ("http://example.com/?a=1&utm_medium=x&b=2", "http://example.com/?a=1&b=2"),
    ("http://example.com/?UTM_Campaign=x&a=1", "http://example.com/?a=1"),
    ("http://example.com/?gclid=a&fbclid=b&msclkid=c&yclid=d&igshid=e", "http://example.com/"),
    ("http://example.com/?mc_cid=a&mc_eid=b&_hsenc=c&_hsmi=d&p=1", "http://example.com/?p=1"),
    ("http://example.com/utm_source=x", "http://example.com/utm_source=x"),
    # Session ids are removed.
    ("http://example.com/?PHPSESSID=abc&a=1", "http://example.com/?a=1"),
    ("http://example.com/a;jsessionid=ABC.node1", "http://example.com/a"),
    ("http://example.com/a;JSESSIONID=ABC?b=1", "http://example.com/a?b=1"),
    ("http://example.com/a;jsessionid=ABC/b;v=1", "http://example.com/a/b;v=1"),
    ("http://example.com/a;v=1;jsessionid=ABC;w=2", "http://example.com/a;v=1;w=2"),
    ("http://example.com/a;jsessionid=A?utm_source=x", "http://example.com/a"),
    ("http://example.com/a/..;jsessionid=1", "http://example.com/"),
    ("http://example.com/a/%2e%2E;jsessionid=1/b", "http://example.com/b"),
    ("http://example.com/?a=;jsessionid=1", "http://example.com/?a=;jsessionid=1"),
    ("http://example.com/?jsessionid=ABC", "http://example.com/"),
    ("http://example.com/?ASPSESSIONIDQQ=AB&x=1", "http://example.com/?x=1"),
    ("http://example.com/?CFID=12&CFTOKEN=34&x=1", "http://example.com/?x=1"),
    ("http://example.com/?CFID=12", "http://example.com/?CFID=12"),
    ("http://example.com/?sid=12", "http://example.com/?sid=12"),
    (
        "http://example.com/?sid=introduction-to-web-crawling",
        "http://example.com/?sid=introduction-to-web-crawling",
    ),
    (f"http://example.com/?t=1&sid={HEX32}", "http://example.com/?t=1"),
    (f"http://example.com/?osCsid={HEX32}", "http://example.com/"),
    (f"http://example.com/?id={HEX32}", f"http://example.com/?id={HEX32}"),
    # URLs with credentials are rejected.
    ("http://user@example.com/", None),
    ("http://user:pass@example.com/", None),
    ("http://:pass@example.com/", None),
    ("http://@example.com/", "http://example.com/"),
    ("http://:@example.com/", "http://example.com/"),
    ("http://example.com/@user", "http://example.com/@user"),
    ("http://example.com/?a=b@c", "http://example.com/?a=b@c"),
    # Other URLs that are rejected.
    ("", None),
    ("page.html", None),
    ("//example.com/", None),
    ("http://", None),
    ("http://a b/", None),
    ("http://example.com:99999/", None),
    ("ftp://example.com/", None),
    ("mailto:a@example.com", None),
    ("javascript:void(0)", None),
    ("data:text/html,hi", None),
    ("httpx://example.com/", None),
    # The length of the canonical form is limited.
    ("http://e.com/" + "a" * (MAX_LENGTH - 13), "http://e.com/" + "a" * (MAX_LENGTH - 13)),
    ("http://e.com/" + "a" * (MAX_LENGTH - 12), None),
    ("http://e.com/#" + "a" * MAX_LENGTH, "http://e.com/"),
    ("http://e.com/#" + "a" * 1_000_000, None),
    ("http://e.com/" + "é" * 400, None),
]


@pytest.mark.paper("personalized-validate")
@each(CANONICAL)
def test_canonical_returns_expected_form(url: str, expected: str | None) -> None:
    assert canonical(url) == expected


def test_resolve_keeps_order_and_base() -> None:
    hrefs = [
        "b",
        "/c?utm_source=x",
        "#top",
        "",
        "//other.example/",
        "mailto:x@y.z",
        "b",
        "http://u@h/",
        "?q=1",
    ]
    assert resolve("http://example.com/dir/a?z#f", hrefs) == [
        "http://example.com/dir/b",
        "http://example.com/c",
        "http://example.com/dir/a?z",
        "http://example.com/dir/a?z",
        "http://other.example/",
        None,
        "http://example.com/dir/b",
        None,
        "http://example.com/dir/a?q=1",
    ]


def test_resolve_against_invalid_base_is_none() -> None:
    assert resolve("not a url", ["a", "http://example.com/"]) == [None, None]


def test_resolve_replaces_lone_surrogates() -> None:
    assert resolve("http://example.com/", ["/\ud800", "\ud83d\ude00"]) == [
        "http://example.com/%EF%BF%BD",
        "http://example.com/%F0%9F%98%80",
    ]


PARAMETER = st.sampled_from(
    [
        "a=1",
        "b",
        "",
        "utm_source=x",
        "gclid=1",
        "PHPSESSID=1",
        "CFID=1",
        "CFTOKEN=2",
        f"sid={HEX32}",
        "sid=1",
        "é=%C3",
    ]
)
SEGMENT = st.sampled_from(
    [
        "a",
        "",
        ".",
        "..",
        "%2e",
        "%2E%2e",
        ";jsessionid=1",
        "..;jsessionid=a",
        ";jses;jsessionid=1",
        "a;b",
        "@",
        ":",
        "é",
    ]
)
URL = st.builds(
    lambda scheme, where, segments, parameters, fragment: (
        f"{scheme}://{where}/{'/'.join(segments)}" + ("?" + "&".join(parameters) if parameters else "") + fragment
    ),
    st.sampled_from(["http", "HTTPS", "ftp"]),
    st.sampled_from(["example.com", "EXAMPLE.com:80", "a@b.example", "@b.example", "[::1]:8080", "1.2.3", "bücher.de"]),
    st.lists(SEGMENT, max_size=5),
    st.lists(PARAMETER, max_size=5),
    st.sampled_from(["", "#", "#a?b;jsessionid=1", " "]),
)


@pytest.mark.paper("rules-normalise")
@given(URL | st.text(max_size=60) | st.text(max_size=60).map("http://example.com/".__add__))
def test_canonical_is_idempotent(url: str) -> None:
    once = canonical(url)
    if once is not None:
        assert canonical(once) == once
        assert is_http(once)
        assert len(once) <= MAX_LENGTH
        assert once.startswith(origin(once) + "/")
        assert host(once) in origin(once)
        assert "#" not in once


@given(URL, URL)
def test_resolve_equals_canonical_for_absolute_urls(url: str, base: str) -> None:
    if parse(base) is not None:
        assert resolve(base, [url, url]) == [canonical(url)] * 2


@each(
    [
        ("http://example.com/", "example.com", "http://example.com", "example.com"),
        (
            "https://a.b.example.co.uk:8443/x:y/z",
            "a.b.example.co.uk",
            "https://a.b.example.co.uk:8443",
            "example.co.uk",
        ),
        ("http://a/", "a", "http://a", "a"),
        ("http://localhost:1/", "localhost", "http://localhost:1", "localhost"),
        ("http://127.0.0.1:80/", "127.0.0.1", "http://127.0.0.1:80", "127.0.0.1"),
        ("http://[::1]/", "[::1]", "http://[::1]", "[::1]"),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]", "http://[2001:db8::1]:8080", "[2001:db8::1]"),
        ("http://www.example.com./", "www.example.com.", "http://www.example.com.", "example.com"),
        ("http://me.github.io/", "me.github.io", "http://me.github.io", "me.github.io"),
        ("http://github.io/", "github.io", "http://github.io", "github.io"),
        ("http://a.xn--bcher-kva.de/", "a.xn--bcher-kva.de", "http://a.xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("http://a.b.xn--55qx5d.cn/", "a.b.xn--55qx5d.cn", "http://a.b.xn--55qx5d.cn", "b.xn--55qx5d.cn"),
    ]
)
def test_host_origin_and_site_are_cut_from_url(
    url: str, expected_host: str, expected_origin: str, expected_site: str
) -> None:
    assert (host(url), origin(url), site(url), site(host(url))) == (
        expected_host,
        expected_origin,
        expected_site,
        expected_site,
    )


@each([("http://a/", True), ("https://a/", True), ("ftp://a/", False)])
def test_is_http_accepts_http_and_https(url: str, expected: bool) -> None:
    assert is_http(url) is expected
