"""Validate interest settings where strategies, judges and web addresses are known.

Members may choose built-in strategies and judges without parameters; trained ones use a model of their own. Crawls can
be started with any settings accepted here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.spec import format_spec
from lycosa.judges import JUDGES as ALL_JUDGES
from lycosa.judges.factory import make_judge
from lycosa.judges.taxonomy import resolve_targets
from lycosa.revisit.detectors import parse_detectors
from lycosa.strategies import BROWSING, KEYWORDS, MODEL, STRATEGIES, TAXONOMY, TOPIC, WORDS
from lycosa.strategies import strategy as make_strategy
from lycosa.web.urls import Scope, check_seed
from lycosa_server.people import catalogue, models
from lycosa_server.people.database import Database
from lycosa_server.people.interest_settings import AUTOMATIC, InterestSettings, crawl_options

JUDGES = {name: entry for name, entry in ALL_JUDGES.items() if entry.needs in ("words", "words or examples")}
UNTRAINED = ("", TOPIC, MODEL, WORDS, KEYWORDS)
UNTRAINED_STRATEGIES = {name: entry for name, entry in STRATEGIES.items() if entry.needs in UNTRAINED}
# Strategies that need a model of the person's own, and its kind.
TRAINED_STRATEGIES = {
    name: "rules" if entry.needs == TAXONOMY else "browsing"
    for name, entry in STRATEGIES.items()
    if entry.needs in (TAXONOMY, BROWSING)
}

# Options that the operator sets for everyone, each time a crawl is opened.
OPERATOR_OPTIONS = ("delay", "concurrency", "allow_network", "contact", "operator", "identity", "render", "random_seed")


def validate_settings(
    settings: InterestSettings,
    database: Database,
    most_pages: int,
    owner: str = "",
    place: Callable[[str], Path] = Path,
    before: InterestSettings | None = None,
) -> InterestSettings:
    """Validate settings for a crawl and return them with canonical URLs.

    Models must belong to `owner`; other editors must keep the models in `before`, or remove them.
    """
    settings = replace(settings)
    settings.check(most_pages)
    settings.examples = [web_address(text, "the example ") for text in settings.examples]
    settings.seeds = [web_address(text, "the seed ") for text in settings.seeds]
    known = catalogue.preferences(database) if settings.preferences else set()
    for name in settings.preferences:
        if name not in known:
            raise InputError("unknown-name", f"the catalogue has no subject {name!r}: choose another one")
    scope = Scope(settings.hosts, settings.domains, exclude=map(re.escape, settings.exclude))
    seeds = [*settings.seeds, *catalogue.seeds_of(database, settings.preferences, settings.words)]
    if not any(scope(seed, 0) for seed in seeds):
        raise InputError("no-seed", "every seed is outside the hosts and domains, or among the skipped URLs")
    if settings.strategy not in (AUTOMATIC, *UNTRAINED_STRATEGIES, *TRAINED_STRATEGIES):
        raise InputError("unknown-name", f"unknown strategy {settings.strategy!r}: choose one of the list")
    if settings.judge not in (AUTOMATIC, *JUDGES):
        raise InputError("unknown-name", f"unknown judge {settings.judge!r}: choose {', '.join(JUDGES)}, or automatic")
    if settings.examples and settings.judge != AUTOMATIC and "examples" not in JUDGES[settings.judge].needs:
        raise InputError("conflicting-options", f"the judge {settings.judge} uses words only: remove the examples")
    _check_models(settings, database, owner, before)
    if settings.detect:
        parse_detectors(settings.detect)
    _try_build(settings, place)
    return settings


def _check_models(settings: InterestSettings, database: Database, owner: str, before: InterestSettings | None) -> None:
    if before is not None and {settings.model, settings.strategy_model} - {"", before.model, before.strategy_model}:
        raise InputError("not-yours", "only the owner can choose models: keep the current ones, or remove them")
    if settings.model:
        row = models.ready(database, owner, settings.model, models.JUDGING)
        classes = list(json.loads(row["about"]).get("classes", {}))
        try:
            settings.targets, _ = resolve_targets(classes, settings.targets)
        except InputError as error:
            message = str(error).replace(" with --target", "").replace("--target ", "")
            raise InputError(error.code, message) from error
    needed = TRAINED_STRATEGIES.get(settings.strategy, "")
    if needed and not settings.strategy_model:
        raise InputError("missing-model", f"the strategy {settings.strategy} needs a {needed} model: choose one")
    if settings.strategy_model and not needed:
        raise InputError("conflicting-options", f"the strategy {settings.strategy} takes no model: remove it")
    if needed:
        models.ready(database, owner, settings.strategy_model, (needed,))
    if needed == "rules" and not settings.model:
        raise InputError("conflicting-options", "rules need a classifier and its classes instead of words: choose one")


def _try_build(settings: InterestSettings, place: Callable[[str], Path]) -> None:
    """Build the strategy and the judge once, so that the crawl cannot fail for them later."""
    if settings.strategy_model:
        spec = format_spec(settings.strategy, {"file": str(place(settings.strategy_model))})
        _build(spec, settings.words, settings.targets)
        return
    if settings.words:
        options = crawl_options(settings, ["https://example.org/"]) | {"examples": []}
        make_judge(Options.from_mapping(options, "the interest's settings"))
    if settings.strategy in UNTRAINED_STRATEGIES and UNTRAINED_STRATEGIES[settings.strategy].needs == WORDS:
        _build(settings.strategy, settings.words)


def _build(text: str, words: str, targets: Sequence[str] = ()) -> None:
    facts = {"seed": 0, "budget": 100, "threshold": 0.1, "probability": False, "stems": None, "ontology": ""}
    try:
        make_strategy(text, **facts, words=words, targets=list(targets))
    except (ArithmeticError, TypeError) as error:
        raise InputError("bad-value", f"cannot create {text}: {error}") from error


def web_address(text: str, noun: str = "") -> str:
    url = check_seed(text)
    if url is None:
        raise InputError("bad-url", f"{noun}{text[:200]!r} is not a URL; example: https://example.org/page")
    return url
