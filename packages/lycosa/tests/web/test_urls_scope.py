"""The scope of a crawl."""

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
def test_scope_limits_hosts_domains_and_patterns(scope: Scope, url: str, inside: bool) -> None:
    assert inside == scope(url, 1)
    assert inside == scope(url, 1)  # cached


@each([(0, 999, True), (2, 2, True), (2, 3, False), (1, 0, True)])
def test_scope_excludes_urls_beyond_max_depth(limit: int, depth: int, inside: bool) -> None:
    assert inside == Scope(max_depth=limit)("http://a.test/", depth)


@each(["include", "exclude"])
def test_scope_names_bad_pattern(where: str) -> None:
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
def test_parse_host_accepts_typed_hosts(name: str, url: str) -> None:
    assert Scope(hosts=[name])(url, 1)


@each([["(?i)DOCS"], ["(?P<a>x)", "(?P<a>docs)"], ["(q)", r"/(d)\1/"]])
def test_scope_patterns_are_independent(patterns: list[str]) -> None:
    assert Scope(include=patterns)("http://a.test/docs/dd/", 1)


@each(["", "a b.test", "http://", "[::1"])
def test_parse_host_rejects_bad_names(name: str) -> None:
    with raises_input_error("bad-host"):
        Scope(hosts=[name])


def test_scope_accepts_star_before_domain() -> None:
    assert Scope(domains=["*.a.test"])("http://www.a.test/", 1)
