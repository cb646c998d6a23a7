"""Strategies of an experiment: production strategies by name, with everything they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.protocols import Strategy
from lycosa.core.spec import format_spec, make_with, parse_spec
from lycosa.strategies import BROWSING, KEYWORDS, MODEL, STRATEGIES, TAXONOMY, TOPIC, TRUTH, WORDS
from lycosa.strategies import strategy as strategy_by_name
from lycosa.strategies.bandit import settings
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import DESCRIPTIONS, one_of
from lycosa_lab.external import ExternalStrategy
from lycosa_lab.judgements import Judgements
from lycosa_lab.learning_judges import LearningJudgements
from lycosa_lab.lookahead import LINKS
from lycosa_lab.subjects import HuntSubject

# Inputs of a strategy, in increasing order.
GROUPS = ("nothing", "query", "examples", "training record", "taxonomy", "truth")

ORACLE = "oracle"
LOOK_AHEAD = f"{ORACLE},ahead={LINKS}"  # finds a lower bound of the optimum
MAX_LOOK_AHEAD = 100

PROGRAM = "program"  # an external program: `program,command=python crawler.py`

_PREPARED: dict[str, set[str]] = {TAXONOMY: {"model", "rules"}, BROWSING: {"browsing"}}


def make_trial_strategy(
    text: str,
    index: CorpusIndex,
    subject: HuntSubject,
    guide: Judgements | LearningJudgements,
    *,
    budget: int,
    random_seed: int,
    description: str = "words",
) -> Strategy:
    """Create a strategy as a crawl would, with words, threshold, targets, files and random seed."""
    if kind(text) == TAXONOMY and not guide.data:
        raise InputError("conflicting-options", f"{text} needs the classes of pages: set description to model")
    facts: dict[str, Any] = {
        "seed": random_seed,
        "budget": budget,
        "threshold": guide.threshold,
        "probability": guide.probability,
        "exact": guide.exact,
        "words": subject.words,
        "stems": guide.stems,
        "ontology": "",
        "targets": subject.targets,
        "example_pages": [index.names[node] for node in subject.examples] if description == "examples" else [],
    }
    if kind(text) == TRUTH:
        truth = guide.relevance if is_foresighted(text) else subject.truth
        facts["scores"] = {index.names[node]: float(truth[node]) for node in np.flatnonzero(truth).tolist()}
    return make(_with_files(text, subject), **facts)


def strategy_class(name: str) -> Any:
    """Return the class of a strategy: a registered one, an external program, or the user's module:Class."""
    return ExternalStrategy if name == PROGRAM else STRATEGIES.maker(name)


def make(text: str, **facts: Any) -> Strategy:
    name, parameters = parse_spec(text)
    if name == PROGRAM:
        return make_with(ExternalStrategy, parameters, name, **facts)
    return strategy_by_name(text, **facts)


def check(text: str, budget: int = 1) -> None:
    """Raise InputError unless the strategy exists and accepts its parameters."""
    name, parameters = parse_spec(text)
    strategy_class(name)
    if not parameters and name != PROGRAM:
        return
    facts = {"seed": 0, "budget": budget, "threshold": 0.5, "words": "topic"}
    try:
        make(text, **facts)
    except InputError:
        try:
            if name != PROGRAM:
                make(name, **facts)
        except InputError:
            return  # the strategy needs data that is prepared when the experiment runs
        raise


def label(text: str) -> str:
    """Return the name of a strategy in tables.

    >>> label("program,command=python mine.py"), label("oracle,ahead=6"), label("best-first,merge=sum")
    ('python mine.py', 'look-ahead', 'best-first,merge=sum')
    """
    name, parameters = parse_spec(text)
    return parameters.get("command", text) if name == PROGRAM else "look-ahead" if text == LOOK_AHEAD else text


