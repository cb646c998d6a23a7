"""Settings in TOML files, held against the dataclass that they are for: experiments, boards, floors."""

from __future__ import annotations

import difflib
import math
import tomllib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from lycosa.core.errors import InputError

Made = TypeVar("Made")

_KINDS = {str: "a text", int: "a whole number", float: "a number", dict: "a table", bool: "true or false"}


def read_toml(path: Path, what: str = "") -> dict[str, Any]:
    """All that a file says; where it can't be read, `what` it should be is named."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {what}{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from error


def made_of(kind: type[Made], given: Mapping[str, Any], source: str, meant: Mapping[str, str] | None = None) -> Made:
    """An object from settings by name; a wrong name or type is an error that says what would be right.

    `meant` is what people may write for a key whose name is not near.
    """
    kinds, known = typing.get_type_hints(kind), [item.name for item in fields(kind)]  # type: ignore[arg-type]
    for key in given:
        if key not in known:
            near = [meant[key]] if meant and key in meant else difflib.get_close_matches(key, known, 3, 0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            raise InputError(f"{source}: unknown key {key!r}: {hint}")
    for item in fields(kind):  # type: ignore[arg-type]
        if item.name not in given and item.default is MISSING and item.default_factory is MISSING:
            raise InputError(f"{source}: {item.name} is missing. {item.metadata.get('help', '')}".rstrip())
    return kind(**{key: typed(value, kinds[key], f"{source}: {key}") for key, value in given.items()})


def typed(value: Any, kind: Any, where: str) -> Any:
    """A value of a file if it is of the kind it should be; one value is a list of one, a table an object."""
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    if outer is list:
        return [typed(item, inner[0], where) for item in (value if isinstance(value, list) else [value])]
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        return made_of(kind, value, where)
    if outer is dict and isinstance(value, dict):
        return {key: typed(item, inner[1], f"{where}: {key}") for key, item in value.items()}
    if kind is Any:
        return value
    plain = outer or kind
    fits = isinstance(value, int | float) and math.isfinite(value) if plain is float else isinstance(value, plain)
    if not fits or (isinstance(value, bool) and plain is not bool):
        raise InputError(f"{where} is {value!r}: it must be {_KINDS.get(plain, 'a table')}")
    return value


def one_of(key: str, value: str, known: Iterable[str]) -> None:
    """Refuse what is none of the values that there are."""
    known = list(known)
    if value not in known:
        near = difflib.get_close_matches(value, known, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"{key} is {value!r}: {hint}there are {', '.join(known)}")
