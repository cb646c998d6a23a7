"""Counts of a crawl, each a query: requests, failures, hosts, languages, flags, runs and revisits."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lycosa.collection.causes import EXPECTED, FLAGS, SUCCESSFUL, describe_failure
from lycosa.core.budget import RESOURCES, purpose
from lycosa.revisit.change import KINDS
from lycosa.revisit.ledger import refreshed_from
from lycosa.store import codec
from lycosa.store.log import PAGES, SqliteLog, host_of
from lycosa.web.robots import RobotsRules

MAX_EXAMPLES = 5  # maximum number of URLs shown per failure
MAX_FLAGS = 50  # maximum number of different flags, since custom spaces may add their own
CHANGE_KINDS = (*KINDS[:-1], "vanished", "moved", KINDS[-1])  # kinds of changes, most important first
_COMPLAINT = "TRIM(CASE WHEN status THEN status ELSE '' END || ' ' || note)"  # SQL for `Visit.complaint`
_CHANGED = "data LIKE '%\"change\":{%'"
_RENDERED = "json_extract(data, '$.render.requests')"
_BY = """
    SELECT {0}, COUNT(*), SUM(NOT is_copy AND relevance_now >= ?)
    FROM page JOIN visit ON visit.seq = page.current JOIN score ON score.seq = page.current
    GROUP BY {0} ORDER BY MIN(page.first)
"""


@dataclass(slots=True)
class Outcome:
    """Visits of one kind with one outcome, and the last message."""

    kind: str
    outcome: str
    count: int
    last: str = ""

    @property
    def is_failure(self) -> bool:
        return self.outcome not in SUCCESSFUL and (self.kind, self.outcome) not in EXPECTED


@dataclass(slots=True)
class VisitCounts:
    """Numbers of visits."""

    outcomes: list[Outcome] = field(default_factory=list)  # in the order in which these first occurred
    spent: Counter[str] = field(default_factory=Counter)  # requests by purpose
    size: int = 0  # bytes received
    revisits: RevisitCounts = field(default_factory=lambda: RevisitCounts())


def visits(log: SqliteLog) -> VisitCounts:
    """Return the numbers of all visits."""
    found = VisitCounts()
    revisits = found.revisits
    outcomes: dict[tuple[str, str], Outcome] = {}
    last: dict[tuple[str, str], int] = {}
    query = """
        SELECT kind, outcome, attempt, status, COUNT(*), MAX(seq), SUM(size)
        FROM visit GROUP BY 1, 2, 3, 4 ORDER BY MIN(seq)
    """
    for kind, outcome, attempt, status, count, latest, size in log.query(query):
        key = kind, outcome
        outcomes.setdefault(key, Outcome(kind, outcome, 0)).count += count
        last[key] = max(latest, last.get(key, 0))
        found.size += size
        sent = purpose(kind, outcome, attempt > 1)
        if sent and (status or outcome != "ok" or kind not in ("robots", "sitemap")):
            found.spent[sent] += count
        if kind == "revisit":
            revisits.count += count
            revisits.outcomes[outcome] += count
    rendered = (
        f"SELECT SUM({_RENDERED}), SUM(json_extract(data, '$.render.bytes')) FROM visit WHERE {_RENDERED} NOT NULL"
    )
    requests, received = next(log.query(rendered))
    found.spent += Counter({RESOURCES: requests or 0})
    found.size += received or 0
    found.outcomes = list(outcomes.values())
    for each in found.outcomes:
        if each.is_failure:
            (each.last,) = next(
                log.rows(f"TRIM({_COMPLAINT} || ' ' || url)", "seq = ?", given=(last[each.kind, each.outcome],))
            )
            if each.kind == "revisit":
                revisits.reasons[each.outcome] = each.last
    if revisits.count:
        _add_changes(log, revisits)
    return found


def _add_changes(log: SqliteLog, found: RevisitCounts) -> None:
    found.first, found.last = next(log.query("SELECT MIN(started), MAX(started) FROM visit WHERE kind = 'revisit'"))
    found.changes.update("cosmetic" if change.kind == "cosmetic" else change.what for change in recorded_changes(log))
    new = f"{PAGES} AND seq > ? AND {_CHANGED}"
    (found.new,) = next(log.rows("COUNT(*)", new, given=(refreshed_from(log),)))


def pages_by_host(log: SqliteLog, threshold: float) -> list[tuple[str, int, int]]:
    """Return the hosts with pages in first-seen order, with their numbers of pages and of relevant pages."""
    return list(log.query(_BY.format("host"), (threshold,)))


@dataclass(slots=True)
class HostCounts:
    """Counts of one host: pages, failures, requests, and pauses between them."""

    name: str
    pages: int = 0
    relevant: int = 0
    failures: int = 0
    requests: int = 0
    size: int = 0
    seconds: float = 0.0  # total response time
    pauses: int = 0
    paused: float = 0.0  # seconds
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
        """Mean seconds between an answer and the next request."""
        return self.paused / self.pauses if self.pauses else 0.0


_SENT = "outcome NOT IN ('denied', 'refused') AND (kind NOT IN ('robots', 'sitemap') OR outcome != 'ok' OR status)"
_HOSTS = f"""
    SELECT host, size, kind IN ('page', 'redirect') AND outcome NOT IN ('ok', 'redirect', 'denied', 'refused'), {_SENT},
        started, ended, seq
    FROM visit ORDER BY seq
