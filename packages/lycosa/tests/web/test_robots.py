"""Robots rules: RFC 9309 by a table of cases, hostile files, and the files of two thousand real sites."""

# ruff: noqa: E501 - a case of the table is easier to read as one line

import pickle
import tarfile

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lycosa.web.robots import MAX_BYTES, MAX_WILD, RobotsRules, verdict
from places import CORPORA
from tables import each

REAL = CORPORA.parent / "conformance" / "robots-txt.tar.zst"
AGENT = "Lycosa/1.0 (+http://example.com/bot)"

# (case, file, expected results by path)
TABLE: list[tuple[str, str, dict[str, bool]]] = [
    ("no file", "", {"/": True, "/a": True}),
    ("no group", "Disallow: /", {"/": True}),
    ("another agent only", "User-agent: other\nDisallow: /", {"/a": True}),
    ("the star group", "User-agent: *\nDisallow: /", {"/": False, "/a?b": False}),
    ("a named group", "User-agent: lycosa\nDisallow: /a", {"/a": False, "/b": True}),
    ("the token in any case", "user-agent: LYCOSA\ndisallow: /a", {"/a": False}),
    ("the token with a version", "User-agent: Lycosa/2.0\nDisallow: /a", {"/a": False}),
    ("a longer token is another agent", "User-agent: lycosa-news\nDisallow: /", {"/a": True}),
    ("a shorter token is another agent", "User-agent: lycos\nDisallow: /", {"/a": True}),
    ("a named group beats the star", "User-agent: *\nDisallow: /\n\nUser-agent: lycosa\nDisallow: /a", {"/b": True, "/a": False}),
    ("so it does before the star", "User-agent: lycosa\nDisallow: /a\n\nUser-agent: *\nDisallow: /", {"/b": True, "/a": False}),
    ("a named group that allows all", "User-agent: *\nDisallow: /\n\nUser-agent: lycosa\nDisallow:", {"/b": True}),
    ("a named group without rules", "User-agent: *\nDisallow: /\n\nUser-agent: lycosa", {"/b": True}),
    (
        "groups of one agent are merged",
        "User-agent: lycosa\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: lycosa\nDisallow: /b",
        {"/a": False, "/b": False, "/x": True},
    ),
    ("star groups are merged", "User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b", {"/a": False, "/b": False}),
    ("several agents share a group", "User-agent: x\nUser-agent: lycosa\nDisallow: /a", {"/a": False}),
    ("the star among several agents", "User-agent: x\nUser-agent: *\nUser-agent: y\nDisallow: /a", {"/a": False}),
    ("an empty line ends no group", "User-agent: lycosa\n\nDisallow: /a\n\n\nDisallow: /b", {"/a": False, "/b": False}),
    ("an empty line between agents", "User-agent: lycosa\n\nUser-agent: x\nDisallow: /a", {"/a": False}),
    ("a sitemap ends no group", "User-agent: lycosa\nSitemap: http://e.com/s\nDisallow: /a", {"/a": False}),
    ("a sitemap between agents", "User-agent: lycosa\nSitemap: http://e.com/s\nUser-agent: x\nDisallow: /a", {"/a": False}),
    ("an unknown key between agents", "User-agent: lycosa\nHost: e.com\nUser-agent: x\nDisallow: /a", {"/a": False}),
    ("an unknown key between rules", "User-agent: *\nDisallow: /a\nNoindex: /c\nDisallow: /b", {"/a": False, "/b": False, "/c": True}),
    ("a rule ends the list of agents", "User-agent: lycosa\nDisallow: /a\nUser-agent: x\nDisallow: /b", {"/b": True}),
    ("an empty rule ends it too", "User-agent: lycosa\nDisallow:\nUser-agent: x\nDisallow: /b", {"/b": True}),
    ("a star with more behind it is not a star", "User-agent: *bot\nDisallow: /", {"/a": True}),
    ("a star with a comment", "User-agent: * # all\nDisallow: /a", {"/a": False}),
    ("the longest match", "User-agent: *\nAllow: /a/b\nDisallow: /a\nDisallow: /a/b/c", {"/a": False, "/a/b": True, "/a/b/c": False}),
    ("whatever the order", "User-agent: *\nDisallow: /a/b/c\nDisallow: /a\nAllow: /a/b", {"/a": False, "/a/b": True, "/a/b/c": False}),
    ("allow wins a tie", "User-agent: *\nDisallow: /a\nAllow: /a", {"/a": True}),
    ("allow wins a tie written first", "User-agent: *\nAllow: /a\nDisallow: /a", {"/a": True}),
    ("a tie of different patterns", "User-agent: *\nDisallow: /a*c\nAllow: /abc", {"/abc": True, "/axc": False}),
    ("a tie of wildcards", "User-agent: *\nDisallow: /*/b\nAllow: /a/*", {"/a/b": True, "/c/b": False}),
    ("stars count as octets", "User-agent: *\nAllow: /page\nDisallow: /*.htm", {"/page": True, "/page.htm": False}),
    ("the anchor counts as an octet", "User-agent: *\nAllow: /$\nDisallow: /", {"/": True, "/a": False, "/?a": False}),
    ("a prefix, not a segment", "User-agent: *\nDisallow: /fish", {"/fish.html": False, "/fishheads/a": False, "/Fish": True, "/a/fish": True}),
    ("a trailing star changes nothing", "User-agent: *\nDisallow: /fish*", {"/fish": False, "/fishes?a": False, "/fis": True}),
    ("a trailing slash", "User-agent: *\nDisallow: /fish/", {"/fish/a": False, "/fish": True, "/fish.html": True}),
    ("a star inside", "User-agent: *\nDisallow: /*.php", {"/a.php": False, "/a/b.php5?c": False, "/a.PHP": True, "/php": True}),
    ("a star matches nothing too", "User-agent: *\nDisallow: /a*b", {"/ab": False, "/axxb": False, "/a": True}),
    ("an anchored star", "User-agent: *\nDisallow: /*.php$", {"/a.php": False, "/a.php?b": True, "/a.php/": True, "/.php": False}),
    ("the tail after the middle", "User-agent: *\nDisallow: /*ab*ab$", {"/ab": True, "/abab": False, "/aab": True, "/ab/x/ab": False}),
    ("head and tail may not overlap", "User-agent: *\nDisallow: /aba*aba$", {"/aba": True, "/ababa": True, "/abaaba": False}),
    ("a star then the end", "User-agent: *\nDisallow: /a*$", {"/a": False, "/ab": False, "/b": True}),
    ("several stars", "User-agent: *\nDisallow: /a**b***c", {"/abc": False, "/a1b2c3": False, "/acb": True}),
    ("a leading star", "User-agent: *\nDisallow: *.pdf", {"/a.pdf": False, "/a": True}),
    ("a star alone", "User-agent: *\nDisallow: *", {"/": False, "/a": False}),
    ("an anchor", "User-agent: *\nDisallow: /a$", {"/a": False, "/ab": True, "/a?": True}),
    ("a dollar inside is a dollar", "User-agent: *\nDisallow: /a$b", {"/a$b": False, "/a%24b": False, "/a": True}),
    ("an encoded dollar is not an anchor", "User-agent: *\nDisallow: /a%24", {"/a$b": False, "/a": True}),
    ("an encoded star is a star", "User-agent: *\nDisallow: /f-%2A.html", {"/f-*.html": False, "/f-%2a.html": False, "/f-x.html": True}),
    ("an empty disallow", "User-agent: *\nDisallow:", {"/": True}),
    ("an empty disallow beside another", "User-agent: *\nDisallow:\nDisallow: /a", {"/a": False, "/b": True}),
    ("an empty allow", "User-agent: *\nAllow:\nDisallow: /", {"/a": False}),
    ("a pattern without a slash", "User-agent: *\nDisallow: a", {"/a": True, "/": True}),
    ("robots.txt itself", "User-agent: *\nDisallow: /", {"/robots.txt": True, "/robots.txt?a": True, "/robots.txt.bak": False}),
    ("robots.txt named", "User-agent: *\nDisallow: /robots.txt", {"/robots.txt": True, "/robots.txts": False}),
    ("the query", "User-agent: *\nDisallow: /*?", {"/a?": False, "/a?b=c": False, "/a": True}),
    ("a parameter", "User-agent: *\nDisallow: /*?*sid=\nAllow: /ok?sid=1$", {"/a?b&sid=1": False, "/ok?sid=1": True, "/sid=": True}),
    ("path parameters", "User-agent: *\nDisallow: /a;b", {"/a;b=1": False, "/a": True}),
    # The table of section 2.2.2 of the RFC.
    ("the query as it is", "User-agent: *\nDisallow: /foo/bar?baz=quz", {"/foo/bar?baz=quz": False, "/foo/bar?baz=qux": True}),
    (
        "a URL in the query",
        "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar",
        {"/foo/bar?baz=https%3A%2F%2Ffoo.bar": False, "/foo/bar?baz=https://foo.bar": False},
    ),
    (
        "a URL in the query, encoded",
        "User-agent: *\nDisallow: /foo/bar?baz=https%3a%2F%2Ffoo.bar",
        {"/foo/bar?baz=https%3A%2F%2Ffoo.bar": False, "/foo/bar?baz=https://foo.bar": False},
    ),
    ("letters beyond ASCII", "User-agent: *\nDisallow: /foo/bar/ツ", {"/foo/bar/%E3%83%84": False, "/foo/bar/%e3%83%84": False}),
    ("encoded letters", "User-agent: *\nDisallow: /foo/bar/%E3%83%84", {"/foo/bar/%E3%83%84": False, "/foo/bar/ツ": False}),
    ("unreserved letters, encoded", "User-agent: *\nDisallow: /foo/bar/%62%61%7A", {"/foo/bar/baz": False, "/foo/bar/%62az": False}),
    ("encoded in the URL", "User-agent: *\nDisallow: /foo/bar/baz", {"/foo/bar/%62%61%7a": False}),
    ("a tilde", "User-agent: *\nDisallow: /%7Ejoe/", {"/~joe/a": False, "/%7ejoe/": False}),
    ("an encoded slash is not a slash", "User-agent: *\nDisallow: /a%2fb", {"/a%2Fb": False, "/a/b": True}),
    ("a slash is not an encoded slash", "User-agent: *\nDisallow: /a/b", {"/a/b": False, "/a%2fb": True}),
    ("an encoded reserved character is not itself", "User-agent: *\nDisallow: /*%26", {"/a?b%26c": False, "/a?b&c": True}),
    ("a delay ends no list of agents", "User-agent: *\nCrawl-delay: 9\n\nUser-agent: x\nDisallow: /", {"/a": False}),
    ("a space", "User-agent: *\nDisallow: /a b", {"/a%20b": False, "/a": True}),
    ("braces and quotes", "User-agent: *\nDisallow: /{a}?'", {"/%7Ba%7D?%27": False, "/{a}?'b": False}),
    ("a stray percent sign", "User-agent: *\nDisallow: /100%/a", {"/100%/a": False, "/100%25/a": True}),
    ("length counts octets", "User-agent: *\nAllow: /%C3%A9\nDisallow: /*éa", {"/%C3%A9": True, "/%C3%A9a": False}),
    # Line formats.
    ("a byte order mark", "\ufeffUser-agent: *\nDisallow: /a", {"/a": False}),
    ("carriage returns", "User-agent: *\rDisallow: /a\rDisallow: /b", {"/a": False, "/b": False}),
    ("both line ends", "User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n", {"/a": False, "/b": False}),
    ("other separators end no line", "User-agent: *\nDisallow: /a\u2028Allow: /a", {"/a": True, "/a%E2%80%A8Allow:%20/a": False}),
    ("comments", "# x\nUser-agent: * # y\nDisallow: /a # z\n#Disallow: /b\nDisallow: /c#d", {"/a": False, "/b": True, "/c": False}),
    ("a comment line in a group", "User-agent: *\n# Disallow: /x\nDisallow: /a", {"/a": False, "/x": True}),
    ("white space", " \tUser-agent \t:\t * \t\n  Disallow  :  /a  ", {"/a": False, "/b": True}),
    ("no space", "User-agent:*\nDisallow:/a", {"/a": False}),
    ("keys in any case", "USER-AGENT: *\nDISALLOW: /a\nALLOW: /a/b", {"/a": False, "/a/b": True}),
    ("a missing colon", "User-agent *\nDisallow /a", {"/a": False, "/b": True}),
    ("misspelled keys", "Useragent: *\nDissallow: /a\nDisalow: /b", {"/a": False, "/b": False}),
    ("a colon in the value", "User-agent: *\nDisallow: /a:b", {"/a:b": False, "/a": True}),
    ("a page instead", "<!doctype html><title>404: Disallow: /</title>\n<p>User-agent: none", {"/": True}),
    ("zero bytes", "\x00\x00\x00", {"/": True}),
]  # fmt: skip


