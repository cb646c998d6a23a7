"""Names with parameters, as people type them: `best-first,merge=sum`, `mab_var,epsilon=.2,arms=fl_n+fl_e`.

The parameters of a class are those of its `__init__`, checked by their annotations.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, Literal, TypeVar

from lycosa.core.errors import InputError

Made = TypeVar("Made")

_COMMA = re.compile(r"(?<!\\),")
"""One that separates parameters."""

_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def parse(text: str) -> tuple[str, dict[str, str]]:
    r"""The name, and its parameters as they were written; a comma in a value, of a file say, has a backslash before it.

    >>> parse("best-first, merge=sum, page=.7")
    ('best-first', {'merge': 'sum', 'page': '.7'})
    >>> parse(r"rules,file=a\,b.tsv")
    ('rules', {'file': 'a,b.tsv'})
    """
    name, *pairs = (part.strip().replace("\\,", ",") for part in _COMMA.split(text))
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        key = key.replace("-", "_")
        if not equals or not key:
            raise InputError(f"cannot read {pair!r} in {text!r}: write a name, then key=value, with commas in between")
        if key in given:
            raise InputError(f"{key} is given twice in {text!r}")
        given[key] = value
    return name, given


def spell(name: str, given: Mapping[str, str]) -> str:
    """What `parse` reads: the other way round.

    >>> spell("rules", {"file": "a,b.tsv", "depth": "3"})
    'rules,file=a\\\\,b.tsv,depth=3'
    """
    return ",".join([name, *(f"{key}={value}".replace(",", "\\,") for key, value in given.items())])


def parameters(maker: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """What can be set: for each parameter its type and its default (`inspect.Parameter.empty` if it has none).

    What a person can't type (arrays, callables) and what is private or learned (`priority_`) is left out.
    """
    hints = _hints(maker)
    found = {}
    for name, parameter in inspect.signature(maker).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        kind = hints.get(name, type(parameter.default) if isinstance(parameter.default, int | float) else str)
        if not name.startswith("_") and not name.endswith("_") and _can_be_typed(kind):
            found[name] = (kind, parameter.default)
    return found


def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    """The types of what can be set. Fields that a dataclass inherits are looked up where they were declared."""
    ways: list[Any] = [maker] if is_dataclass(maker) else []
    ways.append(getattr(maker, "__init__") if isinstance(maker, type) else maker)  # noqa: B009
    for way in ways:
        try:
            return typing.get_type_hints(way)
        except NameError:  # annotations name what is not there when it runs
            continue
    return {}  # go by the defaults


def build(maker: Callable[..., Made], given: Mapping[str, str], what: str, **known: Any) -> Made:
    """Call a class with parameters that were typed; `known` are those that it gets if it has them, unless typed.

    >>> def scale(by: float, twice: bool = False) -> float: return by * (2 if twice else 1)
    >>> build(scale, {"by": "1.5", "twice": "yes"}, "scale")
    3.0
    """
    takes = parameters(maker)
    accepted = inspect.signature(maker).parameters
    arguments = {name: value for name, value in known.items() if name in accepted}
    for name, text in given.items():
        if name not in takes:
            told = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise InputError(f"{what} has no parameter {name!r}: {told}")
        arguments[name] = _typed(text, takes[name][0], f"{name} of {what}")
    missing = [
        name for name, (_, default) in takes.items() if default is inspect.Parameter.empty and name not in arguments
    ]
    if missing:
        raise InputError(f"{what} needs {' and '.join(missing)}: write {what},{missing[0]}=...")
    try:
        return maker(**arguments)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from error


def imported(name: str, what: str) -> Any:
    """A class of the user's own by its name, `module:Class`; `what` it is, for the message if it can't be had."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever happens while a module of the user's own is read
        raise InputError(f"cannot load {what} {name!r}: {error}; write module:Class, on PYTHONPATH") from error


def check_parts(made: Any, needs: Sequence[str], name: str) -> None:
    """Whether a class of the user's own has made what it is taken for."""
    missing = [part for part in needs if not hasattr(made, part)]
    if missing:
        raise InputError(
            f"{name} makes {type(made).__name__!r}, which has no {' and no '.join(missing)}: see lycosa.core.protocols "
            "for what it takes"
        )


def describe_type(kind: Any) -> str:
    """A type as people read it.

    >>> describe_type(float), describe_type(Literal["max", "sum"]), describe_type(tuple[str, ...])
    ('number', 'max or sum', 'names with + in between')
    """
    kind = _plain(kind)
    if typing.get_origin(kind) is Literal:
        return " or ".join(map(str, typing.get_args(kind)))
    if typing.get_origin(kind) is tuple:
        return "names with + in between"
    return {float: "number", int: "whole number", bool: "yes or no", str: "text"}.get(kind, "text")


def _plain(kind: Any) -> Any:
    """`float | None` is a float that may be left out; `str | Something` is typed as text, the name of a file."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [option for option in typing.get_args(kind) if option is not type(None)]
        return kinds[0] if len(kinds) == 1 else str if str in kinds else None
    return kind


def _can_be_typed(kind: Any) -> bool:
    kind = _plain(kind)
    return kind in (float, int, bool, str) or typing.get_origin(kind) in (Literal, tuple)


def _typed(text: str, kind: Any, what: str) -> Any:
    kind = _plain(kind)
    if typing.get_origin(kind) is Literal:
        choices = {str(choice): choice for choice in typing.get_args(kind)}
        if text not in choices:
            raise InputError(f"{what} is {text!r}: it must be {describe_type(kind)}")
        return choices[text]
    if typing.get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split("+") if part.strip())
    if kind is bool:
        if text.lower() not in _YES + _NO:
            raise InputError(f"{what} is {text!r}: it must be yes or no")
        return text.lower() in _YES
    if kind is str:
        return text
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not abs(value) < float("inf"):
        raise InputError(f"{what} is {text!r}: it must be a {describe_type(kind)}")
    return value
