"""Names with parameters, such as `best-first,merge=sum`, and registries of named strategies, judges and spaces.

The parameters of a class are those of its `__init__`, checked by their annotations.
"""

from __future__ import annotations

import difflib
import inspect
import re
import types
import typing
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from importlib import import_module
from typing import Any, Literal, TypeVar

from lycosa.core import plugins
from lycosa.core.errors import InputError, LycosaError

Made = TypeVar("Made")

_COMMA = re.compile(r"(?<!\\),")  # a comma that is not escaped by a backslash

_TRUE, _FALSE = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    r"""Split a name with parameters into the name and the parameters as text; commas in values are escaped as `\,`.

    >>> parse_spec("best-first, merge=sum, page=.7")
    ('best-first', {'merge': 'sum', 'page': '.7'})
    >>> parse_spec(r"rules,file=a\,b.tsv")
    ('rules', {'file': 'a,b.tsv'})
    """
    name, *pairs = (part.strip().replace("\\,", ",") for part in _COMMA.split(text))
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        key = key.replace("-", "_")
        if not equals or not key:
            raise InputError("bad-value", f"cannot read {pair!r} in {text!r}: write it as name,key=value,key=value")
        if key in given:
            raise InputError("duplicate", f"{key} is given twice in {text!r}")
        given[key] = value
    return name, given


def format_spec(name: str, given: Mapping[str, str]) -> str:
    """Format a name with parameters; the inverse of `parse_spec`.

    >>> format_spec("rules", {"file": "a,b.tsv", "depth": "3"})
    'rules,file=a\\\\,b.tsv,depth=3'
    """
    return ",".join([name, *(f"{key}={value}".replace(",", "\\,") for key, value in given.items())])


