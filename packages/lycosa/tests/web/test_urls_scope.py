"""How far a crawl may go: tables of cases."""

from input_errors import raises_input_error
from lycosa.web.urls import Scope
from tables import each


@each(
    [
        (Scope(), "http://anywhere.test/", True),
        (Scope(hosts=["a.test"]), "http://a.test/x", True),
        (Scope(hosts=["a.test"]), "https://a.test:8443/x", True),
        (Scope(hosts=["a.test"]), "http://www.a.test/", False),
        (Scope(hosts=["a.test", "b.test"]), "http://b.test/", True),
        (Scope(hosts=["http://A.test:80/path"]), "http://a.test/", True),
        (Scope(hosts=[" a.test "]), "http://a.test/", True),
        (Scope(hosts=["[::1]"]), "http://[::1]:8080/", True),
        (Scope(domains=["a.test"]), "http://a.test/", True),
        (Scope(domains=["a.test"]), "http://deep.www.a.test/", True),
        (Scope(domains=[".a.test"]), "http://www.a.test/", True),
        (Scope(domains=["a.test"]), "http://nota.test/", False),
        (Scope(domains=["a.test"]), "http://a.test.evil.test/", False),
        (Scope(hosts=["x.test"], domains=["a.test"]), "http://www.a.test/", True),
        (Scope(include=["/docs/"]), "http://a.test/docs/x", True),
        (Scope(include=["/docs/"]), "http://a.test/blog/x", False),
        (Scope(include=["/docs/", r"\.html$"]), "http://a.test/blog/x.html", True),
        (Scope(exclude=["/private/"]), "http://a.test/private/x", False),
        (Scope(include=["a|b"], exclude=["c"]), "http://a.test/c", False),
        (Scope(include=["^http://a"], exclude=["x$"]), "http://a.test/", True),
        (Scope(domains=["a.test"], include=["/docs/"]), "http://b.test/docs/", False),
    ]
)
def test_urls(scope: Scope, url: str, inside: bool) -> None:
    """Hosts and domains, then patterns: all of them have to agree."""
    assert inside == scope(url, 1)
    assert inside == scope(url, 1)  # the second time from memory


@each([(0, 999, True), (2, 2, True), (2, 3, False), (1, 0, True)])
def test_depth(limit: int, depth: int, inside: bool) -> None:
    """Links from a seed are counted; 0 is no limit."""
    assert inside == Scope(max_depth=limit)("http://a.test/", depth)


@each(["include", "exclude"])
def test_wrong_patterns_are_named(where: str) -> None:
    """A pattern that is no regular expression is refused by its text."""
    with raises_input_error("bad-pattern", match=r"'\('"):
        Scope(**{where: ["fine", "("]})  # type: ignore[arg-type]


@each(
    [
        ("bücher.test", "http://xn--bcher-kva.test/"),
        ("a.test.", "http://a.test/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("::1", "http://[::1]/"),
    ]
)
def test_hosts_as_people_type_them(name: str, url: str) -> None:
    """Names beyond ASCII, with a final dot, and IPv6 addresses with a port or without brackets are understood."""
    assert Scope(hosts=[name])(url, 1)


@each([["(?i)DOCS"], ["(?P<a>x)", "(?P<a>docs)"], ["(q)", r"/(d)\1/"]])
def test_patterns_do_not_disturb_each_other(patterns: list[str]) -> None:
    """Each pattern matches as if it were alone: with flags, groups and references of its own."""
    assert Scope(include=patterns)("http://a.test/docs/dd/", 1)


@each(["", "a b.test", "http://", "[::1"])
def test_what_is_no_host(name: str) -> None:
    """What can't be a host is refused, rather than leaving everything outside."""
    with raises_input_error("bad-host"):
        Scope(hosts=[name])


def test_a_star_before_a_domain() -> None:
    """People write *.a.test for a.test and all below it."""
    assert Scope(domains=["*.a.test"])("http://www.a.test/", 1)
