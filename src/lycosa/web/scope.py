"""How far a crawl may go: hosts, domains, URL patterns, depth. Without any of them: anywhere the seeds lead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.web.urls import canonical, host


class Scope:
    """Whether a URL found at some depth may join the frontier.

    >>> scope = Scope(domains=["example.org"], exclude=["/private/"])
    >>> scope("http://www.example.org/a", 1), scope("http://example.org/private/a", 1), scope("http://other.net/", 1)
    (True, False, False)
    """

    def __init__(
        self,
        hosts: Iterable[str] = (),
        domains: Iterable[str] = (),
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_depth: int = 0,
    ) -> None:
        self.hosts = frozenset(typed_host(name) for name in hosts)
        self.domains = tuple(typed_host(name.lstrip(".*")) for name in domains)
        self.include = compiled(include)
        self.exclude = compiled(exclude)
        self.max_depth = max_depth
        self._anywhere = not self.hosts and not self.domains
        self._known: dict[str, bool] = {}

    @classmethod
    def of(cls, options: Options) -> Scope:
        """What a crawl's options say of it."""
        return cls(options.hosts, options.domains, options.include, options.exclude, options.max_depth)

    def __call__(self, url: str, depth: int) -> bool:
        """True if the URL may be fetched."""
        if self.max_depth and depth > self.max_depth:
            return False
        if not self._anywhere and not self._has(host(url)):
            return False
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return False
        return not any(pattern.search(url) for pattern in self.exclude)

    def _has(self, name: str) -> bool:
        inside = self._known.get(name)
        if inside is None:
            inside = name in self.hosts or any(name == domain or name.endswith("." + domain) for domain in self.domains)
            if len(self._known) > 100_000:
                self._known.clear()
            self._known[name] = inside
        return inside


def typed_host(name: str) -> str:
    """A host as canonical URLs write it, from what a person may have typed: with scheme, port, path, capitals."""
    name = name.strip().split("://")[-1].split("/")[0].rstrip(".")
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    url = canonical(f"http://{name}/")
    if url is None:
        raise InputError(f"{name!r} is not a host name: write it like www.example.org")
    return host(url)


def compiled(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    """Patterns of addresses, ready for use."""
    expressions = []
    for pattern in patterns:
        try:
            expressions.append(re.compile(pattern))
        except re.error as error:
            raise InputError(f"the URL pattern {pattern!r} is not a regular expression: {error}") from error
    return expressions
