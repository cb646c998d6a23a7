"""What a person may wish of a crawl, and nothing else: a list of what is allowed, not of what is forbidden.

There is no field for a file, a class, a network, a proxy, a regular expression or a mail server, so nobody who can
only sign in can name one. What a strategy or a judge may be told is checked where those are known
(`lycosa.server.validation`); here are the shapes and the sizes, and how wishes become the options of a crawl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.spec import parse, spell
from lycosa.people.typed import line, lines, number
from lycosa.store.directory import KEPT

AUTOMATIC = "automatic"
STRATEGY = "scent"  # what automatic means: the best of our benchmark

MOST_URLS = 1_000
MOST_PIECES = 100
LONGEST_URL = 2_000
# Wishes that are pieces of addresses: plain text, where the options of a crawl are regular expressions
PIECES = ("exclude", "always", "frequently", "infrequently")
# Wishes that say how pages are looked at again: they hold from the next look on, also for crawls that have begun
FRESHNESS = ("always", "frequently", "infrequently", "frequent", "infrequent", "detect")
STRICT = ("", "training", "all")  # which opt-outs are respected, the stricter the further behind


def stricter(one: str, other: str) -> str:
    """Which of two words on opt-outs leaves out more.

    >>> stricter("training", ""), stricter("training", "all")
    ('training', 'all')
    """
    return max(one, other, key=STRICT.index)


def wish(
    default: Any, what: str, most: float = 300, *, many: int = MOST_PIECES, least: float = 0, about: str = ""
) -> Any:
    """A wish: what it is called in a message, its longest text or largest number, how many of them; what it means.

    Pydantic reads the metadata too, for the API's schema. It accepts twice the length, so that our messages are shown.
    """
    metadata = {"what": what, "least": least, "most": most, "many": many, "description": about or None}
    if isinstance(default, list):
        return field(default_factory=list, metadata=metadata | {"max_length": 2 * many})
    if isinstance(default, str):
        return field(default=default, metadata=metadata | {"max_length": 2 * int(most)})
    return field(default=default, metadata=metadata | {"ge": least, "le": most, "allow_inf_nan": False})


@dataclass(slots=True)
class Wishes:
    """What to hunt, from where, how far. At least words or an example, and at least a seed or a preference."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - what is not named is no wish

    words: str = wish("", "the topic", 500)
    examples: list[str] = wish([], "the examples", LONGEST_URL, about="Addresses of pages like those that are wanted.")
    seeds: list[str] = wish([], "the seeds", LONGEST_URL, many=MOST_URLS, about="Addresses to start from.")
    preferences: list[str] = wish([], "the preferences", 100, about="Parts of the catalogue whose seeds are used, too.")
    strategy: str = wish(AUTOMATIC, "the strategy", 200, about="automatic, or one of GET /strategies.")
    judge: str = wish(AUTOMATIC, "the judge", 200, about="automatic, or one of GET /judges.")
    budget: int = wish(500, "the budget", 1_000_000, least=1, about="Pages to fetch.")
    threshold: float = wish(0.0, "the threshold", 1_000, about="What counts as relevant; 0: the judge's.")
    hosts: list[str] = wish([], "the hosts")
    domains: list[str] = wish([], "the domains")
    exclude: list[str] = wish([], "what is left out", about="Pieces of addresses that are left alone: plain text.")
    languages: list[str] = wish([], "the languages", 20)
    max_depth: int = wish(0, "the depth", 1_000)
    host_budget: int = wish(0, "the pages of one host", 1_000_000)
    always: list[str] = wish(
        [],
        "what is always looked at",
        about="Pieces of addresses that are looked at in every look, never from a cache.",
    )
    frequently: list[str] = wish([], "what is looked at frequently", about="The same: once in `frequent` at least.")
    infrequently: list[str] = wish(
        [], "what is looked at infrequently", about="The same: once in `infrequent`, unless all pages are asked for."
    )
    frequent: str = wish("1d", "how often frequently is", 40, about="As in 6h or 1d, ten minutes or more.")
    infrequent: str = wish("30d", "how often infrequently is", 40)
    detect: list[str] = wish(
        [], "the detectors", 40, about="How changes are noticed: of GET /detectors; none: the usual ones."
    )
    respect_opt_outs: str = wish(
        "",
        "the opt-outs",
        20,
        about="Pages to leave out by their owners' word: training (no training, no mining), all; empty: the server's.",
    )
    model: str = wish("", "the model", 64, about="A classifier of the owner's, in place of words and examples.")
    targets: list[str] = wish([], "the classes", 1_000, about="Its classes that are wanted, or branches of them.")
    strategy_model: str = wish(
        "", "the model of the strategy", 64, about="Rules or browsing of the owner's, for a strategy that uses it."
    )

    @classmethod
    def read(cls, data: Mapping[str, Any], most_pages: int = 10_000) -> Wishes:
        """Wishes as someone sent them: of the right types and sizes, with something to hunt and somewhere to start."""
        known = {item.name: item for item in fields(cls)}
        for key in data:
            if key not in known:
                raise InputError(f"there is no wish {str(key)[:60]!r}: there are {', '.join(sorted(known))}")
        number(data.get("budget", 1), "the budget", 1, most_pages)
        made = cls(**{name: _checked(known[name], value) for name, value in data.items()})
        made.languages = [code.lower() for code in made.languages]
        made.check()
        return made

    def check(self) -> None:
        """Whether there is something to hunt, and somewhere to start."""
        if self.model and (self.words or self.examples or self.judge != AUTOMATIC):
            raise InputError("a model judges by itself: leave words, examples and judge out, or the model")
        if self.targets and not self.model:
            raise InputError("classes are a model's: choose the model, too")
        if not self.words and not self.examples and not self.model:
            raise InputError(
                "nothing to look for: say it in a few words, or give the address of a page like those wanted"
            )
        if not self.seeds and not self.preferences:
            raise InputError("no seed: give the address of a page, or choose a subject from the catalogue")
        if self.respect_opt_outs not in STRICT:
            raise InputError(f"there are no opt-outs {self.respect_opt_outs[:20]!r}: choose training or all, or none")
        for code in self.languages:
            if not re.fullmatch("[a-z]{2,3}", code):
                raise InputError(f"{code!r} is not a language: write its short code, such as en or de")

    def next_look(self, look_again: str) -> float:
        """Seconds from one look at pages to the next: at those of `frequently` in between, if that is sooner.

        >>> Wishes(frequently=["/news/"], frequent="6h").next_look("7d"), Wishes().next_look("7d")
        (21600.0, 604800.0)
        """
        every = seconds(look_again)
        return min(every, seconds(self.frequent)) if self.frequently else every

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Wishes:
        """Wishes that were checked when they were kept."""
        kept = json.loads(text)
        if not isinstance(kept, dict):
            raise InputError("wishes are no object: they were kept by another version, or damaged")
        return cls(**{item.name: kept[item.name] for item in fields(cls) if item.name in kept})


