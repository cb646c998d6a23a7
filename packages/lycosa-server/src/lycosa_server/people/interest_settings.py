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
from lycosa.core.spec import format_spec
from lycosa.store.directory import COPIED_FILES
from lycosa_server.people.text_input import clean_line

AUTOMATIC = "automatic"
STRATEGY = "scent"  # strategy for "automatic", the best in our benchmark

MAX_URLS = 1_000
MAX_PIECES = 100
MAX_URL_LENGTH = 2_000
# Settings that are substrings of URLs: plain text, where crawl options are regular expressions.
URL_PIECES = ("exclude", "always", "frequently", "infrequently")
# Settings for revisits: they apply from the next revisit on, also to existing crawls.
REVISIT_SETTINGS = ("always", "frequently", "infrequently", "frequent", "infrequent", "detect")
OPT_OUT_LEVELS = ("", "training", "all")  # values of `respect_opt_outs`, increasingly strict


def stricter(one: str, other: str) -> str:
    """Return the stricter of two values of `respect_opt_outs`.

    >>> stricter("training", ""), stricter("training", "all")
    ('training', 'all')
    """
    return max(one, other, key=OPT_OUT_LEVELS.index)


Line = Annotated[str, AfterValidator(lambda text: clean_line(text, "the text", MAX_URL_LENGTH))]
Unique = AfterValidator(lambda texts: [text for text in dict.fromkeys(texts) if text])
Lines = Annotated[list[Annotated[Line, Field(max_length=MAX_URL_LENGTH)]], Unique]
Choice = Annotated[Line, AfterValidator(lambda text: text or AUTOMATIC), Field(max_length=200)]


def _lines(description: str | None = None, max_length: int = MAX_PIECES) -> Any:
    return Field(default_factory=list, max_length=max_length, description=description)


def _number(default: float, maximum: float, description: str | None = None, minimum: float = 0) -> Any:
    return Field(default, ge=minimum, le=maximum, strict=True, allow_inf_nan=False, description=description)


def _text(max_length: int, description: str) -> Any:
    return Field(default="", max_length=max_length, description=description)