"""


def hosts(log: SqliteLog, threshold: float, agent: str = "lycosa") -> list[HostCounts]:
    """Return the hosts in first-seen order."""
    found: dict[str, HostCounts] = {}
    last: dict[str, tuple[int, float]] = {}  # run and end of the last request
    starts = [seq for (seq,) in log.query("SELECT seq FROM setting WHERE name = 'threshold' AND at ORDER BY seq")]
    for name, size, failed, sent, started, ended, seq in log.query(_HOSTS):
        host = found.get(name) or found.setdefault(name, HostCounts(name))
        host.size += size
        host.failures += failed
        if sent:
            host.requests += 1
            host.seconds += max(0.0, ended - started)
        if not sent or not ended:
            continue
        run = bisect(starts, seq)
        before, last[name] = last.get(name), (run, ended)
        if before is not None and before[0] == run:  # only within the same run
            pause = max(0.0, started - before[1])
            host.pauses += 1
            host.paused += pause
            host.shortest = min(host.shortest, pause)
    for name, count, relevant in pages_by_host(log, threshold):
        found[name].pages, found[name].relevant = count, relevant
    rests = "json_extract(data, '$.rest') - ended"
    for name, count, longest in log.query(
        f"SELECT host, COUNT(*), MAX({rests}) FROM visit WHERE data LIKE '%\"rest\":%' GROUP BY host"
    ):
        found[name].rests, found[name].longest_rest = count, longest or 0.0
    bodies = "SELECT origin, url, binary FROM visit JOIN content USING (seq) WHERE kind = 'robots' AND binary NOT NULL"
    for origin, url, blob in log.query(bodies):
        body = log.decoded(codec.unpack, blob).get("body", b"")
        if b"crawl-delay" in body.lower() and (delay := RobotsRules.parse(body, agent).crawl_delay):
            asking = found.get(host_of(origin or url))  # robots.txt may be redirected to another host
            if asking is not None:
                asking.crawl_delay = max(asking.crawl_delay, delay)
    return list(found.values())


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


def causes(log: SqliteLog) -> list[Cause]:
    """Return the failures by cause, the most frequent first."""
    found: dict[tuple[str, str], Cause] = {}
    query = f"SELECT kind, outcome, status, COUNT(*) FROM {_FAILURES} GROUP BY 1, 2, 3 ORDER BY MIN(seq)"
    for kind, outcome, status, count in log.query(query):
        if (kind, outcome) in EXPECTED:
            continue
        cause = found.setdefault(_cause(kind, outcome), Cause(kind, outcome))
        cause.count += count
        if status:
            cause.statuses[status] = cause.statuses.get(status, 0) + count
    for kind, outcome, url, complaint in log.query(_EXAMPLES):
        if (kind, outcome) not in EXPECTED:
            examples = found[_cause(kind, outcome)].examples
            examples += [(url, complaint)] * (len(examples) < MAX_EXAMPLES)
    for cause in found.values():
        cause.name, cause.advice = describe_failure(cause.kind, cause.outcome)
    return sorted(found.values(), key=lambda cause: (-cause.count, cause.name))


def _cause(kind: str, outcome: str) -> tuple[str, str]:
    """Return the key of a cause; an unreadable robots.txt blocks the host, whatever the reason."""
    return kind, "unread" if kind == "robots" else outcome


_FAILURES = f"""(
    SELECT seq, CASE kind WHEN 'redirect' THEN 'page' ELSE kind END AS kind, outcome, status, host, url,
        {_COMPLAINT} AS complaint
    FROM visit WHERE outcome NOT IN ('{"', '".join(sorted(SUCCESSFUL))}')
)"""
# Examples of each kind and outcome, from as many hosts as possible
_EXAMPLES = f"""
    SELECT kind, outcome, url, complaint FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY kind, outcome ORDER BY place, seq) AS number FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY kind, outcome, host ORDER BY seq) AS place FROM {_FAILURES}
        )
    ) WHERE number <= {MAX_EXAMPLES} ORDER BY number, seq