def _checked(item: Field[Any], value: Any) -> Any:
    """A wish as somebody sent it, if it is of its type and size; an empty text is the default."""
    what, most = item.metadata["what"], item.metadata["most"]
    if item.default is MISSING:
        return lines(value, what, most, item.metadata["many"])
    if not isinstance(item.default, str):
        return type(item.default)(number(value, what, item.metadata["least"], most))
    return (again(value, what) if item.name in ("frequent", "infrequent") else line(value, what, most)) or item.default


def again(text: Any, what: str) -> str:
    """How often something is looked at: `1d`, `6 hours`; or empty."""
    every = line(text, what, 40)
    if every and seconds(every, what) < 600.0:
        raise InputError(f"{what} is {every}: it must be ten minutes or more, such as 6h or 1d")
    return every


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
    wished = asdict(wishes)
    del wished["preferences"], wished["strategy_model"]
    made = wished | {
        "topic": wished.pop("words"),
        "model": files["model"] if wishes.model else "",
        "seeds": list(dict.fromkeys([*wishes.seeds, *seeds])),
        "strategy": strategy,
        "judge": "" if wishes.judge == AUTOMATIC else wishes.judge,
        "budget": budget or wishes.budget,
        **{name: [re.escape(piece) for piece in getattr(wishes, name)] for name in PIECES},
        "feeds": False,  # the server has its own
        "log_file": "none",  # as nobody could read it
        "render": "never",  # a browser for each of many crawls is for the operator to allow
        "render_at_once": 1,
        **settings,
    }
    if not made["seeds"]:
        raise InputError(
            "no seed: the chosen subjects no longer have seeds; give the address of a page, or choose another subject"
        )
    Options.from_mapping(made, "the wishes").check()
    return made