@pytest.mark.paper("rules-robots")
@each(TABLE)
def test_allowed_follows_rfc_9309(case: str, body: str, expected: dict[str, bool]) -> None:
    rules = RobotsRules.parse(body.encode(), AGENT)
    assert {path: rules.allowed("http://example.com" + path) for path in expected} == expected


def test_allowed_uses_path_and_query_only() -> None:
    rules = RobotsRules.parse(b"User-agent: *\nDisallow: /$\nDisallow: /a$", AGENT)
    urls = [
        "http://e.com",
        "https://e.com:8443/",
        "http://e.com/#x",
        "http://e.com/a#b",
        "http://[::1]/a",
        "http://e/b",
    ]
    assert [rules.allowed(url) for url in urls] == [False, False, False, False, False, True]


@each(["Lycosa", "lycosa", "Lycosa/1.0", "lycosa/1.0 (+http://example.com)", " LYCOSA "])
def test_parse_matches_product_token(agent: str) -> None:
    assert not RobotsRules.parse(b"User-agent: Lycosa\nDisallow: /", agent).allowed("http://e.com/a")


def test_allowed_matches_bytes_of_older_charsets() -> None:
    rules = RobotsRules.parse(b"User-agent: *\nDisallow: /caf\xe9\nSitemap: http://e.com/\xe9", AGENT)
    assert not rules.allowed("http://e.com/caf%E9")
    assert rules.allowed("http://e.com/caf%C3%A9")
    assert rules.sitemaps == ("http://e.com/\ufffd",)


