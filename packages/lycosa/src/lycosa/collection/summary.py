"""Statistics of a crawl for `lycosa show`, read from its log; the crawl may be running."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection import counts
from lycosa.collection.best import Question, best_pages, questions
from lycosa.collection.counts import Outcome, RevisitCounts
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import Estimate, describe_threshold
from lycosa.collection.pages import RecentHarvest
from lycosa.core.types import START_RELEVANCE, Held
from lycosa.store import codec
from lycosa.store.directory import is_running
from lycosa.store.log import PAGES
from lycosa.text.tokens import stems


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
    """Return the roles of the seeds; an example may also be the target of a seed's redirect."""
    array, roles, example = collection.pages_array(), SeedRoles(), float(np.float32(START_RELEVANCE))
    if not array.probability:
        return roles
    roles.examples = int(np.count_nonzero(array["relevance_now"] == example))
    query = """
        SELECT seed.url, relevance_now FROM seed JOIN visit ON visit.url = seed.url
        JOIN page ON page.first = visit.seq JOIN score ON score.seq = page.current ORDER BY seed.seq
    """
    for url, relevance in collection.log.query(query):
        if relevance == 1.0:  # labelled as relevant
            roles.examples += 1
        elif relevance != example:
            roles.portals.append(url)
    return roles


@dataclass
class Figures:
    """Statistics shared by the summary and the report."""

    threshold: float = 0.0
    running: bool = False
    pages: int = 0
    estimate: Estimate = field(default_factory=lambda: Estimate(0, 0, 0, 0))
    recent: RecentHarvest = RecentHarvest()
    pages_by_host: Counter[str] = field(default_factory=Counter)
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
        log, array, end = collection.log, collection.pages_array(), collection.log.setting("end", {})
        self.threshold, self.running = collection.threshold, is_running(collection.path)
        self.pages, self.estimate, self.recent = len(array), array.estimate, array.recent
        by_host = counts.pages_by_host(log, self.threshold)
        self.pages_by_host = Counter({host: pages for host, pages, _ in by_host})
        self.sites = sum(relevant > 0 for host, _, relevant in by_host if host)
        self.unsure = [] if self.estimate.is_exact or not max_questions else questions(collection, max_questions)
        self.seeds, self.warning = seed_roles(collection), weak_topic_warning(collection, self.pages)
        self.ended = log.has_ended()
        self.ending = str(end.get("reason", "")) if self.ended else ""
        self.held, self.groups = int(end.get("held", 0)), [Held(**group) for group in end.get("groups", ())]


@dataclass
class Summary(Figures):
    """Data of `lycosa show`."""

    spent: Counter[str] = field(default_factory=Counter)  # number of requests by purpose
    relevant_pages: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))  # mask, in crawl order
    best: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)  # of requests other than revisits, most frequent first
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
            "recent": self.recent.description,
            "sites": self.sites,
            "site_harvest": round(self.site_harvest, 4),
            "threshold": self.threshold,
            "running": self.running,
            "ending": self.ending,
            "held": self.held,
            "groups": [asdict(group) for group in self.groups],
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
            "hosts": [{"host": host, "pages": count} for host, count in self.pages_by_host.most_common()],
            "best": self.best,
            "revisits": self.revisits.as_dict() if self.revisits.count else None,
            "unsure": [question.as_dict() for question in self.unsure],
            "seeds": asdict(self.seeds),
            "warning": self.warning,
            "curve": self._curve(),
        }

    def harvest_rates(self, parts: int) -> list[float]:
        """Return the share of relevant pages in each of several equal parts of the crawl."""
        return [part.mean() if len(part) else 0.0 for part in np.array_split(self.relevant_pages, parts)]

    def _curve(self) -> list[dict[str, int]]:
        count = len(self.relevant_pages)
        step, found = max(1, count // 100), np.cumsum(self.relevant_pages)
        points = dict.fromkeys([*range(step, count + 1, step), *[count][:count]])
        return [{"pages": pages, "relevant": int(found[pages - 1])} for pages in points]


def summarise(directory: Path, best: int = 10, threshold: float | None = None) -> Summary:
    """Return the summary of a crawl; `threshold` overrides the crawl's own."""
    summary = Summary()
    with CrawlDirectory(directory, threshold) as collection, collection.log.batch():  # a single state of the log
        log = collection.log
        log.check()  # damaged visits would be miscounted
        summary.read(collection, 5)
        if not summary.ended:  # the held links of an earlier run are outdated
            summary.held, summary.groups = 0, []
        summary.relevant_pages = collection.pages_array().relevant
        visits = counts.visits(log)
        summary.spent, summary.revisits = visits.spent, visits.revisits
        outcomes = [outcome for outcome in visits.outcomes if outcome.kind != "revisit"]
        summary.outcomes = sorted(outcomes, key=lambda outcome: -outcome.count)
        summary.best = [
            {"url": page.url, "relevance": round(page.relevance_now, 4), "title": page.title}
            for page in best_pages(collection, best)
        ]
    return summary


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
    known, looked_at, matching = 0, 0, 0
    numbers: list[int] = []
    query = f"SELECT terms, {PAGES} FROM content JOIN visit USING (seq) WHERE terms NOT NULL ORDER BY seq"
    for blob, is_page in collection.log.query(query):
        terms = collection.log.decoded(codec.unpack_terms, blob)
        numbers += [known + place for place, stem in enumerate(terms.new) if stem in wanted]
        known += len(terms.new)
        if is_page:
            looked_at += 1
            matching += int(np.isin(numbers, terms.ids).sum()) >= needed
            if looked_at == 1_000:  # takes about 0.1 s
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
