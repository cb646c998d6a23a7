"""Statistics of a crawl for `lycosa show`, read from its log; the crawl may be running."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.collection.best import Question, best_pages, questions
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import Estimate, describe_threshold
from lycosa.core.types import START_RELEVANCE, Held, Seed, Setting
from lycosa.store.directory import is_running
from lycosa.store.log import VISITS
from lycosa.text.tokens import stems


@dataclass
class RevisitCounts:
    """Numbers of revisits by outcome; revisits do not count for the harvest."""

    count: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)  # unchanged, ok (new version), gone, ...
    changes: Counter[str] = field(default_factory=Counter)  # changed, cosmetic, vanished, moved, returned
    last: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict)  # message of the last failure, by outcome

    def as_dict(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "last": self.last,
            "outcomes": dict(self.outcomes.most_common()),
            "changes": dict(self.changes.most_common()),
            "reasons": self.reasons,
        }


@dataclass
class SeedRoles:
    """How a judge that returns probabilities took the seeds fetched so far."""

    examples: int = 0
    portals: list[str] = field(default_factory=list)

    @property
    def description(self) -> str:
        """Describe the roles in a line; "" without seeds."""
        examples = "an example" if self.examples == 1 else "examples"
        parts = [f"{self.examples:,} taken as {examples} of the topic"] if self.examples else []
        if self.portals:
            more = f" and {len(self.portals) - 1:,} more" if len(self.portals) > 1 else ""
            parts.append(f"not taken as examples: {self.portals[0]}{more}")
        return f"Seeds: {'; '.join(parts)}." if parts else ""


def seed_roles(collection: CrawlDirectory) -> SeedRoles:
    roles, view = SeedRoles(), collection.view()
    if not view.probability:
        return roles
    relevances = view.column("first_relevance")[view.column("crawled")]
    roles.examples = int(np.count_nonzero(relevances == np.float32(START_RELEVANCE)))  # seeds or what they redirect to
    for seed in collection.log.events("kind = 'seed'"):
        assert isinstance(seed, Seed)
        if (page := view.page(seed.node)) is not None and page.relevance != np.float32(START_RELEVANCE):
            roles.examples += page.relevance == 1.0  # labelled yes
            roles.portals += [seed.node] * (page.relevance != 1.0)
    return roles


@dataclass
class Figures:
    """Statistics shared by the summary and the report."""

    threshold: float = 0.0
    running: bool = False
    pages: int = 0
    estimate: Estimate = field(default_factory=lambda: Estimate(0, 0, 0, 0))
    sites: int = 0  # number of hosts with a relevant page
    # Pages whose labels would help the judge most, if it returns probabilities.
    unsure: list[Question] = field(default_factory=list)
    seeds: SeedRoles = field(default_factory=SeedRoles)
    warning: str = ""  # explains why the topic's words distinguish pages badly; "" if they do not
    ended: bool = False  # True if the last run ended cleanly and no event has been recorded since
    ending: str = ""  # reason why the last run ended
    held: int = 0  # links held back as likely traps at the end of the last run; `groups` has them by group
    groups: list[Held] = field(default_factory=list)

    @property
    def relevant(self) -> int:
        return self.estimate.relevant

    @property
    def harvest(self) -> float:
        """Share of relevant pages among all pages."""
        return self.relevant / self.pages if self.pages else 0.0

    def read(self, collection: CrawlDirectory, max_questions: int) -> None:
        """Read the statistics, and up to `max_questions` pages to suggest for labelling."""
        view, last, end = collection.view(), collection.log.last(), collection.log.setting("end", {})
        self.threshold, self.running = collection.threshold, is_running(collection.path)
        self.pages = int(view.column("crawled").sum())
        self.estimate, self.sites = view.estimate(self.threshold), view.sites(self.threshold)
        self.unsure = [] if self.estimate.is_exact else questions(collection, max_questions)
        self.seeds, self.warning = seed_roles(collection), weak_topic_warning(collection, self.pages)
        self.ended = isinstance(last, Setting) and last.key == "end"
        self.ending = str(end.get("reason", "")) if self.ended else ""
        self.held, self.groups = int(end.get("held", 0)), [Held(**group) for group in end.get("groups", ())]


@dataclass
class Summary(Figures):
    """Data of `lycosa show`."""

    spent: Counter[str] = field(default_factory=Counter)  # number of requests by purpose
    is_relevant: list[bool] = field(default_factory=list)  # for each page, in log order
    best: list[dict[str, Any]] = field(default_factory=list)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Message of the last failure, by kind and outcome.
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    hosts: Counter[str] = field(default_factory=Counter)
    revisits: RevisitCounts = field(default_factory=RevisitCounts)

    @property
    def requests(self) -> int:
        """Requests sent, including those for robots.txt, redirects, failures and revisits."""
        return self.spent.total()

    @property
    def criterion(self) -> str:
        return describe_threshold(self.threshold)

    @property
    def site_harvest(self) -> float:
        """Share of pages that are the first relevant page of their host."""
        return self.sites / self.pages if self.pages else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "requests": self.requests,
            "spent": dict(self.spent),
            **self.estimate.as_dict(),
            "harvest": round(self.harvest, 4),
            "sites": self.sites,
            "site_harvest": round(self.site_harvest, 4),
            "threshold": self.threshold,
            "running": self.running,
            "ending": self.ending,
            "held": self.held,
            "groups": [asdict(group) for group in self.groups],
            "outcomes": [
                {"kind": kind, "outcome": outcome, "count": count, "last": self.reasons.get((kind, outcome), "")}
                for (kind, outcome), count in self.outcomes.most_common()
            ],
            "hosts": [{"host": host, "pages": count} for host, count in self.hosts.most_common()],
            "best": self.best,
            "revisits": self.revisits.as_dict() if self.revisits.count else None,
            "unsure": [question.as_dict() for question in self.unsure],
            "seeds": asdict(self.seeds),
            "warning": self.warning,
            "curve": self._curve(),
        }

    def _curve(self) -> list[dict[str, int]]:
        step = max(1, len(self.is_relevant) // 100)
        points, relevant = [], 0
        for number, counts in enumerate(self.is_relevant, 1):
            relevant += counts
            if number % step == 0 or number == len(self.is_relevant):
                points.append({"pages": number, "relevant": relevant})
        return points


def summarise(directory: Path, best: int = 10, threshold: float | None = None) -> Summary:
    """Return the summary of a crawl; `threshold` overrides the crawl's own."""
    summary = Summary()
    with CrawlDirectory(directory, threshold) as collection:
        summary.read(collection, 5)
        if not summary.ended:  # the held links of an earlier run are outdated
            summary.held, summary.groups = 0, []
        _count(collection, summary)
        summary.best = [
            {"url": visit.node, "relevance": round(visit.relevance_now, 4), "title": visit.title}
            for _, visit in best_pages(collection, best)
        ]
    return summary