def look_ahead_links(text: str) -> int:
    """Return the depth of a look-ahead oracle, `oracle,ahead=N`; 0 for other strategies.

    >>> look_ahead_links("oracle,ahead=6"), look_ahead_links("oracle"), look_ahead_links("oracle,ahead=6,batch=2")
    (6, 0, 0)
    """
    name, parameters = parse_spec(text)
    if name != ORACLE or set(parameters) != {"ahead"}:
        return 0
    if not parameters["ahead"].isdecimal() or not 1 <= int(parameters["ahead"]) <= MAX_LOOK_AHEAD:
        raise InputError("bad-value", f"{text}: 'ahead' must be 1 to {MAX_LOOK_AHEAD} links")
    return int(parameters["ahead"])


def needs(text: str) -> set[str]:
    """Return the names of training data that `prepare` must create for a strategy."""
    files: set[str] = set()
    for part in _parts(text):
        if "file" not in parse_spec(part)[1]:
            files |= _PREPARED.get(kind(part), set())
    return files


def uses_judge(text: str) -> bool:
    """Return whether a strategy uses judgements of pages and links.

    >>> [uses_judge(name) for name in ("best-first", "breadth-first", "oracle", "mab_var,arms=backlink+random")]
    [True, False, False, True]
    """
    return _parts(text) != [text] or kind(text) not in ("", TRUTH)


def is_foresighted(text: str) -> bool:
    """Return whether a strategy reads judgements of unfetched pages."""
    return parse_spec(text)[0] == "craw4llm"


def judge_as_for(text: str, description: str) -> str:
    return "model" if any(kind(part) == TAXONOMY for part in _parts(text)) else description


def wants(texts: list[str]) -> tuple[str, ...]:
    makers = [strategy_class(parse_spec(part)[0]) for text in texts for part in _parts(text)]
    facets = {facet for one in makers for facet in getattr(one, "wants", ())}
    return tuple(sorted(facets)) if all(isinstance(facet, str) for facet in facets) else ()


def input_group(text: str, description: str) -> str:
    """Return the input of a strategy, one of GROUPS, so that only strategies with the same input are compared.

    Strategies without a judge get nothing, even if one judges the pages. A query is words, or the scores of a graph,
    which stem from a query.
    """
    one_of("description", description, DESCRIPTIONS)
    given = {"examples": "examples", "model": "taxonomy"}.get(description, "query")
    of_kind = {
        "": "nothing", TOPIC: given, MODEL: given, WORDS: "query", KEYWORDS: "query",
        BROWSING: "training record", TAXONOMY: "taxonomy", TRUTH: "truth",
    }  # fmt: skip
    parts = _parts(text)
    groups = [of_kind[kind(part)] for part in parts]
    if parts != [text]:  # a bandit's reward comes from the judge, whatever its arms need
        groups.append(given)
    return max(groups, key=GROUPS.index)


def kind(text: str) -> str:
    """Return the needs of a strategy from the registry; user strategies are assumed to need a topic."""
    name = parse_spec(text)[0]
    if name in STRATEGIES:
        return STRATEGIES[name].needs
    strategy_class(name)  # raises InputError for an unknown name
    return TOPIC


def _parts(text: str) -> list[str]:
    name, parameters = parse_spec(text)
    if name not in STRATEGIES or STRATEGIES[name].module != "bandit":
        return [text]
    if "arms" not in parameters:
        return list(settings(STRATEGIES[name].arguments["policy"])["arms"])
    return [arm.strip() for arm in parameters["arms"].split("+") if arm.strip()]


def _with_files(text: str, subject: HuntSubject) -> str:
    name, parameters = parse_spec(text)
    parts = _parts(text)
    if parts != [text]:
        if needs(text):
            parameters["arms"] = "+".join(_with_files(part, subject) for part in parts)
        return format_spec(name, parameters)
    file = {TAXONOMY: subject.rules, BROWSING: subject.browsing}.get(kind(text))
    if kind(text) in _PREPARED and "file" not in parameters:
        if file is None:
            data = " and ".join(sorted(needs(text)))
            raise InputError("untrained", f"{name} needs training: prepare {subject.name!r} (needs {data})")
        parameters["file"] = str(file)
    return format_spec(name, parameters)