@each(
    [
        ("Crawl-delay: 10", 10.0),
        ("crawl-delay:0.5", 0.5),
        ("Crawl-delay: .5", 0.5),
        ("Crawl-delay: 5.", 5.0),
        ("Crawl-delay: 0", 0.0),
        ("Crawl-delay: 10 # seconds", 10.0),
        ("Crawl-delay: 2\nCrawl-delay: 7\nCrawl-delay: 3", 7.0),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: 1e3", None),
        ("Crawl-delay: 1_0", None),
        ("Crawl-delay: 10s", None),
        ("Crawl-delay: ", None),
        ("Crawl-delay: 86401", None),
        ("Crawl-delay: " + "9" * 5_000, None),
        ("Disallow: /", None),
    ]
)
def test_parse_returns_crawl_delay(line: str, expected: float | None) -> None:
    assert RobotsRules.parse(f"User-agent: *\n{line}".encode(), AGENT).crawl_delay == expected


def test_parse_returns_crawl_delay_of_group() -> None:
    body = b"User-agent: *\nCrawl-delay: 9\nDisallow: /a\n\nUser-agent: lycosa\nCrawl-delay: 3\nUser-agent: x\nDisallow: /b"
    named, other, late = (RobotsRules.parse(body, agent) for agent in ["lycosa", "someone", "x"])
    assert (named.crawl_delay, other.crawl_delay, late.crawl_delay) == (3.0, 9.0, None)
    assert [rules.allowed("http://e.com/b") for rules in (named, other, late)] == [False, True, False]


