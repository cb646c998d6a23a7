"""What a person may wish of a crawl, and nothing else: a list of what is allowed, not of what is forbidden.

There is no field for a file, a class, a network, a proxy, a regular expression or a mail server, so nobody who can
only sign in can name one. What a strategy or a judge may be told is checked where those are known
(`lycosa.server.validation`); here are the shapes and the sizes, and how wishes become the options of a crawl.

Paper items:
    personalized-own-seeds: `POST /imports`, `--seed`. Test:
        people/test_people_wishes.py::test_options_are_those_of_a_crawl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.spec import parse, spell
from lycosa.people.typed import line, lines, number
from lycosa.store.directory import KEPT

AUTOMATIC = "automatic"
STRATEGY = "scent"
"""What automatic means: the best of our leaderboard."""

FORMAT, FORMER = 2, "vector"
"""Of the wishes as they are kept, and the judge that automatic meant before: interests of then keep it, and with it
their thresholds, until somebody chooses another.
"""

MOST_URLS = 1_000
MOST_PIECES = 100
LONGEST_URL = 2_000
LONGEST = 500

LEAST_AGAIN = 600.0
"""Seconds between two looks at the same pages, at least: a schedule is for hours and days."""

PIECES = ("exclude", "always", "frequently", "infrequently")
"""Wishes that are pieces of addresses: plain text, where the options of a crawl are regular expressions."""

FRESHNESS = ("always", "frequently", "infrequently", "frequent", "infrequent", "detect")
"""Wishes that say how pages are looked at again: they hold from the next look on, also for crawls that have begun."""


@dataclass(slots=True)
class Wishes:
    """What to hunt, from where, and how far. Made with `read`, which checks it."""

    words: str = ""
    examples: list[str] = field(default_factory=list)
    """Addresses of pages like those that are wanted."""
    seeds: list[str] = field(default_factory=list)
    preferences: list[str] = field(default_factory=list)
    """Parts of the admin's catalogue whose seeds are used, too."""
    strategy: str = AUTOMATIC
    judge: str = AUTOMATIC
    budget: int = 500
    threshold: float = 0.0
    """What counts as found; 0: as the judge says."""
    hosts: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    """Pieces of addresses that are left alone: plain text."""
    languages: list[str] = field(default_factory=list)
    max_depth: int = 0
    host_budget: int = 0
    always: list[str] = field(default_factory=list)
    """Pieces of addresses: such pages are looked at in every look, and never taken from a cache."""
    frequently: list[str] = field(default_factory=list)
    """The same: looked at once in `frequent` at least."""
    infrequently: list[str] = field(default_factory=list)
    """The same: looked at once in `infrequent`, unless somebody asks for all pages."""
    frequent: str = "1d"
    infrequent: str = "30d"
    detect: list[str] = field(default_factory=list)
    """Names of detectors that notice changes; none: the usual ones."""
    model: str = ""
    """A classifier of the owner's, by its id: it judges, in place of words and examples."""
    targets: list[str] = field(default_factory=list)
    """The classes of it that are wanted."""
    strategy_model: str = ""
    """Rules or browsing of the owner's, by its id: what the strategy goes by, if it needs such a thing."""

    @classmethod
    def read(cls, data: Mapping[str, Any], most_pages: int = 10_000) -> Wishes:
        """Wishes as someone sent them: of the right types and sizes, with something to hunt and somewhere to start."""
        known = {item.name for item in fields(cls)}
        for key in data:
            if key not in known:
                raise InputError(f"there is no wish {str(key)[:60]!r}: there are {', '.join(sorted(known))}")
        given = {**asdict(cls()), **data}
        made = cls(
            words=line(given["words"], "the topic", LONGEST),
            examples=lines(given["examples"], "the examples", LONGEST_URL, MOST_PIECES),
            seeds=lines(given["seeds"], "the seeds", LONGEST_URL, MOST_URLS),
            preferences=lines(given["preferences"], "the preferences", 100, MOST_PIECES),
            strategy=line(given["strategy"], "the strategy", 200) or AUTOMATIC,
            judge=line(given["judge"], "the judge", 200) or AUTOMATIC,
            budget=int(number(given["budget"], "the budget", 1, most_pages)),
            threshold=float(number(given["threshold"], "the threshold", 0, 1_000)),
            hosts=lines(given["hosts"], "the hosts", 300, MOST_PIECES),
            domains=lines(given["domains"], "the domains", 300, MOST_PIECES),
            exclude=lines(given["exclude"], "what is left out", 300, MOST_PIECES),
            languages=[code.lower() for code in lines(given["languages"], "the languages", 20, MOST_PIECES)],
            max_depth=int(number(given["max_depth"], "the depth", 0, 1_000)),
            host_budget=int(number(given["host_budget"], "the pages of one host", 0, 1_000_000)),
            always=lines(given["always"], "what is always looked at", 300, MOST_PIECES),
            frequently=lines(given["frequently"], "what is looked at frequently", 300, MOST_PIECES),
            infrequently=lines(given["infrequently"], "what is looked at infrequently", 300, MOST_PIECES),
            frequent=again(given["frequent"], "how often frequently is") or "1d",
            infrequent=again(given["infrequent"], "how often infrequently is") or "30d",
            detect=lines(given["detect"], "the detectors", 40, MOST_PIECES),
            model=line(given["model"], "the model", 64),
            targets=lines(given["targets"], "the classes", 1_000, MOST_PIECES),
            strategy_model=line(given["strategy_model"], "the model of the strategy", 64),
        )
        made.check()
        return made

    def check(self) -> None:
        """Whether there is something to hunt, and somewhere to start."""
        if self.model and (self.words or self.examples or self.judge != AUTOMATIC):
            raise InputError("a model judges by itself: leave words, examples and judge out, or the model")
        if self.targets and not self.model:
            raise InputError("classes are a model's: choose the model, too")
        if not self.words and not self.examples and not self.model:
            raise InputError("nothing to hunt: say it in a few words, or give the address of a page like those wanted")
        if not self.seeds and not self.preferences:
            raise InputError("nowhere to start: give the address of a page, or choose a preference of the catalogue")
        for code in self.languages:
            if not re.fullmatch("[a-z]{2,3}", code):
                raise InputError(f"{code!r} is no language: write its short code, such as en or de")

    def next_look(self, look_again: str) -> float:
        """Seconds from one look at pages to the next: at those of `frequently` in between, if that is sooner.

        >>> Wishes(frequently=["/news/"], frequent="6h").next_look("7d"), Wishes().next_look("7d")
        (21600.0, 604800.0)
        """
        every = seconds(look_again)
        return min(every, seconds(self.frequent)) if self.frequently else every

    def as_json(self) -> str:
        """As the database keeps it."""
        return json.dumps({**asdict(self), "format": FORMAT}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Wishes:
        """Wishes that were checked when they were kept; a field that came later has its default."""
        kept = json.loads(text)
        if not isinstance(kept, dict):
            raise InputError("wishes are no object: they were kept by another version, or damaged")
        made = cls(**{item.name: kept[item.name] for item in fields(cls) if item.name in kept})
        if kept.get("format", 1) < FORMAT and made.judge == AUTOMATIC:
            made.judge = FORMER
        return made


def again(text: Any, what: str) -> str:
    """How often something is looked at: `1d`, `6 hours`; or empty."""
    told = line(text, what, 40)
    if told and seconds(told, what) < LEAST_AGAIN:
        raise InputError(f"{what} is {told}: it has to be ten minutes or more, such as 6h or 1d")
    return told


def options(
    wishes: Wishes,
    seeds: Iterable[str] = (),
    *,
    budget: int = 0,
    files: Mapping[str, str] = KEPT,
    **settings: Any,
) -> dict[str, Any]:
    """The options of a crawl, as `lycosa.crawling.crawl` takes them.

    `seeds` are those of the catalogue that the preferences stand for. `budget` is another one than wished for. `files`
    are where its models lie: `model` for the judge, `strategy`. The other arguments are options that the
    operator sets for everyone: delay, concurrency, allow_network, contact ...

    >>> options(Wishes("reefs", seeds=["https://example.org/"], exclude=["/tag?"]), delay=2.0)["exclude"]
    ['/tag\\\\?']
    """
    strategy = STRATEGY if wishes.strategy == AUTOMATIC else wishes.strategy
    if wishes.strategy_model:
        name, given = parse(strategy)
        strategy = spell(name, {**given, "file": files["strategy"]})
    made: dict[str, Any] = {
        "topic": wishes.words,
        "model": files["model"] if wishes.model else "",
        "targets": list(wishes.targets),
        "examples": list(wishes.examples),
        "seeds": list(dict.fromkeys([*wishes.seeds, *seeds])),
        "strategy": strategy,
        "judge": "" if wishes.judge == AUTOMATIC else wishes.judge,
        "budget": budget or wishes.budget,
        "threshold": wishes.threshold,
        "hosts": list(wishes.hosts),
        "domains": list(wishes.domains),
        "languages": list(wishes.languages),
        "max_depth": wishes.max_depth,
        "host_budget": wishes.host_budget,
        **{name: [re.escape(piece) for piece in getattr(wishes, name)] for name in PIECES},
        "frequent": wishes.frequent,
        "infrequent": wishes.infrequent,
        "detect": list(wishes.detect),
        "feeds": False,  # the server has its own
        **settings,
    }
    if not made["seeds"]:
        raise InputError(
            "nowhere to start: the chosen preferences have no seeds any more; give the address of a page, or choose "
            "another preference"
        )
    Options.from_mapping(made, "the wishes").check()
    return made
