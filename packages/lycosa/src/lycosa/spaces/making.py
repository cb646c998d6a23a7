"""Create a space from the options of a crawl."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.options import FILES, Options
from lycosa.core.protocols import Clock, Space
from lycosa.core.spec import check_parts, format_spec, parse_spec
from lycosa.spaces import SPACES
from lycosa.spaces.web_space import WebSpace
from lycosa.version import SOFTWARE
from lycosa.web.credentials import Credentials
from lycosa.web.documents.kinds import parse_kinds
from lycosa.web.fetch import PROXY_LOGIN_VARIABLE, FetchLimits, HttpTransport, ProxySettings
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness, SharedPoliteness
from lycosa.web.robots import product
from lycosa.web.signing import Identity, Signer

PROBE_AFTER = 3  # pages of a host before it is probed with a URL that cannot exist


def make_space(
    options: Options,
    clock: Clock,
    on_proxy_failure: Callable[[str], None] = lambda why: None,
    authority: SharedPoliteness | None = None,
    **known: Any,
) -> Space:
    """Create the space of the options. `known` has more arguments; `on_proxy_failure` is called if the proxy fails."""
    name, given = parse_spec(options.space)
    if name == "web":
        if given:
            raise InputError(
                "unknown-option", f"the web space has no parameter {next(iter(given))!r}: use the options of the crawl"
            )
        return web_space(options, clock, on_proxy_failure, authority=authority)
    accept = SPACES[name].accept if name in SPACES else ()
    known |= {"web": web_space(options, clock, on_proxy_failure, accept, authority), "clock": clock}
    space: Space = SPACES.make(name, given, **known)
    if name not in SPACES:
        check_parts(space, ("visit", "host_key", "ready", "prerequisite", "learn"), name)
    return space


def with_absolute_paths(space: str) -> str:
    """Return the same space with absolute file names, because the files are not part of the crawl.

    >>> with_absolute_paths("graph,file=/data/links.tsv,scores=/data/a/../scores.tsv")
    'graph,file=/data/links.tsv,scores=/data/scores.tsv'
    """
    name, given = parse_spec(space)
    files = {key: os.path.abspath(given[key]) for key in FILES if given.get(key)}
    return format_spec(name, {**given, **files}) if files else space


def web_space(
    options: Options,
    clock: Clock,
    on_proxy_failure: Callable[[str], None] = lambda why: None,
    accept: Iterable[str] = (),
    authority: SharedPoliteness | None = None,
) -> WebSpace:
    """Create the web space. `accept` adds content types; `on_proxy_failure` is called if the proxy fails.

    Crawls that share an `authority` share their delays and send one request at a time to a host.
    """
    guard, names, proxy = guard_of(options), DnsCache(clock), None
    if options.proxy or options.proxy_ca:
        proxy = ProxySettings(options.proxy, options.proxy_ca, os.environ.get(PROXY_LOGIN_VARIABLE, ""))
        proxy.check()
    address_delay = 0.0 if proxy else options.address_delay  # all hosts would share the proxy's address
    free = guard.in_allowed_network
    if authority is not None:
        politeness: Politeness = authority.view(clock, delay=options.delay, address_delay=address_delay, free=free)
    else:
        politeness = Politeness(
            clock, delay=options.delay, at_once=options.per_host, address_delay=address_delay, free=free
        )
    try:
        parse_kinds(options.documents)
    except ValueError as error:
        raise InputError("bad-value", f"--documents is {options.documents!r}: {error}") from error
    limits = FetchLimits(body=options.max_body, seconds=options.timeout, rate=options.min_rate)
    return WebSpace(
        HttpTransport(clock, guard, names, politeness, limits, proxy, on_proxy_failure),
        politeness,
        clock,
        None if proxy else names,
        user_agent=user_agent(options),
        accept=[*options.accept, *accept],
        languages=options.languages,
        largest=options.max_page,
        attempts=options.attempts,
        follow_nofollow=options.follow_nofollow,
        probe_after=PROBE_AFTER if options.traps else 0,
        sitemaps=options.sitemaps,
        whole_text=options.whole_text,
        readers=options.readers,
        documents=options.documents,
        signer=signer_of(options),
        respect=options.respect_opt_outs,
        credentials=Credentials(options.headers, options.cookies, clock),
    )


def wall_clock() -> Clock:
    """Return a monotonic clock that starts at the time of day."""
    # Includes suspended time where the system supports it.
    ticking = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    ahead = time.time() - time.clock_gettime(ticking)
    return lambda: ahead + time.clock_gettime(ticking)


def user_agent(options: Options) -> str:
    agent = options.user_agent or f"{SOFTWARE} (focused crawler; obeys robots.txt)"
    if options.contact:
        agent = f"{agent} (+{options.contact})"
    if not re.fullmatch(r"[\x20-\x7e]+", agent) or not product(agent):
        message = f"the user agent {agent!r} must be one line of plain ASCII that begins with a name"
        raise InputError("bad-user-agent", message)
    return agent


def signer_of(options: Options) -> Signer | None:
    return Signer(Identity.load(Path(options.identity))) if options.identity else None


def guard_of(options: Options) -> Guard:
    try:
        return Guard(options.allow_network)
    except ValueError as error:
        raise InputError("bad-network", f"--allow-network: {error}") from error