def test_parse_returns_sitemaps_of_whole_file() -> None:
    body = b"Sitemap: http://e.com/1\nUser-agent: x\nsitemap:http://e.com/2\nDisallow: /\nSitemap: http://e.com/1\nSitemap:"
    assert RobotsRules.parse(body, AGENT).sitemaps == ("http://e.com/1", "http://e.com/2")


@each(
    [
        *[(status, "parse") for status in (200, 203, 206, 299)],
        *[(status, "allow") for status in (301, 302, 308, 400, 401, 403, 404, 410, 418, 451, 499)],
        *[(status, "forbid") for status in (None, 429, 500, 502, 503, 599, 600, 0, 100, 199)],
    ]
)
def test_verdict_depends_on_status(status: int | None, expected: str) -> None:
    assert verdict(status) == expected


def test_allowed_follows_rules_for_whole_site() -> None:
    forbidding = RobotsRules([(False, "/")])
    for url in ["http://e.com/", "http://e.com", "http://e.com/a?b"]:
        assert RobotsRules.ALLOW_ALL.allowed(url)
        assert not forbidding.allowed(url)
    assert forbidding.allowed("http://e.com/robots.txt")


def test_rules_survive_pickling() -> None:
    rules = RobotsRules.parse(
        b"User-agent: *\nDisallow: /a*b\nDisallow: /c\nCrawl-delay: 2\nSitemap: http://e/s", AGENT
    )
    again = pickle.loads(pickle.dumps(rules))
    assert [again.allowed(f"http://e.com/{path}") for path in ("axb", "c", "d")] == [False, False, True]
    assert (again.crawl_delay, again.sitemaps) == (2.0, ("http://e/s",))