"""


@dataclass(slots=True)
class Remark:
    """A flag of pages, with its count."""

    name: str
    meaning: str
    count: int
    example: str


def remarks(log: SqliteLog) -> list[Remark]:
    """Return the flags of pages, the most frequent first."""
    query = f"""
        SELECT value, SUM(pages), url, MIN(first) FROM (
            SELECT flags, COUNT(*) AS pages, url, MIN(seq) AS first FROM visit
            WHERE flags != '[]' AND {PAGES} GROUP BY flags
        ), json_each(flags) GROUP BY value ORDER BY SUM(pages) DESC, value LIMIT {MAX_FLAGS}
    """
    return [Remark(flag, FLAGS.get(flag, ""), count, url) for flag, count, url, _ in log.query(query)]


def languages(log: SqliteLog, threshold: float) -> list[tuple[str, int, int]]:
    """Return the languages with their numbers of pages and of relevant pages, the most frequent first."""
    pages: Counter[str] = Counter()
    relevant: Counter[str] = Counter()
    for language, count, good in log.query(_BY.format("language"), (threshold,)):
        pages[language_code(language)] += count
        relevant[language_code(language)] += good
    return [(code, count, relevant[code]) for code, count in pages.most_common()]


def copies(log: SqliteLog, limit: int = 10) -> list[tuple[str, int, str]]:
    """Return the pages with most copies: URL, number of copies, and one of them."""
    query = """
        SELECT duplicate_of, COUNT(*), url, MIN(visit.seq) FROM page JOIN visit ON visit.seq = page.current
        WHERE duplicate_of != '' GROUP BY duplicate_of ORDER BY COUNT(*) DESC, MIN(visit.seq) LIMIT ?
    """
    return [(original, count, example) for original, count, example, _ in log.query(query, (limit,))]


def recovered(log: SqliteLog) -> int:
    """Return the number of pages fetched at a later attempt."""
    return int(next(log.query(f"SELECT COUNT(*) FROM visit WHERE {PAGES} AND attempt > 1"))[0])


def runs(log: SqliteLog) -> list[tuple[float, float]]:
    """Return start and end of each run that fetched new pages; runs of revisits count only if there are no others."""
    marks = list(log.query("SELECT seq, at FROM setting WHERE name = 'threshold' AND at ORDER BY seq"))
    if not marks:
        marks = list(log.query("SELECT seq - 1, started FROM visit ORDER BY seq LIMIT 1"))
    found = []
    for (seq, start), (following, _) in zip(marks, [*marks[1:], (2**62, 0.0)], strict=False):
        within = "FROM visit WHERE seq > ? AND seq < ?"
        ended, crawled, revisited = next(
            log.query(
                f"SELECT MAX(ended), MAX(kind IN ('page', 'redirect')), MAX(kind = 'revisit') {within}",
                (seq, following),
            )
        )
        stopped = "SELECT MAX(at) FROM setting WHERE name = 'end' AND seq > ? AND seq < ?"
        closed = next(log.query(stopped, (seq, following)))[0]
        found.append((start, max(start, ended or 0.0, closed or 0.0), bool(crawled), bool(revisited)))
    crawls = [(start, end) for start, end, crawled, _ in found if crawled]
    return crawls or [(start, end) for start, end, _, revisited in found if not revisited]


@dataclass
class RevisitCounts:
    """Numbers of revisits by outcome; revisits do not count for the harvest."""

    count: int = 0
    new: int = 0  # pages found by a refresh
    first: float = 0.0
    last: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)  # unchanged, ok (new version), gone, ...
    changes: Counter[str] = field(default_factory=Counter)  # changed, cosmetic, vanished, moved, returned
    reasons: dict[str, str] = field(default_factory=dict)  # message of the last failure, by outcome

    def as_dict(self) -> dict[str, object]:
        return {
            "count": self.count,
            "last": self.last,
            "outcomes": dict(self.outcomes.most_common()),
            "changes": dict(self.changes.most_common()),
            "reasons": self.reasons,
        }


@dataclass(slots=True)
class RecordedChange:
    url: str
    at: float
    what: str
    kind: str  # kind of change; `what` unless the content changed

    @property
    def matters(self) -> bool:
        return self.kind != "cosmetic"


def recorded_changes(log: SqliteLog) -> Iterator[RecordedChange]:
    query = f"""
        SELECT url, started, json_extract(data, '$.change.what'), json_extract(data, '$.change.kind')
        FROM visit WHERE kind = 'revisit' AND {_CHANGED} ORDER BY seq
    """
    for url, at, what, kind in log.query(query):
        yield RecordedChange(url, at, what, kind if what == "changed" else what)


def language_code(language: str) -> str:
    """Return the code of the first declared language, or an empty string.

    >>> language_code("en-GB, de"), language_code("klingon")
    ('en', '')
    """
    code = language.split(",")[0].split("-")[0].strip().lower()
    return code if code.isascii() and code.isalpha() and len(code) <= 3 else ""