def _count(collection: CrawlDirectory, summary: Summary) -> None:
    view, revisits = collection.view(), summary.revisits
    tally = view.tally
    summary.is_relevant = view.relevant(summary.threshold)[view.column("crawled")].tolist()
    summary.hosts = Counter({host.name: host.pages for host in view.hosts() if host.pages})
    summary.spent = Counter(tally.spent)
    summary.outcomes = Counter({key: count for key, count in tally.kinds.items() if key[0] != "revisit"})
    summary.reasons = {key: complaint for key, complaint in tally.last_complaint.items() if key[0] != "revisit"}
    revisits.outcomes = Counter({outcome: count for (kind, outcome), count in tally.kinds.items() if kind == "revisit"})
    revisits.reasons = {outcome: why for (kind, outcome), why in tally.last_complaint.items() if kind == "revisit"}
    revisits.count, revisits.last, revisits.changes = tally.revisits.count, tally.revisits.last, tally.revisits.changes


MIN_TOPIC_WORDS = 3  # words of the topic that a page must contain if the topic has more words
_UNWANTED = re.compile(r"(?<!\S)-\S+")


def weak_topic_warning(collection: CrawlDirectory, pages: int) -> str:
    """Return a warning if the topic's words are on almost no pages or on almost all, or ""."""
    options = collection.options
    if not options.topic or pages < 20:
        return ""
    language = options.languages[0] if options.languages else "en"
    wanted = list(dict.fromkeys(stems(_UNWANTED.sub(" ", options.topic), language)))
    if not wanted:
        return ""
    needed = min(len(wanted), MIN_TOPIC_WORDS)
    first_number, looked_at, matching = 0, 0, 0
    numbers: set[int] = set()
    for visit in collection.log.visits(VISITS):
        numbers.update(first_number + place for place, stem in enumerate(visit.terms.new) if stem in wanted)
        first_number += len(visit.terms.new)
        if visit.is_page:
            looked_at += 1
            matching += len(numbers.intersection(visit.terms.ids.tolist())) >= needed
            if looked_at == 1_000:  # takes about a second
                break
    return describe_weakness(matching, looked_at, len(wanted))


def describe_weakness(matching: int, pages: int, words: int) -> str:
    """Return the warning for `matching` of `pages` pages that contain enough of the topic's words, or an empty string.

    >>> describe_weakness(3, 300, 2)
    'only 3 of 300 pages have both words: use other words, or give example pages'
    >>> describe_weakness(299, 300, 1)
    '299 of 300 pages have the word: it does not distinguish pages'
    >>> describe_weakness(50, 300, 4)
    ''
    """
    many_words = "all words" if words <= MIN_TOPIC_WORDS else f"{MIN_TOPIC_WORDS} of the {words} words"
    the_words = {1: "the word", 2: "both words"}.get(words, many_words)
    of = f"{matching:,} of {pages:,} pages {'has' if matching == 1 else 'have'} {the_words}"
    if matching <= max(2, 0.03 * pages):
        of = f"none of {pages:,} pages has {the_words}" if not matching else f"only {of}"
        return f"{of}: use other words, or give example pages"
    if matching >= 0.9 * pages:
        return f"{of}: {'it does' if words == 1 else 'they do'} not distinguish pages"
    return ""
