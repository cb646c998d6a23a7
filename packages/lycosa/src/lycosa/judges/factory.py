"""Create a judge from the options of a crawl."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import xxhash

from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.core.options import Options, flag_of
from lycosa.core.protocols import Judge
from lycosa.core.spec import check_parts, parse_spec
from lycosa.judges import DEFAULT, JUDGES, OPTION_PARAMETERS, describe
from lycosa.judges.vector_judge import THRESHOLD, VectorJudge
from lycosa.text.background import Background

TOPIC_OPTIONS = ("topic", "terms", "examples", "regex", "model")  # options that define the topic
BROWSING = "browsing"
# strategies whose training set can replace a topic; they default to the judge `browsing`
LEARNING_STRATEGIES = ("hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph")

_ACCEPTED_OPTIONS = {
    "words or examples": ("topic", "terms", "examples"),
    "words": ("topic", "terms"),
    "expression": ("regex",),
    "training": ("model",),
    "browsing": ("file",),
    "": (),
}
_ADVICE = {
    "words or examples": "describe it in a few words, or with --terms FILE or --example PAGE",
    "words": "describe it in a few words, or with --terms FILE",
    "expression": "give a regular expression with --regex PATTERN",
    "training": "name a model with --model FILE; make one with 'lycosa train'",
    "browsing": "drop the topic and use a strategy that learns from browsing, such as --strategy hmm,file=FILE",
    "": "drop the topic, the space provides the relevance",
}


def check_request(options: Options) -> None:
    """Raise InputError unless the options define exactly one topic that suits the judge."""
    given = [name for name in TOPIC_OPTIONS if getattr(options, name)]
    name, settings = _judge_and_settings(options)
    if not given and not options.judge and name != BROWSING:
        strategy = parse_spec(options.strategy)[0]
        more = f", or add ,file=FILE to --strategy {strategy}" if strategy in LEARNING_STRATEGIES else ""
        options_of_topic = "--terms FILE, --example PAGE, --regex PATTERN or --model FILE"
        raise InputError("missing-topic", f"no topic: describe it in words, or with {options_of_topic}{more}")
    if len(given) > 1 and given != ["topic", "examples"]:
        raise InputError("conflicting-options", f"more than one topic ({' and '.join(given)}): give one of them")
    if options.topic and not options.topic.strip():
        message = "the topic is empty: describe it in a few words, for example 'coral reef bleaching'"
        raise InputError("empty-topic", message)
    if options.targets and not options.model:
        raise InputError("missing-option", "--target needs a model: add --model FILE")
    if options.model and not Path(options.model).is_file():
        raise InputError("missing-file", f"{options.model} does not exist: create a model with 'lycosa train'")
    if name in JUDGES:
        _check_sources(name, [*given, *(["file"] if name == BROWSING and _training_file(options) else [])])
        if reserved := [key for key in settings if key in OPTION_PARAMETERS]:
            message = f"{name} has no parameter {reserved[0]!r}; available: {', '.join(describe(name))}"
            raise InputError("unknown-option", message)
    elif ":" not in name:
        JUDGES.maker(name)  # raises InputError with the available names
    if options.background:
        _check_background(name, settings)


def _check_background(name: str, settings: dict[str, str]) -> None:
    has_idf = name in JUDGES and "background" in inspect.signature(JUDGES.maker(name)).parameters
    if not has_idf or settings.get("idf", "background") != "background":
        spec = f"{name},idf={settings['idf']}" if has_idf else f"{name}, which has no idf"
        raise InputError("conflicting-options", f"--background sets the idf, but the judge is {spec}: drop one of them")


def make_judge(options: Options, learned: dict[str, Any] | None = None) -> Judge:
    """Create the judge that the options specify; `learned` has the terms of a file or of example pages."""
    check_request(options)
    name, settings = _judge_and_settings(options)
    arguments: dict[str, Any] = {"threshold": options.threshold} if options.threshold else {}
    arguments |= _file_arguments(options, name)
    if options.regex:
        arguments["expression"] = options.regex
    elif options.terms:
        arguments["words"] = learned or read_terms(Path(options.terms))
    elif options.examples and hasattr(JUDGES.maker(name), "from_examples"):
        arguments |= {"words": options.topic, "examples": learned or {}}
    elif options.examples:
        weights = _with_words(dict(learned or {}), options.topic)
        # Long queries match by chance more often. For forty words or more, as from examples, the best threshold is .16
        # in an encyclopaedia and .3 on the test web.
        default_threshold = min(0.2, THRESHOLD + 0.0025 * len(weights))
        arguments = {"threshold": default_threshold, **arguments, "words": weights, "stemmed": True}
    elif options.topic:
        arguments["words"] = options.topic
    if name not in JUDGES:
        return _user_judge(name, settings, arguments)
    topic: Judge = JUDGES.make(name, settings, **arguments)
    return topic


def _file_arguments(options: Options, name: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if options.ontology and name in JUDGES:
        arguments["ontology"] = options.ontology
    if name == "model":
        from lycosa.judges.model import TrainedModel  # imports all classifiers, so only on demand

        arguments |= {"model": TrainedModel.load(Path(options.model)), "targets": options.targets}
    if name == BROWSING:
        arguments["file"] = _training_file(options)
    if options.background:
        arguments |= {"background": Background.load(options.background), "idf": "background"}
    return arguments


def judge_name(options: Options) -> str:
    return _judge_and_settings(options)[0]


def fingerprint(options: Options, topic: Judge) -> str:
    parts = repr(
        (
            type(topic).__name__,
            getattr(topic, "fingerprint", getattr(topic, "weights", "")),
            options.topic,
            options.regex,
            options.judge,
        )
    )
    return xxhash.xxh3_64_hexdigest(parts.encode())[:12]


def learning_key(options: Options, judge_name: str) -> str:
    """Return a digest of all options that affect what a judge learns from the same log."""
    names = (*TOPIC_OPTIONS, "judge", "targets", "background", "ontology", "languages")
    parts = repr((judge_name, [getattr(options, name) for name in names]))
    return xxhash.xxh3_64_hexdigest(parts.encode("utf-8", "replace"))


def takes_ontology(made: Any) -> bool:
    return "ontology" in inspect.signature(made).parameters


def _judge_and_settings(options: Options) -> tuple[str, dict[str, str]]:
    if options.judge:
        return parse_spec(options.judge)
    if options.regex or options.model:
        return "regex" if options.regex else "model", {}
    if _training_file(options) and not any(getattr(options, name) for name in TOPIC_OPTIONS):
        return BROWSING, {}
    # only judges with idf can use word statistics
    return "vector" if options.background else DEFAULT, {}


def _training_file(options: Options) -> str:
    name, settings = parse_spec(options.strategy)
    return settings.get("file", "") if name in LEARNING_STRATEGIES else ""


def _check_sources(name: str, given: list[str]) -> None:
    needs = JUDGES[name].needs
    unsuitable = [source for source in given if source not in _ACCEPTED_OPTIONS[needs]]
    if unsuitable:
        flag = "a topic in words" if unsuitable == ["topic"] else flag_of(unsuitable[0])
        raise InputError("conflicting-options", f"the judge {name} does not take {flag}: {_ADVICE[needs]}")
    if not given and needs:
        raise InputError("missing-topic", f"the judge {name} needs a topic: {_ADVICE[needs]}")


def _with_words(weights: dict[str, float], topic: str) -> dict[str, float]:
    if topic:
        heaviest = max(weights.values(), default=1.0)
        for stem, weight in VectorJudge(topic).weights.items():
            weights[stem] = weights.get(stem, 0.0) + weight * heaviest
    return weights


def _user_judge(name: str, settings: dict[str, str], arguments: dict[str, Any]) -> Judge:
    try:
        accepted = inspect.signature(JUDGES.maker(name)).parameters
    except ValueError as error:  # no signature available
        raise InputError("bad-plugin", f"cannot load the judge {name!r}: ValueError: {error}") from error
    for key, value in arguments.items():
        if key not in accepted:
            raise InputError("bad-plugin", f"cannot load the judge {name!r}: it has no parameter {key!r} for {value!r}")
    topic: Judge = JUDGES.make(name, settings, **arguments)
    check_parts(topic, ("judge", "learn", "threshold"), name)
    return topic


def read_terms(path: Path) -> dict[str, float]:
    """Read a file of terms: one per line, an optional weight after a tab; # starts a comment."""
    content = read_input(path, 10_000_000, "the terms in")
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        message = f"the terms in {path} are not UTF-8 text (line {number}): save the file as UTF-8"
        raise InputError("bad-encoding", message) from error
    terms: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        text, _, weight = line.partition("\t")
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        try:
            value = float(weight) if weight.strip() else 1.0
        except ValueError:
            value = float("nan")
        if not 0 <= value < float("inf"):
            message = f"{path}, line {number}: the weight {weight.strip()!r} is not a positive number"
            raise InputError("bad-value", message)
        terms[text] = terms.get(text, 0.0) + value
    if not terms:
        raise InputError("empty-file", f"{path} has no terms: write one per line, optionally with a weight after a tab")
    return terms