@dataclass(config=ConfigDict(extra="forbid"))
class InterestSettings:
    """Settings of an interest; they need words, examples or a model, and seeds or preferences."""

    words: Line = Field(default="", max_length=500)
    examples: Lines = _lines("Addresses of example pages.")
    seeds: Lines = _lines("Addresses to start from.", MAX_URLS)
    preferences: Lines = _lines("Subjects of the catalogue; their seeds are added.")
    strategy: Choice = Field(default=AUTOMATIC, description="automatic, or one of GET /strategies.")
    judge: Choice = Field(default=AUTOMATIC, description="automatic, or one of GET /judges.")
    budget: int = _number(500, 1_000_000, "Pages to fetch.", 1)
    threshold: float = _number(0.0, 1_000, "Minimum relevance; 0: the judge's default.")
    hosts: Lines = _lines()
    domains: Lines = _lines()
    exclude: Lines = _lines("Pages to skip, by pieces of their addresses: plain text.")
    languages: Lines = _lines()
    max_depth: int = _number(0, 1_000)
    host_budget: int = _number(0, 1_000_000)
    always: Lines = _lines("Pieces of addresses of pages to fetch in every revisit, bypassing caches.")
    frequently: Lines = _lines("Pieces of addresses of pages to revisit every `frequent` or more often.")
    infrequently: Lines = _lines(
        "Pieces of addresses of pages to revisit every `infrequent`, unless all are requested."
    )
    frequent: Line = Field(default="1d", max_length=40, description="Such as 6h or 1d; ten minutes or more.")
    infrequent: Line = Field(default="30d", max_length=40)
    detect: Lines = _lines("Change detectors, from GET /detectors; empty: the defaults.")
    respect_opt_outs: Line = _text(
        20, "Pages to skip if opted out: training (of AI training or mining), all; empty: the server's."
    )
    model: Line = _text(64, "Id of the owner's classifier, replacing words and examples.")
    targets: Lines = _lines("Relevant classes of the model, or branches of them.")
    strategy_model: Line = _text(64, "Id of the owner's rules or browsing model, for strategies that need one.")

    def check(self, most_pages: int = 10_000) -> None:
        if self.budget > most_pages:
            raise InputError("out-of-range", f"'budget' ({self.budget:,}) must be between 1 and {most_pages:,}")
        self.frequent = revisit_interval(self.frequent, "the interval for frequent revisits") or "1d"
        self.infrequent = revisit_interval(self.infrequent, "the interval for infrequent revisits") or "30d"
        self.languages = [code.lower() for code in self.languages]
        if self.model and (self.words or self.examples or self.judge != AUTOMATIC):
            raise InputError("conflicting-options", "a model replaces words, examples and judge: remove those")
        if self.targets and not self.model:
            raise InputError("missing-model", "classes belong to a model: choose the model as well")
        if not self.words and not self.examples and not self.model:
            raise InputError("missing-topic", "no topic: describe it in a few words, or give an example page")
        if not self.seeds and not self.preferences:
            raise InputError("no-seed", "no seed: give the URL of a page, or choose a subject from the catalogue")
        if self.respect_opt_outs not in OPT_OUT_LEVELS:
            raise InputError("bad-value", f"unknown respect_opt_outs {self.respect_opt_outs!r}: choose training or all")
        for code in self.languages:
            if not re.fullmatch("[a-z]{2,3}", code):
                raise InputError("bad-language", f"{code!r} is not a language code; examples: en, de")

    def revisit_seconds(self, revisit_every: str) -> float:
        """Return the seconds between revisits: the shorter interval if some pages are revisited `frequently`.

        >>> InterestSettings(frequently=["/news/"], frequent="6h").revisit_seconds("7d")
        21600.0
        >>> InterestSettings().revisit_seconds("7d")
        604800.0
        """
        every = parse_duration(revisit_every)
        return min(every, parse_duration(self.frequent)) if self.frequently else every

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> InterestSettings:
        return TypeAdapter(InterestSettings).validate_json(text)


def revisit_interval(text: str, noun: str) -> str:
    every = clean_line(text, noun, 40)
    if every and parse_duration(every, noun) < 600.0:
        raise InputError("out-of-range", f"{noun} ({every}) must be at least ten minutes, such as 6h or 1d")
    return every


def crawl_options(
    settings: InterestSettings,
    seeds: Iterable[str] = (),
    *,
    budget: int = 0,
    files: Mapping[str, str] = COPIED_FILES,
    **operator_options: Any,
) -> dict[str, Any]:
    """Return the options of a crawl, with the catalogue's `seeds` and the `files` of its models."""
    strategy = STRATEGY if settings.strategy == AUTOMATIC else settings.strategy
    if settings.strategy_model:
        strategy = format_spec(strategy, {"file": files["strategy"]})
    options = asdict(settings)
    del options["preferences"], options["strategy_model"]
    options |= {
        "topic": options.pop("words"),
        "model": files["model"] if settings.model else "",
        "seeds": list(dict.fromkeys([*settings.seeds, *seeds])),
        "strategy": strategy,
        "judge": "" if settings.judge == AUTOMATIC else settings.judge,
        "budget": budget or settings.budget,
        **{name: [re.escape(piece) for piece in getattr(settings, name)] for name in URL_PIECES},
        "feeds": False,  # the server has its own
        "log_file": "none",  # people could not read the file
        "render": "never",  # only the operator may allow browsers for so many crawls
        "render_at_once": 1,
        **operator_options,
    }
    if not options["seeds"]:
        raise InputError("no-seed", "the chosen subjects no longer have seeds: give the URL of a page")
    Options.from_mapping(options, "the interest's settings").check()
    return options
