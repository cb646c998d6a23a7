"""Settings that people may choose for an interest: an allowlist.

There is no field for a file, a class, a network, a proxy, a regular expression or a mail server. Names of strategies
and judges are checked in `lycosa_server.validation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from lycosa.core.durations import parse_duration
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.spec import spell
from lycosa.store.directory import COPIED_FILES
from lycosa_server.people.text_input import line

AUTOMATIC = "automatic"
STRATEGY = "scent"  # the strategy for "automatic": the best in our benchmark

MOST_URLS = 1_000
MOST_PIECES = 100
LONGEST_URL = 2_000
# Settings that are substrings of URLs: plain text, where crawl options are regular expressions.
PIECES = ("exclude", "always", "frequently", "infrequently")
# Settings for revisits: they apply from the next revisit on, also to existing crawls.
FRESHNESS = ("always", "frequently", "infrequently", "frequent", "infrequent", "detect")
STRICT = ("", "training", "all")  # values of `respect_opt_outs`, increasingly strict


def stricter(one: str, other: str) -> str:
    """Return the stricter of two values of `respect_opt_outs`.

    >>> stricter("training", ""), stricter("training", "all")
    ('training', 'all')
    """
    return max(one, other, key=STRICT.index)


Line = Annotated[str, AfterValidator(lambda text: line(text, "the text", LONGEST_URL))]
Unique = AfterValidator(lambda texts: [text for text in dict.fromkeys(texts) if text])
Lines = Annotated[list[Annotated[Line, Field(max_length=LONGEST_URL)]], Unique]
Choice = Annotated[Line, AfterValidator(lambda text: text or AUTOMATIC), Field(max_length=200)]


def _lines(description: str | None = None, most: int = MOST_PIECES) -> Any:
    return Field(default_factory=list, max_length=most, description=description)


def _number(default: float, most: float, description: str | None = None, least: float = 0) -> Any:
    return Field(default, ge=least, le=most, strict=True, allow_inf_nan=False, description=description)


@dataclass(config=ConfigDict(extra="forbid"))
class InterestSettings:
    """Topic, starting points and limits of an interest's crawls.

    Requires words, an example or a model, and a seed or a preference.
    """

    words: Line = Field(default="", max_length=500)
    examples: Lines = _lines("Addresses of pages like those that are wanted.")
    seeds: Lines = _lines("Addresses to start from.", MOST_URLS)
    preferences: Lines = _lines("Parts of the catalogue whose seeds are used, too.")
    strategy: Choice = Field(default=AUTOMATIC, description="automatic, or one of GET /strategies.")
    judge: Choice = Field(default=AUTOMATIC, description="automatic, or one of GET /judges.")
    budget: int = _number(500, 1_000_000, "Pages to fetch.", 1)
    threshold: float = _number(0.0, 1_000, "What counts as relevant; 0: the judge's.")
    hosts: Lines = _lines()
    domains: Lines = _lines()
    exclude: Lines = _lines("Pieces of addresses that are left alone: plain text.")
    languages: Lines = _lines()
    max_depth: int = _number(0, 1_000)
    host_budget: int = _number(0, 1_000_000)
    always: Lines = _lines("Pieces of addresses that are looked at in every look, never from a cache.")
    frequently: Lines = _lines("The same: once in `frequent` at least.")
    infrequently: Lines = _lines("The same: once in `infrequent`, unless all pages are asked for.")
    frequent: Line = Field(default="1d", max_length=40, description="As in 6h or 1d, ten minutes or more.")
    infrequent: Line = Field(default="30d", max_length=40)
    detect: Lines = _lines("How changes are noticed: of GET /detectors; none: the usual ones.")
    respect_opt_outs: Line = Field(
        default="",
        max_length=20,
        description="Pages to leave out by their owners' word: training (no training, no mining), all; empty: the "
        "server's.",
    )
    model: Line = Field(
        default="", max_length=64, description="A classifier of the owner's, in place of words and examples."
    )
    targets: Lines = _lines("Its classes that are wanted, or branches of them.")
    strategy_model: Line = Field(
        default="", max_length=64, description="Rules or browsing of the owner's, for a strategy that uses it."
    )

    def check(self, most_pages: int = 10_000) -> None:
        """Validate combinations of settings, and replace empty texts by defaults."""
        if self.budget > most_pages:
            raise InputError(f"the budget is {self.budget}: it must be a number from 1 to {most_pages:,}")
        self.frequent = again(self.frequent, "how often frequently is") or "1d"
        self.infrequent = again(self.infrequent, "how often infrequently is") or "30d"
        self.languages = [code.lower() for code in self.languages]
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
            raise InputError(f"there are no opt-outs {self.respect_opt_outs!r}: choose training or all, or none")
        for code in self.languages:
            if not re.fullmatch("[a-z]{2,3}", code):
                raise InputError(f"{code!r} is not a language: write its short code, such as en or de")

    def next_look(self, look_again: str) -> float:
        """Return the seconds between revisits: the shorter interval if some pages are revisited `frequently`.

        >>> InterestSettings(frequently=["/news/"], frequent="6h").next_look("7d"), InterestSettings().next_look("7d")
        (21600.0, 604800.0)
        """
        every = parse_duration(look_again)
        return min(every, parse_duration(self.frequent)) if self.frequently else every

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @staticmethod
    def of_json(text: str) -> InterestSettings:
        """Parse settings that were validated when they were stored."""
        return TypeAdapter(InterestSettings).validate_json(text)


def again(text: str, what: str) -> str:
    """Validate a revisit interval, such as `1d` or `6 hours`; it may be empty."""
    every = line(text, what, 40)
    if every and parse_duration(every, what) < 600.0:
        raise InputError(f"{what} is {every}: it must be ten minutes or more, such as 6h or 1d")
    return every


def options(
    settings: InterestSettings,
    seeds: Iterable[str] = (),
    *,
    budget: int = 0,
    files: Mapping[str, str] = COPIED_FILES,
    **operator_options: Any,
) -> dict[str, Any]:
    """Return the options of a crawl, as `lycosa.crawling.crawl` takes them.

    `seeds` are the catalogue's seeds for the preferences; `budget` replaces the one in the settings; `files` are the
    paths of its models, by `model` (for the judge) and `strategy`. `operator_options` apply to everyone: delay,
    concurrency, allow_network, contact ...

    >>> options(InterestSettings("reefs", seeds=["https://example.org/"], exclude=["/tag?"]), delay=2.0)["exclude"]
    ['/tag\\\\?']
    """
    strategy = STRATEGY if settings.strategy == AUTOMATIC else settings.strategy
    if settings.strategy_model:
        strategy = spell(strategy, {"file": files["strategy"]})
    wished = asdict(settings)
    del wished["preferences"], wished["strategy_model"]
    made = wished | {
        "topic": wished.pop("words"),
        "model": files["model"] if settings.model else "",
        "seeds": list(dict.fromkeys([*settings.seeds, *seeds])),
        "strategy": strategy,
        "judge": "" if settings.judge == AUTOMATIC else settings.judge,
        "budget": budget or settings.budget,
        **{name: [re.escape(piece) for piece in getattr(settings, name)] for name in PIECES},
        "feeds": False,  # the server has its own
        "log_file": "none",  # people could not read it
        "render": "never",  # the operator has to allow browsers for so many crawls
        "render_at_once": 1,
        **operator_options,
    }
    if not made["seeds"]:
        raise InputError(
            "no seed: the chosen subjects no longer have seeds; give the address of a page, or choose another subject"
        )
    Options.from_mapping(made, "the interest's settings").check()
    return made