@each([(b"Disallow: /abc", True), (b"Disallow: /abc\n", False), (b"Disallow: /abc\nDisallow: /", False)])
def test_parse_ignores_bytes_beyond_500_kib(last: bytes, expected: bool) -> None:
    head = b"User-agent: *\n"
    # Without a line end the last line crosses the limit; with one it ends right before it.
    line = last.partition(b"\n")[0]
    body = head + b"#" * (MAX_BYTES - len(head) - 1 - len(line)) + b"\n" + last
    assert body[:MAX_BYTES].endswith(line)
    if b"\n" not in last:
        body += b"def\nDisallow: /"
    rules = RobotsRules.parse(body, AGENT)
    assert rules.allowed("http://e.com/abc") is expected


HOSTILE = {
    "one rule of many stars": b"Disallow: /" + b"*a" * 50 + b"*b\n",
    "one endless rule": b"Disallow: /" + b"*a" * 250_000 + b"*b\n",
    "nothing but stars": b"Disallow: /" + b"*" * 500_000 + b"b\n",
    "anchored": b"Disallow: /" + b"*a" * 50 + b"*b$\n",
    "repetitive parts": b"Disallow: /" + b"*" + b"a" * 900 + b"b*" + b"a" * 900 + b"b\n",
    "many rules": b"".join(b"Disallow: /*a%d*b\n" % i for i in range(25_000)),
    "many long rules": b"".join(b"Disallow: /*" + b"a*" * 120 + b"%db\n" % i for i in range(2_000)),
    "many lengths": b"".join(b"Disallow: /" + b"x" * i + b"\n" for i in range(1_000)),
}


@each(HOSTILE.values())
def test_allowed_takes_linear_time(body: bytes) -> None:
    rules = RobotsRules.parse(b"User-agent: *\n" + body, AGENT)
    assert rules.allowed("http://example.com/" + "a" * 1_980) in (True, False)


def test_parse_bounds_wildcard_rules() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /x*%d\n" % i for i in range(MAX_WILD))
    rules = RobotsRules.parse(body + b"Disallow: /y*z\nAllow: /y*longer\nDisallow: /x*7\n", AGENT)
    answers = {path: rules.allowed("http://e.com/" + path) for path in ["x-7", "x-", "yaz", "ya", "y-longer", "z"]}
    assert answers == {"x-7": False, "x-": True, "yaz": False, "ya": False, "y-longer": False, "z": True}


def _slow_match(pattern: str, path: str) -> bool:
    if not pattern or pattern == "$":
        return not pattern or not path
    if pattern[0] == "*":
        return any(_slow_match(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return path[:1] == pattern[0] and _slow_match(pattern[1:], path[1:])


@given(st.text("ab*", max_size=8), st.sampled_from(["", "$"]), st.text("ab", max_size=10))
def test_allowed_agrees_with_definition(pattern: str, anchor: str, path: str) -> None:
    rules = RobotsRules([(False, f"/{pattern}{anchor}")])
    assert rules.allowed(f"http://e.com/{path}") is not _slow_match(pattern + anchor, path)


@given(st.binary(max_size=300))
def test_parse_never_raises(body: bytes) -> None:
    rules = RobotsRules.parse(b"User-agent: *\n" + body, AGENT)
    assert rules.allowed("http://e.com/a") in (True, False)


def test_parse_accepts_real_files() -> None:
    if not REAL.exists():
        pytest.skip("the corpus of real files is absent: shared/conformance/robots-txt.tar.zst")
    count = 0
    with (
        REAL.open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            entry = archive.extractfile(member)
            if entry is None:
                continue
            assert RobotsRules.parse(entry.read(), AGENT).allowed("http://example.com/robots.txt")
            count += 1
    assert count == 2_115
