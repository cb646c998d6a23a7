"""Running totals of a crawl: hosts, failures, languages, flags, runs, revisits.

Memory grows with the number of hosts (about half a kilobyte each) and changes, but not with the number of pages.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

import numpy as np

from lycosa.collection.causes import EXPECTED, FLAGS, SUCCESSFUL, describe_failure
from lycosa.core.budget import RESOURCES, spent_on
from lycosa.core.state import State
from lycosa.core.types import Setting, Visit
from lycosa.revisit.change import KINDS, change_of
from lycosa.web.robots import RobotsRules

MAX_EXAMPLES = 5  # maximum number of URLs shown per failure
MAX_FLAGS = 50  # maximum number of different flags, since custom spaces may add their own
CHANGE_KINDS = (*KINDS[:-1], "vanished", "moved", KINDS[-1])  # kinds of changes, most important first


@dataclass(slots=True)
class HostTally:
    """Totals of one host: pages, failures, requests, and pauses between them."""

    name: str
    number: int = 0
    pages: int = 0
    relevant: int = 0  # set by `CrawlView.hosts`, as it depends on the threshold
    failures: int = 0
    requests: int = 0
    size: int = 0
    seconds: float = 0.0  # total response time
    last_ended: float = 0.0
    pauses: int = 0
    paused: float = 0.0
    shortest: float = float("inf")
    crawl_delay: float = 0.0
    rests: int = 0  # number of pauses because the host was overloaded
    longest_rest: float = 0.0

    @property
    def response_time(self) -> float:
        """Mean response time in seconds."""
        return self.seconds / self.requests if self.requests else 0.0

    @property
    def pause(self) -> float:
        """Mean seconds between a response and the next request."""
        return self.paused / self.pauses if self.pauses else 0.0


@dataclass(slots=True)
class Cause:
    """Failures of one kind and outcome."""

    kind: str
    outcome: str
    count: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)  # URLs and error messages
    name: str = ""
    advice: str = ""


@dataclass(slots=True)
class Remark:
    """A flag of pages, with its count."""

    name: str
    meaning: str
    count: int
    example: str


class CrawlTally:
    """Running totals of a crawl, updated with the visits and settings of a log in order."""

    def __init__(self, agent: str = "lycosa") -> None:
        self.agent = agent
        self.hosts: dict[str, HostTally] = {}  # by host name, in first-seen order
        self.names: list[str] = []  # host names by number
        self.kinds: Counter[tuple[str, str]] = Counter()  # visits by kind and outcome
        self.last_complaint: dict[tuple[str, str], str] = {}  # last error message by kind and outcome
        self.causes: dict[tuple[str, str], Cause] = {}
        self.languages: Counter[str] = Counter()
        self.flags: dict[str, Remark] = {}
        self.runs: list[list[float]] = []
        self.spent: Counter[str] = Counter()
        self.size = 0
        self.recovered = 0  # pages fetched at a later attempt
        self.revisits = RevisitTally()
        self._crawl_runs: set[int] = set()
        self._revisit_runs: set[int] = set()

    def state(self) -> State:
        return {
            "agent": self.agent,
            "hosts": [astuple(host) for host in self.hosts.values()],
            "kinds": [[*key, count] for key, count in self.kinds.items()],
            "last_complaint": [[*key, message] for key, message in self.last_complaint.items()],
            "causes": [[*key, asdict(cause)] for key, cause in self.causes.items()],
            "languages": dict(self.languages),
            "flags": [astuple(remark) for remark in self.flags.values()],
            "runs": self.runs,
            "spent": dict(self.spent),
            "size": self.size,
            "recovered": self.recovered,
            "revisits": self.revisits.state(),
            "crawled": sorted(self._crawl_runs),
            "looked": sorted(self._revisit_runs),
        }

    def restore(self, state: State) -> None:
        self.agent = state["agent"]
        self.hosts = {values[0]: HostTally(*values) for values in state["hosts"]}
        self.names = list(self.hosts)
        self.kinds = Counter({(kind, outcome): count for kind, outcome, count in state["kinds"]})
        self.last_complaint = {(kind, outcome): message for kind, outcome, message in state["last_complaint"]}
        self.causes = {(kind, outcome): _cause(values) for kind, outcome, values in state["causes"]}
        self.languages = Counter(state["languages"])
        self.flags = {values[0]: Remark(*values) for values in state["flags"]}
        self.runs = [list(run) for run in state["runs"]]
        self.spent = Counter(state["spent"])
        self.size, self.recovered = state["size"], state["recovered"]
        self.revisits.restore(state["revisits"])
        self._crawl_runs, self._revisit_runs = set(state["crawled"]), set(state["looked"])

    @property
    def crawls(self) -> list[list[float]]:
        """Runs that fetched new pages; revisit-only runs are excluded."""
        crawled = [run for number, run in enumerate(self.runs) if number in self._crawl_runs]
        # A refresh without due pages neither crawled nor revisited, and counts only if no other run did.
        return crawled or [run for number, run in enumerate(self.runs) if number not in self._revisit_runs]

    def setting(self, event: Setting) -> None:
        """Record the start of a run, which is a threshold setting, or the clean end of a run."""
        if event.key == "threshold" and event.at:
            self.runs.append([event.at, event.at])
        elif event.key == "end" and event.at and self.runs:
            self.runs[-1][1] = max(self.runs[-1][1], event.at)

    def visit(self, visit: Visit) -> None:
        host = self.host(visit.node)
        self.kinds[visit.kind, visit.outcome] += 1
        self.size += visit.size
        host.size += visit.size
        if purpose := spent_on(visit):
            self.spent[purpose] += 1
            self._time(host, visit)
        if rendering := visit.data.get("render"):  # requests of the browser
            self.spent[RESOURCES] += rendering.get("requests", 0)
            self.size += rendering.get("bytes", 0)
        if "rest" in visit.data and isinstance(visit.data["rest"], float):
            host.rests += 1
            host.longest_rest = max(host.longest_rest, visit.data["rest"] - visit.ended)
        if visit.is_page:
            self._page(host, visit)
        elif visit.kind == "robots" and isinstance(visit.data.get("body"), bytes):
            self._robots(visit)
        if visit.outcome not in SUCCESSFUL and (visit.kind, visit.outcome) not in EXPECTED:
            self._failure(host, visit)
        self.revisits.visit(visit)

    def host(self, node: str) -> HostTally:
        """Return the totals of a node's host, created if needed."""
        name = host_of(node)
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = HostTally(name, len(self.hosts))
            self.names.append(name)
        return host

    def _time(self, host: HostTally, visit: Visit) -> None:
        host.requests += 1
        host.seconds += max(0.0, visit.ended - visit.started)
        if not visit.ended:
            return
        if not self.runs:
            self.runs.append([visit.started, visit.ended])
        run = self.runs[-1]
        if visit.kind in ("page", "redirect"):
            self._crawl_runs.add(len(self.runs) - 1)
        elif visit.kind == "revisit":
            self._revisit_runs.add(len(self.runs) - 1)
        if host.last_ended >= run[0]:  # only within the same run
            pause = max(0.0, visit.started - host.last_ended)
            host.pauses += 1
            host.paused += pause
            host.shortest = min(host.shortest, pause)
        host.last_ended = visit.ended
        run[1] = max(run[1], visit.ended)

    def _page(self, host: HostTally, visit: Visit) -> None:
        host.pages += 1
        self.recovered += visit.attempt > 1
        self.languages[language_code(visit.language)] += 1
        for flag in visit.flags:
            self._flag(flag, visit.node)

    def _robots(self, visit: Visit) -> None:
        delay = RobotsRules.parse(visit.data["body"], self.agent).crawl_delay
        host = self.host(visit.origin or visit.node)  # robots.txt may be redirected to another host
        host.crawl_delay = max(host.crawl_delay, delay or 0.0)

    def _failure(self, host: HostTally, visit: Visit) -> None:
        if visit.outcome != "denied" and visit.kind in ("page", "redirect"):
            host.failures += 1
        self.last_complaint[visit.kind, visit.outcome] = f"{visit.complaint} {visit.node}".strip()
        kind = "page" if visit.kind == "redirect" else visit.kind
        # An unreadable robots.txt blocks the host, whatever the reason.
        key = (kind, "unread" if kind == "robots" else visit.outcome)
        cause = self.causes.get(key)
        if cause is None:
            name, advice = describe_failure(kind, visit.outcome)
            cause = self.causes[key] = Cause(kind, visit.outcome, name=name, advice=advice)
        cause.count += 1
        if visit.status:
            cause.statuses[visit.status] = cause.statuses.get(visit.status, 0) + 1
        # Keep the first examples, but reserve half of the places for other hosts.
        names = {host_of(node) for node, _ in cause.examples}
        if len(cause.examples) < MAX_EXAMPLES and (len(cause.examples) < MAX_EXAMPLES // 2 or host.name not in names):
            cause.examples.append((visit.node, visit.complaint))

    def _flag(self, flag: str, node: str) -> None:
        remark = self.flags.get(flag)
        if remark is None:
            if len(self.flags) >= MAX_FLAGS:
                return
            remark = self.flags[flag] = Remark(flag, FLAGS.get(flag, ""), 0, node)
        remark.count += 1


class RevisitTally:
    def __init__(self) -> None:
        self.count = self.new = 0  # number of revisits, and of pages fetched for the first time by a refresh
        self.first = self.last = 0.0  # times of the first and the last revisit
        self.changes: Counter[str] = Counter()  # changed, cosmetic, vanished, moved, returned
        self.by_kind: Counter[str] = Counter()  # by kind of change
        self.times, self.kinds = array("d"), array("b")  # time and kind of each change in CHANGE_KINDS
        self.change_counts: Counter[str] = Counter()  # significant changes per page

    def state(self) -> State:
        kept = {name: dict(getattr(self, name)) for name in ("changes", "by_kind", "change_counts")}
        numbers = {name: getattr(self, name) for name in ("count", "new", "first", "last")}
        return {**kept, **numbers, "times": np.array(self.times), "kinds": np.array(self.kinds, np.int8)}

    def restore(self, state: State) -> None:
        self.changes, self.by_kind = Counter(state["changes"]), Counter(state["by_kind"])
        self.change_counts = Counter(state["change_counts"])
        self.count, self.new, self.first, self.last = (state[name] for name in ("count", "new", "first", "last"))
        self.times, self.kinds = array("d", state["times"].tolist()), array("b", state["kinds"].tolist())

    def visit(self, visit: Visit) -> None:
        """Count a revisit, or a page discovered by a refresh."""
        if visit.kind != "revisit":
            self.new += visit.is_page and "change" in visit.data
            return
        self.count += 1
        self.first, self.last = self.first or visit.started, max(self.last, visit.started)
        change = change_of(visit)
        if change is None:
            return
        kind = change.kind if change.what == "changed" else change.what
        self.by_kind[kind] += 1
        self.changes["cosmetic" if kind == "cosmetic" else change.what] += 1
        if change.what == "changed" and change.matters:
            self.change_counts[visit.node] += 1
        if kind in CHANGE_KINDS:  # returned pages are counted but not shown in the chart
            self.times.append(visit.started)
            self.kinds.append(CHANGE_KINDS.index(kind))


def _cause(values: dict[str, Any]) -> Cause:
    return Cause(**{**values, "examples": [(node, message) for node, message in values["examples"]]})


def language_code(language: str) -> str:
    """Return the code of the first declared language, or an empty string.

    >>> language_code("en-GB, de"), language_code("klingon")
    ('en', '')
    """
    code = language.split(",")[0].split("-")[0].strip().lower()
    return code if code.isascii() and code.isalpha() and len(code) <= 3 else ""


def host_of(node: str) -> str:
    """Return the host of a URL with its port; empty for a node that is not a URL.

    >>> host_of("http://example.org:81/a"), host_of("http://example.org"), host_of("notes/reefs")
    ('example.org:81', 'example.org', '')
    """
    scheme, mark, rest = node.partition("://")
    return rest.split("/", 1)[0] if mark and scheme in ("http", "https") else ""
