"""What the report tells, as plain values: gathered from the log, drawn by the template."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from lycosa.collection.estimate import NOTHING
from lycosa.collection.report.charts import HarvestChart
from lycosa.collection.summary import Figures
from lycosa.collection.tally import Cause, Host, Remark
from lycosa.core.budget import larger
from lycosa.core.types import Held
from lycosa.drawing.figure import Histogram
from lycosa.drawing.hostmap import HostMap
from lycosa.refresh.ledger import Told

LONG_WAY = 5
"""Pages in a row that are only passed through and still shown one by one."""


@dataclass(slots=True)
class Card:
    """One page, and why it was fetched."""

    node: str
    title: str
    number: int
    """Its place in the order in which pages were fetched, from 1."""
    beta: float
    found: bool
    score: float
    """What the strategy thought of it when it was picked; infinite for seeds."""
    depth: int
    """Links between it and the nearest seed, -1 if none leads there."""
    origin: str = "unknown"
    """Where its address came from: "seed", "link", "sitemap" or "unknown"; "start" for a sitemap itself."""
    parent: str = ""
    parent_title: str = ""
    parent_number: int = 0
    anchor: str = ""
    redirected: bool = False
    """Whether the link led here through a redirect."""
    host: str = ""
    same_as: str = ""
    since: str = ""
    """What has become of it since: `vanished`, `moved` or `changed`; empty where nothing has."""
    since_when: float = 0.0
    excerpt: list[tuple[str, bool]] = field(default_factory=list)
    """Words of its text, in pieces: those of the topic are marked."""


@dataclass(slots=True)
class Stop:
    """A page on the way from a seed to the best finds."""

    card: Card
    rank: int = 0
    """Among the best finds, from 1; 0 for a page that is only passed through."""
    left_out: int = 0
    """Pages between this one and the next that are not shown."""


@dataclass(slots=True)
class Branch:
    """A stretch of the way without a fork, and the branches it ends in."""

    stops: list[Stop]
    branches: list[Branch] = field(default_factory=list)

    @property
    def relevant(self) -> int:
        """The best finds that lie on it."""
        return sum(stop.rank > 0 for stop in self.stops) + sum(branch.relevant for branch in self.branches)

    @property
    def stretches(self) -> list[list[Stop]]:
        """Its stops one by one, but those in the middle of a long way between finds together."""
        stretches: list[list[Stop]] = []
        passed: list[Stop] = []
        for stop in [*self.stops, None]:
            if stop is not None and not stop.rank:
                passed.append(stop)
                continue
            if len(passed) > LONG_WAY:
                stretches += [passed[:1], passed[1:-1], passed[-1:]]
            else:
                stretches += [[stop] for stop in passed]
            passed = []
            if stop is not None:
                stretches.append([stop])
        return stretches


@dataclass(slots=True)
class Copies:
    """A page, and how many others repeat its content."""

    node: str
    title: str
    count: int
    example: str


@dataclass(slots=True)
class Term:
    """A part of a score."""

    name: str
    value: float
    share: float
    """Of the largest part that is shown: the length of its bar."""


@dataclass(slots=True)
class Upcoming:
    """A link that waits, near the top."""

    node: str
    score: float
    terms: list[Term] = field(default_factory=list)
    rest: int = 0
    """Smaller terms that are not shown."""
    parent: str = ""
    parent_title: str = ""
    anchor: str = ""
    held: bool = False


@dataclass(slots=True)
class Outlook:
    """What would be fetched next."""

    waiting: int
    arm: str = ""
    """For a bandit, the arm whose order it is."""
    links: list[Upcoming] = field(default_factory=list)

    @property
    def explained(self) -> bool:
        """Whether the strategy gives reasons."""
        return any(link.terms for link in self.links)


@dataclass(slots=True)
class Gone:
    """A page that is not where it was."""

    node: str
    title: str
    what: str
    since: float
    target: str


@dataclass(slots=True)
class Restless:
    """A page that changes often."""

    node: str
    title: str
    times: int
    looks: int
    last: float


@dataclass(slots=True)
class Freshness:
    """What looking again has brought."""

    looks: int
    last: float
    sorts: list[tuple[str, int]] = field(default_factory=list)
    """Kinds of changes, and how often each was met."""
    returned: int = 0
    new: int = 0
    """Pages that were fetched for the first time meanwhile."""
    chart: Histogram | None = None
    latest: list[Told] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    gone_count: int = 0
    restless: list[Restless] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """Changes that a reader would want to know of."""
        return sum(count for sort, count in self.sorts if sort not in ("vanished", "moved", "cosmetic"))

    def count(self, sort: str) -> int:
        """How often a kind was met."""
        return dict(self.sorts).get(sort, 0)


@dataclass(kw_only=True)
class Report(Figures):
    """All of it."""

    directory: str
    subject: str
    strategy: str
    budget: int
    worded: bool = False
    """Whether the subject is words, not a pattern or a name."""
    requests: int = 0
    spent: str = ""
    """What the requests were spent on, in words."""
    size: int = 0
    began: float = 0.0
    seconds: float = 0.0
    """Spent crawling, without the time between runs."""
    runs: int = 0
    archived: bool = True
    recovered: int = 0
    """Pages that came at a later attempt."""
    scoreless: int = 0
    """Pages with nothing of the topic."""
    copied: int = 0
    curve: HarvestChart | None = None
    scores: Histogram | None = None
    pace: Histogram | None = None
    best: list[Card] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    maps: list[HostMap] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)
    host_count: int = 0
    causes: list[Cause] = field(default_factory=list)
    kinds: list[tuple[str, int, int]] = field(default_factory=list)
    """What was asked for, how often, and how often it failed."""
    languages: list[tuple[str, int, int]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    copies: list[Copies] = field(default_factory=list)
    traps: bool = True
    outlook: Outlook | None = None
    """What comes next and why; None where nothing waits, or it was not asked for."""
    freshness: Freshness | None = None
    """What has changed; None where nobody has looked again."""
    cards: list[Card] = field(default_factory=list)
    options: list[tuple[str, str, str]] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)
    version: str = ""
    made: float = 0.0

    @property
    def place(self) -> str:
        """The directory as a command line takes it."""
        return shlex.quote(self.directory)

    @property
    def any_score(self) -> bool:
        """Whether whatever scores is a find: the space itself gave the scores."""
        return 0 < self.threshold < NOTHING

    @property
    def more(self) -> str:
        """What a resumed crawl needs besides: a larger budget, if that is what ended it."""
        return larger(self.ending, self.budget, self.pages, self.requests)

    def trusting(self, held: Held) -> str:
        """The command that fetches what was held back."""
        return f"lycosa resume {self.place} --trust {shlex.quote(held.where)}{self.more}"

    @property
    def path_count(self) -> int:
        """Finds to which ways are drawn."""
        return sum(branch.relevant for branch in self.branches)

    @property
    def hosts_left(self) -> int:
        """Hosts that are not in the table."""
        return max(0, self.host_count - sum(host.pages > 0 for host in self.hosts))

    def figure(self, name: str) -> int:
        """The number of a figure, counting those that there are."""
        chart = self.freshness is not None and self.freshness.chart
        there = {"curve": self.relevant, "changes": chart, "map": self.maps, "scores": self.scores, "pace": self.pace}
        return [key for key, shown in there.items() if shown].index(name) + 1
