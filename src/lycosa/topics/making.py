"""From what a user asked for to a topic that judges."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Topic
from lycosa.topics.pattern import Pattern
from lycosa.topics.query import Query

EXAMPLES_THRESHOLD = 0.25
"""What counts as found for a topic of sixty words, as example pages give; less for fewer words."""


def check_request(options: Options) -> None:
    """Whether the options name one topic, whatever it turns out to be."""
    asked = [name for name in ("topic", "terms", "examples", "regex", "judge") if getattr(options, name)]
    if not asked:
        raise InputError(
            "no topic: say what to hunt in a few words, or with --terms FILE, --example PAGE, --regex PATTERN"
        )
    if len(asked) > 1 and asked != ["topic", "examples"]:
        raise InputError(f"more than one topic ({' and '.join(asked)}): give one of them")
    if asked == ["topic"] and not options.topic.strip():
        raise InputError("the topic is empty: say what to hunt in a few words, for example 'coral reef bleaching'")


def make_topic(options: Options, learned: dict[str, float] | None = None) -> Topic:
    """The topic that the options name; `learned` are terms that were read already, of a file or of example pages."""
    check_request(options)
    own: dict[str, Any] = {"threshold": options.threshold} if options.threshold else {}
    if options.regex:
        return Pattern(options.regex, **own)
    if options.terms:
        return Query(learned or read_terms(Path(options.terms)), **own)
    if options.judge:
        return _load(options.judge, own)
    if options.examples:
        weights = dict(learned or {})
        if options.topic:  # words and examples together: the words weigh as much as the heaviest term
            heaviest = max(weights.values(), default=1.0)
            for stem, weight in Query(options.topic).weights.items():
                weights[stem] = weights.get(stem, 0.0) + weight * heaviest
        # Many words are met by chance more often than the few of a query.
        likely = min(EXAMPLES_THRESHOLD, 0.1 + 0.0025 * len(weights))
        return Query(weights, **{"threshold": likely, **own}, stemmed=True)
    return Query(options.topic, **own)


def read_terms(path: Path) -> dict[str, float]:
    """A file of terms: one a line, a weight after a tab; # starts a comment."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot read the terms in {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the terms in {path} are not UTF-8 text: save the file as UTF-8") from error
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
            raise InputError(f"{path}, line {number}: the weight {weight.strip()!r} is not a positive number")
        terms[text] = terms.get(text, 0.0) + value
    if not terms:
        raise InputError(f"{path} names no terms: write one a line, a weight after a tab if you like")
    return terms


def _load(name: str, arguments: dict[str, Any]) -> Topic:
    module, _, attribute = name.partition(":")
    try:
        made: Topic = getattr(import_module(module), attribute)(**arguments)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise InputError(f"cannot load the topic {name!r}: {error}; write module:Class, on PYTHONPATH") from error
    return made