def parameters(maker: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Return type and default of each parameter that can be given as text (`inspect.Parameter.empty`: no default).

    Arrays, callables, and private or learned fields (`priority_`) are left out.
    """
    hints = _hints(maker)
    found = {}
    for name, parameter in inspect.signature(maker).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        kind = hints.get(name, type(parameter.default) if isinstance(parameter.default, int | float) else str)
        if not name.startswith("_") and not name.endswith("_") and _is_typable(kind):
            found[name] = (kind, parameter.default)
    return found


def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameter types; inherited dataclass fields are looked up in the declaring class."""
    sources: list[Any] = [maker] if is_dataclass(maker) else []
    sources.append(getattr(maker, "__init__") if isinstance(maker, type) else maker)  # noqa: B009
    for source in sources:
        try:
            return typing.get_type_hints(source)
        except NameError:  # annotations may name imports that exist for type checkers only
            continue
    return {}  # use the types of the defaults


def make_with(maker: Callable[..., Made], given: Mapping[str, str], noun: str, **known: Any) -> Made:
    """Call a class with parameters given as text; `known` arguments are passed if it accepts them and the text lacks
    them.

    >>> def scale(by: float, twice: bool = False) -> float: return by * (2 if twice else 1)
    >>> make_with(scale, {"by": "1.5", "twice": "yes"}, "scale")
    3.0
    """
    takes = parameters(maker)
    accepted = inspect.signature(maker).parameters
    arguments = {name: value for name, value in known.items() if name in accepted}
    for name, text in given.items():
        if name not in takes:
            accepted_names = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise InputError("unknown-option", f"{noun} has no parameter {name!r}: {accepted_names}")
        arguments[name] = _typed(text, takes[name][0], f"{name} of {noun}")
    required = [name for name, (_, default) in takes.items() if default is inspect.Parameter.empty]
    missing = [name for name in required if name not in arguments]
    if missing:
        raise InputError("missing-option", f"{noun} needs {' and '.join(missing)}: write {noun},{missing[0]}=...")
    try:
        return maker(**arguments)
    except ValueError as error:
        raise InputError("bad-value", f"{noun}: {error}") from error


def import_object(name: str, noun: str) -> Any:
    """Import a user's own class by `module:Class`; `noun` is its role in the error message."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # importing user code may raise anything
        raise InputError("bad-plugin", f"cannot load {noun} {name!r} as module:Class: {error}") from error


def check_parts(instance: Any, needs: Sequence[str], name: str) -> None:
    """Raise InputError if a user's own class lacks required methods."""
    missing = [part for part in needs if not hasattr(instance, part)]
    if missing:
        lacking = f"{type(instance).__name__} without {' and '.join(missing)}"
        raise InputError("bad-plugin", f"{name} creates a {lacking}: see lycosa.core.protocols")


def describe_type(kind: Any) -> str:
    """Describe a type for help texts.

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
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [option for option in typing.get_args(kind) if option is not type(None)]
        return kinds[0] if len(kinds) == 1 else str if str in kinds else None
    return kind


def _is_typable(kind: Any) -> bool:
    kind = _plain(kind)
    return kind in (float, int, bool, str) or typing.get_origin(kind) in (Literal, tuple)


def _typed(text: str, kind: Any, noun: str) -> Any:
    kind = _plain(kind)
    if typing.get_origin(kind) is Literal:
        choices = {str(choice): choice for choice in typing.get_args(kind)}
        if text not in choices:
            raise InputError("bad-value", f"{noun} is {text!r}: it must be {describe_type(kind)}")
        return choices[text]
    if typing.get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split("+") if part.strip())
    if kind is bool:
        if text.lower() not in _TRUE + _FALSE:
            raise InputError("bad-value", f"{noun} is {text!r}: it must be yes or no")
        return text.lower() in _TRUE
    if kind is str:
        return text
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not abs(value) < float("inf"):
        raise InputError("bad-value", f"{noun} is {text!r}: it must be a {describe_type(kind)}")
    return value


@dataclass(frozen=True)
class RegistryEntry:
    """Target of a registered name: `module:attribute` within the registry's package, and fixed arguments."""

    module: str
    attribute: str
    summary: str
    paper: str = ""  # where it is described: a paper, "ours", or the package of a plugin
    needs: str = ""  # inputs that it requires: words, examples, training, a taxonomy, ...
    arguments: Mapping[str, Any] = field(default_factory=dict)


E = TypeVar("E", bound=RegistryEntry)


class Registry(dict[str, E]):
    """Named classes of one kind, in listing order; modules are imported on first use.

    Unknown names are looked up among the plugins of installed packages, and `module:Class` is a user's own class.

    >>> clocks = Registry("clock", "lycosa", {"wall": RegistryEntry("spaces.making", "wall_clock", "the time of day")})
    >>> clocks.maker("walls")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lycosa.core.errors.InputError: there is no clock 'walls': did you mean wall? choose one of wall, ...
    """

    def __init__(self, noun: str, package: str, entries: Mapping[str, E], command: str = "", group: str = "") -> None:
        super().__init__(entries)
        self.noun, self.package = noun, package
        self.group = group  # entry point group of plugins; empty if packages cannot add any
        self.command = command  # command that lists the names; if empty, error messages list them

    def maker(self, name: str) -> Any:
        """Return the class or function of a name; raise InputError if there is none."""
        entry = self.get(name)
        if entry is not None:
            return getattr(import_module(f"{self.package}.{entry.module}"), entry.attribute)
        if ":" in name:
            return import_object(name, f"the {self.noun}")
        plugins_by_name = self.added()
        if name in plugins_by_name:
            return plugins_by_name[name].load()
        names = [*self, *plugins_by_name]
        near = difflib.get_close_matches(name, names, 4, 0.4)
        choice = f"'{self.command}' lists all" if self.command else f"choose one of {', '.join(names)}"
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError("unknown-name", f"there is no {self.noun} {name!r}: {hint}{choice}, or write module:Class")

    def added(self) -> dict[str, plugins.Plugin]:
        """Return the plugins of installed packages, without those hidden by built-in names."""
        found = plugins.named(self.group) if self.group else {}
        return {name: plugin for name, plugin in found.items() if name not in self}

    def entries(self, on_error: Callable[[str], None]) -> dict[str, RegistryEntry]:
        """Return all entries including plugins; `on_error` gets the message of each plugin that fails to load."""
        entries: dict[str, RegistryEntry] = {**self}
        for name, plugin in self.added().items():
            try:
                about = inspect.getdoc(plugin.load()) or ""
            except InputError as error:
                on_error(str(error))
                continue
            summary = about.partition("\n")[0].rstrip(".") or plugin.value
            entries[name] = RegistryEntry(plugin.entry.module, plugin.entry.attr, summary, f"package {plugin.package}")
        return entries

    def make(self, name: str, typed: Mapping[str, str], **known: Any) -> Any:
        """Create an instance with parameters given as text; `known` arguments are passed if it accepts them."""
        maker = self.maker(name)
        if name in self:
            return make_with(maker, typed, name, **{**known, **self[name].arguments})
        try:
            return make_with(maker, typed, name, **known)
        except LycosaError:
            raise
        except Exception as error:  # from the user's own code
            reason = f"{type(error).__name__}: {error}"
            raise InputError("bad-plugin", f"cannot load the {self.noun} {name!r}: {reason}") from error

    def parameters(self, name: str, hidden: Container[str] = ()) -> dict[str, tuple[Any, Any]]:
        """Return type and default of each parameter that can be given after a name."""
        fixed = self[name].arguments if name in self else {}
        takes = parameters(self.maker(name)).items()
        return {key: (kind, fixed.get(key, default)) for key, (kind, default) in takes if key not in hidden}
