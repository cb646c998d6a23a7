"""`lycosa topics`, `lycosa strategies`, `lycosa spaces`: what there is to choose from, and all about one of them."""

from __future__ import annotations

from lycosa.cli.choices import Choice, show_all, show_one
from lycosa.core.errors import InputError
from lycosa.core.spec import parameters
from lycosa.core.strategies import steer
from lycosa.estimators import BROWSING, STEERING, STRATEGIES, TAXONOMY, TRUTH
from lycosa.estimators import describe as describe_strategy
from lycosa.spaces import SPACES
from lycosa.spaces import describe as describe_space
from lycosa.topics import TOPICS
from lycosa.topics import describe as describe_topic

_FLAGS = {
    "words or examples": "'coral reefs'",
    "words": "'coral reefs'",
    "expression": "--regex 'corals?'",
    "training": "--model FILE --target CLASS",
    "": "--space graph,file=FILE,scores=FILE",
}

_BY_FILE = {
    TAXONOMY: ("--model FILE --target CLASS", ",file=FILE"),
    TRUTH: ("'coral reefs'", ",scores=FILE"),
    BROWSING: ("'coral reefs'", ",file=FILE"),
}
"""What strategies that go by a file can't do without, by what they need."""


_TO_START = {
    "web": "'coral reefs' --seed URL",
    "social": "'coral reefs' --space social,server=URL --seed NAME",
    "search-form": "--space 'search-form,url=https://site.example/search?q={}' --seed water",
    "graph": "--space graph,file=links.tsv,scores=scores.tsv --seed NODE",
}


def topics(name: str = "", *, json: bool = False) -> None:
    """All judges, or one of them."""
    choices = [Choice(key, entry.summary, entry.needs, entry.paper) for key, entry in TOPICS.items()]
    if not name:
        more = "lycosa topics NAME tells what it does and its parameters; lycosa crawl --judge NAME takes it."
        show_all(choices, ("judge", "what it measures"), more, json=json)
        return
    chosen = _chosen(name, choices, "judge")
    takes = describe_topic(chosen.name)
    example = f"for example: lycosa crawl {_FLAGS[chosen.needs]} --judge {chosen.name}{_setting(takes)} --seed URL"
    show_one(chosen, TOPICS.maker(chosen.name), {"parameter": takes}, example, json=json)


def strategies(name: str = "", *, json: bool = False) -> None:
    """All strategies, or one of them."""
    choices = [Choice(key, entry.summary, entry.needs, entry.paper) for key, entry in STRATEGIES.items()]
    if not name:
        more = "lycosa strategies NAME tells what it does and its parameters; lycosa crawl --strategy NAME takes it."
        show_all(choices, ("strategy", "what it fetches next"), more, json=json)
        return
    chosen = _chosen(name, choices, "strategy")
    maker = STRATEGIES.maker(chosen.name)
    groups = {"parameter": describe_strategy(chosen.name)}
    if not hasattr(maker, "pick"):  # those that choose among several steer by themselves
        groups["of every strategy"] = {key: told for key, told in parameters(steer).items() if key in STEERING}
    takes = groups["parameter"] or groups.get("of every strategy", {})
    topic, setting = _BY_FILE.get(chosen.needs, ("'coral reefs'", _setting(takes)))
    example = f"for example: lycosa crawl {topic} --strategy {chosen.name}{setting} --seed URL"
    show_one(chosen, maker, groups, example, json=json)


def spaces(name: str = "", *, json: bool = False) -> None:
    """All spaces, or one of them."""
    choices = [Choice(key, entry.summary, entry.needs, entry.paper, "seed") for key, entry in SPACES.items()]
    if not name:
        more = "lycosa spaces NAME tells what it is and its parameters; lycosa crawl --space NAME,... hunts in it."
        show_all(choices, ("space", "what is in it"), more, json=json)
        return
    chosen = _chosen(name, choices, "space")
    groups = {"parameter": describe_space(chosen.name)}
    example = f"for example: lycosa crawl {_TO_START[chosen.name]}"
    show_one(chosen, SPACES.maker(chosen.name), groups, example, json=json)


def _chosen(name: str, choices: list[Choice], what: str) -> Choice:
    """The one of that name; parameters behind it are passed over."""
    wanted = name.partition(",")[0].strip()
    for choice in choices:
        if choice.name == wanted:
            return choice
    raise InputError(f"there is no {what} {wanted!r}: there are {', '.join(choice.name for choice in choices)}")


def _setting(takes: dict[str, tuple[object, object]]) -> str:
    """A parameter as it is written behind a name: the first that has a value to write."""
    for key, (_, default) in takes.items():
        if key != "threshold" and isinstance(default, float | int | str) and default not in ("", True, False):
            return f",{key}={default:g}" if isinstance(default, float) else f",{key}={default}"
    return ""
