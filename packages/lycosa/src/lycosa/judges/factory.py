"""Make a judge from the options of a crawl."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import xxhash

from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.core.options import Options, flag_of
from lycosa.core.protocols import Judge
from lycosa.core.spec import check_parts, parse
from lycosa.judges import DEFAULT, TOLD, TOPICS, describe
from lycosa.judges.vector_judge import THRESHOLD, VectorJudge
from lycosa.text.background import Background

SOURCES = ("topic", "terms", "examples", "regex", "model")  # options that define the topic
BROWSING = "browsing"
# strategies whose training set can replace a topic; they default to the judge `browsing`
LEARNING = ("hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph")

_MADE_FROM = {
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
    asked = [name for name in SOURCES if getattr(options, name)]
    name, settings = _judge(options)
    guide = parse(options.strategy)[0]
    if not asked and not options.judge and name != BROWSING:
        raise InputError(
            "missing-topic",
            "no topic: describe it in words, or with --terms FILE, --example PAGE, --regex PATTERN or --model FILE"
            f"{f', or train the strategy with --strategy {guide},file=FILE' if guide in LEARNING else ''}",
        )
    if len(asked) > 1 and asked != ["topic", "examples"]:
        raise InputError("conflicting-options", f"more than one topic ({' and '.join(asked)}): give one of them")
    if options.topic and not options.topic.strip():
        raise InputError(
            "empty-topic", "the topic is empty: describe it in a few words, for example 'coral reef bleaching'"
        )
    if options.targets and not options.model:
        raise InputError("missing-option", "--target needs a model: add --model FILE")
    if options.model and not Path(options.model).is_file():
        raise InputError("missing-file", f"there is no model {options.model}: make one with 'lycosa train'")
    if name in TOPICS:
        _check_sources(name, [*asked, *(["file"] if name == BROWSING and _training(options) else [])])
        if own := [key for key in settings if key in TOLD]:
            raise InputError(
                "unknown-option", f"{name} has no parameter {own[0]!r}; available: {', '.join(describe(name))}"
            )
    elif ":" not in name:
        TOPICS.maker(name)  # raises InputError with the names that exist
    if options.background:
        _check_background(name, settings)


def _check_background(name: str, settings: dict[str, str]) -> None:
    weighs = name in TOPICS and "background" in inspect.signature(TOPICS.maker(name)).parameters
    if not weighs or settings.get("idf", "background") != "background":
        spec = f"{name},idf={settings['idf']}" if weighs else f"{name}, which has no idf"
        raise InputError("conflicting-options", f"--background sets the idf, but the judge is {spec}: drop one of them")


def make_judge(options: Options, learned: dict[str, Any] | None = None) -> Judge:
    """Make the judge that the options name; `learned` has the terms of a file or of example pages."""
    check_request(options)
    name, settings = _judge(options)
    own: dict[str, Any] = {"threshold": options.threshold} if options.threshold else {}
    own |= _files(options, name)
    if options.regex:
        own["expression"] = options.regex
    elif options.terms:
        own["words"] = learned or read_terms(Path(options.terms))
    elif options.examples and hasattr(TOPICS.maker(name), "from_examples"):
        own |= {"words": options.topic, "examples": learned or {}}
    elif options.examples:
        weights = _with_words(dict(learned or {}), options.topic)
        # Long queries match by chance more often. For forty words or more, as examples give, the best threshold is .16
        # in an encyclopaedia and .3 on the test web.
        likely = min(0.2, THRESHOLD + 0.0025 * len(weights))
        own = {"threshold": likely, **own, "words": weights, "stemmed": True}
    elif options.topic:
        own["words"] = options.topic
    if name not in TOPICS:
        return _own(name, settings, own)
    topic: Judge = TOPICS.make(name, settings, **own)
    return topic


def _files(options: Options, name: str) -> dict[str, Any]:
    """Return the constructor arguments that come from files."""
    own: dict[str, Any] = {}
    if options.ontology and name in TOPICS:
        own["ontology"] = options.ontology
    if name == "model":
        from lycosa.judges.model import TrainedModel  # imports all classifiers, so only on demand

        own |= {"model": TrainedModel.load(Path(options.model)), "targets": options.targets}
    if name == BROWSING:
        own["file"] = _training(options)
    if options.background:
        own |= {"background": Background.load(options.background), "idf": "background"}
    return own


def judge_of(options: Options) -> str:
    """Return the name of the judge that the options name or imply."""
    return _judge(options)[0]


def fingerprint(options: Options, topic: Judge) -> str:
    """Return a short digest of the judge and its topic."""
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
    names = (*SOURCES, "judge", "targets", "background", "ontology", "languages")
    parts = repr((judge_name, [getattr(options, name) for name in names]))
    return xxhash.xxh3_64_hexdigest(parts.encode("utf-8", "replace"))


def takes_ontology(made: Any) -> bool:
    """Return true if a judge or strategy has an `ontology` parameter."""
    return "ontology" in inspect.signature(made).parameters


def _judge(options: Options) -> tuple[str, dict[str, str]]:
    """Return the name of the judge that the options name or imply, and its parameters as typed."""
    if options.judge:
        return parse(options.judge)
    if options.regex or options.model:
        return "regex" if options.regex else "model", {}
    if _training(options) and not any(getattr(options, name) for name in SOURCES):
        return BROWSING, {}
    # only judges with idf can use word statistics
    return "vector" if options.background else DEFAULT, {}


def _training(options: Options) -> str:
    """Return the browsing file that a learning strategy is trained on, or an empty string."""
    name, settings = parse(options.strategy)
    return settings.get("file", "") if name in LEARNING else ""


def _check_sources(name: str, asked: list[str]) -> None:
    needs = TOPICS[name].needs
    wrong = [source for source in asked if source not in _MADE_FROM[needs]]
    if wrong:
        flag = "a topic in words" if wrong == ["topic"] else flag_of(wrong[0])
        raise InputError("conflicting-options", f"the judge {name} does not take {flag}: {_ADVICE[needs]}")
    if not asked and needs:
        raise InputError("missing-topic", f"the judge {name} needs a topic: {_ADVICE[needs]}")


def _with_words(weights: dict[str, float], topic: str) -> dict[str, float]:
    """Add the words of the topic to the terms of the examples, each weighted like the heaviest term."""
    if topic:
        heaviest = max(weights.values(), default=1.0)
        for stem, weight in VectorJudge(topic).weights.items():
            weights[stem] = weights.get(stem, 0.0) + weight * heaviest
    return weights


def _own(name: str, given: dict[str, str], own: dict[str, Any]) -> Judge:
    """Make a user-defined judge (`module:Class`), passing the arguments that its constructor accepts."""
    try:
        takes = inspect.signature(TOPICS.maker(name)).parameters
    except ValueError as error:  # no signature available
        raise InputError("bad-plugin", f"cannot load the judge {name!r}: ValueError: {error}") from error
    for key, value in own.items():
        if key not in takes:
            raise InputError("bad-plugin", f"cannot load the judge {name!r}: it has no parameter {key!r} for {value!r}")
    topic: Judge = TOPICS.make(name, given, **own)
    check_parts(topic, ("judge", "learn", "threshold"), name)
    return topic


def read_terms(path: Path) -> dict[str, float]:
    """Read a file of terms: one per line, an optional weight after a tab; # starts a comment."""
    content = read_input(path, 10_000_000, "the terms in")
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "bad-encoding", f"the terms in {path} are not UTF-8 text (line {number}): save the file as UTF-8"
        ) from error
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
            raise InputError(
                "bad-value", f"{path}, line {number}: the weight {weight.strip()!r} is not a positive number"
            )
        terms[text] = terms.get(text, 0.0) + value
    if not terms:
        raise InputError("empty-file", f"{path} has no terms: write one per line, optionally with a weight after a tab")
    return terms
