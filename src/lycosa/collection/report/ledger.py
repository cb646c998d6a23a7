"""Figures that add up visit by visit: hosts, failures, languages, remarks, runs.

What it keeps grows with the number of hosts (about half a kilobyte each), not with that of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lycosa.collection.report.causes import EXPECTED, FINE, FLAGS, explain
from lycosa.collection.report.figures import Cause, Host, Remark
from lycosa.core.budget import spent_on
from lycosa.core.types import Setting, Visit
from lycosa.web.robots import Rules

EXAMPLES = 5
"""Addresses shown for each failure."""

FLAGS_MOST = 50
"""Kinds of remarks that are counted: a space may invent its own."""


class Ledger:
    """Feed it the events of a log, in order."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.hosts: dict[str, Host] = {}
        self.number: dict[str, int] = {}
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.causes: dict[tuple[str, str], Cause] = {}
        self.languages: Counter[str] = Counter()
        self.found_languages: Counter[str] = Counter()
        self.flags: dict[str, Remark] = {}
        self.runs: list[list[float]] = []
        self.spent: Counter[str] = Counter()
        self.size = 0
        self.recovered = 0
        self._crawled: set[int] = set()
        self._looked: set[int] = set()

    def setting(self, event: Setting) -> None:
        """Every run begins with the threshold; a clean one ends with an end."""
        if event.key == "threshold" and event.at:
            self.runs.append([event.at, event.at])
        elif event.key == "end" and event.at and self.runs:
            self.runs[-1][1] = max(self.runs[-1][1], event.at)

    @property
    def crawls(self) -> list[list[float]]:
        """The runs that fetched what is new; those that only looked again took their time for something else."""
        crawled = [run for number, run in enumerate(self.runs) if number in self._crawled]
        # A refresh to which nothing was due neither fetched nor looked: such runs count only where there is no other.
        return crawled or [run for number, run in enumerate(self.runs) if number not in self._looked]

    def visit(self, visit: Visit, found: bool) -> int:
        """Count a visit; returns the number of its host."""
        host = self._host(visit.node)
        self.kinds[visit.kind, visit.outcome] += 1
        self.size += visit.size
        host.size += visit.size
        if what := spent_on(visit):
            self.spent[what] += 1
            self._time(host, visit)
        if "rest" in visit.data and isinstance(visit.data["rest"], float):
            host.rests += 1
            host.longest_rest = max(host.longest_rest, visit.data["rest"] - visit.ended)
        if visit.is_page:
            self._page(host, visit, found)
        elif visit.kind == "robots" and isinstance(visit.data.get("body"), bytes):
            self._robots(visit)
        if visit.outcome not in FINE and (visit.kind, visit.outcome) not in EXPECTED:
            self._failure(host, visit)
        return self.number[host.name]

    def _host(self, node: str) -> Host:
        name = host_of(node)
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = Host(name)
            self.number[name] = len(self.number)
        return host

    def _time(self, host: Host, visit: Visit) -> None:
        """How long it took, and how long the host was left alone before."""
        host.requests += 1
        host.seconds += max(0.0, visit.ended - visit.started)
        if not visit.ended:
            return
        if not self.runs:
            self.runs.append([visit.started, visit.ended])
        run = self.runs[-1]
        if visit.kind in ("page", "redirect"):
            self._crawled.add(len(self.runs) - 1)
        elif visit.kind == "revisit":
            self._looked.add(len(self.runs) - 1)
        if host.last_ended >= run[0]:  # in the same run
            pause = max(0.0, visit.started - host.last_ended)
            host.pauses += 1
            host.paused += pause
            host.shortest = min(host.shortest, pause)
        host.last_ended = visit.ended
        run[1] = max(run[1], visit.ended)

    def _page(self, host: Host, visit: Visit, found: bool) -> None:
        host.pages += 1
        host.finds += found
        self.recovered += visit.attempt > 1
        code = _code(visit.language)
        self.languages[code] += 1
        self.found_languages[code] += found
        for flag in visit.flags:
            self._flag(flag, visit.node)

    def recount(self, finds: Iterable[tuple[str, str]]) -> None:
        """Other pages are finds now: of these hosts, in these languages."""
        for host in self.hosts.values():
            host.finds = 0
        self.found_languages.clear()
        for name, language in finds:
            self.hosts[name].finds += 1
            self.found_languages[_code(language)] += 1

    def _robots(self, visit: Visit) -> None:
        delay = Rules.parse(visit.data["body"], self.agent).crawl_delay
        host = self._host(visit.origin or visit.node)  # the file may have come from elsewhere
        host.crawl_delay = max(host.crawl_delay, delay or 0.0)

    def _failure(self, host: Host, visit: Visit) -> None:
        if visit.outcome != "denied" and visit.kind in ("page", "redirect"):
            host.failures += 1
        kind = "page" if visit.kind == "redirect" else visit.kind
        # What can't be read of robots.txt closes a host in the same way, whatever the reason.
        key = (kind, "unread" if kind == "robots" else visit.outcome)
        cause = self.causes.get(key)
        if cause is None:
            name, advice = explain(kind, visit.outcome)
            cause = self.causes[key] = Cause(kind, visit.outcome, name=name, advice=advice)
        cause.count += 1
        if visit.status:
            cause.statuses[visit.status] = cause.statuses.get(visit.status, 0) + 1
        # The first ones, but the second half of the room only for hosts not yet named.
        names = {host_of(node) for node, _ in cause.examples}
        if len(cause.examples) < EXAMPLES and (len(cause.examples) < EXAMPLES // 2 or host.name not in names):
            cause.examples.append((visit.node, visit.complaint))

    def _flag(self, flag: str, node: str) -> None:
        remark = self.flags.get(flag)
        if remark is None:
            if len(self.flags) >= FLAGS_MOST:
                return
            remark = self.flags[flag] = Remark(flag, FLAGS.get(flag, ""), 0, node)
        remark.count += 1


def _code(language: str) -> str:
    code = language.split(",")[0].split("-")[0].strip().lower()
    return code if code.isascii() and code.isalpha() and len(code) <= 3 else ""


def host_of(node: str) -> str:
    """The host of a node, with its port; empty for a node that is no web address.

    >>> host_of("http://example.org:81/a"), host_of("http://example.org"), host_of("notes/reefs")
    ('example.org:81', 'example.org', '')
    """
    scheme, mark, rest = node.partition("://")
    return rest.split("/", 1)[0] if mark and scheme in ("http", "https") else ""
